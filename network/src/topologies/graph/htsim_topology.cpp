#include "graph_readers.hpp"
#include "word_lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::network::detail {

namespace {

/// What htsim says of a tier: 0 are the switches of hosts.
struct Tier {
    std::map<std::string, std::pair<std::int64_t, SourceRange>, std::less<>> values;
    SourceRange where;

    [[nodiscard]] std::int64_t value_or(std::string_view key, std::int64_t otherwise) const {
        const auto found = values.find(key);
        return found == values.end() ? otherwise : found->second.first;
    }
};

std::string lower_case(std::string_view word) {
    std::string text(word);
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

constexpr std::int64_t kPicosecondsPerNanosecond = 1'000;

class HtsimReader {
public:
    HtsimReader(const std::shared_ptr<const SourceText>& source, const GraphFileOptions& options)
        : lines_(source, '#'),
          options_(options) {}

    Graph read() {
        read_keys();
        const std::int64_t nodes = header("nodes", 1, kMaxHosts);
        const std::int64_t tiers = header("tiers", 2, 3);
        const std::int64_t pod_size =
            tiers == 2 ? header_or("podsize", nodes, nodes) : header("podsize", 1, nodes);
        if (std::ssize(tiers_) != tiers) {
            lines_.fail(0,
                        fmt::format("the file describes {} tiers, its header says {}", tiers_.size(), tiers),
                        "every tier has a block that begins with 'Tier N'");
        }
        require_divides(nodes, pod_size, "Nodes", "Podsize", header_.where);
        add_hosts(nodes);
        wire(nodes, pod_size);
        return std::move(graph_);
    }

private:
    static constexpr std::array<std::string_view, 3> kHeader{"nodes", "tiers", "podsize"};
    static constexpr std::array<std::string_view, 9> kTier{
        "downlink_speed_gbps", "radix_down", "radix_up",  "downlink_latency_ns", "oversubscribed", "bundle",
        "switch_latency_ns",   "queue_up",   "queue_down"};

    void read_keys() {
        Tier* tier = &header_;
        header_.where = lines_.place(0);
        while (lines_.next()) {
            if (lines_.words().empty()) {
                continue;
            }
            const std::string key = lower_case(lines_.words().front());
            if (key == "tier") {
                (void)lines_.number(1, "the number of the tier", std::ssize(tiers_), std::ssize(tiers_));
                tier = &tiers_.emplace_back();
                tier->where = lines_.place(0);
                continue;
            }
            const bool is_known =
                tier == &header_ ? std::ranges::count(kHeader, key) > 0 : std::ranges::count(kTier, key) > 0;
            if (!is_known) {
                lines_.fail(0,
                            fmt::format("'{}' is no key of {}", lines_.words().front(),
                                        tier == &header_ ? "the header" : "a tier"),
                            "see docs/models/graph.md for the keys of a .topo file");
            }
            const std::int64_t value = lines_.number(1, lines_.words().front(), 0, kMaxCables);
            if (!tier->values.emplace(key, std::pair(value, lines_.place(1))).second) {
                lines_.fail(0, fmt::format("'{}' is given twice", lines_.words().front()), "give it once");
            }
            if (key == "switch_latency_ns" && value != 0) {
                lines_.fail(1, "switches take no time of their own here",
                            "add half of it to Downlink_Latency_ns of the cables on both sides");
            }
            if (lines_.words().size() > 2) {
                lines_.fail(2, "a line has one key and its value", "take out what is too much");
            }
        }
    }

    [[nodiscard]] std::int64_t header(std::string_view key, std::int64_t least, std::int64_t most) const {
        const auto found = header_.values.find(key);
        if (found == header_.values.end()) {
            graph_defect(header_.where, fmt::format("the header has no '{}'", key),
                         "a .topo file begins with Nodes, Tiers and Podsize");
        }
        const auto& [value, where] = found->second;
        if (value < least || value > most) {
            graph_defect(where, fmt::format("{} is {}, expected {} to {}", key, value, least, most), "");
        }
        return value;
    }
    [[nodiscard]] std::int64_t header_or(std::string_view key, std::int64_t otherwise,
                                         std::int64_t most) const {
        return header_.values.contains(key) ? header(key, 1, most) : otherwise;
    }

    [[nodiscard]] std::int64_t of_tier(std::size_t tier, std::string_view key, std::int64_t otherwise) const {
        const auto found = tiers_[tier].values.find(key);
        if (found == tiers_[tier].values.end() ? otherwise < 0 : found->second.first < 1) {
            graph_defect(found == tiers_[tier].values.end() ? tiers_[tier].where : found->second.second,
                         fmt::format("tier {} needs '{}', at least 1", tier, key),
                         "see docs/models/graph.md");
        }
        return tiers_[tier].value_or(key, otherwise);
    }

    void require_divides(std::int64_t whole, std::int64_t part, std::string_view whole_name,
                         std::string_view part_name, const SourceRange& where) const {
        if (part < 1 || whole % part != 0) {
            graph_defect(
                where,
                fmt::format("{} is {}, which {} of {} does not divide", whole_name, whole, part_name, part),
                "the tiers of a .topo file are regular");
        }
    }

    void add_hosts(std::int64_t nodes) {
        for (std::int64_t host = 0; host < nodes; ++host) {
            graph_.nodes.push_back({.name = fmt::format("host {}", host),
                                    .forwards = options_.hosts_forward,
                                    .where = header_.where});
        }
    }

    /// Before the switches of a tier are made, for Radix_Up below says how many there are; `switches` is
    /// up to this tier.
    void require_switches(std::size_t tier, std::int64_t switches) const {
        if (switches > kMaxSwitches) {
            graph_defect(tiers_[tier - 1].values.find("radix_up")->second.second,
                         fmt::format("tiers 0 to {} have {} switches, expected at most {}", tier, switches,
                                     kMaxSwitches),
                         "Radix_Up over Bundle of the tier above is how many switches each is joined to");
        }
    }

    std::uint32_t add_switch(std::string_view kind, std::int64_t number, std::size_t tier) {
        graph_.nodes.push_back({.name = fmt::format("{} {}", kind, number),
                                .kind = GraphNodeKind::kSwitch,
                                .tier = static_cast<std::int64_t>(tier) + 1,
                                .where = tiers_[tier].where});
        return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
    }

    /// A cable down from a switch of the tier.
    void join(std::uint32_t below, std::uint32_t above, std::size_t tier, std::int64_t cables) {
        GraphLink link{.from = below, .to = above, .where = tiers_[tier].where};
        link.parameters.rate = Bandwidth(of_tier(tier, "downlink_speed_gbps", -1) * 1'000'000'000);
        link.parameters.latency =
            Time(tiers_[tier].value_or("downlink_latency_ns", 0) * kPicosecondsPerNanosecond);
        link.parameters.buffer = Bytes(tier == 0 ? 0 : tiers_[tier - 1].value_or("queue_up", 0));
        link.buffer_back = Bytes(tiers_[tier].value_or("queue_down", 0));
        if (cables > kMaxCables - std::ssize(graph_.links)) {
            graph_defect(tiers_[tier].where, fmt::format("the network has more than {} cables", kMaxCables),
                         "use fewer, faster cables");
        }
        for (std::int64_t i = 0; i < cables; ++i) {
            graph_.links.push_back(link);
        }
    }

    void wire(std::int64_t nodes, std::int64_t pod_size) {
        const std::int64_t hosts_per_leaf = of_tier(0, "radix_down", -1);
        require_divides(pod_size, hosts_per_leaf, "Podsize", "Radix_Down of tier 0", tiers_[0].where);
        const std::int64_t leaves_per_pod = pod_size / hosts_per_leaf;
        const std::int64_t pods = nodes / pod_size;
        const std::int64_t up = of_tier(0, "radix_up", -1);
        check_oversubscription(0);
        const bool is_flat = tiers_.size() == 2;
        const std::int64_t bundle = of_tier(1, "bundle", 1);
        require_divides(up, bundle, "Radix_Up of tier 0", "Bundle of tier 1", tiers_[0].where);
        // In two tiers the upper switches are those of the whole network, in three those of each pod.
        const std::int64_t above = up / bundle;
        require_equal(1, "radix_down", leaves_per_pod * bundle);
        const std::int64_t switches = pods * (leaves_per_pod + above);
        require_switches(1, switches);

        std::vector<std::uint32_t> leaves;
        for (std::int64_t leaf = 0; leaf < pods * leaves_per_pod; ++leaf) {
            leaves.push_back(add_switch("leaf", leaf, 0));
            for (std::int64_t i = 0; i < hosts_per_leaf; ++i) {
                join(static_cast<std::uint32_t>(leaf * hosts_per_leaf + i), leaves.back(), 0,
                     of_tier(0, "bundle", 1));
            }
        }
        std::vector<std::uint32_t> middle;
        for (std::int64_t pod = 0; pod < pods; ++pod) {
            for (std::int64_t i = 0; i < above; ++i) {
                middle.push_back(add_switch(is_flat ? "spine" : "aggregation", std::ssize(middle), 1));
                for (std::int64_t leaf = 0; leaf < leaves_per_pod; ++leaf) {
                    join(leaves[static_cast<std::size_t>(pod * leaves_per_pod + leaf)], middle.back(), 1,
                         bundle);
                }
            }
        }
        if (!is_flat) {
            wire_cores(middle, above, pods, switches);
        } else if (pods != 1) {
            graph_defect(header_.where, fmt::format("two tiers of {} pods are not connected", pods),
                         "with two tiers Podsize is Nodes");
        }
    }

    /// Aggregation switch i of every pod is joined to cores i, i + above, ….
    /// `switches` are made.
    void wire_cores(const std::vector<std::uint32_t>& middle, std::int64_t above, std::int64_t pods,
                    std::int64_t switches) {
        check_oversubscription(1);
        const std::int64_t up = of_tier(1, "radix_up", -1);
        const std::int64_t bundle = of_tier(2, "bundle", 1);
        require_divides(up, bundle, "Radix_Up of tier 1", "Bundle of tier 2", tiers_[1].where);
        require_equal(2, "radix_down", pods * bundle);
        const std::int64_t cores = above * (up / bundle);
        require_switches(2, switches + cores);
        for (std::int64_t core = 0; core < cores; ++core) {
            const std::uint32_t node = add_switch("core", core, 2);
            for (std::int64_t pod = 0; pod < pods; ++pod) {
                join(middle[static_cast<std::size_t>(pod * above + core % above)], node, 2, bundle);
            }
        }
    }

    void require_equal(std::size_t tier, std::string_view key, std::int64_t expected) const {
        const std::int64_t given = of_tier(tier, key, -1);
        if (given != expected) {
            graph_defect(
                tiers_[tier].values.find(key)->second.second,
                fmt::format("{} of tier {} is {}, but {} cables come from below", key, tier, given, expected),
                "the tiers of a .topo file fit one another");
        }
    }

    void check_oversubscription(std::size_t tier) const {
        const auto found = tiers_[tier].values.find("oversubscribed");
        const std::int64_t ratio = tiers_[tier].value_or("oversubscribed", 1);
        // As htsim checks it: by the number of ports alone.
        const std::int64_t down = of_tier(tier, "radix_down", -1);
        const std::int64_t up = of_tier(tier, "radix_up", -1);
        if (found != tiers_[tier].values.end() && down != ratio * up) {
            graph_defect(found->second.second,
                         fmt::format("{} ports down and {} up are not oversubscribed {}:1", down, up, ratio),
                         "Oversubscribed is Radix_Down over Radix_Up");
        }
    }

    WordLines lines_;
    const GraphFileOptions& options_;
    Tier header_;
    std::vector<Tier> tiers_;
    Graph graph_;
};

}  // namespace

Graph read_htsim(const std::shared_ptr<const SourceText>& source, const GraphFileOptions& options) {
    return HtsimReader(source, options).read();
}

}  // namespace astrolabe::network::detail
