#include "network/src/topoopt/finder_checks.hpp"
#include "sanitizers.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <gtest/gtest.h>

namespace astrolabe::network::topoopt {
namespace {

using Strides = std::vector<std::uint32_t>;

/// a, a + n/k, …
std::vector<Server> spaced(std::uint32_t servers, std::uint32_t members, Server first = 0) {
    std::vector<Server> group(members);
    for (std::uint32_t i = 0; i < members; ++i) {
        group[i] = first + servers / members * i;
    }
    return group;
}

/// One all-reduce of all servers.
Demand reduce_all(std::uint32_t servers, std::uint64_t bytes) {
    return {.servers = servers, .groups = {{spaced(servers, servers), bytes}}, .point_to_point = {}};
}

PairDemand all_to_all(std::uint32_t servers, std::uint64_t bytes) {
    PairDemand demand(servers);
    for (Server a = 0; a < servers; ++a) {
        for (Server b = 0; b < servers; ++b) {
            if (a != b) {
                demand.add(a, b, bytes);
            }
        }
    }
    return demand;
}

FinderOptions with_degree(std::uint32_t degree, Mode mode = Mode::kPaper,
                          Wiring wiring = Wiring::kSeparateFibres) {
    FinderOptions options;
    options.degree = degree;
    options.mode = mode;
    options.wiring = wiring;
    return options;
}

/// At most one link leaves and one enters by each interface; both of a duplex interface join the same two;
/// but on a panel, links stay in their plane.
void expect_planes_respected(const Topology& topology) {
    const std::size_t ports = std::size_t{topology.servers} * topology.degree;
    std::vector<const PlannedLink*> out(ports, nullptr);
    std::vector<const PlannedLink*> in(ports, nullptr);
    for (const PlannedLink& link : topology.links) {
        ASSERT_NE(link.from, link.to);
        ASSERT_LT(link.from_interface, topology.degree);
        ASSERT_LT(link.to_interface, topology.degree);
        if (topology.wiring != Wiring::kPanel) {
            ASSERT_EQ(link.from_interface, link.to_interface);
        }
        const PlannedLink*& leaves = out[std::size_t{link.from} * topology.degree + link.from_interface];
        const PlannedLink*& enters = in[std::size_t{link.to} * topology.degree + link.to_interface];
        ASSERT_EQ(leaves, nullptr);
        ASSERT_EQ(enters, nullptr);
        leaves = enters = &link;
    }
    if (topology.wiring == Wiring::kSeparateFibres) {
        return;
    }
    for (std::size_t port = 0; port < ports; ++port) {
        ASSERT_EQ(out[port] == nullptr, in[port] == nullptr);
        if (out[port] != nullptr) {
            ASSERT_EQ(out[port]->to, in[port]->from);
            ASSERT_EQ(out[port]->to_interface, in[port]->from_interface);
        }
    }
}

bool is_strongly_connected(const Topology& topology) {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(topology.servers);
    for (const PlannedLink& link : topology.links) {
        boost::add_edge(link.from, link.to, graph);
    }
    std::vector<int> component(topology.servers);
    return boost::strong_components(graph, component.data()) == 1;
}

/// From any member a ring comes back to it after all members of its group and no others.
void expect_rings_complete(const Topology& topology) {
    for (const GroupRings& rings : topology.rings) {
        for (const std::uint32_t stride : rings.strides) {
            std::set<Server> visited;
            Server at = 0;
            do {
                ASSERT_TRUE(visited.insert(at).second);
                at = (at + stride) % topology.servers;
            } while (at != 0);
            const std::vector<Server> group = spaced(topology.servers, rings.members);
            ASSERT_EQ(visited, std::set<Server>(group.begin(), group.end()));
        }
    }
}

void expect_sound(const Demand& demand, const FinderOptions& options) {
    SCOPED_TRACE(::testing::Message() << demand.servers << " servers, degree " << options.degree);
    ASSERT_TRUE(validation_errors(demand, options).empty()) << validation_errors(demand, options)[0].message;
    const Topology topology = find_topology(demand, options);
    expect_planes_respected(topology);
    expect_rings_complete(topology);
    EXPECT_TRUE(is_strongly_connected(topology));
}

TEST(TopologyFinder, EverySizeAndDegreeIsWiredSoundly) {
    for (std::uint32_t servers = 4; servers <= testing::up_to(256U, 64U); ++servers) {
        const Demand demand = reduce_all(servers, 1'000);
        for (std::uint32_t degree = 1; degree <= 8; ++degree) {
            expect_sound(demand, with_degree(degree));
            if (degree >= 2) {
                expect_sound(demand, with_degree(degree, Mode::kReleased));
                expect_sound(demand, with_degree(degree, Mode::kReleased, Wiring::kPanel));
                expect_sound(demand, with_degree(degree, Mode::kPaper, Wiring::kPanel));
            }
            if (degree >= 2 && servers % 2 == 0) {
                expect_sound(demand, with_degree(degree, Mode::kReleased, Wiring::kDuplex));
                expect_sound(demand, with_degree(degree, Mode::kPaper, Wiring::kDuplex));
            }
        }
    }
}

TEST(TopologyFinder, EveryDegreeIsWiredSoundlyWithGroupsAndPairs) {
    for (const std::uint32_t servers : {6U, 12U, 15U, 16U, 24U, 36U, 64U}) {
        Demand demand{.servers = servers, .groups = {}, .point_to_point = all_to_all(servers, 10)};
        for (std::uint32_t members = 2; members <= servers; ++members) {
            for (Server first = 0; servers % members == 0 && first < servers / members; ++first) {
                demand.groups.push_back({spaced(servers, members, first), 50});
            }
        }
        for (std::uint32_t degree = 1; degree <= 8; ++degree) {
            expect_sound(demand, with_degree(degree));
            if (degree >= 2) {
                expect_sound(demand, with_degree(degree, Mode::kReleased, Wiring::kPanel));
                expect_sound(demand, with_degree(degree, Mode::kPaper, Wiring::kPanel));
            }
        }
    }
}

TEST(TopologyFinder, PaperGivesEveryPlaneOnePermutation) {
    const Topology topology = find_topology(reduce_all(16, 1'000), with_degree(3));
    EXPECT_EQ(topology.split, (DegreeSplit{3, 0}));
    EXPECT_FALSE(topology.full_duplex_rings);
    ASSERT_EQ(topology.rings.size(), 1U);
    EXPECT_EQ(topology.rings[0].members, 16U);
    EXPECT_EQ(topology.rings[0].strides, (Strides{1, 3, 7}));
    EXPECT_EQ(directed_strides(topology), (Strides{1, 3, 7}));
    ASSERT_EQ(topology.links.size(), 3U * 16U);
    EXPECT_EQ(topology.links[0], (PlannedLink{0, 1, 0, 0}));
    EXPECT_EQ(topology.links[16 + 15], (PlannedLink{15, 2, 1, 1}));
    EXPECT_EQ(topology.links[32], (PlannedLink{0, 7, 2, 2}));
}

TEST(TopologyFinder, ReleasedNeverMatches) {
    // docs/theory/topoopt.md, "Paper and released code": d_A = d whatever the demand, d/2 full-duplex rings.
    Demand demand = reduce_all(16, 1);
    demand.point_to_point = all_to_all(16, 1'000);
    const Topology released = find_topology(demand, with_degree(4, Mode::kReleased));
    EXPECT_EQ(released.split, (DegreeSplit{4, 0}));
    EXPECT_TRUE(released.matchings.empty());
    EXPECT_TRUE(released.full_duplex_rings);
    EXPECT_EQ(released.rings[0].strides, (Strides{1, 5}));
    EXPECT_EQ(directed_strides(released), (Strides{1, 5, 11, 15}));

    // All-reduce 2·15·1, pairs 16·15·1,000: ⌈4·30 / 240,030⌉ = 1.
    const Topology paper = find_topology(demand, with_degree(4));
    EXPECT_EQ(paper.split, (DegreeSplit{1, 3}));
    EXPECT_EQ(directed_strides(paper), (Strides{1}));
    EXPECT_EQ(paper.matchings.size(), 3U);
    EXPECT_EQ(paper.links.size(), 4U * 16U);
}

TEST(TopologyFinder, AnOddDegreeLeavesAnInterfaceUnusedInReleasedMode) {
    const Topology topology = find_topology(reduce_all(16, 1), with_degree(5, Mode::kReleased));
    EXPECT_EQ(topology.split, (DegreeSplit{4, 0}));
    EXPECT_EQ(topology.links.size(), 4U * 16U);
}

TEST(TopologyFinder, TheForkRepeatsStrides) {
    // strides_test.cpp: 12 servers and three rings, 5 is next to two targets.
    FinderOptions options = with_degree(6, Mode::kReleased);
    EXPECT_EQ(find_topology(reduce_all(12, 1), options).rings[0].strides, (Strides{1, 5, 7}));
    options.repeat_strides = true;
    EXPECT_EQ(find_topology(reduce_all(12, 1), options).rings[0].strides, (Strides{1, 5, 5}));
}

TEST(TopologyFinder, DuplexRingsTakeTwoInterfacesAndAMatchingOne) {
    // All-reduce 2·15·900 = 27,000, pairs 240·100 = 24,000: ⌈5·27/51⌉ = 3, so 4 for two rings and 1 matching.
    Demand demand = reduce_all(16, 900);
    demand.point_to_point = all_to_all(16, 100);
    const Topology topology = find_topology(demand, with_degree(5, Mode::kPaper, Wiring::kDuplex));
    EXPECT_EQ(topology.split, (DegreeSplit{4, 1}));
    EXPECT_EQ(topology.rings[0].strides, (Strides{1, 3}));
    // Servers 0 1 2 … around the ring of stride 1: planes 0 and 1 in turn.
    EXPECT_EQ(topology.links[0], (PlannedLink{0, 1, 0, 0}));
    EXPECT_EQ(topology.links[1], (PlannedLink{1, 0, 0, 0}));
    EXPECT_EQ(topology.links[2], (PlannedLink{1, 2, 1, 1}));
    EXPECT_EQ(topology.links[30], (PlannedLink{15, 0, 1, 1}));
    EXPECT_EQ(topology.links.back().from_interface, 4U);
}

TEST(TopologyFinder, AnInterfaceThatNoRingCanUseGoesToAMatching) {
    // Three interfaces, all for all-reduces: one ring, and a matching that no demand asked for.
    const Topology topology = find_topology(reduce_all(8, 1), with_degree(3, Mode::kPaper, Wiring::kDuplex));
    EXPECT_EQ(topology.split, (DegreeSplit{2, 1}));
    ASSERT_EQ(topology.matchings.size(), 1U);
    EXPECT_EQ(topology.matchings[0].pairs[0], (std::pair<Server, Server>{0, 4}));
}

TEST(TopologyFinder, APanelJoinsTheTwoInterfacesOfARing) {
    const Topology topology =
        find_topology(reduce_all(5, 1), with_degree(2, Mode::kReleased, Wiring::kPanel));
    ASSERT_EQ(topology.links.size(), 10U);
    EXPECT_EQ(topology.links[8], (PlannedLink{4, 0, 0, 1}));
    EXPECT_EQ(topology.links[9], (PlannedLink{0, 4, 1, 0}));
}

TEST(TopologyFinder, GroupsShareTheDegreeByTheirBytes) {
    // S_16 = 300 and S_4 = 100, one ring to an interface: ⌈4·3/4⌉ = 3 and ⌈4·1/4⌉ = 1.
    Demand demand = reduce_all(16, 300);
    for (Server first = 0; first < 4; ++first) {
        demand.groups.push_back({spaced(16, 4, first), 100});
    }
    const Topology topology = find_topology(demand, with_degree(4));
    ASSERT_EQ(topology.rings.size(), 2U);
    EXPECT_EQ(topology.rings[0].bytes, 300U);
    EXPECT_EQ(topology.rings[0].strides, (Strides{1, 3, 7}));
    EXPECT_EQ(topology.rings[1].members, 4U);
    EXPECT_EQ(topology.rings[1].bytes, 100U);
    EXPECT_EQ(topology.rings[1].strides, (Strides{4}));
    // The released code gives the first group everything.
    const Topology released = find_topology(demand, with_degree(8, Mode::kReleased));
    EXPECT_EQ(released.rings[0].strides.size(), 4U);
    EXPECT_TRUE(released.rings[1].strides.empty());
}

TEST(TopologyFinder, GroupsOfOneSizeAddUpAndTheLargestCounts) {
    Demand demand{.servers = 8, .groups = {}, .point_to_point = {}};
    demand.groups = {{spaced(8, 4, 0), 10}, {spaced(8, 4, 1), 25}, {spaced(8, 4, 0), 20}};
    const Topology topology = find_topology(demand, with_degree(2));
    EXPECT_EQ(topology.rings[0].bytes, 30U);
}

TEST(TopologyFinder, SomeRingJoinsAllServers) {
    // Two interfaces for groups of 4; the last of their rings is given up.
    Demand demand{.servers = 8, .groups = {{spaced(8, 4), 10}}, .point_to_point = {}};
    const Topology two = find_topology(demand, with_degree(2));
    ASSERT_EQ(two.rings.size(), 2U);
    EXPECT_EQ(two.rings[0].strides, (Strides{2}));
    EXPECT_EQ(two.rings[1].members, 8U);
    EXPECT_EQ(two.rings[1].bytes, 0U);
    EXPECT_EQ(two.rings[1].strides, (Strides{1}));
    const Topology one = find_topology(demand, with_degree(1));
    EXPECT_TRUE(one.rings[0].strides.empty());
    EXPECT_EQ(one.rings[1].strides, (Strides{1}));
    // Without groups all rings are of all servers.
    demand.groups.clear();
    EXPECT_EQ(find_topology(demand, with_degree(2)).rings[0].strides, (Strides{1, 3}));
}

TEST(TopologyFinder, PrimesAloneWhenAskedFor) {
    // 16^{7/8} = 11.3 of eight: all odd numbers, or 1 and primes with 1 and 3 twice.
    FinderOptions options = with_degree(8);
    options.candidates = Candidates::kPrimes;
    const Strides strides = find_topology(reduce_all(16, 1), options).rings[0].strides;
    EXPECT_EQ(std::set<std::uint32_t>(strides.begin(), strides.end()),
              (std::set<std::uint32_t>{1, 3, 5, 7, 11, 13}));
}

/// The only problem there is, as "key: message".
std::string problem(const Demand& demand, const FinderOptions& options) {
    const ValidationErrors found = validation_errors(demand, options);
    if (found.size() != 1) {
        return std::to_string(found.size()) + " problems";
    }
    EXPECT_FALSE(found[0].hint.empty());
    return found[0].key + ": " + found[0].message;
}

TEST(TopologyFinder, RefusesADegreeThatIsTooSmall) {
    const Demand demand = reduce_all(8, 1);
    EXPECT_EQ(problem(demand, with_degree(0)), "degree: degree is 0, expected 1 to 64");
    EXPECT_EQ(problem(demand, with_degree(65)), "degree: degree is 65, expected 1 to 64");
    EXPECT_EQ(problem(demand, with_degree(1, Mode::kReleased)), "degree: degree is 1, expected 2 to 64");
    EXPECT_EQ(problem(demand, with_degree(1, Mode::kPaper, Wiring::kDuplex)),
              "degree: degree is 1, expected 2 to 64");
}

TEST(TopologyFinder, RefusesOddNumbersWhereTheyCannotBe) {
    FinderOptions options = with_degree(2);
    options.perfect_matching = true;
    EXPECT_EQ(problem(reduce_all(9, 1), options),
              "perfect_matching: 9 servers have no perfect matching, expected an even number");
    EXPECT_EQ(problem(reduce_all(8, 1), options), "0 problems");
    EXPECT_EQ(problem(reduce_all(9, 1), with_degree(2, Mode::kPaper, Wiring::kDuplex)),
              "wiring: a ring of 9 servers cannot alternate between two planes");
    Demand demand{.servers = 12, .groups = {{spaced(12, 3), 1}}, .point_to_point = {}};
    EXPECT_EQ(problem(demand, with_degree(2, Mode::kPaper, Wiring::kDuplex)),
              "groups.0: groups.0 has 3 members, and a ring of so many cannot alternate between two planes");
    EXPECT_EQ(problem(demand, with_degree(2, Mode::kPaper, Wiring::kPanel)), "0 problems");
}

TEST(TopologyFinder, RefusesGroupsThatAreNotEquallySpaced) {
    Demand demand{.servers = 8, .groups = {}, .point_to_point = {}};
    const auto with_group = [&](std::vector<Server> members) {
        demand.groups = {{std::move(members), 1}};
        return problem(demand, with_degree(2));
    };
    EXPECT_EQ(with_group({0, 1, 2, 3, 4, 5, 6, 7, 8}), "groups.0: groups.0 has 9 members, expected 2 to 8");
    EXPECT_EQ(with_group({3}), "groups.0: groups.0 has 1 members, expected 2 to 8");
    EXPECT_EQ(with_group({0, 1, 2}), "groups.0: groups.0 has 3 members, which do not divide 8 servers");
    EXPECT_EQ(with_group({0, 2, 5, 6}),
              "groups.0: member 2 of groups.0 is server 5, expected 4: 4 members of 8 servers are 2 apart");
    EXPECT_EQ(with_group({2, 4, 6, 8}),
              "groups.0: member 3 of groups.0 is server 8, expected 0: 4 members of 8 servers are 2 apart");
    EXPECT_EQ(with_group({1, 3, 5, 7}), "0 problems");
}

TEST(TopologyFinder, RefusesDemandThatDoesNotFit) {
    Demand demand = reduce_all(8, 1);
    demand.point_to_point = PairDemand(7);
    EXPECT_EQ(problem(demand, with_degree(2)),
              "point_to_point: point_to_point is a demand of 7 servers, expected 8");
    EXPECT_EQ(problem(reduce_all(8, kMaxTraffic), with_degree(2)),
              "groups: all-reduces send 144115188075855872 bytes or more in all, expected less");
    EXPECT_EQ(problem({.servers = 1, .groups = {}, .point_to_point = {}}, with_degree(2)),
              "servers: servers is 1, expected 2 to 4096");
}

}  // namespace
}  // namespace astrolabe::network::topoopt
