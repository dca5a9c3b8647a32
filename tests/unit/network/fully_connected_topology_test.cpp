#include "fabric_structure.hpp"
#include "network/src/topologies/fully_connected.hpp"
#include "parameter_keys.hpp"
#include "transfers.hpp"

#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

/// 80 ps per byte, 500 ns per link.
FullyConnectedParameters fully_connected(std::int64_t hosts) {
    FullyConnectedParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    return parameters;
}

TEST(FullyConnectedTopology, JoinsEveryPairByOneCable) {
    const std::shared_ptr<const Fabric> fabric = build_fully_connected(fully_connected(8));
    EXPECT_EQ(fabric->kind(), "fully_connected");
    EXPECT_EQ(fabric->node_count(), 8U);
    EXPECT_EQ(fabric->link_count(), 8U * 7U);
    for (std::uint32_t i = 0; i < 8; ++i) {
        EXPECT_EQ(fabric->out_degree(NodeId(i)), 7U);
        EXPECT_EQ(hop_distribution(*fabric, i), (std::map<std::size_t, int>{{1, 7}}));
    }
    EXPECT_EQ(path_count(*fabric, NodeId(2), HostId(6)), 1U);
    EXPECT_EQ(fabric->egress_rate(HostId(0)), 700_Gbps);
    // 4 hosts with a cable to each of 4 others.
    EXPECT_EQ(bisection_rate(*fabric), 16 * (100_Gbps).count());
}

TEST(FullyConnectedTopology, OneAndTwoHosts) {
    EXPECT_EQ(build_fully_connected(fully_connected(1))->link_count(), 0U);
    EXPECT_EQ(build_fully_connected(fully_connected(2))->link_count(), 2U);
}

TEST(FullyConnectedTransfers, AllToAllIsAsFastAsOneMessage) {
    for (const int n : {2, 3, 8, 16}) {
        for (const Time time :
             deliver_together(build_fully_connected(fully_connected(n)), all_pairs(n, 1_MiB))) {
            EXPECT_EQ(time, 500_ns + 80_ps * (1 << 20)) << n << " hosts";
        }
    }
}

TEST(FullyConnectedTransfers, OnePairHasOneCableHoweverManyThereAre) {
    // Two messages of a pair are served one after the other; nothing is relayed over the other six hosts.
    const std::vector<Time> times =
        deliver_together(build_fully_connected(fully_connected(8)), {{0, 1, 1_MiB}, {0, 1, 1_MiB}});
    EXPECT_EQ(times[0], 500_ns + 80_ps * (1 << 20));
    EXPECT_EQ(times[1], 500_ns + 80_ps * (2 << 20));
}

TEST(FullyConnectedParameters, AcceptsDefaultsWithHosts) {
    FullyConnectedParameters p;
    p.hosts = 8;
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
}

TEST(FullyConnectedParameters, RejectsNoHosts) {
    EXPECT_EQ(keys(validation_errors(fully_connected(0))), Keys{"hosts"});
    EXPECT_THROW((void)build_fully_connected(fully_connected(0)), std::logic_error);
}

TEST(FullyConnectedParameters, RejectsMoreHostsThanTheLimit) {
    EXPECT_EQ(keys(validation_errors(fully_connected(kMaxHosts + 1))), Keys{"hosts"});
}

TEST(FullyConnectedParameters, RejectsMoreCablesThanTheLimit) {
    // 5,793·5,792/2 = 16,776,528 and 5,794·5,793/2 = 16,782,321 about 2^24 = 16,777,216.
    EXPECT_EQ(keys(validation_errors(fully_connected(5793))), Keys{});
    EXPECT_EQ(keys(validation_errors(fully_connected(5794))), Keys{"hosts"});
}

TEST(FullyConnectedParameters, RejectsALinkWithoutRate) {
    FullyConnectedParameters p = fully_connected(8);
    p.link.rate = Bandwidth(0);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(FullyConnectedParameters, RejectsARateAboveTheLimit) {
    FullyConnectedParameters p = fully_connected(8);
    p.link.rate = kMaxLinkRate + 1_bps;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(FullyConnectedParameters, RejectsANegativeLatency) {
    FullyConnectedParameters p = fully_connected(8);
    p.link.latency = Time(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.latency"});
}

}  // namespace
}  // namespace astrolabe::network
