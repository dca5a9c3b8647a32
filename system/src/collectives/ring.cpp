// Ring: rank i sends to the next rank of the ring only, and step k+1 waits for what step k brought
// (docs/theory/collectives-and-costs.md, "Algorithms").
//
// All positions and blocks below are relative, counted in hops: program 0 serves every rank. A step sends one
// block ahead and receives one from behind; what a step receives, the next one sends on.
//
//   reduce_scatter  step k sends block -(k+1) and adds to block -(k+2); after N-1 steps block 0 is whole
//   all_gather      step k sends block -k, starting with the own one, and stores block -(k+1)
//   all_reduce      the two in a row
//   all_to_all      for each distance h = 1 … N-1, h steps carry the block for +h there, hop by hop
//
// A broadcast and a reduce are pipelined chains of N blocks, with a program for every rank: a block is sent
// when it is there and the one before has been delivered. At most 4,096 ranks for an all_to_all, 2,048 with a
// root. An all_to_all names N² blocks.
//
//     reduce_scatter, all_gather (S: the result)    (N-1)(α + Sβ/N)
//     all_reduce, broadcast, reduce                 2(N-1)(α + Sβ/N)
//     all_to_all                                    N(N-1)/2 · (α + Sβ/N)

#include "ring.hpp"

#include <numeric>
#include <string>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system {

namespace detail {

ScheduleBuilder ring_builder(CollectiveKind kind, Position ranks, std::vector<Stage> stages) {
    return {kind, ranks, kind == CollectiveKind::kAllToAll ? std::uint64_t{ranks} * ranks : ranks,
            Symmetry::kRotation, std::move(stages)};
}

RingWriter::RingWriter(ScheduleBuilder& builder, Position ranks, Position stride, RingSteps steps)
    : builder_(builder),
      ranks_(ranks),
      stride_(stride),
      steps_(steps) {
    ASTROLABE_ASSERT(std::gcd(ranks, stride) == 1, "a ring visits all ranks");
}

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
    return static_cast<Position>(std::uint64_t{steps} * stride_ % ranks_);
}

Position RingWriter::behind(Position steps) const {
    return ahead(ranks_ - steps);
}

void RingWriter::step(BlockReference sent, BlockReference received, bool reduce) {
    if (steps_ == RingSteps::kStages) {
        builder_.begin_stage(next_stage_++);
        last_receive_.clear();
    }
    builder_.send(0, ahead(1), {&sent, 1}, last_receive_);
    last_receive_ = {builder_.receive(0, behind(1), {&received, 1}, {}, reduce)};
}

namespace {

[[nodiscard]] bool scatters(CollectiveKind kind) {
    return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllReduce;
}

[[nodiscard]] bool gathers(CollectiveKind kind) {
    return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kAllReduce;
}

/// One for every step, or none for a single stage.
std::vector<Stage> stages_of(CollectiveKind kind, Position ranks, RingSteps steps) {
    std::vector<Stage> stages;
    if (steps == RingSteps::kStages) {
        stages.insert(stages.end(), scatters(kind) ? ranks - 1 : 0, {0, CollectiveKind::kReduceScatter});
        stages.insert(stages.end(), gathers(kind) ? ranks - 1 : 0, {0, CollectiveKind::kAllGather});
    }
    return stages;
}

/// N blocks along the ring from rank 0 to the rank before it, or the same way back, adding up.
CollectiveSchedule chain(CollectiveKind kind, Position ranks, Position stride) {
    ScheduleBuilder builder(kind, ranks, ranks, Symmetry::kNone);
    const bool adds_up = kind == CollectiveKind::kReduce;
    const auto rank_at = [&](Position hops) {
        return static_cast<Position>(std::uint64_t{hops} * stride % ranks);
    };
    for (Position hops = 0; hops < ranks; ++hops) {
        const Position rank = rank_at(hops);
        const bool is_first = hops == (adds_up ? ranks - 1 : 0);
        const bool is_last = hops == (adds_up ? 0 : ranks - 1);
        std::vector<ActionIndex> sent;  // the block before
        for (BlockIndex index = 0; index < ranks; ++index) {
            const BlockReference block{.block = index};
            std::vector<ActionIndex> before = sent;
            if (!is_first) {
                const Position from = rank_at(adds_up ? hops + 1 : hops - 1);
                before.push_back(builder.receive(rank, from, {&block, 1}, {}, adds_up));
            }
            if (!is_last) {
                sent = {builder.send(rank, rank_at(adds_up ? hops - 1 : hops + 1), {&block, 1}, before)};
            }
        }
    }
    return std::move(builder).build();
}

}  // namespace

std::optional<std::string> ring_unsupported(const std::string& name, CollectiveKind kind, Position ranks) {
    if (kind == CollectiveKind::kPointToPoint) {
        return name + " does not do point_to_point";
    }
    constexpr Position kMaxForwarding = 4096;
    if (kind == CollectiveKind::kAllToAll && ranks > kMaxForwarding) {
        return "a forwarded all_to_all takes at most " + std::to_string(kMaxForwarding) + " ranks";
    }
    constexpr Position kMaxChained = 2048;
    if (has_root(kind) && ranks > kMaxChained) {
        return "a chain takes at most " + std::to_string(kMaxChained) + " ranks";
    }
    return std::nullopt;
}

std::optional<std::string> stages_unsupported(const std::string& name, CollectiveKind kind, Position ranks) {
    if (!scatters(kind) && !gathers(kind)) {
        return name + " with barriers does all_reduce, reduce_scatter and all_gather only";
    }
    constexpr Position kMaxStaged = 1U << 15U;
    if (ranks > kMaxStaged) {
        return name + " with barriers takes at most " + std::to_string(kMaxStaged) + " ranks";
    }
    return std::nullopt;
}

CollectiveSchedule ring_schedule(CollectiveKind kind, Position ranks, Position stride, RingSteps steps) {
    if (has_root(kind)) {
        return chain(kind, ranks, stride);
    }
    ScheduleBuilder builder = ring_builder(kind, ranks, stages_of(kind, ranks, steps));
    RingWriter ring(builder, ranks, stride, steps);
    if (kind == CollectiveKind::kAllToAll) {
        for (Position distance = 1; distance < ranks; ++distance) {
            ring.deliver(distance);
        }
    }
    if (scatters(kind)) {
        ring.reduce_scatter();
    }
    if (gathers(kind)) {
        ring.all_gather();
    }
    return std::move(builder).build();
}

}  // namespace detail

AlgorithmPointer make_ring() {
    return make_simple(
        {.name = "ring",
         .schedule = [](CollectiveKind kind, Position ranks,
                        unsigned) { return detail::ring_schedule(kind, ranks, 1); },
         .limit = [](CollectiveKind kind,
                     Position ranks) { return detail::ring_unsupported("ring", kind, ranks); }});
}

void register_ring(AlgorithmRegistry& registry) {
    register_plain(
        registry, "ring",
        "every rank sends to its neighbour only, step after step: minimum traffic, maximum number of steps",
        make_ring());
}

}  // namespace astrolabe::system
