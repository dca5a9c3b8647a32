// Pairwise exchange: an all_to_all of N-1 steps with one partner at a time.
//
// Step k swaps blocks with i xor k where N is a power of two; otherwise it sends to i+k and receives from
// i-k. Either way every step is a permutation of the ranks, so no port of a crossbar is ever shared. A step
// begins when the send and the receive of the one before are done. Positions are relative: program 0 serves
// every rank.

#include "collectives.hpp"

#include <bit>
#include <memory>
#include <string>
#include <vector>

namespace astrolabe::system {

namespace {

class Pairwise final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind,
                                                     const Shape& /*shape*/) const override {
        if (kind != CollectiveKind::kAllToAll) {
            return "pairwise does all_to_all only";
        }
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override {
        return 1;
    }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned /*variant*/) const override {
        const Position ranks = shape.ranks();
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
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_pairwise() {
    return std::make_shared<Pairwise>();
}

}  // namespace astrolabe::system
