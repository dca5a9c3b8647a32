#include <astrolabe/network/analysis/link_utilization.hpp>

namespace astrolabe::network {

double utilization(Bandwidth rate, Bytes carried, Time elapsed) {
    return elapsed <= Time(0)
               ? 0.0
               : static_cast<double>(carried.count()) / (to_bytes_per_second(rate) * to_seconds(elapsed));
}

LinkUtilization link_utilization(const Fabric& fabric, const NetworkStatistics& statistics, Time elapsed) {
    LinkUtilization summary;
    if (elapsed <= Time(0) || fabric.link_count() == 0) {
        return summary;
    }
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const LinkId link(i);
        const double used = utilization(fabric.link(link).rate, statistics.links[link].carried, elapsed);
        if (!summary.busiest || used > summary.max) {
            summary.max = used;
            summary.busiest = link;
        }
        summary.mean += used;
    }
    summary.mean /= static_cast<double>(fabric.link_count());
    return summary;
}

}  // namespace astrolabe::network
