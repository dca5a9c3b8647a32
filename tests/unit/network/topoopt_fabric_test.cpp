/// The fabric of a topology that was found, link by link.
#include "network/src/topoopt/topoopt.hpp"
#include "network/src/topoopt/topoopt_family.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network::topoopt {
namespace {

std::vector<Server> members_of(std::uint32_t servers, std::uint32_t members, Server first) {
    std::vector<Server> group(members);
    for (std::uint32_t i = 0; i < members; ++i) {
        group[i] = first + servers / members * i;
    }
    return group;
}

/// All-reduces of all servers and of all groups of `members`, and uneven traffic between pairs.
Demand mixed(std::uint32_t servers, std::uint32_t members) {
    Demand demand{.servers = servers,
                  .groups = {{members_of(servers, servers, 0), 60'000}},
                  .point_to_point = PairDemand(servers)};
    for (Server first = 0; first < servers / members; ++first) {
        demand.groups.push_back({members_of(servers, members, first), 50'000});
    }
    for (Server a = 0; a < servers; ++a) {
        demand.point_to_point.add(a, (a * a + 3) % servers == a ? (a + 1) % servers : (a * a + 3) % servers,
                                  1'000 + a);
    }
    return demand;
}

TopoOptParameters with(std::int64_t degree, Mode mode, Wiring wiring) {
    TopoOptParameters parameters;
    parameters.degree = degree;
    parameters.mode = mode;
    parameters.wiring = wiring;
    return parameters;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> planned(const Topology& topology) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
    for (const PlannedLink& link : topology.links) {
        links.emplace_back(link.from, link.to);
    }
    std::sort(links.begin(), links.end());
    return links;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> built(const Fabric& fabric) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        links.emplace_back(fabric.source(link).index(), fabric.target(link).index());
    }
    std::sort(links.begin(), links.end());
    return links;
}

TEST(TopoOptFabric, HasTheLinksThatWerePlanned) {
    for (const Wiring wiring : {Wiring::kPanel, Wiring::kDuplex, Wiring::kSeparateFibres}) {
        for (const Mode mode : {Mode::kPaper, Mode::kReleased}) {
            for (std::int64_t degree = 2; degree <= 6; ++degree) {
                const auto found = build_topoopt(with(degree, mode, wiring), mixed(12, 4));
                ASSERT_TRUE(std::holds_alternative<NetworksForJob>(found));
                const auto& fabric = std::get<NetworksForJob>(found).front();
                const Topology& topology = *topology_of(*fabric);
                EXPECT_EQ(built(*fabric), planned(topology));
                // Rings go one way each on separate fibres; matchings are cables.
                const std::size_t matched = topology.matchings.size() * 12;
                EXPECT_EQ(fabric->one_way_link_count(),
                          wiring == Wiring::kSeparateFibres ? topology.links.size() - matched : 0);
            }
        }
    }
}

TEST(TopoOptFabric, OneInterfaceIsEnoughForAOneWayRing) {
    const auto found =
        build_topoopt(with(1, Mode::kPaper, Wiring::kSeparateFibres),
                      {.servers = 9, .groups = {{members_of(9, 9, 0), 100}}, .point_to_point = {}});
    ASSERT_TRUE(std::holds_alternative<NetworksForJob>(found));
    const Fabric& fabric = *std::get<NetworksForJob>(found).front();
    EXPECT_EQ(fabric.link_count(), 9U);
    EXPECT_EQ(fabric.routing().route(HostId(3), HostId(2)).hops, 8U);
    // With cables a ring takes two.
    EXPECT_TRUE(std::holds_alternative<ValidationErrors>(
        build_topoopt(with(1, Mode::kPaper, Wiring::kPanel),
                      {.servers = 9, .groups = {{members_of(9, 9, 0), 100}}, .point_to_point = {}})));
}

TEST(TopoOptFabric, GroupsWithoutARingGoByStridesInModePaper) {
    // The group of all takes all three rings, of strides 1, 5 and 7 (docs/theory/topoopt.md, "Diameters and
    // mean hops"). Groups of 4 go on by 3, which is 1+1+1, 5+5+5 or 1+7+7: one path by coin change, up to
    // four of the k shortest.
    TopoOptParameters parameters = with(3, Mode::kPaper, Wiring::kSeparateFibres);
    Demand demand = mixed(12, 4);
    demand.groups.front().bytes = 1'000'000;
    const auto found = build_topoopt(parameters, demand);
    ASSERT_TRUE(std::holds_alternative<NetworksForJob>(found));
    const auto& fabric = std::get<NetworksForJob>(found).front();
    const Topology& topology = *topology_of(*fabric);
    ASSERT_EQ(topology.rings.size(), 2U);
    ASSERT_EQ(topology.rings[1].members, 4U);
    ASSERT_TRUE(topology.rings[1].strides.empty());
    EXPECT_EQ(topology.rings[0].strides, (std::vector<std::uint32_t>{1, 5, 7}));
    parameters.routing = DirectRouting::kKShortest;
    const auto split = build_topoopt(parameters, demand);
    const RoutingPolicy& k_shortest = std::get<NetworksForJob>(split).front()->routing();
    for (std::size_t host = 0; host < 12; ++host) {
        const HostId next((host + 3) % 12);
        EXPECT_EQ(fabric->routing().path_count(HostId(host), next), 1U);
        EXPECT_EQ(fabric->routing().route(HostId(host), next).legs.size(), 3U);
        EXPECT_EQ(k_shortest.path_count(HostId(host), next), 4U);
    }
}

}  // namespace
}  // namespace astrolabe::network::topoopt
