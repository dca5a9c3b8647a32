/// Kineto's timeline of one rank as tasks: its host threads, the streams of its device, and its collectives.
///
/// Host. A thread computes all the time from its first call to its last, but where it waits:
///     launches cut its time in pieces, each a computation that ends with the call that launches
///     a synchronisation, or a copy that is over before its call returns, waits for the device: what remains
///     of the call after what it waited for had ended is a computation
///     a burst of another thread (calls with less than 1 ms between them) inside a stretch in which the main
///     thread calls nothing was handed over by it: the burst begins after the stretch's beginning, and the
///     main thread goes on after the burst. A burst elsewhere begins after what the main thread did last.
/// The main thread is that of the `ProfilerStep#n` marks, else the one with most calls.
///
/// Device. A kernel, copy or fill takes its recorded time, after its launch and what its stream ran before.
/// The stream with most kernels is stream 0.
///
/// Collectives stand where their NCCL kernels are launched (a call without a kernel: where it ends), without
/// the kernels' durations, which include waiting for other ranks. A collective begins after its launch, the
/// collective before it on its stream, and what the stream of its caller was given, on all ranks together;
/// that is what c10d asks of CUDA. The caller's stream is that of the thread's last launch, and of a wait
/// that of its next within 1 ms.
///
/// Waits of a stream. A wait of c10d makes the caller's stream wait for the collective of its sequence
/// number, or, in a trace without numbers, for the first of the thread that nothing waited for. A
/// cudaStreamWaitEvent is honoured where the profiler says its event. Where it does not, and the thread has a
/// collective that no wait of c10d is for, it is for the first of these, as after the backward pass of
/// DistributedDataParallel, unless what follows on its stream began before that collective had ended. All
/// others are counted in a note.
///
/// Steps. What the threads called from the start of `ProfilerStep#n` to its end is one iteration.
#pragma once

#include "call_book.hpp"
#include "kineto_timeline.hpp"
#include "timeline_steps.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace astrolabe::workload::pytorch {

struct TimelineTasks {
    RankGraph graph;
    std::vector<std::string> notes;
};

/// The tasks of the next rank of `graphs`; streams, groups and names are added to them.
[[nodiscard]] TimelineTasks timeline_tasks(const KinetoTimeline& timeline,
                                           const std::vector<TimelineStep>& steps, const GroupNames& names,
                                           bool is_lenient, CallBook& book, RankGraphs& graphs,
                                           Diagnostics& errors);

}  // namespace astrolabe::workload::pytorch
