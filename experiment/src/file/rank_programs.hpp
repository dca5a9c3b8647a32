/// The program of an experiment whose ranks compute differently (rank_compute.hpp).
#pragma once

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// What the job has to say of devices that ranks have for themselves, at their places.
void check_rank_devices(const Experiment& experiment, const ConfigNode& root, ReadContext& context);

/// The job's program with the durations of every rank. Reports devices whose program is another one, and
/// jitter of more durations than a run keeps; precondition: nothing was reported of the job before.
[[nodiscard]] system::Program program_of_ranks(const Experiment& experiment, const ConfigNode& root,
                                               ReadContext& context);

}  // namespace astrolabe::experiment
