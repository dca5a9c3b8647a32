/// Runs that are given up as soon as they surely take longer than they may.
///
/// A stream of a rank computes one thing at a time, in program order. With W the computation that a stream
/// has still to begin, where it begins the next at time t, or waits for it at t,
///
///     T >= t + W          T: time of the whole run
///
/// and a run is stopped when that is above its limit for any stream: what is delayed at first ends a run long
/// before its end. This is looked at when a computation begins and, of streams that wait, every few thousand
/// messages. What comes after the last computation (the drain) is not foreseen; a run may be stopped in it,
/// or carried through.
///
/// Cost: O(1) a computation, O(ranks · streams) every few thousand messages.
#pragma once

#include <variant>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

/// The run, as run_experiment gives it; or, where it was given up, a time above `most` that it surely takes.
/// What takes no more than `most` is never given up, and what takes more may not be; `stops_in_drain`: also
/// when nothing but the drain is left.
[[nodiscard]] std::variant<Run, Time> run_within(const Experiment& experiment, Time most,
                                                 bool stops_in_drain = false);

}  // namespace astrolabe::experiment
