/// Routing against Boost's shortest paths on random multigraphs, where hosts may have no, one or many cables,
/// links cost the same or not and, where there are no switches, may go one way.
#include "random_seed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

constexpr std::uint64_t kUnreached = std::numeric_limits<std::uint64_t>::max();

std::shared_ptr<const Fabric> random_fabric(std::mt19937_64& random) {
    const auto pick = [&](std::uint32_t least, std::uint32_t most) {
        return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
    };
    FabricBuilder builder("random");
    const std::uint32_t hosts = pick(1, 12);
    const std::uint32_t switches = pick(0, 2) == 0 ? 0 : pick(1, 8);
    for (std::uint32_t i = 0; i < hosts; ++i) {
        builder.add_host("host");
    }
    for (std::uint32_t i = 0; i < switches; ++i) {
        builder.add_switch("switch");
    }
    const std::uint32_t nodes = hosts + switches;
    const std::uint32_t highest_cost = pick(0, 1) == 0 ? 1 : pick(1, 4);
    const auto direction = [&] {
        return LinkParameters{100_Gbps, Time(pick(0, 1000)), Bytes(0),
                              static_cast<std::uint16_t>(pick(1, highest_cost))};
    };
    for (std::uint32_t cables = nodes < 2 ? 0 : pick(0, 3 * nodes); cables > 0; --cables) {
        const std::uint32_t a = pick(0, nodes - 1);
        const std::uint32_t b = (a + pick(1, nodes - 1)) % nodes;
        const LinkParameters forward = direction();
        const LinkParameters backward = direction();
        if (switches == 0 && pick(0, 2) > 0) {
            builder.connect_one_way(NodeId(a), NodeId(b), forward);
        } else {
            builder.connect(NodeId(a), NodeId(b), forward, backward);
        }
    }
    return std::move(builder).build(pick(0, 1) == 0 ? LoadBalancing::kFlowHash : LoadBalancing::kSpray);
}

/// Length of the shortest path from everyone to `node`: that from it where every link is turned round.
std::vector<std::uint64_t> distances(const Fabric& fabric, std::uint32_t node) {
    using Weight = boost::property<boost::edge_weight_t, std::uint64_t>;
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Weight> turned(
        fabric.node_count());
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        boost::add_edge(fabric.target(link).index(), fabric.source(link).index(),
                        std::uint64_t{fabric.link(link).cost}, turned);
    }
    std::vector<std::uint64_t> distance(fabric.node_count());
    boost::dijkstra_shortest_paths(turned, node, boost::distance_map(distance.data()));
    return distance;
}

RC_GTEST_PROP(RoutingProperty, NextLinksAreThoseOfAllShortestPaths, ()) {
    std::mt19937_64 random(random_seed());
    const std::shared_ptr<const Fabric> fabric = random_fabric(random);
    for (std::uint32_t d = 0; d < fabric->host_count(); ++d) {
        const std::vector<std::uint64_t> distance = distances(*fabric, d);
        for (std::uint32_t n = 0; n < fabric->node_count(); ++n) {
            std::vector<LinkId> expected;
            for (std::uint32_t i = 0; i < fabric->out_degree(NodeId(n)); ++i) {
                const LinkId link(fabric->first_link(NodeId(n)).index() + i);
                if (distance[n] != kUnreached && distance[fabric->target(link).index()] != kUnreached &&
                    distance[fabric->target(link).index()] + fabric->link(link).cost == distance[n]) {
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
    for (std::uint32_t d = 0; d < fabric->host_count(); ++d) {
        const std::vector<std::uint64_t> distance = distances(*fabric, d);
        for (std::uint32_t s = 0; s < fabric->host_count(); ++s) {
            if (s == d) {
                continue;
            }
            const Route route = fabric->routing().route(HostId(s), HostId(d));
            RC_ASSERT(route.legs.empty() == (distance[s] == kUnreached));
            // Legs are ordered by distance, so everything that reaches a node is known before it is left.
            struct Reached {
                double share = 0.0;
                Time latest;
                std::size_t most_hops = 0;
            };
            std::vector<Reached> reached(fabric->node_count());
            reached[s].share = 1.0;
            std::vector<double> left(fabric->node_count());
            for (const RouteLeg& leg : route.legs) {
                const std::size_t from = fabric->source(leg.link).index();
                const std::size_t to = fabric->target(leg.link).index();
                RC_ASSERT(distance[to] + fabric->link(leg.link).cost == distance[from]);
                left[from] += leg.share;
                reached[to].share += leg.share;
                reached[to].latest =
                    std::max(reached[to].latest, reached[from].latest + fabric->link(leg.link).latency);
                reached[to].most_hops = std::max(reached[to].most_hops, reached[from].most_hops + 1);
            }
            RC_ASSERT(route.latency == reached[d].latest);
            RC_ASSERT(route.hops == reached[d].most_hops);
            // What comes to a node leaves it again, except at the destination.
            for (std::size_t n = 0; n < fabric->node_count() && !route.legs.empty(); ++n) {
                const double leaves = n == d ? 1.0 : left[n];
                RC_ASSERT(std::abs(reached[n].share - leaves) < 1e-12);
            }
        }
    }
}

}  // namespace
}  // namespace astrolabe::network
