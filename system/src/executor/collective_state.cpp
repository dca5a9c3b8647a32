#include "collective_state.hpp"

#include <algorithm>

#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::system::detail {
namespace {

Bytes stage_bytes(const Instance& instance, const ChunkRun& run, std::size_t stage) {
    const CompiledSchedule& schedule = *run.schedule->compiled[stage];
    if (instance.pairs == nullptr) {
        return schedule.total_bytes(part_size(instance.size, instance.chunks, run.number));
    }
    std::vector<std::uint32_t> below(instance.chunks + 1, 1);
    std::fill_n(below.begin(), run.number + 1, 0);
    return schedule.total_bytes(*instance.pairs, below);
}

}  // namespace

BlockSizes block_sizes(const Instance& instance, const ChunkRun& run, std::size_t stage) {
    if (instance.pairs != nullptr) {
        return {.part = run.number, .parts = instance.chunks, .pairs = instance.pairs};
    }
    return run.schedule->compiled[stage]->block_sizes(part_size(instance.size, instance.chunks, run.number));
}

StageQueue::Claim claim_of(const Instance& instance, const ChunkRun& run, RunIndex index, std::uint32_t stage,
                           StageOrder order) {
    std::int64_t weight = 0;
    if (order == StageOrder::kSmallestChunk) {
        weight = stage_bytes(instance, run, stage).count();
    } else if (order == StageOrder::kFewestStages) {
        weight = static_cast<std::int64_t>(run.stages.size() - stage);
    }
    return {.run = index,
            .stage = stage,
            .schedule = run.schedule->compiled[stage].get(),
            .kind = run.schedule->stages[stage].kind,
            .weight = weight,
            .is_highest = instance.is_highest,
            .priority = instance.priority,
            .sequence = instance.sequence,
            .number = run.number};
}

Channel::Channel(std::span<const RankId> group, Position representative_count,
                 const std::vector<network::HostId>& placement, const SystemOptions& options)
    : ranks(group),
      representatives(representative_count),
      shape(group_shape(group, options)),
      order(representatives),
      in_window(representatives, 0) {
    hosts.reserve(group.size());
    for (const RankId rank : group) {
        hosts.push_back(placement[rank.index()]);
    }
    if (options.active_chunks_per_dimension) {
        queues.assign(shape.size(), StageQueue(representatives, options));
    }
}

}  // namespace astrolabe::system::detail
