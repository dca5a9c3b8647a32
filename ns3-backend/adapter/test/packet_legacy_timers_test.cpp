// SPDX-License-Identifier: GPL-2.0-only
/// The timers of the DLRM study's transport. Its packets of 9000 B take 720 ns at 100 Gb/s, headers of 64
/// B 5.12 ns; two links of 500 ns one way.
#include "packet_net.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

constexpr std::int64_t kSegment = 720'000;  // ps, as all times here
constexpr std::int64_t kHeader = 5'120;
constexpr std::int64_t kOneWay = 2 * PacketNet::kLatency;
/// A header there and one back, each over two links.
constexpr std::int64_t kRoundTrip = 4 * kHeader + 2 * kOneWay;

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
    parameters.timeout = 10'000'000'000;
    parameters.rttEstimation = true;
    parameters.maxBackoff = 1U << 30;
    parameters.congestionControl = Control::kDctcp;
    parameters.Get<sim::PacketDctcpParameters>().initialWindow = 100;
    return parameters;
}

// The SYN is lost six times: timeouts of 10, 20, 40, … 320 ms, each from when it was sent again.
TEST(PacketLegacyTimers, TimeoutsDoubleWithoutBound) {
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
TEST(PacketLegacyTimers, AfterATimeoutTheWindowIsOnePacket) {
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
    parameters.timeout = 1'000'000'000;
    net.start(parameters);
    net.transport->TraceConnectWithoutContext("Timeout", sim::MakeBoundCallback(&hear_timeout, &timeouts));
    net.send(0, 1, 4 * 8936);
    sim::Simulator::Run();
    const std::int64_t start = kRoundTrip;
    ASSERT_EQ(timeouts.size(), 1U);
    // The last acknowledgement, that of the SYN, was at `start`; the first packet of the window left then.
    EXPECT_EQ(timeouts.front(), start + 10'000'000'000);
    // One; a round trip of a segment later two, and with their acknowledgements the fourth.
    const std::int64_t round = 2 * (kSegment + kHeader) + 2 * kOneWay;
    ASSERT_EQ(sent_again.size(), 4U);
    EXPECT_EQ(sent_again[0], timeouts.front());
    EXPECT_EQ(sent_again[1], sent_again[0] + round);
    EXPECT_EQ(sent_again[2], sent_again[1] + kSegment);
    EXPECT_EQ(sent_again[3], sent_again[1] + round);
    EXPECT_EQ(net.deliveries.size(), 1U);
}

}  // namespace
}  // namespace astrolabe::ns3
