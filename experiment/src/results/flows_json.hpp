// Flows in summary.json.
#pragma once

#include <nlohmann/json.hpp>

#include <astrolabe/experiment/records/flow_statistics.hpp>

namespace astrolabe::experiment {

[[nodiscard]] nlohmann::ordered_json flows_json(const FlowResults& results);

}  // namespace astrolabe::experiment
