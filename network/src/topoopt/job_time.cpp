#include "job_time.hpp"

#include <algorithm>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network::topoopt {

namespace {

/// The busiest link and the longest route of one class.
class ClassTime {
public:
    explicit ClassTime(const Fabric& fabric)
        : fabric_(fabric),
          loads_(fabric.link_count(), 0) {}

    void add(Server source, Server destination, double bytes) {
        const Route route = fabric_.routing().route(HostId(source), HostId(destination));
        for (const RouteLeg& leg : route.legs) {
            loads_[leg.link] += leg.share * bytes;
        }
        latency_ = std::max(latency_, route.latency);
    }

    /// As `add`, on all shortest paths.
    void add_spread(RouteLoad& spread, Server source, Server destination, double bytes) {
        spread.add(HostId(source), HostId(destination), bytes);
        Time latency;
        bool is_first = true;
        for (NodeId at = fabric_.node_of(HostId(source)); at != fabric_.node_of(HostId(destination));) {
            const LinkId link = fabric_.routing().next_links(at, HostId(destination)).front();
            latency = saturating_sum(latency, hop_latency(fabric_, link, is_first));
            is_first = false;
            at = fabric_.target(link);
        }
        latency_ = std::max(latency_, latency);
    }
    void take(const RouteLoad& spread) { loads_ = spread.links(); }

    [[nodiscard]] double seconds(double rounds) const {
        double slowest = 0;
        for (std::size_t i = 0; i < loads_.size(); ++i) {
            slowest =
                std::max(slowest, loads_[LinkId(i)] / to_bytes_per_second(fabric_.link(LinkId(i)).rate));
        }
        return slowest + rounds * to_seconds(latency_);
    }

private:
    const Fabric& fabric_;
    IndexedVector<LinkId, double> loads_;
    Time latency_;
};

/// Steps from a member to the next of every directed ring of its group.
std::vector<std::uint32_t> ring_steps(const Topology& topology, const GroupRings& rings) {
    std::vector<std::uint32_t> steps;
    for (const std::uint32_t stride : rings.strides) {
        steps.push_back(stride);
        if (topology.full_duplex_rings) {
            steps.push_back(topology.servers - stride);
        }
    }
    if (steps.empty()) {
        steps.push_back(topology.servers / rings.members);
    }
    return steps;
}

double all_reduce_seconds(const Fabric& fabric, const Topology& topology, const GroupRings& rings,
                          const Demand& demand) {
    const std::vector<std::uint32_t> steps = ring_steps(topology, rings);
    // Groups of one size differ by their first members; those of the same members come one after another.
    const std::uint32_t spacing = topology.servers / rings.members;
    std::vector<double> bytes(spacing, 0);
    std::vector<double> operations(spacing, 0);
    for (const AllReduceGroup& group : demand.groups) {
        if (group.members.size() == rings.members) {
            bytes[group.members.front()] += static_cast<double>(group.bytes);
            operations[group.members.front()] += static_cast<double>(group.operations);
        }
    }
    const auto members = static_cast<double>(rings.members);
    const double sends = 2 * (members - 1) / members / static_cast<double>(steps.size());
    ClassTime time(fabric);
    for (Server first = 0; first < spacing; ++first) {
        if (bytes[first] == 0) {
            continue;
        }
        for (std::uint32_t member = 0; member < rings.members; ++member) {
            const Server from = first + member * spacing;
            for (const std::uint32_t step : steps) {
                time.add(from, (from + step) % topology.servers, sends * bytes[first]);
            }
        }
    }
    return time.seconds(*std::max_element(operations.begin(), operations.end()) * 2 * (members - 1));
}

double pair_seconds(const Fabric& fabric, const Demand& demand) {
    const PairDemand& pairs = demand.point_to_point;
    std::size_t count = 0;
    for (Server a = 0; a < pairs.servers(); ++a) {
        for (Server b = 0; b < pairs.servers(); ++b) {
            count += pairs.at(a, b) > 0 ? 1 : 0;
        }
    }
    const LoadBalancing balancing = fabric.routing().load_balancing();
    const bool spreads =
        balancing == LoadBalancing::kSpray || (balancing == LoadBalancing::kPaths && count > kMaxRoutedPairs);
    RouteLoad spread(fabric, LoadBalancing::kSpray);
    ClassTime time(fabric);
    for (Server a = 0; a < pairs.servers(); ++a) {
        for (Server b = 0; b < pairs.servers(); ++b) {
            const auto bytes = static_cast<double>(pairs.at(a, b));
            if (bytes > 0 && spreads) {
                time.add_spread(spread, a, b, bytes);
            } else if (bytes > 0) {
                time.add(a, b, bytes);
            }
        }
    }
    if (spreads) {
        time.take(spread);
    }
    return time.seconds(static_cast<double>(demand.exchanges));
}

}  // namespace

JobTime estimate_job_time(const Fabric& fabric, const Topology& topology, const Demand& demand) {
    JobTime time;
    for (const GroupRings& rings : topology.rings) {
        time.all_reduces += all_reduce_seconds(fabric, topology, rings, demand);
    }
    time.point_to_point = pair_seconds(fabric, demand);
    return time;
}

}  // namespace astrolabe::network::topoopt
