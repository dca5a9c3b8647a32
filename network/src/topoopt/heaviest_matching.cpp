#include "heaviest_matching.hpp"

// Templates alone: nothing of LEMON's library is linked.
#define LEMON_ONLY_TEMPLATES
#include <lemon/matching.h>
#include <lemon/smart_graph.h>

namespace astrolabe::network::topoopt::detail {

std::vector<std::uint32_t> heaviest_matching(std::uint32_t nodes, const std::vector<WeightedPair>& pairs) {
    using Weights = lemon::SmartGraph::EdgeMap<std::int64_t>;
    lemon::SmartGraph graph;
    graph.reserveNode(static_cast<int>(nodes));
    graph.reserveEdge(static_cast<int>(pairs.size()));
    for (std::uint32_t i = 0; i < nodes; ++i) {
        graph.addNode();
    }
    Weights weights(graph);
    for (const WeightedPair& pair : pairs) {
        const auto edge = graph.addEdge(lemon::SmartGraph::nodeFromId(static_cast<int>(pair.a)),
                                        lemon::SmartGraph::nodeFromId(static_cast<int>(pair.b)));
        weights[edge] = pair.weight;
    }
    lemon::MaxWeightedMatching<lemon::SmartGraph, Weights> matching(graph, weights);
    matching.run();
    std::vector<std::uint32_t> mates(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) {
        const auto mate = matching.mate(lemon::SmartGraph::nodeFromId(static_cast<int>(i)));
        mates[i] = mate == lemon::INVALID ? i : static_cast<std::uint32_t>(lemon::SmartGraph::id(mate));
    }
    return mates;
}

}  // namespace astrolabe::network::topoopt::detail
