/// All_reduce by recursive doubling, for tests: in step k a rank swaps its whole vector with rank xor 2^k and
/// adds. It has what the algorithms of the project lack: several blocks in a message, the exclusive-or
/// symmetry, and a receive that must wait for an earlier send's copy to be taken.
#pragma once

#include <vector>

#include <astrolabe/system/algorithm.hpp>
#include <astrolabe/system/schedule.hpp>

namespace astrolabe::testing {

inline system::CollectiveSchedule exclusive_or_all_reduce(system::Position ranks) {
    system::ScheduleBuilder builder(system::CollectiveKind::kAllReduce, ranks, ranks,
                                    system::Symmetry::kExclusiveOr);
    std::vector<system::BlockReference> all(ranks);
    for (system::Position block = 0; block < ranks; ++block) {
        all[block].block = block;
    }
    std::vector<system::BlockReference> seen_by_peer = all;
    std::vector<system::ActionIndex> previous;
    for (system::Position distance = 1; distance < ranks; distance *= 2) {
        // The receive changes what the send copies, so it comes after the send.
        const system::ActionIndex sent = builder.send(0, distance, all, previous);
        for (system::Position block = 0; block < ranks; ++block) {
            seen_by_peer[block].block = block ^ distance;
        }
        previous = {builder.receive(0, distance, seen_by_peer, {&sent, 1}, true)};
    }
    return std::move(builder).build();
}

class ExclusiveOrAllReduce final : public system::CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(system::CollectiveKind kind,
                                                     system::Position ranks) const override {
        if (kind != system::CollectiveKind::kAllReduce || (ranks & (ranks - 1)) != 0) {
            return "all_reduce over a power of two only";
        }
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(system::CollectiveKind /*kind*/,
                                    system::Position /*ranks*/) const override {
        return 1;
    }
    [[nodiscard]] system::CollectiveSchedule schedule(system::CollectiveKind /*kind*/, system::Position ranks,
                                                      unsigned /*variant*/) const override {
        return exclusive_or_all_reduce(ranks);
    }
};

}  // namespace astrolabe::testing
