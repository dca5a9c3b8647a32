/// What is known of a run as a whole, written when it has ended: its iterations, its critical path, its
/// collectives over all ranks with their phases, and the matchings and failures of its rotor switches.
#pragma once

#include "trace_writer.hpp"

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

/// A span for every (dimension, kind) of phases of a collective, from its first start to its last end.
void write_phases(const Experiment& experiment, const Run& run, TraceProcess process, TraceWriter& writer);
[[nodiscard]] std::uint64_t most_bytes_of_phases(const Experiment& experiment, const Run& run);

/// The instants at which parts of a rotor network fail before the run ends.
void write_failures(const network::rotor::RotorNetwork& network, Time end, TraceProcess process,
                    TraceWriter& writer);
[[nodiscard]] std::uint64_t most_bytes_of_failures(const network::rotor::RotorNetwork& network);

/// A thread for every rotor: the matchings it holds and the time in which it is dark, from 0 to the end of
/// the run or of as many whole cycles of the schedule as fit in `bytes`, and no more than are looked through.
struct RotorCoverage {
    std::uint64_t cycles = 0;  ///< of the schedule that the run comes to
    std::uint64_t shown = 0;
};
RotorCoverage write_rotors(const network::rotor::RotorNetwork& network, Time end, std::uint64_t bytes,
                           TraceProcess process, TraceWriter& writer);

}  // namespace astrolabe::experiment
