/// Transport terms in the fluid engine. A byte takes 1 ns on every link, and 500 ns of latency.
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/direct_connect.hpp"
#include "network/src/topologies/flat.hpp"
#include "recorder.hpp"

#include <memory>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

constexpr Time kPathLatency = 1_us;  // of a path, two links

std::shared_ptr<const Fabric> star(std::int64_t hosts) {
    FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {8_Gbps, 500_ns};
    return build_flat(parameters);
}

/// Sends (source, destination, size), all at 0.
std::vector<Time> deliver(const TransportTerms& terms,
                          const std::vector<std::tuple<int, int, Bytes>>& messages) {
    FluidBackend backend(star(8), {.terms = terms});
    Recorder recorder(backend);
    std::uint64_t next = 0;
    for (const auto& [source, destination, size] : messages) {
        recorder.send(next++, source, destination, size);
    }
    backend.run();
    std::vector<Time> times;
    for (std::uint64_t token = 0; token < messages.size(); ++token) {
        times.push_back(recorder.times.at(token));
    }
    return times;
}

using Times = std::vector<Time>;

TEST(FluidTerms, WithoutLatencyAMessageArrivesWhenItIsServed) {
    EXPECT_EQ(deliver({.latency = false}, {{0, 1, 5000_B}}), Times{5_us});
}

TEST(FluidTerms, HeadersTakeTheirTime) {
    // 5 packets of 1000 B and one of 1 B, with 50 B each: 5301 B.
    const TransportTerms terms{.framing = Framing{.mtu = 1000_B, .header = 50_B}};
    EXPECT_EQ(deliver(terms, {{0, 1, 5001_B}}), Times{5301_ns + kPathLatency});
    // Two share the port of host 2; bytes behind one another need no gap.
    EXPECT_EQ(deliver(terms, {{0, 2, 1000_B}, {1, 2, 1000_B}, {0, 2, 500_B}}),
              (Times{2100_ns + kPathLatency, 2100_ns + kPathLatency, 2650_ns + kPathLatency}));
}

TEST(FluidTerms, HeadersAreNotCountedAsTraffic) {
    FluidBackend backend(star(2), {.terms = {.framing = Framing{.mtu = 1000_B, .header = 50_B}}});
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 5001_B);
    backend.run();
    EXPECT_EQ(backend.statistics().bytes_delivered, 5001_B);
    EXPECT_EQ(backend.statistics().links[LinkId(0)].carried, 5001_B);
}

TEST(FluidTerms, ASwitchThatStoresPacketsDelaysTheLastOne) {
    const TransportTerms terms{
        .framing = Framing{.mtu = 1000_B, .header = 50_B, .switching = Switching::kStoreAndForward}};
    // Five packets out of the host, and the fifth once more out of the switch.
    EXPECT_EQ(deliver(terms, {{0, 1, 5000_B}}), Times{6 * 1050_ns + kPathLatency});
    // The second message, one packet of 51 B, stays behind the first though the switch has it for less long.
    EXPECT_EQ(deliver(terms, {{0, 1, 5000_B}, {0, 1, 1_B}}),
              (Times{6 * 1050_ns + kPathLatency, 6 * 1050_ns + kPathLatency}));
}

TEST(FluidTerms, AWindowLeavesTheRestToOthers) {
    // 500 B in the round trip of 2 us: 2 of 8 Gb/s, 4 ns a byte.
    const TransportTerms terms{.window = 500_B};
    EXPECT_EQ(deliver(terms, {{0, 1, 1000_B}}), Times{4_us + kPathLatency});
    // Five to one port do not meet their windows: 8/5 Gb/s each, 5 ns a byte.
    EXPECT_EQ(
        deliver(terms, {{0, 5, 1000_B}, {1, 5, 1000_B}, {2, 5, 1000_B}, {3, 5, 1000_B}, {4, 5, 1000_B}}),
        Times(5, 5_us + kPathLatency));
}

TEST(FluidTerms, AWindowTurnsOnceRoundAOneWayRing) {
    // Eight links there and back, 4 us, wherever the destination is: 500 B in that time, 8 ns a byte.
    DirectConnectParameters ring;
    ring.hosts = 8;
    ring.link = {8_Gbps, 500_ns};
    ring.one_way_rings = {1};
    for (int hops = 1; hops < 8; ++hops) {
        FluidBackend backend(build_direct_connect(ring), {.terms = {.window = 500_B}});
        Recorder recorder(backend);
        recorder.send(0, 2, (2 + hops) % 8, 1000_B);
        backend.run();
        EXPECT_EQ(recorder.times.at(0), 8_us + hops * 500_ns);
    }
}

TEST(FluidTerms, APairThatWasIdleStartsSlowly) {
    // The path holds 2000 B. A message of 10 kB loses 1.5 us in the round of 500 B and 1 us in that of 1000.
    const TransportTerms terms{.slow_start = SlowStart{.initial_window = 500_B, .restart_after = 50_us}};
    FluidBackend backend(star(3), {.terms = terms});
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t token) {
        if (token >= 100) {
            recorder.send(token - 100, 0, 1, 10'000_B);
        }
    };
    recorder.send(0, 0, 1, 10'000_B);
    recorder.send(1, 0, 1, 10'000_B);         // right behind: no round trip to wait for
    backend.schedule(60_us, recorder, 102);   // 37.5 us after the last byte
    backend.schedule(120_us, recorder, 103);  // exactly 50 us after it
    backend.run();
    EXPECT_EQ(recorder.times[0], 2500_ns + 10_us + kPathLatency);
    EXPECT_EQ(recorder.times[1], 2500_ns + 20_us + kPathLatency);
    EXPECT_EQ(recorder.times[2], 60_us + 10_us + kPathLatency);
    EXPECT_EQ(recorder.times[3], 120_us + 2500_ns + 10_us + kPathLatency);
}

TEST(FluidTerms, APairThatStartsSlowlyTakesNothingMeanwhile) {
    // Both begin at 2.5 us and share the port of host 2: 20 us of work.
    const TransportTerms terms{.slow_start = SlowStart{.initial_window = 500_B, .restart_after = 50_us}};
    EXPECT_EQ(deliver(terms, {{0, 2, 10'000_B}, {1, 2, 10'000_B}}), Times(2, 2500_ns + 20_us + kPathLatency));
    // A message of one window does not wait, and has gone when the other begins.
    EXPECT_EQ(deliver(terms, {{0, 2, 10'000_B}, {1, 2, 500_B}}),
              (Times{2500_ns + 10_us + kPathLatency, 500_ns + kPathLatency}));
}

TEST(FluidTerms, WindowsThatFindNoRoomWaitForTheTimeout) {
    // A window of 4000 B is more than the path holds, 2000 B. With 6500 B of buffer there is room for two
    // into host 3. What host 0 sends to host 4 shares its cable: half the rate for all three at first.
    const TransportTerms terms{.window = 4000_B, .incast = Incast{.buffer = 6500_B, .timeout = 1_ms}};
    EXPECT_EQ(deliver(terms, {{0, 3, 4000_B}, {1, 3, 4000_B}, {2, 3, 4000_B}, {0, 4, 4000_B}}),
              (Times{8_us + kPathLatency, 8_us + kPathLatency, 1_ms + 4_us + kPathLatency, 8_us + kPathLatency}));
}

TEST(FluidTerms, AreTheSameForWhatMovesOverCircuits) {
    // A cable up for 10 of 20 us. Ten packets of 900 + 100 B. The round trip has 2 us of latency and 1 us for
    // a packet, and the window is one packet: 3 ns a byte on the wire, 30 us in all, in three up times.
    FabricBuilder builder("test");
    builder.add_host("a");
    builder.add_host("b");
    const FabricBuilder::Cable cable = builder.connect(NodeId(0), NodeId(1), {8_Gbps, 1_us, Bytes(0)});
    builder.set_circuits(20_us, {{10_us, {cable.forward, cable.backward}}, {10_us, {}}});
    FluidBackend backend(std::move(builder).build(),
                         {.terms = {.framing = Framing{.mtu = 900_B, .header = 100_B}, .window = 900_B}});
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 9000_B);
    backend.run();
    EXPECT_EQ(recorder.times[0], 50_us + 1_us);
}

}  // namespace
}  // namespace astrolabe::network
