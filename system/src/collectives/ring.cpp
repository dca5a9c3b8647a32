// Ring: rank i sends to i+1 only, and step k+1 waits for what step k brought (three-layers 3.5).
//
// All positions and blocks below are relative: program 0 serves every rank. A step sends one block ahead and
// receives one from behind; what a step receives, the next one sends on. Clockwise, ahead is +; the other way
// round the signs change and nothing else.
//
//   reduce_scatter  step k sends block -(k+1) and adds to block -(k+2); after N-1 steps block 0 is whole
//   all_gather      step k sends block -k, starting with the own one, and stores block -(k+1)
//   all_reduce      the two in a row
//   all_to_all      for each distance h = 1 … N-1, h steps carry the block for +h there, hop by hop

#include "ring.hpp"

#include <memory>
#include <string>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/collectives.hpp>

namespace astrolabe::system {

namespace detail {

ScheduleBuilder ring_builder(CollectiveKind kind, Position ranks) {
    return {kind, ranks, kind == CollectiveKind::kAllToAll ? std::uint64_t{ranks} * ranks : ranks,
            Symmetry::kRotation};
}

RingWriter::RingWriter(ScheduleBuilder& builder, Position ranks, RingDirection direction)
    : builder_(builder),
      ranks_(ranks),
      direction_(direction) {}

void RingWriter::reduce_scatter() {
    for (Position k = 0; k + 1 < ranks_; ++k) {
        step({.block = behind(k + 1)}, {.block = behind(k + 2)}, true);
    }
}

void RingWriter::all_gather() {
    for (Position k = 0; k + 1 < ranks_; ++k) {
        step({.block = behind(k)}, {.block = behind(k + 1)}, false);
    }
}

void RingWriter::deliver(Position distance) {
    for (Position hop = 0; hop < distance; ++hop) {
        step({.source = behind(hop), .block = ahead(distance - hop)},
             {.source = behind(hop + 1), .block = ahead(distance - hop - 1)}, false);
    }
}

Position RingWriter::ahead(Position steps) const {
    const Position clockwise = steps % ranks_;
    return direction_ == RingDirection::kClockwise ? clockwise : (ranks_ - clockwise) % ranks_;
}

Position RingWriter::behind(Position steps) const {
    return ahead(ranks_ - steps % ranks_);
}

void RingWriter::step(BlockReference sent, BlockReference received, bool reduce) {
    builder_.send(0, ahead(1), {&sent, 1}, last_receive_);
    last_receive_ = {builder_.receive(0, behind(1), {&received, 1}, {}, reduce)};
}

std::optional<std::string> ring_refusal(const std::string& name, CollectiveKind kind, Position ranks) {
    if (has_root(kind)) {
        return name + " does not do " + std::string(to_string(kind));
    }
    constexpr Position kMostForwarding = 4096;
    if (kind == CollectiveKind::kAllToAll && ranks > kMostForwarding) {
        return "a forwarded all_to_all takes at most " + std::to_string(kMostForwarding) + " ranks";
    }
    return std::nullopt;
}

CollectiveSchedule one_way_ring(CollectiveKind kind, Position ranks, RingDirection direction) {
    ASTROLABE_ASSERT(kind != CollectiveKind::kAllToAll, "an all_to_all chooses its distances");
    ScheduleBuilder builder = ring_builder(kind, ranks);
    RingWriter ring(builder, ranks, direction);
    if (kind != CollectiveKind::kAllGather) {
        ring.reduce_scatter();
    }
    if (kind != CollectiveKind::kReduceScatter) {
        ring.all_gather();
    }
    return std::move(builder).build();
}

}  // namespace detail

namespace {

class Ring final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind, const Shape& shape) const override {
        return detail::ring_refusal("ring", kind, shape.ranks());
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override { return 1; }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned /*variant*/) const override {
        const Position ranks = shape.ranks();
        if (kind != CollectiveKind::kAllToAll) {
            return detail::one_way_ring(kind, ranks, detail::RingDirection::kClockwise);
        }
        ScheduleBuilder builder = detail::ring_builder(kind, ranks);
        detail::RingWriter ring(builder, ranks, detail::RingDirection::kClockwise);
        for (Position distance = 1; distance < ranks; ++distance) {
            ring.deliver(distance);
        }
        return std::move(builder).build();
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_ring() {
    return std::make_shared<Ring>();
}

}  // namespace astrolabe::system
