#include "graph.hpp"

#include "../../routing/given_routing.hpp"
#include "../../routing/k_shortest_routing.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/ids.hpp>

namespace astrolabe::network {

namespace {

/// Which nodes are reached from which: whole searches over the list of links.
class Reach {
public:
    explicit Reach(const Graph& graph, PathRule rule)
        : graph_(graph),
          rule_(rule),
          out_(graph.nodes.size()),
          into_(graph.nodes.size()) {
        for (const GraphLink& link : graph.links) {
            out_[link.from].push_back(link.to);
            into_[link.to].push_back(link.from);
            if (!link.one_way) {
                out_[link.to].push_back(link.from);
                into_[link.from].push_back(link.to);
            }
        }
    }

    /// The first two hosts without a path from one to the other.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> unconnected() const {
        if (rule_ == PathRule::kUpDown) {
            return unconnected_up_and_down();
        }
        if (has_centre()) {
            return std::nullopt;
        }
        for (const std::size_t host : different_hosts()) {
            const std::vector<bool> reached = from(host, out_);
            for (std::size_t other = 0; other < graph_.nodes.size(); ++other) {
                if (is_host(other) && !reached[other]) {
                    return std::pair(host, other);
                }
            }
        }
        return std::nullopt;
    }

private:
    using Neighbours = std::vector<std::vector<std::uint32_t>>;

    [[nodiscard]] bool is_host(std::size_t node) const {
        return graph_.nodes[node].kind == GraphNodeKind::kHost;
    }
    [[nodiscard]] bool forwards(std::size_t node) const {
        return !is_host(node) || graph_.nodes[node].forwards;
    }
    [[nodiscard]] std::int64_t tier(std::size_t node) const { return graph_.nodes[node].tier.value_or(0); }

    /// Whether the first host or one of the first neighbours of it forwards, is reached by every host and
    /// reaches every host: then all reach one another.
    [[nodiscard]] bool has_centre() const {
        constexpr std::size_t kMostTried = 4;
        const std::vector<std::size_t> hosts = all_hosts();
        std::vector<std::size_t> candidates{hosts.front()};
        for (const std::uint32_t next : out_[hosts.front()]) {
            if (candidates.size() <= kMostTried && std::ranges::find(candidates, next) == candidates.end()) {
                candidates.push_back(next);
            }
        }
        return std::ranges::any_of(candidates, [&](std::size_t node) {
            if (!forwards(node)) {
                return false;
            }
            const std::vector<bool> reached = from(node, out_);
            const std::vector<bool> reaching = from(node, into_);
            return std::ranges::all_of(hosts,
                                       [&](std::size_t host) { return reached[host] && reaching[host]; });
        });
    }
    [[nodiscard]] std::vector<std::size_t> all_hosts() const {
        std::vector<std::size_t> hosts;
        for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
            if (is_host(node)) {
                hosts.push_back(node);
            }
        }
        return hosts;
    }

    [[nodiscard]] std::vector<bool> from(std::size_t begin, const Neighbours& neighbours) const {
        std::vector<bool> reached(graph_.nodes.size());
        std::deque<std::size_t> waiting{begin};
        reached[begin] = true;
        while (!waiting.empty()) {
            const std::size_t at = waiting.front();
            waiting.pop_front();
            if (at != begin && !forwards(at)) {
                continue;
            }
            for (const std::uint32_t next : neighbours[at]) {
                if (!reached[next]) {
                    reached[next] = true;
                    waiting.push_back(next);
                }
            }
        }
        return reached;
    }

    /// Hosts with other neighbours than all hosts before them, in either direction: those with the same reach
    /// the same, and one another alike.
    [[nodiscard]] std::vector<std::size_t> different_hosts() const {
        std::set<std::array<std::vector<std::uint32_t>, 2>> known;
        std::vector<std::size_t> hosts;
        for (const std::size_t host : all_hosts()) {
            std::array<std::vector<std::uint32_t>, 2> neighbours{out_[host], into_[host]};
            for (std::vector<std::uint32_t>& one_way : neighbours) {
                std::ranges::sort(one_way);
            }
            if (known.insert(std::move(neighbours)).second) {
                hosts.push_back(host);
            }
        }
        return hosts;
    }

    /// Sweeps the tiers upwards and then downwards with a bit for each of 64 hosts at a time.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> unconnected_up_and_down() const {
        constexpr std::size_t kTogether = 64;
        std::vector<std::size_t> order(graph_.nodes.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [this](std::size_t node) { return tier(node); });
        const std::vector<std::size_t> hosts = all_hosts();
        const std::vector<std::size_t> sources = different_hosts();
        for (std::size_t first = 0; first < sources.size(); first += kTogether) {
            const std::size_t count = std::min(kTogether, sources.size() - first);
            std::vector<std::uint64_t> reached(graph_.nodes.size());
            for (std::size_t i = 0; i < count; ++i) {
                reached[sources[first + i]] = std::uint64_t{1} << i;
            }
            sweep(order.begin(), order.end(), reached, [](auto from, auto to) { return from < to; });
            sweep(order.rbegin(), order.rend(), reached, [](auto from, auto to) { return from > to; });
            for (std::size_t i = 0; i < count; ++i) {
                for (const std::size_t other : hosts) {
                    if (other != sources[first + i] && (reached[other] >> i & 1U) == 0) {
                        return std::pair(sources[first + i], other);
                    }
                }
            }
        }
        return std::nullopt;
    }
    template <class Iterator, class Leads>
    void sweep(Iterator begin, Iterator end, std::vector<std::uint64_t>& reached, Leads leads) const {
        for (Iterator node = begin; node != end; ++node) {
            for (const std::uint32_t next : out_[*node]) {
                if (leads(tier(*node), tier(next))) {
                    reached[next] |= reached[*node];
                }
            }
        }
    }

    const Graph& graph_;
    PathRule rule_;
    Neighbours out_;
    Neighbours into_;
};

class DefectList {
public:
    void add(const SourceRange& where, std::string message, std::string hint) {
        found_.push_back({"network.graph", where, std::move(message), std::move(hint), {}});
    }
    [[nodiscard]] Diagnostics take() && { return std::move(found_); }
    [[nodiscard]] bool empty() const { return found_.empty(); }

private:
    Diagnostics found_;
};

void check_nodes(const Graph& graph, PathRule rule, DefectList& defects) {
    constexpr std::int64_t kMaxTier = std::numeric_limits<std::uint16_t>::max();
    std::map<std::string_view, const GraphNode*> by_name;
    std::int64_t hosts = 0;
    for (const GraphNode& node : graph.nodes) {
        hosts += node.kind == GraphNodeKind::kHost ? 1 : 0;
        if (!by_name.emplace(node.name, &node).second) {
            defects.add(node.where, fmt::format("two nodes have the name '{}'", node.name),
                        "links name their ends, so every node has a name of its own");
        }
        if (node.buffer < Bytes(0)) {
            defects.add(node.where,
                        fmt::format("the buffer of '{}' is {}, expected 0 or more", node.name,
                                    to_string(node.buffer)),
                        "0 stands for unlimited");
        }
        if (node.forwarding < Time(0) || node.forwarding > kMaxLinkLatency) {
            defects.add(node.where,
                        fmt::format("'{}' takes {} to forward, expected 0 to {}", node.name,
                                    to_string(node.forwarding), to_string(kMaxLinkLatency)),
                        "forwarding is what a host takes from receiving to queueing, for example 1us");
        }
        if (node.tier && node.kind == GraphNodeKind::kHost) {
            defects.add(node.where, fmt::format("host '{}' has a tier", node.name),
                        "hosts are below tier 1; leave it out");
        }
        if (node.kind == GraphNodeKind::kSwitch && (rule == PathRule::kUpDown || node.tier) &&
            (!node.tier || *node.tier < 1 || *node.tier > kMaxTier)) {
            defects.add(node.where,
                        node.tier ? fmt::format("the tier of '{}' is {}, expected 1 to {}", node.name,
                                                *node.tier, kMaxTier)
                                  : fmt::format("switch '{}' has no tier", node.name),
                        "routing up and down takes tier: 1 for the switches of hosts, 2 for those above");
        }
    }
    const std::int64_t switches = std::ssize(graph.nodes) - hosts;
    if (hosts < 1 || hosts > kMaxHosts || switches > kMaxSwitches) {
        defects.add(
            graph.nodes.empty() ? SourceRange{} : graph.nodes.front().where,
            fmt::format("the graph has {} hosts and {} switches, expected 1 to {} hosts and at most {} "
                        "switches",
                        hosts, switches, kMaxHosts, kMaxSwitches),
            "nodes are hosts unless they say kind: switch");
    }
}

void check_links(const Graph& graph, DefectList& defects) {
    if (std::ssize(graph.links) > kMaxCables) {
        defects.add(
            graph.links.front().where,
            fmt::format("the graph has {} cables, expected at most {}", graph.links.size(), kMaxCables),
            "use fewer, faster cables");
    }
    for (const GraphLink& link : graph.links) {
        const LinkParameters& p = link.parameters;
        if (link.from == link.to) {
            defects.add(link.where, fmt::format("'{}' is joined to itself", graph.nodes[link.from].name),
                        "a link joins two different nodes");
        }
        if (p.rate <= Bandwidth(0) || p.rate > kMaxLinkRate) {
            defects.add(link.where,
                        fmt::format("the rate is {}, expected more than 0 and at most {}", to_string(p.rate),
                                    to_string(kMaxLinkRate)),
                        "give the rate of a cable, for example 100Gbps");
        }
        if (p.latency < Time(0) || p.latency > kMaxLinkLatency) {
            defects.add(link.where,
                        fmt::format("the latency is {}, expected 0 to {}", to_string(p.latency),
                                    to_string(kMaxLinkLatency)),
                        "latency is the one-way time of the cable, for example 500ns");
        }
    }
}

}  // namespace

Diagnostics graph_defects(const Graph& graph, PathRule rule) {
    DefectList defects;
    check_nodes(graph, rule, defects);
    check_links(graph, defects);
    if (!defects.empty()) {
        return std::move(defects).take();
    }
    if (const auto pair = Reach(graph, rule).unconnected()) {
        const GraphNode& from = graph.nodes[pair->first];
        const GraphNode& to = graph.nodes[pair->second];
        defects.add(from.where, fmt::format("no path leads from '{}' to '{}'", from.name, to.name),
                    rule == PathRule::kUpDown
                        ? "a path goes up in tiers, then down: check the tiers of the switches between them"
                        : "add a link; hosts are between others only where they say forwards: true");
    }
    return std::move(defects).take();
}

namespace {

std::shared_ptr<const GivenPaths> given_paths(const GraphRoutes& routes, const std::vector<NodeId>& id_of) {
    auto given = std::make_shared<GivenPaths>();
    for (const std::vector<std::uint32_t>& path : routes.paths) {
        std::vector<NodeId> between;
        for (const std::uint32_t node : path) {
            between.push_back(id_of[node]);
        }
        given->add_path(std::move(between));
    }
    for (const GraphRoutes::Pair& pair : routes.pairs) {
        given->give(HostId(id_of[pair.from].index()), HostId(id_of[pair.to].index()), pair.path, pair.weight);
    }
    return given;
}

RoutingMaker routing_maker(const GraphRouting& routing, const std::vector<NodeId>& id_of,
                           std::uint64_t seed) {
    const LoadBalancing over_paths =
        routing.load_balancing == LoadBalancing::kSpray ? LoadBalancing::kPaths : LoadBalancing::kFlowHash;
    if (!routing.routes.pairs.empty()) {
        return [given = given_paths(routing.routes, id_of), over_paths, seed,
                rule = routing.rule()](const Fabric& fabric) {
            return std::make_shared<const GivenRouting>(fabric, given, over_paths, seed, rule);
        };
    }
    if (routing.kind == GraphRoutingKind::kKShortest) {
        const KShortestOptions options{static_cast<std::size_t>(routing.paths),
                                       static_cast<std::size_t>(routing.detour), seed, over_paths};
        return [options](const Fabric& fabric) {
            return std::make_shared<const KShortestRouting>(fabric, options);
        };
    }
    return [balancing = routing.load_balancing, seed, rule = routing.rule()](const Fabric& fabric) {
        return std::make_shared<const ShortestPathRouting>(fabric, balancing, seed, rule);
    };
}

}  // namespace

std::shared_ptr<const Fabric> build_graph(const Graph& graph, const GraphRouting& routing, std::uint64_t seed,
                                          std::shared_ptr<const NetworkFamily> family) {
    FabricBuilder builder("graph");
    builder.set_family(std::move(family));
    std::vector<NodeId> id_of(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const GraphNode& node = graph.nodes[i];
        if (node.kind == GraphNodeKind::kHost) {
            id_of[i] = NodeId(builder.add_host(node.name, node.forwarding, node.forwards).index());
        }
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const GraphNode& node = graph.nodes[i];
        if (node.kind == GraphNodeKind::kSwitch) {
            id_of[i] =
                builder.add_switch(node.name, node.buffer, static_cast<std::uint16_t>(node.tier.value_or(0)));
        }
    }
    for (const GraphLink& link : graph.links) {
        if (link.one_way) {
            builder.connect_one_way(id_of[link.from], id_of[link.to], link.parameters);
        } else {
            LinkParameters back = link.parameters;
            back.buffer = link.buffer_back;
            builder.connect(id_of[link.from], id_of[link.to], link.parameters, back);
        }
    }
    return std::move(builder).build(routing_maker(routing, id_of, seed));
}

}  // namespace astrolabe::network
