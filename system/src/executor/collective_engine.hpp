/// Collectives of all groups: priorities, agreed orders, windows, chunks and their stages, and who is done.
///
/// Every group of every partition is a *channel* with orders of its own (executor.hpp, "Order and window"):
///   - collectives that have chunks left to order wait by priority;
///   - chunks enter the window of a rank in one order that all ranks follow; a rank that has room in its
///     window and has followed the order to its end extends it by the next chunk of the best waiting
///     collective that it has itself issued;
///   - a rank whose next chunk in the order belongs to a collective it has not issued yet waits for that
///     issue;
///   - with a limit per dimension, the stages of one dimension have such an order too (stage_queue.hpp); a
///     stage comes into it after some rank has done the stage before it. Without a limit stages need no slot.
///
/// Why nothing locks up. First inside a channel, where every rank sooner or later issues every collective.
/// Number the places given in all orders of stages by the time at which they were given, and let (x, k),
/// stage k of chunk x, be the first in this numbering that some rank has not finished. Every rank r can start
/// it:
///   - r has done the stages of x before it: they got their places earlier, so they are finished everywhere;
///   - its turn has come, and r has room: whatever got its place before in this dimension is finished;
///   - k = 0: x is in r's window. Else the window is full of chunks that come before x in the order of
///     entry. The rank that gave (x, 0) its place let x into its own window, so by then it had finished the
///     first stage of one of them, y. Then (y, 0) got its place before (x, 0) and is finished on r as well,
///     so y is not in r's window.
/// A proven schedule that all ranks have started ends. Where no place is given and not finished, all ranks
/// have room and any of them gives the next. Without a limit the same argument holds for the order of entry
/// alone.
///
/// Now with several channels. An unrooted collective that one rank has finished was started by its whole
/// group, so it ends everywhere (a rooted one may end on a rank before others begin). Let rank r wait for a
/// collective E that s put into the order of their group and r has not issued. All that E depends on is
/// finished at s; what is unfinished at r is therefore a collective of another group, one that holds r and
/// not s. Where the groups of any two partitions are disjoint or nested, that group lies inside the first,
/// and repeating the argument leads to ever smaller groups, hence to an end. Where they cross (rows and
/// columns of a grid) or hold rooted collectives, it leads in circles, and groups can wait for each other's
/// orders; there a collective only becomes eligible once its whole group has issued it (`starts_early_` is
/// false). Then every rank can always start its next chunk, and the first unfinished chunk of every order
/// goes on. Windows are counted per channel: overlapping groups with a common window could fill it with
/// different collectives.
///
/// With independent orders none of this holds: two ranks can fill their windows with different chunks and
/// wait for each other. report.cpp finds the circle.
///
/// Ties. A choice of the next chunk made at an instant prefers what the choosing rank issued before that
/// instant; what it issues at the instant itself comes second, whatever its priority. So a backend may notify
/// the end of a chunk and the end of a compute operation of one instant in either order and the choice is the
/// same. All issues of one notification are made before any choice.
///
/// Folded runs (folding.hpp) keep the state of the first positions of some groups, which stand for all.
///
/// Complexity: a choice of the next chunk costs O(waiting collectives that the rank has not issued) and O(1)
/// where ranks keep step; of the next stage see stage_queue.hpp. Memory follows the chunks under way and the
/// skew between ranks.
#pragma once

#include "agreed_order.hpp"
#include "chunk_engine.hpp"
#include "schedule_cache.hpp"
#include "stage_account.hpp"
#include "stage_queue.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/system/executor.hpp>

namespace astrolabe::system::detail {

using InstanceIndex = std::uint32_t;
using ChannelIndex = std::uint32_t;
using RunIndex = std::uint32_t;

/// One group's run of one collective.
struct Instance {
    OperationId operation;
    ChannelIndex channel = 0;
    const ScheduleCache::Plan* plan = nullptr;  // null where nothing is to be moved
    const PairSizes* pairs = nullptr;           // of an uneven all_to_all
    Bytes size;
    std::uint32_t chunks = 0;
    std::uint32_t next_chunk = 0;  // to enter the order
    bool is_highest = false;
    std::int64_t priority = 0;
    std::uint64_t sequence = 0;  // of the first issue
    Position issued = 0;
    Position finished = 0;
    std::vector<Time> issued_at;             // by kept position; kNever before
    std::vector<std::uint32_t> chunks_left;  // likewise
    // Independent orders only:
    std::vector<std::uint32_t> taken;  // by kept position: chunks that are or were in its window
    std::vector<RunIndex> runs;        // by chunk; kNone before any rank takes it
    std::uint64_t takings = 0;         // Σ taken
};

/// One chunk of an instance on its way through its stages.
struct ChunkRun {
    struct StageRun {
        ChunkIndex chunk = kNone;  // from the first rank's start to the last one's finish
        TurnIndex turn = kNone;    // with a limit per dimension: from the first rank that is ready
        StageAccount* account = nullptr;
    };
    InstanceIndex instance = 0;
    std::uint32_t number = 0;  // of the chunk in its collective
    Time ordered_at = kNever;  // when and by which rank it came into the agreed order
    Position ordered_by = 0;
    const StagedSchedule* schedule = nullptr;
    std::vector<StageRun> stages;
};

struct Channel {
    std::span<const RankId> ranks;
    Position kept = 0;  // its first positions, which stand for all; 0: another group stands for this one
    Shape shape;
    std::vector<network::HostId> hosts;  // by position
    std::int64_t highest = 0;            // priorities given so far, but for kHighest
    std::int64_t lowest = 0;
    struct WindowWatch {
        TieWatch::Event changed;
        Time changed_twice = kNever;  // by two notifications of one instant
        Time entered = kNever;
    };
    std::vector<WindowWatch> watches;      // by kept position
    TieWatch::Event first_issue;           // the last of a collective in the group
    std::vector<InstanceIndex> waiting;    // best first
    AgreedOrder<RunIndex> order;           // of entry into the windows
    std::vector<std::uint32_t> in_window;  // by kept position
    std::vector<StageQueue> queues;        // by dimension; none without a limit per dimension
};

/// A rank on which a collective is complete; its completion delay has yet to pass.
struct CompletedCollective {
    OperationId operation;
    RankId rank;
};

class CollectiveEngine {
public:
    CollectiveEngine(const Program& program, const SystemOptions& options, network::NetworkBackend& backend,
                     const std::vector<network::HostId>& placement, const network::Folding& folding,
                     ChunkEngine& chunks, TieWatch& ties,
                     IndexedVector<OperationId, OperationRecord>& records);

    void issue(OperationId operation, RankId rank);
    void chunk_finished(const FinishedChunk& finished);
    /// Starts what has room, on the ranks that issued or finished something since the last call.
    void start_chunks();
    [[nodiscard]] bool wants_to_start() const { return !dirty_.empty() || !arrivals_.empty(); }

    /// Filled by the three above, emptied by the owner.
    [[nodiscard]] std::vector<CompletedCollective>& completed() { return completed_; }

    [[nodiscard]] std::size_t instances_open() const { return instances_.size() - free_instances_.size(); }
    /// Bytes that all groups must have sent for `operation`, from its schedules.
    [[nodiscard]] Bytes expected_bytes(OperationId operation);

    // For reports.
    /// Over all ranks, images included.
    [[nodiscard]] std::vector<StageRecord> stages(OperationId operation) const;
    [[nodiscard]] const Instance* find(OperationId operation, RankId rank) const;
    [[nodiscard]] const Instance& instance(InstanceIndex index) const { return *instances_[index]; }
    [[nodiscard]] const ChunkRun& run(RunIndex index) const { return runs_[index]; }
    [[nodiscard]] const Channel& channel(ChannelIndex index) const { return channels_[index]; }
    /// Where `rank` stands in the instance's group, if it belongs to it.
    [[nodiscard]] std::optional<Position> position(const Instance& instance, RankId rank) const;

private:
    /// A rank that may have room, in one of its channels.
    struct Dirty {
        ChannelIndex channel;
        Position position;
    };
    /// A rank that is ready for a stage.
    struct Arrival {
        RunIndex run;
        std::uint32_t stage;
        Position position;
    };

    [[nodiscard]] const CollectiveOperation& collective(OperationId operation) const {
        return program_.operations[operation].collective();
    }
    [[nodiscard]] bool is_independent() const { return options_.start_order == StartOrder::kIndependent; }
    [[nodiscard]] Channel make_channel(const std::vector<RankId>& group,
                                       const std::vector<network::HostId>& placement) const;
    [[nodiscard]] std::uint32_t chunks_of(const CollectiveOperation& collective) const;
    [[nodiscard]] BlockSizes block_sizes(const ChunkRun& run, std::size_t stage) const;
    [[nodiscard]] Bytes stage_bytes(const ChunkRun& run, std::size_t stage) const;
    [[nodiscard]] Bytes expected_bytes(const ScheduleCache::Plan& plan, Bytes size) const;
    [[nodiscard]] Bytes expected_bytes(const ScheduleCache::Plan& plan, const PairSizes& pairs) const;
    [[nodiscard]] StageAccount& account_of(OperationId operation, const Stage& stage);

    // From the issue of a collective to its chunks.
    [[nodiscard]] InstanceIndex instance_of(OperationId operation, std::uint32_t group);
    [[nodiscard]] InstanceIndex open_instance(OperationId operation, ChannelIndex channel);
    void give_priority(Instance& instance, Channel& channel);
    void enqueue(InstanceIndex index);
    void complete(InstanceIndex index, Position position);
    [[nodiscard]] RunIndex open_run(InstanceIndex instance, std::uint32_t number);

    // From the window through the stages.
    void start_chunks(ChannelIndex index, Position position);
    [[nodiscard]] RunIndex next_to_enter(Channel& channel, Position position);
    [[nodiscard]] RunIndex take_next(Channel& channel, Position position);
    void watch_group(const Channel& channel);
    void watch_window(Channel& channel, Position position, bool has_entered);
    void watch_order(const Channel& channel, const ChunkRun& next, Position position);
    [[nodiscard]] bool extend(Channel& channel, Position position);
    [[nodiscard]] std::vector<InstanceIndex>::iterator best_waiting(Channel& channel, Position position);
    void reach_stage(const Arrival& arrival);
    void start_stage(RunIndex index, std::uint32_t stage, Position position);
    [[nodiscard]] StageQueue::Claim claim_of(RunIndex index, std::uint32_t stage) const;
    [[nodiscard]] bool may_start_early() const;
    [[nodiscard]] bool are_nested(PartitionId first, PartitionId second) const;

    const Program& program_;
    const SystemOptions& options_;
    network::NetworkBackend& backend_;
    const network::Folding& folding_;
    ChunkEngine& chunks_;
    TieWatch& ties_;
    IndexedVector<OperationId, OperationRecord>& records_;
    ScheduleCache schedules_;

    std::vector<Channel> channels_;                           // by partition, then group
    IndexedVector<PartitionId, ChannelIndex> first_channel_;  // of a partition
    IndexedVector<PartitionId, std::uint32_t> kept_groups_;   // how many groups have kept positions
    struct Place {
        std::uint32_t group = 0;
        Position position = 0;
    };
    IndexedVector<PartitionId, IndexedVector<RankId, Place>> places_;
    std::vector<TieWatch::Event> group_issues_;  // by kept rank: the last that its whole group had issued
    bool starts_early_ = true;                   // before the whole group has issued a collective

    std::vector<std::unique_ptr<Instance>> instances_;
    std::vector<InstanceIndex> free_instances_;
    struct Groups {
        std::vector<InstanceIndex> instances;  // by group; kNone where not open; empty before the first issue
        std::uint32_t done = 0;
    };
    IndexedVector<OperationId, Groups> groups_;
    IndexedVector<OperationId, std::vector<std::unique_ptr<StageAccount>>> accounts_;
    std::vector<ChunkRun> runs_;
    std::vector<RunIndex> free_runs_;
    std::uint64_t next_sequence_ = 0;
    std::vector<Dirty> dirty_;
    std::vector<Arrival> arrivals_;
    std::vector<CompletedCollective> completed_;
};

}  // namespace astrolabe::system::detail
