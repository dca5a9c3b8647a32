// Ring: rank i sends to i+1 only, and step k+1 waits for what step k brought (three-layers 3.5).
//
// All positions and blocks below are relative: program 0 serves every rank. A step sends one block to +1 and
// receives one from -1; what a step receives, the next one sends on.
//
//   reduce_scatter  step k sends block -(k+1) and adds to block -(k+2); after N-1 steps block 0 is whole
//   all_gather      step k sends block -k, starting with the own one, and stores block -(k+1)
//   all_reduce      the two in a row
//   all_to_all      for each distance h = 1 … N-1, h steps carry the block for +h there, hop by hop

#include <memory>
#include <string>
#include <vector>

#include <astrolabe/system/collectives.hpp>

namespace astrolabe::system {

namespace {

/// Appends steps to the one program of a ring.
class RingWriter {
public:
    RingWriter(CollectiveKind kind, Position ranks)
        : ranks_(ranks),
          builder_(kind, ranks, kind == CollectiveKind::kAllToAll ? std::uint64_t{ranks} * ranks : ranks,
                   Symmetry::kRotation) {}

    /// `back` steps before the own position.
    [[nodiscard]] Position behind(Position back) const { return (ranks_ - back % ranks_) % ranks_; }

    void step(BlockReference sent, BlockReference received, bool reduce) {
        builder_.send(0, 1, {&sent, 1}, last_receive_);
        last_receive_ = {builder_.receive(0, ranks_ - 1, {&received, 1}, {}, reduce)};
    }

    [[nodiscard]] CollectiveSchedule finish() && { return std::move(builder_).build(); }

private:
    Position ranks_;
    ScheduleBuilder builder_;
    std::vector<ActionIndex> last_receive_;  // none before the first step
};

void reduce_scatter(RingWriter& ring, Position ranks) {
    for (Position k = 0; k + 1 < ranks; ++k) {
        ring.step({.block = ring.behind(k + 1)}, {.block = ring.behind(k + 2)}, true);
    }
}

void all_gather(RingWriter& ring, Position ranks) {
    for (Position k = 0; k + 1 < ranks; ++k) {
        ring.step({.block = ring.behind(k)}, {.block = ring.behind(k + 1)}, false);
    }
}

void all_to_all(RingWriter& ring, Position ranks) {
    for (Position distance = 1; distance < ranks; ++distance) {
        for (Position hop = 0; hop < distance; ++hop) {
            ring.step({.source = ring.behind(hop), .block = distance - hop},
                      {.source = ring.behind(hop + 1), .block = distance - hop - 1}, false);
        }
    }
}

class Ring final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind /*kind*/,
                                                     Position /*ranks*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, Position /*ranks*/) const override { return 1; }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, Position ranks,
                                              unsigned /*variant*/) const override {
        RingWriter ring(kind, ranks);
        switch (kind) {
            case CollectiveKind::kReduceScatter:
                reduce_scatter(ring, ranks);
                break;
            case CollectiveKind::kAllGather:
                all_gather(ring, ranks);
                break;
            case CollectiveKind::kAllReduce:
                reduce_scatter(ring, ranks);
                all_gather(ring, ranks);
                break;
            case CollectiveKind::kAllToAll:
                all_to_all(ring, ranks);
                break;
        }
        return std::move(ring).finish();
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_ring() {
    return std::make_shared<Ring>();
}

}  // namespace astrolabe::system
