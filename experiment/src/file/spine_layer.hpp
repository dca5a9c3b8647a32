/// The layer of switches above the edge of a tree, whose number sets its oversubscription (network_cost.hpp).
#pragma once

#include <cstdint>
#include <string_view>

#include <astrolabe/core/config/config.hpp>

namespace astrolabe::experiment {

/// The spines of a leaf_spine or the aggregation switches of a fat_tree: their number is free.
struct SpineLayer {
    ConfigNode frame;              ///< of the network, what stays
    const char* key;               ///< of their number: in all, or in a pod
    const char* oversubscription;  ///< key of what follows from it
    std::int64_t cores_each = 0;   ///< that each of them reaches; 0: none
    std::int64_t largest =
        0;  ///< the smallest number that carries all that the hosts of an edge switch can send

    /// The network section with so many.
    [[nodiscard]] ConfigNode with(std::int64_t switches) const;
};

/// Of a leaf_spine or a fat_tree, whose section is `tree`, and `resolved` with all its keys.
[[nodiscard]] SpineLayer spine_layer(std::string_view kind, const ConfigNode& resolved,
                                     const ConfigNode& tree);

}  // namespace astrolabe::experiment
