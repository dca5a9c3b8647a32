#include <algorithm>

#include <astrolabe/network/link_utilization.hpp>

namespace astrolabe::network {

LinkUtilization link_utilization(const Fabric& fabric, const NetworkStatistics& statistics, Time elapsed) {
    LinkUtilization utilization;
    if (elapsed <= Time(0) || fabric.link_count() == 0) {
        return utilization;
    }
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const LinkId link(i);
        const double capacity = to_bytes_per_second(fabric.link(link).rate) * to_seconds(elapsed);
        const double used = static_cast<double>(statistics.links[link].carried.count()) / capacity;
        utilization.max = std::max(utilization.max, used);
        utilization.mean += used;
    }
    utilization.mean /= static_cast<double>(fabric.link_count());
    return utilization;
}

}  // namespace astrolabe::network
