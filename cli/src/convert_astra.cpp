#include "convert_astra.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::cli {

namespace {

constexpr double kBitsOfGiB = 8.0 * 1024 * 1024 * 1024;
constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::int64_t kMostLinks = 1 << 16;

/// Keys of system files that change nothing here, and why.
struct IdleKey {
    std::string_view name;
    std::string_view harmless;  ///< value with which it changes nothing in ASTRA-sim either; empty: any
    std::string_view reason;    ///< why other values are not mapped
};
constexpr std::array<IdleKey, 13> kIdleKeys{{
    {"boost-mode", "", ""},
    {"trace-enabled", "", ""},
    {"track-local-mem", "0", "memory is not tracked over time"},
    {"local-mem-trace-filename", "", ""},
    {"model-shared-bus", "0",
     "the bus inside an NPU is not modelled; cluster.end_point has copies and additions"},
    {"L", "0", "a parameter of the bus inside an NPU"},
    {"o", "0", "a parameter of the bus inside an NPU"},
    {"g", "0", "a parameter of the bus inside an NPU"},
    {"G", "0", "a parameter of the bus inside an NPU"},
    {"local-reduction-delay", "0",
     "additions take bytes over the bandwidth of the memory (local-mem-bw), no time of their own"},
    {"intra-dimension-scheduling", "", ""},
    {"inter-dimension-scheduling", "", ""},
    {"replay-only", "", ""},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kImplementations{
    {{"all-reduce-implementation", "all_reduce"},
     {"reduce-scatter-implementation", "reduce_scatter"},
     {"all-gather-implementation", "all_gather"},
     {"all-to-all-implementation", "all_to_all"}}};

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

ConfigNode number_node(std::int64_t value) {
    return ConfigNode::scalar(fmt::format("{}", value));
}

class AstraConverter {
public:
    AstraConverter(const AstraFiles& files, const std::string& name)
        : files_(files),
          name_(name) {}

    [[nodiscard]] Result<ConvertedAstra> convert() {
        if (files_.network) {
            read_network(*files_.network);
        }
        if (!errors_.empty()) {
            return std::move(errors_);
        }
        if (!files_.system.is_mapping()) {
            error(files_.system, "a system file is a mapping of keys to values", "");
            return std::move(errors_);
        }
        ConfigNode experiment = ConfigNode::mapping();
        experiment.set("schema", ConfigNode::scalar("astrolabe/1"));
        experiment.set("name", ConfigNode::scalar(name_));
        if (!files_.workload.empty()) {
            experiment.set("workload", workload());
        }
        experiment.set("cluster", cluster());
        if (files_.network) {
            experiment.set("network", network_);
            ConfigNode backend = ConfigNode::mapping();
            backend.set("kind", ConfigNode::scalar("fluid"));
            experiment.set("backend", std::move(backend));
        }
        check_keys();
        if (!errors_.empty()) {
            return std::move(errors_);
        }
        return ConvertedAstra{std::move(experiment), std::move(not_mapped_), std::move(remarks_)};
    }

private:
    void error(const ConfigNode& node, std::string message, std::string hint) {
        errors_.push_back({"convert.value", node.where, std::move(message), std::move(hint), {}});
    }
    void leave_out(const SourceRange& where, const std::string& key, const std::string& reason) {
        not_mapped_.push_back({"convert.not-mapped",
                               where,
                               fmt::format("'{}' is not mapped: {}", key, reason),
                               "--lenient leaves it out with a warning",
                               {}});
    }

    std::optional<double> number(const ConfigNode& node, const std::string& what, double minimum) {
        double value = 0;
        const std::string& text = node.text;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (!node.is_scalar() || failure != std::errc{} || end != text.data() + text.size() ||
            !std::isfinite(value) || value < minimum) {
            error(node, fmt::format("{} is '{}', expected a number of at least {}", what, text, minimum),
                  "ASTRA-sim's examples have such places to be filled in");
            return std::nullopt;
        }
        return value;
    }
    std::optional<std::int64_t> count(const ConfigNode& node, const std::string& what) {
        const std::optional<double> value = number(node, what, 1);
        if (value && (*value != std::floor(*value) || *value > static_cast<double>(kMostRanks))) {
            error(node, fmt::format("{} is {}, expected an integer of at most {}", what, *value, kMostRanks),
                  "");
            return std::nullopt;
        }
        return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
    }

    /// The value of a key of the system file, if there: whatever is asked for is mapped.
    const ConfigNode* take(std::string_view key) {
        const ConfigNode* found = files_.system.find(key);
        if (found != nullptr) {
            taken_.emplace_back(key);
        }
        return found;
    }

    // ---- network

    const std::vector<ConfigNode>* list(const ConfigNode& network, const char* key, std::size_t expected) {
        const ConfigNode* node = network.find(key);
        if (node == nullptr || !node->is_sequence() || node->items.empty()) {
            error(node != nullptr ? *node : network, fmt::format("'{}' is no list", key),
                  "an analytical network has topology, npus_count, bandwidth and latency, by dimension");
            return nullptr;
        }
        if (expected != 0 && node->items.size() != expected) {
            error(*node, fmt::format("'{}' has {} entries, topology {}", key, node->items.size(), expected),
                  "");
            return nullptr;
        }
        return &node->items;
    }

    void read_network(const ConfigNode& network) {
        if (!network.is_mapping()) {
            error(network, "a network file is a mapping of keys to lists", "");
            return;
        }
        const auto* kinds = list(network, "topology", 0);
        const std::size_t count_of_dimensions = kinds == nullptr ? 0 : kinds->size();
        const auto* counts = list(network, "npus_count", count_of_dimensions);
        const auto* bandwidths = list(network, "bandwidth", count_of_dimensions);
        const auto* latencies = list(network, "latency", count_of_dimensions);
        for (const ConfigEntry& entry : network.entries) {
            static constexpr std::array<std::string_view, 4> kKnown{"topology", "npus_count", "bandwidth",
                                                                    "latency"};
            if (std::ranges::find(kKnown, entry.key) == kKnown.end()) {
                leave_out(entry.key_where, entry.key, "no key of an analytical network");
            }
        }
        if (kinds == nullptr || counts == nullptr || bandwidths == nullptr || latencies == nullptr) {
            return;
        }
        for (std::size_t i = 0; i < kinds->size(); ++i) {
            const std::string& kind = (*kinds)[i].text;
            if (kind != "Ring" && kind != "Switch" && kind != "FullyConnected") {
                error((*kinds)[i], fmt::format("'{}' is no topology", kind),
                      "one of Ring, Switch, FullyConnected");
            }
            const auto npus = count((*counts)[i], "npus_count");
            const auto bandwidth = number((*bandwidths)[i], "bandwidth", 1e-9);
            const auto latency = number((*latencies)[i], "latency", 0);
            if (npus && bandwidth && latency) {
                dimensions_.push_back({kind, *npus,
                                       fmt::format("{}bps", std::llround(*bandwidth * kBitsOfGiB)),
                                       fmt::format("{}ps", std::llround(*latency * 1000))});
                ranks_ = std::min(ranks_ * *npus, kMostRanks + 1);
            }
        }
        if (!errors_.empty()) {
            return;
        }
        if (ranks_ > kMostRanks || ranks_ < 2) {
            error(*network.find("npus_count"), fmt::format("{} NPUs, expected 2 to {}", ranks_, kMostRanks),
                  "");
            return;
        }
        network_ = network_section(network);
    }

    struct Dimension {
        std::string kind;
        std::int64_t npus;
        std::string rate;
        std::string latency;
    };

    static ConfigNode link(const Dimension& dimension) {
        ConfigNode node = ConfigNode::mapping();
        node.set("rate", ConfigNode::scalar(dimension.rate));
        node.set("latency", ConfigNode::scalar(dimension.latency));
        return node;
    }

    [[nodiscard]] bool all_are(std::string_view kind) const {
        return std::ranges::all_of(dimensions_, [&](const Dimension& own) { return own.kind == kind; });
    }

    ConfigNode network_section(const ConfigNode& network) {
        ConfigNode section = ConfigNode::mapping();
        const auto set_kind = [&section](std::string_view kind) {
            section.set("kind", ConfigNode::scalar(std::string(kind)));
        };
        if (dimensions_.size() == 1) {
            const std::string& kind = dimensions_[0].kind;
            set_kind(kind == "Switch" ? "flat" : kind == "Ring" ? "ring" : "fully_connected");
            section.set("hosts", number_node(ranks_));
            section.set("link", link(dimensions_[0]));
            return section;
        }
        if (all_are("Ring")) {
            set_kind("torus");
            std::vector<ConfigNode> sizes;
            std::vector<ConfigNode> rates;
            std::vector<ConfigNode> latencies;
            for (const Dimension& dimension : dimensions_) {
                sizes.push_back(number_node(dimension.npus));
                rates.push_back(ConfigNode::scalar(dimension.rate));
                latencies.push_back(ConfigNode::scalar(dimension.latency));
            }
            section.set("sizes", ConfigNode::sequence(std::move(sizes)));
            ConfigNode cables = ConfigNode::mapping();
            cables.set("rate", ConfigNode::sequence(std::move(rates)));
            cables.set("latency", ConfigNode::sequence(std::move(latencies)));
            section.set("link", std::move(cables));
            return section;
        }
        if (dimensions_.size() == 2 && dimensions_[0].kind != "Ring" && dimensions_[1].kind == "Switch") {
            set_kind("hierarchical");
            section.set("hosts", number_node(ranks_));
            section.set("hosts_per_package", number_node(dimensions_[0].npus));
            ConfigNode inside = ConfigNode::mapping();
            inside.set("kind",
                       ConfigNode::scalar(dimensions_[0].kind == "Switch" ? "switch" : "fully_connected"));
            inside.set("rate", ConfigNode::scalar(dimensions_[0].rate));
            inside.set("latency", ConfigNode::scalar(dimensions_[0].latency));
            section.set("scale_up", std::move(inside));
            section.set("scale_out", link(dimensions_[1]));
            remarks_.push_back(
                "One switch joins the packages: what several switches of dimension 1 carry, it carries at "
                "the same "
                "rates");
            return section;
        }
        return graph_section(network);
    }

    /// Of all dimensions, as entries of a graph.
    [[nodiscard]] std::int64_t links_to_list() const {
        std::int64_t links = 0;
        for (const Dimension& dimension : dimensions_) {
            const std::int64_t lines = ranks_ / dimension.npus;
            if (dimension.npus == 1) {
                continue;
            }
            if (dimension.kind == "Switch") {
                links += lines * dimension.npus;
            } else if (dimension.kind == "Ring") {
                links += lines * (dimension.npus > 2 ? dimension.npus : 1);
            } else {
                links += lines * (dimension.npus * (dimension.npus - 1) / 2);
            }
        }
        return links;
    }

    ConfigNode graph_section(const ConfigNode& network) {
        if (const std::int64_t needed = links_to_list(); needed > kMostLinks) {
            error(*network.find("npus_count"),
                  fmt::format("{} links to list, expected at most {}", needed, kMostLinks),
                  "only Switch, Ring and FullyConnected alone, Rings, and packages below a Switch have a "
                  "network of "
                  "their own");
            return ConfigNode::mapping();
        }
        std::vector<ConfigNode> nodes;
        const auto add_node = [&nodes](const std::string& name, std::string_view kind) {
            ConfigNode node = ConfigNode::mapping();
            node.set("name", ConfigNode::scalar(name));
            node.set("kind", ConfigNode::scalar(std::string(kind)));
            nodes.push_back(std::move(node));
        };
        for (std::int64_t rank = 0; rank < ranks_; ++rank) {
            add_node(fmt::format("npu {}", rank), "host");
        }
        std::vector<ConfigNode> links;
        const auto add_link = [&links](const std::string& from, const std::string& to,
                                       const Dimension& dimension) {
            ConfigNode node = link(dimension);
            node.set("from", ConfigNode::scalar(from));
            node.set("to", ConfigNode::scalar(to));
            links.push_back(std::move(node));
        };
        std::int64_t stride = 1;
        for (std::size_t index = 0; index < dimensions_.size(); ++index) {
            const Dimension& dimension = dimensions_[index];
            if (dimension.npus == 1) {
                continue;  // no links
            }
            std::int64_t line = 0;
            for (std::int64_t base = 0; base < ranks_; ++base) {
                if (base / stride % dimension.npus != 0) {
                    continue;
                }
                const auto npu = [&](std::int64_t position) {
                    return fmt::format("npu {}", base + position % dimension.npus * stride);
                };
                const std::string centre = fmt::format("switch {}.{}", index, line++);
                if (dimension.kind == "Switch") {
                    add_node(centre, "switch");
                }
                for (std::int64_t i = 0; i < dimension.npus; ++i) {
                    if (dimension.kind == "Switch") {
                        add_link(npu(i), centre, dimension);
                    } else if (dimension.kind == "Ring") {
                        if (dimension.npus > 2 || i == 0) {
                            add_link(npu(i), npu(i + 1), dimension);
                        }
                    } else {
                        for (std::int64_t other = i + 1; other < dimension.npus; ++other) {
                            add_link(npu(i), npu(other), dimension);
                        }
                    }
                }
            }
            stride *= dimension.npus;
        }
        remarks_.push_back("NPUs forward between dimensions, by the fewest links");
        ConfigNode section = ConfigNode::mapping();
        section.set("kind", ConfigNode::scalar("graph"));
        section.set("hosts_forward", ConfigNode::scalar("true"));
        section.set("nodes", ConfigNode::sequence(std::move(nodes)));
        section.set("links", ConfigNode::sequence(std::move(links)));
        return section;
    }

    // ---- system

    ConfigNode workload() {
        ConfigNode section = ConfigNode::mapping();
        if (files_.is_text_workload) {
            section.set("kind", ConfigNode::scalar("astra_text"));
            section.set("trace", ConfigNode::scalar(files_.workload));
            if (dimensions_.size() > 1) {
                section.set("dimensions", sizes());
            }
            return section;
        }
        section.set("kind", ConfigNode::scalar("chakra"));
        section.set("traces", ConfigNode::scalar(files_.workload));
        if (!files_.groups.empty()) {
            section.set("groups", ConfigNode::scalar(files_.groups));
        }
        if (dimensions_.size() > 1) {
            section.set("dimensions", sizes());
        }
        section.set("collectives", ConfigNode::scalar("in_order"));
        const ConfigNode* roofline = take("roofline-enabled");
        const bool is_roofline = roofline != nullptr && roofline->text != "0";
        const ConfigNode* replay = take("replay-only");
        const bool is_replay = replay != nullptr && replay->text != "0";
        section.set("compute", ConfigNode::scalar(is_roofline && !is_replay ? "roofline" : "recorded"));
        return section;
    }

    ConfigNode sizes() const {
        std::vector<ConfigNode> all;
        for (const Dimension& dimension : dimensions_) {
            all.push_back(number_node(dimension.npus));
        }
        return ConfigNode::sequence(std::move(all));
    }

    ConfigNode cluster() {
        ConfigNode section = ConfigNode::mapping();
        if (!dimensions_.empty()) {
            section.set("ranks", number_node(ranks_));
        }
        section.set("device", device());
        if (dimensions_.size() > 1) {
            section.set("dimensions", sizes());
        }
        if (ConfigNode collectives = collective_sections(); !collectives.entries.empty()) {
            section.set("collectives", std::move(collectives));
        }
        if (const ConfigNode* policy = take("scheduling-policy")) {
            const std::string name = lower(policy->text);
            if (name == "lifo" || name == "fifo") {
                section.set("scheduling", ConfigNode::scalar(name));
            } else if (name == "explicit") {
                leave_out(policy->where, "scheduling-policy",
                          "of collectives with comm_priority the larger is first in "
                          "any case, of others the newest");
            } else {
                error(*policy, fmt::format("scheduling-policy is '{}'", policy->text),
                      "one of LIFO, FIFO, EXPLICIT");
            }
        }
        if (const ConfigNode* active = take("active-chunks-per-dimension")) {
            if (const auto chunks = count(*active, "active-chunks-per-dimension")) {
                section.set("active_chunks_per_dimension", number_node(*chunks));
            }
        }
        if (const ConfigNode* order = take("intra-dimension-scheduling")) {
            static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOrders{
                {{"fifo", "priority"},
                 {"rg", "alternate"},
                 {"smallestfirst", "smallest_chunk"},
                 {"lessremainingphasefirst", "fewest_stages"}}};
            const auto* found = std::ranges::find(kOrders, lower(order->text),
                                                  &std::pair<std::string_view, std::string_view>::first);
            if (found == kOrders.end()) {
                error(*order, fmt::format("intra-dimension-scheduling is '{}'", order->text),
                      "one of FIFO, RG, smallestFirst, lessRemainingPhaseFirst");
            } else {
                section.set("dimension_scheduling", ConfigNode::scalar(std::string(found->second)));
            }
        }
        if (const ConfigNode* delay = take("endpoint-delay")) {
            if (const auto time = number(*delay, "endpoint-delay", 0)) {
                section.set("injection_latency",
                            ConfigNode::scalar(fmt::format("{}ps", std::llround(*time * 1000))));
            }
        }
        if (const ConfigNode* memory = files_.system.find("local-mem-bw")) {
            if (const auto rate = number(*memory, "local-mem-bw", 1e-9)) {
                ConfigNode end_point = ConfigNode::mapping();
                end_point.set("reduction_bandwidth", ConfigNode::scalar(gigabytes(*rate)));
                section.set("end_point", std::move(end_point));
            }
        }
        return section;
    }

    static std::string gigabytes(double rate) { return fmt::format("{}bps", std::llround(rate * 8e9)); }

    ConfigNode device() {
        ConfigNode section = ConfigNode::mapping();
        section.set("kind", ConfigNode::scalar("roofline"));
        const ConfigNode* peak = take("peak-perf");
        const std::optional<double> flops = peak != nullptr ? number(*peak, "peak-perf", 1e-9) : std::nullopt;
        section.set("peak", ConfigNode::scalar(flops ? fmt::format("{}TFLOPS", *flops) : "1TFLOPS"));
        const ConfigNode* memory = take("local-mem-bw");
        const std::optional<double> rate =
            memory != nullptr ? number(*memory, "local-mem-bw", 1e-9) : std::nullopt;
        section.set("memory_bandwidth", ConfigNode::scalar(rate ? gigabytes(*rate) : "1TB/s"));
        const ConfigNode* roofline = take("roofline-enabled");
        const bool is_roofline = roofline != nullptr && roofline->text != "0";
        if (is_roofline && (!flops || !rate)) {
            error(*roofline, "a roofline needs peak-perf and local-mem-bw", "");
        } else if (!flops || !rate) {
            remarks_.push_back(
                "What the system file does not say of the device is 1 TFLOPS and 1 TB/s: recorded "
                "durations do not depend on it");
        }
        return section;
    }

    /// "ring", or {algorithm: windowed_direct, window: 3}; whether it spans all dimensions at once.
    struct Implementation {
        ConfigNode algorithm;
        bool spans_all = false;
    };

    std::optional<Implementation> implementation(const ConfigNode& node, std::string name) {
        Implementation made;
        if (name.starts_with("one") && name.size() > 3) {
            made.spans_all = true;
            name = name.substr(3);
            name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
        }
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames{
            {{"ring", "ring"},
             {"direct", "direct"},
             {"doubleBinaryTree", "double_binary_tree"},
             {"halvingDoubling", "halving_doubling"}}};
        made.algorithm = ConfigNode::mapping();
        const auto* found =
            std::ranges::find(kNames, name, &std::pair<std::string_view, std::string_view>::first);
        if (found != kNames.end()) {
            made.algorithm.set("algorithm", ConfigNode::scalar(std::string(found->second)));
            return made;
        }
        std::int64_t window = 0;
        const std::string_view digits = std::string_view(name).substr(std::min<std::size_t>(name.size(), 6));
        const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), window);
        if (name.starts_with("direct") && failure == std::errc{} && end == digits.data() + digits.size() &&
            window > 0) {
            made.algorithm.set("algorithm", ConfigNode::scalar("windowed_direct"));
            made.algorithm.set("window", number_node(window));
            return made;
        }
        error(node, fmt::format("'{}' is no implementation of a collective", name),
              "one of ring, oneRing, direct, direct3 (a window of 3), oneDirect, doubleBinaryTree, "
              "halvingDoubling, "
              "oneHalvingDoubling");
        return std::nullopt;
    }

    /// The implementations of a key, by dimension: a list, or "ring_direct" of 1.0.
    std::vector<Implementation> implementations(const ConfigNode& node) {
        std::vector<Implementation> all;
        const auto add = [&](const ConfigNode& place, const std::string& name) {
            if (auto made = implementation(place, name)) {
                all.push_back(*std::move(made));
            }
        };
        if (node.is_sequence()) {
            for (const ConfigNode& item : node.items) {
                add(item, item.text);
            }
            return all;
        }
        std::string_view rest = node.text;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('_'), rest.size());
            add(node, std::string(rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        return all;
    }

    ConfigNode collective_sections() {
        const ConfigNode* splits = take("preferred-dataset-splits");
        const std::optional<std::int64_t> chunks =
            splits != nullptr ? count(*splits, "preferred-dataset-splits") : std::nullopt;
        const ConfigNode* optimisation = take("collective-optimization");
        std::string how = "baseline";
        if (optimisation != nullptr) {
            const std::string given = lower(optimisation->text);
            how = given == "localbwaware" ? "local_bandwidth_aware" : "baseline";
            if (given != "localbwaware" && given != "baseline") {
                error(*optimisation, fmt::format("collective-optimization is '{}'", optimisation->text),
                      "one of baseline, localBWAware");
            }
        }
        std::string order = "ascending";
        if (const ConfigNode* given = take("inter-dimension-scheduling")) {
            const std::string name = lower(given->text);
            if (name == "roundrobin") {
                order = "round_robin";
            } else if (name == "offlinegreedy" || name == "offlinegreedyflex") {
                order = "themis";
            } else if (name != "baseline" && name != "ascending") {
                leave_out(given->where, "inter-dimension-scheduling",
                          "orders are ascending (baseline), round_robin and themis (offlineGreedy)");
            }
        }
        ConfigNode sections = ConfigNode::mapping();
        for (const auto& [key, kind] : kImplementations) {
            const ConfigNode* node = take(key);
            if (node == nullptr) {
                continue;
            }
            std::vector<Implementation> all = implementations(*node);
            if (all.empty()) {
                error(*node, fmt::format("'{}' names no implementation", key), "one for each dimension");
                continue;
            }
            ConfigNode section = section_of(*node, std::string(key), std::move(all), how, order);
            if (chunks) {
                section.set("chunks", number_node(*chunks));
            }
            sections.set(std::string(kind), std::move(section));
        }
        return sections;
    }

    ConfigNode section_of(const ConfigNode& node, const std::string& key, std::vector<Implementation> all,
                          const std::string& how, const std::string& order) {
        const bool spans_all = std::ranges::any_of(all, &Implementation::spans_all);
        if (spans_all && all.size() > 1) {
            error(node,
                  fmt::format("'{}' has {} implementations, one of which spans all dimensions", key,
                              all.size()),
                  "oneRing, oneDirect and oneHalvingDoubling stand alone");
        }
        const std::size_t expected = std::max<std::size_t>(dimensions_.size(), 1);
        if (!spans_all && files_.network && all.size() != expected) {
            error(node,
                  fmt::format("'{}' has {} implementations, the network {} dimensions", key, all.size(),
                              expected),
                  "there is one for each dimension");
        }
        if (all.size() == 1) {
            return std::move(all.front().algorithm);
        }
        ConfigNode section = ConfigNode::mapping();
        section.set("algorithm", ConfigNode::scalar("hierarchical"));
        std::vector<ConfigNode> algorithms;
        for (Implementation& own : all) {
            algorithms.push_back(std::move(own.algorithm));
        }
        section.set("dimension_algorithms", ConfigNode::sequence(std::move(algorithms)));
        section.set("optimisation", ConfigNode::scalar(how));
        section.set("order", ConfigNode::scalar(order));
        return section;
    }

    /// What no other part has taken.
    void check_keys() {
        for (const ConfigEntry& entry : files_.system.entries) {
            if (std::ranges::find(taken_, entry.key) != taken_.end()) {
                continue;
            }
            const auto* idle = std::ranges::find(kIdleKeys, entry.key, &IdleKey::name);
            if (idle == kIdleKeys.end()) {
                leave_out(
                    entry.key_where, entry.key,
                    entry.key.ends_with("-implementation-custom")
                        ? "schedules of one's own are algorithm: schedule, with a file of MSCCL or of ours"
                        : "no key of a system file that is known");
            } else if (!idle->reason.empty() && entry.value.text != idle->harmless &&
                       entry.value.text != "false") {
                leave_out(entry.key_where, entry.key, std::string(idle->reason));
            }
        }
    }

    const AstraFiles& files_;
    std::string name_;
    Diagnostics errors_;
    Diagnostics not_mapped_;
    std::vector<std::string> remarks_;
    std::vector<std::string> taken_;
    std::vector<Dimension> dimensions_;
    std::int64_t ranks_ = 1;
    ConfigNode network_;
};

}  // namespace

Result<ConvertedAstra> convert_astra(const AstraFiles& files, const std::string& name) {
    return AstraConverter(files, name).convert();
}

}  // namespace astrolabe::cli
