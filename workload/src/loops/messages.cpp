/// Messages between ranks, all handed over at one instant: the traffic of network studies.
///
/// Every pair (source, destination) of `pattern` has one message of `size` bytes, sent at `start`. With
/// groups of g = `group` ranks, group of rank i = ⌊i / g⌋ (racks, where ranks are hosts):
///   all           every other rank
///   other_groups  every rank of another group: the shuffle of network studies
///   own_group     every other rank of the same group
///   next_group    rank (i + g) mod N: a permutation
///   pairs         those that are listed
///
/// The messages are one uneven all_to_all, so that `cluster.collectives.all_to_all` says who sends to whom
/// first; `direct` in one chunk sends each message by itself.
#include "../register.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/core/config/section_list.hpp>

namespace astrolabe::workload {
namespace {

enum class MessagePattern : std::uint8_t { kAll, kOtherGroups, kOwnGroup, kNextGroup, kPairs };

struct MessagePair {
    std::int64_t from = 0;
    std::int64_t to = 0;
};

struct MessagesParameters {
    MessagePattern pattern{};
    Bytes size;
    std::int64_t group = 1;
    std::vector<MessagePair> pairs;
    Time start;

    [[nodiscard]] bool sends(std::int64_t from, std::int64_t to, std::int64_t ranks) const {
        switch (pattern) {
            case MessagePattern::kAll:
                return from != to;
            case MessagePattern::kOtherGroups:
                return from / group != to / group;
            case MessagePattern::kOwnGroup:
                return from != to && from / group == to / group;
            case MessagePattern::kNextGroup:
                return (from + group) % ranks == to;
            case MessagePattern::kPairs:
                break;
        }
        return false;
    }
};

}  // namespace
}  // namespace astrolabe::workload

namespace astrolabe {

template <>
struct EnumNames<workload::MessagePattern> {
    using Pattern = workload::MessagePattern;
    static constexpr std::array<std::pair<std::string_view, Pattern>, 5> kNames{
        {{"all", Pattern::kAll},
         {"other_groups", Pattern::kOtherGroups},
         {"own_group", Pattern::kOwnGroup},
         {"next_group", Pattern::kNextGroup},
         {"pairs", Pattern::kPairs}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

constexpr std::size_t kMostMessageRanks = 8192;  // 64 million pairs, half a gigabyte of sizes

ValidationErrors messages_errors(const MessagesParameters& parameters, std::size_t ranks) {
    ValidationErrors errors;
    const auto count = static_cast<std::int64_t>(ranks);
    require(errors, ranks >= 2 && ranks <= kMostMessageRanks, "",
            fmt::format("messages need 2 to {} ranks, the cluster has {}", kMostMessageRanks, ranks),
            "sizes are kept for every pair of ranks");
    require(errors, count % parameters.group == 0, "group",
            fmt::format("{} ranks are no groups of {}", ranks, parameters.group), "take a divisor");
    const bool needs_others = parameters.pattern == MessagePattern::kOtherGroups ||
                              parameters.pattern == MessagePattern::kNextGroup;
    require(errors, !needs_others || parameters.group < count, "group",
            fmt::format("{} ranks are one group of {}, and there is no other to send to", ranks,
                        parameters.group),
            "take smaller groups");
    require(errors, parameters.pattern != MessagePattern::kOwnGroup || parameters.group > 1, "group",
            "a group of one rank has nobody to send to", "say how many ranks a group has: group: 4");
    for (const MessagePair& pair : parameters.pairs) {
        require(errors, pair.from < count && pair.to < count, "pairs",
                fmt::format("there is no message from {} to {} among {} ranks", pair.from, pair.to, ranks),
                "ranks count from 0");
    }
    return errors;
}

ValidationErrors messages_key_errors(const MessagesParameters& parameters) {
    ValidationErrors errors;
    const bool listed = parameters.pattern == MessagePattern::kPairs;
    require(errors, listed == !parameters.pairs.empty(), "pairs",
            listed ? "pattern 'pairs' needs 'pairs'" : "only pattern 'pairs' has 'pairs'",
            "write pattern: pairs, pairs: [{from: 0, to: 4}]");
    std::vector<std::pair<std::int64_t, std::int64_t>> seen;
    for (const MessagePair& pair : parameters.pairs) {
        require(errors, pair.from != pair.to, "pairs", fmt::format("rank {} sends to itself", pair.from),
                "name two ranks");
        seen.emplace_back(pair.from, pair.to);
    }
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    if (twice != seen.end()) {
        errors.push_back(
            {"pairs", fmt::format("the message from {} to {} is there twice", twice->first, twice->second),
             "a pair has one message"});
    }
    return errors;
}

system::PairSizes message_sizes(const MessagesParameters& parameters, std::size_t ranks) {
    std::vector<Bytes> sizes(ranks * ranks);
    const auto count = static_cast<std::int64_t>(ranks);
    for (std::int64_t from = 0; from < count; ++from) {
        for (std::int64_t to = 0; to < count; ++to) {
            if (parameters.sends(from, to, count)) {
                sizes[static_cast<std::size_t>(from * count + to)] = parameters.size;
            }
        }
    }
    for (const MessagePair& pair : parameters.pairs) {
        sizes[static_cast<std::size_t>(pair.from * count + pair.to)] = parameters.size;
    }
    return system::PairSizes::of_pairs(ranks, std::move(sizes));
}

system::Program messages_program(const MessagesParameters& parameters, std::size_t ranks) {
    system::Program program;
    program.ranks = ranks;
    program.iterations = 1;
    std::vector<system::OperationId> before;
    if (parameters.start > Time(0)) {
        before = {program.operations.push_back(
            {.name = "start", .layer = "messages", .work = system::ComputeOperation{parameters.start}})};
    }
    const system::PairSizes sizes = message_sizes(parameters, ranks);
    const system::OperationId messages = program.operations.push_back(
        {.name = "messages",
         .layer = "messages",
         .work =
             system::CollectiveOperation{
                 .kind = system::CollectiveKind::kAllToAll,
                 .partition = program.partitions.push_back(system::Partition::world(ranks)),
                 .size = sizes.largest_held(),
                 .pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(1, sizes)},
         .dependencies = before});
    program.operations.push_back({.name = "messages.wait",
                                  .layer = "messages",
                                  .work = system::ComputeOperation{Time(0)},
                                  .dependencies = {messages}});
    return program;
}

Schema<MessagesParameters> messages_schema() {
    Schema<MessagePair> pair("pairs", "a message");
    pair.required("from", &MessagePair::from, "rank that sends it", {0, {}})
        .required("to", &MessagePair::to, "rank that receives it", {0, {}});
    Schema<MessagesParameters> schema("messages", "messages between ranks, all sent at one instant");
    schema.required("pattern", &MessagesParameters::pattern, "which pairs of ranks have a message")
        .required("size", &MessagesParameters::size, "of each message", {Bytes(1), {}})
        .optional("group", &MessagesParameters::group,
                  "ranks of a group: the hosts of a rack, where ranks are hosts", {1, {}})
        .optional("start", &MessagesParameters::start, "when they are sent", {Time(0), {}});
    add_section_list(schema, "pairs", &MessagesParameters::pairs, pair, "of pattern pairs: the messages");
    schema.check(messages_key_errors);
    return schema;
}

}  // namespace

void register_messages(Registry<Job>& registry) {
    registry.add<MessagesParameters>(messages_schema(), [](const MessagesParameters& parameters) {
        Job job;
        job.validation_errors = [parameters](const Device&, std::size_t ranks) {
            return messages_errors(parameters, ranks);
        };
        job.device_errors = [](const Device&) { return ValidationErrors{}; };
        job.program = [parameters](const Device&, std::size_t ranks) {
            return messages_program(parameters, ranks);
        };
        job.facts = [parameters](const Device&, std::size_t ranks) {
            const Bytes sum = message_sizes(parameters, ranks).crossing();
            return Facts{{"messages", fmt::format("{} of {}", sum.count() / parameters.size.count(),
                                                  to_string(parameters.size))},
                         {"bytes of all messages", fmt::format("{}", sum.count())}};
        };
        return job;
    });
}

}  // namespace astrolabe::workload
