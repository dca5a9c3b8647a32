#include "random_seed.hpp"

#include <random>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/analysis/concurrent_flow.hpp>

namespace astrolabe::network {
namespace {

constexpr double kRounding = 1e-9;

/// Both sides of what was found must enclose λ, and lie as close as asked for.
void expect_encloses(const ConcurrentFlow& found, double throughput, double gap = 0.02) {
    EXPECT_LE(found.least, throughput * (1 + kRounding));
    EXPECT_GE(found.most, throughput * (1 - kRounding));
    EXPECT_LE(found.most, found.least * (1 + gap));
}

std::vector<FlowEdge> cables(const std::vector<FlowEdge>& one_way) {
    std::vector<FlowEdge> edges;
    for (const FlowEdge& edge : one_way) {
        edges.push_back(edge);
        edges.push_back({edge.target, edge.source, edge.capacity});
    }
    return edges;
}

TEST(ConcurrentFlow, OfOneEdgeIsItsCapacityOverTheAmount) {
    const std::vector<FlowEdge> edges{{0, 1, 10}};
    const std::vector<FlowDemand> demands{{0, 1, 4}};
    expect_encloses(max_concurrent_flow(2, edges, demands), 10.0 / 4);
}

TEST(ConcurrentFlow, TakesBothWaysRoundARing) {
    // 0 - 1 - 2 - 3 - 0 with 1 each: 1 + 1 from 0 to 2, whichever way shortest paths prefer.
    const auto edges = cables({{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}});
    expect_encloses(max_concurrent_flow(4, edges, std::vector<FlowDemand>{{0, 2, 1}}), 2);
    // From 0 to 1 the long way is worth taking, too: 1 directly, 1 over 3 and 2.
    expect_encloses(max_concurrent_flow(4, edges, std::vector<FlowDemand>{{0, 1, 1}}), 2);
}

TEST(ConcurrentFlow, OfAllPairsOnARingIsItsCapacityOverItsDistances) {
    // 5 nodes, every pair 1: distances from a node are 1, 1, 2, 2, in all 5·6 = 30 edge units of 10 edges:
    // λ ≤ 10/30, and the shortest paths load all edges alike.
    const auto edges = cables({{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 0, 1}});
    std::vector<FlowDemand> demands;
    for (std::uint32_t a = 0; a < 5; ++a) {
        for (std::uint32_t b = 0; b < 5; ++b) {
            if (a != b) {
                demands.push_back({a, b, 1});
            }
        }
    }
    expect_encloses(max_concurrent_flow(5, edges, demands), 10.0 / 30);
}

TEST(ConcurrentFlow, IsNotTheTightestCutWhereCutsDoNotSuffice) {
    // Okamura and Seymour's example of no gap is planar with all terminals outside; K_{2,3} with demands
    // inside its parts has one. Parts {0, 1} and {2, 3, 4}, edges of 1; demands 1 for {0,1}, {2,3}, {3,4},
    // {2,4}. Every demand is 2 edges long, so 4·2·λ ≤ 6: λ ≤ 3/4. Every cut is met by at least as many edges
    // as demands, so cuts alone would allow λ = 1. Each direction of an edge is used by both: undirected
    // demands are halves of two directed ones, and an undirected edge is one in each direction.
    const auto edges = cables({{0, 2, 0.5}, {0, 3, 0.5}, {0, 4, 0.5}, {1, 2, 0.5}, {1, 3, 0.5}, {1, 4, 0.5}});
    std::vector<FlowDemand> demands;
    for (const auto& [a, b] : {std::pair{0U, 1U}, {2U, 3U}, {3U, 4U}, {2U, 4U}}) {
        demands.push_back({a, b, 0.5});
        demands.push_back({b, a, 0.5});
    }
    expect_encloses(max_concurrent_flow(5, edges, demands), 0.75);
}

TEST(ConcurrentFlow, NothingFlowsWhereNoPathLeads) {
    const ConcurrentFlow found = max_concurrent_flow(3, std::vector<FlowEdge>{{0, 1, 1}, {2, 1, 1}},
                                                     std::vector<FlowDemand>{{0, 1, 1}, {0, 2, 1}});
    EXPECT_EQ(found.least, 0);
    EXPECT_EQ(found.most, 0);
}

TEST(ConcurrentFlow, BothSidesHoldHoweverEarlyItStops) {
    const auto edges = cables({{0, 1, 3}, {1, 2, 1}, {2, 3, 3}, {3, 0, 1}});
    const std::vector<FlowDemand> demands{{0, 2, 1}, {1, 3, 2}};
    const ConcurrentFlow exact = max_concurrent_flow(4, edges, demands, {.gap = 0.001});
    const ConcurrentFlow early = max_concurrent_flow(4, edges, demands, {.most_steps = 1});
    EXPECT_LE(early.least, exact.most);
    EXPECT_GE(early.most, exact.least);
}

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Residual = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, std::int64_t,
                    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

std::int64_t max_flow(std::uint32_t nodes, const std::vector<FlowEdge>& edges, std::uint32_t source,
                      std::uint32_t sink) {
    Residual graph(nodes);
    const auto capacity = boost::get(boost::edge_capacity, graph);
    const auto reverse = boost::get(boost::edge_reverse, graph);
    for (const FlowEdge& edge : edges) {
        const auto there = boost::add_edge(edge.source, edge.target, graph).first;
        const auto back = boost::add_edge(edge.target, edge.source, graph).first;
        capacity[there] = static_cast<std::int64_t>(edge.capacity);
        capacity[back] = 0;
        reverse[there] = back;
        reverse[back] = there;
    }
    return boost::push_relabel_max_flow(graph, source, sink);
}

RC_GTEST_PROP(ConcurrentFlow, OfOneDemandIsTheMaximumFlow, ()) {
    std::mt19937_64 random(random_seed());
    const auto draw = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    const std::uint32_t nodes = 3 + draw(10);
    std::vector<FlowEdge> edges;
    for (std::uint32_t i = 0; i < 3 * nodes; ++i) {
        const std::uint32_t source = draw(nodes);
        const std::uint32_t target = (source + 1 + draw(nodes - 1)) % nodes;
        edges.push_back({source, target, 1.0 + draw(20)});
    }
    const auto flow = static_cast<double>(max_flow(nodes, edges, 0, nodes - 1));
    const ConcurrentFlow found =
        max_concurrent_flow(nodes, edges, std::vector<FlowDemand>{{0, nodes - 1, 2}});
    RC_CLASSIFY(flow > 0);
    RC_ASSERT(found.least <= flow / 2 * (1 + kRounding));
    RC_ASSERT(found.most >= flow / 2 * (1 - kRounding));
    RC_ASSERT(found.most <= found.least * 1.02);
}

}  // namespace
}  // namespace astrolabe::network
