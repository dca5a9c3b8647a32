// SPDX-License-Identifier: GPL-2.0-only
/// Direct-connect fabrics packet by packet: 100 Gb/s, so a byte takes 80 ps; a full packet of 4096 + 82 B
/// takes 334 240 ps; 500 ns a link.
#include "network/src/topologies/direct_connect.hpp"
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

using network::DirectConnectParameters;
using network::DirectRouting;

constexpr Time kFull = 334'240_ps;
constexpr Time kLatency = 500_ns;

DirectConnectParameters rings(std::int64_t hosts, std::vector<std::int64_t> strides, DirectRouting routing,
                              Time forwarding = Time(0)) {
    DirectConnectParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, kLatency};
    parameters.rings = std::move(strides);
    parameters.routing = routing;
    parameters.forwarding.latency = forwarding;
    return parameters;
}

DirectConnectParameters one_way(std::int64_t hosts, std::vector<std::int64_t> strides,
                                DirectRouting routing) {
    DirectConnectParameters parameters = rings(hosts, {}, routing);
    parameters.one_way_rings = std::move(strides);
    return parameters;
}

struct Transfer {
    int source;
    int destination;
    Bytes size;
};

struct Outcome {
    std::vector<Time> times;
    network::NetworkStatistics statistics;
};

Outcome run(const DirectConnectParameters& parameters, const std::vector<Transfer>& transfers,
            const PacketOptions& options = {}) {
    PacketBackend backend(network::build_direct_connect(parameters), options);
    Recorder recorder(backend);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        recorder.send(transfers[i].source, transfers[i].destination, transfers[i].size, i);
    }
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    Outcome outcome{std::vector<Time>(transfers.size()), backend.statistics()};
    for (std::size_t i = 0; i < recorder.tokens.size(); ++i) {
        outcome.times[recorder.tokens[i]] = recorder.times[i];
    }
    return outcome;
}

const std::vector<DirectRouting> kAll = {DirectRouting::kFlowHash,       DirectRouting::kSpray,
                                         DirectRouting::kRandomShortest, DirectRouting::kCoinChange,
                                         DirectRouting::kBalanced,       DirectRouting::kKShortest,
                                         DirectRouting::kByClass};

// On a ring of nine there is one shortest way: k links, k - 1 hosts in between, each of which has a packet
// whole before it sends it on.
TEST(DirectConnectPackets, EveryHostOnTheWayStoresAndForwards) {
    for (const DirectRouting routing : kAll) {
        for (int hops = 1; hops <= 4; ++hops) {
            const Outcome outcome = run(rings(9, {1}, routing), {{2, 2 + hops, 1_MiB}});
            EXPECT_EQ(outcome.times[0], (256 + hops - 1) * kFull + hops * kLatency) << hops;
            EXPECT_EQ(outcome.statistics.packet_hops, 256U * static_cast<unsigned>(hops));
        }
    }
}

// A packet waits 2 us in each host between, while others do the same: their time adds up once.
TEST(DirectConnectPackets, ForwardingTakesItsTimeOncePerHost) {
    for (const DirectRouting routing : kAll) {
        for (int hops = 1; hops <= 4; ++hops) {
            const Outcome outcome = run(rings(9, {1}, routing, 2_us), {{2, 2 + hops, 1_MiB}});
            EXPECT_EQ(outcome.times[0], (256 + hops - 1) * kFull + hops * kLatency + (hops - 1) * 2_us)
                << hops;
        }
    }
}

// Four links out of each host, to hosts 1, 5, 11 and 15 on: each message has a link of its own.
TEST(DirectConnectPackets, AServerSendsOverAllItsInterfacesAtOnce) {
    std::vector<Transfer> transfers;
    for (int host = 0; host < 16; ++host) {
        for (const int stride : {1, 5, 11, 15}) {
            transfers.push_back({host, (host + stride) % 16, 1_MiB});
        }
    }
    const Outcome outcome = run(rings(16, {1, 5}, DirectRouting::kCoinChange), transfers);
    for (const Time time : outcome.times) {
        // Acknowledgements of 84 B for 16 packets at a time share the links with data: 16 of 6,720 ps.
        EXPECT_GE(time, 256 * kFull + kLatency);
        EXPECT_LE(time, 256 * kFull + kLatency + 17 * 6'720_ps);
    }
}

// One ring of nine one way: k links there, 9 - k back for acknowledgements, which therefore meet no data.
TEST(DirectConnectPackets, AcknowledgementsGoOnRoundAOneWayRing) {
    PacketOptions options;
    options.transport.window = 2 << 20;
    for (const DirectRouting routing : kAll) {
        for (int hops = 1; hops <= 8; ++hops) {
            const Outcome outcome = run(one_way(9, {1}, routing), {{2, (2 + hops) % 9, 1_MiB}}, options);
            EXPECT_EQ(outcome.times[0], (256 + hops - 1) * kFull + hops * kLatency) << hops;
            EXPECT_EQ(outcome.statistics.packet_hops, 256U * static_cast<unsigned>(hops));
        }
    }
}

// A window of one packet: the next one leaves when the acknowledgement of the last is back, round the ring of
// nine in all whatever the destination.
TEST(DirectConnectPackets, AWindowTurnsOnceForEveryTripRoundTheRing) {
    PacketOptions options;
    options.transport.window = 4 * 1024;
    options.transport.ackEvery = 1;
    const Time acknowledgement = 6'720_ps;  // 84 B
    for (int hops = 1; hops <= 8; ++hops) {
        const Outcome outcome =
            run(one_way(9, {1}, DirectRouting::kFlowHash), {{0, hops, 40'960_B}}, options);
        const Time there = hops * (kFull + kLatency);
        const Time back = (9 - hops) * (acknowledgement + kLatency);
        EXPECT_EQ(outcome.times[0], 10 * there + 9 * back) << hops;
    }
}

// A ring of four, opposite hosts: half of the packets go each way, drawn one by one, so the fuller way has
// 128 + 3·√(256/4) = 152 of 256 at most, and the whole takes that long. In one queue of the host each packet
// leaves by its own way; on demand, a burst would leave by that of its first packet.
TEST(DirectConnectPackets, PathsShareTheMessage) {
    PacketOptions options;
    options.transport.hostQueue = ::ns3::PacketHostQueue::FIFO;
    options.transport.window = 1 << 20;
    const Outcome outcome = run(rings(4, {1}, DirectRouting::kKShortest), {{0, 2, 1_MiB}}, options);
    EXPECT_GE(outcome.times[0], 129 * kFull + 2 * kLatency);
    EXPECT_LE(outcome.times[0], 153 * kFull + 2 * kLatency);
    EXPECT_EQ(outcome.statistics.packet_hops, 2U * 256U);
}

// Two cables between the hosts of every step: paths of a pair are 2 by 2, and no packet is lost or twice
// there.
TEST(DirectConnectPackets, PathsOverLinksInParallelDeliverAll) {
    DirectConnectParameters parameters = rings(6, {1, 1}, DirectRouting::kKShortest);
    parameters.detour = 2;
    std::vector<Transfer> transfers;
    for (int source = 0; source < 6; ++source) {
        for (int step = 1; step < 6; ++step) {
            transfers.push_back({source, (source + step) % 6, 100'000_B});
        }
    }
    const Outcome outcome = run(parameters, transfers);
    EXPECT_EQ(outcome.statistics.bytes_delivered, 30 * 100'000_B);
    EXPECT_EQ(outcome.statistics.drops, 0U);
}

TEST(DirectConnectPackets, OtherEnginesSayWhatTheyCannotDo) {
    const auto split = network::build_direct_connect(rings(6, {1}, DirectRouting::kKShortest));
    EXPECT_FALSE(unsupported(*split, TcpOptions{}));
    const auto slow = network::build_direct_connect(rings(6, {1}, DirectRouting::kCoinChange, 1_us));
    EXPECT_FALSE(unsupported(*slow, TcpOptions{}));
    const auto fibres = network::build_direct_connect(one_way(6, {1}, DirectRouting::kCoinChange));
    EXPECT_FALSE(unsupported(*fibres, TcpOptions{}));
    PacketOptions credits;
    EXPECT_FALSE(unsupported(*fibres, credits));
    credits.ports.flowControl = ::ns3::PacketFlowControlKind::CREDIT;
    ASSERT_TRUE(unsupported(*fibres, credits).has_value());
    EXPECT_NE(unsupported(*fibres, credits)->find("from host 0 to host 1 goes one way"), std::string::npos);
    credits.ports.flowControl = ::ns3::PacketFlowControlKind::PFC;
    EXPECT_FALSE(unsupported(*fibres, credits));  // only switches pause, and there are none
    PacketOptions hpcc;
    hpcc.transport.congestionControl = &::ns3::PacketHpcc::KIND;
    EXPECT_TRUE(unsupported(*split, hpcc).has_value());
}

}  // namespace
}  // namespace astrolabe::ns3
