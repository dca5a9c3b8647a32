/// Maximum concurrent flow: how fast a network can carry given traffic if every byte may take any path.
///
/// Model. Edges have capacities c(e), demands amounts d_j from a source to a sink. The greatest λ such that
/// all λ·d_j flow at once within the capacities is
///     max λ   with  Σ_j f_j(e) ≤ c(e),  f_j a flow of λ·d_j,
/// and by LP duality, for any lengths l(e) ≥ 0 with dist_j the length of the shortest path of demand j,
///     λ ≤ Σ_e c(e)·l(e) / Σ_j d_j·dist_j(l),
/// with equality for the best l. So amounts d take at least 1/λ of time under any routing, and any lengths
/// certify a bound.
///
/// Method. Multiplicative weights: route every demand once a phase along shortest paths, and lengthen every
/// edge by the factor 1 + ε·flow/capacity. The flow of all phases, scaled until it fits, is feasible:
/// `least`. The best certificate met is `most`. Both hold however early the method stops; it stops when they
/// are within `gap`, or at `most_steps`. Naveen Garg and Jochen Könemann, "Faster and simpler algorithms for
/// multicommodity flow and other fractional packing problems", FOCS 1998, section 5; Lisa Fleischer,
/// "Approximating fractional multicommodity flow independent of the number of commodities", SIAM J. Discrete
/// Math 13, 2000, section 5; demands of one source share a tree of shortest paths.
///
/// Complexity: O(sources · edges · log nodes) a phase, O(log(edges) / ε²) phases; ε is halved from 0.2 on
/// while the gap stays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace astrolabe::network {

struct FlowEdge {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    double capacity = 0;  ///< > 0
};

struct FlowDemand {
    std::uint32_t source = 0;
    std::uint32_t sink = 0;  ///< != source
    double amount = 0;       ///< > 0
};

struct ConcurrentFlowLimits {
    double gap = 0.02;                      ///< of most over least, less 1
    std::uint64_t most_steps = 20'000'000;  ///< edges looked at
};

struct ConcurrentFlow {
    double least = 0;  ///< λ of a flow that was found
    double most = 0;   ///< no flow has more
    std::uint64_t phases = 0;
};

/// 0 and 0 where a sink cannot be reached. Precondition: at least one demand.
[[nodiscard]] ConcurrentFlow max_concurrent_flow(std::uint32_t nodes, std::span<const FlowEdge> edges,
                                                 std::span<const FlowDemand> demands,
                                                 const ConcurrentFlowLimits& limits = {});

}  // namespace astrolabe::network
