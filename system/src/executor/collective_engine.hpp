/// Collectives of all groups: priorities, the agreed start order, windows, chunks, and who is done.
///
/// Every group of every partition is a *channel* with an arbiter of its own (executor.hpp, "Order and
/// window"):
///   - collectives that have chunks left to order wait by priority;
///   - `order` lists chunks in the order in which every rank starts them; a rank that has room and has
///   followed the
///     order to its end extends it by the next chunk of the best waiting collective that it has itself
///     issued;
///   - a rank whose next chunk in the order belongs to a collective it has not issued yet waits for that
///   issue.
///
/// Why nothing locks up. A collective that one rank has finished was started by its whole group, so it ends
/// everywhere. Let rank r wait for a collective E that s put into the order of their group and r has not
/// issued. All that E depends on is finished at s; what is unfinished at r is therefore a collective of
/// another group, one that holds r and not s. Where the groups of any two partitions are disjoint or nested,
/// that group lies inside the first, and repeating the argument leads to ever smaller groups, hence to an
/// end. Where they cross (rows and columns of a grid) it leads in circles, and two groups can wait for each
/// other's orders; there a collective only becomes eligible once its whole group has issued it
/// (`starts_early_` is false). Then every rank can always start its next chunk, and the first unfinished
/// chunk of every order goes on. Windows are counted per channel: overlapping groups with a common window
/// could fill it with different collectives.
///
/// Ties. A choice made at an instant prefers what the choosing rank issued before that instant; what it
/// issues at the instant itself comes second, whatever its priority. So a backend may notify the end of a
/// chunk and the end of a compute operation of one instant in either order and the choice is the same. All
/// issues of one notification are made before any choice.
///
/// Complexity: a choice costs O(waiting collectives that the rank has not issued) and O(1) where ranks keep
/// step. Entries of the order that every rank has started are dropped, so memory follows the skew between
/// ranks.
#pragma once

#include "chunk_engine.hpp"
#include "schedule_cache.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <astrolabe/system/executor.hpp>

namespace astrolabe::system::detail {

using InstanceIndex = std::uint32_t;
using ChannelIndex = std::uint32_t;

/// One group's run of one collective.
struct Instance {
    OperationId operation;
    ChannelIndex channel = 0;
    const ScheduleCache::Variants* variants = nullptr;  // null where nothing is to be moved
    Bytes size;
    std::uint32_t chunks = 0;
    std::uint32_t next_chunk = 0;  // to enter the order
    bool is_highest = false;
    std::int64_t priority = 0;
    std::uint64_t sequence = 0;  // of the first issue
    Position issued = 0;
    Position finished = 0;
    std::vector<Time> issued_at;             // by position; kNever before
    std::vector<std::uint32_t> chunks_left;  // by position
};

inline constexpr Time kNever = Time::max();

struct Channel {
    std::span<const RankId> ranks;
    std::vector<network::HostId> hosts;
    std::int64_t highest = 0;  // priorities given so far, but for kHighest
    std::int64_t lowest = 0;
    std::vector<InstanceIndex> waiting;  // best first
    std::deque<ChunkIndex> order;        // entries first_entry …
    std::uint64_t first_entry = 0;
    std::vector<std::uint64_t> next_entry;  // by position
    std::vector<std::uint32_t> under_way;   // by position
};

/// A rank on which a collective is complete; its completion delay has yet to pass.
struct CompletedCollective {
    OperationId operation;
    RankId rank;
};

class CollectiveEngine {
public:
    CollectiveEngine(const Program& program, const SystemOptions& options, network::NetworkBackend& backend,
                     const std::vector<network::HostId>& placement, ChunkEngine& chunks,
                     IndexedVector<OperationId, OperationRecord>& records);

    void issue(OperationId operation, RankId rank);
    void chunk_finished(const FinishedChunk& finished);
    /// Starts what has room, on the ranks that issued or finished something since the last call.
    void start_chunks();
    [[nodiscard]] bool wants_to_start() const { return !dirty_.empty(); }

    /// Filled by the three above, emptied by the owner.
    [[nodiscard]] std::vector<CompletedCollective>& completed() { return completed_; }

    [[nodiscard]] std::size_t instances_open() const { return instances_.size() - free_instances_.size(); }
    /// Bytes that all groups must have sent for `operation`, from its schedules.
    [[nodiscard]] Bytes expected_bytes(OperationId operation);

    // For reports.
    [[nodiscard]] const StageRecord& stage(OperationId operation) const { return stages_[operation]; }
    [[nodiscard]] const Instance* find(OperationId operation, RankId rank) const;
    [[nodiscard]] const Instance& instance(InstanceIndex index) const { return *instances_[index]; }
    [[nodiscard]] const Channel& channel(ChannelIndex index) const { return channels_[index]; }
    [[nodiscard]] Position position(const Instance& instance, RankId rank) const;

private:
    struct Dirty {
        ChannelIndex channel;
        Position position;
    };

    [[nodiscard]] const CollectiveOperation& collective(OperationId operation) const {
        return program_.operations[operation].collective();
    }
    [[nodiscard]] bool moves_nothing(const CollectiveOperation& collective, std::size_t ranks) const {
        return collective.size == Bytes(0) || ranks < 2;
    }
    [[nodiscard]] std::uint32_t chunks_of(const CollectiveOperation& collective) const;
    [[nodiscard]] InstanceIndex instance_of(OperationId operation, std::uint32_t group);
    [[nodiscard]] InstanceIndex open_instance(OperationId operation, ChannelIndex channel);
    void enqueue(InstanceIndex index);
    void complete(InstanceIndex index, Position position);
    void start_chunks(ChannelIndex index, Position position);
    [[nodiscard]] bool extend(Channel& channel, Position position);
    [[nodiscard]] bool partitions_are_nested() const;

    const Program& program_;
    const SystemOptions& options_;
    network::NetworkBackend& backend_;
    ChunkEngine& chunks_;
    IndexedVector<OperationId, OperationRecord>& records_;
    ScheduleCache schedules_;

    std::vector<Channel> channels_;                           // by partition, then group
    IndexedVector<PartitionId, ChannelIndex> first_channel_;  // of a partition
    struct Place {
        std::uint32_t group = 0;
        Position position = 0;
    };
    IndexedVector<PartitionId, IndexedVector<RankId, Place>> places_;
    bool starts_early_ = true;  // before the whole group has issued a collective

    std::vector<std::unique_ptr<Instance>> instances_;
    std::vector<InstanceIndex> free_instances_;
    struct Groups {
        std::vector<InstanceIndex> instances;  // by group; kNone where not open; empty before the first issue
        std::uint32_t done = 0;
    };
    IndexedVector<OperationId, Groups> groups_;
    IndexedVector<OperationId, StageRecord> stages_;
    std::uint64_t next_sequence_ = 0;
    std::vector<Dirty> dirty_;
    std::vector<CompletedCollective> completed_;
};

}  // namespace astrolabe::system::detail
