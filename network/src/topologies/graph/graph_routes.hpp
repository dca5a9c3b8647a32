/// Routes that a graph is given pair by pair.
///
///     routes:
///       - {from: gpu 0, to: gpu 9, path: [leaf 0, spine 1, leaf 1]}
///       - {from: gpu 0, to: gpu 9, path: [leaf 0, spine 0, leaf 1], weight: 3}
///       - {from: gpu 0..3, to: gpu 8..11, path: [leaf 0, spine 0, leaf 1], both_ways: true}
///
/// `from` and `to` are hosts as ends of links name them, and every pair of two different ones is given the
/// path; `both_ways` gives the same nodes to the way back. A path lists the nodes between its ends; where
/// there is one `from` it may begin with it, where there is one `to` end with it. Several entries give a pair
/// several paths, which share its bytes as their weights say (given_routing.hpp).
///
/// Refused at its place: a node that no link joins to the one before, a host that does not forward, a node
/// visited twice, more than kMaxGivenPairs, weights whose equal shares are more than kMostShares.
#pragma once

#include "node_names.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace astrolabe::network {

inline constexpr std::int64_t kMaxGivenPairs = std::int64_t{1} << 22;
inline constexpr std::int64_t kMaxRouteWeight = 1'000;

struct RouteGroup {
    std::vector<PlacedText> from;
    std::vector<PlacedText> to;
    std::vector<PlacedText> path;
    std::int64_t weight = 1;
    bool both_ways = false;
    SourceRange where{};
};

/// The routes, or what is wrong with them. `graph` has neither defects nor circuit switches. Where `only`,
/// every pair of hosts must be given one; `where` is the place of them all. `splits`: a pair uses all its
/// paths at once. O(pairs + nodes of all paths); where `only` O(hosts²).
[[nodiscard]] std::variant<GraphRoutes, Diagnostics> expand_routes(const Graph& graph,
                                                                   const std::vector<RouteGroup>& groups,
                                                                   bool only, bool splits,
                                                                   const SourceRange& where);

}  // namespace astrolabe::network
