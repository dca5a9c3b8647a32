// Bidirectional ring: both directions of a full-duplex ring carry load (docs/theory/collectives-and-costs.md,
// "Algorithms").
//
// Variant 0 is the ring and variant 1 the same ring the other way round, so the chunks of a collective
// alternate directions. all_to_all: every block goes the shorter way round, so one chunk already loads both
// directions; for an even N the block for the rank opposite has two shortest ways, and the chunks alternate
// between them. Times are those of ring; of an all_to_all with a port for every direction and H = ⌊N/2⌋
//
//     H(H+1)/2 · (α + Sβ/N)

#include "ring.hpp"
#include "simple_algorithm.hpp"

#include <memory>
#include <string>

namespace astrolabe::system {

namespace {

/// What can go either way round goes the way of `variant`.
CollectiveSchedule shorter_way_round(Position ranks, unsigned variant) {
    ScheduleBuilder builder = detail::ring_builder(CollectiveKind::kAllToAll, ranks);
    for (const unsigned direction : {0U, 1U}) {
        detail::RingWriter ring(builder, ranks, direction == 0 ? 1 : detail::backward(ranks, 1));
        for (Position distance = 1; 2 * distance <= ranks; ++distance) {
            if (2 * distance < ranks || direction == variant) {
                ring.deliver(distance);
            }
        }
    }
    return std::move(builder).build();
}

class BidirectionalRing final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> unsupported(CollectiveKind kind,
                                                         const Shape& shape) const override {
        return detail::ring_unsupported("bidirectional_ring", kind, shape.ranks());
    }
    [[nodiscard]] unsigned variants(CollectiveKind kind, const Shape& shape) const override {
        const bool has_choice = kind != CollectiveKind::kAllToAll || shape.ranks() % 2 == 0;
        return has_choice ? 2 : 1;
    }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned variant) const override {
        const Position ranks = shape.ranks();
        if (kind == CollectiveKind::kAllToAll) {
            return shorter_way_round(ranks, variant);
        }
        return detail::ring_schedule(kind, ranks, variant == 0 ? 1 : detail::backward(ranks, 1));
    }
};

}  // namespace

void register_bidirectional_ring(AlgorithmRegistry& registry) {
    register_plain(
        registry, "bidirectional_ring",
        "chunks go round the ring in alternate directions, an all_to_all's blocks the shorter way: both "
        "directions of a ring carry load",
        std::make_shared<BidirectionalRing>());
}

}  // namespace astrolabe::system
