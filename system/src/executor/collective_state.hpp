/// The state of collective_engine.hpp: the groups, the collectives they run, the chunks in flight.
#pragma once

#include "agreed_order.hpp"
#include "chunk_engine.hpp"
#include "schedule_cache.hpp"
#include "stage_account.hpp"
#include "stage_queue.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

using InstanceIndex = std::uint32_t;
using ChannelIndex = std::uint32_t;
using RunIndex = std::uint32_t;

/// One group's run of one collective.
struct Instance {
    OperationId operation;
    ChannelIndex channel = 0;
    const ScheduleCache::Plan* plan = nullptr;  // null where there are no bytes to move
    const PairSizes* pairs = nullptr;           // of an uneven all_to_all
    Bytes size;
    std::uint32_t chunks = 0;
    std::uint32_t next_chunk = 0;  // to enter the order
    bool is_highest = false;
    std::int64_t priority = 0;
    std::uint64_t sequence = 0;  // of the first issue
    Position issued = 0;
    Position finished = 0;
    std::vector<Time> issued_at;             // by representative; kNever before
    std::vector<std::uint32_t> chunks_left;  // likewise
    // Independent orders only:
    std::vector<std::uint32_t> taken;  // by representative: chunks that are or were in its window
    std::vector<RunIndex> runs;        // by chunk; kNone before any rank takes it
    std::uint64_t takings = 0;         // Σ taken
};

/// One chunk of an instance on its way through its stages.
struct ChunkRun {
    struct StageRun {
        ChunkIndex chunk = kNone;  // from the first rank's start to the last one's finish
        EntryIndex entry = kNone;  // with a limit per dimension: from the first rank that is ready
        StageAccount* account = nullptr;
    };
    InstanceIndex instance = 0;
    std::uint32_t number = 0;  // of the chunk in its collective
    Time ordered_at = kNever;  // when and by which rank it came into the agreed order
    Position ordered_by = 0;
    const StagedSchedule* schedule = nullptr;
    std::vector<StageRun> stages;
};

/// The blocks of the ranks of `instance` in one stage of a chunk.
[[nodiscard]] BlockSizes block_sizes(const Instance& instance, const ChunkRun& run, std::size_t stage);
/// What the place of a stage in the queue depends on, for `run` with index `index`.
[[nodiscard]] StageQueue::Claim claim_of(const Instance& instance, const ChunkRun& run, RunIndex index,
                                         std::uint32_t stage, StageOrder order);

/// One group, with orders of its own.
struct Channel {
    /// The first `representative_count` positions of the group are simulated.
    Channel(std::span<const RankId> group, Position representative_count,
            const std::vector<network::HostId>& placement, const SystemOptions& options);

    std::span<const RankId> ranks;
    /// The group's first positions, each of its own equivalence class; 0: another group represents this one.
    Position representatives = 0;
    Shape shape;
    std::vector<network::HostId> hosts;  // by position
    std::int64_t highest = 0;            // priorities given so far, but for kHighest
    std::int64_t lowest = 0;
    std::vector<InstanceIndex> waiting;    // best first
    AgreedOrder<RunIndex> order;           // of entry into the windows
    std::vector<std::uint32_t> in_window;  // by representative
    std::vector<StageQueue> queues;        // by dimension; none without a limit per dimension
};

}  // namespace astrolabe::system::detail
