// Flows of an experiment: those that are its workload, and those beside it.
#pragma once

#include <optional>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/workload/flows/flows.hpp>

namespace astrolabe::experiment {

[[nodiscard]] Schema<workload::FlowKeys> background_schema();

/// Makes the flows of the experiment, whose fabric is known; reports what is wrong with them.
void take_flows(Experiment& experiment, const std::optional<workload::FlowKeys>& background,
                const ConfigNode& root, ReadContext& context);

}  // namespace astrolabe::experiment
