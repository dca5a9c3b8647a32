/// The routings that direct_connect offers, path by path and by what they put on links.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/k_shortest_routing.hpp>
#include <astrolabe/network/route_load.hpp>
#include <astrolabe/network/route_report.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/network/topologies/direct_connect.hpp>

namespace astrolabe::network {
namespace {

constexpr DirectRouting kAll[] = {DirectRouting::kFlowHash,       DirectRouting::kSpray,
                                  DirectRouting::kRandomShortest, DirectRouting::kCoinChange,
                                  DirectRouting::kBalanced,       DirectRouting::kKShortest,
                                  DirectRouting::kByClass};

DirectConnectParameters rings(std::int64_t hosts, std::vector<std::int64_t> strides, DirectRouting routing,
                              std::int64_t seed = 1) {
    DirectConnectParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    parameters.rings = std::move(strides);
    parameters.routing = routing;
    parameters.seed = seed;
    return parameters;
}

DirectConnectParameters one_way(std::int64_t hosts, std::vector<std::int64_t> strides,
                                DirectRouting routing) {
    DirectConnectParameters parameters = rings(hosts, {}, routing);
    parameters.one_way_rings = std::move(strides);
    return parameters;
}

DirectConnectParameters with_paths(DirectConnectParameters parameters, std::int64_t paths,
                                   std::int64_t detour) {
    parameters.routing = DirectRouting::kKShortest;
    parameters.paths = paths;
    parameters.detour = detour;
    return parameters;
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
    for (std::size_t i = 0; i < 2 * std::size(kAll); ++i) {
        const bool is_one_way = i >= std::size(kAll);
        const DirectRouting routing = kAll[i % std::size(kAll)];
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
    for (std::size_t i = 0; i < 2 * std::size(kAll); ++i) {
        const DirectRouting routing = kAll[i % std::size(kAll)];
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(
            i < std::size(kAll) ? rings(16, {1, 5}, routing) : one_way(16, {1, 5}, routing));
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

// Section 8 of the model: uniform all-to-all, one unit from every host to every other.
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
    // Four one-way rings of the strides that the paper selects: mean hops of the reference table (section 7)
    // to four digits, (n-1)·h/4 routes on a link on average.
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

std::vector<KShortestRouting::Path> paths(const Fabric& fabric, std::size_t source, std::size_t destination) {
    return dynamic_cast<const KShortestRouting&>(fabric.routing()).paths(HostId(source), HostId(destination));
}

TEST(KShortestRouting, FindsPathsInOrderOfLength) {
    // A ring of 6: two links round one way, four the other, and no third way.
    const std::shared_ptr<const Fabric> fabric =
        build_direct_connect(with_paths(rings(6, {1}, DirectRouting::kKShortest), 4, 10));
    const auto found = paths(*fabric, 0, 2);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].size(), 2U);
    EXPECT_EQ(found[1].size(), 4U);
    EXPECT_EQ(fabric->routing().path_count(HostId(0), HostId(2)), 2U);
    const Route route = fabric->routing().route(HostId(0), HostId(2));
    EXPECT_EQ(route.legs.size(), 6U);
    EXPECT_EQ(route.hops, 4U);
    EXPECT_EQ(route.latency, 4 * 500_ns);
    for (const RouteLeg& leg : route.legs) {
        EXPECT_EQ(leg.share, 0.5);
    }
}

TEST(KShortestRouting, KeepsToTheDetourAndTheNumberOfPaths) {
    const DirectConnectParameters ring = rings(6, {1}, DirectRouting::kKShortest);
    EXPECT_EQ(paths(*build_direct_connect(with_paths(ring, 4, 1)), 0, 2).size(), 1U);
    EXPECT_EQ(paths(*build_direct_connect(with_paths(ring, 4, 2)), 0, 2).size(), 2U);
    EXPECT_EQ(paths(*build_direct_connect(with_paths(ring, 1, 2)), 0, 2).size(), 1U);
    // Opposite hosts: both ways are shortest.
    EXPECT_EQ(paths(*build_direct_connect(with_paths(ring, 4, 0)), 0, 3).size(), 2U);
}

TEST(KShortestRouting, LinksInParallelAreDifferentPaths) {
    const std::shared_ptr<const Fabric> fabric =
        build_direct_connect(with_paths(rings(6, {1, 1}, DirectRouting::kKShortest), 8, 0));
    EXPECT_EQ(paths(*fabric, 0, 1).size(), 2U);
    EXPECT_EQ(paths(*fabric, 0, 2).size(), 4U);  // two links, each one of two
    for (const RouteLeg& leg : fabric->routing().route(HostId(0), HostId(2)).legs) {
        EXPECT_EQ(leg.share, 0.5);
    }
}

/// All loopless paths, by trying.
void count_paths(const Fabric& fabric, NodeId at, NodeId to, std::vector<bool>& is_visited,
                 std::size_t length, std::vector<std::size_t>& of_length) {
    if (at == to) {
        ++of_length[length];
        return;
    }
    is_visited[at.index()] = true;
    for (std::size_t i = 0; i < fabric.out_degree(at); ++i) {
        const NodeId next = fabric.target(LinkId(fabric.first_link(at).index() + i));
        if (!is_visited[next.index()]) {
            count_paths(fabric, next, to, is_visited, length + 1, of_length);
        }
    }
    is_visited[at.index()] = false;
}

TEST(KShortestRouting, FindsAsManyOfEveryLengthAsThereAre) {
    for (int seed = 1; seed <= 6; ++seed) {
        DirectConnectParameters parameters;
        parameters.hosts = 8;
        parameters.random = {3, seed};
        (seed % 2 == 0 ? parameters.rings : parameters.one_way_rings) = {1};
        parameters.links = {{.from = 2, .to = 6, .one_way = true}, {.from = 4, .to = 1, .one_way = true}};
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(with_paths(parameters, 64, 64));
        for (std::size_t destination = 1; destination < 8; ++destination) {
            std::vector<std::size_t> expected(9, 0);
            std::vector<bool> is_visited(8, false);
            count_paths(*fabric, NodeId(0), NodeId(destination), is_visited, 0, expected);
            const auto found = paths(*fabric, 0, destination);
            ASSERT_EQ(found.size(),
                      std::min<std::size_t>(64, std::accumulate(expected.begin(), expected.end(), 0UL)));
            std::vector<std::size_t> lengths(9, 0);
            std::set<KShortestRouting::Path> different;
            for (const auto& path : found) {
                ++lengths[path.size()];
                ASSERT_TRUE(different.insert(path).second);
                std::set<NodeId> visited{NodeId(0)};
                NodeId at(0);
                for (const LinkId link : path) {
                    ASSERT_EQ(fabric->source(link), at);
                    at = fabric->target(link);
                    ASSERT_TRUE(visited.insert(at).second);
                }
                ASSERT_EQ(at, NodeId(destination));
            }
            // All of the short ones; of the longest length found, what there was room for.
            for (std::size_t length = 0; length < found.back().size(); ++length) {
                ASSERT_EQ(lengths[length], expected[length]);
            }
        }
    }
}

TEST(KShortestRouting, SelectOnFollowsEachPath) {
    for (const DirectConnectParameters& parameters :
         {rings(32, {1, 7}, DirectRouting::kKShortest), one_way(32, {1, 5}, DirectRouting::kKShortest)}) {
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(with_paths(parameters, 4, 1));
        for (std::size_t destination = 1; destination < 32; ++destination) {
            const auto found = paths(*fabric, 0, destination);
            ASSERT_FALSE(found.empty());
            for (std::size_t path = 0; path < found.size(); ++path) {
                NodeId at(0);
                for (const LinkId link : found[path]) {
                    ASSERT_EQ(fabric->routing().select_on(path, at, HostId(0), HostId(destination)), link);
                    at = fabric->target(link);
                }
            }
        }
    }
}

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
