#include <algorithm>
#include <cmath>

#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/analysis/route_report.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

namespace {

/// Adds up what is given to it.
class Loads {
public:
    explicit Loads(const Fabric& fabric)
        : fabric_(fabric),
          sprays_(fabric.routing().load_balancing() == LoadBalancing::kSpray),
          sprayed_(fabric, LoadBalancing::kSpray),
          loads_(fabric.link_count(), 0) {}

    void add(HostId source, HostId destination, double bytes) {
        if (sprays_) {
            bytes_ += bytes;
            sprayed_.add(source, destination, bytes);
            const std::size_t hops = distance(source, destination);
            count_hops(static_cast<double>(hops), hops);
            return;
        }
        const Route route = fabric_.routing().route(source, destination);
        if (route.legs.empty()) {
            ++without_route_;
            return;
        }
        bytes_ += bytes;
        double hops = 0;
        for (const RouteLeg& leg : route.legs) {
            loads_[leg.link] += leg.share * bytes;
            hops += leg.share;
        }
        count_hops(hops, route.hops);
    }

    [[nodiscard]] RouteReport report() const {
        return sprays_ ? report_loads(sprayed_.links()) : report_loads(loads_);
    }

private:
    [[nodiscard]] RouteReport report_loads(const IndexedVector<LinkId, double>& loads) const;

    void count_hops(double mean, std::size_t most) {
        ++pairs_;
        hops_ += mean;
        longest_ = std::max(longest_, most);
    }
    /// Links of a shortest path.
    [[nodiscard]] std::size_t distance(HostId source, HostId destination) const {
        std::size_t links = 0;
        for (NodeId at(source.index()); at != NodeId(destination.index()); ++links) {
            at = fabric_.target(fabric_.routing().next_links(at, destination).front());
        }
        return links;
    }

    const Fabric& fabric_;
    bool sprays_;
    RouteLoad sprayed_;
    IndexedVector<LinkId, double> loads_;
    double bytes_ = 0;
    double hops_ = 0;  // sum over pairs
    std::size_t pairs_ = 0;
    std::size_t without_route_ = 0;
    std::size_t longest_ = 0;
};

RouteReport Loads::report_loads(const IndexedVector<LinkId, double>& loads) const {
    RouteReport report;
    report.bytes = bytes_;
    report.mean_hops = pairs_ > 0 ? hops_ / static_cast<double>(pairs_) : 0;
    report.longest = longest_;
    report.pairs_without_route = without_route_;
    double sum = 0;
    double slowest = 0;  // seconds times 8
    for (std::size_t i = 0; i < loads.size(); ++i) {
        const LinkId link(i);
        sum += loads[link];
        const double time = loads[link] / static_cast<double>(fabric_.link(link).rate.count());
        if (time > slowest) {
            slowest = time;
            report.busiest = link;
            report.busiest_load = loads[link];
        }
    }
    if (bytes_ > 0) {
        report.tax = sum / bytes_;
        report.mean_load = sum / static_cast<double>(loads.size());
        const double picoseconds = std::ceil(slowest * 8.0 * static_cast<double>(kPicosecondsPerSecond));
        report.least_time = picoseconds < static_cast<double>(Time::max().count())
                                ? Time(static_cast<std::int64_t>(picoseconds))
                                : Time::max();
    }
    return report;
}

}  // namespace

RouteReport report_routes(const Fabric& fabric, const std::vector<PairTraffic>& demand) {
    Loads loads(fabric);
    for (const PairTraffic& pair : demand) {
        loads.add(pair.source, pair.destination, pair.bytes);
    }
    return loads.report();
}

RouteReport report_uniform_routes(const Fabric& fabric, double bytes_per_pair) {
    Loads loads(fabric);
    for (std::size_t source = 0; source < fabric.host_count(); ++source) {
        for (std::size_t destination = 0; destination < fabric.host_count(); ++destination) {
            if (source != destination) {
                loads.add(HostId(source), HostId(destination), bytes_per_pair);
            }
        }
    }
    return loads.report();
}

}  // namespace astrolabe::network
