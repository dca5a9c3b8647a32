/// The objects `collectives` of summary.json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

[[nodiscard]] nlohmann::ordered_json collectives_json(const Experiment& experiment, const Run& run);

}  // namespace astrolabe::experiment
