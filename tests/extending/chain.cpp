// Chain: a broadcast in which every rank passes the whole chunk on to the next.
//
//     broadcast      (N-1)(α + Sβ)

#include "system/src/collectives/simple_algorithm.hpp"

#include <vector>

namespace astrolabe::system {

namespace {

CollectiveSchedule chain(CollectiveKind kind, Position ranks, unsigned /*variant*/) {
    ScheduleBuilder builder(kind, ranks, 1, Symmetry::kNone);
    const BlockReference whole{};
    for (Position rank = 0; rank < ranks; ++rank) {
        std::vector<ActionIndex> before;
        if (rank > 0) {
            before = {builder.receive(rank, rank - 1, {&whole, 1}, {}, false)};
        }
        if (rank + 1 < ranks) {
            builder.send(rank, rank + 1, {&whole, 1}, before);
        }
    }
    return std::move(builder).build();
}

}  // namespace

void register_chain(AlgorithmRegistry& registry) {
    register_simple(registry, "the whole chunk from every rank to the next",
                    {.name = "chain", .kinds = {CollectiveKind::kBroadcast}, .schedule = chain});
}

}  // namespace astrolabe::system
