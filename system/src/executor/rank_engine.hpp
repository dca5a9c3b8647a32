/// The progress of every rank in the program: its streams, the dependencies each operation waits for, and the
/// account of its time.
///
/// Waits are attributed while they happen: the time of a waiting stream is charged to the first dependency,
/// in the order listed, that has not finished; when that one finishes, to the next unfinished one. That is
/// the rule of program.hpp without storing finish times. In first-come order a ready operation remembers the
/// dependency that made it so, to which the wait before it is charged.
///
/// Contention (executor.hpp). Of a compute operation with durations d and d' the work left is counted in
/// units of 1/d': d·d' at first, less d' a picosecond without collectives in flight on the rank and less d
/// with them. Its timer is set for the earliest end there can be, at full speed, and set again where work is
/// left then: no timer outlives what it is for, and a start or an end of a collective costs O(streams) and no
/// event. An operation that runs beside collectives all the while takes about log d / -log(1 - d/d') timers.
///
/// A folded run (folding.hpp) simulates representatives only; the records of their classes are copies.
///
/// An operation that finishes may let any stream of its rank go on, so all of them are asked: O(streams), of
/// which a program has few.
///
/// Ranks go through their own operations (roles.hpp), whose numbers are used inside.
///
/// Memory: one bit per rank and own operation, one time per (own operation name, rank, stream), a time and a
/// count per (iteration, rank); in first-come order 16 bytes for each ready operation.
#pragma once

#include "continuation.hpp"
#include "operation_on_rank.hpp"
#include "roles.hpp"
#include "timers.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/core/state_hash.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/system/executor/compute_speeds.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

class RankEngine final : public network::NotificationHandler {
public:
    /// `speeds`, which may be null, and all others outlive it.
    RankEngine(const Program& program, const Participants& participants, network::NetworkBackend& backend,
               const network::Folding& folding, const ComputeSpeeds* speeds,
               IndexedVector<OperationId, OperationRecord>& records, Continuation& continuation);

    /// Collectives without dependencies become ready, first compute operations start.
    void begin();
    /// Makes dependents ready and starts what the rank's streams can.
    void finish(OperationOnRank finished);

    /// The first chunk of a collective has entered the window of a rank.
    void collective_started(OperationOnRank started);
    /// Whether starts of collectives matter.
    [[nodiscard]] bool contends() const { return !contentions_.empty(); }

    /// Collectives to issue: filled by the two above; the owner takes them in program order.
    [[nodiscard]] bool has_ready() const { return !ready_.empty(); }
    [[nodiscard]] OperationOnRank take_ready();
    /// Compute operations that have started, and operations that have ended and are to be finished; the owner
    /// empties both, and adds the collectives that end.
    [[nodiscard]] std::vector<OperationOnRank>& started() { return started_; }
    [[nodiscard]] std::vector<OperationOnRank>& ended() { return ended_; }

    void notify(std::uint64_t place) override;  ///< the compute operation of a stream has taken its time
    [[nodiscard]] network::TimerPurpose purpose(std::uint64_t place) const override;

    /// Over all ranks.
    [[nodiscard]] std::uint64_t finished_count() const { return finished_count_ * folding_.class_size(); }
    [[nodiscard]] const Timers& timers() const { return timers_; }

    /// All operations of so many iterations, from the first, have finished on every rank.
    [[nodiscard]] int whole_iterations() const { return whole_iterations_; }
    /// The computations of so many iterations have ended on every rank.
    [[nodiscard]] int computed_iterations() const { return computed_iterations_; }
    /// As Executor::begun_iterations.
    [[nodiscard]] int begun_iterations() const;
    /// Adds all that decides what the ranks do next, if nothing but computations is under way: times
    /// relative to now, operations to `first`, the first of iteration whole_iterations(). Of computations
    /// that end at one instant the order goes into `order`.
    void add_state(StateHash& hash, StateHash& order, OperationId first) const;
    /// As Executor::end_before; `operation` is the first of that iteration.
    void end_before(OperationId operation, int iteration);

    /// Accounts of all ranks; drains last until `total`. With `check`, asserts the accounting identity of
    /// every stream.
    [[nodiscard]] std::vector<RankRecord> records(Time total, bool check) const;
    /// Accounts of all ranks in which what has not ended counts up to now, without drains.
    [[nodiscard]] std::vector<RankRecord> records_so_far() const;

    // For reports.
    /// Of one of the rank's own operations.
    [[nodiscard]] bool has_finished(OperationId operation, RankId rank) const {
        return is_finished(roles_.of(rank).own(operation), rank);
    }
    [[nodiscard]] bool has_finished_all(RankId rank) const {
        return ranks_[rank].finished == roles_.of(rank).size();
    }
    [[nodiscard]] RankActivity activity() const;
    enum class Activity : std::uint8_t { kComputing, kWaiting, kDraining };
    struct Situation {
        Activity activity;
        OperationId operation;  // computing, or waiting to
        OperationId waits_for;  // kWaiting only
    };
    [[nodiscard]] Situation situation(RankId rank, std::size_t stream) const;

private:
    struct Rank {
        std::size_t first_bit = 0;   // of its own operations
        std::uint32_t finished = 0;  // of these
        Time end;                    // of the last so far
    };

    /// A stream of a rank.
    struct Stream {
        std::uint32_t next_compute = 0;     // of the stream's; in first-come order how many have finished
        std::uint32_t next_dependency = 0;  // of that operation
        bool is_computing = false;
        OperationId computing;    // while it is
        Time takes;               // the operation, likewise
        Time due;                 // its timer, likewise
        std::uint64_t timer = 0;  // which of all timers it is, likewise
        Time idle_since;
        Time compute;
    };
    /// A stream of a rank, by number: rank · streams + stream.
    using Place = std::size_t;

    /// Of the operation that a stream computes.
    struct Contention {
        Time alone;
        Time contended;
        astrolabe::detail::Int128 left = 0;
        Time at;  // up to when it is counted
        Time started;
        Time slowed;  // of all operations of the stream so far
    };

    /// A compute operation in first-come order, and the dependency that finished last.
    struct ReadyCompute {
        Time since;
        OwnIndex operation;
        OwnIndex cause;
    };

    /// Orders a heap so that its top became ready first, then comes first in program order.
    [[nodiscard]] static bool comes_after(const ReadyCompute& a, const ReadyCompute& b);
    [[nodiscard]] bool is_first_come() const { return program_.compute_order == ComputeOrder::kFirstCome; }
    [[nodiscard]] std::size_t bit_of(OwnIndex own, RankId rank) const { return ranks_[rank].first_bit + own; }
    [[nodiscard]] bool is_finished(OwnIndex own, RankId rank) const {
        return (finished_[bit_of(own, rank) / 64] >> (bit_of(own, rank) % 64) & 1) != 0;
    }
    [[nodiscard]] std::size_t iteration_of(OperationId operation) const {
        return static_cast<std::size_t>(program_.operations[operation].iteration);
    }
    [[nodiscard]] Place place_of(RankId rank, std::size_t stream) const {
        return rank.index() * stream_count_ + stream;
    }
    [[nodiscard]] bool dependencies_finished(OwnIndex own, RankId rank) const;
    void begin(RankId rank);
    void make_ready(OperationId operation, RankId rank);
    void make_ready_to_compute(const ReadyCompute& ready, RankId rank);
    void start_streams(RankId rank);
    void start_compute(RankId rank, std::size_t stream);
    void start_first_come(RankId rank);
    void compute(OwnIndex own, RankId rank, Place place);
    void start_contended(const ComputeOperation& work, RankId rank, Place place);
    /// Counts what the stream has done since it was counted last.
    void count_work(Place place);
    void count_work(RankId rank);
    void collective_finished(OperationOnRank finished);
    void end_compute(OperationId operation, RankId rank);
    /// Ends the wait of a stream that began when it became idle.
    void charge_wait(OwnIndex cause, RankId rank, Place place);
    void set_timer(Time delay, Place place);
    [[nodiscard]] StreamRecord account(Place place, Time total, bool check) const;
    /// The account with the present work or wait, up to now.
    [[nodiscard]] StreamRecord account_so_far(Place place) const;
    /// Of all ranks, from those of the representatives' streams.
    template <class Account>
    [[nodiscard]] std::vector<RankRecord> records_of(const Account& account) const;
    void count_finished(OperationId operation);
    void count_ended_iteration(std::size_t iteration);
    [[nodiscard]] int finished_iterations() const;
    /// Of a waiting rank in first-come order.
    [[nodiscard]] OwnIndex first_unfinished_compute(RankId rank) const;

    const Program& program_;
    network::NetworkBackend& backend_;
    const network::Folding& folding_;
    const ComputeSpeeds* const speeds_;
    IndexedVector<OperationId, OperationRecord>& records_;
    Continuation& continuation_;
    const std::size_t stream_count_;
    Roles roles_;
    IndexedVector<RankId, Rank> ranks_;       // representatives
    std::vector<Stream> streams_;             // by place
    std::vector<std::vector<Time>> exposed_;  // by place and the role's names
    IndexedVector<RankId, std::vector<Time>> iteration_ends_;
    IndexedVector<RankId, std::vector<std::uint32_t>> left_in_iteration_;  // that decide its end
    IndexedVector<RankId, std::vector<ReadyCompute>> waiting_;  // heaps, first come on top; first-come order
    std::vector<std::uint64_t> finished_;                       // bits
    std::vector<std::uint64_t> left_of_iteration_;              // operations, over ranks
    std::vector<std::uint64_t> ranks_left_in_iteration_;        // with computations that decide its end
    int whole_iterations_ = 0;
    int computed_iterations_ = 0;
    int ready_iterations_ = 0;  // of which something was ready
    std::uint64_t timers_set_ = 0;
    std::uint64_t finished_count_ = 0;
    std::vector<Contention> contentions_;             // by place; empty where nothing is slowed
    IndexedVector<RankId, std::uint32_t> in_flight_;  // collectives; likewise
    std::vector<bool> has_started_;                   // by bit; likewise
    std::vector<OperationOnRank> ready_;              // heap, first in program order on top
    std::vector<OperationOnRank> started_;
    std::vector<OperationOnRank> ended_;
    Timers timers_;
};

}  // namespace astrolabe::system::detail
