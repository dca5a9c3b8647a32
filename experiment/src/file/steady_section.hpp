/// The checks of the section `steady_state` against the rest of the file.
#pragma once

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/file/steady_state.hpp>

namespace astrolabe::experiment {

/// Reports what does not go together with it; the experiment is complete but for its choices.
void check_steady_state(const Experiment& experiment, const ConfigNode& section, ReadContext& context);

}  // namespace astrolabe::experiment
