/// Writes a Program of streams: what a host thread launches, what the streams of its device run, and the
/// collectives of each process group in the order of issue.
///
/// Model. Stream 0 is `compute`, the device's default stream; the others are the host thread and the side
/// streams of the device. A *launch* of k kernels takes the host k gaps of the phase; the device's operation
/// starts after the first gap, when its stream has finished what it was given before, and takes
/// max(work, k · least kernel). What the host launches next comes after the last of the k. So neither the
/// device runs ahead of the host, nor does the host wait for the device, except where it is told to *block*.
///
/// A collective takes the host one call. It starts when the operation that makes its data has finished, when
/// the collective before it on its group's stream has finished, and on all ranks of the group together
/// (CollectiveOperation::begins_together). A stream that *waits* for a collective does not make the host
/// wait.
///
/// Names: host operations are "<operation>.launch", "<collective>.call", "<operation>.block". The host's
/// operations are left out where they take no time and wait for nothing.
///
/// Limits: streams of one device do not slow one another (program.hpp).
#pragma once

#include "../../loops/training_loop.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::workload::torchrec {

/// In the order of Program::streams.
enum class Stream : std::uint8_t { kCompute, kHost, kDataDist, kMemcpy, kPrefetch };
inline constexpr std::size_t kStreams = 5;

enum class Phase : std::uint8_t { kForward, kBackward, kOptimizer, kInput };

/// What an operation is called, and the iteration that it belongs to.
struct Label {
    std::string name;
    std::string layer;
    int iteration = 0;
};

class StreamWriter {
public:
    /// `program` has its ranks, iterations and partitions, and must outlive the writer.
    StreamWriter(system::Program& program, const Device& device);

    /// The host is busy for a while.
    void spend(Time time) { pending_ += time; }
    /// The phase whose gap launches take from here on.
    void enter(Phase phase) { phase_ = phase; }

    /// Launches kernels on a stream of the device, which does `work` after what it waits for.
    system::OperationId launch(Stream stream, const Label& label, std::int64_t kernels,
                               const system::PerRank<Time>& work);
    /// Kernels whose work is counted elsewhere.
    void launch_more(std::int64_t kernels) { pending_ += kernels * gap(); }
    /// A copy to the device, by its copy engine; takes the host no launch.
    system::OperationId copy(const Label& label, Time time);

    /// Issues all stages of a collective, behind what `stream` was given last; the last one's operation.
    system::OperationId issue(Stream stream, const Label& label, const LayerCommunication& communication);

    /// The stream's next operation starts when `operation` has finished.
    void wait(Stream stream, system::OperationId operation);
    /// The same for a collective, which costs the host a call.
    void wait_for_collective(Stream stream, system::OperationId collective);
    /// The host waits until an operation has finished.
    void block(const Label& label, system::OperationId operation);
    /// The host waits for all that `stream` was given, what it waits for included.
    void synchronise(const Label& label, Stream stream);

    /// What a stream was given last.
    [[nodiscard]] std::optional<system::OperationId> last(Stream stream) const {
        return lasts_[static_cast<std::size_t>(stream)];
    }
    /// What a stream still waits for becomes an operation of its own, which takes no time.
    void finish_waits(Stream stream, const Label& label);
    /// What the host has yet to launch takes its time; a last stream that ran nothing goes.
    void finish(const Label& label);

private:
    [[nodiscard]] Time gap() const;
    /// Brings the host to now: its time since its last operation, and `more` of it.
    void advance_host(const Label& label, std::string_view what, Time more,
                      std::vector<system::OperationId> dependencies);
    system::OperationId append(Stream stream, const Label& label, const system::PerRank<Time>& duration,
                               std::vector<system::OperationId> dependencies);

    system::Program& program_;
    const HostCosts costs_;
    const Time kernel_;
    Phase phase_ = Phase::kForward;
    Time pending_;  // of the host, since its last operation
    std::array<std::optional<system::OperationId>, kStreams> lasts_;
    std::array<std::optional<system::OperationId>, kStreams> launched_by_;  // host operation last waited for
    std::array<std::vector<system::OperationId>, kStreams> waits_;
    std::map<system::PartitionId, system::OperationId> groups_;  // last collective of each
};

}  // namespace astrolabe::workload::torchrec
