/// Circuit switches of a graph, and the circuits that join their ports.
///
///     nodes:    [{name: ocs, kind: circuit_switch, count: 2}]
///     circuits: [{switch: ocs 0, from: leaf 0..1, to: leaf 2..3}]
///
/// Model. A port of a circuit switch is the end of a cable. A circuit joins two ports, so that their cables
/// are one link between the nodes at the other ends: as fast as both cables, which have the same rate, as
/// long as both together, with the larger of their costs. A switch adds no time and has no buffer. A cable
/// between two circuit switches is in the middle of such a link.
///
/// `from` and `to` name the nodes at the other ends of the cables, the first of one joined to the first of
/// the other and so on; each entry takes the first cable to that node that is in no circuit, `count` of them
/// if given. Ports without a circuit carry nothing, and their cables are no links.
#pragma once

#include "node_names.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace astrolabe::network {

struct CircuitGroup {
    std::vector<PlacedText> at;  ///< one circuit switch
    std::vector<PlacedText> from;
    std::vector<PlacedText> to;
    std::int64_t count = 1;
    SourceRange where{};
};

struct JoinedGraph {
    Graph graph;  ///< without circuit switches
    /// Ports of each circuit switch, and how many of them have no circuit.
    struct Ports {
        std::string name;
        Bandwidth rate{};  ///< of its fastest cable
        std::size_t count = 0;
        std::size_t unused = 0;
    };
    std::vector<Ports> switches;
};

/// Links instead of circuit switches, in the order of their first cables; links between other nodes stay
/// where they are. Or what is wrong. O(nodes + links · log links).
[[nodiscard]] std::variant<JoinedGraph, Diagnostics> join_circuits(const Graph& graph,
                                                                   const std::vector<CircuitGroup>& circuits);

}  // namespace astrolabe::network
