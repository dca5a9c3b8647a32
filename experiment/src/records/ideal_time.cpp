#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include <astrolabe/experiment/records/ideal_time.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {
namespace {

/// Rates over shares that differ by less are the same: shares add up to 1 but for the rounding of doubles.
constexpr double kSameRate = 0x1p-50;

Bandwidth rate_over_share(Bandwidth rate, double share) {
    const double most = std::min(static_cast<double>(rate.count()) / share, 0x1p62);
    const double whole = std::round(most);
    return Bandwidth(static_cast<std::int64_t>(most - whole <= most * kSameRate ? whole : std::ceil(most)));
}

/// ⌈8·S / r⌉, or ⌊8·S / r⌋ where that is at most a quarter of a picosecond less than the quotient.
Time least_time(Bytes size, Bandwidth rate) {
    const Time up = size / rate;
    if (up == Time(0) || up == Time::max()) {
        return up;
    }
    const auto below = static_cast<detail::Int128>(up.count() - 1) * rate.count();
    const detail::Int128 above =
        static_cast<detail::Int128>(size.count()) * 8 * kPicosecondsPerSecond - below;
    return 4 * above <= rate.count() ? up - Time(1) : up;
}

/// Whether every packet, or message, goes by one of several paths, which may be the shortest of them: a route
/// has the latency of the longest.
bool draws_paths(const network::Fabric& fabric, const network::BackendMaker& backend) {
    return backend.packet_payload > Bytes(0) &&
           fabric.routing().load_balancing() == network::LoadBalancing::kPaths;
}

}  // namespace

IdealTimes::IdealTimes(std::shared_ptr<const network::Fabric> fabric, const network::BackendMaker& backend)
    : fabric_(std::move(fabric)),
      follows_routes_(fabric_->is_static() && backend.follows_routes(*fabric_) &&
                      !draws_paths(*fabric_, backend)),
      has_latency_(backend.transport.has_latency),
      latencies_(fabric_->host_count()) {}

const std::vector<Time>& IdealTimes::least_latencies(network::HostId source) {
    std::vector<Time>& least = latencies_[source.index()];
    if (!least.empty()) {
        return least;
    }
    least.resize(fabric_->node_count(), Time::max());
    using Reached = std::pair<Time, std::uint32_t>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> reached;
    const network::NodeId begin = fabric_->node_of(source);
    least[begin.index()] = Time(0);
    reached.emplace(Time(0), begin.index());
    while (!reached.empty()) {
        const auto [time, index] = reached.top();
        reached.pop();
        const network::NodeId at(index);
        if (time > least[index]) {
            continue;
        }
        for (std::size_t i = 0; i < fabric_->out_degree(at); ++i) {
            const network::LinkId link(fabric_->first_link(at).index() + i);
            const Time then = saturating_sum(time, network::hop_latency(*fabric_, link, at == begin));
            Time& known = least[fabric_->target(link).index()];
            if (then < known) {
                known = then;
                reached.emplace(then, fabric_->target(link).index());
            }
        }
    }
    return least;
}

IdealTimes::Path IdealTimes::path(network::HostId source, network::HostId destination) {
    const Bandwidth ports = std::min(fabric_->egress_rate(source), fabric_->ingress_rate(destination));
    if (fabric_->demand_aware_circuits() != nullptr) {
        return {Time(0), ports};  // any pair may get a circuit
    }
    if (!follows_routes_) {
        const Time latency = least_latencies(source)[fabric_->node_of(destination).index()];
        return {latency == Time::max() ? Time(0) : latency, ports};
    }
    const network::Route route = fabric_->routing().route(source, destination);
    Path path{route.latency,
              route.legs.empty() ? ports : Bandwidth(std::numeric_limits<std::int64_t>::max())};
    for (const network::RouteLeg& leg : route.legs) {
        path.rate = std::min(path.rate, rate_over_share(fabric_->link(leg.link).rate, leg.share));
    }
    return path;
}

Time IdealTimes::of(network::HostId source, network::HostId destination, Bytes size) {
    std::uint32_t pair = pairs_.find(source, destination);
    if (pair == network::PairIndex::kNone) {
        pair = static_cast<std::uint32_t>(paths_.size());
        paths_.push_back(path(source, destination));
        pairs_.insert(source, destination, pair);
    }
    const Path& path = paths_[pair];
    return (has_latency_ ? path.latency : Time(0)) + least_time(size, path.rate);
}

}  // namespace astrolabe::experiment
