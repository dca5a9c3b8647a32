// Binomial tree: a broadcast or reduce of ⌈log2 N⌉ steps for any number of ranks (Thakur, Rabenseifner and
// Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005, sections 4.1
// and 4.4).
//
// Rank r > 0 hangs below r without its lowest set bit 2^j; its children are r + 2^i for i < j, those of
// rank 0 r + 2^i for all i, where there are such ranks. A broadcast serves the child of the largest subtree
// first, one child at a time. A reduce is the mirror image: a rank sends its sum up when all children's
// have arrived. N/2 ranks have nothing to pass on.
//
//     broadcast; reduce, N = 2^k      ⌈log2 N⌉(α + Sβ)

#include "simple_algorithm.hpp"

#include <bit>
#include <vector>

namespace astrolabe::system {

namespace {

/// Children of `rank`, the largest subtree first.
std::vector<Position> children_of(Position rank, Position ranks) {
    std::vector<Position> children;
    for (Position bit = rank == 0 ? std::bit_ceil(ranks) : rank & -rank; (bit >>= 1) > 0;) {
        if (bit < ranks - rank) {
            children.push_back(rank + bit);
        }
    }
    return children;
}

CollectiveSchedule binomial_tree(CollectiveKind kind, Position ranks, unsigned /*variant*/) {
    ScheduleBuilder builder(kind, ranks, 1, Symmetry::kNone);
    const BlockReference whole{};
    for (Position rank = 0; rank < ranks; ++rank) {
        const Position parent = rank & (rank - 1);
        std::vector<ActionIndex> before;
        if (kind == CollectiveKind::kReduce) {
            for (const Position child : children_of(rank, ranks)) {
                before.push_back(builder.receive(rank, child, {&whole, 1}, {}, true));
            }
            if (rank > 0) {
                builder.send(rank, parent, {&whole, 1}, before);
            }
            continue;
        }
        if (rank > 0) {
            before = {builder.receive(rank, parent, {&whole, 1}, {}, false)};
        }
        for (const Position child : children_of(rank, ranks)) {
            before = {builder.send(rank, child, {&whole, 1}, before)};
        }
    }
    return std::move(builder).build();
}

}  // namespace

void register_binomial_tree(AlgorithmRegistry& registry) {
    register_simple(registry,
                    "the whole chunk down a tree to one child at a time, or up and added: logarithmic steps",
                    {.name = "binomial_tree",
                     .kinds = {CollectiveKind::kBroadcast, CollectiveKind::kReduce},
                     .schedule = binomial_tree});
}

}  // namespace astrolabe::system
