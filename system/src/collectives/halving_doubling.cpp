// Halving-doubling: reduce_scatter by recursive halving, all_gather by recursive doubling, all_reduce by
// the one and then the other; broadcast by a scatter and an all_gather (van de Geijn), reduce by a
// reduce_scatter and a gather (Rabenseifner) (docs/theory/collectives-and-costs.md, "Algorithms"; Thakur,
// Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1),
// 2005).
//
// Halving step d = 1, 2, 4, … works with i xor d. A rank is still responsible for the blocks that agree with
// i in all bits below d; it sends those that differ in bit d and adds the others, so the next step has half
// as many. The far partners of the last steps exchange the fewest blocks. Doubling is the mirror image, from
// the far end back. A scatter does of halving only what comes from the root: in step d the ranks below d,
// which have their part already, send to those of d … 2d-1, one message at a time; a gather is its mirror
// image.
//
// A power of two has one program for all ranks, in relative numbers, but where there is a root. For any other
// N (non_power_of_two.hpp) a core rank with an extra rank is also responsible for that rank's block, if the
// kind has one. In a reduce_scatter an extra rank keeps its own contribution to its own block and adds to it
// what it gets back; in a broadcast it has nothing to contribute, in a reduce nothing to get back.
//
// For N = 2^k:
//     reduce_scatter, all_gather (S: the result)    kα + (N-1)Sβ/N
//     all_reduce, broadcast                         2[kα + (N-1)Sβ/N]
//     reduce                                        (2k-1)α + 2(N-1)Sβ/N

#include "non_power_of_two.hpp"
#include "simple_algorithm.hpp"

#include <vector>

namespace astrolabe::system {

namespace {

using Blocks = std::vector<BlockReference>;

class HalvingDoublingWriter {
public:
    HalvingDoublingWriter(CollectiveKind kind, Position ranks)
        : kind_(kind),
          ranks_(ranks),
          split_(ranks),
          has_own_blocks_(kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllGather),
          block_count_(has_own_blocks_ ? ranks : split_.core),
          is_symmetric_(!split_.has_extras() && !has_root(kind)),
          builder_(kind, ranks, block_count_, is_symmetric_ ? Symmetry::kExclusiveOr : Symmetry::kNone) {}

    [[nodiscard]] CollectiveSchedule write() && {
        const Position programs = is_symmetric_ ? 1 : split_.core;
        for (Position rank = 0; rank < programs; ++rank) {
            write_core(rank);
        }
        for (Position rank = split_.core; rank < ranks_; ++rank) {
            write_extra(rank);
        }
        return std::move(builder_).build();
    }

private:
    void write_core(Position rank) {
        const bool gathers_only = kind_ == CollectiveKind::kAllGather;
        std::vector<ActionIndex> arrived;
        if (split_.has_extra(rank) && extra_sends()) {
            const Position extra = split_.extra_of(rank);
            arrived.push_back(builder_.receive(rank, extra, sent_by_extra(extra), {}, !gathers_only));
        }
        if (kind_ == CollectiveKind::kBroadcast) {
            scatter_from_root(rank, arrived);
        } else if (!gathers_only) {
            halve(rank, arrived);
        }
        if (kind_ == CollectiveKind::kReduce) {
            gather_to_root(rank, arrived);
        } else if (kind_ != CollectiveKind::kReduceScatter) {
            double_up(rank, arrived);
        }
        if (split_.has_extra(rank) && extra_receives()) {
            const Position extra = split_.extra_of(rank);
            builder_.send(rank, extra, received_by_extra(extra), arrived);
        }
    }

    void write_extra(Position extra) {
        const Position partner = split_.partner_of(extra);
        if (extra_sends()) {
            builder_.send(extra, partner, sent_by_extra(extra), {});
        }
        if (extra_receives()) {
            builder_.receive(extra, partner, received_by_extra(extra), {},
                             kind_ == CollectiveKind::kReduceScatter);
        }
    }
    [[nodiscard]] bool extra_sends() const { return kind_ != CollectiveKind::kBroadcast; }
    [[nodiscard]] bool extra_receives() const { return kind_ != CollectiveKind::kReduce; }

    // A step may depend on any earlier one: messages of different partners do not keep their order.
    void halve(Position rank, std::vector<ActionIndex>& arrived) {
        for (Position d = 1; d < split_.core; d *= 2) {
            if (takes_part(rank, d)) {
                builder_.send(rank, rank ^ d, blocks_of(rank, d, 2 * d), arrived);
            }
            if (takes_part(rank ^ d, d)) {
                arrived.push_back(builder_.receive(rank, rank ^ d, blocks_of(rank, 0, 2 * d), {}, true));
            }
        }
    }

    void double_up(Position rank, std::vector<ActionIndex>& arrived) {
        for (Position d = split_.core / 2; d > 0; d /= 2) {
            if (takes_part(rank ^ d, d)) {
                const ActionIndex sent = builder_.send(rank, rank ^ d, blocks_of(rank, 0, 2 * d), arrived);
                if (has_root(kind_)) {
                    arrived.push_back(sent);  // the root receives nothing that would keep it in step
                }
            }
            if (takes_part(rank, d)) {
                arrived.push_back(builder_.receive(rank, rank ^ d, blocks_of(rank, d, 2 * d), {}, false));
            }
        }
    }

    /// Whether `rank` gives away, in halving step d, or gets, in doubling step d, its partner's part. With a
    /// root the ranks below d do not: in a reduce they keep it for the root, in a broadcast they
    /// passed it on before.
    [[nodiscard]] bool takes_part(Position rank, Position d) const { return !has_root(kind_) || rank >= d; }

    void scatter_from_root(Position rank, std::vector<ActionIndex>& done) {
        for (Position d = 1; d < split_.core; d *= 2) {
            if (rank < d) {
                done.push_back(builder_.send(rank, rank + d, blocks_of(rank, d, 2 * d), done));
            } else if (rank < 2 * d) {
                done.push_back(builder_.receive(rank, rank - d, blocks_of(rank, 0, 2 * d), {}, false));
            }
        }
    }

    void gather_to_root(Position rank, std::vector<ActionIndex>& arrived) {
        for (Position d = split_.core / 2; d > 0; d /= 2) {
            if (rank < d) {
                arrived.push_back(builder_.receive(rank, rank + d, blocks_of(rank, d, 2 * d), {}, true));
            } else if (rank < 2 * d) {
                builder_.send(rank, rank - d, blocks_of(rank, 0, 2 * d), arrived);
            }
        }
    }

    /// The blocks that the core ranks at distance first, first + stride, … of `rank` are responsible for.
    [[nodiscard]] Blocks blocks_of(Position rank, Position first, Position stride) const {
        Blocks blocks;
        for (Position distance = first; distance < split_.core; distance += stride) {
            const Position owner = rank ^ distance;
            blocks.push_back({.block = owner});
            if (has_own_blocks_ && split_.has_extra(owner)) {
                blocks.push_back({.block = split_.extra_of(owner)});
            }
        }
        return blocks;
    }

    [[nodiscard]] Blocks sent_by_extra(Position extra) const {
        return kind_ == CollectiveKind::kAllGather ? Blocks{{.block = extra}} : all_but(extra);
    }
    [[nodiscard]] Blocks received_by_extra(Position extra) const {
        return kind_ == CollectiveKind::kReduceScatter ? Blocks{{.block = extra}} : all_but(extra);
    }
    /// All, where an extra rank has no block of its own.
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
    PowerOfTwoSplit split_;
    bool has_own_blocks_;  // every rank one, not every core rank
    Position block_count_;
    bool is_symmetric_;
    ScheduleBuilder builder_;
};

}  // namespace

void register_halving_doubling(AlgorithmRegistry& registry) {
    register_simple(
        registry,
        "partners at distances 1, 2, 4, … exchange half as much each step, then the mirror image: "
        "logarithmic steps, minimum traffic",
        {.name = "halving_doubling",
         .kinds = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                   CollectiveKind::kBroadcast, CollectiveKind::kReduce},
         .schedule = [](CollectiveKind kind, Position ranks, unsigned) {
             return HalvingDoublingWriter(kind, ranks).write();
         }});
}

}  // namespace astrolabe::system
