// Halving-doubling: reduce_scatter by recursive halving, all_gather by recursive doubling, all_reduce by the
// one and then the other (three-layers 3.5; Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 19(1), 2005).
//
// Halving step d = 1, 2, 4, … works with i xor d. A rank still answers for the blocks that agree with i in
// all bits below d; it sends those that differ in bit d and adds the others, so the next step has half as
// many. The far partners of the last steps exchange the least. Doubling is the mirror image, from the far end
// back.
//
// A power of two has one program for all ranks, in relative numbers. Any other N is folded (folding.hpp): a
// core rank with an extra rank also answers for that rank's block, if the kind has one. In a reduce_scatter
// an extra rank keeps its own contribution to its own block and adds to it what it gets back.

#include "folding.hpp"

#include <memory>
#include <string>
#include <vector>

#include <astrolabe/system/collectives.hpp>

namespace astrolabe::system {

namespace {

using detail::Folding;

using Blocks = std::vector<BlockReference>;

class HalvingDoublingWriter {
public:
    HalvingDoublingWriter(CollectiveKind kind, Position ranks)
        : kind_(kind),
          ranks_(ranks),
          folding_(ranks),
          block_count_(kind == CollectiveKind::kAllReduce ? folding_.core : ranks),
          builder_(kind, ranks, block_count_, folding_.needed() ? Symmetry::kNone : Symmetry::kExclusiveOr) {}

    [[nodiscard]] CollectiveSchedule write() && {
        const Position programs = folding_.needed() ? folding_.core : 1;
        for (Position rank = 0; rank < programs; ++rank) {
            write_core(rank);
        }
        for (Position rank = folding_.core; rank < ranks_; ++rank) {
            write_extra(rank);
        }
        return std::move(builder_).build();
    }

private:
    void write_core(Position rank) {
        const bool gathers_only = kind_ == CollectiveKind::kAllGather;
        std::vector<ActionIndex> arrived;
        if (folding_.has_extra(rank)) {
            const Position extra = folding_.extra_of(rank);
            arrived.push_back(builder_.receive(rank, extra, handed_over(extra), {}, !gathers_only));
        }
        if (!gathers_only) {
            halve(rank, arrived);
        }
        if (kind_ != CollectiveKind::kReduceScatter) {
            gather(rank, arrived);
        }
        if (folding_.has_extra(rank)) {
            const Position extra = folding_.extra_of(rank);
            builder_.send(rank, extra, handed_back(extra), arrived);
        }
    }

    void write_extra(Position extra) {
        const Position partner = folding_.partner_of(extra);
        builder_.send(extra, partner, handed_over(extra), {});
        builder_.receive(extra, partner, handed_back(extra), {}, kind_ == CollectiveKind::kReduceScatter);
    }

    // What a step sends may rest on any earlier one: messages of different partners do not keep their order.
    void halve(Position rank, std::vector<ActionIndex>& arrived) {
        for (Position d = 1; d < folding_.core; d *= 2) {
            builder_.send(rank, rank ^ d, blocks_of(rank, d, 2 * d), arrived);
            arrived.push_back(builder_.receive(rank, rank ^ d, blocks_of(rank, 0, 2 * d), {}, true));
        }
    }

    void gather(Position rank, std::vector<ActionIndex>& arrived) {
        for (Position d = folding_.core / 2; d > 0; d /= 2) {
            builder_.send(rank, rank ^ d, blocks_of(rank, 0, 2 * d), arrived);
            arrived.push_back(builder_.receive(rank, rank ^ d, blocks_of(rank, d, 2 * d), {}, false));
        }
    }

    /// The blocks that the core ranks at distance first, first + stride, … of `rank` answer for.
    [[nodiscard]] Blocks blocks_of(Position rank, Position first, Position stride) const {
        Blocks blocks;
        for (Position distance = first; distance < folding_.core; distance += stride) {
            const Position owner = rank ^ distance;
            blocks.push_back({.block = owner});
            if (kind_ != CollectiveKind::kAllReduce && folding_.has_extra(owner)) {
                blocks.push_back({.block = folding_.extra_of(owner)});
            }
        }
        return blocks;
    }

    [[nodiscard]] Blocks handed_over(Position extra) const {
        return kind_ == CollectiveKind::kAllGather ? Blocks{{.block = extra}} : all_but(extra);
    }
    [[nodiscard]] Blocks handed_back(Position extra) const {
        return kind_ == CollectiveKind::kReduceScatter ? Blocks{{.block = extra}} : all_but(extra);
    }
    /// An all_reduce has no block of an extra rank, so these are all.
    [[nodiscard]] Blocks all_but(Position extra) const {
        Blocks blocks;
        for (Position block = 0; block < block_count_; ++block) {
            if (block != extra) {
                blocks.push_back({.block = block});
            }
        }
        return blocks;
    }

    CollectiveKind kind_;
    Position ranks_;
    Folding folding_;
    Position block_count_;
    ScheduleBuilder builder_;
};

class HalvingDoubling final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind, const Shape& /*shape*/) const override {
        if (kind == CollectiveKind::kAllToAll || has_root(kind)) {
            return "halving_doubling does not do " + std::string(to_string(kind));
        }
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override { return 1; }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned /*variant*/) const override {
        const Position ranks = shape.ranks();
        return HalvingDoublingWriter(kind, ranks).write();
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_halving_doubling() {
    return std::make_shared<HalvingDoubling>();
}

}  // namespace astrolabe::system
