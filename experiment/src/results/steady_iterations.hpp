/// Which iterations of a run repeat, and how long one takes then.
///
/// Model. Iterations overlap: weight gradients of one are reduced while the next computes. So the first is
/// unlike the others (nothing is in flight when it starts, and no gradient has to be waited for), and so is
/// the end of the last (its collectives have no computation left to hide behind, which is the drain).
/// With E_i the end of the computation of iteration i on the rank that is latest, and E_0 = 0, the interval
///
///     I_i = E_i - E_(i-1),   i = 1 … n
///
/// leaves out the drain. The steady iterations are the longest stretch of consecutive intervals with
/// max - min <= 2 % of min; of several equally long ones the last. They count if they are at least two and
/// at least a third of all: fewer may be alike by accident. Their mean is the steady time of an iteration.
///
/// Assumptions and limits. What repeats within the run need not repeat for ever: jitter, background traffic
/// and circuits may change it later. Of several jobs nothing is said. Unit: Time (picoseconds), the mean in
/// seconds. Complexity: O(ranks + n log n) for n iterations. Source: the loops of
/// docs/theory/training-loops.md, whose golden schedules have both ends.
#pragma once

#include <cstddef>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

struct SteadyIterations {
    std::vector<Time> intervals;  ///< I_1 … I_n; empty where an iteration has no computation
    std::size_t first = 0;        ///< of the steady ones, from 0
    std::size_t count = 0;        ///< of the steady ones; 0: the run does not show any
    double seconds = 0;           ///< their mean; 0 without
    double spread = 0;            ///< their (max - min) / min
};

/// Precondition: the run is finished.
[[nodiscard]] SteadyIterations steady_iterations(const Run& run);

}  // namespace astrolabe::experiment
