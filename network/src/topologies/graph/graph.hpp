/// A network of one's own: nodes and links as the experiment or a file lists them.
///
/// Model. Hosts and switches, joined by cables that carry their rate in both directions at once, or by
/// one-way links. A host that does not forward is never between two others, however many cables it has; one
/// that forwards takes `forwarding` from when it has what is for others until it queues it. Parallel cables
/// are kept apart. Circuit switches join cables to links before there is a network (graph_circuits.hpp).
///
/// Routing, among all next links of a pair by hash or evenly (LoadBalancing): shortest paths by the sum of
/// link costs, or up and down the tiers of switches (shortest_path_routing.hpp), where no cycle of buffers
/// that wait for one another can arise (Schroeder et al., "Autonet: a high-speed, self-configuring local area
/// network using point-to-point links", IEEE JSAC 9(8), 1991, section 6.6.4). Or the k shortest paths of
/// every pair (k_shortest_routing.hpp), or those that are given for it (given_routing.hpp, graph_routes.hpp).
///
/// Every host must reach every other; what does not is reported with its names.
///
/// Limits: those of parameters.hpp. O(nodes + links) to build; that all hosts reach one another takes two
/// searches where a neighbour of the first host lies between all, else a search for each host that differs
/// from all others in its neighbours; up and down a sweep for every 64 of these.
#pragma once

#include "../../routing/shortest_path_routing.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

/// Largest cost of a link: sums over a path stay small.
inline constexpr std::int64_t kMaxLinkCost = 1'000;

/// A text of the experiment with its place.
struct PlacedText {
    std::string text;
    SourceRange where{};
};

enum class GraphNodeKind : std::uint8_t { kHost, kSwitch, kCircuitSwitch };

/// One node of a graph.
struct GraphNode {
    std::string name;  ///< no two nodes have the same
    GraphNodeKind kind = GraphNodeKind::kHost;
    Bytes buffer{};                                   ///< of a switch; 0: unlimited
    Time forwarding{};                                ///< of a host
    bool forwards = false;                            ///< of a host; switches always do
    std::optional<std::int64_t> tier = std::nullopt;  ///< of a switch; hosts are on 0
    SourceRange where{};
};

/// One cable, or one direction alone.
struct GraphLink {
    std::uint32_t from = 0;  ///< nodes, in the order of the graph
    std::uint32_t to = 0;
    LinkParameters parameters{};  ///< of both directions
    Bytes buffer_back{};          ///< queue of the direction back, as `parameters.buffer` of the other
    bool one_way = false;
    SourceRange where{};
};

struct Graph {
    std::vector<GraphNode> nodes;
    std::vector<GraphLink> links;
};

/// Paths that pairs of hosts are given, by nodes in the order of the graph.
struct GraphRoutes {
    struct Pair {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t path = 0;  ///< in `paths`
        std::uint32_t weight = 1;
    };
    std::vector<std::vector<std::uint32_t>> paths;  ///< nodes between the ends, in order
    std::vector<Pair> pairs;                        ///< one entry for each path of a pair
};

enum class GraphRoutingKind : std::uint8_t { kShortest, kUpDown, kKShortest };

struct GraphRouting {
    GraphRoutingKind kind = GraphRoutingKind::kShortest;
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;  ///< or kSpray: evenly over all paths in use
    std::int64_t paths = 4;                                   ///< of kKShortest
    std::int64_t detour = 0;                                  ///< of kKShortest
    GraphRoutes routes{};                                     ///< other pairs take those of `kind`

    /// What all links must allow, whatever is given.
    [[nodiscard]] PathRule rule() const {
        return kind == GraphRoutingKind::kUpDown ? PathRule::kUpDown : PathRule::kShortest;
    }
};

/// What is wrong with a graph by itself: one diagnostic for each defect, at its place.
[[nodiscard]] Diagnostics graph_defects(const Graph& graph, PathRule routing);

/// Requires a graph without defects and without circuit switches. `family` may be null.
[[nodiscard]] std::shared_ptr<const Fabric> build_graph(const Graph& graph, const GraphRouting& routing,
                                                        std::uint64_t seed,
                                                        std::shared_ptr<const NetworkFamily> family);

}  // namespace astrolabe::network
