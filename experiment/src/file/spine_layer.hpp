/// The switches above the edge of a tree, whose number sets its oversubscription (network_cost.hpp).
#pragma once

#include <cstdint>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/network/components.hpp>

namespace astrolabe::experiment {

/// The switches that edge switches lead up to, whose number is free.
struct UpperTier {
    ConfigNode frame;              ///< of the network, what stays
    const char* key;               ///< of their number: in all, or in a pod
    const char* oversubscription;  ///< key of what follows from it
    std::int64_t cores_each = 0;   ///< that each of them reaches; 0: none
    std::int64_t most = 0;         ///< the fewest that carry all that the hosts of an edge switch can send

    /// The network section with so many.
    [[nodiscard]] ConfigNode with(std::int64_t switches) const;
};

/// Of a leaf_spine or a fat_tree as it was read; `tree` is its section.
[[nodiscard]] UpperTier upper_tier(const Registry<network::FabricMaker>::Configured& given,
                                   const ConfigNode& tree);

}  // namespace astrolabe::experiment
