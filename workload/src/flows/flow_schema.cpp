#include "drawn_flows.hpp"
#include "flow_lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <astrolabe/workload/flows/flows.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::FlowPattern> {
    using Pattern = workload::FlowPattern;
    static constexpr std::array<std::pair<std::string_view, Pattern>, 5> kNames{
        {{"uniform", Pattern::kUniform},
         {"permutation", Pattern::kPermutation},
         {"incast", Pattern::kIncast},
         {"shuffle", Pattern::kShuffle},
         {"hot_rack", Pattern::kHotRack}}};
};

template <>
struct EnumNames<workload::PublishedSizes> {
    using Sizes = workload::PublishedSizes;
    static constexpr std::array<std::pair<std::string_view, Sizes>, 3> kNames{
        {{"data_mining", Sizes::kDataMining}, {"web_search", Sizes::kWebSearch}, {"hadoop", Sizes::kHadoop}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

constexpr std::uint32_t kMostSenders = 1'000'000;
constexpr std::uint32_t kMostTrafficClass = 7;
constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;
const Range<Time> kDurations{Time(1), Time(1000 * kPicosecondsPerSecond)};

/// A file that a key names, and its absolute path; reports one that cannot be read.
std::optional<std::pair<std::string, std::string>> text_of(const ConfigNode& node, std::string_view what,
                                                           ReadContext& context) {
    const std::optional<std::string> given = read_scalar<std::string>(node, what, context);
    if (!given) {
        return std::nullopt;
    }
    const std::filesystem::path path = (directory_of(node) / *given).lexically_normal();
    std::error_code failure;
    std::ifstream file(path, std::ios::binary);
    if (!std::filesystem::is_regular_file(path, failure) || !file) {
        context.error("config.file", node.where, fmt::format("cannot read '{}'", path.string()),
                      "paths resolve against the file that names them");
        return std::nullopt;
    }
    if (std::filesystem::file_size(path, failure) > kLargestFile) {
        context.error("config.file", node.where, fmt::format("'{}' is larger than 1 GiB", path.string()),
                      "give a pattern, sizes and a load instead: drawn flows take no memory");
        return std::nullopt;
    }
    return std::pair{std::string(std::istreambuf_iterator<char>(file), {}),
                     std::filesystem::absolute(path).lexically_normal().string()};
}

template <class T>
const T* read_or_report(const Result<T>& result, ReadContext& context) {
    if (result) {
        return &*result;
    }
    for (const Diagnostic& diagnostic : result.error()) {
        context.error(diagnostic);
    }
    return nullptr;
}

void read_list_file(FlowKeys& keys, const ConfigNode& node, ReadContext& context) {
    if (auto text = text_of(node, "'file'", context)) {
        const auto path = (directory_of(node) / node.text).lexically_normal().string();
        Result<FlowList> list = read_flow_list(std::move(text->first), path);
        if (read_or_report(list, context) != nullptr) {
            keys.list = std::make_shared<const FlowList>(*std::move(list));
            keys.file = text->second;
        }
    }
}

void read_sizes_file(FlowSizes& sizes, const ConfigNode& node, ReadContext& context) {
    if (auto text = text_of(node, "'file'", context)) {
        const auto path = (directory_of(node) / node.text).lexically_normal().string();
        const Result<SizeDistribution> distribution = SizeDistribution::read(std::move(text->first), path);
        if (const SizeDistribution* read = read_or_report(distribution, context)) {
            sizes.distribution = *read;
            sizes.file = text->second;
        }
    }
}

std::optional<ConfigNode> written_path(const std::string& path) {
    return path.empty() ? std::nullopt : std::optional(ConfigNode::scalar(path));
}

Schema<FlowSizes> sizes_schema() {
    Schema<FlowSizes> schema("sizes", "how many bytes flows have");
    schema.optional("fixed", &FlowSizes::fixed, "all of them the same", {Bytes(1), {}})
        .optional("distribution", &FlowSizes::published, "a published one, of inputs/flows")
        .field({"file",
                "path",
                "unset",
                false,
                {},
                "a distribution: lines of bytes and the probability of at most so many, both rising, to 1",
                {}},
               read_sizes_file, [](const FlowSizes& sizes) { return written_path(sizes.file); })
        .optional("below", &FlowSizes::below,
                  "larger flows are drawn and not sent: what a network of strict priorities gives small "
                  "ones; unset: all are sent",
                  {Bytes(2), {}})
        .check([](const FlowSizes& sizes) {
            ValidationErrors errors;
            const int given =
                (sizes.fixed ? 1 : 0) + (sizes.published ? 1 : 0) + (sizes.file.empty() ? 0 : 1);
            require(errors, given == 1, "", "sizes are one of 'fixed', 'distribution' and 'file'",
                    "write sizes: {fixed: 100KB}, or sizes: {distribution: web_search}");
            return errors;
        })
        .complete([](FlowSizes& sizes, const ConfigNode& node, ReadContext& context) {
            if (sizes.fixed) {
                sizes.distribution = SizeDistribution(*sizes.fixed);
            } else if (sizes.published) {
                sizes.distribution = published_sizes(*sizes.published);
            }
            if (sizes.below && sizes.distribution && sizes.distribution->share_below(*sizes.below) == 0) {
                context.error("flows.sizes", node.find("below")->where,
                              fmt::format("no flow is below {}", to_string(*sizes.below)),
                              "give a size above the smallest one");
            }
        });
    return schema;
}

Schema<ListedFlow> listed_schema() {
    Schema<ListedFlow> schema("flows", "a flow");
    schema.required("source", &ListedFlow::source, "host that sends it, counted from 0", {0, 999'999})
        .required("destination", &ListedFlow::destination, "host that receives it", {0, 999'999})
        .required("bytes", &ListedFlow::bytes, "its size", {Bytes(1), {}})
        .optional("start", &ListedFlow::start, "when it is sent", {Time(0), {}});
    return schema;
}

ValidationErrors key_errors(const FlowKeys& keys) {
    ValidationErrors errors;
    const int given = (keys.file.empty() ? 0 : 1) + (keys.listed.empty() ? 0 : 1) + (keys.pattern ? 1 : 0);
    require(errors, given == 1, "", "flows are one of 'file', 'flows' and 'pattern'",
            "write pattern: uniform, sizes: {fixed: 100KB}, load: 0.25, duration: 10ms");
    const auto only_drawn = [&](bool is_given, const char* key) {
        require(errors, keys.pattern.has_value() || !is_given, key,
                fmt::format("'{}' is of flows that are drawn, these are listed", key),
                "leave it out, or give a 'pattern'");
    };
    only_drawn(keys.sizes.has_value(), "sizes");
    only_drawn(keys.load.has_value(), "load");
    only_drawn(keys.duration.has_value(), "duration");
    only_drawn(keys.group != 1, "group");
    only_drawn(!keys.intra_group, "intra_group");
    require(errors, !keys.pattern || keys.sizes, "", "flows that are drawn need 'sizes'",
            "write sizes: {fixed: 100KB}");
    require(errors, keys.load.has_value() || !keys.duration, "duration",
            "'duration' is how long flows arrive at a 'load'", "add load: 0.25, or leave it out");
    require(errors, !keys.load || keys.duration, "load", "flows that arrive at a load need 'duration'",
            "add duration: 10ms");
    const bool is_incast = keys.pattern == FlowPattern::kIncast;
    require(errors, is_incast == keys.senders.has_value(), is_incast ? "pattern" : "senders",
            is_incast ? "an incast needs 'senders'" : "'senders' is of the pattern incast",
            is_incast ? "write senders: 8" : "leave it out");
    const bool is_hot = keys.pattern == FlowPattern::kHotRack;
    require(errors, is_hot || !keys.hot_share, "hot_share", "'hot_share' is of the pattern hot_rack",
            "leave it out");
    require(errors, !is_hot || keys.hot_share.has_value() == keys.load.has_value(), "pattern",
            keys.load ? "hot_rack at a load needs 'hot_share'"
                      : "a round of hot_rack goes into the hot rack altogether",
            keys.load ? "write hot_share: 0.5" : "leave 'hot_share' out, or give a load");
    require(errors, keys.group == 1 || is_hot || !keys.intra_group || !keys.pattern, "group",
            "'group' has no effect here", "add intra_group: false, or leave it out");
    require(errors, keys.pattern != FlowPattern::kShuffle || !keys.load, "load", "a shuffle is sent at once",
            "leave 'load' out, or take pattern: uniform");
    require(errors,
            std::ranges::adjacent_find(keys.size_classes, std::ranges::greater_equal()) ==
                keys.size_classes.end(),
            "size_classes", "the limits of size classes must rise", "write size_classes: [10KB, 15MB]");
    return errors;
}

void complete_listed(FlowKeys& keys, const ConfigNode& node, ReadContext& context) {
    if (keys.listed.empty()) {
        return;
    }
    FlowList list;
    for (std::size_t i = 0; i < keys.listed.size(); ++i) {
        const ListedFlow& flow = keys.listed[i];
        if (flow.source == flow.destination) {
            context.error("flows.host", node.find("flows")->items[i].where,
                          fmt::format("host {} sends to itself", flow.source), "name two hosts");
        }
        if (const std::uint32_t host = std::max(flow.source, flow.destination); host >= list.hosts) {
            list.hosts = host + 1;
            list.largest_at = node.find("flows")->items[i].where.to_string();
        }
        list.flows.push_back({.source = flow.source,
                              .destination = flow.destination,
                              .size = flow.bytes,
                              .start = flow.start});
    }
    std::ranges::stable_sort(list.flows, {}, &system::Flow::start);
    keys.list = std::make_shared<const FlowList>(std::move(list));
}

/// The flows of a list in order.
class ListedStream final : public system::FlowStream {
public:
    explicit ListedStream(std::shared_ptr<const FlowList> list)
        : list_(std::move(list)) {}
    [[nodiscard]] std::optional<system::Flow> next() override {
        return place_ < list_->flows.size() ? std::optional(list_->flows[place_++]) : std::nullopt;
    }

private:
    std::shared_ptr<const FlowList> list_;
    std::size_t place_ = 0;
};

double bytes_of(const std::vector<system::Flow>& flows) {
    return std::accumulate(flows.begin(), flows.end(), 0.0, [](double sum, const system::Flow& flow) {
        return sum + static_cast<double>(flow.size.count());
    });
}

DrawnFlows drawn_of(const FlowKeys& keys, const FlowSetting& setting, const std::string& stream_name) {
    DrawnFlows drawn;
    drawn.pattern = *keys.pattern;
    drawn.sizes = *keys.sizes->distribution;
    drawn.below = keys.sizes->below.value_or(Bytes::max());
    drawn.hosts = static_cast<std::uint32_t>(setting.hosts);
    drawn.group = keys.group;
    drawn.intra_group = keys.intra_group;
    drawn.senders = keys.senders.value_or(1);
    drawn.hot_share = keys.hot_share.value_or(0);
    drawn.seed = keys.seed;
    drawn.stream_name = stream_name;
    if (keys.load) {
        const double bytes_per_second =
            *keys.load * static_cast<double>(setting.hosts) * to_bytes_per_second(setting.rate);
        drawn.mean_gap = static_cast<double>(kPicosecondsPerSecond) * flows_of_arrival(drawn) *
                         drawn.sizes.mean() / bytes_per_second;
        drawn.duration = keys.duration.value_or(Time::max());
    }
    return drawn;
}

}  // namespace

Schema<FlowKeys> flow_schema(std::string name, std::string help, bool is_background) {
    Schema<FlowKeys> schema(std::move(name), std::move(help));
    schema
        .field({"file",
                "path",
                "unset",
                false,
                {},
                "a list of flows: .csv, .cm (connection matrix of htsim), .htsim (a flow a line)",
                {}},
               read_list_file, [](const FlowKeys& keys) { return written_path(keys.file); })
        .list("flows", &FlowKeys::listed, listed_schema(), "a list of flows",
              "[{source: 0, destination: 4, bytes: 1MB, start: 10us}]")
        .optional("pattern", &FlowKeys::pattern, "who sends to whom, drawn at random")
        .section("sizes", &FlowKeys::sizes, sizes_schema(), "of a pattern: how many bytes flows have")
        .optional("load", &FlowKeys::load,
                  "bytes that arrive, as a share of what the links of all hosts carry; unset: one round of "
                  "the pattern at time 0",
                  {1e-6, 10.0})
        .optional("duration", &FlowKeys::duration, "how long flows arrive at that load", kDurations)
        .optional("group", &FlowKeys::group, "hosts of a group: of a rack", {1, 1'000'000})
        .optional("intra_group", &FlowKeys::intra_group, "whether flows stay in a group, too")
        .optional("senders", &FlowKeys::senders, "of an incast: hosts that send to one at once",
                  {1, kMostSenders})
        .optional("hot_share", &FlowKeys::hot_share,
                  "of hot_rack: share of flows that go into group 0 from outside it", {0.0, 1.0})
        .optional("seed", &FlowKeys::seed, "of what is drawn", {0, std::numeric_limits<std::int64_t>::max()})
        .list("size_classes", &FlowKeys::size_classes,
              "the largest sizes of size classes, for which results are summed up; larger flows are the "
              "last class",
              false, {Bytes(1), {}})
        .optional("traffic_class", &FlowKeys::traffic_class,
                  "of their messages, the larger the more urgent, on backends that have classes",
                  {0, kMostTrafficClass});
    if (!is_background) {
        schema.optional("time_limit", &FlowKeys::time_limit,
                        "when the run ends, with what has arrived by then; unset: when all have arrived",
                        kDurations);
    }
    schema.check([](const FlowKeys& keys) { return key_errors(keys); }).complete(complete_listed);
    return schema;
}

ValidationErrors validation_errors(const FlowKeys& keys, std::size_t hosts) {
    ValidationErrors errors;
    if (keys.list) {
        require(errors, keys.list->hosts <= hosts, keys.file.empty() ? "flows" : "file",
                fmt::format("host {} is named at {}, and there are {}", keys.list->hosts - 1,
                            keys.list->largest_at, hosts),
                "hosts count from 0; enlarge the cluster, or leave such flows out");
        return errors;
    }
    const bool has_hot_group = keys.pattern == FlowPattern::kHotRack;
    require(errors, hosts >= 2, "", fmt::format("flows need two hosts, there is {}", hosts),
            "enlarge the network or the cluster");
    require(errors, hosts % keys.group == 0, "group",
            fmt::format("{} hosts are no groups of {}", hosts, keys.group), "take a divisor");
    require(errors, !(has_hot_group || !keys.intra_group) || keys.group < hosts, "group",
            fmt::format("{} hosts are one group of {}, and there is no other", hosts, keys.group),
            "take smaller groups");
    if (keys.pattern == FlowPattern::kPermutation && !keys.intra_group) {
        require(errors, keys.group <= hosts / 2, "group",
                "no permutation leads out of groups of more than half of the hosts", "take smaller groups");
    }
    const std::size_t others = hosts - (keys.intra_group ? 1 : std::min<std::size_t>(keys.group, hosts));
    require(errors, keys.senders.value_or(1) <= others, "senders",
            fmt::format("{} hosts cannot all send to one of {}", keys.senders.value_or(1), hosts),
            fmt::format("take at most {}", others));
    return errors;
}

system::FlowTraffic make_traffic(const FlowKeys& keys, const FlowSetting& setting,
                                 const std::string& stream_name) {
    system::FlowTraffic traffic;
    traffic.time_limit = keys.time_limit.value_or(Time::max());
    traffic.size_limits = keys.size_classes;
    traffic.traffic_class = static_cast<std::uint8_t>(keys.traffic_class);
    if (keys.list) {
        traffic.stream = [list = keys.list] { return std::make_unique<ListedStream>(list); };
        traffic.triggers = keys.list->triggers;
        traffic.waiting = keys.list->waiting;
        traffic.expected_flows = static_cast<double>(keys.list->flows.size() + keys.list->waiting.size());
        traffic.expected_bytes = bytes_of(keys.list->flows) + bytes_of(keys.list->waiting);
        return traffic;
    }
    const DrawnFlows drawn = drawn_of(keys, setting, stream_name);
    traffic.stream = [drawn] { return drawn_stream(drawn); };
    if (drawn.mean_gap == 0) {
        traffic.expected_flows = static_cast<double>(flows_of_round(drawn));
    } else if (drawn.duration < Time::max()) {
        traffic.expected_flows =
            static_cast<double>(drawn.duration.count()) / drawn.mean_gap * flows_of_arrival(drawn);
    }
    traffic.expected_bytes = traffic.expected_flows * drawn.sizes.mean_below(drawn.below);
    traffic.expected_flows *= drawn.sizes.share_below(drawn.below);
    return traffic;
}

}  // namespace astrolabe::workload
