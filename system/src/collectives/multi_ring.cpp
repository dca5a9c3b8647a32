// Several rings: chunk c goes round ring c mod k, so k rings carry load at a time
// (docs/theory/collectives-and-costs.md, "Start order and window", the queues of a dimension; TopoOpt, NSDI
// 2023, section 4.2, whose regular rings have strides coprime to N).
//
// Strides are the k smallest numbers that have no common divisor with N, fewer where N has fewer: no two
// rings use the same link from one rank to another. Or they are given; or they are those that a network was
// built of, which differ by the size of the group. With barriers each ring has its own, of all its ranks
// after every step, as in the replay of the EuroMLSys 2024 study (docs/theory/opera-dlrm-study.md,
// "All-reduces of the replay").

#include "collectives.hpp"
#include "ring.hpp"

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system {

namespace {

detail::RingSteps steps_of(bool barrier) {
    return barrier ? detail::RingSteps::kStages : detail::RingSteps::kFree;
}

std::optional<std::string> refusal_of_rings(CollectiveKind kind, Position ranks, bool barrier) {
    std::optional<std::string> refusal = detail::ring_refusal("multi_ring", kind, ranks);
    return refusal || !barrier ? refusal : detail::stages_refusal("multi_ring", kind, ranks);
}

class MultiRing final : public CollectiveAlgorithm {
public:
    explicit MultiRing(MultiRingOptions options)
        : options_(std::move(options)) {
        ASTROLABE_ASSERT(options_.rings >= 1, "there is a ring");
        for (const Position stride : options_.strides) {
            ASTROLABE_ASSERT(stride >= 1, "a ring goes on");
        }
    }

    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind, const Shape& shape) const override {
        const Position ranks = shape.ranks();
        for (const Position stride : options_.strides) {
            if (const Position divisor = std::gcd(stride, ranks); divisor > 1) {
                return fmt::format(
                    "a ring of stride {} does not visit all of {} ranks: both are multiples of {}", stride,
                    ranks, divisor);
            }
        }
        return refusal_of_rings(kind, ranks, options_.barrier);
    }
    [[nodiscard]] bool has_barriers() const override { return options_.barrier; }
    [[nodiscard]] std::uint32_t default_chunks() const override {
        return options_.strides.empty() ? options_.rings
                                        : static_cast<std::uint32_t>(options_.strides.size());
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& shape) const override {
        return static_cast<unsigned>(strides(shape.ranks()).size());
    }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned variant) const override {
        const Position ranks = shape.ranks();
        return detail::ring_schedule(kind, ranks, strides(ranks)[variant], steps_of(options_.barrier));
    }

private:
    [[nodiscard]] std::vector<Position> strides(Position ranks) const {
        if (options_.strides.empty()) {
            return multi_ring_strides(ranks, options_.rings);
        }
        std::vector<Position> strides;
        for (const Position stride : options_.strides) {
            strides.push_back(stride % ranks);
        }
        return strides;
    }

    MultiRingOptions options_;
};

class MultiRingOfNetwork final : public CollectiveAlgorithm {
public:
    MultiRingOfNetwork(RingStrides rings, bool barrier)
        : rings_(std::move(rings)),
          barrier_(barrier) {
        for (const auto& [ranks, strides] : rings_) {
            ASTROLABE_ASSERT(!strides.empty(), "a group that is named has a ring");
        }
    }

    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind, const Shape& shape) const override {
        return refusal_of_rings(kind, shape.ranks(), barrier_);
    }
    [[nodiscard]] bool has_barriers() const override { return barrier_; }
    [[nodiscard]] std::uint32_t default_chunks() const override {
        std::uint32_t chunks = 1;
        for (const auto& [ranks, strides] : rings_) {
            chunks = std::lcm(chunks, static_cast<std::uint32_t>(strides.size()));
        }
        return chunks;
    }
    [[nodiscard]] bool needs_rings() const override { return true; }
    [[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> on_rings(
        const RingStrides& rings) const override {
        return std::make_shared<MultiRingOfNetwork>(rings, barrier_);
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& shape) const override {
        const auto own = rings_.find(shape.ranks());
        return own == rings_.end() ? 1 : static_cast<unsigned>(own->second.size());
    }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned variant) const override {
        const auto own = rings_.find(shape.ranks());
        return detail::ring_schedule(kind, shape.ranks(), own == rings_.end() ? 1 : own->second[variant],
                                     steps_of(barrier_));
    }

private:
    RingStrides rings_;
    bool barrier_;
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
    return std::make_shared<MultiRing>(std::move(options));
}

std::shared_ptr<const CollectiveAlgorithm> make_multi_ring_of_network(bool barrier) {
    return std::make_shared<MultiRingOfNetwork>(RingStrides{}, barrier);
}

}  // namespace astrolabe::system
