/// The routings that direct_connect offers, path by path and by what they put on links.
#include "direct_networks.hpp"
#include "network/src/routing/random_tree_routing.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/analysis/route_report.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

constexpr DirectRouting kChoices[] = {DirectRouting::kFlowHash,       DirectRouting::kSpray,
                                      DirectRouting::kRandomShortest, DirectRouting::kCoinChange,
                                      DirectRouting::kBalanced,       DirectRouting::kKShortest,
                                      DirectRouting::kByClass};

/// Links on the way with fewest from `origin` to every node, by Bellman and Ford.
std::vector<std::size_t> hops_from(const Fabric& fabric, NodeId origin) {
    std::vector<std::size_t> hops(fabric.node_count(), fabric.node_count());
    hops[origin.index()] = 0;
    for (std::size_t round = 0; round < fabric.node_count(); ++round) {
        for (LinkId link; link.index() < fabric.link_count(); ++link) {
            std::size_t& target = hops[fabric.target(link).index()];
            target = std::min(target, hops[fabric.source(link).index()] + 1);
        }
    }
    return hops;
}

/// Hosts on the way, as `select` leads.
std::vector<std::size_t> walk(const Fabric& fabric, std::size_t source, std::size_t destination) {
    std::vector<std::size_t> visited{source};
    while (visited.back() != destination && visited.size() <= fabric.host_count()) {
        visited.push_back(
            fabric
                .target(fabric.routing().select(NodeId(visited.back()), HostId(source), HostId(destination)))
                .index());
    }
    return visited;
}

TEST(DirectRouting, EveryRoutingTakesShortestPathsThroughEveryLinkOfThem) {
    // coin_change_test.cpp: hops by offset with coins 1, 5, 11 and 15, both ways round, and with 1, 3 and 7.
    const std::vector<std::size_t> both_ways = {0, 1, 2, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 2, 1};
    const std::vector<std::size_t> one_way_hops = {0, 1, 2, 1, 2, 3, 2, 1, 2, 3, 2, 3, 4, 3, 2, 3};
    for (std::size_t i = 0; i < 2 * std::size(kChoices); ++i) {
        const bool is_one_way = i >= std::size(kChoices);
        const DirectRouting routing = kChoices[i % std::size(kChoices)];
        const std::shared_ptr<const Fabric> fabric =
            build_direct_connect(is_one_way ? one_way(16, {1, 3, 7}, routing) : rings(16, {1, 5}, routing));
        for (std::size_t source = 0; source < 16; ++source) {
            for (std::size_t destination = 0; destination < 16; ++destination) {
                if (source == destination) {
                    continue;
                }
                const Route route = fabric->routing().route(HostId(source), HostId(destination));
                const std::size_t hops =
                    (is_one_way ? one_way_hops : both_ways)[(destination + 16 - source) % 16];
                ASSERT_EQ(route.hops, hops);
                ASSERT_EQ(route.latency, static_cast<std::int64_t>(hops) * 500_ns);
                double crossed = 0;
                for (const RouteLeg& leg : route.legs) {
                    crossed += leg.share;
                }
                ASSERT_NEAR(crossed, static_cast<double>(hops), 1e-9);
                ASSERT_EQ(walk(*fabric, source, destination).size(), hops + 1);
            }
        }
    }
}

TEST(DirectRouting, SelectFollowsTheRouteWhereThereIsOne) {
    for (const DirectRouting routing :
         {DirectRouting::kRandomShortest, DirectRouting::kCoinChange, DirectRouting::kBalanced}) {
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(rings(32, {1, 7, 7}, routing, 3));
        EXPECT_EQ(fabric->routing().load_balancing(), LoadBalancing::kFlowHash);
        for (std::size_t source = 0; source < 32; source += 5) {
            for (std::size_t destination = 0; destination < 32; ++destination) {
                if (source == destination) {
                    continue;
                }
                NodeId at(source);
                for (const RouteLeg& leg :
                     fabric->routing().route(HostId(source), HostId(destination)).legs) {
                    ASSERT_EQ(fabric->routing().select(at, HostId(source), HostId(destination)), leg.link);
                    at = fabric->target(leg.link);
                }
                ASSERT_EQ(at, NodeId(destination));
            }
        }
    }
}

TEST(DirectRouting, APacketThatHasLeftItsRouteArrives) {
    for (std::size_t i = 0; i < 2 * std::size(kChoices); ++i) {
        const DirectRouting routing = kChoices[i % std::size(kChoices)];
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(
            i < std::size(kChoices) ? rings(16, {1, 5}, routing) : one_way(16, {1, 5}, routing));
        for (std::size_t at = 0; at < 16; ++at) {
            // Of a packet from host 2 to host 9.
            std::size_t hops = 0;
            NodeId node(at);
            while (node != NodeId(9) && hops <= 16) {
                node = fabric->target(fabric->routing().select_on(0, node, HostId(2), HostId(9)));
                ++hops;
            }
            EXPECT_EQ(node, NodeId(9));
            EXPECT_LE(hops, 8U);
        }
    }
}

/// The definition, without a table: the link by which `node` hangs on the tree of `source`, drawn among those
/// from neighbours that are a link nearer, by hash of (seed, source, node).
LinkId drawn_link(const Fabric& fabric, std::uint64_t seed, NodeId source, NodeId node) {
    const std::vector<std::size_t> hops = hops_from(fabric, source);
    std::vector<LinkId> nearer;
    for (const LinkId in : fabric.links_into(node)) {
        if (hops[fabric.source(in).index()] + 1 == hops[node.index()]) {
            nearer.push_back(in);
        }
    }
    const std::uint64_t pair = std::uint64_t{source.index()} << 32 | node.index();
    const std::uint64_t upper = mix_bits(mix_bits(seed + kGoldenGamma) ^ pair) >> 32;
    return nearer[static_cast<std::size_t>(upper * nearer.size() >> 32)];
}

TEST(RandomTreeRouting, TheDenseTreesAreThoseOfTheDefinition) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(rings(24, {1, 5, 7}));
        const RandomTreeRouting routing(*fabric, seed);
        for (std::size_t source = 0; source < 24; ++source) {
            for (std::size_t destination = 0; destination < 24; ++destination) {
                if (source == destination) {
                    continue;
                }
                std::vector<LinkId> expected;  // from the destination backwards
                for (NodeId node(destination); node != NodeId(source);
                     node = fabric->source(expected.back())) {
                    expected.push_back(drawn_link(*fabric, seed, NodeId(source), node));
                }
                std::reverse(expected.begin(), expected.end());
                const Route route = routing.route(HostId(source), HostId(destination));
                ASSERT_EQ(route.legs.size(), expected.size());
                for (std::size_t leg = 0; leg < expected.size(); ++leg) {
                    ASSERT_EQ(route.legs[leg].link, expected[leg]);
                    const NodeId at = fabric->source(expected[leg]);
                    ASSERT_EQ(routing.select(at, HostId(source), HostId(destination)), expected[leg]);
                }
            }
        }
    }
}

TEST(CoinChangeRouting, PaysTheSmallestCoinsFirst) {
    // coin_change_test.cpp: 8 = 1+1+1+5 and 14 = 15+15 of 16 servers with coins 1, 5, 11, 15.
    const std::shared_ptr<const Fabric> fabric =
        build_direct_connect(rings(16, {1, 5}, DirectRouting::kCoinChange));
    EXPECT_EQ(walk(*fabric, 0, 8), (std::vector<std::size_t>{0, 1, 2, 3, 8}));
    EXPECT_EQ(walk(*fabric, 3, 11), (std::vector<std::size_t>{3, 4, 5, 6, 11}));
    EXPECT_EQ(walk(*fabric, 0, 14), (std::vector<std::size_t>{0, 15, 14}));
}

TEST(CoinChangeRouting, UniformTrafficLoadsLinksOfACoinAlike) {
    for (const DirectRouting routing : {DirectRouting::kCoinChange, DirectRouting::kBalanced}) {
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(rings(24, {1, 5}, routing));
        RouteLoad routes(*fabric, LoadBalancing::kFlowHash);
        for (std::size_t source = 0; source < 24; ++source) {
            for (std::size_t step = 1; step < 24; ++step) {
                routes.add(HostId(source), HostId((source + step) % 24), 1.0);
            }
        }
        const IndexedVector<LinkId, double> loads = routes.links();
        std::vector<double> of_coin(24, -1.0);
        for (std::size_t i = 0; i < loads.size(); ++i) {
            const LinkId link(i);
            const std::size_t coin = (fabric->target(link).index() + 24 - fabric->source(link).index()) % 24;
            if (of_coin[coin] < 0) {
                of_coin[coin] = loads[link];
            }
            EXPECT_EQ(loads[link], of_coin[coin]) << coin;
        }
    }
}

// docs/theory/topoopt.md, "Times on rings": uniform all-to-all, one unit from every host to every other.
//
// With h̄ the mean hops and d = 4 links out of a host, a link carries (n-1)·h̄/4 on average: 15·2.1333/4 = 8,
// 127·5.6220/4 = 178.5 and 1023·16.0156/4 = 4,096.
struct Uniform {
    std::int64_t hosts;
    std::vector<std::int64_t> strides;
    double mean;
};
const std::vector<Uniform> kUniform = {{16, {1, 5}, 8.0}, {128, {1, 13}, 178.5}, {1024, {1, 33}, 4096.0}};

TEST(UniformAllToAll, TakesTheMeanHopsOfEveryLink) {
    for (const Uniform& row : kUniform) {
        const RouteReport report = report_uniform_routes(
            *build_direct_connect(rings(row.hosts, row.strides, DirectRouting::kCoinChange)), 1.0);
        EXPECT_NEAR(report.mean_load, row.mean, 1e-9);
        EXPECT_NEAR(report.tax, row.mean * 4 / static_cast<double>(row.hosts - 1), 1e-9);
    }
}

TEST(UniformAllToAll, BalancedRoutesComeNearTheMean) {
    // coin_change_test.cpp derives what no choice of shortest routes can even out.
    const double most[] = {1.125, 1.08, 1.04};
    for (std::size_t i = 0; i < kUniform.size(); ++i) {
        const Uniform& row = kUniform[i];
        const RouteReport report = report_uniform_routes(
            *build_direct_connect(rings(row.hosts, row.strides, DirectRouting::kBalanced)), 1.0);
        EXPECT_LE(report.busiest_load / row.mean, most[i]) << row.hosts;
    }
}

TEST(UniformAllToAll, OneWayStridesAreShorterThanAsManyInterfacesBothWays) {
    // Four one-way rings of the strides that the paper selects: mean hops of docs/theory/topoopt.md,
    // "Diameters and mean hops", to four digits, (n-1)·h/4 routes on a link on average.
    struct Row {
        std::vector<std::int64_t> strides;
        double mean_hops;
        double most_over_mean;  ///< of balanced routes: 8, 157 and 2,578 on the busiest
    };
    const std::vector<Row> rows = {
        {{1, 3, 5, 7}, 2.0000, 1.07}, {{1, 3, 11, 39}, 4.5669, 1.09}, {{1, 5, 33, 181}, 8.9971, 1.13}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Uniform& both_ways = kUniform[i];
        const RouteReport report = report_uniform_routes(
            *build_direct_connect(one_way(both_ways.hosts, rows[i].strides, DirectRouting::kBalanced)), 1.0);
        EXPECT_NEAR(report.mean_hops, rows[i].mean_hops, 5e-5);
        EXPECT_NEAR(report.mean_load, static_cast<double>(both_ways.hosts - 1) * report.mean_hops / 4, 1e-6);
        EXPECT_LE(report.busiest_load / report.mean_load, rows[i].most_over_mean) << both_ways.hosts;
        // The mean of the two full-duplex rings, which no routing over them goes below.
        EXPECT_LE(report.busiest_load, both_ways.mean);
    }
}

TEST(UniformAllToAll, OneRandomTreeASourceLeavesTheBusiestLinkFarAboveTheMean) {
    // Published for single random shortest paths: 15 to 17, 265 to 277 and about 5,270 routes on the busiest
    // link. One seed of 16 hosts may have 14 or 19, as a program of our own found, so the mean of eight is
    // held to these; of 1,024 hosts one seed is held to 2 %.
    const double least[] = {15, 265, 0.98 * 5270};
    const double most[] = {17, 277, 1.02 * 5270};
    for (std::size_t i = 0; i < kUniform.size(); ++i) {
        const Uniform& row = kUniform[i];
        const int seeds = row.hosts == 1024 ? 1 : 8;
        double sum = 0;
        for (int seed = 1; seed <= seeds; ++seed) {
            sum += report_uniform_routes(*build_direct_connect(rings(row.hosts, row.strides,
                                                                     DirectRouting::kRandomShortest, seed)),
                                         1.0)
                       .busiest_load;
        }
        EXPECT_GE(sum / seeds, least[i]) << row.hosts;
        EXPECT_LE(sum / seeds, most[i]) << row.hosts;
        RecordProperty("busiest_" + std::to_string(row.hosts), std::to_string(sum / seeds));
    }
}

TEST(RouteReport, CountsBytesTimesLinks) {
    // A ring of 4: 3 units over one link, 5 over two by way of host 1 or 3, in a fixed choice.
    const std::shared_ptr<const Fabric> fabric =
        build_direct_connect(rings(4, {1}, DirectRouting::kCoinChange));
    const RouteReport report =
        report_routes(*fabric, {{HostId(0), HostId(1), 3.0}, {HostId(0), HostId(2), 5.0}});
    EXPECT_EQ(report.bytes, 8.0);
    EXPECT_EQ(report.tax, (3.0 + 2 * 5.0) / 8.0);
    EXPECT_EQ(report.mean_hops, 1.5);  // of two pairs
    EXPECT_EQ(report.longest, 2U);
    // Coins 1+1 come before 3+3, so host 0's link to host 1 has both: 8 bytes at 100 Gb/s are 640 ps.
    EXPECT_EQ(report.busiest_load, 8.0);
    EXPECT_EQ(fabric->target(report.busiest), NodeId(1));
    EXPECT_EQ(report.least_time, 640_ps);
    EXPECT_EQ(report.mean_load, 13.0 / 8);
    EXPECT_EQ(report.imbalance(), 8.0 / (13.0 / 8));
    EXPECT_EQ(report_routes(*fabric, {}).tax, 0.0);
    EXPECT_EQ(report_routes(*fabric, {}).mean_hops, 0.0);
    EXPECT_EQ(report_routes(*fabric, {}).imbalance(), 1.0);
}

TEST(RouteReport, SplitsAsTheRoutingDoes) {
    // Between opposite hosts of a ring of 4, half each way: sprayed, and over both of two paths.
    for (const DirectRouting routing : {DirectRouting::kSpray, DirectRouting::kKShortest}) {
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(rings(4, {1}, routing));
        const RouteReport report = report_routes(*fabric, {{HostId(0), HostId(2), 8.0}});
        EXPECT_EQ(report.tax, 2.0);
        EXPECT_EQ(report.mean_hops, 2.0);
        EXPECT_EQ(report.longest, 2U);
        EXPECT_EQ(report.busiest_load, 4.0);
    }
}

}  // namespace
}  // namespace astrolabe::network
