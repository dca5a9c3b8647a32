/// A fabric as a graph for other tools: GraphML, DOT (Graphviz), and node-link JSON (networkx).
///
/// Nodes are numbered as in the fabric, hosts first, with name, kind (host, switch), and, where they differ
/// from the default, buffer, forwarding, forwards and tier. An edge is a cable, with rate, latency and cost;
/// where links have no reverse, or one with another speed, the graph is directed and a cable two edges. Edges
/// that are up only at times say circuit: true. Quantities are texts with units, exact.
///
/// Cables stand in an order in which adding them again gives every node the same order of its links: a static
/// network that routes by shortest paths is read back (`kind: graph`) with the same link numbers and routes.
/// O(nodes + links · log links).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

enum class GraphExport : std::uint8_t { kGraphml, kDot, kNodeLink };

/// Hands the file to `append` in pieces.
void export_graph(const Fabric& fabric, GraphExport format,
                  const std::function<void(std::string_view)>& append);

}  // namespace astrolabe::network
