/// One rank's trace as PyTorch's profiler (Kineto) writes it: JSON of Chrome's trace-event format, gzipped or
/// not.
///
/// Read are complete events (`ph: X`) of these categories, all others are passed over:
///
///     kernel, gpu_memcpy, gpu_memset   what ran on the device: name, ts, dur, args.stream, args.correlation
///     cuda_runtime, cuda_driver        calls of the host: name, ts, dur, tid, args.correlation
///     user_annotation                  what the program named: phases of a step, steps, `nccl:` collectives
///     cpu_op                           of names that start with `c10d::`: collectives as they were called
///
/// Sizes are those of tensors: from `Input Dims` and `Input type` of the call (of `c10d::alltoall_base_` the
/// first tensor is received, the second sent), or, in traces of PyTorch 2.2 and later, from the kernel's own
/// `In msg nelems`, `Out msg nelems` and `dtype`.
///
/// `ts` and `dur` are microseconds with up to three decimals, read without rounding. The file is read as a
/// stream; memory is proportional to the events that are kept, about 48 B each. Times are within 126 years of
/// their origin, all durations together at most a day, messages at most 4 TiB, ranks at most 2^20; an event
/// has at most 16 MiB of text, and a trace, unpacked, 2 GB.
///
/// Errors name the file, the line and the column behind the event: no JSON, a trace that ends early, no
/// `traceEvents`, an event that lacks what its category needs, a type of elements that is not known, what is
/// beyond these limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe::experiment {

/// Since an origin of the trace, and between two events: what the profiler records is no finer.
using Nanoseconds = std::int64_t;

/// A day: what all events of a trace that are kept take together, so that sums of them are times.
inline constexpr Nanoseconds kMostTraceTime = 24 * 3600 * Nanoseconds{1'000'000'000};

/// What ran on the device.
struct DeviceEvent {
    std::uint32_t name = 0;  ///< index of `names`
    bool is_kernel = true;   ///< else a copy or a fill
    Nanoseconds start = 0;
    Nanoseconds duration = 0;
    std::int64_t stream = 0;
    std::int64_t correlation = 0;        ///< of the call that launched it
    std::optional<Bytes> sent = {};      ///< of a collective, where its kernel says so
    std::optional<Bytes> received = {};  ///< likewise
};

/// A call of the host.
struct HostCall {
    std::uint32_t name = 0;
    Nanoseconds start = 0;
    Nanoseconds duration = 0;
    std::int64_t thread = 0;
    std::int64_t correlation = 0;
};

/// A named interval of a host thread.
struct HostInterval {
    std::uint32_t name = 0;
    Nanoseconds start = 0;
    Nanoseconds duration = 0;
    std::int64_t thread = 0;
    std::vector<Bytes> tensors = {};  ///< sizes of its first two, as far as they are known
};

struct KinetoTrace {
    std::string file;
    std::optional<std::size_t> rank = {};
    std::optional<std::size_t> ranks = {};
    std::string device;  ///< "Tesla V100-SXM2-32GB"; empty where it is not said
    std::vector<std::string> names;
    std::vector<DeviceEvent> device_events;  ///< by start
    std::vector<HostCall> calls;             ///< by start
    std::vector<HostInterval> annotations;   ///< by start
    std::vector<HostInterval> collectives;   ///< calls of c10d, by start
    std::string fingerprint;                 ///< of the text, unpacked

    [[nodiscard]] const std::string& name_of(std::uint32_t index) const { return names[index]; }
};

[[nodiscard]] Result<KinetoTrace> read_kineto_trace(const std::filesystem::path& path);
/// `name` is that of the file in errors.
[[nodiscard]] Result<KinetoTrace> read_kineto_trace(std::istream& text, const std::string& name);

}  // namespace astrolabe::experiment
