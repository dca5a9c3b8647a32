#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

const LinkParameters kCable{100_Gbps, 500_ns, Bytes(0)};

TEST(FabricBuilder, NumbersLinksBySourceThenOrderOfAddition) {
    FabricBuilder builder("test");
    builder.add_host("a");
    builder.add_host("b");
    const NodeId hub = builder.add_switch("hub", 64_KiB);
    builder.connect(NodeId(1), hub, {10_Gbps, 1_ns, 2_KiB}, {20_Gbps, 3_ns, 4_KiB});
    builder.connect(NodeId(0), hub, kCable);
    builder.connect(NodeId(0), hub, {40_Gbps, 5_ns, Bytes(0)});  // parallel to the one before
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();

    EXPECT_EQ(fabric->kind(), "test");
    EXPECT_EQ(fabric->host_count(), 2U);
    EXPECT_EQ(fabric->node_count(), 3U);
    EXPECT_EQ(fabric->link_count(), 6U);
    // a: 0 (100G), 1 (40G); b: 2 (10G); hub: 3 (to b, 20G), 4 (to a, 100G), 5 (to a, 40G).
    const std::vector<std::uint32_t> sources = {0, 0, 1, 2, 2, 2};
    const std::vector<std::uint32_t> targets = {2, 2, 2, 1, 0, 0};
    const std::vector<std::uint32_t> reverses = {4, 5, 3, 2, 0, 1};
    const std::vector<Bandwidth> rates = {100_Gbps, 40_Gbps, 10_Gbps, 20_Gbps, 100_Gbps, 40_Gbps};
    for (std::uint32_t i = 0; i < 6; ++i) {
        const LinkId link(i);
        EXPECT_EQ(fabric->source(link), NodeId(sources[i]));
        EXPECT_EQ(fabric->target(link), NodeId(targets[i]));
        EXPECT_EQ(fabric->link(link).reverse, LinkId(reverses[i]));
        EXPECT_EQ(fabric->link(link).rate, rates[i]);
    }
    EXPECT_EQ(fabric->link(LinkId(3)).latency, 3_ns);
    EXPECT_EQ(fabric->link(LinkId(3)).buffer, 4_KiB);
    EXPECT_EQ(fabric->first_link(hub), LinkId(3));
    EXPECT_EQ(fabric->out_degree(hub), 3U);
    EXPECT_EQ(fabric->node(hub).name, "hub");
    EXPECT_EQ(fabric->node(hub).buffer, 64_KiB);
    EXPECT_EQ(fabric->egress_rate(HostId(0)), 140_Gbps);
    EXPECT_EQ(fabric->egress_rate(HostId(1)), 10_Gbps);
    EXPECT_EQ(fabric->ingress_rate(HostId(1)), 20_Gbps);
    EXPECT_TRUE(fabric->is_static());
}

TEST(FabricBuilder, TranslatesCircuitsToLinkIds) {
    FabricBuilder builder("test");
    builder.add_host("a");
    builder.add_host("b");
    const NodeId hub = builder.add_switch("hub");
    const FabricBuilder::Cable b = builder.connect(NodeId(1), hub, kCable);
    builder.connect(NodeId(0), hub, kCable);
    builder.set_circuits(3_us, {{1_us, {b.forward}}, {2_us, {b.backward}}});
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();
    const LinkId b_up = fabric->first_link(NodeId(1));
    const LinkId b_down = *fabric->link(b_up).reverse;
    EXPECT_FALSE(fabric->is_static());
    EXPECT_TRUE(fabric->circuits().exists(b_up, 0));
    EXPECT_FALSE(fabric->circuits().exists(b_up, 1));
    EXPECT_TRUE(fabric->circuits().exists(b_down, 1));
    EXPECT_FALSE(fabric->circuits().is_circuit(fabric->first_link(NodeId(0))));
}

TEST(FabricBuilder, OneWayLinksHaveNoReverse) {
    FabricBuilder builder("test");
    for (const char* name : {"a", "b", "c"}) {
        builder.add_host(name);
    }
    builder.connect_one_way(NodeId(1), NodeId(0), {10_Gbps, 1_ns, Bytes(0)});
    builder.connect(NodeId(0), NodeId(1), {20_Gbps, 2_ns, Bytes(0)}, {40_Gbps, 3_ns, Bytes(0)});
    builder.connect_one_way(NodeId(2), NodeId(0), {80_Gbps, 4_ns, Bytes(0)});
    builder.connect_one_way(NodeId(0), NodeId(2), {160_Gbps, 5_ns, Bytes(0)});
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();
    // a: 0 (to b, 20G), 1 (to c, 160G); b: 2 (to a, 10G), 3 (to a, 40G); c: 4 (to a, 80G).
    EXPECT_EQ(fabric->link_count(), 5U);
    EXPECT_EQ(fabric->one_way_link_count(), 3U);
    const std::vector<std::optional<LinkId>> reverses = {LinkId(3), std::nullopt, std::nullopt, LinkId(0),
                                                         std::nullopt};
    for (std::uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(fabric->link(LinkId(i)).reverse, reverses[i]) << i;
    }
    const auto into = [&](int node) {
        const std::span<const LinkId> links = fabric->links_into(NodeId(node));
        return std::vector<LinkId>(links.begin(), links.end());
    };
    EXPECT_EQ(into(0), (std::vector<LinkId>{LinkId(2), LinkId(3), LinkId(4)}));
    EXPECT_EQ(into(1), std::vector<LinkId>{LinkId(0)});
    EXPECT_EQ(into(2), std::vector<LinkId>{LinkId(1)});
    EXPECT_EQ(fabric->egress_rate(HostId(0)), 180_Gbps);
    EXPECT_EQ(fabric->ingress_rate(HostId(0)), 130_Gbps);
    EXPECT_EQ(fabric->egress_rate(HostId(2)), 80_Gbps);
    EXPECT_EQ(fabric->ingress_rate(HostId(2)), 160_Gbps);
    // c reaches b through a alone, and b reaches c so.
    EXPECT_EQ(fabric->routing().route(HostId(2), HostId(1)).latency, 4_ns + 2_ns);
    EXPECT_EQ(fabric->routing().route(HostId(1), HostId(2)).hops, 2U);
}

TEST(FabricBuilder, AOneWayLinkJoinsTwoNodes) {
    FabricBuilder builder("test");
    builder.add_host("a");
    builder.add_host("b");
    builder.connect_one_way(NodeId(0), NodeId(1), kCable);
    EXPECT_THROW(builder.connect_one_way(NodeId(0), NodeId(0), kCable), std::logic_error);
    builder.connect(NodeId(0), builder.add_switch("hub"), kCable);
    EXPECT_EQ(std::move(builder).build()->one_way_link_count(), 1U);
}

TEST(FabricBuilder, RefusesBrokenInvariants) {
    FabricBuilder builder("test");
    builder.add_host("a");
    const NodeId hub = builder.add_switch("hub");
    EXPECT_THROW(builder.add_host("late"), std::logic_error);
    EXPECT_THROW(builder.connect(hub, hub, kCable), std::logic_error);
    EXPECT_THROW(builder.connect(hub, NodeId(9), kCable), std::logic_error);
    EXPECT_THROW(builder.connect(NodeId(0), hub, {Bandwidth(0), 1_ns, Bytes(0)}), std::logic_error);
    EXPECT_THROW(builder.connect(NodeId(0), hub, {1_Gbps, Time(-1), Bytes(0)}), std::logic_error);
    EXPECT_THROW((void)FabricBuilder("empty").build(), std::logic_error);
}

TEST(FabricBuilder, RefusesIntervalsThatDoNotFillThePeriod) {
    FabricBuilder builder("test");
    builder.add_host("a");
    const NodeId hub = builder.add_switch("hub");
    const FabricBuilder::Cable cable = builder.connect(NodeId(0), hub, kCable);
    builder.set_circuits(3_us, {{1_us, {cable.forward}}});
    EXPECT_THROW((void)std::move(builder).build(), std::logic_error);
}

std::shared_ptr<const Fabric> k_ary(std::int64_t k, LoadBalancing load_balancing, std::int64_t seed = 1) {
    FatTreeParameters parameters;
    parameters.k = k;
    parameters.load_balancing = load_balancing;
    parameters.seed = seed;
    return build_fat_tree(parameters);
}

TEST(Routing, NextLinksLeadNearerAndNeverBack) {
    const std::shared_ptr<const Fabric> fabric = k_ary(4, LoadBalancing::kFlowHash);
    const RoutingPolicy& routing = fabric->routing();
    for (std::uint32_t d = 0; d < fabric->host_count(); ++d) {
        const HostId destination(d);
        EXPECT_TRUE(routing.next_links(fabric->node_of(destination), destination).empty());
        // Longest path to d over next links, by relaxation; a loop would never settle.
        std::vector<int> distance(fabric->node_count(), -1);
        distance[d] = 0;
        for (int round = 1; round <= 6; ++round) {
            for (std::uint32_t n = 0; n < fabric->node_count(); ++n) {
                if (distance[n] != -1) {
                    continue;
                }
                const std::span<const LinkId> links = routing.next_links(NodeId(n), destination);
                ASSERT_FALSE(links.empty());
                bool all_known = true;
                for (const LinkId link : links) {
                    EXPECT_EQ(fabric->source(link), NodeId(n));
                    all_known = all_known && distance[fabric->target(link).index()] == round - 1;
                }
                if (all_known) {
                    distance[n] = round;
                }
            }
        }
        for (const int hops : distance) {
            EXPECT_GE(hops, 0);
        }
    }
}

TEST(Routing, RouteIsWhatSelectPicksLinkByLink) {
    const std::shared_ptr<const Fabric> fabric = k_ary(8, LoadBalancing::kFlowHash);
    for (std::uint32_t s = 0; s < fabric->host_count(); s += 3) {
        for (std::uint32_t d = 0; d < fabric->host_count(); d += 5) {
            if (s == d) {
                continue;
            }
            const Route route = fabric->routing().route(HostId(s), HostId(d));
            NodeId at(s);
            for (const RouteLeg& leg : route.legs) {
                EXPECT_EQ(leg.link, fabric->routing().select(at, HostId(s), HostId(d)));
                EXPECT_EQ(leg.share, 1.0);
                at = fabric->target(leg.link);
            }
            EXPECT_EQ(at, NodeId(d));
            EXPECT_EQ(route.hops, route.legs.size());
            EXPECT_EQ(route.latency, 500_ns * route.hops);
        }
    }
}

TEST(Routing, TheFlowHashSpreadsEvenlyAndDependsOnTheSeed) {
    // 16 hosts under each of 2 leaves, 4 spines: 256 flows from leaf 0 to leaf 1. Each spine expects 64 with
    // a standard deviation of sqrt(256·1/4·3/4) = 6.9; five of them are 35.
    LeafSpineParameters parameters;
    parameters.hosts = 32;
    parameters.hosts_per_leaf = 16;
    parameters.spines = 4;
    std::vector<std::map<LinkId, int>> counts;
    std::vector<std::vector<LinkId>> choices;
    for (const std::int64_t seed : {1, 2}) {
        parameters.seed = seed;
        const std::shared_ptr<const Fabric> fabric = build_leaf_spine(parameters);
        std::map<LinkId, int>& count = counts.emplace_back();
        std::vector<LinkId>& choice = choices.emplace_back();
        for (std::uint32_t s = 0; s < 16; ++s) {
            for (std::uint32_t d = 16; d < 32; ++d) {
                choice.push_back(fabric->routing().route(HostId(s), HostId(d)).legs[1].link);
                ++count[choice.back()];
            }
        }
        EXPECT_EQ(count.size(), 4U);
        for (const auto& [link, flows] : count) {
            EXPECT_NEAR(flows, 64, 35);
        }
    }
    EXPECT_NE(choices[0], choices[1]);
}

TEST(Routing, ConsecutiveStagesChooseIndependently) {
    // Aggregation choice (k/2 = 4) and core choice (4 each) of flows between pods 0 and 1 of a k = 8 tree:
    // all 16 cores are used. A hash without the node would use the same choice twice and reach 4 cores only.
    const std::shared_ptr<const Fabric> fabric = k_ary(8, LoadBalancing::kFlowHash);
    std::set<NodeId> cores;
    for (std::uint32_t s = 0; s < 16; ++s) {
        for (std::uint32_t d = 16; d < 32; ++d) {
            cores.insert(fabric->target(fabric->routing().route(HostId(s), HostId(d)).legs[2].link));
        }
    }
    EXPECT_EQ(cores.size(), 16U);
}

TEST(Routing, SprayingSplitsEvenlyAndMergesAgain) {
    const std::shared_ptr<const Fabric> fabric = k_ary(4, LoadBalancing::kSpray);
    const Route route = fabric->routing().route(HostId(0), HostId(4));
    // 1 up, 2 to the aggregations, 4 to the cores, 4 down to 2 aggregations, 2 to the edge, 1 to the host.
    const std::vector<double> shares = {1, .5, .5, .25, .25, .25, .25, .25, .25, .25, .25, .5, .5, 1};
    ASSERT_EQ(route.legs.size(), shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
        EXPECT_EQ(route.legs[i].share, shares[i]) << i;
    }
    EXPECT_EQ(route.hops, 6U);
    EXPECT_EQ(route.latency, 3_us);
}

TEST(Routing, SprayedSharesAreConservedAtEveryNode) {
    FatTreeParameters parameters;
    parameters.pods = 3;
    parameters.edges_per_pod = 2;
    parameters.hosts_per_edge = 2;
    parameters.aggregations_per_pod = 3;
    parameters.cores = 6;
    parameters.edge_uplinks = 2;
    parameters.load_balancing = LoadBalancing::kSpray;
    const std::shared_ptr<const Fabric> fabric = build_fat_tree(parameters);
    for (std::uint32_t d = 1; d < fabric->host_count(); ++d) {
        std::vector<double> balance(fabric->node_count(), 0.0);
        std::set<LinkId> seen;
        for (const RouteLeg& leg : fabric->routing().route(HostId(0), HostId(d)).legs) {
            EXPECT_TRUE(seen.insert(leg.link).second) << "each link once";
            balance[fabric->source(leg.link).index()] -= leg.share;
            balance[fabric->target(leg.link).index()] += leg.share;
        }
        for (std::uint32_t n = 0; n < fabric->node_count(); ++n) {
            const double expected = n == 0 ? -1.0 : n == d ? 1.0 : 0.0;
            // Up to 12 shares of 1/6 or 1/12 add up: a few units of 2^-53.
            EXPECT_NEAR(balance[n], expected, 1e-15);
        }
    }
}

TEST(Routing, HostsForwardWhereTheShortestPathLeadsThroughThem) {
    // A ring of five hosts: 0 to 2 goes through host 1, the way round through 4 and 3 is longer.
    FabricBuilder builder("test");
    for (int i = 0; i < 5; ++i) {
        builder.add_host("host");
    }
    for (std::uint32_t i = 0; i < 5; ++i) {
        builder.connect(NodeId(i), NodeId((i + 1) % 5), kCable);
    }
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();
    const Route route = fabric->routing().route(HostId(0), HostId(2));
    ASSERT_EQ(route.hops, 2U);
    EXPECT_EQ(fabric->target(route.legs[0].link), NodeId(1));
}

TEST(Routing, TwoHostsOnOneCable) {
    FabricBuilder builder("test");
    builder.add_host("a");
    builder.add_host("b");
    builder.connect(NodeId(0), NodeId(1), kCable);
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();
    EXPECT_EQ(fabric->routing().route(HostId(0), HostId(1)).hops, 1U);
    EXPECT_EQ(fabric->routing().route(HostId(1), HostId(0)).hops, 1U);
}

TEST(Routing, ParallelCablesAreAllNextLinks) {
    FabricBuilder builder("test");
    builder.add_host("a");
    builder.add_host("b");
    const NodeId hub = builder.add_switch("hub");
    for (int i = 0; i < 3; ++i) {
        builder.connect(NodeId(0), hub, kCable);
        builder.connect(NodeId(1), hub, kCable);
    }
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();
    EXPECT_EQ(fabric->routing().next_links(NodeId(0), HostId(1)).size(), 3U);
    EXPECT_EQ(fabric->routing().next_links(hub, HostId(1)).size(), 3U);
}

TEST(Routing, WhatCannotBeReachedHasNoRoute) {
    FabricBuilder builder("test");
    for (int i = 0; i < 3; ++i) {
        builder.add_host("host");
    }
    const NodeId here = builder.add_switch("here");
    const NodeId there = builder.add_switch("there");
    builder.connect(NodeId(0), here, kCable);
    builder.connect(NodeId(1), there, kCable);
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();
    for (const auto& [s, d] : {std::pair{0, 1}, {1, 0}, {0, 2}, {2, 0}}) {
        EXPECT_TRUE(fabric->routing().next_links(NodeId(s), HostId(d)).empty()) << s << " to " << d;
        EXPECT_TRUE(fabric->routing().route(HostId(s), HostId(d)).legs.empty());
    }
}

}  // namespace
}  // namespace astrolabe::network
