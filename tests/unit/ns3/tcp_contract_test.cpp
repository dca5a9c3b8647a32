// SPDX-License-Identifier: GPL-2.0-only
#include "tcp_fixture.hpp"

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

TEST(TcpContract, APairHasOneConnection) {
    TcpBackend backend(star(3), {});
    Recorder recorder(backend);
    recorder.send(0, 1, 1_KiB);
    recorder.send(0, 1, 1_KiB);
    backend.run();
    EXPECT_EQ(recorder.tokens.size(), 2U);
    EXPECT_EQ(backend.connections(), 1U);
}

// 2^40 B are neither allocated nor cut short: after 1 ms at most 12.5 MB of them have arrived, and at least
// nine tenths of what framing leaves.
TEST(TcpContract, HugeMessagesAreWrittenAsTheyGo) {
    TcpBackend backend(star(3), {});
    Recorder recorder(backend);
    const Bytes huge(std::int64_t{1} << 40);
    recorder.then = [&](std::uint64_t) { backend.stop(); };
    recorder.send(0, 1, huge);
    recorder.send(2, 1, huge);
    backend.schedule(1_ms, recorder, 1);
    backend.run();
    const auto outstanding = backend.describe_outstanding(5);
    ASSERT_EQ(outstanding.size(), 2U);
    EXPECT_EQ(backend.describe_outstanding(1).size(), 1U);
    const Bytes arrived = 2 * huge - outstanding[0].remaining - outstanding[1].remaining;
    EXPECT_LE(arrived, 12'500_KB);
    EXPECT_GE(arrived, Bytes(12'500'000 / 1502 * 1460 / 10 * 9));
}

// 5 GiB pass the end of TCP's 32-bit sequence numbers. 65 495 B a segment: 81 970 segments.
TEST(TcpContract, StreamsOutliveTheSequenceNumbers) {
    TcpOptions options;
    options.mtu = 65'535_B;
    TcpBackend backend(star(2), options);
    Recorder recorder(backend);
    recorder.send(0, 1, 5_GiB);
    recorder.send(0, 1, 1_KiB, 1);
    backend.run();
    ASSERT_EQ(recorder.tokens, (std::vector<std::uint64_t>{0, 1}));
    EXPECT_EQ(backend.statistics().retransmissions, 0U);
    EXPECT_LT(to_seconds(recorder.times[0]) / to_seconds(wire_time(5_GiB, 1, options)), 1.02);
}

}  // namespace
}  // namespace astrolabe::ns3
