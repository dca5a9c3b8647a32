#include "direct_connect.hpp"

#include "../routing/coin_change_routing.hpp"
#include "../routing/k_shortest_routing.hpp"
#include "../routing/neighbour_routing.hpp"
#include "../routing/random_tree_routing.hpp"
#include "../routing/ring_class_routing.hpp"
#include "checks.hpp"
#include "demand_aware_circuits.hpp"
#include "direct_connect_schemas.hpp"
#include "regular_graph.hpp"
#include "torus_cables.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/config/section_list.hpp>

namespace astrolabe::network {

namespace {

constexpr std::int64_t kMaxRandomHosts = 4'096;
constexpr std::int64_t kMaxCoinHosts = 65'536;
constexpr std::int64_t kMaxPaths = 64;
constexpr std::int64_t kMaxDetour = 64;

bool pays_coins(const DirectConnectParameters& p) {
    return p.routing == DirectRouting::kCoinChange || p.routing == DirectRouting::kBalanced;
}

void check_random(detail::ParameterCheck& check, const DirectConnectParameters& p) {
    if (p.random.degree == 0) {
        return;
    }
    if (p.hosts > kMaxRandomHosts) {
        check.report("random.degree",
                     fmt::format("random cables of {} hosts, expected at most {}", p.hosts, kMaxRandomHosts),
                     "leave random out, or take fewer hosts");
        return;
    }
    if (check.count("random.degree", p.random.degree, 1, p.hosts - 1, "neighbours are different hosts") &&
        p.hosts * p.random.degree % 2 != 0) {
        check.report("random.degree",
                     fmt::format("{} hosts with {} neighbours have an odd number of cable ends", p.hosts,
                                 p.random.degree),
                     "take an even number of hosts or of neighbours");
    }
}

void check_torus(detail::ParameterCheck& check, const DirectConnectParameters& p) {
    std::int64_t product = 1;
    for (std::size_t d = 0; d < p.torus.size(); ++d) {
        if (!check.count(fmt::format("torus.{}", d), p.torus[d], 1, p.hosts,
                         "a size is the number of hosts along a dimension")) {
            return;
        }
        product = product > p.hosts ? product : product * p.torus[d];
    }
    if (!p.torus.empty() && product != p.hosts) {
        check.report("torus",
                     fmt::format("the sizes make {} hosts, expected {}",
                                 product > p.hosts ? "more" : std::to_string(product), p.hosts),
                     "the product of the sizes is the number of hosts");
    }
}

void check_links(detail::ParameterCheck& check, const DirectConnectParameters& p) {
    for (std::size_t i = 0; i < p.links.size(); ++i) {
        const DirectLinkParameters& link = p.links[i];
        check.count(fmt::format("links.{}.from", i), link.from, 0, p.hosts - 1, "hosts are numbered from 0");
        check.count(fmt::format("links.{}.to", i), link.to, 0, p.hosts - 1, "hosts are numbered from 0");
        check.count(fmt::format("links.{}.cables", i), link.cables, 1, kMaxCables, "leave it out for one");
        if (link.from == link.to) {
            check.report(fmt::format("links.{}.to", i),
                         fmt::format("a link leads from host {} to itself", link.from),
                         "a cable joins two hosts");
        }
    }
}

/// So many there are, or more than there may be.
std::int64_t count_cables(const DirectConnectParameters& p) {
    std::int64_t cables =
        static_cast<std::int64_t>(p.rings.size() + p.one_way_rings.size() + p.torus.size()) * p.hosts +
        p.hosts * p.random.degree / 2;
    if (p.hosts > 1 && p.all_to_all > kMaxCables / (p.hosts * (p.hosts - 1) / 2)) {
        return kMaxCables + 1;
    }
    cables += p.all_to_all * (p.hosts * (p.hosts - 1) / 2);
    for (const DirectLinkParameters& link : p.links) {
        cables = cables > kMaxCables ? cables : cables + link.cables;
    }
    return cables;
}

void check_numbers(detail::ParameterCheck& check, const DirectConnectParameters& p) {
    check.cable("link", p.link);
    check.latency("forwarding.latency", p.forwarding.latency);
    check.count("paths", p.paths, 1, kMaxPaths, "paths that a pair of hosts is split over");
    check.count("detour", p.detour, 0, kMaxDetour, "0 stands for shortest paths alone");
    if (!check.count("hosts", p.hosts, 1, pays_coins(p) ? kMaxCoinHosts : kMaxHosts,
                     "give the number of hosts")) {
        return;
    }
    for (const auto& [key, strides] :
         {std::pair("rings", &p.rings), std::pair("one_way_rings", &p.one_way_rings),
          std::pair("ring_offsets", &p.ring_offsets)}) {
        for (std::size_t i = 0; i < strides->size(); ++i) {
            check.count(fmt::format("{}.{}", key, i), (*strides)[i], 1, p.hosts - 1,
                        "a stride leads from a host to another one");
        }
    }
    check_torus(check, p);
    check_random(check, p);
    check.count("all_to_all", p.all_to_all, 0, kMaxCables, "cables between every two hosts");
    check_links(check, p);
    if (check.sound() && count_cables(p) > kMaxCables) {
        check.report("", fmt::format("there are more than {} cables", kMaxCables), "take fewer");
    }
}

/// By host, once for each link: those it has links to, or those with links to it.
std::vector<std::vector<std::uint32_t>> neighbours(const DirectConnectParameters& p, bool backwards = false) {
    std::vector<std::vector<std::uint32_t>> out_of(static_cast<std::size_t>(p.hosts));
    for (const auto& [a, b] : direct_cables(p)) {
        out_of[a].push_back(b);
        out_of[b].push_back(a);
    }
    for (const auto& [from, to] : direct_one_way_links(p)) {
        out_of[backwards ? to : from].push_back(backwards ? from : to);
    }
    return out_of;
}

/// A host that is not reached from host 0, and how many there are.
struct Unreached {
    std::size_t first = 0;
    std::size_t count = 0;
};

Unreached unreached(const std::vector<std::vector<std::uint32_t>>& out_of) {
    std::vector<std::uint8_t> is_reached(out_of.size(), 0);
    std::vector<std::uint32_t> reached{0};
    is_reached[0] = 1;
    for (std::size_t next = 0; next < reached.size(); ++next) {
        for (const std::uint32_t neighbour : out_of[reached[next]]) {
            if (is_reached[neighbour] == 0) {
                is_reached[neighbour] = 1;
                reached.push_back(neighbour);
            }
        }
    }
    const auto first = std::find(is_reached.begin(), is_reached.end(), 0) - is_reached.begin();
    return {static_cast<std::size_t>(first), out_of.size() - reached.size()};
}

/// From which host 0 is not reached.
Unreached unreached_backwards(const DirectConnectParameters& p) {
    return direct_one_way_links(p).empty() ? Unreached{} : unreached(neighbours(p, true));
}

void check_reach(detail::ParameterCheck& check, const DirectConnectParameters& p,
                 const std::vector<std::vector<std::uint32_t>>& out_of) {
    if (const Unreached there = unreached(out_of); there.count > 0) {
        check.report("",
                     fmt::format("no cables lead from host 0 to host {}, and {} of {} hosts in all",
                                 there.first, there.count, p.hosts),
                     "a ring whose stride has no divisor in common with hosts joins all, for example 1");
    } else if (const Unreached back = unreached_backwards(p); back.count > 0) {
        check.report("",
                     fmt::format("no links lead from host {} back to host 0, nor from {} of {} hosts in all",
                                 back.first, back.count, p.hosts),
                     "one-way links must lead to every host and on from it; a ring does");
    }
}

void check_graph(detail::ParameterCheck& check, const DirectConnectParameters& p) {
    const std::vector<std::vector<std::uint32_t>> out_of = neighbours(p);
    const bool hosts_forward = p.reconfiguration ? p.reconfiguration->forwarding : p.forwards;
    if (hosts_forward && p.is_whole) {
        check_reach(check, p, out_of);
    }
    if (pays_coins(p) && p.hosts > 1 && !common_coins(out_of)) {
        check.report("routing", "coin change needs the same strides out of every host",
                     "take cables of rings or all_to_all alone, or routing: k_shortest");
    }
    if (p.routing == DirectRouting::kByClass && p.hosts > 1 && p.rings.empty() && p.one_way_rings.empty()) {
        check.report("routing", "by_class keeps some traffic to rings, and there are none",
                     "give rings or one_way_rings, or take routing: k_shortest");
    }
}

/// Strides of rings as links out of a host, ring by ring.
std::vector<std::uint32_t> ring_strides(const DirectConnectParameters& p) {
    std::vector<std::uint32_t> strides;
    for (const std::int64_t stride : p.rings) {
        strides.push_back(static_cast<std::uint32_t>(stride));
        strides.push_back(static_cast<std::uint32_t>(p.hosts - stride));
    }
    strides.insert(strides.end(), p.one_way_rings.begin(), p.one_way_rings.end());
    return strides;
}

std::shared_ptr<const RoutingPolicy> coin_routing(const DirectConnectParameters& p, const Fabric& fabric) {
    CoinChange change(static_cast<std::uint32_t>(p.hosts), *common_coins(neighbours(p)));
    CoinRoutes routes =
        p.routing == DirectRouting::kBalanced ? balanced_routes(change) : smallest_first_routes(change);
    return std::make_shared<const CoinChangeRouting>(fabric, std::move(change), std::move(routes));
}

std::shared_ptr<const RoutingPolicy> make_routing(const DirectConnectParameters& p, const Fabric& fabric) {
    if (!p.forwards) {
        return std::make_shared<const NeighbourRouting>(fabric);
    }
    const auto seed = static_cast<std::uint64_t>(p.seed);
    const KShortestOptions options{static_cast<std::size_t>(p.paths), static_cast<std::size_t>(p.detour),
                                   seed};
    switch (p.routing) {
        case DirectRouting::kFlowHash:
            return std::make_shared<const ShortestPathRouting>(fabric, LoadBalancing::kFlowHash, seed);
        case DirectRouting::kSpray:
            return std::make_shared<const ShortestPathRouting>(fabric, LoadBalancing::kSpray, seed);
        case DirectRouting::kRandomShortest:
            return std::make_shared<const RandomTreeRouting>(fabric, seed);
        case DirectRouting::kCoinChange:
        case DirectRouting::kBalanced:
            return coin_routing(p, fabric);
        case DirectRouting::kKShortest:
            return std::make_shared<const KShortestRouting>(fabric, options);
        case DirectRouting::kByClass:
            return std::make_shared<const RingClassRouting>(
                fabric, CoinChange(static_cast<std::uint32_t>(p.hosts), ring_strides(p)), p.ring_offsets,
                options);
    }
    ASTROLABE_ASSERT(false, "every routing is named");
}

}  // namespace

ValidationErrors validation_errors(const DirectConnectParameters& parameters) {
    detail::ParameterCheck check;
    check_numbers(check, parameters);
    if (parameters.reconfiguration) {
        const bool is_chosen = parameters.routing != DirectConnectParameters().routing;
        detail::check_demand_aware(check, *parameters.reconfiguration,
                                   {.medium = parameters.medium,
                                    .routing = is_chosen ? std::optional(parameters.routing) : std::nullopt,
                                    .forwarding = parameters.forwarding.latency,
                                    .paths = parameters.paths,
                                    .detour = parameters.detour});
    }
    if (check.sound()) {
        check_graph(check, parameters);
    }
    if (check.sound() && parameters.reconfiguration) {
        detail::check_given_circuits(check, parameters);
    }
    return std::move(check).take();
}

std::vector<HostPair> direct_cables(const DirectConnectParameters& p) {
    const auto hosts = static_cast<std::uint32_t>(p.hosts);
    std::vector<HostPair> cables;
    for (const std::int64_t stride : p.rings) {
        for (std::uint32_t host = 0; host < hosts; ++host) {
            cables.emplace_back(host, static_cast<std::uint32_t>((host + stride) % hosts));
        }
    }
    if (!p.torus.empty()) {
        detail::for_each_torus_cable(p.torus, false, [&](std::size_t host, std::size_t other, std::size_t) {
            cables.emplace_back(host, other);
        });
    }
    if (p.random.degree > 0) {
        RandomStream random(static_cast<std::uint64_t>(p.random.seed), "direct_connect");
        const auto degree = static_cast<std::uint32_t>(p.random.degree);
        const std::vector<std::uint32_t> drawn = draw_regular_graph(hosts, degree, random);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            if (i / degree < drawn[i]) {
                cables.emplace_back(i / degree, drawn[i]);
            }
        }
    }
    for (std::uint32_t a = 0; p.all_to_all > 0 && a < hosts; ++a) {
        for (std::uint32_t b = a + 1; b < hosts; ++b) {
            cables.insert(cables.end(), static_cast<std::size_t>(p.all_to_all), {a, b});
        }
    }
    for (const DirectLinkParameters& link : p.links) {
        if (!link.one_way) {
            cables.insert(cables.end(), static_cast<std::size_t>(link.cables),
                          {static_cast<std::uint32_t>(link.from), static_cast<std::uint32_t>(link.to)});
        }
    }
    return cables;
}

std::vector<HostPair> direct_one_way_links(const DirectConnectParameters& p) {
    const auto hosts = static_cast<std::uint32_t>(p.hosts);
    std::vector<HostPair> links;
    for (const DirectLinkParameters& link : p.links) {
        if (link.one_way) {
            links.insert(links.end(), static_cast<std::size_t>(link.cables),
                         {static_cast<std::uint32_t>(link.from), static_cast<std::uint32_t>(link.to)});
        }
    }
    for (const std::int64_t stride : p.one_way_rings) {
        for (std::uint32_t host = 0; host < hosts; ++host) {
            links.emplace_back(host, static_cast<std::uint32_t>((host + stride) % hosts));
        }
    }
    return links;
}

std::shared_ptr<const Fabric> build_direct_connect(const DirectConnectParameters& p) {
    ASTROLABE_ASSERT(validation_errors(p).empty(), "parameters are checked before a fabric is built");
    if (p.reconfiguration) {
        return detail::build_demand_aware(p);
    }
    FabricBuilder builder("direct_connect");
    for (std::int64_t host = 0; host < p.hosts; ++host) {
        builder.add_host(fmt::format("host {}", host), p.forwarding.latency);
    }
    const LinkParameters link{p.link.rate, p.link.latency, Bytes(0)};
    for (const auto& [a, b] : direct_cables(p)) {
        builder.connect(NodeId(a), NodeId(b), link);
    }
    for (const auto& [from, to] : direct_one_way_links(p)) {
        builder.connect_one_way(NodeId(from), NodeId(to), link);
    }
    builder.set_demand_aware_circuits(p.controller);
    if (p.family != nullptr) {
        builder.set_family(p.family);
    }
    if (p.hosts == 1) {
        return std::move(builder).build();  // there is nothing to route
    }
    return std::move(builder).build([p](const Fabric& fabric) { return make_routing(p, fabric); });
}

namespace {

Schema<RandomCableParameters> random_cable_schema() {
    Schema<RandomCableParameters> schema("random", "a random graph without parallel cables");
    schema
        .optional("degree", &RandomCableParameters::degree, "neighbours of every host; 0: no such cables",
                  {0, kMaxHosts})
        .optional("seed", &RandomCableParameters::seed, "of the graph; unset: that of the experiment",
                  detail::kSeeds);
    return schema;
}

Schema<DirectLinkParameters> direct_link_schema() {
    Schema<DirectLinkParameters> schema("links", "cables between two hosts");
    schema.required("from", &DirectLinkParameters::from, "a host, numbered from 0", {0, kMaxHosts - 1})
        .required("to", &DirectLinkParameters::to, "another host", {0, kMaxHosts - 1})
        .optional("cables", &DirectLinkParameters::cables, "in parallel", {1, kMaxCables})
        .optional("one_way", &DirectLinkParameters::one_way, "fibres that lead there and not back");
    return schema;
}

}  // namespace

void register_direct_connect(Registry<FabricMaker>& registry) {
    using P = DirectConnectParameters;
    Schema<P> schema(
        "direct_connect",
        "hosts joined by cables or one-way fibres of their own: rings, a torus, random, one by one; hosts "
        "forward");
    schema.required("hosts", &P::hosts, "number of hosts", {1, kMaxHosts});
    detail::add_link(schema);
    detail::add_medium(schema);
    detail::add_reconfiguration(schema);
    detail::add_forwarding(schema);
    schema
        .list("rings", &P::rings, "strides: host i is joined to i + stride, modulo hosts", false,
              {1, kMaxHosts - 1})
        .list("one_way_rings", &P::one_way_rings,
              "strides: a fibre leads from host i to i + stride, modulo hosts, and none back", false,
              {1, kMaxHosts - 1})
        .list("torus", &P::torus, "hosts along each dimension, the fastest-varying first", false,
              {1, kMaxHosts})
        .section("random", &P::random, random_cable_schema(), "a random graph without parallel cables")
        .optional("all_to_all", &P::all_to_all, "cables between every two hosts", {0, kMaxCables});
    add_section_list(schema, "links", &P::links, direct_link_schema(), "cables one by one");
    schema.optional(
        "routing", &P::routing,
        "one shortest path a pair by hash, all of them evenly, one in a random tree of the source, "
        "strides as coins, the same with strides evenly used, the k shortest paths evenly, or these but "
        "for pairs one stride of a ring apart, which keep to what joins them");
    detail::add_path_counts(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_direct_connect, &P::seed);
}

}  // namespace astrolabe::network
