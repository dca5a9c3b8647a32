/// One test per way in which the parameters of a topology can be wrong.
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "parameter_keys.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

FlatParameters flat() {
    FlatParameters parameters;
    parameters.hosts = 8;
    return parameters;
}

TEST(FlatParameters, AcceptsDefaultsWithHosts) {
    EXPECT_EQ(keys(validation_errors(flat())), Keys{});
}

TEST(FlatParameters, RejectsNoHosts) {
    FlatParameters p = flat();
    p.hosts = 0;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"hosts"});
    EXPECT_THROW((void)build_flat(p), std::logic_error);
}

TEST(FlatParameters, RejectsMoreHostsThanTheLimit) {
    FlatParameters p = flat();
    p.hosts = kMaxHosts + 1;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"hosts"});
}

TEST(FlatParameters, RejectsALinkWithoutRate) {
    FlatParameters p = flat();
    p.link.rate = Bandwidth(0);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(FlatParameters, RejectsARateAboveTheLimit) {
    FlatParameters p = flat();
    p.link.rate = kMaxLinkRate + 1_bps;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(FlatParameters, RejectsANegativeLatency) {
    FlatParameters p = flat();
    p.link.latency = Time(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.latency"});
}

TEST(FlatParameters, RejectsALatencyAboveTheLimit) {
    FlatParameters p = flat();
    p.link.latency = kMaxLinkLatency + 1_ps;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.latency"});
}

TEST(FlatParameters, RejectsANegativeBuffer) {
    FlatParameters p = flat();
    p.switch_buffer = Bytes(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"switch_buffer"});
}

TEST(FlatParameters, ReportsEverythingAtOnce) {
    FlatParameters p;
    p.link = {Bandwidth(-1), Time(-1)};
    p.switch_buffer = Bytes(-1);
    EXPECT_EQ(keys(validation_errors(p)), (Keys{"hosts", "link.rate", "link.latency", "switch_buffer"}));
}

LeafSpineParameters checked_leaf_spine() {
    LeafSpineParameters parameters;
    parameters.hosts = 32;
    parameters.hosts_per_leaf = 8;
    parameters.spines = 4;
    return parameters;
}

TEST(LeafSpineParameters, AcceptsDefaultsWithCounts) {
    EXPECT_EQ(keys(validation_errors(checked_leaf_spine())), Keys{});
}

TEST(LeafSpineParameters, RejectsMissingCounts) {
    EXPECT_EQ(keys(validation_errors(LeafSpineParameters{})), (Keys{"hosts", "hosts_per_leaf", "spines"}));
    EXPECT_THROW((void)build_leaf_spine(LeafSpineParameters{}), std::logic_error);
}

TEST(LeafSpineParameters, RejectsHostsThatDoNotFillTheLeaves) {
    LeafSpineParameters p = checked_leaf_spine();
    p.hosts = 33;
    ASSERT_EQ(keys(validation_errors(p)), Keys{"hosts"});
    EXPECT_EQ(validation_errors(p)[0].hint, "the next multiple of hosts_per_leaf is 40");
}

TEST(LeafSpineParameters, RejectsNoUplinks) {
    LeafSpineParameters p = checked_leaf_spine();
    p.uplinks = 0;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"uplinks"});
}

TEST(LeafSpineParameters, RejectsMoreSwitchesThanTheLimit) {
    LeafSpineParameters p = checked_leaf_spine();
    p.spines = kMaxSwitches;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"spines"});
}

TEST(LeafSpineParameters, RejectsMoreCablesThanTheLimit) {
    LeafSpineParameters p = checked_leaf_spine();
    p.uplinks = kMaxCables / 16 + 1;  // 4 leaves, 4 spines
    EXPECT_EQ(keys(validation_errors(p)), Keys{"uplinks"});
}

TEST(LeafSpineParameters, RejectsABadHostLink) {
    LeafSpineParameters p = checked_leaf_spine();
    p.link.rate = Bandwidth(0);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(LeafSpineParameters, RejectsANegativeUplinkRate) {
    LeafSpineParameters p = checked_leaf_spine();
    p.uplink.rate = Bandwidth(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"uplink.rate"});
}

TEST(LeafSpineParameters, RejectsANegativeUplinkLatency) {
    LeafSpineParameters p = checked_leaf_spine();
    p.uplink.latency = Time(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"uplink.latency"});
}

TEST(LeafSpineParameters, RejectsANegativeOversubscription) {
    LeafSpineParameters p = checked_leaf_spine();
    p.oversubscription = -2.0;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"oversubscription"});
}

TEST(LeafSpineParameters, RejectsAnOversubscriptionThatContradictsTheRates) {
    LeafSpineParameters p = checked_leaf_spine();
    p.uplink.rate = 100_Gbps;  // 8 hosts over 4 uplinks of the same rate: 2
    p.oversubscription = 3.0;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"oversubscription"});
}

TEST(LeafSpineParameters, RejectsAnOversubscriptionThatNeedsImpossibleUplinks) {
    LeafSpineParameters p = checked_leaf_spine();
    p.oversubscription = 1e-6;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"oversubscription"});
}

TEST(LeafSpineParameters, RejectsANegativeBuffer) {
    LeafSpineParameters p = checked_leaf_spine();
    p.switch_buffer = Bytes(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"switch_buffer"});
}

FatTreeParameters k_ary(std::int64_t k) {
    FatTreeParameters parameters;
    parameters.k = k;
    return parameters;
}

FatTreeParameters three_tiers() {
    FatTreeParameters parameters;
    parameters.pods = 4;
    parameters.edges_per_pod = 2;
    parameters.hosts_per_edge = 8;
    parameters.aggregations_per_pod = 2;
    parameters.cores = 4;
    return parameters;
}

TEST(FatTreeParameters, AcceptsBothForms) {
    EXPECT_EQ(keys(validation_errors(k_ary(8))), Keys{});
    EXPECT_EQ(keys(validation_errors(three_tiers())), Keys{});
}

TEST(FatTreeParameters, RejectsMissingCounts) {
    EXPECT_EQ(keys(validation_errors(FatTreeParameters{})),
              (Keys{"edges_per_pod", "hosts_per_edge", "aggregations_per_pod"}));
    EXPECT_THROW((void)build_fat_tree(FatTreeParameters{}), std::logic_error);
}

TEST(FatTreeParameters, RejectsAnOddK) {
    EXPECT_EQ(keys(validation_errors(k_ary(5))), Keys{"k"});
}

TEST(FatTreeParameters, RejectsANegativeK) {
    EXPECT_EQ(keys(validation_errors(k_ary(-4))), Keys{"k"});
}

TEST(FatTreeParameters, RejectsAKWithMoreHostsThanTheLimit) {
    EXPECT_EQ(keys(validation_errors(k_ary(160))), Keys{});
    EXPECT_EQ(keys(validation_errors(k_ary(162))), Keys{"k"});
}

TEST(FatTreeParameters, RejectsKTogetherWithCounts) {
    FatTreeParameters p = three_tiers();
    p.k = 4;
    EXPECT_EQ(keys(validation_errors(p)),
              (Keys{"pods", "edges_per_pod", "hosts_per_edge", "aggregations_per_pod", "cores"}));
}

TEST(FatTreeParameters, RejectsHostsThatContradictK) {
    FatTreeParameters p = k_ary(8);
    p.hosts = 127;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"hosts"});
    p.hosts = 128;
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
}

TEST(FatTreeParameters, RejectsHostsThatContradictTheCounts) {
    FatTreeParameters p = three_tiers();
    p.hosts = 65;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"hosts"});
}

TEST(FatTreeParameters, RejectsPodsWithoutCores) {
    FatTreeParameters p = three_tiers();
    p.cores = 0;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"cores"});
}

TEST(FatTreeParameters, RejectsCoresWithoutPods) {
    FatTreeParameters p = three_tiers();
    p.pods = 1;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"cores"});
}

TEST(FatTreeParameters, RejectsCoresThatDoNotDivideAmongAggregationSwitches) {
    FatTreeParameters p = three_tiers();
    p.cores = 5;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"cores"});
}

TEST(FatTreeParameters, RejectsNegativePods) {
    FatTreeParameters p = three_tiers();
    p.pods = -1;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"pods"});
}

TEST(FatTreeParameters, RejectsNoUplinks) {
    FatTreeParameters p = k_ary(4);
    p.edge_uplinks = 0;
    p.aggregation_uplinks = 0;
    EXPECT_EQ(keys(validation_errors(p)), (Keys{"edge_uplinks", "aggregation_uplinks"}));
}

TEST(FatTreeParameters, RejectsMoreSwitchesThanTheLimit) {
    FatTreeParameters p = three_tiers();
    p.pods = kMaxSwitches;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"pods"});
}

TEST(FatTreeParameters, RejectsMoreHostsThanTheLimit) {
    FatTreeParameters p = three_tiers();
    p.hosts_per_edge = kMaxHosts / 8 + 1;  // 8 edge switches
    EXPECT_EQ(keys(validation_errors(p)), Keys{"hosts_per_edge"});
}

TEST(FatTreeParameters, RejectsMoreCablesThanTheLimit) {
    FatTreeParameters p = three_tiers();
    p.edge_uplinks = kMaxCables / 16 + 1;         // 8 edge switches, 2 aggregation switches each
    p.aggregation_uplinks = kMaxCables / 16 + 1;  // 4 pods, 4 cores
    EXPECT_EQ(keys(validation_errors(p)), (Keys{"edge_uplinks", "aggregation_uplinks"}));
}

TEST(FatTreeParameters, RejectsBadLinks) {
    FatTreeParameters p = three_tiers();
    p.link.rate = Bandwidth(0);
    p.edge_uplink.rate = Bandwidth(-1);
    p.aggregation_uplink.latency = Time(-1);
    p.switch_buffer = Bytes(-1);
    EXPECT_EQ(keys(validation_errors(p)),
              (Keys{"link.rate", "edge_uplink.rate", "aggregation_uplink.latency", "switch_buffer"}));
}

TEST(FatTreeParameters, RejectsAnEdgeOversubscriptionThatContradictsTheRates) {
    FatTreeParameters p = three_tiers();
    p.edge_uplink.rate = 200_Gbps;  // 8·100 / (2·200) = 2
    p.edge_oversubscription = 4.0;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"edge_oversubscription"});
}

TEST(FatTreeParameters, RejectsAnAggregationOversubscriptionThatContradictsTheRates) {
    FatTreeParameters p = three_tiers();
    p.aggregation_uplink.rate = 100_Gbps;  // 2·100 / (2·100) = 1
    p.aggregation_oversubscription = 2.0;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"aggregation_oversubscription"});
}

TEST(FatTreeParameters, RejectsAnAggregationOversubscriptionOfATwoTierTree) {
    FatTreeParameters p;
    p.edges_per_pod = 2;
    p.hosts_per_edge = 2;
    p.aggregations_per_pod = 2;
    p.aggregation_oversubscription = 2.0;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"aggregation_oversubscription"});
}

}  // namespace
}  // namespace astrolabe::network
