// Several rings: chunk c goes round ring c mod k, so k rings carry load at a time (three-layers 3.3, the
// queues of a dimension; TopoOpt, NSDI 2023, section 4.2, whose regular rings have strides coprime to N).
//
// The strides are the k smallest numbers that have no common divisor with N, fewer where N has fewer: a
// ring of each visits all ranks, and no two rings use the same link from one rank to another.

#include "ring.hpp"

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/collectives.hpp>

namespace astrolabe::system {

namespace {

class MultiRing final : public CollectiveAlgorithm {
public:
    explicit MultiRing(MultiRingOptions options)
        : options_(options) {
        ASTROLABE_ASSERT(options_.rings >= 1, "there is a ring");
    }

    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind, const Shape& shape) const override {
        return detail::ring_refusal("multi_ring", kind, shape.ranks());
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& shape) const override {
        return static_cast<unsigned>(multi_ring_strides(shape.ranks(), options_.rings).size());
    }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned variant) const override {
        const Position ranks = shape.ranks();
        return detail::ring_schedule(kind, ranks, multi_ring_strides(ranks, options_.rings)[variant]);
    }

private:
    MultiRingOptions options_;
};

}  // namespace

std::vector<Position> multi_ring_strides(Position ranks, unsigned rings) {
    std::vector<Position> strides{1};
    for (Position stride = 2; stride < ranks && strides.size() < rings; ++stride) {
        if (std::gcd(stride, ranks) == 1) {
            strides.push_back(stride);
        }
    }
    return strides;
}

std::shared_ptr<const CollectiveAlgorithm> make_multi_ring(MultiRingOptions options) {
    return std::make_shared<MultiRing>(options);
}

}  // namespace astrolabe::system
