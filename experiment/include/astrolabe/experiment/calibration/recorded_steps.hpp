/// What recorded steps of training say of a machine: the host's time by phase, kernels, collectives.
///
/// A step is an annotation `ProfilerStep#k`; phases are the annotations that TorchRec's pipelines write
/// inside it (`## forward ##`, …). A phase's host time is its duration less what was spent in calls that wait
/// for the device (`cuda…Synchronize`) and in copies (`cudaMemcpy…`, which wait where the memory is not
/// pinned).
///
/// A kernel belongs to the step in which it was launched. Kernels whose launch is not in the trace were
/// launched before it began; they are counted apart, and no time is taken from them.
///
/// A collective is a kernel of NCCL, in the order of its stream; of all ranks the k-th of a step is one
/// collective. Kernels of NCCL wait on the device for each other, so a rank's own duration is mostly waiting.
/// What a collective takes is counted from the start of the last of the ranks that are given:
///
///     pure time = end on a rank - last start on any rank
///
/// which needs clocks that agree: within one host they do; where ends of one collective lie further apart
/// than `kClockAgreement`, its time is not used. With some ranks missing it is an upper bound. A collective
/// whose starts lie further apart than `kStragglers` waits for ranks that came late, as after the profiler's
/// start: it is named, and no time of it is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/calibration/kineto_trace.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/device/host_costs.hpp>

namespace astrolabe::experiment {

inline constexpr Nanoseconds kClockAgreement = 50'000;
inline constexpr Nanoseconds kStragglers = 1'000'000;

enum class StepPhase : std::uint8_t {
    kZeroGradient,
    kNextBatch,
    kWaitForBatch,
    kForward,
    kSparseDataDist,
    kBackward,
    kOptimizer
};
inline constexpr std::size_t kStepPhases = 7;
[[nodiscard]] std::string_view to_string(StepPhase phase);  ///< "zero_grad", "next batch", …

struct PhaseRecord {
    bool is_there = false;
    Nanoseconds host = 0;      ///< without what it spent waiting for the device
    Nanoseconds blocked = 0;   ///< synchronisation and copies
    std::size_t launches = 0;  ///< of kernels, those of collectives included
    std::size_t collectives = 0;
    Nanoseconds collective_calls = 0;  ///< what the host took to issue them
};

struct CollectiveRecord {
    system::CollectiveKind kind{};
    std::string protocol;  ///< of the kernel's name: "RING_LL"
    std::optional<Bytes> sent{};
    std::optional<Bytes> received{};
    Nanoseconds start = 0;  ///< of the trace's clock
    Nanoseconds end = 0;
    Nanoseconds call = 0;  ///< what the host took to issue it
};

/// The kernels from the first of a backward pass over tables to its update.
struct TableUpdateRecord {
    std::string optimizer;  ///< "adagrad"; "dense" for tables whose gradient is written out
    Nanoseconds time = 0;
    Nanoseconds sort = 0;  ///< part of it
};

struct StepRecord {
    std::size_t rank = 0;
    std::string name;       ///< "ProfilerStep#10"
    Nanoseconds start = 0;  ///< of the trace's clock
    Nanoseconds duration = 0;
    std::array<PhaseRecord, kStepPhases> phases{};
    std::size_t kernels = 0;
    Nanoseconds compute = 0;  ///< of kernels that are no collectives
    std::vector<CollectiveRecord> collectives;
    Nanoseconds lookup_forward = 0;
    std::vector<TableUpdateRecord> updates;
    // Calls by themselves: the mean, of those that may wait the median.
    Nanoseconds launch = 0;
    Nanoseconds stream_wait = 0;  ///< to have a stream wait for an event
    Nanoseconds copy = 0;
    Nanoseconds synchronise = 0;

    [[nodiscard]] const PhaseRecord& phase(StepPhase which) const {
        return phases[static_cast<std::size_t>(which)];
    }
    /// Of all phases.
    [[nodiscard]] Nanoseconds host() const;
};

struct TraceRecord {
    std::string file;
    std::string fingerprint;
    std::string device;
    std::size_t rank = 0;
    std::vector<StepRecord> steps;           ///< that are whole
    std::size_t kernels_of_step_before = 0;  ///< without a launch in the trace
    Nanoseconds compute_of_step_before = 0;
};

/// Errors: a trace without steps, without a rank, steps that overlap, a kernel of NCCL that is not known.
[[nodiscard]] Result<TraceRecord> record_steps(const KinetoTrace& trace);

/// One collective of all ranks that are given.
struct RecordedCollective {
    system::CollectiveKind kind{};
    std::string protocol;
    std::size_t step = 0;             ///< index
    std::size_t order = 0;            ///< in its step, from 0
    std::optional<Bytes> sent{};      ///< of the rank that has most
    std::optional<Bytes> received{};  ///< likewise
    std::optional<Bytes> least_received{};
    Nanoseconds first_start = 0;  ///< after the first start of the step on any rank
    Nanoseconds last_start = 0;
    Nanoseconds least_pure = 0;  ///< over ranks
    Nanoseconds most_pure = 0;
    bool waits_for_stragglers = false;
    bool clocks_disagree = false;
};

/// What a host spends by these steps, for a device's `host` and `kernel`: means over ranks and steps,
///
///     launch of a phase = (host time - calls of its collectives) / its launches of other kernels
///     iteration         = zero_grad and wait for batch;   batch = next batch
///     blocking_copy     = a copy and the synchronisation behind it, by themselves
///     kernel            = compute time / kernels
///
/// Phases that no trace has are 0. The error of a rank's host time is what a fit to the other ranks gives for
/// it.
struct HostFit {
    workload::HostCosts costs;
    Time kernel{};
    struct Rank {
        std::size_t rank = 0;
        Time measured{};  ///< host time of its mean step
        Time fitted{};    ///< by the costs of the other ranks; of a single rank by its own
    };
    std::vector<Rank> ranks;
};
/// `ranks` has a step.
[[nodiscard]] HostFit fit_host(const std::vector<TraceRecord>& ranks);

/// Errors: a rank twice, steps or collectives that are not the same on all ranks.
[[nodiscard]] Result<std::vector<RecordedCollective>> match_collectives(
    const std::vector<TraceRecord>& ranks);

}  // namespace astrolabe::experiment
