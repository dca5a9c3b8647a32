/// Routing against Boost's breadth-first search on random multigraphs, where hosts may have no, one or many
/// cables.
#include "random_seed.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <boost/graph/breadth_first_search.hpp>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/network/topologies/fat_tree.hpp>

namespace astrolabe::network {
namespace {

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

std::shared_ptr<const Fabric> random_fabric(std::mt19937_64& random) {
    const auto pick = [&](std::uint32_t least, std::uint32_t most) {
        return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
    };
    FabricBuilder builder("random");
    const std::uint32_t hosts = pick(1, 12);
    const std::uint32_t switches = pick(0, 8);
    for (std::uint32_t i = 0; i < hosts; ++i) {
        builder.add_host("host");
    }
    for (std::uint32_t i = 0; i < switches; ++i) {
        builder.add_switch("switch");
    }
    const std::uint32_t nodes = hosts + switches;
    for (std::uint32_t cables = nodes < 2 ? 0 : pick(0, 3 * nodes); cables > 0; --cables) {
        const std::uint32_t a = pick(0, nodes - 1);
        const std::uint32_t b = (a + pick(1, nodes - 1)) % nodes;
        builder.connect(NodeId(a), NodeId(b), {100_Gbps, Time(pick(0, 1000)), Bytes(0)});
    }
    return std::move(builder).build(pick(0, 1) == 0 ? LoadBalancing::kFlowHash : LoadBalancing::kSpray);
}

/// Links from `node` to everyone; every cable has two directions, so also from everyone to `node`.
std::vector<std::uint32_t> distances(const Fabric& fabric, std::uint32_t node) {
    std::vector<std::uint32_t> distance(fabric.node_count(), kUnreached);
    distance[node] = 0;
    boost::breadth_first_search(fabric.graph(), node,
                                boost::visitor(boost::make_bfs_visitor(
                                    boost::record_distances(distance.data(), boost::on_tree_edge()))));
    return distance;
}

RC_GTEST_PROP(RoutingProperty, NextLinksAreThoseOfAllShortestPaths, ()) {
    std::mt19937_64 random(random_seed());
    const std::shared_ptr<const Fabric> fabric = random_fabric(random);
    for (std::uint32_t d = 0; d < fabric->host_count(); ++d) {
        const std::vector<std::uint32_t> distance = distances(*fabric, d);
        for (std::uint32_t n = 0; n < fabric->node_count(); ++n) {
            std::vector<LinkId> expected;
            for (std::uint32_t i = 0; i < fabric->out_degree(NodeId(n)); ++i) {
                const LinkId link(fabric->first_link(NodeId(n)).index() + i);
                if (distance[n] != kUnreached && distance[fabric->target(link).index()] + 1 == distance[n]) {
                    expected.push_back(link);
                }
            }
            const std::span<const LinkId> actual = fabric->routing().next_links(NodeId(n), HostId(d));
            RC_ASSERT(std::equal(actual.begin(), actual.end(), expected.begin(), expected.end()));
        }
    }
}

RC_GTEST_PROP(RoutingProperty, RoutesHaveTheShortestLengthAndTheLongestLatency, ()) {
    std::mt19937_64 random(random_seed());
    const std::shared_ptr<const Fabric> fabric = random_fabric(random);
    for (std::uint32_t s = 0; s < fabric->host_count(); ++s) {
        const std::vector<std::uint32_t> distance = distances(*fabric, s);
        for (std::uint32_t d = 0; d < fabric->host_count(); ++d) {
            if (s == d) {
                continue;
            }
            const Route route = fabric->routing().route(HostId(s), HostId(d));
            RC_ASSERT(route.hops == (distance[d] == kUnreached ? 0 : distance[d]));
            // Legs are grouped by distance, so the latest arrival at a node is known before it is left.
            std::vector<Time> latest(fabric->node_count());
            for (const RouteLeg& leg : route.legs) {
                Time& arrival = latest[fabric->target(leg.link).index()];
                arrival = std::max(arrival,
                                   latest[fabric->source(leg.link).index()] + fabric->link(leg.link).latency);
            }
            RC_ASSERT(route.latency == latest[d]);
        }
    }
}

TEST(Routing, MayBeAskedFromSeveralThreadsAtOnce) {
    FatTreeParameters parameters;
    parameters.k = 8;
    const std::shared_ptr<const Fabric> shared = build_fat_tree(parameters);
    const std::shared_ptr<const Fabric> alone = build_fat_tree(parameters);
    constexpr std::uint32_t kThreads = 4;
    std::vector<std::vector<LinkId>> choices(kThreads);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint32_t d = 1; d < 128; ++d) {
                for (const RouteLeg& leg : shared->routing().route(HostId(0), HostId(d)).legs) {
                    choices[t].push_back(leg.link);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::vector<LinkId> expected;
    for (std::uint32_t d = 1; d < 128; ++d) {
        for (const RouteLeg& leg : alone->routing().route(HostId(0), HostId(d)).legs) {
            expected.push_back(leg.link);
        }
    }
    for (const std::vector<LinkId>& choice : choices) {
        EXPECT_EQ(choice, expected);
    }
}

}  // namespace
}  // namespace astrolabe::network
