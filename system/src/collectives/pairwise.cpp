// Pairwise exchange: an all_to_all of N-1 steps with one partner at a time.
//
// Step k swaps blocks with i xor k where N is a power of two; otherwise it sends to i+k and receives from
// i-k. Either way every step is a permutation of the ranks, so no port of a crossbar is ever shared. A step
// starts when the send and the receive of the one before are done. Positions are relative: program 0 serves
// every rank.
//
//     all_to_all      (N-1)(α + Sβ/N)

#include "simple_algorithm.hpp"

#include <bit>
#include <vector>

namespace astrolabe::system {

namespace {

CollectiveSchedule pairwise(CollectiveKind kind, Position ranks, unsigned /*variant*/) {
    const bool swaps = std::has_single_bit(ranks);
    ScheduleBuilder builder(kind, ranks, std::uint64_t{ranks} * ranks,
                            swaps ? Symmetry::kExclusiveOr : Symmetry::kRotation);
    std::vector<ActionIndex> previous;
    for (Position step = 1; step < ranks; ++step) {
        const Position source = swaps ? step : ranks - step;
        const BlockReference sent{.source = 0, .block = step};
        const BlockReference received{.source = source, .block = 0};
        const ActionIndex send = builder.send(0, step, {&sent, 1}, previous);
        previous = {send, builder.receive(0, source, {&received, 1}, {}, false)};
    }
    return std::move(builder).build();
}

}  // namespace

void register_pairwise(AlgorithmRegistry& registry) {
    register_simple(registry,
                    "one partner at a time, a permutation of the ranks each step: no port is ever shared",
                    {.name = "pairwise", .kinds = {CollectiveKind::kAllToAll}, .schedule = pairwise});
}

}  // namespace astrolabe::system
