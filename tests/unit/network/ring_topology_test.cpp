#include "fabric_structure.hpp"
#include "network/src/topologies/ring.hpp"
#include "parameter_keys.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

/// 80 ps per byte, 500 ns per link.
RingParameters ring(std::int64_t hosts, LoadBalancing load_balancing = LoadBalancing::kFlowHash) {
    RingParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    parameters.load_balancing = load_balancing;
    return parameters;
}

using Distribution = std::map<std::size_t, int>;

TEST(RingTopology, JoinsEveryHostToTwoNeighbours) {
    const std::shared_ptr<const Fabric> fabric = build_ring(ring(8));
    EXPECT_EQ(fabric->kind(), "ring");
    EXPECT_EQ(fabric->host_count(), 8U);
    EXPECT_EQ(fabric->node_count(), 8U);
    EXPECT_EQ(fabric->link_count(), 16U);
    for (std::uint32_t i = 0; i < 8; ++i) {
        EXPECT_EQ(fabric->out_degree(NodeId(i)), 2U);
        EXPECT_EQ(hops(*fabric, static_cast<int>(i), static_cast<int>((i + 1) % 8)), 1U);
        EXPECT_EQ(hop_distribution(*fabric, i), (Distribution{{1, 2}, {2, 2}, {3, 2}, {4, 1}}));
    }
    EXPECT_EQ(fabric->egress_rate(HostId(3)), 200_Gbps);
    // Between hosts 3 and 4 and between hosts 7 and 0.
    EXPECT_EQ(bisection_rate(*fabric), 2 * (100_Gbps).count());
}

TEST(RingTopology, GoesTheShorterWayRoundAndEitherWayToTheOppositeHost) {
    const std::shared_ptr<const Fabric> even = build_ring(ring(8, LoadBalancing::kSpray));
    EXPECT_EQ(path_count(*even, NodeId(0), HostId(3)), 1U);
    EXPECT_EQ(path_count(*even, NodeId(0), HostId(4)), 2U);
    EXPECT_EQ(path_count(*even, NodeId(0), HostId(5)), 1U);
    // Half of the bytes each way, on 2·4 links.
    const Route opposite = even->routing().route(HostId(0), HostId(4));
    EXPECT_EQ(opposite.legs.size(), 8U);
    for (const RouteLeg& leg : opposite.legs) {
        EXPECT_EQ(leg.share, 0.5);
    }
    const std::shared_ptr<const Fabric> odd = build_ring(ring(7));
    EXPECT_EQ(hop_distribution(*odd, 0), (Distribution{{1, 2}, {2, 2}, {3, 2}}));
    EXPECT_EQ(path_count(*odd, NodeId(0), HostId(3)), 1U);
}

TEST(RingTopology, OneTwoAndThreeHosts) {
    EXPECT_EQ(build_ring(ring(1))->link_count(), 0U);
    const std::shared_ptr<const Fabric> two = build_ring(ring(2));
    EXPECT_EQ(two->link_count(), 2U);  // one cable
    EXPECT_EQ(path_count(*two, NodeId(0), HostId(1)), 1U);
    EXPECT_EQ(bisection_rate(*two), (100_Gbps).count());
    const std::shared_ptr<const Fabric> three = build_ring(ring(3));
    EXPECT_EQ(three->link_count(), 6U);
    EXPECT_EQ(hop_distribution(*three, 2), (Distribution{{1, 2}}));
}

TEST(RingTransfers, ALoneMessagePaysLatencyPerLinkAndSerialisationOnce) {
    for (int distance = 1; distance <= 8; ++distance) {
        EXPECT_EQ(deliver_together(build_ring(ring(16)), {{3, (3 + distance) % 16, 1_MiB}}).front(),
                  distance * 500_ns + 80_ps * (1 << 20));
    }
}

TEST(RingTransfers, NeighboursExchangeAtLinkRateBothWaysAtOnce) {
    std::vector<Transfer> transfers;
    for (int i = 0; i < 16; ++i) {
        transfers.push_back({i, (i + 1) % 16, 1_MiB});
        transfers.push_back({i, (i + 15) % 16, 1_MiB});
    }
    for (const Time time : deliver_together(build_ring(ring(16)), transfers)) {
        EXPECT_EQ(time, 500_ns + 80_ps * (1 << 20));
    }
}

TEST(RingTransfers, AShiftByKSharesEveryLinkAmongK) {
    for (int k = 1; k < 8; ++k) {
        std::vector<Transfer> transfers;
        for (int i = 0; i < 16; ++i) {
            transfers.push_back({i, (i + k) % 16, 64_KiB});
        }
        for (const Time time : deliver_together(build_ring(ring(16)), transfers)) {
            EXPECT_EQ(time, k * 500_ns + k * 80_ps * (64 << 10)) << "shift by " << k;
        }
    }
}

TEST(RingTransfers, AllToAllLoadsEveryLinkWithAnEighthOfNSquaredMessages) {
    // A direction of an even ring carries 1 + 2 + … + (n/2 - 1) hops of every host, and half of the n/2 hops
    // to the opposite one: n²/8 messages per link. All links are full until everything is served.
    for (const int n : {4, 8, 12}) {
        const std::vector<Transfer> transfers = all_pairs(n, 4096_B);
        const std::vector<Time> times =
            deliver_together(build_ring(ring(n, LoadBalancing::kSpray)), transfers);
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            const int around = (transfers[i].destination - transfers[i].source + n) % n;
            EXPECT_EQ(times[i], std::min(around, n - around) * 500_ns + 80_ps * (4096 * n * n / 8))
                << n << " hosts, " << around << " round";
        }
    }
}

TEST(RingParameters, AcceptsDefaultsWithHosts) {
    RingParameters p;
    p.hosts = 8;
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
}

TEST(RingParameters, RejectsNoHosts) {
    EXPECT_EQ(keys(validation_errors(ring(0))), Keys{"hosts"});
    EXPECT_THROW((void)build_ring(ring(0)), std::logic_error);
}

TEST(RingParameters, RejectsMoreHostsThanTheLimit) {
    EXPECT_EQ(keys(validation_errors(ring(kMaxHosts + 1))), Keys{"hosts"});
}

TEST(RingParameters, RejectsALinkWithoutRate) {
    RingParameters p = ring(8);
    p.link.rate = Bandwidth(0);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(RingParameters, RejectsARateAboveTheLimit) {
    RingParameters p = ring(8);
    p.link.rate = kMaxLinkRate + 1_bps;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(RingParameters, RejectsANegativeLatency) {
    RingParameters p = ring(8);
    p.link.latency = Time(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.latency"});
}

}  // namespace
}  // namespace astrolabe::network
