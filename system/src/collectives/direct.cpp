// Direct: every rank exchanges with every other at once (three-layers 3.5).
//
// Sends leave in the order i+1, i+2, …, so that at any moment the ranks address different receivers and a
// crossbar is never contended while they keep step. all_reduce is a reduce_scatter, a barrier on its N-1
// receptions, and an all_gather. Positions and blocks are relative: program 0 serves every rank.

#include <memory>
#include <string>
#include <vector>

#include <astrolabe/system/collectives.hpp>

namespace astrolabe::system {

namespace {

void scatter(ScheduleBuilder& builder, Position ranks, CollectiveKind kind,
             std::vector<ActionIndex>& received) {
    const bool reduce = kind != CollectiveKind::kAllToAll;
    for (Position distance = 1; distance < ranks; ++distance) {
        const BlockReference block{.block = distance};
        builder.send(0, distance, {&block, 1}, {});
    }
    for (Position distance = 1; distance < ranks; ++distance) {
        const Position peer = ranks - distance;
        const BlockReference block{.source = reduce ? 0 : peer, .block = 0};
        received.push_back(builder.receive(0, peer, {&block, 1}, {}, reduce));
    }
}

void gather(ScheduleBuilder& builder, Position ranks, const std::vector<ActionIndex>& after) {
    const BlockReference own{.block = 0};
    for (Position distance = 1; distance < ranks; ++distance) {
        builder.send(0, distance, {&own, 1}, after);
    }
    for (Position distance = 1; distance < ranks; ++distance) {
        const Position peer = ranks - distance;
        const BlockReference block{.block = peer};
        builder.receive(0, peer, {&block, 1}, {}, false);
    }
}

class Direct final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind /*kind*/,
                                                     Position /*ranks*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, Position /*ranks*/) const override { return 1; }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, Position ranks,
                                              unsigned /*variant*/) const override {
        const std::uint64_t blocks =
            kind == CollectiveKind::kAllToAll ? std::uint64_t{ranks} * ranks : std::uint64_t{ranks};
        ScheduleBuilder builder(kind, ranks, blocks, Symmetry::kRotation);
        std::vector<ActionIndex> received;
        if (kind != CollectiveKind::kAllGather) {
            scatter(builder, ranks, kind, received);
        }
        if (kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather) {
            gather(builder, ranks, received);
        }
        return std::move(builder).build();
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_direct() {
    return std::make_shared<Direct>();
}

}  // namespace astrolabe::system
