/// The executor: ranks run a Program over a network.
///
/// Chunks. A collective of S bytes per rank is cut in k = clamp(ceil(S / minimum_chunk), 1, chunks) chunks
/// whose sizes sum exactly to S and differ by at most one byte; each chunk runs a schedule of the algorithm
/// by itself. A collective of zero bytes, or of one rank, is finished as soon as it is issued everywhere in
/// its group. Of an uneven all_to_all S is the largest amount that a rank holds, and every pair's bytes are
/// cut in k; a message of zero bytes is not sent, and counts as arrived when it could have left.
///
/// Stages. A chunk goes through the stages of its schedule (schedule.hpp) one after another; a rank starts a
/// stage when it has completed its part of the stage before, whether other ranks have or not.
///
/// Order and window (docs/theory/collectives-and-costs.md, "Start order and window").
/// Every collective gets a priority when the first rank of its group
/// issues it: LIFO above and FIFO below all that the group issued before, EXPLICIT at its own priority,
/// HIGHEST above all; ties go to the earlier issue. A rank has at most `active_chunks` chunks in their first
/// stage, its window, and the next enters when one leaves that stage; started chunks are never pre-empted.
/// Which chunk is next is agreed: one arbiter per group keeps the order in which chunks enter the windows,
/// the first rank with room extends it by its highest-priority waiting chunk, all ranks follow that order. So
/// no two ranks ever fill their windows with different collectives and wait for one another. Every partition
/// has a window of its own. Where groups of two partitions cross (neither holds the other), orders agreed in
/// one could wait for those of the other; where collectives with a root use one of several partitions, too.
/// In such a program a collective can start only once its whole group has issued it.
///
/// Dimensions. With `active_chunks_per_dimension` = A a rank also has at most A chunks of a group in stages
/// of one dimension, first stages included; the others wait. Which stage gets the next slot of
/// a dimension is agreed as well, by `stage_order` and then by priority, time of arrival and age. A rank
/// without actions in a stage needs no slot. A chunk waits for a slot of its first stage
/// inside the window. Without A no stage waits.
///
/// Independent orders. With StartOrder::kIndependent every rank chooses its next chunk and its next stage by
/// the same rules for itself. Two ranks may then fill their windows with different chunks and wait for each
/// other forever (astra-sim issue #370); the report of the stall names the cycle.
///
/// Ties. All collectives that one notification makes ready are issued before any of them starts. A choice of
/// a chunk made at an instant prefers collectives that the choosing rank issued before that instant over
/// those it issues at the instant itself, whatever their priorities: a collective that is issued just as room
/// opens is too late if another was waiting. So the choice does not depend on the order in which
/// a backend notifies what happens at one instant.
///
/// Ranks that differ. Where not all ranks take part in all operations (program.hpp), a collective starts when
/// its whole group has issued it, and one-sided messages are in no window and no order. A program that keeps
/// its contract then ends on any network that delivers, unless messages wait for requests of receivers
/// (`rendezvous_threshold`). Proof. Let o be the first operation of the list that some rank r does not
/// finish. What it waits for on r is earlier, so finished. A computation has the one before it on its stream
/// behind it, starts and ends. A one-sided message is handed over. Its receive has had its send, so the
/// message comes. Of a collective all members have finished what they wait for, so all issue it; what is
/// before it in the orders of its group was issued by all likewise, ends by the argument inside a group
/// (collective_engine.hpp), and so does o. Windows belong to one group, so no other is in the way. Such
/// programs are not folded.
///
/// Costs. The costs of messages at their senders and receivers follow from `EndPoint`
/// (docs/models/end-points.md): copies, additions, requests of rendezvous. By default all of it is free.
///
/// Circuits. Where a collective's algorithm uses circuits and the network has them (`circuit_windows`), its
/// messages are held back at their ranks until a circuit comes and cut in pieces that fit it
/// (docs/models/rotor-collectives.md); a rank has sent a message when its last piece has entered the network.
///
/// Slow ranks. A compute operation takes its duration of the program, or longer where `compute_speeds` has
/// its rank slow.
///
/// Contention. A collective is in flight on a rank from when its first chunk enters the rank's window until
/// it has finished there; one-sided messages, receives and what moves nothing are not. A compute operation of
/// duration d and contended duration d' ends at the first e with
///
///     (time without collectives in flight) / d + (time with) / d' >= 1,
///
/// exactly, in whole picoseconds: the work d is conserved, whatever starts and ends meanwhile. Its time
/// beyond d is accounted as slowed. Not together with slow ranks.
///
/// Folding. Of equivalent ranks (folding.hpp) one representative is simulated; times and counts are those of
/// all ranks.
///
/// Iterations that repeat need not be simulated (steady_state.hpp): an observer of iterations may end the run
/// before the first operation of one of them.
///
/// Memory follows the chunks in flight, not the messages of the whole run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/signal.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/folding.hpp>
#include <astrolabe/system/collectives/algorithm.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

class ComputeSpeeds;

enum class Scheduling : std::uint8_t { kLifo, kFifo };

/// Which chunk of those that wait for a slot in a dimension gets the next one (docs/models/executor.md,
/// "Chunks, stages, order and window").
enum class StageOrder : std::uint8_t {
    kPriority,       ///< the highest priority, then the first to arrive
    kSmallestChunk,  ///< fewest bytes to be sent in the stage
    kAlternate,    ///< reduce_scatter and all_gather stages alternately, others when the next of these is not
                   ///< ready
    kFewestStages  ///< fewest stages left
};

/// What decides which chunk starts next.
enum class StartOrder : std::uint8_t {
    kAgreed,      ///< one arbiter per group: all its ranks start chunks in the same order
    kIndependent  ///< every rank for itself, as in ASTRA-sim 2.0: ranks may wait for one another forever
};

enum class CopyEngine : std::uint8_t {
    kParallel,  ///< copies of different messages overlap
    kSerial     ///< a rank copies one message at a time, in the order in which they become ready
};

enum class EndPointTiming : std::uint8_t {
    kPerMessage,  ///< each cost where it arises, to the picosecond
    kAstraSim1    ///< docs/theory/collectives-and-costs.md, "Tick formula of ASTRA-sim 1.0"
};

/// The costs of a message at its sender and at its receiver.
struct EndPoint {
    Time injection_latency{};
    CopyEngine copy_engine = CopyEngine::kParallel;
    /// Of the memory in which received messages are added up (two reads, one write), > 0; unset: free.
    std::optional<Bandwidth> reduction_bandwidth{};
    /// Messages of at least this size, > 0, wait for a request from the receiver; unset: none does.
    std::optional<Bytes> rendezvous_threshold{};
    EndPointTiming timing = EndPointTiming::kPerMessage;  ///< kAstraSim1 goes with parallel copies only
};
/// By key; an executor requires that there are none.
[[nodiscard]] ValidationErrors validation_errors(const EndPoint& end_point);

struct CollectiveChoice {
    std::shared_ptr<const CollectiveAlgorithm> algorithm;
    std::uint32_t chunks = 1;
    std::uint8_t traffic_class = 0;  ///< 0 to 7, of its messages in the network (network::Message)
};

struct SystemOptions {
    Scheduling scheduling = Scheduling::kLifo;
    std::uint32_t active_chunks = 64;  ///< of a rank and group: in their first stage
    /// Of a rank and group in one dimension, whatever the stage; unset: as many as there are.
    std::optional<std::uint32_t> active_chunks_per_dimension{};
    StageOrder stage_order = StageOrder::kPriority;
    StartOrder start_order = StartOrder::kAgreed;
    EndPoint end_point{};
    /// Logical dimensions of all ranks; a group gets its shape from them (shape.hpp). Unset: one.
    std::optional<Shape> dimensions{};
    Bytes minimum_chunk = Bytes(1024);
    /// Of the network, for algorithms that use circuits; unset: they send everything at once.
    std::shared_ptr<const network::CircuitWindows> circuit_windows{};
    /// Of ranks that compute more slowly for a time (compute_speeds.hpp); unset: none does.
    std::shared_ptr<const ComputeSpeeds> compute_speeds{};
    std::array<CollectiveChoice, kCollectiveKinds> collectives;  ///< by CollectiveKind
};

/// The algorithm that carries out a collective: its own, or that of the options for its kind.
[[nodiscard]] inline const std::shared_ptr<const CollectiveAlgorithm>& chosen_algorithm(
    const CollectiveOperation& collective, const SystemOptions& options) {
    return collective.method != nullptr
               ? collective.method->algorithm
               : options.collectives[static_cast<std::size_t>(collective.kind)].algorithm;
}
/// The chunks that it is cut in at most, chosen likewise.
[[nodiscard]] inline std::uint32_t chosen_chunks(const CollectiveOperation& collective,
                                                 const SystemOptions& options) {
    return collective.method != nullptr
               ? collective.method->chunks
               : options.collectives[static_cast<std::size_t>(collective.kind)].chunks;
}

/// k chunk sizes that sum exactly to `size` and differ by at most one byte, larger ones first:
/// size of chunk `index` of `count`.
[[nodiscard]] constexpr Bytes part_size(Bytes size, std::uint64_t count, std::uint64_t index) {
    const auto parts = static_cast<std::int64_t>(count);
    return Bytes(size.count() / parts + (static_cast<std::int64_t>(index) < size.count() % parts ? 1 : 0));
}
/// How many chunks a collective of `size` is cut into: `chunks`, but none smaller than `minimum_chunk`.
[[nodiscard]] std::uint32_t chunk_count(Bytes size, Bytes minimum_chunk, std::uint32_t chunks);
[[nodiscard]] std::uint32_t chunk_count(const CollectiveOperation& collective, const SystemOptions& options);

/// The stages of one kind in one dimension, over all chunks and groups of a collective.
struct StageRecord {
    Stage stage;
    Bytes bytes_sent{};  ///< payload over all ranks
    std::uint64_t messages = 0;
    Time first_start{};
    Time last_finish{};
    Time in_flight{};  ///< from start to finish on a rank, summed over chunks and ranks, at most Time::max()
    Time waiting{};    ///< for a slot in the dimension, summed likewise; the first stage's from its chunk's
                       ///< entry into the window
};

/// One operation, over all ranks.
struct OperationRecord {
    Time first_issue{};
    Time first_start{};  ///< a collective's first chunk; a compute operation's first rank
    Time last_finish{};
    Bytes bytes_sent{};  ///< payload over all ranks
    std::uint64_t messages = 0;
    std::uint32_t chunks = 0;
    Time exposed{};                     ///< of stream 0, summed over ranks, at most Time::max()
    std::vector<StageRecord> stages{};  ///< of a collective that moved something, as its chunks come to them
};

/// How one stream of a rank spent its time; the run's total = compute + slowed + Σ exposed + drain.
struct StreamRecord {
    Time compute;
    std::map<std::string, Time> exposed;  ///< by name of the operation waited for
    Time drain;                           ///< from the end of its last computation to the end of the run
    Time slowed;                          ///< that computations took longer beside collectives
};

/// How one rank spent its time: what it inherits is the account of stream 0, whose drain is the rank's final
/// communication tail.
struct RankRecord : StreamRecord {
    std::vector<Time> iteration_ends;         ///< 0 for an iteration without compute operations
    Time end;                                 ///< when this rank had nothing left to do
    std::vector<StreamRecord> other_streams;  ///< 1, 2, … of Program::streams
};

struct ExecutionReport {
    bool finished = false;
    /// A folded run stops where the order of two events of one instant matters (a tie): equivalent ranks may
    /// then differ, and only the whole run shows how.
    bool has_tie = false;
    std::string stall;    ///< when not finished: what each rank waits for, one line each
    Time total;           ///< when the last rank had nothing left to do
    Bytes request_bytes;  ///< of rendezvous requests, which the network carries beside the payload
    std::vector<RankRecord> ranks;
    IndexedVector<OperationId, OperationRecord> operations;
};

/// What the ranks do at one instant, for those who show how far a run is.
struct RankActivity {
    std::size_t computing = 0;    ///< ranks of which some stream computes
    std::size_t waiting = 0;      ///< that have something left to do, and nothing to compute now
    int finished_iterations = 0;  ///< whose computations have ended on every rank
};

/// What a run has come to at one instant, over all ranks: work and waits that have not ended count up to now,
/// so of a stream that has something left to compute they sum up to the time.
struct AccountsSoFar {
    Time at;
    std::vector<RankRecord> ranks;
    Bytes request_bytes;
};

/// What decides what happens next, hashed.
struct StateAtRest {
    std::uint64_t state = 0;  ///< all but
    std::uint64_t order = 0;  ///< the order of computations that end at one instant

    friend bool operator==(const StateAtRest&, const StateAtRest&) = default;
};

/// Follows a run from iteration to iteration, and may read the executor when it is told.
class IterationObserver {
public:
    /// The computations of the first `ended` iterations have ended on every rank. Once for every number, when
    /// all that one notification sets off is done.
    virtual void iterations_ended(int ended) = 0;
    /// All operations of the first `finished` iterations have, on every rank; but for computations nothing of
    /// the program is under way, and this is the beginning of the first notification of its instant. To be
    /// called again for the same number until it returns true.
    [[nodiscard]] virtual bool at_rest(int finished) = 0;

protected:
    ~IterationObserver() = default;
};

class Executor {
public:
    /// `placement[r]` is the host of rank r; hosts differ. Program and backend must outlive the executor.
    /// With `folding`, found by fold_ranks (folding.hpp) for the same program, options and placement, the
    /// backend is one for its classes; the report is that of the whole run.
    Executor(const Program& program, SystemOptions options, network::NetworkBackend& backend,
             const std::vector<network::HostId>& placement,
             const std::optional<network::Folding>& folding = std::nullopt);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Runs to the end, or to a stall, or until `stop` was called or the backend was stopped. Once. Asserts,
    /// of a finished run: the accounting identity on every rank, that every operation sent exactly the bytes
    /// of its schedules, that every message was delivered once and nothing is outstanding.
    [[nodiscard]] ExecutionReport run();

    /// The parts of `run`, for one of several executors on one network (network/shared_backend.hpp). `begin`
    /// starts what does not wait and returns; `end` makes the report once nothing of this one is outstanding,
    /// or nothing can happen any more. Each once.
    void begin();
    [[nodiscard]] ExecutionReport end();

    /// Interrupts: `run` returns before simulated time moves on. Callable from an observer or a notification.
    void stop();

    /// `observer` outlives the run, and is told from its beginning on. Operations of the program must be in
    /// the order of their iterations.
    void observe_iterations(IterationObserver& observer);
    /// While the observer is told `at_rest`: a hash of all that decides what happens next on the ranks, times
    /// relative to now and iterations to the first that has not finished. It includes what is known of
    /// operations that have begun. Nothing where the executor cannot tell (steady_state.hpp).
    [[nodiscard]] std::optional<StateAtRest> state_at_rest() const;
    [[nodiscard]] AccountsSoFar so_far() const;
    /// The number of iterations of which some rank has begun an operation or waits for one to become ready.
    [[nodiscard]] int begun_iterations() const;
    /// While the observer is told something: the run ends before the first operation of `iteration`, which is
    /// begun_iterations() or later. The report is that of a shorter program, with empty records of what did
    /// not run. Once.
    void end_before(int iteration);
    /// Whether end_before was called: total_operations() are fewer than those of the program then.
    [[nodiscard]] bool ends_early() const;

    /// (operation, rank, time); a collective finishes on each of its ranks, at times of their own. A folded
    /// run notifies of representatives only.
    Signal<OperationId, RankId, Time> operation_issued;
    Signal<OperationId, RankId, Time> operation_finished;
    /// Every few thousand messages delivered, for observers of a long run.
    Signal<> progressed;

    /// (operations × ranks) finished so far, and in all: for progress.
    [[nodiscard]] std::uint64_t finished_operations() const;
    [[nodiscard]] std::uint64_t total_operations() const;
    /// Messages of collectives delivered so far, over all ranks.
    [[nodiscard]] std::uint64_t delivered_messages() const;
    /// Over all ranks, between two notifications. O(simulated ranks · (streams + iterations)).
    [[nodiscard]] RankActivity activity() const;

private:
    class Implementation;  // src/executor/
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace astrolabe::system
