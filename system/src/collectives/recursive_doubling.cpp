// Recursive doubling: an all_reduce of log2 N steps, each of which swaps the whole vector with i xor 1, 2, 4,
// … and adds. Fewest steps of all, log2 N times the vector in bytes.
//
// A power of two has one program for all ranks, in relative numbers. For any other N (non_power_of_two.hpp)
// the vector is one block. It names N log N blocks.
//
//     all_reduce, N = 2^k     k(α + Sβ)

#include "non_power_of_two.hpp"
#include "simple_algorithm.hpp"

#include <bit>
#include <vector>

namespace astrolabe::system {

namespace {

CollectiveSchedule swap_vectors(Position ranks) {
    ScheduleBuilder builder(CollectiveKind::kAllReduce, ranks, ranks, Symmetry::kExclusiveOr);
    // All blocks, in the order in which the rank at `distance` names them 0, 1, 2, …
    const auto vector_seen_from = [ranks](Position distance) {
        std::vector<BlockReference> blocks(ranks);
        for (Position block = 0; block < ranks; ++block) {
            blocks[block].block = block ^ distance;
        }
        return blocks;
    };
    const std::vector<BlockReference> sent = vector_seen_from(0);
    std::vector<ActionIndex> sum;
    for (Position distance = 1; distance < ranks; distance *= 2) {
        const ActionIndex send = builder.send(0, distance, sent, sum);
        // The receive changes what the send copies.
        sum = {builder.receive(0, distance, vector_seen_from(distance), {&send, 1}, true)};
    }
    return std::move(builder).build();
}

CollectiveSchedule swap_vectors_in_core(Position ranks) {
    ScheduleBuilder builder(CollectiveKind::kAllReduce, ranks, 1, Symmetry::kNone);
    const PowerOfTwoSplit split(ranks);
    const BlockReference whole{};
    for (Position rank = 0; rank < split.core; ++rank) {
        std::vector<ActionIndex> sum;
        if (split.has_extra(rank)) {
            sum = {builder.receive(rank, split.extra_of(rank), {&whole, 1}, {}, true)};
        }
        for (Position distance = 1; distance < split.core; distance *= 2) {
            const ActionIndex send = builder.send(rank, rank ^ distance, {&whole, 1}, sum);
            sum = {builder.receive(rank, rank ^ distance, {&whole, 1}, {&send, 1}, true)};
        }
        if (split.has_extra(rank)) {
            builder.send(rank, split.extra_of(rank), {&whole, 1}, sum);
        }
    }
    for (Position rank = split.core; rank < ranks; ++rank) {
        builder.send(rank, split.partner_of(rank), {&whole, 1}, {});
        builder.receive(rank, split.partner_of(rank), {&whole, 1}, {}, false);
    }
    return std::move(builder).build();
}

}  // namespace

void register_recursive_doubling(AlgorithmRegistry& registry) {
    register_simple(
        registry, "partners at distances 1, 2, 4, … exchange the whole vector: fewest steps for small sizes",
        {.name = "recursive_doubling",
         .kinds = {CollectiveKind::kAllReduce},
         .schedule = [](CollectiveKind, Position ranks, unsigned) {
             return std::has_single_bit(ranks) ? swap_vectors(ranks) : swap_vectors_in_core(ranks);
         }});
}

}  // namespace astrolabe::system
