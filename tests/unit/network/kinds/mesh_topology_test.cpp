/// Meshes and hypercubes: shape, dimension order, Valiant's two phases.
#include "../fabric_structure.hpp"
#include "../parameter_keys.hpp"
#include "../transfers.hpp"
#include "network/src/topologies/grid/mesh.hpp"
#include "network/src/topologies/torus.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/analysis/route_load.hpp>

namespace astrolabe::network {
namespace {

MeshParameters mesh(std::vector<std::int64_t> sizes, GridRule rule = GridRule::kMinimal,
                    LoadBalancing balancing = LoadBalancing::kFlowHash) {
    MeshParameters parameters;
    parameters.sizes = std::move(sizes);
    parameters.routing = rule;
    parameters.load_balancing = balancing;
    return parameters;
}

HypercubeParameters cube(std::int64_t dimensions, GridRule rule = GridRule::kMinimal,
                         LoadBalancing balancing = LoadBalancing::kFlowHash) {
    HypercubeParameters parameters;
    parameters.dimensions = dimensions;
    parameters.routing = rule;
    parameters.load_balancing = balancing;
    return parameters;
}

TEST(MeshTopology, FourByFour) {
    const std::shared_ptr<const Fabric> fabric = build_mesh(mesh({4, 4}));
    EXPECT_EQ(fabric->kind(), "mesh");
    EXPECT_EQ(fabric->host_count(), 16U);
    EXPECT_EQ(fabric->link_count(), 2U * (3U * 4U + 3U * 4U));
    EXPECT_EQ(fabric->out_degree(NodeId(0)), 2U);
    EXPECT_EQ(fabric->out_degree(NodeId(5)), 4U);
    EXPECT_EQ(hops(*fabric, 0, 15), 6U);  // (4 - 1) + (4 - 1)
    // (1 + x + x² + x³)² from a corner.
    EXPECT_EQ(hop_distribution(*fabric, 0),
              (std::map<std::size_t, int>{{1, 2}, {2, 3}, {3, 4}, {4, 3}, {5, 2}, {6, 1}}));
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(15)), 20U);  // 6! / (3!·3!)
    EXPECT_EQ(bisection_rate(*fabric), 4 * (100_Gbps).count());  // hosts / n_d = 16 / 4
}

TEST(MeshTopology, SizesAndLinksMayDiffer) {
    MeshParameters parameters = mesh({2, 1, 3});
    parameters.link = {{100_Gbps, 1_Gbps, 200_Gbps}, {10_ns, 20_ns, 30_ns}};
    const std::shared_ptr<const Fabric> fabric = build_mesh(parameters);
    // 3 cables along dimension 0, 2 · 2 along dimension 2.
    EXPECT_EQ(fabric->link_count(), 2U * (3U + 4U));
    // Host 0 to host 5: one step along 0, two along 2.
    EXPECT_EQ(fabric->routing().route(HostId(0), HostId(5)).latency, 10_ns + 2 * 30_ns);
    EXPECT_EQ(fabric->egress_rate(HostId(2)), 100_Gbps + 2 * 200_Gbps);
    // Sizes 4 and 8: the halves differ in dimension 1.
    EXPECT_EQ(bisection_rate(*build_mesh(mesh({4, 8}))), 4 * (100_Gbps).count());
    EXPECT_EQ(build_mesh(mesh({1}))->link_count(), 0U);
}

TEST(HypercubeTopology, IsTheMeshOfTwos) {
    const std::shared_ptr<const Fabric> fabric = build_hypercube(cube(4));
    EXPECT_EQ(fabric->kind(), "hypercube");
    EXPECT_EQ(fabric->host_count(), 16U);
    EXPECT_EQ(fabric->link_count(), 2U * 16U * 4U / 2U);
    EXPECT_EQ(hop_distribution(*fabric, 9), (std::map<std::size_t, int>{{1, 4}, {2, 6}, {3, 4}, {4, 1}}));
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(15)), 24U);  // 4! orders
    EXPECT_EQ(bisection_rate(*fabric), 8 * (100_Gbps).count());
    EXPECT_EQ(build_hypercube(cube(0))->host_count(), 1U);
    // Link by link a torus with two hosts in every dimension.
    TorusParameters torus;
    torus.sizes = {2, 2, 2, 2};
    const std::shared_ptr<const Fabric> other = build_torus(torus);
    for (LinkId id; id.index() < fabric->link_count(); ++id) {
        EXPECT_EQ(fabric->source(id), other->source(id));
        EXPECT_EQ(fabric->target(id), other->target(id));
    }
}

TEST(HypercubeTransfers, AllToAllTakesHalfTheHostsMessagesOnEveryLink) {
    // N(N - 1) messages of n·N/2 / (N - 1) links on average over N·n links: N/2 messages on each, all at the
    // same rate; the furthest takes n latencies more.
    for (const int n : {1, 2, 3, 4}) {
        const int hosts = 1 << n;
        const std::vector<Time> times = deliver_together(
            build_hypercube(cube(n, GridRule::kMinimal, LoadBalancing::kSpray)), all_pairs(hosts, 1_MB));
        EXPECT_EQ(*std::max_element(times.begin(), times.end()),
                  (hosts / 2) * 80_ps * 1'000'000 + n * 500_ns);
    }
}

TEST(GridRoutingTest, DimensionOrderCannotLockUp) {
    // A link waits for the next one of some path: no circle of links that wait for one another.
    for (const std::vector<std::int64_t>& sizes :
         std::vector<std::vector<std::int64_t>>{{4, 4}, {3, 2, 4}, {2, 2, 2, 2}}) {
        const std::shared_ptr<const Fabric> fabric = build_mesh(mesh(sizes, GridRule::kDimensionOrder));
        std::vector<std::vector<bool>> waits(fabric->link_count(), std::vector<bool>(fabric->link_count()));
        for (std::size_t a = 0; a < fabric->host_count(); ++a) {
            for (std::size_t b = 0; b < fabric->host_count(); ++b) {
                if (a == b) {
                    continue;
                }
                const Route route = fabric->routing().route(HostId(a), HostId(b));
                for (std::size_t i = 1; i < route.legs.size(); ++i) {
                    waits[route.legs[i - 1].link.index()][route.legs[i].link.index()] = true;
                }
            }
        }
        // Links that wait for none that is left are taken away until none is left, or a circle is.
        std::vector<bool> gone(waits.size());
        for (bool is_changing = true; is_changing;) {
            is_changing = false;
            for (std::size_t link = 0; link < waits.size(); ++link) {
                bool is_free = !gone[link];
                for (std::size_t other = 0; other < waits.size(); ++other) {
                    is_free = is_free && (gone[other] || !waits[link][other]);
                }
                if (is_free) {
                    gone[link] = is_changing = true;
                }
            }
        }
        EXPECT_TRUE(std::all_of(gone.begin(), gone.end(), [](bool is_gone) { return is_gone; }));
    }
}

TEST(GridRoutingTest, DimensionOrderTakesLowerDimensionsFirst) {
    const std::shared_ptr<const Fabric> fabric = build_mesh(mesh({4, 4}, GridRule::kDimensionOrder));
    const Route route = fabric->routing().route(HostId(1), HostId(11));  // (1, 0) to (3, 2)
    std::vector<std::size_t> visited;
    for (const RouteLeg& leg : route.legs) {
        visited.push_back(fabric->target(leg.link).index());
    }
    EXPECT_EQ(visited, (std::vector<std::size_t>{2, 3, 7, 11}));
}

/// The greatest load of a link when host i sends 1 to partner[i].
double greatest_load(const Fabric& fabric, const std::vector<std::size_t>& partner) {
    RouteLoad loads(fabric, fabric.routing().load_balancing());
    for (std::size_t host = 0; host < partner.size(); ++host) {
        if (partner[host] != host) {
            loads.add(HostId(host), HostId(partner[host]), 1.0);
        }
    }
    const IndexedVector<LinkId, double> of_links = loads.links();
    return *std::max_element(of_links.begin(), of_links.end());
}

TEST(GridRoutingTest, ValiantSpreadsTheWorstOfDimensionOrder) {
    // Bit reversal of 6 bits: after 3 dimensions the 8 hosts with the same upper bits meet at one, and those
    // half of them whose bits 2 and 3 differ go on over the same link.
    std::vector<std::size_t> reversed(64);
    for (std::size_t host = 0; host < 64; ++host) {
        for (std::size_t bit = 0; bit < 6; ++bit) {
            reversed[host] |= (host >> bit & 1U) << (5 - bit);
        }
    }
    EXPECT_EQ(greatest_load(*build_hypercube(cube(6, GridRule::kDimensionOrder)), reversed), 4.0);
    EXPECT_LE(greatest_load(*build_hypercube(cube(6, GridRule::kValiant, LoadBalancing::kSpray)), reversed),
              1.0 + 1e-9);
}

TEST(GridRoutingTest, ValiantKeepsItsPromiseForPermutationsAtRandom) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20; ++round) {
        std::vector<std::size_t> partner(32);
        std::iota(partner.begin(), partner.end(), std::size_t{0});
        std::shuffle(partner.begin(), partner.end(), random);
        EXPECT_LE(
            greatest_load(*build_hypercube(cube(5, GridRule::kValiant, LoadBalancing::kSpray)), partner),
            1.0 + 1e-9);
        // Dimensions of 4 and of 8: at most n/2 on a link.
        EXPECT_LE(
            greatest_load(*build_mesh(mesh({4, 8}, GridRule::kValiant, LoadBalancing::kSpray)), partner),
            4.0 + 1e-9);
    }
}

TEST(GridRoutingTest, ValiantPathsVisitNoHostTwiceAndAreWhatRouteSays) {
    for (const LoadBalancing balancing : {LoadBalancing::kSpray, LoadBalancing::kFlowHash}) {
        const std::shared_ptr<const Fabric> fabric = build_mesh(mesh({3, 4}, GridRule::kValiant, balancing));
        const RoutingPolicy& routing = fabric->routing();
        for (std::size_t from = 0; from < 12; ++from) {
            for (std::size_t to = 0; to < 12; ++to) {
                if (from == to) {
                    continue;
                }
                const std::size_t paths = routing.path_count(HostId(from), HostId(to));
                ASSERT_EQ(paths, balancing == LoadBalancing::kSpray ? 12U : 1U);
                std::map<LinkId, double> walked;
                for (std::size_t path = 0; path < paths; ++path) {
                    std::vector<bool> visited(12);
                    for (NodeId at(from); at.index() != to;) {
                        ASSERT_FALSE(visited[at.index()]);
                        visited[at.index()] = true;
                        const LinkId link = routing.select_on(path, at, HostId(from), HostId(to));
                        walked[link] += 1.0 / static_cast<double>(paths);
                        at = fabric->target(link);
                    }
                }
                const Route route = routing.route(HostId(from), HostId(to));
                ASSERT_EQ(route.legs.size(), walked.size());
                for (const RouteLeg& leg : route.legs) {
                    EXPECT_NEAR(leg.share, walked.at(leg.link), 1e-12);
                }
            }
        }
    }
}

TEST(MeshParametersTest, RejectsWhatCannotBe) {
    EXPECT_EQ(keys(validation_errors(mesh({4, 1}))), Keys{});
    EXPECT_EQ(keys(validation_errors(mesh({}))), Keys{"sizes"});
    EXPECT_EQ(keys(validation_errors(mesh({4, 0}))), Keys{"sizes.1"});
    EXPECT_EQ(keys(validation_errors(mesh({kMaxHosts, 2}))), Keys{"sizes"});
    EXPECT_EQ(keys(validation_errors(mesh({4}, GridRule::kDimensionOrder, LoadBalancing::kSpray))),
              Keys{"load_balancing"});
    EXPECT_EQ(keys(validation_errors(cube(20))), Keys{});
    EXPECT_EQ(keys(validation_errors(cube(21))), Keys{"dimensions"});
    EXPECT_EQ(keys(validation_errors(cube(-1))), Keys{"dimensions"});
    HypercubeParameters p = cube(3);
    p.link = {Bandwidth(0), Time(-1)};
    EXPECT_EQ(keys(validation_errors(p)), (Keys{"link.rate", "link.latency"}));
}

}  // namespace
}  // namespace astrolabe::network
