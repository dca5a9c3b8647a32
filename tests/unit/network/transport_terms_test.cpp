/// Each term against arithmetic by hand.
#include "network/src/engines/fluid/transport_terms.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

/// 8 Gb/s, a byte in 1 ns; 1 us each way; two links.
constexpr TermPath kPath{.forward = 1_us, .back = 1_us, .slowest = 8_Gbps, .serialisation = 2000.0};

TEST(TransportTerms, AreOffByDefault) {
    const TransportTerms none;
    const PathTerms path(none, kPath);
    EXPECT_EQ(path.wire(5000_B), 5000_B);
    EXPECT_EQ(path.delivery_delay(5000_B), 1_us);
    EXPECT_TRUE(std::isinf(path.cap()));
    EXPECT_EQ(path.slow_start_delay(1_MB), Time(0));
    EXPECT_EQ(path.incast_delay(1000), Time(0));
}

TEST(TransportTerms, LatencyCanBeLeftOut) {
    const TransportTerms terms{.latency = false};
    EXPECT_EQ(PathTerms(terms, kPath).delivery_delay(5000_B), Time(0));
}

TEST(TransportTerms, FramingAddsAHeaderToEveryPacket) {
    const TransportTerms terms{.framing = Framing{.mtu = 1000_B, .header = 50_B}};
    const PathTerms path(terms, kPath);
    EXPECT_EQ(path.wire(0_B), 0_B);
    EXPECT_EQ(path.wire(1_B), 51_B);
    EXPECT_EQ(path.wire(1000_B), 1050_B);
    EXPECT_EQ(path.wire(1001_B), 1101_B);
    EXPECT_EQ(path.delivery_delay(5000_B), 1_us);
    // Both latencies and 1050 B at a byte a nanosecond.
    EXPECT_EQ(path.round_trip(), 2_us + 1050_ns);
}

TEST(TransportTerms, StoringNodesDelayTheLastPacket) {
    const TransportTerms terms{
        .framing = Framing{.mtu = 1000_B, .header = 50_B, .switching = Switching::kStoreAndForward}};
    const PathTerms path(terms, kPath);
    // Two links of 1 ns a byte, one of which the service itself takes.
    EXPECT_EQ(path.delivery_delay(5000_B), 1_us + 1050_ns);
    EXPECT_EQ(path.delivery_delay(10_B), 1_us + 60_ns);
    EXPECT_EQ(path.delivery_delay(0_B), 1_us);  // no packet
}

TEST(TransportTerms, AWindowCapsTheRate) {
    // 1000 B in 2 us are 4 Gb/s; on the wire, with 10 B for each 100, 4.4, and the round trip takes a packet
    // of 110 B more, 110 ns.
    const TransportTerms plain{.window = 1000_B};
    EXPECT_DOUBLE_EQ(PathTerms(plain, kPath).cap(), 4e9);
    const TransportTerms framed{.framing = Framing{.mtu = 100_B, .header = 10_B}, .window = 1000_B};
    EXPECT_DOUBLE_EQ(PathTerms(framed, kPath).cap(), 8.0 * 1100.0 / 2.11e-6);
}

TEST(TransportTerms, SlowStartWaitsAtTheEndOfEachRound) {
    const TransportTerms terms{.slow_start = SlowStart{.initial_window = 250_B, .restart_after = 1_ms}};
    const PathTerms path(terms, kPath);
    // The path holds 2000 B. Rounds of 250, 500 and 1000 B take 2 us each instead of 0.25, 0.5 and 1 us.
    EXPECT_EQ(path.slow_start_delay(250_B), Time(0));
    EXPECT_EQ(path.slow_start_delay(251_B), 1750_ns);
    EXPECT_EQ(path.slow_start_delay(750_B), 1750_ns);
    EXPECT_EQ(path.slow_start_delay(751_B), 1750_ns + 1500_ns);
    EXPECT_EQ(path.slow_start_delay(1_MB), 1750_ns + 1500_ns + 1000_ns);
}

TEST(TransportTerms, SlowStartEndsAtTheWindow) {
    // 1000 B in 2 us: 2 ns a byte. Rounds of 250 and 500 B take 2 us instead of 0.5 and 1.
    const TransportTerms terms{.window = 1000_B,
                               .slow_start = SlowStart{.initial_window = 250_B, .restart_after = 1_ms}};
    EXPECT_EQ(PathTerms(terms, kPath).slow_start_delay(1_MB), 1500_ns + 1000_ns);
}

TEST(TransportTerms, WindowsWithoutRoomInTheBufferWaitForATimeout) {
    // The path holds 2,000 B. With a buffer of 7,000 B there is room for 9 windows of 1,000 B, and for 4 of
    // 2,000 B.
    const TransportTerms terms{.window = 1000_B, .incast = Incast{.buffer = 7000_B, .timeout = 3_ms}};
    const TransportTerms wide{.window = 2000_B, .incast = Incast{.buffer = 7000_B, .timeout = 3_ms}};
    EXPECT_EQ(PathTerms(terms, kPath).incast_delay(9), Time(0));
    EXPECT_EQ(PathTerms(terms, kPath).incast_delay(10), 3_ms);
    EXPECT_EQ(PathTerms(wide, kPath).incast_delay(4), Time(0));
    EXPECT_EQ(PathTerms(wide, kPath).incast_delay(5), 3_ms);
}

TEST(TransportTerms, RefuseWhatHasNoEffect) {
    const auto keys = [](const TransportTerms& terms) {
        std::vector<std::string> found;
        for (const ValidationError& problem : validation_errors(terms)) {
            found.push_back(problem.key);
        }
        return found;
    };
    using Keys = std::vector<std::string>;
    EXPECT_EQ(keys({}), Keys{});
    EXPECT_EQ(keys({.latency = false, .window = 1_MB, .slow_start = SlowStart{}}),
              (Keys{"window", "slow_start"}));
    EXPECT_EQ(keys({.incast = Incast{1_MB, 1_ms}}), Keys{"incast"});
    EXPECT_EQ(keys({.window = 1000_B, .slow_start = SlowStart{}}), Keys{"slow_start.initial_window"});
}

}  // namespace
}  // namespace astrolabe::network
