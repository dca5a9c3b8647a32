/// Random regular graphs.
///
/// A graph of n nodes that each have d different neighbours starts as a ring in which every node is connected
/// to the nearest others, and is mixed by switches: two edges {a, b}, {c, d} become {a, c}, {b, d} where these
/// are new, 20 of them for each edge. The states of that chain are all such graphs, equally likely in the limit
/// (Cooper, Dyer and Greenhill, Sampling regular graphs and a peer-to-peer network, Combinatorics, Probability
/// and Computing 16, 2007); 20 is far below its proven mixing time, and its hops are those of random graphs.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/random.hpp>

namespace astrolabe::network {

/// Neighbours of each node, neighbours[node * degree + i]. degree < nodes, degree * nodes even.
[[nodiscard]] std::vector<std::uint32_t> draw_regular_graph(std::uint32_t nodes, std::uint32_t degree,
                                                            RandomStream& random);

}  // namespace astrolabe::network
