/// Kineto's timeline of one rank (torch.profiler's JSON): what its host threads called and its device ran.
///
/// Read are complete events (`ph: X`) of these categories:
///
///     cpu_op, user_annotation      host calls and the program's marks, nested by time on a thread
///     cuda_runtime, cuda_driver    calls of CUDA: launches, event and synchronisation calls
///     kernel, gpu_memcpy, gpu_memset   what ran on a stream of the device, by correlation of its launch
///     cuda_sync                    which stream and event a wait was for, where the profiler knows
///
/// and of `distributedInfo` rank, world_size and pg_config. Times are nanoseconds: `ts` and `dur` are
/// microseconds with up to three decimals, from an origin of the trace's own; traces with baseTimeNanoseconds
/// have it in nothing but the offset, which does not count here.
///
/// Errors name file, line and event: no JSON, an event without what its category needs, negative durations
/// and sizes, types of elements and collectives that are not known.
#pragma once

#include "comm_call.hpp"
#include "execution_trace.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload::pytorch {

/// Since an origin of the trace.
using Nanoseconds = std::int64_t;

struct HostEvent {
    std::uint32_t name = 0;  ///< into KinetoTimeline::names
    std::int64_t thread = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::int64_t correlation = -1;  ///< of a call of CUDA
    std::uint64_t rf_id = 0;        ///< "Record function id"; 0: not said
    bool is_mark = false;           ///< a user_annotation
    std::int32_t call = -1;         ///< of a record_param_comms: into KinetoTimeline::calls
};

struct DeviceEvent {
    std::uint32_t name = 0;
    std::int64_t stream = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::int64_t correlation = 0;
    bool is_collective = false;  ///< a kernel of NCCL
    std::int32_t call = -1;  ///< what it carries out, where its arguments say so: into KinetoTimeline::calls
};

/// What the profiler knows of a wait that CUDA was asked for.
struct ResolvedSync {
    std::int64_t correlation = 0;  ///< of the call
    std::int64_t stream = -1;      ///< that waits, or of a synchronisation the one that is waited for
    std::int64_t awaited_stream = -1;
    std::int64_t record_correlation = -1;  ///< of the call that recorded the event
};

struct KinetoTimeline {
    std::string file;
    std::optional<std::size_t> rank = {};
    std::int64_t world_size = 0;  ///< 0: not said
    ProcessGroups groups;
    std::vector<std::string> names;
    std::vector<HostEvent> host;      ///< cpu_op and user_annotation, by start, longer first
    std::vector<HostEvent> runtime;   ///< cuda_runtime and cuda_driver, by start
    std::vector<DeviceEvent> device;  ///< by start
    std::vector<ResolvedSync> syncs;
    std::vector<CommCall> calls;
    std::vector<std::string> notes;
};

[[nodiscard]] Result<KinetoTimeline> read_kineto_timeline(const std::filesystem::path& path, bool is_lenient);

}  // namespace astrolabe::workload::pytorch
