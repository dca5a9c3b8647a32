// Barrier direct: the direct all_reduce with a barrier of all ranks between its halves.
//
// A rank of direct sends its result as soon as it has it, and what it sends competes with what others still
// scatter. Here it waits until every rank has its own, as where a sharded parameter server is synchronous.
// The time is that of direct, 2[α + (N-1)Sβ/N].

#include "direct.hpp"
#include "simple_algorithm.hpp"

namespace astrolabe::system {

void register_barrier_direct(AlgorithmRegistry& registry) {
    register_simple(registry,
                    "as direct, with a barrier of all ranks between its halves, as of a synchronous sharded "
                    "parameter server",
                    {.name = "barrier_direct",
                     .kinds = {CollectiveKind::kAllReduce},
                     .schedule = [](CollectiveKind, Position ranks,
                                    unsigned) { return detail::staged_direct_all_reduce(ranks); },
                     .has_barriers = true});
}

}  // namespace astrolabe::system
