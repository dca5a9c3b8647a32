// SPDX-License-Identifier: GPL-2.0-only
/// Links that fail under the packet engine, by arithmetic: 100 Gb/s, so a full packet of 4096 + 82 B takes
/// F = 334 240 ps, an acknowledgement of 84 B A = 6 720 ps; L = 500 ns a link.
///
/// A message of 1 MB is packets 0 to 243, full, and packet 244 of 576 + 82 B, 52 640 ps. Its last bit is h
/// links away hF - F + 244F + 52 640 ps + hL after its first bit left: every link serves a full packet before
/// it.
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/torus.hpp"
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <string>
#include <vector>

#include <failing_fabrics.hpp>
#include <gtest/gtest.h>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {
namespace {

using network::cable_failure;
using network::Fabric;
using network::failing;
using network::LinkFailure;

constexpr Time kFull = 334'240_ps;
constexpr Time kLast = 52'640_ps;
constexpr Time kAck = 6'720_ps;
constexpr Time kLatency = 500_ns;
constexpr Bytes kSize(1'000'000);

/// From when packet `first` starts to leave until the message has arrived, over so many links.
Time rest_from(int first, int links) {
    return (244 - first + links - 1) * kFull + kLast + links * kLatency;
}

PacketOptions with_timeout(Time timeout) {
    PacketOptions options;
    options.transport.timeout = timeout.count();
    return options;
}

std::shared_ptr<const Fabric> with_nic_down(const std::shared_ptr<const Fabric>& whole, int host, Time from,
                                            Time until, Time detection = Time(0), double factor = 0) {
    return failing(whole, cable_failure(*whole, whole->first_link(NodeId(host)), from, until, factor),
                   detection);
}

// The cable to the receiver, the only way, is down from 20 to 50 us.
//   - Packet k is there at (k + 2)F + 2L <= 20 us for k <= 54. Packets from 148 on come to the switch after
//   50 us,
//     (k + 1)F + L, within the window: 93 are lost.
//   - 148 comes early at 150F + 2L, and the answer is back another 2(A + L) later, at 52.15 us, in the middle
//   of
//     packet 156: the sender goes back to 55 at 157F, and sends 102 packets again.
// So it costs the outage and a round trip, whatever the timeout.
TEST(PacketFailures, WhatATornCableLosesIsAskedForWhereMoreFollows) {
    for (const Time detection : {Time(0), 5_us}) {  // there is no other way, so nobody cares
        PacketBackend backend(with_nic_down(star(2), 1, 20_us, 50_us, detection), with_timeout(100_us));
        Recorder recorder(backend);
        recorder.send(0, 1, kSize);
        backend.run();
        ASSERT_EQ(recorder.times.size(), 1U);
        EXPECT_EQ(recorder.times[0], 157 * kFull + rest_from(55, 2));
        const network::NetworkStatistics statistics = backend.statistics();
        EXPECT_EQ(statistics.timeouts, 0U);
        EXPECT_EQ(statistics.drops, 93U);
        EXPECT_EQ(statistics.retransmissions, 102U);
        EXPECT_EQ(statistics.bytes_delivered, kSize);
    }
}

// The same until 60 us. Acknowledgements of 16, 32 and 48 are back by 18.39 us; the window of 122 packets
// lets packets up to 169 leave, the last of which is at the switch at 57.3 us: 115 are lost, and nothing
// follows. The timeout r that runs from 20 us on, when packets can first get lost, sends 48 to 169 again.
TEST(PacketFailures, WhatATornCableLosesIsSentAgainAfterTheTimeoutWhereNothingFollows) {
    PacketBackend backend(with_nic_down(star(2), 1, 20_us, 60_us), with_timeout(100_us));
    Recorder recorder(backend);
    recorder.send(0, 1, kSize);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 1U);
    EXPECT_EQ(recorder.times[0], 20_us + 100_us + rest_from(48, 2));
    const network::NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(statistics.timeouts, 1U);
    EXPECT_EQ(statistics.drops, 115U);
    EXPECT_EQ(statistics.retransmissions, 122U);
}

// A window of one packet: rounds of 2F + 4L + 2A = 2.68 us, the eighth of which, packet 7, is lost on the
// last link. Timeouts of r = 10 us double: 20 + 10, 30 + 20 and 50 + 40 us, of which the last is the first
// after 60 us. An outage of d adds at most 2d + r: when timeout k, (2^k - 1)r after it began, is the first
// behind it, timeout k - 1 was not, so (2^k - 1)r < 2d + r.
TEST(PacketFailures, TimeoutsDoubleUntilTheCableIsBack) {
    PacketOptions options = with_timeout(10_us);
    options.transport.window = 4096;
    PacketBackend backend(with_nic_down(star(2), 1, 20_us, 60_us), options);
    Recorder recorder(backend);
    recorder.send(0, 1, kSize);
    backend.run();
    const Time round = 2 * kFull + 4 * kLatency + 2 * kAck;
    ASSERT_EQ(recorder.times.size(), 1U);
    EXPECT_EQ(recorder.times[0], 90_us + 237 * round + 2 * kLast + 2 * kLatency);  // 7 to 243, and 244
    EXPECT_EQ(backend.statistics().timeouts, 3U);
    EXPECT_EQ(backend.statistics().retransmissions, 3U);
}

// The cable of the sender is down: what it has not sent waits for it.
//   - Packets up to 59 leave before 20 us; 58 and 59 are not at the switch by then, (k + 1)F + L, and are
//   lost.
//   - At 50 us it goes on with 60, which comes early and is answered: 2F + 2L + 2(A + L) = 2.68 us later the
//     sender, in the middle of its ninth packet, goes back to 58, when that has left.
// The outage adds 30 us, what was lost, and the round trip: no timeout.
TEST(PacketFailures, ASenderWaitsForItsOwnCable) {
    PacketBackend backend(with_nic_down(star(2), 0, 20_us, 50_us), with_timeout(1_ms));
    Recorder recorder(backend);
    recorder.send(0, 1, kSize);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 1U);
    EXPECT_EQ(recorder.times[0], 50_us + 9 * kFull + rest_from(58, 2));
    const network::NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(statistics.timeouts, 0U);
    EXPECT_EQ(statistics.drops, 2U);
    EXPECT_EQ(statistics.retransmissions, 11U);  // 58 to 68
}

// The cable to the receiver has half its rate from 20 to 50 us. Packet k starts to leave the switch at
// F + L + kF: 57 is the last before 20 us and ends 58 packets after the first began, at 20.22 us. Until 50 us
// 45 start that take 2F each, the last until 148F after the first. Packets 103 to 244 follow at the full
// rate. The fluid engine says 15 us: half of the time, but for the packets at its ends, 2F at most.
TEST(PacketFailures, ASlowCableIsSlowFromTheNextPacketOn) {
    PacketBackend backend(with_nic_down(star(2), 1, 20_us, 50_us, Time(0), 0.5), {});
    Recorder recorder(backend);
    recorder.send(0, 1, kSize);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 1U);
    EXPECT_EQ(recorder.times[0], kFull + kLatency + 148 * kFull + 141 * kFull + kLast + kLatency);
    EXPECT_NEAR(to_seconds(recorder.times[0] - rest_from(0, 2)), to_seconds(15_us), to_seconds(2 * kFull));
    EXPECT_EQ(backend.statistics().drops, 0U);
    EXPECT_EQ(backend.statistics().timeouts, 0U);
}

std::shared_ptr<const Fabric> two_spines(network::LoadBalancing load_balancing) {
    network::LeafSpineParameters parameters;
    parameters.hosts = 2;
    parameters.hosts_per_leaf = 1;
    parameters.spines = 2;
    parameters.link = {.rate = {100_Gbps}, .latency = {500_ns}};
    parameters.uplink = {.rate = {100_Gbps}, .latency = {500_ns}};
    parameters.load_balancing = load_balancing;
    return build_leaf_spine(parameters);
}

/// All cables of a node.
std::vector<LinkFailure> node_failure(const Fabric& fabric, NodeId node, Time from, Time until) {
    std::vector<LinkFailure> failures;
    for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
        const auto cable = cable_failure(fabric, LinkId(fabric.first_link(node).index() + i), from, until);
        failures.insert(failures.end(), cable.begin(), cable.end());
    }
    return failures;
}

// One of two spines, the one that the pair is hashed to, is down from 21.5 us on, and routes lead over the
// other one 10 us later.
//   - Packet k is at the second leaf at (k + 3)F + 3L <= 21.5 us for k <= 56, and goes on.
//   - Packet 92 is the first at its leaf after 31.5 us, at 93F + L; it takes the other spine, comes early at
//     96F + 4L, and the answer is back at T = 96F + 8L + 4A = 36.11 us, in the middle of packet 108.
//   - The sender goes on with 57 at 109F. Packets 57 to 108 are sent again.
// Detection, not a timeout, is what it costs: 10 us, and a round trip.
TEST(PacketFailures, RoutesLeadAroundASpineThatIsDown) {
    const auto whole = two_spines(network::LoadBalancing::kFlowHash);
    const NodeId spine = whole->target(whole->routing().route(HostId(0), HostId(1)).legs[1].link);
    ASSERT_EQ(whole->node(spine).name.substr(0, 5), "spine");
    PacketBackend backend(failing(whole, node_failure(*whole, spine, 21'500_ns, Time::max()), 10_us), {});
    Recorder recorder(backend);
    recorder.send(0, 1, kSize);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 1U);
    EXPECT_EQ(recorder.times[0], 109 * kFull + rest_from(57, 4));
    EXPECT_EQ(backend.statistics().timeouts, 0U);
    EXPECT_EQ(backend.statistics().retransmissions, 52U);
}

// Known from the start: as if the spine was not there.
TEST(PacketFailures, WhatFailedBeforeIsNotUsed) {
    for (const auto balancing : {network::LoadBalancing::kFlowHash, network::LoadBalancing::kSpray}) {
        const auto whole = two_spines(balancing);
        const NodeId spine = whole->source(network::link_between(*whole, "spine 1", "leaf 0"));
        PacketBackend backend(failing(whole, node_failure(*whole, spine, 0_us, Time::max()), 10_us), {});
        Recorder recorder(backend);
        recorder.send(0, 1, kSize);
        backend.run();
        ASSERT_EQ(recorder.times.size(), 1U);
        EXPECT_EQ(recorder.times[0], rest_from(0, 4));
        EXPECT_EQ(backend.statistics().drops, 0U);
        for (const LinkId link : whole->links_into(spine)) {
            EXPECT_EQ(backend.statistics().links[link].carried, Bytes(0));
        }
    }
}

// On a ring of 5 the cable from 0 to 1 is torn at 20 us for ever, known 10 us later.
//   - Packets start at kF and are there at (k + 1)F + L: 0 to 57 by 20 us; 58 and 59 are lost.
//   - The host keeps the others, and offers them the other way from 30 us on, over 4 links: the first, 60,
//   comes
//     early at 30 us + 4F + 4L, and the answer is back another 4(A + L) later, 5.36 us after 30 us, in the
//     middle of the 17th packet.
TEST(PacketFailures, ATornRingIsCrossedTheOtherWay) {
    network::TorusParameters parameters;
    parameters.sizes = {5};
    parameters.link = {.rate = {100_Gbps}, .latency = {500_ns}};
    const auto whole = build_torus(parameters);
    const LinkId torn = network::link_between(*whole, "host 0", "host 1");
    PacketBackend backend(failing(whole, cable_failure(*whole, torn, 20_us, Time::max()), 10_us), {});
    Recorder recorder(backend);
    recorder.send(0, 1, kSize);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 1U);
    EXPECT_EQ(recorder.times[0], 30_us + 17 * kFull + rest_from(58, 4));
    EXPECT_EQ(backend.statistics().timeouts, 0U);
    EXPECT_EQ(backend.statistics().drops, 2U);
}

TEST(PacketFailures, APairThatIsCutForEverIsNamedAndGivesUp) {
    const auto whole = star(3);
    PacketBackend backend(with_nic_down(whole, 1, 20_us, Time::max(), 1_us), with_timeout(100_us));
    Recorder recorder(backend);
    recorder.send(0, 1, kSize, 1);
    recorder.send(0, 2, kSize, 2);
    backend.run();
    EXPECT_EQ(recorder.tokens, std::vector<std::uint64_t>{2});
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    const std::string reason = backend.explain_stall();
    EXPECT_NE(reason.find("cut these pairs, 1 in all:\n  host 0 -> host 1"), std::string::npos) << reason;
    EXPECT_NE(reason.find("retry_limit"), std::string::npos) << reason;
}

// A host whose own cable is down sends nothing, so no timeout ever comes: the pair is named all the same.
TEST(PacketFailures, AHostThatIsCutOffFromTheStartIsNamed) {
    PacketBackend backend(with_nic_down(star(2), 0, 0_us, Time::max()), {});
    Recorder recorder(backend);
    recorder.send(0, 1, kSize);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    EXPECT_NE(backend.explain_stall().find("host 0 -> host 1"), std::string::npos) << backend.explain_stall();
}

// Incast of 3 to one over a switch that pauses its links, or grants credits, while the cable of the receiver
// and then that of a sender fails: pauses and credits are kept, so nobody waits for ever.
TEST(PacketFailures, LosslessLinksGoOnWhenTheyAreBack) {
    for (const auto kind : {::ns3::PacketFlowControlKind::PFC, ::ns3::PacketFlowControlKind::CREDIT}) {
        const auto whole = star(4, 1_MB);
        std::vector<LinkFailure> failures = cable_failure(*whole, whole->first_link(NodeId(0)), 20_us, 50_us);
        const auto second = cable_failure(*whole, whole->first_link(NodeId(1)), 60_us, 300_us);
        failures.insert(failures.end(), second.begin(), second.end());
        // One direction alone, over which the pauses of the switch go to host 2.
        failures.push_back({whole->links_into(NodeId(2))[0], 40_us, 400_us});
        PacketOptions options = with_timeout(200_us);
        options.ports.flowControl = kind;
        PacketBackend backend(failing(whole, failures, 5_us), options);
        Recorder recorder(backend);
        for (int sender = 1; sender < 4; ++sender) {
            recorder.send(sender, 0, kSize, static_cast<std::uint64_t>(sender));
        }
        backend.run();
        EXPECT_EQ(recorder.tokens.size(), 3U) << backend.explain_stall();
        EXPECT_EQ(backend.outstanding_messages(), 0U) << backend.explain_stall();
        EXPECT_EQ(backend.statistics().bytes_delivered, 3 * kSize);
        EXPECT_GT(backend.statistics().drops, 0U);
        EXPECT_GT(backend.statistics().pauses, 0U);
    }
}

// Two packets of one host, to two others. The first leaves at 0 and the second at F = 334.24 ns; nobody needs
// to know that before the first has arrived, at F + L = 834.24 ns. At 500 ns, with the second on its way, the
// cable to where it goes fails for 300 us, so that it is sent again a timeout after it left, over two links:
// F + 1 ms + 2 (F + L). It is so too for who asks at 400 ns what the ports have carried.
TEST(PacketFailures, AskingOnTheWayChangesNothing) {
    const auto whole = star(3);
    for (const bool asks : {false, true}) {
        PacketBackend backend(with_nic_down(whole, 2, 500_ns, 300_us), with_timeout(1_ms));
        Recorder recorder(backend);
        Recorder asker(backend);
        asker.then = [&](std::uint64_t) { static_cast<void>(backend.statistics()); };
        if (asks) {
            backend.schedule(400_ns, asker, 9);
        }
        recorder.send(0, 1, 4096_B, 1);
        recorder.send(0, 2, 4096_B, 2);
        backend.run();
        ASSERT_EQ(recorder.times.size(), 2U);
        EXPECT_EQ(recorder.times[0], 2 * (kFull + kLatency));
        EXPECT_EQ(recorder.times[1], kFull + 1_ms + 2 * (kFull + kLatency));
    }
}

// A fabric whose failures lie behind the end of the run takes the times of one that never fails.
TEST(PacketFailures, NothingChangesBeforeSomethingFails) {
    const auto whole = star(4);
    const auto run = [](const std::shared_ptr<const Fabric>& fabric) {
        PacketBackend backend(fabric, {});
        Recorder recorder(backend);
        recorder.send(0, 3, kSize);
        recorder.send(1, 3, kSize);
        recorder.send(2, 1, kSize);
        backend.run();
        return recorder.times;
    };
    EXPECT_EQ(run(with_nic_down(whole, 3, 1_s, 2_s)), run(whole));
}

TEST(PacketFailures, TelemetryOfOtherLinksIsRefused) {
    PacketOptions options;
    options.transport.congestionControl = &::ns3::PacketHpcc::KIND;
    EXPECT_FALSE(unsupported(*star(2), options));
    EXPECT_TRUE(unsupported(*with_nic_down(star(2), 0, 1_us, 2_us), options));
}

}  // namespace
}  // namespace astrolabe::ns3
