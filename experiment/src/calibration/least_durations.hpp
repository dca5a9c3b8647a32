/// Gives the collectives of a program the times below which a measured machine never ends them
/// (measured_collectives.hpp), as Program's `least_duration`.
#pragma once

#include <astrolabe/experiment/calibration/measured_collectives.hpp>
#include <astrolabe/experiment/calibration/nccl_tuning.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// O(operations · groups · series). A collective of groups that differ in size takes the largest group's; of
/// an uneven all_to_all S is the most that a rank holds.
[[nodiscard]] MeasuredUse set_least_durations(system::Program& program, const MeasuredCollectives& measured);
/// Likewise what NCCL itself expects (nccl_tuning.hpp); nothing is extrapolated, all_to_all is unknown to it.
[[nodiscard]] MeasuredUse set_least_durations(system::Program& program, const NcclTuning& tuning);

}  // namespace astrolabe::experiment
