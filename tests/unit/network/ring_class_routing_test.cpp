/// Routes by class: ring neighbours, ring offsets and the rest.
#include "direct_networks.hpp"

#include <cstddef>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/analysis/route_report.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

/// Twelve hosts in one-way rings 1 and 5, cables 0 - 5, 0 - 6 and 3 - 9 beside them; all-reduces also go 3
/// on.
DirectConnectParameters rings_and_cables(std::int64_t detour) {
    DirectConnectParameters parameters = one_way(12, {1, 5}, DirectRouting::kByClass);
    parameters.links = {{.from = 0, .to = 5}, {.from = 0, .to = 6}, {.from = 3, .to = 9}};
    parameters.ring_offsets = {3};
    parameters.detour = detour;
    return parameters;
}

/// Hosts on the way of one path of a pair.
std::vector<std::size_t> walk_on(const Fabric& fabric, std::size_t path, std::size_t source,
                                 std::size_t destination) {
    std::vector<std::size_t> visited{source};
    while (visited.back() != destination && visited.size() <= fabric.host_count()) {
        const LinkId link =
            fabric.routing().select_on(path, NodeId(visited.back()), HostId(source), HostId(destination));
        visited.push_back(fabric.target(link).index());
    }
    return visited;
}

TEST(RingClassRouting, RingNeighboursTakeWhatJoinsThemAndNoDetour) {
    const std::shared_ptr<const Fabric> fabric = build_direct_connect(rings_and_cables(2));
    EXPECT_EQ(fabric->routing().load_balancing(), LoadBalancing::kPaths);
    for (std::size_t host = 0; host < 12; ++host) {
        for (const std::size_t stride : {1U, 5U}) {
            const HostId source(host);
            const HostId next((host + stride) % 12);
            const std::size_t cables = host == 0 && stride == 5 ? 2 : 1;  // the fibre, and cable 0 - 5
            EXPECT_EQ(fabric->routing().path_count(source, next), cables);
            const Route route = fabric->routing().route(source, next);
            EXPECT_EQ(route.hops, 1U);
            EXPECT_EQ(route.latency, 500_ns);
            ASSERT_EQ(route.legs.size(), cables);
            for (std::size_t path = 0; path < cables; ++path) {
                EXPECT_EQ(route.legs[path].share, 1.0 / static_cast<double>(cables));
                EXPECT_EQ(fabric->routing().select_on(path, NodeId(host), source, next),
                          route.legs[path].link);
                EXPECT_EQ(fabric->target(route.legs[path].link).index(), next.index());
            }
        }
    }
}

TEST(RingClassRouting, RingOffsetsTakeTheFewestStridesSmallestFirst) {
    // 3 = 1+1+1: three hops where the cables 0 - 6 or 3 - 9 would not help, and one path.
    const std::shared_ptr<const Fabric> fabric = build_direct_connect(rings_and_cables(0));
    for (std::size_t host = 0; host < 12; ++host) {
        const std::size_t to = (host + 3) % 12;
        EXPECT_EQ(fabric->routing().path_count(HostId(host), HostId(to)), 1U);
        EXPECT_EQ(walk_on(*fabric, 0, host, to),
                  (std::vector<std::size_t>{host, (host + 1) % 12, (host + 2) % 12, to}));
        const Route route = fabric->routing().route(HostId(host), HostId(to));
        EXPECT_EQ(route.hops, 3U);
        EXPECT_EQ(route.latency, 3 * 500_ns);
        ASSERT_EQ(route.legs.size(), 3U);
        EXPECT_EQ(route.legs[1].share, 1.0);
    }
    // Host 4 lies beside the way from 0 to 3, 11 on: 5+5+1, of which 1 is paid first.
    NodeId at(4);
    std::vector<std::size_t> visited;
    while (at != NodeId(3) && visited.size() < 12) {
        at = fabric->target(fabric->routing().select_on(0, at, HostId(0), HostId(3)));
        visited.push_back(at.index());
    }
    EXPECT_EQ(visited, (std::vector<std::size_t>{5, 10, 3}));
}

TEST(RingClassRouting, TheRestTakesKShortestPathsOfTheWholeGraph) {
    const std::shared_ptr<const Fabric> fabric = build_direct_connect(rings_and_cables(1));
    DirectConnectParameters parameters = rings_and_cables(1);
    parameters.routing = DirectRouting::kKShortest;
    const std::shared_ptr<const Fabric> reference = build_direct_connect(parameters);
    std::size_t rest = 0;
    for (std::size_t source = 0; source < 12; ++source) {
        for (std::size_t destination = 0; destination < 12; ++destination) {
            const std::size_t offset = (destination + 12 - source) % 12;
            if (offset == 0 || offset == 1 || offset == 3 || offset == 5) {
                continue;
            }
            ++rest;
            const auto expected = paths(*reference, source, destination);
            ASSERT_EQ(fabric->routing().path_count(HostId(source), HostId(destination)), expected.size());
            for (std::size_t path = 0; path < expected.size(); ++path) {
                std::vector<std::size_t> way{source};
                for (const LinkId link : expected[path]) {
                    way.push_back(fabric->target(link).index());
                }
                ASSERT_EQ(walk_on(*fabric, path, source, destination), way);
            }
            const Route route = fabric->routing().route(HostId(source), HostId(destination));
            const Route same = reference->routing().route(HostId(source), HostId(destination));
            ASSERT_EQ(route.hops, same.hops);
            ASSERT_EQ(route.latency, same.latency);
            ASSERT_EQ(route.legs.size(), same.legs.size());
        }
    }
    EXPECT_EQ(rest, 12U * 8U);
}

TEST(RingClassRouting, LinksOfAStrideInParallelTakeTurns) {
    // Two rings of stride 1: two hops are left of offset 2 at first, then one, modulo 2.
    DirectConnectParameters parameters = one_way(6, {1, 1}, DirectRouting::kByClass);
    parameters.ring_offsets = {2};
    const std::shared_ptr<const Fabric> fabric = build_direct_connect(parameters);
    const Route route = fabric->routing().route(HostId(1), HostId(3));
    ASSERT_EQ(route.legs.size(), 2U);
    EXPECT_EQ(route.legs[0].link, fabric->first_link(NodeId(1)));
    EXPECT_EQ(route.legs[1].link, LinkId(fabric->first_link(NodeId(2)).index() + 1));
    EXPECT_EQ(fabric->routing().route(HostId(1), HostId(2)).legs.size(), 2U);
}

TEST(RingClassRouting, DetoursOfTheRestLeaveAllReducesOnTheirRings) {
    // One byte to every ring neighbour crosses one link: tax 1. With k_shortest and a detour of 2 half of it
    // would go round.
    DirectConnectParameters parameters = rings(16, {1, 5}, DirectRouting::kByClass);
    parameters.detour = 2;
    const auto tax = [](const DirectConnectParameters& p) {
        std::vector<PairTraffic> demand;
        for (std::size_t host = 0; host < 16; ++host) {
            for (const std::size_t stride : {1U, 5U, 11U, 15U}) {
                demand.push_back({HostId(host), HostId((host + stride) % 16), 1.0});
            }
        }
        return report_routes(*build_direct_connect(p), demand).tax;
    };
    EXPECT_EQ(tax(parameters), 1.0);
    parameters.routing = DirectRouting::kKShortest;
    EXPECT_GT(tax(parameters), 1.5);
}

}  // namespace
}  // namespace astrolabe::network
