/// The steps of a Kineto timeline, and its join with the execution trace of the same rank.
#pragma once

#include "call_book.hpp"
#include "kineto_timeline.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::workload::pytorch {

/// Names of events: a step of the profiler, followed by its number, and a call of c10d.
inline constexpr std::string_view kStepMark = "ProfilerStep#";
inline constexpr std::string_view kCommEvent = "record_param_comms";

struct TimelineStep {
    std::int64_t number = -1;  ///< of ProfilerStep#number; -1: the trace has none
    Nanoseconds start = 0;
    Nanoseconds end = 0;
};

/// Steps by time; one of the whole trace where it marks none.
[[nodiscard]] std::vector<TimelineStep> steps_of(const KinetoTimeline& timeline);

/// Calls of `trace`, which may be null, for events of the timeline: by "Record function id", else in order.
/// Puts them into the timeline; false with an error where they do not fit.
[[nodiscard]] bool join_calls(KinetoTimeline& timeline, const ExecutionTrace* trace, Diagnostics& errors);

}  // namespace astrolabe::workload::pytorch
