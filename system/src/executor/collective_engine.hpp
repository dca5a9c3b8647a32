/// Collectives of all groups: priorities, agreed orders, windows, chunks, their stages and their completion.
///
/// Every group of every partition is a *channel* with orders of its own (executor.hpp, "Order and window"):
///   - collectives that have chunks left to order wait by priority;
///   - chunks enter the window of a rank in one order that all ranks follow; a rank that has room in its
///     window and has followed the order to its end extends it by the next chunk of the best waiting
///     collective that it has itself issued;
///   - a rank whose next chunk in the order belongs to a collective it has not issued yet waits for that
///     issue;
///   - with a limit per dimension, the stages of one dimension have such an order too (stage_queue.hpp); a
///     stage enters it after some rank has completed the stage before it. Without a limit stages need no
///     slot.
///
/// Why there is no deadlock. First inside a channel, where every rank sooner or later issues every
/// collective. Number the entries of all orders of stages by the time at which they were added, and let (x,
/// k), stage k of chunk x, be the first in this numbering that some rank has not finished. Every rank r can
/// start it:
///   - r has completed the earlier stages of x: their entries are older, so they are finished everywhere;
///   - it is next, and r has room: every older entry of this dimension is finished;
///   - k = 0: x is in r's window. Else the window is full of chunks that come before x in the order of
///     entry. The rank that added (x, 0) had let x into its own window, so by then it had finished the
///     first stage of one of them, y. Then (y, 0) is older than (x, 0) and is finished on r as well,
///     so y is not in r's window.
/// With barriers r has completed the stage before k when all ranks have, and that is finished everywhere
/// likewise. A proven schedule that all ranks have started ends. Where every entry is finished, all ranks
/// have room and any of them adds the next. Without a limit the same argument holds for the order of entry
/// alone.
///
/// Several channels: early_start.hpp shows where groups could wait for each other's orders. There a
/// collective only becomes eligible once its whole group has issued it (`starts_early_` is false). Windows
/// are counted per channel: overlapping groups with a common window could fill it with different collectives.
///
/// One-sided messages are in no order and no window: a rank hands its part over, or begins to receive, when
/// it issues the operation, whatever others have issued. So they hold up nothing, and where ranks differ
/// (executor.hpp, "Ranks that differ") sends and receives may come in any order.
///
/// With independent orders none of this holds: two ranks can fill their windows with different chunks and
/// wait for each other. report.cpp finds the cycle.
///
/// Ties. A choice of the next chunk made at an instant prefers collectives that the choosing rank issued
/// before that instant; those it issues at the instant itself come second, whatever its priority. So a
/// backend may notify the end of a chunk and the end of a compute operation of one instant in either order
/// and the choice is the same. All issues of one notification are made before any choice.
///
/// Folded runs (folding.hpp) simulate the representatives, which are the first positions of some groups. What
/// the last rank of a group sets off for all of them is held back there until the consequences of that rank's
/// own notification are complete, as if another rank were the last (tie_watch.hpp).
///
/// Complexity: a choice of the next chunk costs O(waiting collectives that the rank has not issued) and O(1)
/// where ranks keep step; of the next stage see stage_queue.hpp. Memory follows the chunks in flight and the
/// skew between ranks.
#pragma once

#include "collective_state.hpp"
#include "collective_ties.hpp"
#include "group_places.hpp"
#include "operation_on_rank.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::system::detail {

/// A rank on which a collective, or the receive of a one-sided one, is complete but for its completion delay.
struct CompletedCollective {
    OperationId operation;
    RankId rank;
    Time not_before;  ///< its least duration
};

class CollectiveEngine {
public:
    CollectiveEngine(const Program& program, const Participants& participants, const SystemOptions& options,
                     network::NetworkBackend& backend,
                     const std::vector<network::HostId>& placement, const network::Folding& folding,
                     ChunkEngine& chunks, TieWatch& ties,
                     IndexedVector<OperationId, OperationRecord>& records);

    /// A collective or a receive.
    void issue(OperationId operation, RankId rank);
    void chunk_finished(const FinishedChunk& finished);
    /// Starts what has room, on the ranks that issued or finished something since the last call.
    void start_chunks();
    [[nodiscard]] bool wants_to_start() const { return !dirty_.empty() || !arrivals_.empty(); }
    /// To be called when nothing else is left to do: lets the group go on that was held back first; false if
    /// there is none.
    [[nodiscard]] bool let_a_group_go_on();

    /// Filled by the three above, emptied by the owner.
    [[nodiscard]] std::vector<CompletedCollective>& completed() { return completed_; }
    /// First chunks that entered windows, likewise, once that is asked for.
    [[nodiscard]] std::vector<OperationOnRank>& entered() { return entered_; }

    [[nodiscard]] std::size_t instances_open() const { return instances_.size() - free_instances_.size(); }
    /// Bytes that all groups must have sent for `operation`, from its schedules.
    [[nodiscard]] Bytes expected_bytes(OperationId operation);

    void report_entries() { reports_entries_ = true; }

    // For reports.
    /// Over all ranks.
    [[nodiscard]] std::vector<StageRecord> stages(OperationId operation) const;
    /// Of a collective, if the rank's group has begun it and not ended.
    [[nodiscard]] const Instance* find(OperationId operation, RankId rank) const;
    [[nodiscard]] const Instance& instance(InstanceIndex index) const { return *instances_[index]; }
    [[nodiscard]] const ChunkRun& run(RunIndex index) const { return runs_[index]; }
    [[nodiscard]] const Channel& channel(ChannelIndex index) const { return channels_[index]; }
    /// The position of `rank` in the instance's group, if it belongs to it.
    [[nodiscard]] std::optional<Position> position(const Instance& instance, RankId rank) const;

private:
    /// A rank that may have room, in one of its channels.
    struct Dirty {
        ChannelIndex channel;
        Position position;
    };
    /// A group that may go on because its last rank has issued the collective, or has come to a barrier
    /// inside `run`, before `stage`.
    struct HeldBack {
        InstanceIndex instance;
        RunIndex run;  // kNone: issued
        std::uint32_t stage;
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
    [[nodiscard]] StageAccount& account_of(OperationId operation, const Stage& stage);

    // From the issue of a collective to its chunks.
    void issue_one_sided(OperationId send, RankId rank);
    [[nodiscard]] InstanceIndex instance_of(OperationId operation, std::uint32_t group);
    [[nodiscard]] InstanceIndex open_instance(OperationId operation, ChannelIndex channel);
    void give_priority(Instance& instance, Channel& channel);
    void group_issued(InstanceIndex index);
    void enqueue(InstanceIndex index);
    void complete(InstanceIndex index, Position position);
    [[nodiscard]] RunIndex open_run(InstanceIndex instance, std::uint32_t number);

    // From the window through the stages.
    void start_chunks(ChannelIndex index, Position position);
    [[nodiscard]] RunIndex next_to_enter(Channel& channel, Position position);
    [[nodiscard]] RunIndex take_next(Channel& channel, Position position);
    [[nodiscard]] bool extend(Channel& channel, Position position);
    [[nodiscard]] std::vector<InstanceIndex>::iterator best_waiting(Channel& channel, Position position);
    void reach_stage(const Arrival& arrival);
    void pass_barrier(InstanceIndex instance, RunIndex run, std::uint32_t stage);
    void start_stage(RunIndex index, std::uint32_t stage, Position position);

    const Program& program_;
    const SystemOptions& options_;
    network::NetworkBackend& backend_;
    const network::Folding& folding_;
    ChunkEngine& chunks_;
    CollectiveTies ties_;
    IndexedVector<OperationId, OperationRecord>& records_;
    ScheduleCache schedules_;
    const bool starts_early_;  // before the whole group has issued a collective
    bool reports_entries_ = false;

    std::vector<Channel> channels_;                                 // by partition, then group
    IndexedVector<PartitionId, ChannelIndex> first_channel_;        // of a partition
    IndexedVector<PartitionId, std::uint32_t> represented_groups_;  // how many groups have representatives
    IndexedVector<PartitionId, GroupPlaces> places_;
    std::map<OperationId, OperationId> receive_of_;  // of one-sided sends

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
    std::vector<HeldBack> held_back_;
    std::vector<CompletedCollective> completed_;
    std::vector<OperationOnRank> entered_;
};

}  // namespace astrolabe::system::detail
