// The bytes that the schedules of a collective send, to be compared with those of a run. O(groups · chunks),
// and for an uneven collective the pairs of ranks.

#include "collective_engine.hpp"

#include <cstdint>
#include <set>
#include <vector>

#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::system::detail {
namespace {

Bytes plan_bytes(const ScheduleCache::Plan& plan, Bytes size) {
    Bytes sum;
    for (std::size_t chunk = 0; chunk < plan.size(); ++chunk) {
        for (const auto& stage : plan[chunk]->compiled) {
            sum += stage->total_bytes(part_size(size, plan.size(), chunk));
        }
    }
    return sum;
}

Bytes plan_bytes(const ScheduleCache::Plan& plan, const PairSizes& pairs) {
    Bytes sum;
    for (const StagedSchedule* schedule : std::set<const StagedSchedule*>(plan.begin(), plan.end())) {
        std::vector<std::uint32_t> chunks_below{0};
        for (const StagedSchedule* used : plan) {
            chunks_below.push_back(chunks_below.back() + (used == schedule ? 1 : 0));
        }
        for (const auto& stage : schedule->compiled) {
            sum += stage->total_bytes(pairs, chunks_below);
        }
    }
    return sum;
}

}  // namespace

Bytes CollectiveEngine::expected_bytes(OperationId operation) {
    const CollectiveOperation& work = collective(operation);
    const auto& groups = program_.partitions[work.partition].groups;
    Bytes sum;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        if (work.moves_nothing(groups[group].size())) {
            continue;
        }
        const ScheduleCache::Plan& plan =
            schedules_.of(work, group_shape(groups[group], options_), chunk_count(work, options_));
        sum += work.is_uneven() ? plan_bytes(plan, (*work.pair_sizes)[group]) : plan_bytes(plan, work.size);
    }
    return sum;
}

}  // namespace astrolabe::system::detail
