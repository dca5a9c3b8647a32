#include "../topologies/checks.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/network/topoopt/demand_wiring.hpp>
#include <astrolabe/network/topoopt/topoopt.hpp>

namespace astrolabe::network::topoopt {

namespace {

FinderOptions finder_options(const TopoOptParameters& parameters) {
    return {.degree = static_cast<std::uint32_t>(parameters.degree),
            .mode = parameters.mode,
            .wiring = parameters.wiring,
            .candidates = parameters.candidates,
            .repeat_strides = parameters.repeat_strides,
            .perfect_matching = parameters.perfect_matching};
}

DirectRouting default_routing(Mode mode) {
    return mode == Mode::kReleased ? DirectRouting::kRandomShortest : DirectRouting::kByClass;
}

/// One direction of every ring, ring by ring.
std::vector<std::uint32_t> forward_strides(const Topology& topology) {
    std::vector<std::uint32_t> strides;
    for (const GroupRings& rings : topology.rings) {
        strides.insert(strides.end(), rings.strides.begin(), rings.strides.end());
    }
    return strides;
}

DirectConnectParameters direct_connect(const TopoOptParameters& parameters, const Topology& topology) {
    DirectConnectParameters direct;
    direct.hosts = topology.servers;
    direct.link = parameters.link;
    direct.forwarding = parameters.forwarding;
    direct.routing = parameters.routing.value_or(default_routing(parameters.mode));
    direct.paths = parameters.paths;
    direct.detour = parameters.detour;
    direct.seed = parameters.seed;
    const bool is_one_way = topology.wiring == Wiring::kSeparateFibres;
    for (const std::uint32_t stride : is_one_way ? directed_strides(topology) : forward_strides(topology)) {
        (is_one_way ? direct.one_way_rings : direct.rings).push_back(stride);
    }
    for (const MatchingRound& round : topology.matchings) {
        for (const auto& [a, b] : round.pairs) {
            direct.links.push_back({.from = a, .to = b});
        }
    }
    for (const GroupRings& group : topology.rings) {
        if (group.strides.empty()) {
            direct.ring_offsets.push_back(topology.servers / group.members);
        }
    }
    return direct;
}

/// Problems under the keys of the network section: those of the demand are of no key.
ParameterProblems of_section(ParameterProblems found) {
    for (ParameterProblem& problem : found) {
        const std::string_view key = problem.key;
        if (key.starts_with("groups") || key == "point_to_point" || key == "servers") {
            problem.key.clear();
        }
    }
    return found;
}

bool needs_regular_strides(const TopoOptParameters& parameters) {
    return parameters.routing == DirectRouting::kCoinChange || parameters.routing == DirectRouting::kBalanced;
}

void check_forwarding(network::detail::ParameterCheck& check, const TopoOptParameters& parameters) {
    constexpr const char* kHint = "leave it out, or let hosts forward";
    const auto report = [&](const char* key, const char* what) {
        check.report(key, fmt::format("{}, and reconfiguration.forwarding is off", what), kHint);
    };
    if (parameters.routing) {
        report("routing", "routing is about ways over other hosts");
    }
    if (parameters.forwarding.latency > Time(0)) {
        report("forwarding.latency", "hosts take a time to forward");
    }
    const TopoOptParameters given_nothing;
    if (parameters.paths != given_nothing.paths || parameters.detour != given_nothing.detour) {
        report(parameters.paths != given_nothing.paths ? "paths" : "detour", "paths are over other hosts");
    }
}

void check_reconfiguration(network::detail::ParameterCheck& check, const TopoOptParameters& parameters) {
    const ReconfigurationParameters& moves = *parameters.reconfiguration;
    if (parameters.medium != Medium::kCircuitSwitch) {
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
    if (needs_regular_strides(parameters)) {
        check.report("routing",
                     "coin change needs the same strides out of every host, and circuits for what "
                     "waits have none",
                     "take routing: k_shortest");
    }
    const std::int64_t ring = parameters.wiring == Wiring::kSeparateFibres ? 1 : 2;
    if (moves.forwarding && parameters.degree >= 1 && parameters.degree <= ring) {
        check.report("reconfiguration",
                     fmt::format("the ring that joins all hosts takes {} of {} interfaces, and none is left "
                                 "to move",
                                 ring, parameters.degree),
                     "take a higher degree, or forwarding: false");
    }
    if (!moves.forwarding) {
        check_forwarding(check, parameters);
    }
}

/// Ports that no circuit leaves could have one later, and send more than the network at first can.
ParameterProblems problems_of_ports(const TopoOptParameters& parameters, const Topology& topology) {
    const std::size_t ports = std::size_t{topology.servers} * topology.degree;
    if (!parameters.reconfiguration || topology.links.size() == ports) {
        return {};
    }
    return {{"reconfiguration",
             fmt::format("{} of {} interfaces have no circuit at first, and circuits move between interfaces "
                         "that have",
                         ports - topology.links.size(), ports),
             "take an even number of hosts, as a matching leaves one of an odd number out, and in mode "
             "released an even degree"}};
}

/// The same network with someone who moves its circuits.
std::shared_ptr<const Fabric> with_reconfiguration(const TopoOptParameters& parameters,
                                                   const FinderOptions& options,
                                                   DirectConnectParameters direct, const Topology& topology) {
    const ReconfigurationParameters& moves = *parameters.reconfiguration;
    DemandWiringOptions wiring{.finder = options,
                               .forwarding = moves.forwarding,
                               .all_dark = moves.dark == DarkCircuits::kAll,
                               .common = {}};
    wiring.common.hosts = direct.hosts;
    wiring.common.link = direct.link;
    wiring.common.forwarding = direct.forwarding;
    wiring.common.routing = direct.routing;
    wiring.common.paths = direct.paths;
    wiring.common.detour = direct.detour;
    wiring.common.seed = direct.seed;
    const std::shared_ptr<const Fabric> fixed = build_direct_connect(direct);
    direct.forwards = moves.forwarding;
    direct.reconfiguration = std::make_shared<const DemandWiring>(moves.every, moves.delay, std::move(wiring),
                                                                  *fixed, topology.links);
    return build_direct_connect(direct);
}

}  // namespace

ParameterProblems problems(const TopoOptParameters& parameters) {
    detail::ParameterCheck check;
    check.cable("link", parameters.link);
    check.latency("forwarding.latency", parameters.forwarding.latency);
    check.count("degree", parameters.degree, 1, kMaxDegree, "say how many interfaces a server has");
    if (parameters.mode != Mode::kReleased && parameters.repeat_strides) {
        check.report("repeat_strides", "only mode released may take a stride again",
                     "leave it out, or choose mode: released");
    }
    if (parameters.mode != Mode::kPaper && parameters.perfect_matching) {
        check.report("perfect_matching", "only mode paper has matchings",
                     "leave it out, or choose mode: paper");
    }
    if (parameters.reconfiguration) {
        check_reconfiguration(check, parameters);
    }
    return std::move(check).take();
}

std::variant<FoundNetwork, ParameterProblems> build_topoopt(const TopoOptParameters& parameters,
                                                            const Demand& demand) {
    const FinderOptions options = finder_options(parameters);
    if (ParameterProblems found = problems(demand, options); !found.empty()) {
        return of_section(std::move(found));
    }
    Topology topology = find_topology(demand, options);
    const DirectConnectParameters direct = direct_connect(parameters, topology);
    if (ParameterProblems found = network::problems(direct); !found.empty()) {
        return found;
    }
    if (ParameterProblems found = problems_of_ports(parameters, topology); !found.empty()) {
        return found;
    }
    std::shared_ptr<const Fabric> fabric = parameters.reconfiguration
                                               ? with_reconfiguration(parameters, options, direct, topology)
                                               : build_direct_connect(direct);
    return FoundNetwork{std::move(fabric), std::move(topology)};
}

}  // namespace astrolabe::network::topoopt
