#include "matching.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace astrolabe::workload {

using system::CollectiveKind;
using system::RankId;

namespace {

constexpr std::size_t kMostErrors = 20;
constexpr std::uint32_t kNoTask = RankTask::kNone;

/// Two numbers as a key of a hash table.
struct NumberPair {
    std::uint64_t first = 0;
    std::uint64_t second = 0;

    friend bool operator==(const NumberPair&, const NumberPair&) = default;
};
struct HashOfPair {
    std::size_t operator()(const NumberPair& pair) const noexcept {
        return (pair.first * 0x9e3779b97f4a7c15ULL) ^ (pair.second + (pair.first >> 29));
    }
};

class Matcher {
public:
    explicit Matcher(const RankGraphs& graphs)
        : graphs_(graphs) {}

    Result<Matches> run() {
        number_tasks();
        sort_groups();
        for (std::uint32_t rank = 0; rank < graphs_.ranks.size(); ++rank) {
            for (std::uint32_t task = 0; task < graphs_.ranks[rank].tasks.size(); ++task) {
                check({rank, task});
            }
        }
        if (!errors_.empty()) {
            return errors_;
        }
        for (std::uint32_t rank = 0; rank < graphs_.ranks.size(); ++rank) {
            for (std::uint32_t task = 0; task < graphs_.ranks[rank].tasks.size(); ++task) {
                match({rank, task});
            }
        }
        check_members();
        check_messages();
        if (!errors_.empty()) {
            return errors_;
        }
        return std::move(matches_);
    }

private:
    /// Messages of one (source, destination, tag): tasks that send and receive them, in order.
    struct Mailbox {
        std::vector<TaskPlace> sends;
        std::vector<TaskPlace> receives;
    };

    [[nodiscard]] const RankTask& task(TaskPlace place) const {
        return graphs_.ranks[place.rank].tasks[place.task];
    }

    void error(TaskPlace place, std::string_view code, const std::string& message, std::string hint = {}) {
        if (errors_.size() < kMostErrors) {
            errors_.push_back(
                task_error(graphs_, place, fmt::format("trace.{}", code), message, std::move(hint)));
        }
    }

    void number_tasks() {
        std::size_t tasks = 0;
        for (const RankGraph& rank : graphs_.ranks) {
            matches_.offsets.push_back(tasks);
            tasks += rank.tasks.size();
        }
        matches_.offsets.push_back(tasks);
        matches_.partner.assign(tasks, kNoTask);
    }

    void sort_groups() {
        for (std::uint32_t group = 0; group < graphs_.groups.size(); ++group) {
            std::vector<std::pair<RankId, std::uint32_t>>& places = places_.emplace_back();
            const std::vector<RankId>& members = graphs_.groups[group];
            for (std::uint32_t position = 0; position < members.size(); ++position) {
                places.emplace_back(members[position], position);
                if (members[position].index() >= graphs_.ranks.size()) {
                    group_error(group, fmt::format("rank {} is a member, and there are {} ranks",
                                                   members[position].index(), graphs_.ranks.size()));
                }
            }
            std::ranges::sort(places);
            for (std::size_t i = 1; i < places.size(); ++i) {
                if (places[i].first == places[i - 1].first) {
                    group_error(group, fmt::format("rank {} is a member twice", places[i].first.index()));
                }
            }
        }
    }

    void group_error(std::uint32_t group, const std::string& message) {
        if (errors_.size() < kMostErrors) {
            Diagnostic diagnostic{
                .code = "trace.group",
                .where = {},
                .message = fmt::format("group '{}': {}", graphs_.group_names[group], message),
                .hint = "members are ranks from 0, each once",
                .notes = {}};
            if (!graphs_.ranks.empty()) {
                diagnostic.where.source =
                    std::make_shared<const SourceText>(SourceText{graphs_.ranks.front().source, {}});
            }
            errors_.push_back(std::move(diagnostic));
        }
    }

    [[nodiscard]] std::optional<std::uint32_t> position(std::uint32_t group, std::uint32_t rank) const {
        const auto& places = places_[group];
        const auto found = std::ranges::lower_bound(places, std::pair(RankId(rank), std::uint32_t{0}));
        if (found == places.end() || found->first != RankId(rank)) {
            return std::nullopt;
        }
        return found->second;
    }

    void check(TaskPlace place) {
        const RankTask& task = this->task(place);
        for (const std::uint32_t dependency : graphs_.ranks[place.rank].dependencies(place.task)) {
            if (dependency >= graphs_.ranks[place.rank].tasks.size()) {
                error(place, "dependency", "it depends on a task that does not exist");
            } else if (dependency == place.task) {
                error(place, "circle", "it depends on itself");
            }
        }
        if (task.iteration < 0 || task.iteration >= graphs_.iterations) {
            error(place, "iteration",
                  fmt::format("it belongs to iteration {} of {}", task.iteration, graphs_.iterations));
        }
        if (task.duration < Time(0)) {
            error(place, "duration", fmt::format("it takes negative time: {}", readable(task.duration)));
        }
        if (task.size < Bytes(0)) {
            error(place, "size", fmt::format("it has a negative size: {} bytes", task.size.count()));
        }
        switch (task.kind) {
            case TaskKind::kCompute:
                if (task.stream >= graphs_.streams.size()) {
                    error(place, "stream",
                          fmt::format("it runs on stream {} of {}", task.stream, graphs_.streams.size()));
                }
                break;
            case TaskKind::kCollective:
                check_collective(place, task);
                break;
            case TaskKind::kSend:
            case TaskKind::kReceive:
                check_message(place, task);
                break;
        }
    }

    void check_collective(TaskPlace place, const RankTask& task) {
        if (task.group >= graphs_.groups.size()) {
            error(place, "group", "its group does not exist");
            return;
        }
        const std::size_t size = graphs_.groups[task.group].size();
        if (!position(task.group, place.rank)) {
            error(place, "group",
                  fmt::format("rank {} is no member of its group '{}'", place.rank,
                              graphs_.group_names[task.group]),
                  "a rank takes part only in collectives of groups that it is in");
        }
        if (system::has_root(task.collective) && task.root >= size) {
            error(place, "root", fmt::format("its root is {} in a group of {} ranks", task.root, size));
        }
        if (task.splits == RankTask::kNone) {
            return;
        }
        if (task.collective != CollectiveKind::kAllToAll) {
            error(place, "splits", fmt::format("an {} has no splits", system::to_string(task.collective)));
            return;
        }
        const auto& splits = graphs_.ranks[place.rank].splits;
        if (task.splits >= splits.size() || splits[task.splits].size() != size) {
            error(place, "splits",
                  fmt::format("it has {} splits for a group of {} ranks",
                              task.splits < splits.size() ? splits[task.splits].size() : 0, size));
            return;
        }
        for (const Bytes bytes : splits[task.splits]) {
            if (bytes < Bytes(0)) {
                error(place, "splits", fmt::format("it sends {} bytes to a rank", bytes.count()));
            }
        }
    }

    void check_message(TaskPlace place, const RankTask& task) {
        if (task.peer >= graphs_.ranks.size()) {
            error(place, "peer", fmt::format("its peer is rank {} of {}", task.peer, graphs_.ranks.size()),
                  "is the trace of a rank missing?");
        } else if (task.peer == place.rank) {
            error(place, "peer", "a rank sends to itself");
        }
    }

    void match(TaskPlace place) {
        const RankTask& task = this->task(place);
        if (task.kind == TaskKind::kCollective) {
            match_collective(place, task);
        } else if (task.kind != TaskKind::kCompute) {
            const bool is_send = task.kind == TaskKind::kSend;
            const std::uint64_t source = is_send ? place.rank : task.peer;
            const std::uint64_t destination = is_send ? task.peer : place.rank;
            const auto [found, is_new] =
                mailbox_places_.try_emplace({(source << 32) | destination, task.match}, mailboxes_.size());
            if (is_new) {
                mailboxes_.emplace_back();
            }
            Mailbox& box = mailboxes_[found->second];
            (is_send ? box.sends : box.receives).push_back(place);
        }
    }

    void match_collective(TaskPlace place, const RankTask& task) {
        const auto [found, is_new] = collectives_.try_emplace(
            {task.group, task.match}, static_cast<std::uint32_t>(matches_.collectives.size()));
        if (is_new) {
            matches_.collectives.push_back({task.group, static_cast<std::uint32_t>(matches_.members.size())});
            matches_.members.resize(matches_.members.size() + graphs_.groups[task.group].size(), kNoTask);
        }
        const MatchedCollective& collective = matches_.collectives[found->second];
        std::uint32_t& member = matches_.members[collective.first_member + *position(task.group, place.rank)];
        if (member != kNoTask) {
            error(place, "match",
                  fmt::format("rank {} takes part twice in collective {} of group '{}', as {} before",
                              place.rank, task.match, graphs_.group_names[task.group],
                              say_task(graphs_, {place.rank, member})));
            return;
        }
        member = place.task;
        matches_.partner[matches_.number(place)] = found->second;
    }

    void check_members() {
        for (const MatchedCollective& collective : matches_.collectives) {
            const std::vector<RankId>& group = graphs_.groups[collective.group];
            const std::span<const std::uint32_t> tasks = matches_.tasks_of(collective, graphs_);
            const auto first = static_cast<std::size_t>(
                std::ranges::find_if(tasks, [](std::uint32_t task) { return task != kNoTask; }) -
                tasks.begin());
            const TaskPlace place{group[first].index(), tasks[first]};
            std::vector<std::size_t> missing;
            for (std::size_t position = 0; position < group.size(); ++position) {
                if (tasks[position] == kNoTask) {
                    missing.push_back(group[position].index());
                } else if (const std::string found =
                               disagreement(task(place), task({group[position].index(), tasks[position]}));
                           !found.empty()) {
                    error({group[position].index(), tasks[position]}, "match",
                          fmt::format("it is collective {} of group '{}', and its {} differs from that of {}",
                                      task(place).match, graphs_.group_names[collective.group], found,
                                      say_task(graphs_, place)),
                          "all members of a group issue the same collectives");
                }
            }
            if (!missing.empty()) {
                const bool is_cut = missing.size() > 8;
                const std::size_t count = missing.size();
                missing.resize(std::min<std::size_t>(count, 8));
                error(
                    place, "match",
                    fmt::format("{} of {} members of group '{}' never take part in its collective {}: ranks "
                                "{}{}",
                                count, group.size(), graphs_.group_names[collective.group], task(place).match,
                                fmt::join(missing, ", "), is_cut ? ", …" : ""),
                    "is a trace cut off, or is a rank's missing?");
            }
        }
    }

    /// What differs; nothing: they may be parts of one collective.
    [[nodiscard]] static std::string disagreement(const RankTask& one, const RankTask& other) {
        if (one.collective != other.collective) {
            return fmt::format("kind ({} here, {} there)", system::to_string(other.collective),
                               system::to_string(one.collective));
        }
        if ((one.splits == RankTask::kNone) != (other.splits == RankTask::kNone)) {
            return "form (one has splits, the other none)";
        }
        if (one.splits == RankTask::kNone && one.size != other.size) {
            return fmt::format("size ({} bytes here, {} there)", other.size.count(), one.size.count());
        }
        if (system::has_root(one.collective) && one.root != other.root) {
            return fmt::format("root ({} here, {} there)", other.root, one.root);
        }
        if (one.iteration != other.iteration) {
            return fmt::format("iteration ({} here, {} there)", other.iteration, one.iteration);
        }
        return {};
    }

    void check_messages() {
        for (const Mailbox& box : mailboxes_) {
            const std::size_t pairs = std::min(box.sends.size(), box.receives.size());
            for (std::size_t i = 0; i < pairs; ++i) {
                const TaskPlace send = box.sends[i];
                const TaskPlace receive = box.receives[i];
                if (task(send).size != task(receive).size) {
                    error(receive, "match",
                          fmt::format("it receives {} bytes where {} sends {}", task(receive).size.count(),
                                      say_task(graphs_, send), task(send).size.count()));
                }
                matches_.partner[matches_.number(send)] =
                    static_cast<std::uint32_t>(matches_.number(receive));
                matches_.partner[matches_.number(receive)] =
                    static_cast<std::uint32_t>(matches_.number(send));
            }
            for (std::size_t i = pairs; i < box.sends.size(); ++i) {
                error(box.sends[i], "match",
                      fmt::format("rank {} never receives it (tag {})", task(box.sends[i]).peer,
                                  task(box.sends[i]).match),
                      "sends and receives of one source, destination and tag are matched in order");
            }
            for (std::size_t i = pairs; i < box.receives.size(); ++i) {
                error(box.receives[i], "match",
                      fmt::format("rank {} never sends it (tag {})", task(box.receives[i]).peer,
                                  task(box.receives[i]).match),
                      "sends and receives of one source, destination and tag are matched in order");
            }
        }
    }

    const RankGraphs& graphs_;
    Matches matches_;
    Diagnostics errors_;
    std::vector<std::vector<std::pair<RankId, std::uint32_t>>> places_;      // by group: (rank, position)
    std::unordered_map<NumberPair, std::uint32_t, HashOfPair> collectives_;  // by (group, match)
    std::vector<Mailbox> mailboxes_;
    std::unordered_map<NumberPair, std::size_t, HashOfPair>
        mailbox_places_;  // by (source and destination, tag)
};

}  // namespace

TaskPlace Matches::place(std::size_t number) const {
    const auto after = std::ranges::upper_bound(offsets, number);
    const auto rank = static_cast<std::uint32_t>(after - offsets.begin() - 1);
    return {rank, static_cast<std::uint32_t>(number - offsets[rank])};
}

std::string say_task(const RankGraphs& graphs, TaskPlace place) {
    const RankGraph& rank = graphs.ranks[place.rank];
    const RankTask& task = rank.tasks[place.task];
    const std::string& name = graphs.names[task.name];
    constexpr std::size_t kMostName = 60;
    return fmt::format("rank {}, node {} '{}{}'", place.rank, task.id, name.substr(0, kMostName),
                       name.size() > kMostName ? "…" : "");
}

Diagnostic task_error(const RankGraphs& graphs, TaskPlace place, std::string code, const std::string& message,
                      std::string hint) {
    return {.code = std::move(code),
            .where = {.source = std::make_shared<const SourceText>(
                          SourceText{graphs.ranks[place.rank].source, {}})},
            .message = fmt::format("{}: {}", say_task(graphs, place), message),
            .hint = std::move(hint),
            .notes = {}};
}

Result<Matches> match_tasks(const RankGraphs& graphs) {
    return Matcher(graphs).run();
}

}  // namespace astrolabe::workload
