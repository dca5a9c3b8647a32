#include "../topologies/demand_aware_circuits.hpp"

#include "demand_aware_planner.hpp"
#include "topology_finder.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace astrolabe::network::detail {

namespace {

void check_without_forwarding(ParameterCheck& check, const DemandAwareNetwork& network) {
    const auto report = [&](const char* key, const char* what) {
        check.report(key, fmt::format("{}, and reconfiguration.forwarding is off", what),
                     "leave it out, or let hosts forward");
    };
    if (network.routing) {
        report("routing", "routing is about ways over other hosts");
    }
    if (network.forwarding > Time(0)) {
        report("forwarding.latency", "hosts take a time to forward");
    }
    const DirectConnectParameters defaults;
    if (network.paths != defaults.paths) {
        report("paths", "paths are over other hosts");
    }
    if (network.detour != defaults.detour) {
        report("detour", "detours are over other hosts");
    }
}

}  // namespace

void check_demand_aware(ParameterCheck& check, const DemandAwareParameters& moves,
                        const DemandAwareNetwork& network) {
    if (network.medium != Medium::kCircuitSwitch) {
        check.report("reconfiguration", "only circuit switches move circuits while a job runs",
                     "give medium: circuit_switch, or leave reconfiguration out");
    }
    if (moves.every < Time(1)) {
        check.report("reconfiguration.every", "the demand is asked for again and again, expected a time",
                     "the published comparator asks every 50 ms");
    }
    if (moves.delay < Time(0) || moves.delay >= moves.every) {
        check.report("reconfiguration.delay",
                     fmt::format("circuits that move are dark for {}, expected less than the {} until they "
                                 "may move again",
                                 to_string(moves.delay), to_string(moves.every)),
                     "give a shorter delay, or a longer every");
    }
    if (!moves.forwarding) {
        check_without_forwarding(check, network);
    } else if (network.routing == DirectRouting::kCoinChange || network.routing == DirectRouting::kBalanced) {
        check.report("routing",
                     "coin change needs the same strides out of every host, and circuits for what waits "
                     "have none",
                     "take routing: k_shortest");
    }
}

void check_free_interfaces(ParameterCheck& check, const DemandAwareParameters& moves, std::int64_t degree,
                           std::int64_t ring) {
    if (moves.forwarding && degree >= 1 && degree <= ring) {
        check.report("reconfiguration",
                     fmt::format("the ring that joins all hosts takes {} of {} interfaces, and none is left "
                                 "to move",
                                 std::min(ring, degree), degree),
                     "give hosts more interfaces, or take forwarding: false");
    }
}

void check_given_circuits(ParameterCheck& check, const DirectConnectParameters& p) {
    if (p.hosts % 2 != 0 || p.hosts > topoopt::kMaxServers) {
        check.report("hosts",
                     fmt::format("{} hosts have circuits that move, expected an even number of at most {}",
                                 p.hosts, topoopt::kMaxServers),
                     "every host needs another one to be joined to");
        return;
    }
    std::vector<std::int64_t> out(static_cast<std::size_t>(p.hosts), 0);
    std::vector<std::int64_t> in(static_cast<std::size_t>(p.hosts), 0);
    for (const auto& [a, b] : direct_cables(p)) {
        for (const std::uint32_t end : {a, b}) {
            ++out[end];
            ++in[end];
        }
    }
    for (const auto& [from, to] : direct_one_way_links(p)) {
        ++out[from];
        ++in[to];
    }
    const std::int64_t degree = out[0];
    for (std::size_t host = 0; host < out.size(); ++host) {
        if (out[host] != degree || in[host] != degree) {
            check.report("reconfiguration",
                         fmt::format("{} links leave host {} and {} enter it, and {} leave host 0", out[host],
                                     host, in[host], degree),
                         "circuits move between interfaces that have one: join all hosts by as many cables");
            return;
        }
    }
    check.count("reconfiguration", degree, 1, topoopt::kMaxDegree, "cables of a host whose circuits move");
    check_free_interfaces(check, *p.reconfiguration, degree, 2);
}

std::shared_ptr<const Fabric> build_demand_aware(const DirectConnectParameters& p) {
    const std::size_t links = 2 * direct_cables(p).size() + direct_one_way_links(p).size();
    const topoopt::FinderOptions finder{
        .degree = static_cast<std::uint32_t>(links / static_cast<std::size_t>(p.hosts)),
        .wiring = topoopt::Wiring::kPanel};
    return topoopt::build_with_planner(p, *p.reconfiguration, finder, {});
}

}  // namespace astrolabe::network::detail
