/// Structure of the topologies: counts, degrees, distances, path counts, bisection, oversubscription.
#include "fabric_structure.hpp"
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

TEST(FlatTopology, IsOneSwitchWithEveryHost) {
    FlatParameters parameters;
    parameters.hosts = 128;
    parameters.link = {800_Gbps, 250_ns};
    parameters.switch_buffer = 1_GB;
    const std::shared_ptr<const Fabric> fabric = build_flat(parameters);
    EXPECT_EQ(fabric->kind(), "flat");
    EXPECT_EQ(fabric->host_count(), 128U);
    EXPECT_EQ(fabric->node_count(), 129U);
    EXPECT_EQ(fabric->link_count(), 256U);
    EXPECT_EQ(fabric->out_degree(NodeId(128)), 128U);
    EXPECT_EQ(fabric->node(NodeId(128)).buffer, 1_GB);
    const Route route = fabric->routing().route(HostId(3), HostId(77));
    EXPECT_EQ(route.hops, 2U);
    EXPECT_EQ(route.latency, 500_ns);
    EXPECT_EQ(fabric->egress_rate(HostId(5)), 800_Gbps);
    // Non-blocking: half of the hosts send to the other half at full rate, 64·800 Gb/s.
    EXPECT_EQ(bisection_rate(*fabric), 64 * (800_Gbps).count());
}

TEST(FlatTopology, OneHostIsANetworkToo) {
    FlatParameters parameters;
    parameters.hosts = 1;
    EXPECT_EQ(build_flat(parameters)->link_count(), 2U);
}

LeafSpineParameters leaf_spine() {
    LeafSpineParameters parameters;
    parameters.hosts = 32;
    parameters.hosts_per_leaf = 8;
    parameters.spines = 4;
    parameters.uplinks = 2;
    return parameters;
}

TEST(LeafSpineTopology, JoinsEveryLeafToEverySpine) {
    const std::shared_ptr<const Fabric> fabric = build_leaf_spine(leaf_spine());
    EXPECT_EQ(fabric->kind(), "leaf_spine");
    EXPECT_EQ(fabric->node_count(), 32U + 4U + 4U);
    // 32 host cables and 4·4·2 between switches, two directions each.
    EXPECT_EQ(fabric->link_count(), 2U * (32U + 32U));
    for (std::uint32_t i = 32; i < 40; ++i) {
        // Spines come first: 4 leaves · 2 cables; a leaf: 8 hosts + 4 spines · 2 cables.
        EXPECT_EQ(fabric->out_degree(NodeId(i)), i < 36 ? 8U : 16U);
    }
    EXPECT_EQ(hops(*fabric, 0, 7), 2U);
    EXPECT_EQ(hops(*fabric, 0, 8), 4U);
    // 2 cables up, 4 spines, 2 cables down.
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(8)), 16U);
    // 8 hosts at 100 Gb/s under 8 uplinks at 100 Gb/s: nothing is lost.
    EXPECT_EQ(bisection_rate(*fabric), 16 * (100_Gbps).count());
}

TEST(LeafSpineTopology, OversubscriptionSetsTheUplinkRate) {
    LeafSpineParameters parameters = leaf_spine();
    parameters.oversubscription = 4.0;
    // 8·100 Gb/s / 4 over 8 uplinks.
    EXPECT_EQ(uplink_rate(parameters), 25_Gbps);
    EXPECT_EQ(bisection_rate(*build_leaf_spine(parameters)), 4 * (100_Gbps).count());
    parameters.oversubscription = 3.0;
    // 33,333,333,333.3 bit/s, rounded up.
    EXPECT_EQ(uplink_rate(parameters), Bandwidth(33'333'333'334));
}

TEST(LeafSpineTopology, TheUplinkRateMayBeGivenTogetherWithAnAgreeingOversubscription) {
    LeafSpineParameters parameters = leaf_spine();
    parameters.uplink.rate = 50_Gbps;
    parameters.oversubscription = 2.0;
    EXPECT_TRUE(validation_errors(parameters).empty());
    EXPECT_EQ(uplink_rate(parameters), 50_Gbps);
}

TEST(FatTreeTopology, KAryCountsAndDegrees) {
    for (const std::int64_t k : {2, 4, 8}) {
        FatTreeParameters parameters;
        parameters.k = k;
        const std::shared_ptr<const Fabric> fabric = build_fat_tree(parameters);
        EXPECT_EQ(fabric->kind(), "fat_tree");
        EXPECT_EQ(fabric->host_count(), static_cast<std::size_t>(k * k * k / 4));
        EXPECT_EQ(fabric->node_count(), static_cast<std::size_t>(k * k * k / 4 + 5 * k * k / 4));
        // As many cables in each of the three tiers as there are hosts.
        EXPECT_EQ(fabric->link_count(), static_cast<std::size_t>(2 * 3 * k * k * k / 4));
        for (std::size_t i = 0; i < fabric->node_count(); ++i) {
            const NodeId node(i);
            const bool host = fabric->node(node).kind == NodeKind::kHost;
            EXPECT_EQ(fabric->out_degree(node), host ? 1U : static_cast<std::size_t>(k));
        }
        // Full bisection bandwidth.
        EXPECT_EQ(bisection_rate(*fabric), k * k * k / 8 * (100_Gbps).count());
    }
}

TEST(FatTreeTopology, KAryDistancesAndPathCounts) {
    FatTreeParameters parameters;
    parameters.k = 8;
    const std::shared_ptr<const Fabric> fabric = build_fat_tree(parameters);
    // Hosts 0…3 on one edge switch, 0…15 in one pod.
    EXPECT_EQ(hops(*fabric, 0, 3), 2U);
    EXPECT_EQ(hops(*fabric, 0, 4), 4U);
    EXPECT_EQ(hops(*fabric, 0, 16), 6U);
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(3)), 1U);
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(4)), 4U);    // k/2
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(16)), 16U);  // k²/4
    EXPECT_EQ(path_count(*fabric, NodeId(127), HostId(0)), 16U);
}

TEST(FatTreeTopology, TwoTiersByCount) {
    FatTreeParameters parameters;
    parameters.edges_per_pod = 3;
    parameters.hosts_per_edge = 6;
    parameters.aggregations_per_pod = 2;
    const std::shared_ptr<const Fabric> fabric = build_fat_tree(parameters);
    EXPECT_EQ(fabric->host_count(), 18U);
    EXPECT_EQ(fabric->node_count(), 18U + 3U + 2U);
    EXPECT_EQ(fabric->link_count(), 2U * (18U + 6U));
    EXPECT_EQ(hops(*fabric, 0, 17), 4U);
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(17)), 2U);
}

TEST(FatTreeTopology, ThreeTiersByCountWithOversubscription) {
    // 4 pods of 2 edge switches with 8 hosts each, 2 aggregation switches with 2 of the 4 cores each.
    FatTreeParameters parameters;
    parameters.pods = 4;
    parameters.edges_per_pod = 2;
    parameters.hosts_per_edge = 8;
    parameters.aggregations_per_pod = 2;
    parameters.cores = 4;
    parameters.hosts = 64;
    parameters.edge_oversubscription = 2.0;
    parameters.aggregation_oversubscription = 4.0;
    ASSERT_TRUE(validation_errors(parameters).empty());
    const FatTreeShape s = shape(parameters);
    // Edge: 8·100 / 2 over 2 cables = 200 Gb/s. Aggregation: 2·200 / 4 over 2 cables = 50 Gb/s.
    EXPECT_EQ(s.edge_uplink_rate, 200_Gbps);
    EXPECT_EQ(s.aggregation_uplink_rate, 50_Gbps);
    const std::shared_ptr<const Fabric> fabric = build_fat_tree(parameters);
    EXPECT_EQ(fabric->host_count(), 64U);
    EXPECT_EQ(hops(*fabric, 0, 63), 6U);
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(63)), 4U);
    // Two pods to two pods: 2 pods · 2 aggregations · 2 cores · 50 Gb/s, an eighth of 32 hosts at 100 Gb/s.
    EXPECT_EQ(bisection_rate(*fabric), 8 * (50_Gbps).count());
}

TEST(FatTreeTopology, ParallelUplinksMultiplyPathsAndCapacity) {
    FatTreeParameters parameters;
    parameters.k = 4;
    parameters.edge_uplinks = 2;
    parameters.aggregation_uplinks = 3;
    const std::shared_ptr<const Fabric> fabric = build_fat_tree(parameters);
    // 2·2 cables to aggregations, 2·3 to cores, 3 down, 2 down.
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(15)), 4U * 6U * 3U * 2U);
}

TEST(FatTreeTopology, UplinkRatesFollowTheTierBelow) {
    FatTreeParameters parameters;
    parameters.k = 4;
    parameters.link.rate = 40_Gbps;
    EXPECT_EQ(shape(parameters).edge_uplink_rate, 40_Gbps);
    EXPECT_EQ(shape(parameters).aggregation_uplink_rate, 40_Gbps);
    parameters.edge_uplink.rate = 10_Gbps;
    EXPECT_EQ(shape(parameters).aggregation_uplink_rate, 10_Gbps);
}

TEST(FatTreeTopology, SixteenThousandHostsAreRoutedFromOneTablePerEdgeSwitch) {
    FatTreeParameters parameters;
    parameters.k = 40;
    const std::shared_ptr<const Fabric> fabric = build_fat_tree(parameters);
    ASSERT_EQ(fabric->host_count(), 16'000U);
    for (std::uint32_t d = 1; d < 16'000; d += 20) {
        EXPECT_EQ(fabric->routing().route(HostId(0), HostId(d)).hops, d < 20 ? 2U : d < 400 ? 4U : 6U);
    }
}

}  // namespace
}  // namespace astrolabe::network
