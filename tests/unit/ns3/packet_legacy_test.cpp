// SPDX-License-Identifier: GPL-2.0-only
/// The transport of the DLRM study on Opera, part by part. Its packets of 9000 B take 720 ns at 100 Gb/s,
/// headers of 64 B 5.12 ns; two links of 500 ns one way.
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

constexpr Time kSegment = 720_ns;
constexpr Time kHeader = 5'120_ps;
constexpr Time kOneWay = 1_us;
/// A header there and one back, each over two links.
constexpr Time kRoundTrip = 4 * kHeader + 2 * kOneWay;

// SYN and its answer, then 100 segments one behind the other, the last over both links.
TEST(PacketLegacy, AConnectionBeginsWithAHandshake) {
    PacketBackend backend(star(2), legacy_dctcp());
    Recorder recorder(backend);
    recorder.send(0, 1, 100 * 8936_B);
    backend.run();
    EXPECT_EQ(recorder.times.front(), kRoundTrip + 101 * kSegment + kOneWay);
}

// A window of 100 segments: number 101 waits for the first acknowledgement, and the link is busy meanwhile,
// since 100 segments take 72 us and a round trip 3.5.
TEST(PacketLegacy, EachMessageIsAConnection) {
    PacketBackend backend(star(2), legacy_dctcp());
    Recorder recorder(backend);
    recorder.send(0, 1, 200 * 8936_B, 0);
    recorder.send(0, 1, 8936_B, 1);
    backend.run();
    // Both handshakes go at once, 5.12 ns apart. The one segment of the second message then waits behind the
    // first window of the first message, and before its second.
    ASSERT_EQ(recorder.tokens, (std::vector<std::uint64_t>{1, 0}));
    EXPECT_EQ(recorder.times[0], kRoundTrip + 102 * kSegment + kOneWay);
    EXPECT_EQ(recorder.times[1], kRoundTrip + 202 * kSegment + kOneWay);
}

// All packets of a host wait in one queue: the second flow's window leaves when the first's has.
TEST(PacketLegacy, AHostHasOneQueue) {
    PacketBackend backend(star(3), legacy_dctcp());
    Recorder recorder(backend);
    recorder.send(0, 1, 100 * 8936_B, 0);
    recorder.send(0, 2, 100 * 8936_B, 1);
    backend.run();
    EXPECT_EQ(recorder.times[0], kRoundTrip + 101 * kSegment + kOneWay);
    EXPECT_EQ(recorder.times[1], kRoundTrip + 201 * kSegment + kOneWay);
}

// 200 flows of 100 segments leave one host: 72 us each, 14.4 ms in all. The windows enter the queue together
// at a round trip, and flow i's first acknowledgement comes (i - 1)·72 us + 3.5 us later; its timeout,
// estimated from the handshake and so the least, goes off after 10 ms: too early for all i - 1 >= 139, 61 of
// 200, and nothing was lost. Where the queue is the sender's to see, nothing times out.
TEST(PacketLegacy, TimeoutsGoOffInTheHostsQueue) {
    for (const auto queue : {::ns3::PacketHostQueue::FIFO, ::ns3::PacketHostQueue::ON_DEMAND}) {
        PacketOptions options = legacy_dctcp();
        options.transport.hostQueue = queue;
        PacketBackend backend(star(2), options);
        Recorder recorder(backend);
        for (std::uint64_t flow = 0; flow < 200; ++flow) {
            recorder.send(0, 1, 100 * 8936_B, flow);
        }
        backend.run();
        const network::NetworkStatistics statistics = backend.statistics();
        EXPECT_EQ(recorder.tokens.size(), 200U);
        EXPECT_EQ(statistics.drops, 0U);
        EXPECT_EQ(statistics.timeouts, queue == ::ns3::PacketHostQueue::FIFO ? 61U : 0U);
        EXPECT_EQ(statistics.retransmissions > 0, queue == ::ns3::PacketHostQueue::FIFO);
    }
}

}  // namespace
}  // namespace astrolabe::ns3
