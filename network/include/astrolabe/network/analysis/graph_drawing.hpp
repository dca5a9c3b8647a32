/// A picture of a network's cables, for networks whose family has none of its own.
///
/// With switches: rows of nodes, hosts at the bottom, every switch one row above the nearest nodes below it,
/// or where its tier says; a row is ordered by the mean place of the neighbours below, and cables within it
/// are arches. Without: hosts on a circle. Cables have the colour of their rate, which a legend names, and
/// parallel ones are drawn as one of more width.
///
/// SVG 1.1, readable without other files; names stand at nodes of rows that have room for them.
/// O(nodes + links · log links).
#pragma once

#include <cstddef>
#include <string>

#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

/// More cables than can be told apart, and a file of some 10 MB.
inline constexpr std::size_t kMostCablesDrawn = 100'000;

[[nodiscard]] std::string draw_graph(const Fabric& fabric);

}  // namespace astrolabe::network
