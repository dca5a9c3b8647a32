// SPDX-License-Identifier: GPL-2.0-only
/// The packet engine and stock ns-3 TCP on the same messages, with the same payload and framing: packets of
/// 8960 B and 42 B beside (IPv4 20, TCP 20, PPP 2), an acknowledgement of 42 B for every second one.
///
/// 100 Gb/s and 500 ns a link, so 9002 B take 720 160 ps, and the round trip of 2 us is short against every
/// transfer here: handshake and slow start take TCP less than ten of them.
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>
#include <cstdio>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

struct Outcome {
    Time last;
    network::NetworkStatistics statistics;
};

Outcome run_incast(network::NetworkBackend& backend, int senders, Bytes size) {
    Recorder recorder(backend);
    for (int sender = 1; sender <= senders; ++sender) {
        recorder.send(sender, 0, size);
    }
    backend.run();
    EXPECT_EQ(recorder.tokens.size(), static_cast<std::size_t>(senders));
    return {*std::max_element(recorder.times.begin(), recorder.times.end()), backend.statistics()};
}

Outcome on_tcp(int senders, Bytes size, Bytes buffer) {
    TcpOptions options;
    options.mtu = 9000_B;
    options.timestamps = false;
    options.frame_header = 1_B;
    TcpBackend backend(star(senders + 1, buffer), options);
    return run_incast(backend, senders, size);
}

Outcome on_packets(int senders, Bytes size, Bytes buffer) {
    PacketOptions options;
    options.transport.mtu = 8960;
    options.transport.header = 42;
    options.transport.ackSize = 42;
    options.transport.ackEvery = 2;
    PacketBackend backend(star(senders + 1, buffer), options);
    return run_incast(backend, senders, size);
}

/// Wire time of all into the one port.
Time port_time(int senders, Bytes size) {
    const std::int64_t packets = (size.count() + 8959) / 8960;
    return (senders * (size + packets * 42_B)) / 100_Gbps;
}

class WithRoomForAll : public testing::TestWithParam<int> {};

// Nothing is lost, and the port to the receiver is the limit of both.
TEST_P(WithRoomForAll, TimesAreWithinFivePercent) {
    const int senders = GetParam();
    const Outcome tcp = on_tcp(senders, 8_MiB, Bytes(0));
    const Outcome packets = on_packets(senders, 8_MiB, Bytes(0));
    const double ratio = to_seconds(packets.last) / to_seconds(tcp.last);
    std::printf("%d into one port: packet %.2f us, tcp %.2f us, ratio %.4f\n", senders,
                to_seconds(packets.last) * 1e6, to_seconds(tcp.last) * 1e6, ratio);
    EXPECT_NEAR(ratio, 1.0, 0.05);
    EXPECT_EQ(tcp.statistics.drops, 0U);
    EXPECT_EQ(packets.statistics.drops, 0U);
    EXPECT_GE(packets.last, port_time(senders, 8_MiB));
    EXPECT_GE(tcp.last, port_time(senders, 8_MiB));
}

INSTANTIATE_TEST_SUITE_P(PacketAgainstTcp, WithRoomForAll, testing::Values(1, 2, 8));

// Eight windows of 0.5 MB into a port with room for 256 kB lose packets on both. TCP halves its window and
// sends again what is missing; the packet engine's window is fixed, so it goes on losing and sends everything
// after a gap again: it keeps the port busy, but with more repetitions. Both deliver all. The port is idle at
// times only for the timeouts of pairs whose last packet was lost: 1 ms each, here at most a few in a row.
TEST(PacketAgainstTcp, ScarceBuffersLosePacketsOnBothAndNoMessage) {
    const Bytes buffer = 9 * 256'000_B;
    const Outcome tcp = on_tcp(8, 8_MiB, buffer);
    const Outcome packets = on_packets(8, 8_MiB, buffer);
    std::printf(
        "8 into a scarce port: packet %.2f us, %llu drops, %llu repeated; tcp %.2f us, %llu drops, %llu "
        "repeated\n",
        to_seconds(packets.last) * 1e6, static_cast<unsigned long long>(packets.statistics.drops),
        static_cast<unsigned long long>(packets.statistics.retransmissions), to_seconds(tcp.last) * 1e6,
        static_cast<unsigned long long>(tcp.statistics.drops),
        static_cast<unsigned long long>(tcp.statistics.retransmissions));
    for (const Outcome& outcome : {tcp, packets}) {
        EXPECT_GT(outcome.statistics.drops, 0U);
        EXPECT_GE(outcome.statistics.retransmissions, outcome.statistics.drops);
        EXPECT_EQ(outcome.statistics.bytes_delivered, 64_MiB);
        EXPECT_GE(outcome.last, port_time(8, 8_MiB));
    }
    EXPECT_GT(packets.statistics.retransmissions, tcp.statistics.retransmissions);
}

}  // namespace
}  // namespace astrolabe::ns3
