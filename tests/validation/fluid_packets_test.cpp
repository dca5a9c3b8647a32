/// How far the fluid engine is from packets, as far as seconds can tell; fluid_packets_long_test has the
/// rest.
#include "fluid_packets.hpp"

#include "collective_time.hpp"

#include <cstdio>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

TEST(FluidAgainstPackets, CollectivesOf16RanksWithinTenPercentOrForAReason) {
    for (const EngineComparison& comparison : compare_collectives(16)) {
        EXPECT_TRUE(comparison.is_as_documented()) << comparison.row();
    }
}

TEST(FluidAgainstPackets, ShortIterationsWithinFivePercent) {
    for (const EngineComparison& comparison : compare_short_iterations()) {
        EXPECT_TRUE(comparison.is_as_documented()) << comparison.row();
    }
}

/// Double binary trees of 32 ranks, 64 of 256 chunks of 8 KiB under way, on links of 10 ns.
double trees_us(const std::string& rate, const std::string& backend) {
    experiment::CollectiveRequest request;
    request.kind = "all_reduce";
    request.algorithm = "double_binary_tree";
    request.sizes = {"2MiB"};
    request.chunks = 256;
    request.active_chunks = 64;
    request.network = "{kind: flat, hosts: 32, link: {rate: " + rate + ", latency: 10ns}}";
    request.backend = backend;
    return to_nanoseconds(run_collective(request).run.execution.total) / 1000;
}

/// What makes packets faster than fluid where many small messages are under way is room in the network, not
/// the order in which ports serve: packets of 256 B, which interleave messages as finely as a fluid does,
/// take fluid's time while a pair may have 1 KiB under way, 4 packets, and are 6 % faster once it may have a
/// whole message of 8 KiB. Bytes that wait in a switch leave the port of their sender to others; in a fluid
/// without queues sender and receiver are occupied together.
TEST(FluidAgainstPackets, PacketsWithoutRoomToQueueTakeTheTimeOfTheFluid) {
    const auto packets = [](const std::string& window) {
        return trees_us(
            "100Gbps",
            "{kind: packet, mtu: 256B, header: 5B, ack_size: 1B, ack_every: 1, window: " + window + "}");
    };
    // 256 B of payload in packets of 261 B, and 1 B of acknowledgement for each of them the other way.
    const double fluid = trees_us(fmt::format("{}bps", std::int64_t{100'000'000'000} * 256 / 262), "fluid");
    const double without_room = packets("1KiB");
    const double with_room = packets("8KiB");
    std::printf("fluid %.1f us, packets %.1f us without room to queue, %.1f us with room for a message\n",
                fluid, without_room, with_room);
    EXPECT_NEAR(without_room / fluid, 1.0, 0.03);
    EXPECT_LT(with_room / fluid, 0.95);
}

/// One message of 64 MiB over one switch, or over leaf, spine and leaf.
double message_us(const std::string& network, const std::string& backend) {
    experiment::CollectiveRequest request;
    request.kind = "broadcast";
    request.algorithm = "direct";
    request.sizes = {"64MiB"};
    request.chunks = 1;
    request.network = "{kind: " + network + "}";
    request.backend = "{kind: " + backend + "}";
    return to_nanoseconds(run_collective(request).run.execution.total) / 1000;
}

/// With packets of 64 KiB the window of 500 kB is 7 packets, and every 4th is acknowledged. A packet of
/// 65,618 B takes p = 5.24944 us on a link of 100 Gb/s. The acknowledgement of the 4th of 7 is back after
/// 4·p, h - 1 more links of p, h links of 500 ns each way and of 84 B, 6.72 ns, one way:
///
///     4 links    7·p + 4 us + 26.88 ns = 40.773 us for 7 packets that a link carries in 36.746 us;
///     2 links    5·p + 2 us + 13.44 ns = 28.261 us, before the window is used up.
///
/// So on leaf-spine the 1,024 packets take 146 windows and 2 packets, and 3 links of p and 2 us for the last
/// to arrive: 146·40.773 + 5·p + 2 us = 5981.1 us, where a window with room to spare takes 1,027·p + 2 us =
/// 5393.2 us. It is the window on a path of several packets' time, and no collision of paths: every way that
/// makes the one longer than the other removes it, and spraying changes nothing.
TEST(FluidAgainstPackets, CoarsePacketsOverSeveralSwitchesUseUpTheirWindow) {
    const std::string one_switch = "flat, hosts: 2, link: {rate: 100Gbps, latency: 500ns}";
    const std::string hashed = "leaf_spine, hosts: 2, hosts_per_leaf: 1, spines: 2";
    const std::string sprayed = hashed + ", load_balancing: spray";
    const double p = 65'618 * 8e-5;
    const double window = 7 * p + 4 + 4 * 84 * 8e-5;
    const double stalled = 146 * window + 5 * p + 2;
    const double full_rate = 1027 * p + 2;
    EXPECT_NEAR(message_us(hashed, "packet, mtu: 64KiB"), stalled, 0.001 * stalled);
    EXPECT_NEAR(message_us(sprayed, "packet, mtu: 64KiB"), stalled, 0.001 * stalled);
    for (const char* without : {", window: 1MB", ", ack_every: 1"}) {
        EXPECT_NEAR(message_us(hashed, std::string("packet, mtu: 64KiB") + without), full_rate, 0.01);
        EXPECT_NEAR(message_us(sprayed, std::string("packet, mtu: 64KiB") + without), full_rate, 0.01);
    }
    EXPECT_NEAR(message_us(one_switch, "packet, mtu: 64KiB"), 1025 * p + 1, 0.01);
    // The fluid has neither packets nor a window, and packets of 4 KiB differ from it by their headers.
    const double fluid = message_us(hashed, "fluid");
    EXPECT_NEAR(fluid, (1 << 26) * 8e-5 + 2, 0.01);
    EXPECT_NEAR(message_us(hashed, "packet") / fluid, 4178.0 / 4096, 0.001);
    EXPECT_NEAR(stalled / fluid, 1.114, 0.001);
}

/// A lone message between two hosts with two cables: a fluid takes both, the packet engine keeps a burst on
/// the cable it started on.
TEST(FluidAgainstPackets, APacketHostSendsABurstOnOneOfItsCables) {
    const auto time = [](const std::string& backend) {
        experiment::CollectiveRequest request;
        request.kind = "point_to_point";
        request.algorithm = "direct";
        request.chunks = 1;
        request.sizes = {"16MiB"};
        request.network =
            "{kind: torus, sizes: [2], double_links: true, load_balancing: spray, "
            "link: {rate: 100Gbps, latency: 500ns}}";
        request.backend = backend;
        return to_nanoseconds(run_collective(request).run.execution.total);
    };
    // 16 MiB at 200 Gb/s; 4096 packets of 4178 B at 100 Gb/s and 0.5 us.
    EXPECT_NEAR(time("fluid"), 500 + 16'777'216 * 0.04, 1);
    EXPECT_NEAR(time("packet"), 500 + 4'096 * 4'178 * 0.08, 1);
}

}  // namespace
}  // namespace astrolabe::testing
