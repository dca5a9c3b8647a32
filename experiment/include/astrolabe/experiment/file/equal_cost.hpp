/// Networks that are made to cost as much as another one (network_cost.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// Keys of a network section that belong to no kind.
[[nodiscard]] const std::vector<std::string>& equal_cost_keys();

/// Reads a network section, solved where it says so. `also_known` are keys that somebody else reads.
[[nodiscard]] std::optional<Registry<network::FabricMaker>::Configured> read_network(
    const ConfigNode& node, const Components& components, ReadContext& context,
    std::vector<std::string> also_known = {});

}  // namespace astrolabe::experiment
