/// What circuit switches add to a graph: ports that are described, and bought.
///
/// A link through a circuit switch is one cable of the fabric, and is counted as one. Here are the ports of
/// the switches, all of them, and the cables that are more than one: of c circuits c. What hangs on a port
/// without a circuit is not counted but for the port.
#pragma once

#include "graph_circuits.hpp"

#include <memory>
#include <vector>

#include <astrolabe/network/family.hpp>

namespace astrolabe::network {

[[nodiscard]] std::shared_ptr<const NetworkFamily> graph_family(std::vector<JoinedGraph::Ports> switches);

}  // namespace astrolabe::network
