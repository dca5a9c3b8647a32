/// What is known of a run as a whole, written when it has ended: its iterations, its critical path, and its
/// collectives over all ranks with their phases, and what failed.
#pragma once

#include "trace_writer.hpp"

#include <cstddef>
#include <cstdint>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

/// A thread of iterations, one after another.
void write_iterations(const Run& run, TraceThread thread, TraceWriter& writer);
[[nodiscard]] std::uint64_t most_bytes_of_iterations(const Experiment& experiment);

/// A thread of the segments of the critical path, by operation; "resource" is what the time goes to.
void write_critical_path(const Experiment& experiment, const Run& run, TraceThread thread,
                         TraceWriter& writer);
[[nodiscard]] std::uint64_t most_bytes_of_critical_path(const Experiment& experiment, const Run& run);

/// A span for every collective, from its first issue to its last end over all ranks.
void write_collectives(const Experiment& experiment, const Run& run, TraceProcess process,
                       TraceWriter& writer);
[[nodiscard]] std::uint64_t most_bytes_of_collectives(const Experiment& experiment);

/// A span for every failure of the section `failures` that begins before `end`, the first ones where there
/// are more than people look through. Returns how many those are not.
std::size_t write_failures(const Experiment& experiment, Time end, TraceProcess process, TraceWriter& writer);
[[nodiscard]] std::uint64_t most_bytes_of_failures(const Experiment& experiment);

/// A span for every (dimension, kind) of phases of a collective, from its first start to its last end.
void write_phases(const Experiment& experiment, const Run& run, TraceProcess process, TraceWriter& writer);
[[nodiscard]] std::uint64_t most_bytes_of_phases(const Experiment& experiment, const Run& run);

}  // namespace astrolabe::experiment
