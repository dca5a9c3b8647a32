/// The Program: the operations of one training run, which the workload layer gives to the system layer.
///
/// A DAG of operations in one list for all ranks. Every operation has *participants*:
///     computation                      the ranks of its set; none given: all ranks
///     collective                       the ranks of its partition's groups
///     one-sided point_to_point         the first rank of each pair, which sends
///     receive                          the second rank of each pair of its send
/// The program of a rank are the operations it takes part in, in the order of the list. Where all ranks take
/// part in all operations the program is *SPMD*, one program for any number of ranks: what differs between
/// them is then data inside an operation (`PerRank`), never another copy of it.
///
/// An operation waits on a rank for those of its dependencies in which the rank takes part; what one rank
/// does never waits for another but through a collective, or a receive for its send. So of an operation and
/// its dependency at least one rank takes part in both.
///
/// Meaning, per rank:
///   - A *compute* operation occupies one *stream* of the rank, in the program's ComputeOrder. Streams are
///     engines of their own (the kernels of a GPU, a side stream of it, its copy engine, the host thread that
///     launches them): each runs one operation at a time, and none slows another down. Stream 0 is the one
///     whose end is the end of an iteration and whose waits are the rank's exposed time; a program names more
///     streams only where it needs them.
///     kProgram: the compute operations of a stream run in program order; one starts when the one before it
///     on its stream has finished and all its dependencies, of whatever stream, have finished. The time in
///     between is exposed: it is attributed to the dependencies in the order they are listed, each from the
///     end of the one before it.
///     kFirstCome, of programs with one stream: an operation is ready when all its dependencies have
///     finished, and nothing else keeps two operations in order. A free engine takes the operation that
///     became ready first, of several at one instant the first in program order that has been notified; while
///     none is ready it waits, and that time is exposed of the dependency that finished last before the next
///     operation starts.
///     A compute operation of zero duration is a pure wait.
///     Where it has a `contended` duration d', it progresses at the speed d/d' while collectives are in
///     flight on its rank (executor.hpp, "Contention"), and the time that this adds is accounted as slowed.
///   - A *collective* is issued as soon as all its dependencies have finished, in program order where several
///     become ready at once, and never blocks the rank by itself. It finishes on a rank `completion_delay`
///     after the rank's last chunk is done and its `least_duration`, if it has one, is over.
///     A collective occupies no stream. A communication stream that carries out collectives in their order of
///     issue is a dependency of each on the one before it.
///   - A *one-sided* point_to_point is finished on its sender when the message has been handed over, whether
///     the receiver is ready or not. Its *receive* is finished on the receiver when all dependencies of the
///     receive have finished and the message has come; it occupies no stream either. The order of sends and
///     that of their receives may differ. (A point_to_point that is not one-sided is one operation of both
///     ranks and begins in the order agreed between them, executor.hpp.)
///   - An iteration ends on a rank when the last compute operation of stream 0 of that iteration to finish
///     there does; where stream 0 has none, the last of any stream. After the last of all a stream drains (of
///     stream 0 the final communication tail of the rank): it waits for whatever is still in flight.
///
/// Dependencies, and the send of a receive, name earlier operations only, so the program order is a
/// topological order of every rank's operations at once. Why such a program always ends is said in
/// executor.hpp, "Ranks that differ".
///
/// Accounting identity (docs/theory/training-loops.md, "Accounting identity"), asserted at the end of every
/// run, per rank and stream:
///     total = Σ compute + Σ slowed + Σ exposed waits by cause + drain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/ids.hpp>

namespace astrolabe::system {

/// What a collective does; size S is, per rank, the bytes held before (all_reduce, reduce_scatter,
/// all_to_all, reduce), the bytes contributed (all_gather: the result is N·S), or the bytes the first rank of
/// the group sends (broadcast to all others; point_to_point, in groups of two, to the second). The first rank
/// of the group is the root of a broadcast and of a reduce.
enum class CollectiveKind : std::uint8_t {
    kAllReduce,
    kReduceScatter,
    kAllGather,
    kAllToAll,
    kBroadcast,
    kReduce,
    kPointToPoint
};
inline constexpr std::size_t kCollectiveKinds = 7;
[[nodiscard]] std::string_view to_string(CollectiveKind kind);  ///< "all_reduce", …
/// Whether one rank of the group is special: the root, or the sender.
[[nodiscard]] constexpr bool has_root(CollectiveKind kind) {
    return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce ||
           kind == CollectiveKind::kPointToPoint;
}

/// Order among collectives that wait to start (docs/theory/collectives-and-costs.md, "Start order and
/// window").
enum class Priority : std::uint8_t {
    kDefault,   ///< the cluster's `scheduling`
    kFifo,      ///< behind everything issued before
    kLifo,      ///< ahead of everything issued before
    kExplicit,  ///< by the operation's `explicit_priority`, on the scale on which LIFO counts 1, 2, … and
                ///< FIFO -1, -2, …
    kHighest    ///< ahead of all that are not kHighest
};

/// Bytes that each position of a group has for each position of it: the sizes of an uneven all_to_all
/// ("all-to-all-v"). What a position has for itself is counted but never sent.
class PairSizes {
public:
    /// `from[s]` bytes for every one of the group, itself included.
    [[nodiscard]] static PairSizes by_source(std::vector<Bytes> from);
    /// `to[d]` bytes from every one of the group, itself included.
    [[nodiscard]] static PairSizes by_destination(std::vector<Bytes> to);
    /// `bytes[s·N + d]` from position s for position d.
    [[nodiscard]] static PairSizes of_pairs(std::size_t positions, std::vector<Bytes> bytes);

    [[nodiscard]] std::size_t positions() const { return positions_; }
    [[nodiscard]] Bytes operator()(std::size_t source, std::size_t destination) const {
        return bytes_[source * source_stride_ + destination * destination_stride_];
    }
    /// Whether a source has the same for all, and whether a destination gets the same from all.
    [[nodiscard]] bool is_by_source() const { return destination_stride_ == 0; }
    [[nodiscard]] bool is_by_destination() const { return source_stride_ == 0; }
    [[nodiscard]] Bytes held(std::size_t source) const;           ///< for all, itself included
    [[nodiscard]] Bytes received(std::size_t destination) const;  ///< from all, itself included
    [[nodiscard]] Bytes largest_held() const;
    [[nodiscard]] Bytes crossing() const;  ///< all that must be sent: without the diagonal

private:
    PairSizes(std::size_t positions, std::size_t source_stride, std::size_t destination_stride,
              std::vector<Bytes> bytes);

    std::size_t positions_;
    std::size_t source_stride_;
    std::size_t destination_stride_;
    std::vector<Bytes> bytes_;
};

/// One value for all ranks, or one each.
template <class T>
class PerRank {
public:
    PerRank() = default;
    PerRank(T same)  // NOLINT(google-explicit-constructor): the common case reads as the value itself
        : same_(std::move(same)) {}
    explicit PerRank(std::vector<T> each)
        : each_(std::move(each)) {}

    [[nodiscard]] const T& operator[](RankId rank) const {
        return each_.empty() ? same_ : each_[rank.index()];
    }
    [[nodiscard]] bool uniform() const { return each_.empty(); }
    /// Number of values where they differ by rank, else 0.
    [[nodiscard]] std::size_t size() const { return each_.size(); }

private:
    T same_{};
    std::vector<T> each_;
};

/// Disjoint groups of ranks, which need not hold all of them. Order inside a group is the order of the
/// algorithm's positions (ring neighbours and so on).
struct Partition {
    std::string name;  ///< "world"
    std::vector<std::vector<RankId>> groups;

    [[nodiscard]] static Partition world(std::size_t ranks);
};

struct ComputeOperation {
    PerRank<Time> duration{};
    std::uint32_t stream = 0;          ///< into Program::streams
    std::optional<RankSetId> ranks{};  ///< that compute; unset: all
    /// What it takes if collectives are in flight on its rank all the while, at least its duration; unset: as
    /// long as without them.
    std::optional<PerRank<Time>> contended{};
};

class CollectiveAlgorithm;

/// How an operation is carried out.
struct CollectiveMethod {
    std::shared_ptr<const CollectiveAlgorithm> algorithm;  ///< not null
    std::uint32_t chunks = 1;                              ///< > 0
    std::string name{};                                    ///< of the algorithm, in reports
};

struct CollectiveOperation {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    PartitionId partition{};  ///< every group of it runs its own instance
    Bytes size{};             ///< S, per rank; of an uneven all_to_all the maximum that a rank holds
    Priority priority = Priority::kDefault;
    std::int64_t explicit_priority = 0;  ///< kExplicit only; larger starts first
    Time completion_delay{};             ///< local update after the collective, before it counts as finished
    /// What it takes at least, from the last issue in its group to the end on any rank, whatever the network;
    /// above zero no rank begins it before all have issued it, as the kernels of a GPU library.
    Time least_duration{};
    /// No rank begins it before all have issued it, whatever its least duration: what meets on the devices of
    /// a group, as such kernels do.
    bool begins_together = false;
    /// Of a point_to_point between pairs: only the first of a pair takes part, the second in the
    /// ReceiveOperation that names this one.
    bool is_one_sided = false;
    /// By group of the partition: sizes of an uneven all_to_all. Empty where all pairs have the same.
    /// Operations that move the same share the same.
    std::shared_ptr<const std::vector<PairSizes>> pair_sizes{};
    /// 0 to 7, of its messages in the network; unset: that of the cluster for the kind.
    std::optional<std::uint8_t> traffic_class{};
    /// Unset: as the options say for the kind. Operations that are carried out alike share the same.
    std::shared_ptr<const CollectiveMethod> method{};

    [[nodiscard]] bool is_uneven() const { return pair_sizes != nullptr; }
    /// Whether a group of `ranks` completes it as soon as it is issued.
    [[nodiscard]] bool moves_nothing(std::size_t ranks) const { return ranks < 2 || size == Bytes(0); }
};

/// What the second rank of each pair of a one-sided point_to_point does.
struct ReceiveOperation {
    OperationId send;
};

struct Operation {
    std::string
        name;  ///< unique within an iteration: "Top_0.weight_gradient", "Embedding.forward.all_to_all"
    std::string layer;  ///< "Top_0"; collects operations in reports
    int iteration = 0;
    std::variant<ComputeOperation, CollectiveOperation, ReceiveOperation> work;
    std::vector<OperationId> dependencies{};

    [[nodiscard]] bool is_compute() const { return std::holds_alternative<ComputeOperation>(work); }
    /// One-sided ones included, but not their receives.
    [[nodiscard]] bool is_collective() const { return std::holds_alternative<CollectiveOperation>(work); }
    [[nodiscard]] bool is_receive() const { return std::holds_alternative<ReceiveOperation>(work); }
    [[nodiscard]] const ComputeOperation& compute() const { return std::get<ComputeOperation>(work); }
    [[nodiscard]] const CollectiveOperation& collective() const {
        return std::get<CollectiveOperation>(work);
    }
    [[nodiscard]] const ReceiveOperation& receive() const { return std::get<ReceiveOperation>(work); }
};

enum class ComputeOrder : std::uint8_t { kProgram, kFirstCome };

struct Program {
    std::size_t ranks = 0;
    int iterations = 0;
    ComputeOrder compute_order = ComputeOrder::kProgram;
    /// Names of the streams of a rank, different from one another; the first is stream 0.
    std::vector<std::string> streams{"compute"};
    IndexedVector<OperationId, Operation> operations;  ///< in program order
    IndexedVector<PartitionId, Partition> partitions;
    /// Ascending, each rank once, none of them empty.
    IndexedVector<RankSetId, std::vector<RankId>> rank_sets{};

    /// Throws std::logic_error where the contract above is broken (a workload's defect, never its user's).
    void check() const;
};

}  // namespace astrolabe::system
