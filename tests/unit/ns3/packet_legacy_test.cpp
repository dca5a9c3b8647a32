// SPDX-License-Identifier: GPL-2.0-only
/// The transport of the DLRM study on Opera, part by part. Its packets of 9000 B take 720 ns at 100 Gb/s,
/// headers of 64 B 5.12 ns; two links of 500 ns one way.
#include "packet_net.hpp"
#include "tcp_fixture.hpp"

#include <gtest/gtest.h>

#include <astrolabe/ns3/packet_backend.hpp>

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
    for (const PacketHostQueue queue : {PacketHostQueue::kFifo, PacketHostQueue::kOnDemand}) {
        PacketOptions options = legacy_dctcp();
        options.host_queue = queue;
        PacketBackend backend(star(2), options);
        Recorder recorder(backend);
        for (std::uint64_t flow = 0; flow < 200; ++flow) {
            recorder.send(0, 1, 100 * 8936_B, flow);
        }
        backend.run();
        const network::NetworkStatistics statistics = backend.statistics();
        EXPECT_EQ(recorder.tokens.size(), 200U);
        EXPECT_EQ(statistics.drops, 0U);
        EXPECT_EQ(statistics.timeouts, queue == PacketHostQueue::kFifo ? 61U : 0U);
        EXPECT_EQ(statistics.retransmissions > 0, queue == PacketHostQueue::kFifo);
    }
}

void hear_timeout(std::vector<std::int64_t>* times, std::uint32_t, std::uint32_t, std::uint32_t) {
    times->push_back(sim::Simulator::Now().GetTimeStep());
}

sim::PacketTransportParameters legacy_parameters() {
    sim::PacketTransportParameters parameters;
    parameters.mtu = 8936;
    parameters.header = 64;
    parameters.ackSize = 64;
    parameters.window = 10'000 * 8936;
    parameters.ackEvery = 1;
    parameters.handshake = true;
    parameters.hasTimers = true;
    parameters.timeout = sim::MilliSeconds(10);
    parameters.estimatesRtt = true;
    parameters.maxBackoff = 1U << 30;
    parameters.congestionControl = sim::PacketCongestionControl::DCTCP;
    parameters.initialWindow = 100;
    return parameters;
}

// The SYN is lost six times: timeouts of 10, 20, 40, … 320 ms, each from when it was sent again.
TEST(PacketLegacy, TimeoutsDoubleWithoutBound) {
    PacketNet net(2);
    int lost = 0;
    net.strike = [&lost](const sim::PacketPort&, const sim::PacketDescriptor& packet,
                         std::int64_t) -> std::int64_t {
        return packet.kind == sim::PacketDescriptor::Kind::DATA && lost++ < 6 ? sim::PacketFaults::LOST : 0;
    };
    std::vector<std::int64_t> timeouts;
    net.start(legacy_parameters());
    net.transport->TraceConnectWithoutContext("Timeout", sim::MakeBoundCallback(&hear_timeout, &timeouts));
    net.send(0, 1, 8936);
    sim::Simulator::Run();
    constexpr std::int64_t kMillisecond = 1'000'000'000;
    EXPECT_EQ(timeouts,
              (std::vector<std::int64_t>{10 * kMillisecond, 30 * kMillisecond, 70 * kMillisecond,
                                         150 * kMillisecond, 310 * kMillisecond, 630 * kMillisecond}));
    EXPECT_EQ(net.deliveries.size(), 1U);
}

// The timeout starts at 1 ms, and with the round trip of the handshake, 2.02 us, becomes the least, 10 ms.
// All of the first window is lost once: 10 ms after its first packet left the sender starts again there, with
// a window of one packet, which the next acknowledgement doubles.
TEST(PacketLegacy, AfterATimeoutTheWindowIsOnePacket) {
    PacketNet net(2);
    std::vector<std::int64_t> sent_again;
    net.strike = [&sent_again](const sim::PacketPort& port, const sim::PacketDescriptor& packet,
                               std::int64_t when) -> std::int64_t {
        if (packet.kind != sim::PacketDescriptor::Kind::DATA || packet.sequence == 0 ||
            port.GetNumber() != 0) {
            return 0;
        }
        if (packet.Is(sim::PacketDescriptor::AGAIN)) {
            sent_again.push_back(when);
            return 0;
        }
        return sim::PacketFaults::LOST;
    };
    std::vector<std::int64_t> timeouts;
    sim::PacketTransportParameters parameters = legacy_parameters();
    parameters.timeout = sim::MilliSeconds(1);
    net.start(parameters);
    net.transport->TraceConnectWithoutContext("Timeout", sim::MakeBoundCallback(&hear_timeout, &timeouts));
    net.send(0, 1, 4 * 8936);
    sim::Simulator::Run();
    const std::int64_t start = kRoundTrip.count();
    ASSERT_EQ(timeouts.size(), 1U);
    // The last acknowledgement, that of the SYN, was at `start`; the first packet of the window left then.
    EXPECT_EQ(timeouts.front(), start + 10'000'000'000);
    // One; a round trip of a segment later two, and with their acknowledgements the fourth.
    const std::int64_t round = (2 * (kSegment + kHeader) + 2 * kOneWay).count();
    ASSERT_EQ(sent_again.size(), 4U);
    EXPECT_EQ(sent_again[0], timeouts.front());
    EXPECT_EQ(sent_again[1], sent_again[0] + round);
    EXPECT_EQ(sent_again[2], sent_again[1] + kSegment.count());
    EXPECT_EQ(sent_again[3], sent_again[1] + round);
    EXPECT_EQ(net.deliveries.size(), 1U);
}

}  // namespace
}  // namespace astrolabe::ns3
