/// What the parts of an experiment have to fit in with each other: checked when they meet, each error at its
/// key.
#pragma once

#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// Gives operations the traffic classes that rules say; a rule that no collective needs is an error.
void apply_operation_rules(Experiment& experiment, const std::vector<OperationRule>& rules,
                           const ConfigNode& root, ReadContext& context);
/// Every collective of the program must be one its algorithm can do over the shapes of the groups it spans.
void check_algorithms(const Experiment& experiment, const ConfigNode& root, ReadContext& context);
/// Listed hosts that the fabric does not have, and placements on a network that is built around the ranks.
void check_placement(const Experiment& experiment, const PlacementKeys& keys, bool network_needs_job,
                     const ConfigNode& root, ReadContext& context);
/// The backend must have an engine for the fabric.
void check_backend(const Experiment& experiment, const ConfigNode& root, ReadContext& context);
/// A class that no engine looks at would change nothing, silently.
void check_traffic_class(const Experiment& experiment, std::uint32_t traffic_class, const ConfigNode& given,
                         ReadContext& context);
/// The latency of no path may be more than time can count. O(nodes + links).
void check_latencies(const Experiment& experiment, const ConfigNode& root, ReadContext& context);
/// What else only shows once the fabric is there.
void check_fabric(const Experiment& experiment, const ConfigNode& root, ReadContext& context);

}  // namespace astrolabe::experiment
