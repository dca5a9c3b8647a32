/// Dragonflies: shape, arrangements of global links, minimal and Valiant routing.
#include "../fabric_structure.hpp"
#include "../parameter_keys.hpp"
#include "../transfers.hpp"
#include "network/src/topologies/dragonfly/dragonfly.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/analysis/route_load.hpp>

namespace astrolabe::network {
namespace {

constexpr GlobalArrangement kArrangements[] = {GlobalArrangement::kAbsolute, GlobalArrangement::kRelative,
                                               GlobalArrangement::kCirculant};

DragonflyParameters shape(std::int64_t p, std::int64_t a = 0, std::int64_t h = 0, std::int64_t g = 0) {
    DragonflyParameters parameters;
    parameters.hosts_per_router = p;
    parameters.routers_per_group = a;
    parameters.global_links_per_router = h;
    parameters.groups = g;
    return parameters;
}

/// How many global links join each two groups, and how many a router has.
struct GlobalLinks {
    std::map<std::pair<std::size_t, std::size_t>, int> of_groups;
    std::map<std::size_t, int> of_router;
};

GlobalLinks global_links(const Fabric& fabric, std::size_t in_group) {
    GlobalLinks found;
    for (LinkId id; id.index() < fabric.link_count(); ++id) {
        const std::size_t from = fabric.source(id).index();
        const std::size_t to = fabric.target(id).index();
        if (fabric.link(id).cost == kGlobalCost) {
            ++found.of_groups[{(from - fabric.host_count()) / in_group,
                               (to - fabric.host_count()) / in_group}];
            ++found.of_router[from];
        }
    }
    return found;
}

TEST(DragonflyTopology, BalancedOfTwo) {
    for (const GlobalArrangement arrangement : kArrangements) {
        DragonflyParameters parameters = shape(2);  // a = 4, h = 2, g = 9
        parameters.arrangement = arrangement;
        const std::shared_ptr<const Fabric> fabric = build_dragonfly(parameters);
        EXPECT_EQ(fabric->kind(), "dragonfly");
        EXPECT_EQ(fabric->host_count(), 72U);
        EXPECT_EQ(fabric->node_count(), 72U + 36U);
        // Cables of hosts, 6 in each group, one between every two groups.
        EXPECT_EQ(fabric->link_count(), 2U * (72U + 9U * 6U + 36U));
        // 2 links: the other host of the router. 3: those of 3 routers of the group and of 2 routers at the
        // ends of the own global links. 4: the other 3 routers of these 2 groups; of the other 6 groups the
        // router that their link leads to. 5: the other 3 routers of these.
        for (std::size_t host = 0; host < 72; ++host) {
            EXPECT_EQ(hop_distribution(*fabric, host),
                      (std::map<std::size_t, int>{
                          {2, 1}, {3, 3 * 2 + 2 * 2}, {4, 2 * 3 * 2 + 6 * 2}, {5, 6 * 3 * 2}}));
        }
        const GlobalLinks links = global_links(*fabric, 4);
        EXPECT_EQ(links.of_groups.size(), 9U * 8U);
        for (const auto& [groups, count] : links.of_groups) {
            EXPECT_EQ(count, 1);
        }
        EXPECT_EQ(links.of_router.size(), 36U);
        for (const auto& [router, count] : links.of_router) {
            EXPECT_EQ(count, 2);
        }
    }
}

TEST(DragonflyTopology, FewerGroupsHaveBundlesOfGlobalLinks) {
    // 8 ports: 2 links to each of 4 other groups; to each of 3, with 2 ports free; 8 to the only other.
    for (const auto& [groups, bundle] :
         {std::pair(5, 2), std::pair(4, 2), std::pair(2, 8), std::pair(3, 4)}) {
        for (const GlobalArrangement arrangement : kArrangements) {
            DragonflyParameters parameters = shape(2, 4, 2, groups);
            parameters.arrangement = arrangement;
            const GlobalLinks links = global_links(*build_dragonfly(parameters), 4);
            EXPECT_EQ(links.of_groups.size(), static_cast<std::size_t>(groups * (groups - 1)));
            for (const auto& [pair, count] : links.of_groups) {
                EXPECT_EQ(count, bundle) << groups;
            }
            for (const auto& [router, count] : links.of_router) {
                EXPECT_LE(count, 2);
            }
        }
    }
}

TEST(DragonflyTopology, ArrangementsAreThoseOfThePaper) {
    // a = 2, h = 2, g = 5: the groups that ports 0 to 3 of group 2 lead to, two ports to a router.
    const std::map<GlobalArrangement, std::vector<std::size_t>> expected{
        {GlobalArrangement::kAbsolute, {0, 1, 3, 4}},
        {GlobalArrangement::kRelative, {3, 4, 0, 1}},
        {GlobalArrangement::kCirculant, {3, 1, 4, 0}}};
    for (const auto& [arrangement, groups] : expected) {
        DragonflyParameters parameters = shape(1, 2, 2);
        parameters.arrangement = arrangement;
        const std::shared_ptr<const Fabric> fabric = build_dragonfly(parameters);
        for (std::size_t router = 0; router < 2; ++router) {
            const NodeId node(10 + 2 * 2 + router);
            std::vector<std::size_t> reached;
            for (std::size_t i = 0; i < fabric->out_degree(node); ++i) {
                const LinkId id(fabric->first_link(node).index() + i);
                if (fabric->link(id).cost == kGlobalCost) {
                    reached.push_back((fabric->target(id).index() - 10) / 2);
                }
            }
            std::vector<std::size_t> ports{groups[2 * router], groups[2 * router + 1]};
            std::sort(ports.begin(), ports.end());
            std::sort(reached.begin(), reached.end());
            EXPECT_EQ(reached, ports);
        }
    }
}

TEST(DragonflyTopology, BisectionIsThatOfTheGlobalLinksBetweenHalves) {
    // g = 3·1 + 1 = 4 groups: 2 · 2 links between halves.
    EXPECT_EQ(bisection_rate(*build_dragonfly(shape(2, 3, 1))), 4 * (100_Gbps).count());
    // g = 8: 4 · 4.
    DragonflyParameters parameters = shape(3, 7, 1);
    parameters.global_link.rate = 200_Gbps;
    EXPECT_EQ(bisection_rate(*build_dragonfly(parameters)), 16 * (200_Gbps).count());
}

TEST(DragonflyTopology, MinimalPathsTakeOneGlobalLink) {
    // Two global links, through a third group, would be 4 links where a local, a global and a local one
    // are 5.
    const std::shared_ptr<const Fabric> fabric = build_dragonfly(shape(2));
    for (std::size_t to = 8; to < 72; ++to) {
        int crossed = 0;
        for (const RouteLeg& leg : fabric->routing().route(HostId(0), HostId(to)).legs) {
            crossed += fabric->link(leg.link).cost == kGlobalCost ? 1 : 0;
        }
        EXPECT_EQ(crossed, 1) << to;
    }
}

/// Every host of a group to the host of the same place in the next one.
std::vector<Transfer> to_next_group(int hosts, int in_group, Bytes size) {
    std::vector<Transfer> transfers;
    for (int host = 0; host < hosts; ++host) {
        transfers.push_back({host, (host + in_group) % hosts, size});
    }
    return transfers;
}

TEST(DragonflyTransfers, ValiantSpreadsWhatMinimalRoutingPutsOnOneLink) {
    for (const GlobalArrangement arrangement : kArrangements) {
        DragonflyParameters parameters = shape(2);
        parameters.arrangement = arrangement;
        parameters.load_balancing = LoadBalancing::kSpray;
        const std::vector<Transfer> transfers = to_next_group(72, 8, 1_MB);
        // Minimal: 8 hosts on one link of 80 ps a byte; 5 links of 500 ns, or fewer.
        const std::vector<Time> minimal = deliver_together(build_dragonfly(parameters), transfers);
        EXPECT_EQ(*std::max_element(minimal.begin(), minimal.end()), 8 * 80_ps * 1'000'000 + 5 * 500_ns);
        // Valiant: 8 hosts over 7 groups out of every group, and as many that pass through it: 16/7 MB on a
        // link, 182.857143 us; two global and three local links, and those of the hosts.
        parameters.routing = DragonflyRule::kValiant;
        const std::shared_ptr<const Fabric> fabric = build_dragonfly(parameters);
        RouteLoad loads(*fabric, LoadBalancing::kPaths);
        for (const Transfer& transfer : transfers) {
            loads.add(HostId(transfer.source), HostId(transfer.destination), 7.0);
        }
        for (LinkId id; id.index() < fabric->link_count(); ++id) {
            const bool is_direct =
                fabric->link(id).cost == kGlobalCost &&
                (fabric->target(id).index() - 72) / 4 == ((fabric->source(id).index() - 72) / 4 + 1) % 9;
            if (fabric->link(id).cost == kGlobalCost) {
                EXPECT_NEAR(loads.links()[id], is_direct ? 0.0 : 16.0, 1e-9);
            }
        }
        const std::vector<Time> valiant = deliver_together(fabric, transfers);
        const Time slowest = *std::max_element(valiant.begin(), valiant.end());
        EXPECT_GE(slowest, Time(182'857'142) + 6 * 500_ns);
        EXPECT_LE(slowest, Time(182'857'144) + 7 * 500_ns);
    }
}

TEST(DragonflyRoutingTest, ValiantPathsLeadOverTwoGlobalLinksToTheDestination) {
    DragonflyParameters parameters = shape(2, 4, 2, 5);  // two links between every two groups
    parameters.routing = DragonflyRule::kValiant;
    for (const LoadBalancing balancing : {LoadBalancing::kSpray, LoadBalancing::kFlowHash}) {
        parameters.load_balancing = balancing;
        const std::shared_ptr<const Fabric> fabric = build_dragonfly(parameters);
        const RoutingPolicy& routing = fabric->routing();
        for (int to = 1; to < 40; ++to) {
            const HostId source(0);
            const HostId destination(to);
            const std::size_t expected = balancing == LoadBalancing::kFlowHash || to < 8 ? 1 : 3;
            ASSERT_EQ(routing.path_count(source, destination), expected);
            std::map<LinkId, double> walked;
            for (std::size_t path = 0; path < expected; ++path) {
                int crossed = 0;
                std::size_t hops = 0;
                for (NodeId at = fabric->node_of(source); at != fabric->node_of(destination); ++hops) {
                    const LinkId link = routing.select_on(path, at, source, destination);
                    crossed += fabric->link(link).cost == kGlobalCost ? 1 : 0;
                    walked[link] += 1.0 / static_cast<double>(expected);
                    at = fabric->target(link);
                    ASSERT_LE(hops, 7U);
                }
                EXPECT_EQ(crossed, to < 8 ? 0 : 2) << to;
            }
            const Route route = routing.route(source, destination);
            EXPECT_EQ(route.legs.size(), walked.size());
            for (const RouteLeg& leg : route.legs) {
                EXPECT_NEAR(leg.share, walked.at(leg.link), 1e-12);
            }
        }
    }
}

TEST(DragonflyRoutingTest, ListedLinksSayWhichGroupsLieBetween) {
    // Groups of two routers in a ring 0 - 1 - 2 - 3 - 0, each link from router 1 to router 0 of the next.
    DragonflyParameters parameters = shape(1, 2, 0, 4);
    for (int group = 0; group < 4; ++group) {
        parameters.global_links.push_back({.from = 2 * group + 1, .to = (2 * group + 2) % 8});
    }
    parameters.routing = DragonflyRule::kValiant;
    parameters.load_balancing = LoadBalancing::kSpray;
    EXPECT_EQ(keys(validation_errors(parameters)), Keys{});
    const std::shared_ptr<const Fabric> fabric = build_dragonfly(parameters);
    // Two groups apart: over both groups between. Next to each other: no group has links to both.
    EXPECT_EQ(fabric->routing().path_count(HostId(0), HostId(4)), 2U);
    EXPECT_EQ(fabric->routing().path_count(HostId(0), HostId(2)), 1U);
    // Host 0, router 0, router 1, group 1's router 2 and its host.
    EXPECT_EQ(hops(*fabric, 0, 2), 4U);
    // Over group 3: router 0 has that link: up, global, local, global, local?, down. Host 4 is at router 4,
    // which group 1's link reaches: up, local, global, local, global, down.
    EXPECT_EQ(hops(*fabric, 0, 4), 6U);
}

TEST(DragonflyParametersTest, RejectsWhatCannotBe) {
    EXPECT_EQ(keys(validation_errors(shape(2))), Keys{});
    EXPECT_EQ(keys(validation_errors(shape(0))), Keys{"hosts_per_router"});
    EXPECT_EQ(keys(validation_errors(shape(-1, -2, -3, -4))),
              (Keys{"hosts_per_router", "routers_per_group", "global_links_per_router", "groups"}));
    EXPECT_EQ(keys(validation_errors(shape(2, 4, 2, 9))), Keys{});
    EXPECT_EQ(keys(validation_errors(shape(2, 4, 2, 10))), Keys{"groups"});
    EXPECT_EQ(keys(validation_errors(shape(64, 256, 64))), Keys{"groups"});  // 16,385 groups of 16,384 hosts
    EXPECT_EQ(keys(validation_errors(shape(4096, 4096, 4096))), Keys{"groups"});
    EXPECT_EQ(keys(validation_errors(shape(1, 1, 1))), Keys{});
    EXPECT_THROW((void)build_dragonfly(shape(0)), std::logic_error);
    DragonflyParameters p = shape(2);
    p.global_link.rate = Bandwidth(0);
    p.local_link.latency = Time(-1);
    p.switch_buffer = Bytes(-1);
    EXPECT_EQ(keys(validation_errors(p)), (Keys{"local_link.latency", "global_link.rate", "switch_buffer"}));
}

TEST(DragonflyParametersTest, RejectsListsOfLinksThatCannotBe) {
    DragonflyParameters p = shape(1, 2, 1, 3);
    p.global_links = {{0, 2}, {3, 4}};
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
    p.global_links = {{0, 2}};
    EXPECT_EQ(keys(validation_errors(p)), Keys{"global_links"});  // group 2 cannot be reached
    p.global_links = {{0, 6}, {-1, 2, 0}};
    EXPECT_EQ(keys(validation_errors(p)),
              (Keys{"global_links.0.to", "global_links.1.from", "global_links.1.cables"}));
    p.global_links = {{0, 1}, {0, 2}, {3, 4}};
    EXPECT_EQ(keys(validation_errors(p)), (Keys{"global_links.0", "global_links.1"}));  // and router 0 has 2
    p = shape(1, 2, 0, 0);
    p.global_links = {{0, 2}};
    EXPECT_EQ(keys(validation_errors(p)), Keys{"groups"});
    p.groups = 2;
    p.arrangement = GlobalArrangement::kRelative;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"arrangement"});
}

}  // namespace
}  // namespace astrolabe::network
