/// How much of the links' capacity a run used: carried bytes over rate·elapsed, for every link alike (a
/// circuit counts as existing all the time, so its utilisation shows how long it was dark).
#pragma once

#include <optional>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

/// Of one link; 0 if no time has passed.
[[nodiscard]] double utilization(Bandwidth rate, Bytes carried, Time elapsed);

struct LinkUtilization {
    double max = 0.0;
    double mean = 0.0;              ///< over all links, each with weight 1
    std::optional<LinkId> busiest;  ///< the first that is used as much as any; nothing where no time passed
};

/// Zero if no time has passed.
[[nodiscard]] LinkUtilization link_utilization(const Fabric& fabric, const NetworkStatistics& statistics,
                                               Time elapsed);

}  // namespace astrolabe::network
