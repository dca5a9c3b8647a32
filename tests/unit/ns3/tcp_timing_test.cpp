// SPDX-License-Identifier: GPL-2.0-only
#include "tcp_fixture.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

double ratio(Time measured, Time expected) {
    return to_seconds(measured) / to_seconds(expected);
}

// 16 MiB + 16 B in segments of 1460 B: 11 492 segments of 1502 B on the wire, 1380.88 us at 100 Gb/s. Around
// it: the handshake (2 us there and back), 1 us for the last segment to arrive, and at most one round trip
// that slow start leaves idle, since 10 segments (1.2 us) do not fill it and 20 do: 5 us, 0.4 %.
TEST(TcpTiming, LoneMessageTakesItsWireTimeAndAFewRoundTrips) {
    TcpBackend backend(star(2), {});
    Recorder recorder(backend);
    recorder.send(0, 1, 16_MiB);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 1U);
    const Time wire = wire_time(16_MiB, 1, {});
    EXPECT_EQ(wire, 1502_B * 11'492 / 100_Gbps);
    EXPECT_GE(recorder.times[0], wire + 3_us);
    EXPECT_LT(ratio(recorder.times[0], wire + 3_us), 1.02);
    const auto statistics = backend.statistics();
    EXPECT_EQ(statistics.packets, 11'492U);
    EXPECT_EQ(statistics.packet_hops, 2 * 11'492U);
}

TEST(TcpTiming, JumboFramesCarryMorePayloadPerWireByte) {
    TcpOptions options;
    options.mtu = 9000_B;
    TcpBackend backend(star(2), options);
    Recorder recorder(backend);
    recorder.send(0, 1, 16_MiB);
    backend.run();
    // 16 777 232 B / 8960 B: 1873 segments of 9002 B, 1348.9 us.
    const Time wire = wire_time(16_MiB, 1, options);
    EXPECT_EQ(wire, 9002_B * 1873 / 100_Gbps);
    EXPECT_GE(recorder.times.at(0), wire);
    EXPECT_LT(ratio(recorder.times.at(0), wire + 3_us), 1.02);
}

// The timestamp option takes 12 B of every segment: 1448 B of payload instead of 1460.
TEST(TcpTiming, TimestampsCostTwelveBytesASegment) {
    TcpOptions options;
    options.timestamps = true;
    TcpBackend backend(star(2), options);
    Recorder recorder(backend);
    recorder.send(0, 1, 1'448'000_B - options.frame_header);
    backend.run();
    EXPECT_EQ(backend.statistics().packets, 1000U);
    EXPECT_EQ(recorder.times.size(), 1U);
}

// Handshake: SYN and SYN-ACK are 50 B frames (2 PPP, 20 IP, 20 TCP, 8 options), 4 ns on each of two links of
// 500 ns: 1008 ns each way. Then the acknowledgement (42 B, 3.36 ns) leaves ahead of the message's frame (58
// B, 4.64 ns), which arrives 3.36 + 2 (4.64 + 500) ns later. On the open connection the frame is alone: 2
// (4.64 + 500) ns. A socket sends a tick (1 ps) after it was told to.
TEST(TcpTiming, MessagesOfZeroBytesTakeTheLatencyOfTheirPath) {
    TcpBackend backend(star(2), {});
    Recorder recorder(backend);
    recorder.send(0, 1, 0_B, 7);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 1U);
    const Time handshake = 2 * 1008_ns;
    const Time frame = 2 * (4640_ps + 500_ns);
    EXPECT_GE(recorder.times[0], handshake + 3360_ps + frame);
    EXPECT_LE(recorder.times[0], handshake + 3360_ps + frame + 10_ps);

    recorder.send(0, 1, 0_B, 8);
    const Time start = backend.now();
    backend.run();
    ASSERT_EQ(recorder.times.size(), 2U);
    EXPECT_GE(recorder.times[1] - start, frame);
    EXPECT_LE(recorder.times[1] - start, frame + 10_ps);
    EXPECT_EQ(backend.statistics().bytes_delivered, 0_B);
    EXPECT_EQ(backend.statistics().messages, 2U);
}

// The directions of a cable are independent: 1 us there, 3 us back. Handshake 1 + 3 us, message 1 us, frames
// as above.
TEST(TcpTiming, DirectionsOfACableHaveTheirOwnLatencyAndRate) {
    network::FabricBuilder builder("pair");
    builder.add_host("a");
    builder.add_host("b");
    builder.connect(NodeId(0), NodeId(1), {100_Gbps, 1_us, Bytes(0)}, {50_Gbps, 3_us, Bytes(0)});
    TcpBackend backend(std::move(builder).build(), {});
    Recorder recorder(backend);
    recorder.send(0, 1, 0_B);
    backend.run();
    // 50 B at 100 Gb/s 4 ns, at 50 Gb/s 8 ns; then 42 B and 58 B at 100 Gb/s, 8 ns together.
    const Time expected = (4_ns + 1_us) + (8_ns + 3_us) + (8_ns + 1_us);
    ASSERT_EQ(recorder.times.size(), 1U);
    EXPECT_GE(recorder.times[0], expected);
    EXPECT_LE(recorder.times[0], expected + 10_ps);
}

// Both cross the link into host 2, which is never idle once both have started.
TEST(TcpTiming, TwoSendersShareOnePort) {
    TcpBackend backend(star(3), {});
    Recorder recorder(backend);
    recorder.send(0, 2, 4_MiB, 0);
    recorder.send(1, 2, 4_MiB, 1);
    backend.run();
    const Time wire = wire_time(4_MiB, 2, {});
    ASSERT_EQ(recorder.times.size(), 2U);
    EXPECT_GE(recorder.times[1], wire);
    EXPECT_LT(ratio(recorder.times[1], wire + 3_us), 1.02);
    // Two alike get alike: the first ends in the second half.
    EXPECT_GT(recorder.times[0], wire / 2);
}

// Every data segment one way is answered by 42 B (2 PPP, 20 IP, 20 TCP) that share the link with the data the
// other way.
TEST(TcpTiming, BothDirectionsAtOncePayForTheirAcknowledgements) {
    TcpBackend backend(star(2), {});
    Recorder recorder(backend);
    recorder.send(0, 1, 8_MiB, 0);
    recorder.send(1, 0, 8_MiB, 1);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 2U);
    const Time wire = wire_time(8_MiB, 1, {}, 42_B);
    EXPECT_EQ(backend.connections(), 2U);
    for (const Time time : recorder.times) {
        EXPECT_GE(time, wire_time(8_MiB, 1, {}));
        EXPECT_LT(ratio(time, wire + 3_us), 1.02);
        EXPECT_GT(ratio(time, wire + 3_us), 0.98);
    }
}

// 100 000 B per round trip of 4 x 25 us = 100 us is 1 GB/s, an eighth of the link. 20 MB: 200 round trips, 20
// ms; slow start and handshake add four.
TEST(TcpTiming, WindowLimitsThroughputToWindowPerRoundTrip) {
    TcpOptions options;
    options.window = 100'000_B;
    TcpBackend backend(star(2, Bytes(0), {100_Gbps, 25_us, Bytes(0)}), options);
    Recorder recorder(backend);
    recorder.send(0, 1, 20_MB);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 1U);
    EXPECT_GE(recorder.times[0], 20_ms);
    EXPECT_LT(ratio(recorder.times[0], 20_ms), 1.05);
}

// N = 8 hosts pass parts of S/N = 2 MiB around the ring 2(N-1) = 14 times; a host's uplink carries its data
// (1502 B a segment) and the acknowledgements of what it receives (42 B). 14 (1 us + 1437 x 1544 B / 100
// Gb/s) = 2499 us, against 2363 us without framing.
TEST(TcpTiming, RingAllReduceIsTheClosedFormWithFraming) {
    constexpr int kHosts = 8;
    constexpr int kSteps = 2 * (kHosts - 1);
    TcpBackend backend(star(kHosts), {});
    Recorder recorder(backend);
    const Bytes part = 16_MiB / kHosts;
    recorder.then = [&](std::uint64_t token) {
        const auto step = static_cast<int>(token) / kHosts + 1;
        const auto host = static_cast<int>(token) % kHosts;
        if (step < kSteps) {
            recorder.send(host, (host + 1) % kHosts, part,
                          static_cast<std::uint64_t>(step * kHosts + (host + 1) % kHosts));
        }
    };
    for (int host = 0; host < kHosts; ++host) {
        recorder.send(host, (host + 1) % kHosts, part, static_cast<std::uint64_t>((host + 1) % kHosts));
    }
    backend.run();
    ASSERT_EQ(recorder.times.size(), static_cast<std::size_t>(kHosts * kSteps));
    const Time step = 1_us + wire_time(part, 1, {}, 42_B);
    EXPECT_NEAR(ratio(recorder.times.back(), kSteps * step), 1.0, 0.05);
    const Time without_framing = kSteps * (1_us + part / 100_Gbps);
    EXPECT_NEAR(to_seconds(without_framing), 2362.810e-6, 1e-9);
    EXPECT_GT(recorder.times.back(), without_framing);
}

// Host 0 sends to 16 others, 16 windows of 500 kB in its own queue (640 us), while host 17 sends to it. The
// acknowledgements of what host 0 receives do not wait behind what it sends: the incoming message takes its
// wire time, not a round trip of 640 us for every 500 kB (11 ms).
TEST(TcpTiming, ReceivingIsNotSlowedBySending) {
    TcpBackend backend(star(18), {});
    Recorder recorder(backend);
    for (int destination = 1; destination <= 16; ++destination) {
        recorder.send(0, destination, 1_MiB, 1);
    }
    recorder.then = [&](std::uint64_t token) {
        if (token == 2) {
            recorder.send(17, 0, 8_MiB, 3);
        }
    };
    backend.schedule(100_us, recorder, 2);
    backend.run();
    const auto incoming =
        std::find(recorder.tokens.begin(), recorder.tokens.end(), 3U) - recorder.tokens.begin();
    ASSERT_LT(incoming, std::ssize(recorder.tokens));
    const Time taken = recorder.times[static_cast<std::size_t>(incoming)] - 100_us;
    // The link into host 0 also carries 42 B for each of its own segments of 1502 B, as fast as they leave.
    EXPECT_LT(ratio(taken, wire_time(8_MiB, 1, {}, 42_B) + 3_us), 1.02);
    EXPECT_GE(taken, wire_time(8_MiB, 1, {}));
}

// Four messages of 1 MiB and one of 14 600 B, all at once and to five hosts: the small one has its turn at
// every fifth segment, 10 segments and their share of the others' windows, and does not wait for 4 MiB (355
// us).
TEST(TcpTiming, SmallMessagesDoNotWaitForLargeOnesToOtherHosts) {
    TcpBackend backend(star(6), {});
    Recorder recorder(backend);
    for (int destination = 1; destination <= 4; ++destination) {
        recorder.send(0, destination, 1_MiB, 1);
    }
    recorder.send(0, 5, 14'584_B, 2);
    backend.run();
    ASSERT_EQ(recorder.tokens.at(0), 2U);
    // Handshake 2 us, 1 us there, 10 turns of 5 segments (6.01 us): 9.01 us and less than a microsecond of
    // headers.
    EXPECT_LT(recorder.times[0], 10_us);
}

}  // namespace
}  // namespace astrolabe::ns3
