// Routes around links that are down: single paths, sprayed, named, and where nothing leads around.
#include "network/src/failures/repaired_routing.hpp"

#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/torus.hpp"
#include "random_fabrics.hpp"

#include <cmath>
#include <map>
#include <set>

#include <failing_fabrics.hpp>
#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

using Down = IndexedVector<LinkId, std::uint8_t>;

Down down(const Fabric& fabric, const std::vector<LinkId>& cables) {
    Down is_down(fabric.link_count(), 0);
    for (const LinkId link : cables) {
        is_down[link] = 1;
        if (const auto reverse = fabric.link(link).reverse) {
            is_down[*reverse] = 1;
        }
    }
    return is_down;
}

std::shared_ptr<const Fabric> leaf_spine(LoadBalancing balancing) {
    LeafSpineParameters parameters;
    parameters.hosts = 4;
    parameters.hosts_per_leaf = 2;
    parameters.spines = 2;
    parameters.load_balancing = balancing;
    return build_leaf_spine(parameters);
}

/// What enters a node of a route leaves it, but for source and destination, and no link is down.
void expect_whole(const Fabric& fabric, const Route& route, const Down& is_down, HostId source,
                  HostId destination) {
    std::map<NodeId, double> excess;
    for (const RouteLeg& leg : route.legs) {
        EXPECT_EQ(is_down[leg.link], 0);
        EXPECT_GT(leg.share, 0.0);
        excess[fabric.source(leg.link)] += leg.share;
        excess[fabric.target(leg.link)] -= leg.share;
    }
    for (const auto& [node, sum] : excess) {
        const double expected = node == fabric.node_of(source)        ? 1
                                : node == fabric.node_of(destination) ? -1
                                                                      : 0;
        EXPECT_NEAR(sum, expected, 1e-12) << fabric.node(node).name;
    }
}

TEST(RepairedRouting, ASpinelessLeafIsAvoidedByAllThatSpray) {
    const auto fabric = leaf_spine(LoadBalancing::kSpray);
    const RepairedRouting routing(*fabric, down(*fabric, {link_between(*fabric, "leaf 0", "spine 0")}));
    // Host 2 of leaf 1 to host 0 of leaf 0: four links of share 1, all over spine 1.
    const Route route = routing.route(HostId(2), HostId(0));
    ASSERT_EQ(route.legs.size(), 4U);
    EXPECT_EQ(fabric->node(fabric->target(route.legs[1].link)).name, "spine 1");
    for (const RouteLeg& leg : route.legs) {
        EXPECT_EQ(leg.share, 1.0);
    }
}

TEST(RepairedRouting, PairsWhosePathIsWholeKeepIt) {
    const auto fabric = leaf_spine(LoadBalancing::kFlowHash);
    const Down is_down = down(*fabric, {link_between(*fabric, "leaf 0", "spine 0")});
    const RepairedRouting routing(*fabric, is_down);
    std::size_t kept = 0;
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
            if (a == b) {
                continue;
            }
            const Route before = fabric->routing().route(HostId(a), HostId(b));
            const Route after = routing.route(HostId(a), HostId(b));
            const bool was_whole = std::ranges::none_of(
                before.legs, [&](const RouteLeg& leg) { return is_down[leg.link] != 0; });
            if (was_whole) {
                ++kept;
                ASSERT_EQ(before.legs.size(), after.legs.size());
                for (std::size_t i = 0; i < before.legs.size(); ++i) {
                    EXPECT_EQ(before.legs[i].link, after.legs[i].link);
                }
            }
            expect_whole(*fabric, after, is_down, HostId(a), HostId(b));
        }
    }
    EXPECT_GT(kept, 0U);
    EXPECT_LT(kept, 12U);
}

TEST(RepairedRouting, WhereNothingLeadsAroundTheRouteStays) {
    FlatParameters parameters;
    parameters.hosts = 3;
    const auto fabric = build_flat(parameters);
    const RepairedRouting routing(*fabric, down(*fabric, {fabric->first_link(NodeId(1))}));
    EXPECT_FALSE(routing.connects(HostId(0), HostId(1)));
    EXPECT_FALSE(routing.connects(HostId(1), HostId(2)));
    EXPECT_TRUE(routing.connects(HostId(0), HostId(2)));
    EXPECT_EQ(routing.route(HostId(0), HostId(1)).legs.size(), 2U);
}

TEST(RepairedRouting, ATornRingIsCrossedTheOtherWay) {
    TorusParameters parameters;
    parameters.sizes = {5};
    const auto fabric = build_torus(parameters);
    const RepairedRouting routing(*fabric, down(*fabric, {link_between(*fabric, "host 0", "host 1")}));
    EXPECT_EQ(routing.route(HostId(0), HostId(1)).hops, 4U);  // 0 4 3 2 1
    EXPECT_EQ(routing.route(HostId(0), HostId(4)).hops, 1U);
}

/// Every pair: a whole route if links that are up connect it; packets that follow `select` or any of
/// `next_links` arrive without meeting a link that is down.
void expect_good(const Fabric& fabric, const Down& is_down) {
    const RepairedRouting routing(fabric, is_down);
    const auto reaches = [&](HostId source, HostId destination) {
        std::set<NodeId> seen{fabric.node_of(source)};
        std::vector<NodeId> found{fabric.node_of(source)};
        while (!found.empty()) {
            const NodeId node = found.back();
            found.pop_back();
            for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
                const LinkId link(fabric.first_link(node).index() + i);
                if (is_down[link] == 0 && seen.insert(fabric.target(link)).second) {
                    found.push_back(fabric.target(link));
                }
            }
        }
        return seen.contains(fabric.node_of(destination));
    };
    for (HostId source; source.index() < fabric.host_count(); ++source) {
        for (HostId destination; destination.index() < fabric.host_count(); ++destination) {
            if (source == destination) {
                continue;
            }
            const bool is_connected = reaches(source, destination);
            ASSERT_EQ(routing.connects(source, destination), is_connected);
            const Route route = routing.route(source, destination);
            ASSERT_FALSE(route.legs.empty());
            if (!is_connected) {
                continue;
            }
            expect_whole(fabric, route, is_down, source, destination);
            std::size_t hops = 0;
            for (NodeId at = fabric.node_of(source); at != fabric.node_of(destination); ++hops) {
                const LinkId link =
                    routing.load_balancing() == LoadBalancing::kSpray
                        ? routing.next_links(at,
                                             destination)[hops % routing.next_links(at, destination).size()]
                        : routing.select(at, source, destination);
                ASSERT_EQ(is_down[link], 0);
                ASSERT_LE(hops, fabric.link_count());
                at = fabric.target(link);
            }
        }
    }
}

TEST(RepairedRouting, LeadsAroundAnyTornCablesOfAnyFabric) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const auto fabric = random_static_fabric(random);
        std::vector<LinkId> torn;
        for (std::int64_t i = pick(random, 0, 4); i >= 0; --i) {
            torn.emplace_back(static_cast<std::uint32_t>(
                pick(random, 0, static_cast<std::int64_t>(fabric->link_count()) - 1)));
        }
        SCOPED_TRACE(seed);
        expect_good(*fabric, down(*fabric, torn));
    }
}

}  // namespace
}  // namespace astrolabe::network
