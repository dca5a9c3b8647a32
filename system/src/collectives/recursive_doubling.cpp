// Recursive doubling: an all_reduce of log2 N steps, each of which swaps the whole vector with i xor 1, 2, 4,
// … and adds. Fewest steps of all, log2 N times the vector in bytes.
//
// A power of two has one program for all ranks, in relative numbers. Any other N is folded (folding.hpp),
// with the vector as one block.

#include "collectives.hpp"
#include "non_power_of_two.hpp"

#include <memory>
#include <string>
#include <vector>

namespace astrolabe::system {

namespace {

using detail::Folding;

CollectiveSchedule power_of_two(Position ranks) {
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

CollectiveSchedule folded(Position ranks) {
    ScheduleBuilder builder(CollectiveKind::kAllReduce, ranks, 1, Symmetry::kNone);
    const Folding folding(ranks);
    const BlockReference whole{};
    for (Position rank = 0; rank < folding.core; ++rank) {
        std::vector<ActionIndex> sum;
        if (folding.has_extra(rank)) {
            sum = {builder.receive(rank, folding.extra_of(rank), {&whole, 1}, {}, true)};
        }
        for (Position distance = 1; distance < folding.core; distance *= 2) {
            const ActionIndex send = builder.send(rank, rank ^ distance, {&whole, 1}, sum);
            sum = {builder.receive(rank, rank ^ distance, {&whole, 1}, {&send, 1}, true)};
        }
        if (folding.has_extra(rank)) {
            builder.send(rank, folding.extra_of(rank), {&whole, 1}, sum);
        }
    }
    for (Position rank = folding.core; rank < ranks; ++rank) {
        builder.send(rank, folding.partner_of(rank), {&whole, 1}, {});
        builder.receive(rank, folding.partner_of(rank), {&whole, 1}, {}, false);
    }
    return std::move(builder).build();
}

class RecursiveDoubling final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind,
                                                     const Shape& /*shape*/) const override {
        if (kind == CollectiveKind::kAllGather) {
            return "recursive_doubling does all_reduce only; halving_doubling is its all_gather";
        }
        if (kind != CollectiveKind::kAllReduce) {
            return "recursive_doubling does all_reduce only";
        }
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override {
        return 1;
    }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind /*kind*/, const Shape& shape,
                                              unsigned /*variant*/) const override {
        const Position ranks = shape.ranks();
        return Folding(ranks).needed() ? folded(ranks) : power_of_two(ranks);
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_recursive_doubling() {
    return std::make_shared<RecursiveDoubling>();
}

}  // namespace astrolabe::system
