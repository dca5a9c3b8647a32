// Double binary tree, for any number of ranks (docs/theory/collectives-and-costs.md, "Algorithms"; the
// lowest-set-bit tree known from NCCL).
//
// Tree 0: rank 0 is the root; rank r with lowest set bit 2^j hangs below (r - 2^j) | 2^(j+1) where that rank
// exists, else below r - 2^j. Tree 1 is tree 0 with rank r renamed N-1-r (even N) or (r+1) mod N (odd N),
// which turns the leaves of tree 0, the odd ranks, into interior ranks. The whole chunk is one block: it is
// reduced on its way up, then copied on its way down. Odd chunks use tree 1, so that two chunks load every
// rank equally.
//
//     all_reduce, N = 2^k, contention-free    2k(α + Sβ)

#include "simple_algorithm.hpp"

#include <bit>
#include <vector>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system {

namespace {

Position lowest_bit_parent(Position rank, Position ranks) {
    if (rank == 0) {
        return 0;
    }
    const Position bit = Position{1} << std::countr_zero(rank);
    const Position wide = (rank - bit) | (bit << 1);
    return wide < ranks ? wide : rank - bit;
}

/// Tree 0's name of the rank that tree 1 calls `rank`, and the way back.
Position to_tree0(Position rank, Position ranks) {
    return ranks % 2 == 0 ? ranks - 1 - rank : (rank + ranks - 1) % ranks;
}
Position to_tree1(Position rank, Position ranks) {
    return ranks % 2 == 0 ? ranks - 1 - rank : (rank + 1) % ranks;
}

/// The parent of `rank` in tree `variant`; the root is its own.
Position parent_of(Position rank, Position ranks, unsigned variant) {
    ASTROLABE_ASSERT(rank < ranks && variant < 2, "the two trees hold every rank");
    if (variant == 0) {
        return lowest_bit_parent(rank, ranks);
    }
    return to_tree1(lowest_bit_parent(to_tree0(rank, ranks), ranks), ranks);
}

CollectiveSchedule double_binary_tree(CollectiveKind kind, Position ranks, unsigned variant) {
    std::vector<std::vector<Position>> children(ranks);
    for (Position rank = 0; rank < ranks; ++rank) {
        const Position parent = parent_of(rank, ranks, variant);
        if (parent != rank) {
            children[parent].push_back(rank);
        }
    }
    ScheduleBuilder builder(kind, ranks, 1, Symmetry::kNone);
    const BlockReference whole{};
    for (Position rank = 0; rank < ranks; ++rank) {
        std::vector<ActionIndex> complete;
        for (const Position child : children[rank]) {
            complete.push_back(builder.receive(rank, child, {&whole, 1}, {}, true));
        }
        const Position parent = parent_of(rank, ranks, variant);
        if (parent != rank) {
            builder.send(rank, parent, {&whole, 1}, complete);
            complete = {builder.receive(rank, parent, {&whole, 1}, {}, false)};
        }
        for (const Position child : children[rank]) {
            builder.send(rank, child, {&whole, 1}, complete);
        }
    }
    return std::move(builder).build();
}

}  // namespace

void register_double_binary_tree(AlgorithmRegistry& registry) {
    register_simple(registry,
                    "chunks are reduced up and broadcast down two complementary binary trees: logarithmic "
                    "steps at full rate",
                    {.name = "double_binary_tree",
                     .kinds = {CollectiveKind::kAllReduce},
                     .schedule = double_binary_tree,
                     .variants = 2});
}

}  // namespace astrolabe::system
