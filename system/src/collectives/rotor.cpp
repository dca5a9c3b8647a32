// Collectives for networks whose circuits come and go: the schedules of direct and ring, of which the
// executor sends every message when the circuit between its ranks comes
// (docs/models/rotor-collectives.md).
//
// Direct: every rank has a message for every other, so it can use whichever circuit comes, and no relayed
// message takes its capacity. Peers are thereby visited in the order of their circuits, whatever the order in
// the schedule.
//
// Ring: a rank has one message at a time. One way round takes the sum of the waits for one circuit after the
// other, so ranks get positions in which waits are short (circuit_order.hpp).

#include "direct.hpp"
#include "ring.hpp"
#include "simple_algorithm.hpp"

namespace astrolabe::system {

void register_rotor(AlgorithmRegistry& registry) {
    register_simple(
        registry,
        "as direct on rotor switches: what goes between two ranks leaves when their racks are connected, and "
        "takes no other rack's circuits",
        {.name = "rotor_direct",
         .kinds = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                   CollectiveKind::kAllToAll},
         .schedule = [](CollectiveKind kind, Position ranks,
                        unsigned) { return detail::direct_exchange(kind, ranks); },
         .circuit_use = CircuitUse::kDirect});
    // A ring passes an all_to_all on from rank to rank, over every circuit but the one it needs.
    register_simple(
        registry,
        "as ring on rotor switches: ranks in an order in which each is connected to the next soon after the "
        "one before",
        {.name = "rotor_ring",
         .kinds = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather},
         .schedule = [](CollectiveKind kind, Position ranks,
                        unsigned) { return detail::ring_schedule(kind, ranks, 1); },
         .circuit_use = CircuitUse::kInOrder});
}

}  // namespace astrolabe::system
