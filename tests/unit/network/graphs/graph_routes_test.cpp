/// Routes of graphs that are named by paths: the k shortest, and those that are given
/// (k_shortest_routing.hpp, given_routing.hpp, graph_routes.hpp).
#include "../fabric_structure.hpp"
#include "../graph_networks.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

class GraphRoutesTest : public GraphTest {
protected:
    /// Two leaves of four hosts under two spines; `uplinks` cables from a leaf to spine 0, one to spine 1.
    static std::string two_leaves(const std::string& keys, int uplinks = 1) {
        return fmt::format(R"(kind: graph
link: {{rate: 100Gbps, latency: 1us}}
nodes:
  - {{name: gpu, count: 8}}
  - {{name: leaf, kind: switch, count: 2}}
  - {{name: spine, kind: switch, count: 2}}
links:
  - {{from: gpu 0..3, to: leaf 0}}
  - {{from: gpu 4..7, to: leaf 1}}
  - {{from: leaf, to: spine 0, count: {}}}
  - {{from: leaf, to: spine 1}}
{})",
                           uplinks, keys);
    }
    /// Share of the bytes of a pair that goes over a node.
    static double share_over(const Fabric& fabric, int source, int destination, const std::string& node) {
        double share = 0;
        for (const RouteLeg& leg : fabric.routing().route(HostId(source), HostId(destination)).legs) {
            share += fabric.node(fabric.target(leg.link)).name == node ? leg.share : 0;
        }
        return share;
    }
};

// Between leaves there are two paths of 4 links, inside of one there is one of 2.
TEST_F(GraphRoutesTest, TwoShortestPathsOfATreeAreWhatSprayingTakes) {
    const auto paths = build(two_leaves("routing: k_shortest\npaths: 2\nload_balancing: spray\n"));
    ASSERT_TRUE(paths) << render(errors_);
    EXPECT_EQ(paths->routing().load_balancing(), LoadBalancing::kPaths);
    EXPECT_EQ(paths->routing().path_count(HostId(0), HostId(4)), 2U);
    EXPECT_EQ(paths->routing().path_count(HostId(0), HostId(1)), 1U);
    expect_same(*paths, *build(two_leaves("load_balancing: spray\n")));
}

// Of the 32 ordered pairs between leaves about half hash to each spine: 16 ± 5·sqrt(32)/2 = 2 … 30.
TEST_F(GraphRoutesTest, OneOfTheShortestPathsIsTakenByHash) {
    const auto hashed = build(two_leaves("routing: k_shortest\npaths: 2\n"));
    ASSERT_TRUE(hashed) << render(errors_);
    EXPECT_EQ(hashed->routing().load_balancing(), LoadBalancing::kFlowHash);
    double over_first = 0;
    for (int a = 0; a < 4; ++a) {
        for (int b = 4; b < 8; ++b) {
            for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
                const double share = share_over(*hashed, from, to, "spine 0");
                EXPECT_TRUE(share == 0 || share == 1);
                EXPECT_EQ(share + share_over(*hashed, from, to, "spine 1"), 1);
                // What a packet is told at every node is the same path.
                NodeId at = hashed->node_of(HostId(from));
                for (const RouteLeg& leg : hashed->routing().route(HostId(from), HostId(to)).legs) {
                    EXPECT_EQ(hashed->routing().select(at, HostId(from), HostId(to)), leg.link);
                    at = hashed->target(leg.link);
                }
                over_first += share;
            }
        }
    }
    EXPECT_GT(over_first, 2);
    EXPECT_LT(over_first, 30);
}

// Hosts 0 to 2 are on two switches that a third joins. From 0 to 1 there are two paths of 2 links, over
// either switch, and two of 4, over all three; host 2 would be between two others only where it forwards,
// which gives two more: 0 - s 0 - 2 - s 1 - 1 and the other way round.
TEST_F(GraphRoutesTest, HostsAreCrossedOnlyWhereTheyForward) {
    const std::string yaml = R"(
kind: graph
routing: k_shortest
paths: 64
detour: 2
load_balancing: spray
nodes:
  - {name: h, count: 3, forwards: FORWARDS}
  - {name: s, kind: switch, count: 2}
  - {name: t, kind: switch}
links:
  - {from: h, to: s}
  - {from: s, to: t}
)";
    const auto with = [&yaml](const std::string& value) {
        std::string text = yaml;
        return text.replace(text.find("FORWARDS"), 8, value);
    };
    EXPECT_EQ(build(with("false"))->routing().path_count(HostId(0), HostId(1)), 4U);
    EXPECT_EQ(build(with("true"))->routing().path_count(HostId(0), HostId(1)), 6U);
}

// a - b costs 5, a - s - b 1 + 1, a - s - t - b 1 + 1 + 1: the cheapest paths are not those of fewest links.
TEST_F(GraphRoutesTest, ShortestIsByCost) {
    const std::string yaml = R"(
kind: graph
routing: k_shortest
load_balancing: spray
nodes: [{name: a}, {name: b}, {name: s, kind: switch}, {name: t, kind: switch}]
links:
  - {from: a, to: b, cost: 5}
  - {from: a, to: s}
  - {from: s, to: [b, t]}
  - {from: t, to: b}
)";
    const auto hops_of = [&](const std::string& keys) {
        const auto fabric = build(yaml + keys);
        EXPECT_TRUE(fabric) << render(errors_);
        const std::size_t paths = fabric->routing().path_count(HostId(0), HostId(1));
        return std::pair(paths, fabric->routing().route(HostId(0), HostId(1)).hops);
    };
    EXPECT_EQ(hops_of("detour: 0\n"), std::pair(std::size_t{1}, std::size_t{2}));
    EXPECT_EQ(hops_of("detour: 1\n"), std::pair(std::size_t{2}, std::size_t{3}));
}

constexpr const char* kWeighted = R"(load_balancing: spray
routes:
  - {from: gpu 0..3, to: gpu 4..7, path: [leaf 0, spine 0, leaf 1], weight: 3}
  - {from: gpu 0..3, to: gpu 4..7, path: [leaf 0, spine 1, leaf 1]}
  - {from: gpu 4, to: gpu 0, path: [gpu 4, leaf 1, spine 1, leaf 0, gpu 0]}
)";

TEST_F(GraphRoutesTest, GivenPathsShareByTheirWeights) {
    const auto fabric = build(two_leaves(kWeighted));
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(share_over(*fabric, 1, 6, "spine 0"), 0.75);
    EXPECT_EQ(share_over(*fabric, 1, 6, "spine 1"), 0.25);
    EXPECT_EQ(share_over(*fabric, 4, 0, "spine 1"), 1.0);
    EXPECT_EQ(fabric->routing().path_count(HostId(1), HostId(6)), 4U);
    EXPECT_EQ(fabric->routing().path_count(HostId(4), HostId(0)), 1U);
    const Route route = fabric->routing().route(HostId(1), HostId(6));
    EXPECT_EQ(route.hops, 4U);
    EXPECT_EQ(route.latency, 4 * 1_us);
    // 4 to 1 is not given, and is sprayed; hosts of one leaf have one path.
    EXPECT_EQ(share_over(*fabric, 4, 1, "spine 0"), 0.5);
    EXPECT_EQ(fabric->routing().route(HostId(0), HostId(1)).legs.size(), 2U);
    // What is resolved is read back the same.
    const std::string resolved = resolved_;
    expect_same(*build(resolved), *fabric);
}

// 16 hosts on each side: 256 pairs that take spine 0 with probability 3/4 each, 192 ± 5·sqrt(256·3/16) = 35.
TEST_F(GraphRoutesTest, GivenPathsAreTakenByHashAsTheirWeightsSay) {
    const auto fabric = build(R"(
kind: graph
nodes:
  - {name: gpu, count: 32}
  - {name: leaf, kind: switch, count: 2}
  - {name: spine, kind: switch, count: 2}
links:
  - {from: gpu 0..15, to: leaf 0}
  - {from: gpu 16..31, to: leaf 1}
  - {from: leaf, to: spine}
routes:
  - {from: gpu 0..15, to: gpu 16..31, path: [leaf 0, spine 0, leaf 1], weight: 3}
  - {from: gpu 0..15, to: gpu 16..31, path: [leaf 0, spine 1, leaf 1]}
)");
    ASSERT_TRUE(fabric) << render(errors_);
    double over_first = 0;
    for (int a = 0; a < 16; ++a) {
        for (int b = 16; b < 32; ++b) {
            over_first += share_over(*fabric, a, b, "spine 0");
        }
    }
    EXPECT_NEAR(over_first, 192, 35);
}

// What is not given is what it would be without any: one of the shortest by hash, or all evenly. Spine 0 has
// two cables to each leaf: of leaf 0's three next links two lead to spine 0, which has two, and one to spine
// 1, which has one, so that there are 3 · lcm(2, 1) = 6 paths.
TEST_F(GraphRoutesTest, PairsThatAreNotGivenTakeTheShortestPaths) {
    const std::string one = "routes: [{from: gpu 0, to: gpu 1, path: [leaf 0]}]\n";
    for (const std::string balancing : {"flow_hash", "spray"}) {
        const std::string keys = "load_balancing: " + balancing + "\n";
        const auto given = build(two_leaves(keys + one, 2));
        ASSERT_TRUE(given) << render(errors_);
        expect_same(*given, *build(two_leaves(keys, 2)));
    }
    const auto given = build(two_leaves("load_balancing: spray\n" + one, 2));
    EXPECT_EQ(given->routing().path_count(HostId(0), HostId(4)), 6U);
    double sum = 0;
    for (const RouteLeg& leg : given->routing().route(HostId(0), HostId(4)).legs) {
        sum += given->node(given->source(leg.link)).name == "leaf 0" ? leg.share : 0;
    }
    EXPECT_DOUBLE_EQ(sum, 1);
}

TEST_F(GraphRoutesTest, APathIsSplitOverParallelCables) {
    const std::string route = "routes: [{from: gpu 0, to: gpu 4, path: [leaf 0, spine 0, leaf 1]}]\n";
    const auto sprayed = build(two_leaves("load_balancing: spray\n" + route, 2));
    ASSERT_TRUE(sprayed) << render(errors_);
    const Route route_of_both = sprayed->routing().route(HostId(0), HostId(4));
    std::map<double, int> legs;
    for (const RouteLeg& leg : route_of_both.legs) {
        ++legs[leg.share];
    }
    EXPECT_EQ(legs, (std::map<double, int>{{0.5, 4}, {1.0, 2}}));
    EXPECT_EQ(build(two_leaves(route, 2))->routing().route(HostId(0), HostId(4)).legs.size(), 4U);
}

TEST_F(GraphRoutesTest, BothWaysAndAFileOfRoutes) {
    write("routes.json", R"([{"from": "gpu 0..3", "to": ["gpu 4", "gpu 5..7"],
        "path": ["leaf 0", "spine 1", "leaf 1"], "both_ways": true}])");
    const auto fabric = build(two_leaves("routes: routes.json\n"));
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(share_over(*fabric, 2, 7, "spine 1"), 1.0);
    EXPECT_EQ(share_over(*fabric, 7, 2, "spine 1"), 1.0);
}

// 40 hosts to 40 others over 2,000 switches in a row, and back: 3,200 pairs of one path, which is checked
// once. Where a host of the list is in the path, the pair of it is named.
TEST_F(GraphRoutesTest, PairsShareTheCheckOfTheirPath) {
    std::string path = "s 0";
    for (int i = 1; i < 2'000; ++i) {
        path += fmt::format(", s {}", i);
    }
    const auto row = [&path](const std::string& keys) {
        return fmt::format(R"(kind: graph
nodes:
  - {{name: a, count: 40, forwards: true}}
  - {{name: b, count: 40}}
  - {{name: s, kind: switch, count: 2000}}
links:
  - {{from: a, to: s 0}}
  - {{from: b, to: s 1999}}
  - {{from: s 0..1998, to: s 1..1999, pairing: each}}
  - {{from: [a 39, b 0], to: s 1}}
routes:
  - {{from: a, to: b, both_ways: true, path: [{}]}}
{})",
                           path, keys);
    };
    const auto fabric = build(row(""));
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(fabric->routing().route(HostId(79), HostId(0)).hops, 2'001U);
    EXPECT_EQ(defect(row("  - {from: a 38..39, to: b 0, path: [s 0, a 39, s 1]}\n")),
              "13:43 the path visits 'a 39' twice, of the path from 'a 39' to 'b 0'");
}

// 9,400 links of 1000 s are 9.4e6 s, and time ends at 2^63 ps = 9.22e6 s.
TEST_F(GraphRoutesTest, LatenciesBeyondTimeAreItsEnd) {
    const std::string row = R"(kind: graph
link: {rate: 100Gbps, latency: 1000s}
nodes: [{name: a}, {name: b}, {name: s, kind: switch, count: 9399}]
links:
  - {from: a, to: s 0}
  - {from: s 0..9397, to: s 1..9398, pairing: each}
  - {from: s 9398, to: b}
)";
    for (const char* keys : {"", "load_balancing: spray\n", "routing: k_shortest\npaths: 1\n"}) {
        const auto fabric = build(row + keys);
        ASSERT_TRUE(fabric) << render(errors_);
        const Route route = fabric->routing().route(HostId(0), HostId(1));
        EXPECT_EQ(route.hops, 9'400U) << keys;
        EXPECT_EQ(route.latency, Time::max()) << keys;
    }
}

// Every host pair is asked for: those of one leaf are not given.
TEST_F(GraphRoutesTest, RefusesRoutesThatCannotBe) {
    const auto of = [&](const std::string& entry) {
        return defect(two_leaves("routes:\n  - {from: gpu 0, to: gpu 4, " + entry + "}\n"));
    };
    EXPECT_EQ(of("path: [leaf 0, spine 9, leaf 1]"), "13:45 'spine 9', but 'spine' has 2 nodes, 0 to 1");
    EXPECT_EQ(of("path: [leaf 0, leaf 1]"), "13:45 no link leads from 'leaf 0' to 'leaf 1'");
    EXPECT_EQ(of("path: [spine 0, leaf 1]"),
              "13:37 no link leads from 'gpu 0' to 'spine 0', of the path from 'gpu 0' to 'gpu 4'");
    EXPECT_EQ(of("path: [leaf 0, spine 0]"),
              "13:45 no link leads from 'spine 0' to 'gpu 4', of the path from 'gpu 0' to 'gpu 4'");
    EXPECT_EQ(of("path: [leaf 0, gpu 1, leaf 1]"), "13:45 'gpu 1' is a host that does not forward");
    EXPECT_EQ(of("path: [leaf 0, spine 0, leaf 0]"), "13:54 the path visits 'leaf 0' twice");
    EXPECT_EQ(of("path: [leaf 0, spine, leaf 1]"), "13:45 'spine' are 2 nodes");
    EXPECT_EQ(of("path: []"),
              "13:5 no link leads from 'gpu 0' to 'gpu 4', of the path from 'gpu 0' to 'gpu 4'");
    EXPECT_EQ(defect(two_leaves("routes: [{from: leaf 0, to: gpu 4, path: [leaf 1]}]\n")),
              "12:17 a route ends at 'leaf 0', which is no host");
    EXPECT_EQ(defect(two_leaves("routes: [{from: gpu, to: gpu 4..7, path: [leaf 1], both_ways: true}]\n")),
              "12:43 no link leads from 'gpu 0' to 'leaf 1', of the path from 'gpu 0' to 'gpu 4'");
    EXPECT_EQ(defect(two_leaves(std::string(kWeighted) + "routes_only: true\n")).substr(0, 52),
              "14:3 no route is given from 'gpu 0' to 'gpu 1'");
    EXPECT_EQ(defect(two_leaves("routes_only: true\n")).substr(0, 38),
              "12:14 'routes_only': no routes are giv");
    EXPECT_EQ(defect(two_leaves("routing: k_shortest\nroutes: [{from: gpu 0, to: gpu 1, path: [leaf 0]}]\n"))
                  .substr(0, 5),
              "13:9 ");
    // 1000 units of weight on two parallel cables are 2000 equal shares.
    EXPECT_EQ(
        defect(two_leaves("load_balancing: spray\nroutes: [{from: gpu 0, to: gpu 4, path: [leaf 0, spine 0, "
                          "leaf 1], weight: 1000}]\n",
                          2)),
        "13:10 the paths from 'gpu 0' to 'gpu 4' are 2000 equal shares, expected at most 1024");
    // Keys that would have no effect.
    EXPECT_EQ(defect(two_leaves("paths: 2\n")), "12:8 'paths': is for routing k_shortest");
    EXPECT_EQ(defect(two_leaves("detour: 2\n")), "12:9 'detour': is for routing k_shortest");
    write("routes.yaml", "- {from: gpu 0, to: gpu 4, path: [leaf 0, spine 7, leaf 1]}\n");
    EXPECT_EQ(defect(two_leaves("routes: routes.yaml\n")), "1:43 'spine 7', but 'spine' has 2 nodes, 0 to 1");
}

}  // namespace
}  // namespace astrolabe::network
