#include "topoopt.hpp"

#include "../topologies/checks.hpp"
#include "../topologies/demand_aware_circuits.hpp"
#include "../topologies/direct_connect_schemas.hpp"
#include "demand_aware_planner.hpp"
#include "topoopt_family.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace astrolabe {

template <>
struct EnumNames<network::topoopt::Mode> {
    static constexpr std::array<std::pair<std::string_view, network::topoopt::Mode>, 3> kNames{
        {{"best", network::topoopt::Mode::kBest},
         {"paper", network::topoopt::Mode::kPaper},
         {"released", network::topoopt::Mode::kReleased}}};
};

template <>
struct EnumNames<network::topoopt::Candidates> {
    static constexpr std::array<std::pair<std::string_view, network::topoopt::Candidates>, 2> kNames{
        {{"all", network::topoopt::Candidates::kAll}, {"primes", network::topoopt::Candidates::kPrimes}}};
};

}  // namespace astrolabe

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

DirectConnectParameters direct_connect(const TopoOptParameters& parameters, const Topology& topology,
                                       DirectRouting routing) {
    DirectConnectParameters direct;
    direct.hosts = topology.servers;
    direct.link = parameters.link;
    direct.forwarding = parameters.forwarding;
    direct.routing = routing;
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
ValidationErrors of_section(ValidationErrors found) {
    for (ValidationError& problem : found) {
        const std::string_view key = problem.key;
        if (key.starts_with("groups") || key == "point_to_point" || key == "servers") {
            problem.key.clear();
        }
    }
    return found;
}

/// Ports that no circuit leaves could have one later, and send more than the network at first can.
ValidationErrors problems_of_ports(const TopoOptParameters& parameters, const Topology& topology) {
    const std::size_t ports = std::size_t{topology.servers} * topology.degree;
    if (!parameters.reconfiguration || (topology.links.size() == ports && topology.servers % 2 == 0)) {
        return {};
    }
    // The first wiring may be of rings alone; those that are planned later have matchings.
    const std::string without =
        topology.links.size() == ports
            ? fmt::format("{} hosts are an odd number, of which later wirings leave one without a circuit",
                          topology.servers)
            : fmt::format("{} of {} interfaces have no circuit at first", ports - topology.links.size(),
                          ports);
    return {{"reconfiguration", without + ", and circuits move between interfaces that have",
             "take an even number of hosts, as a matching leaves one of an odd number out, and in mode "
             "released an even degree"}};
}

ValidationErrors problems_of(const TopoOptParameters& parameters, const Topology& topology,
                             const DirectConnectParameters& direct) {
    ValidationErrors found = network::validation_errors(direct);
    return found.empty() ? problems_of_ports(parameters, topology) : found;
}

/// Those that mode best tries for a topology.
std::vector<DirectRouting> open_routings(const TopoOptParameters& parameters, const Topology& topology) {
    if (parameters.routing) {
        return {*parameters.routing};
    }
    std::vector<DirectRouting> routings{DirectRouting::kByClass};
    if (topology.matchings.empty() && !parameters.reconfiguration) {
        routings.push_back(DirectRouting::kBalanced);
    }
    routings.push_back(DirectRouting::kRandomShortest);
    return routings;
}

/// A topology and the routing it is for.
struct Wired {
    Topology topology;
    DirectRouting routing = DirectRouting::kByClass;
};

/// Networks to build, the first of them the one of the mode, and all designs that were compared for it; or
/// why there is none.
struct Choice {
    std::vector<Wired> networks;
    std::vector<ScoredDesign> designs;  ///< by estimate; of mode best alone
    ValidationErrors problems;          ///< of the first design, where none serves
};

/// Those of the other modes, but for those that are there.
void add_other_modes(Choice& choice, const TopoOptParameters& parameters, FinderOptions options,
                     const Demand& demand, const std::vector<MatchingRound>& matchings) {
    for (const Mode mode : {Mode::kPaper, Mode::kReleased}) {
        if (mode == Mode::kReleased && options.degree < 2) {
            continue;
        }
        options.mode = mode;
        Wired wired{wire_design(demand, options, design_of_mode(demand, options), matchings),
                    parameters.routing.value_or(default_routing(mode))};
        const bool is_there =
            std::any_of(choice.networks.begin(), choice.networks.end(), [&](const Wired& one) {
                return one.routing == wired.routing && one.topology.links == wired.topology.links;
            });
        if (!is_there &&
            problems_of(parameters, wired.topology, direct_connect(parameters, wired.topology, wired.routing))
                .empty()) {
            choice.networks.push_back(std::move(wired));
        }
    }
}

/// All of them, that of this network first.
std::vector<ScoredDesign> designs_from(std::vector<ScoredDesign> designs, const Wired& built) {
    const Topology& topology = built.topology;
    const auto own = std::find_if(designs.begin(), designs.end(), [&](const ScoredDesign& design) {
        return std::tie(design.split, design.full_duplex_rings, design.rings, design.routing) ==
               std::tie(topology.split, topology.full_duplex_rings, topology.rings, built.routing);
    });
    if (own != designs.end()) {
        std::rotate(designs.begin(), own, own + 1);
    }
    return designs;
}

Choice choose_best(const TopoOptParameters& parameters, const FinderOptions& options, const Demand& demand) {
    const std::vector<Design> designs = candidate_designs(demand, options);
    std::uint32_t rounds = 0;
    for (const Design& design : designs) {
        rounds = std::max(rounds, design.split.point_to_point);
    }
    const std::vector<MatchingRound> matchings = match_demand(demand.servers, demand.point_to_point, rounds);
    Choice choice;
    double least = std::numeric_limits<double>::infinity();
    std::vector<std::tuple<DegreeSplit, bool, std::vector<GroupRings>>> compared;
    for (const Design& design : designs) {
        Topology topology = wire_design(demand, options, design, matchings);
        const std::tuple key(topology.split, topology.full_duplex_rings, topology.rings);
        if (std::find(compared.begin(), compared.end(), key) != compared.end()) {
            continue;
        }
        compared.push_back(key);
        for (const DirectRouting routing : open_routings(parameters, topology)) {
            const DirectConnectParameters direct = direct_connect(parameters, topology, routing);
            if (ValidationErrors found = problems_of(parameters, topology, direct); !found.empty()) {
                if (choice.problems.empty()) {
                    choice.problems = std::move(found);
                }
                continue;
            }
            const JobTime time = estimate_job_time(*build_direct_connect(direct), topology, demand);
            choice.designs.push_back(
                {topology.split, topology.full_duplex_rings, topology.rings, routing, time});
            if (time.total() < least) {
                least = time.total();
                choice.networks = {{topology, routing}};
            }
        }
    }
    std::stable_sort(
        choice.designs.begin(), choice.designs.end(),
        [](const ScoredDesign& a, const ScoredDesign& b) { return a.time.total() < b.time.total(); });
    if (!choice.networks.empty()) {
        add_other_modes(choice, parameters, options, demand, matchings);
    }
    return choice;
}

}  // namespace

ValidationErrors validation_errors(const TopoOptParameters& parameters) {
    network::detail::ParameterCheck check;
    check.cable("link", parameters.link);
    check.latency("forwarding.latency", parameters.forwarding.latency);
    check.count("degree", parameters.degree, 1, kMaxDegree, "say how many interfaces a server has");
    if (parameters.mode != Mode::kReleased && parameters.repeat_strides) {
        check.report("repeat_strides", "only mode released may take a stride again",
                     "leave it out, or choose mode: released");
    }
    if (parameters.mode == Mode::kReleased && parameters.perfect_matching) {
        check.report("perfect_matching", "only mode paper and mode best have matchings",
                     "leave it out, or choose mode: best or mode: paper");
    }
    if (parameters.reconfiguration) {
        network::detail::check_demand_aware(check, *parameters.reconfiguration,
                                            {.medium = parameters.medium,
                                             .routing = parameters.routing,
                                             .forwarding = parameters.forwarding.latency,
                                             .paths = parameters.paths,
                                             .detour = parameters.detour});
        network::detail::check_free_interfaces(check, *parameters.reconfiguration, parameters.degree,
                                               parameters.wiring == Wiring::kSeparateFibres ? 1 : 2);
    }
    return std::move(check).take();
}

std::variant<NetworksForJob, ValidationErrors> build_topoopt(const TopoOptParameters& parameters,
                                                             const Demand& demand) {
    const FinderOptions options = finder_options(parameters);
    if (ValidationErrors found = validation_errors(demand, options); !found.empty()) {
        return of_section(std::move(found));
    }
    Choice choice;
    if (parameters.mode == Mode::kBest) {
        choice = choose_best(parameters, options, demand);
        if (choice.networks.empty()) {
            return std::move(choice.problems);
        }
    } else {
        choice.networks = {
            {find_topology(demand, options), parameters.routing.value_or(default_routing(parameters.mode))}};
    }
    NetworksForJob networks;
    for (const Wired& wired : choice.networks) {
        DirectConnectParameters direct = direct_connect(parameters, wired.topology, wired.routing);
        if (ValidationErrors found = problems_of(parameters, wired.topology, direct); !found.empty()) {
            return found;
        }
        direct.family = topoopt_family(wired.topology, designs_from(choice.designs, wired));
        networks.push_back(
            parameters.reconfiguration
                ? build_with_planner(direct, *parameters.reconfiguration, options, wired.topology.links)
                : build_direct_connect(direct));
    }
    return networks;
}

}  // namespace astrolabe::network::topoopt

namespace astrolabe::network {

void register_topoopt(Registry<FabricMaker>& registry) {
    using P = topoopt::TopoOptParameters;
    Schema<P> schema("topoopt",
                     "hosts joined by cables that are chosen for the job of the experiment; hosts forward");
    schema.required("degree", &P::degree, "interfaces of a host", {1, topoopt::kMaxDegree})
        .optional(
            "mode", &P::mode,
            "the design that is estimated to be fastest for the job; as the paper: rings for all-reduces, "
            "matchings for the rest; or as the released code: rings alone")
        .optional(
            "wiring", &P::wiring,
            "one panel that joins any two ports, a plane for each interface of the hosts that joins hosts "
            "in pairs, or such planes with fibres out and in patched separately, where rings go one way")
        .optional("candidates", &P::candidates,
                  "strides that rings may have: all that visit all hosts, or "
                  "primes alone")
        .optional("repeat_strides", &P::repeat_strides,
                  "of mode released: a stride may be taken again, as in the code of 2024")
        .optional("perfect_matching", &P::perfect_matching,
                  "of modes best and paper: refuse an odd number of hosts, of which matchings leave one out");
    detail::add_link(schema);
    detail::add_medium(schema);
    detail::add_reconfiguration(schema);
    detail::add_forwarding(schema);
    schema.optional("routing", &P::routing,
                    "as that of direct_connect; unset: the fastest of by_class, balanced and random_shortest "
                    "in mode best, by_class in mode paper, random_shortest in mode released");
    detail::add_path_counts(schema);
    detail::add_check(schema);
    registry.add<P>(schema, [](const P& parameters) {
        return FabricMaker([parameters](const Demand& demand, std::uint64_t seed) {
            P seeded = parameters;
            seeded.seed = static_cast<std::int64_t>(seed);
            return build_topoopt(seeded, demand);
        });
    });
}

}  // namespace astrolabe::network
