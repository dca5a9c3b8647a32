/// The engines on the same question: fluid rates, lean packets, real TCP.
#include "collective_time.hpp"

#include <cstdio>

#include <example_run.hpp>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

using namespace literals;

/// Wire bytes over payload of full segments: mtu + 2 B of PPP carry mtu - 40 B (IP and TCP headers).
double framing(double mtu) {
    return (mtu + 2) / (mtu - 40);
}

experiment::CollectivePoint time_collective(const char* kind, const char* algorithm,
                                            const std::string& backend) {
    experiment::CollectiveRequest request;
    request.kind = kind;
    request.algorithm = algorithm;
    request.chunks = 1;
    request.sizes = {"16MiB"};
    request.network = flat_network(8);
    request.backend = backend;
    return run_collective(request);
}

/// docs/theory/collectives-and-costs.md, "Closed forms", for N = 8, S = 16 MiB, α = 1 us, 100 Gb/s, in us;
/// bytes take `framing` longer.
TEST(TcpAgainstClosedForms, RingAndDirectWithinFivePercentPlusFraming) {
    struct Case {
        const char* kind;
        const char* algorithm;
        double latency_us;
        double bytes_us;
    };
    const double block = 2097152 * 0.08 / 1000;  // S/N·β
    for (const Case& c :
         {Case{"reduce_scatter", "ring", 7, 7 * block}, Case{"all_reduce", "ring", 14, 14 * block},
          Case{"all_to_all", "direct", 1, 7 * block}, Case{"all_reduce", "direct", 2, 14 * block}}) {
        const experiment::CollectivePoint point =
            time_collective(c.kind, c.algorithm, "{kind: tcp, mtu: 9000B}");
        const double time = to_nanoseconds(point.run.execution.total) / 1000;
        const double expected = c.latency_us + c.bytes_us * framing(9000);
        std::printf("%-14s %-6s %10.2f us, expected %10.2f (%+.2f %%), %llu drops\n", c.kind, c.algorithm,
                    time, expected, 100 * (time / expected - 1),
                    static_cast<unsigned long long>(point.run.network.drops));
        EXPECT_NEAR(time, expected, 0.05 * expected);
        EXPECT_GE(point.run.execution.total, point.lower_bound);
        EXPECT_EQ(point.run.network.drops, 0u);  // the switch has room for everything here
    }
}

/// The same on the packet engine: a packet of 4096 B is 4178 B on the wire, and the switch stores it before
/// it sends it on, which every step of a ring and every direct exchange pays once: 0.334 us. An
/// acknowledgement of 84 B for every 16 packets the other way takes its part of the same ports.
TEST(PacketAgainstClosedForms, RingDirectAndHalvingDoublingWithinAThousandth) {
    struct Case {
        const char* kind;
        const char* algorithm;
        double steps;
        double bytes_us;
    };
    const double block = 2097152 * 0.08 / 1000;  // S/N·β
    const double alpha = 1.0 + 4178 * 0.08 / 1000;
    for (const Case& c :
         {Case{"reduce_scatter", "ring", 7, 7 * block}, Case{"all_reduce", "ring", 14, 14 * block},
          Case{"all_to_all", "direct", 1, 7 * block}, Case{"all_reduce", "direct", 2, 14 * block},
          Case{"all_reduce", "halving_doubling", 6, 14 * block}}) {
        const experiment::CollectivePoint point = time_collective(c.kind, c.algorithm, "{kind: packet}");
        const double time = to_nanoseconds(point.run.execution.total) / 1000;
        const double expected = c.steps * alpha + c.bytes_us * (4178 + 84.0 / 16) / 4096;
        std::printf("%-14s %-16s %10.2f us, expected %10.2f (%+.2f %%)\n", c.kind, c.algorithm, time,
                    expected, 100 * (time / expected - 1));
        EXPECT_NEAR(time, expected, 0.001 * expected);
        EXPECT_GE(point.run.execution.total, point.lower_bound);
        EXPECT_EQ(point.run.network.drops, 0u);
    }
}

/// Ring and direct all-reduce at 16 ranks, packets of one payload: within 5 % of stock TCP, whose frames are
/// 42 B longer than their payload against 82 B, which is taken out.
TEST(PacketAgainstTcp, RingAndDirectAllReduceAt16RanksWithinFivePercent) {
    for (const char* algorithm : {"ring", "direct"}) {
        const auto time = [&](const std::string& backend) {
            experiment::CollectiveRequest request;
            request.kind = "all_reduce";
            request.algorithm = algorithm;
            request.chunks = 1;
            request.sizes = {"16MiB"};
            request.network = flat_network(16);
            request.backend = backend;
            return to_nanoseconds(run_collective(request).run.execution.total) / 1000;
        };
        const double packet = time("{kind: packet, mtu: 8960B, header: 42B, ack_size: 42B}");
        const double tcp = time("{kind: tcp, mtu: 9000B}");
        std::printf("all_reduce %-6s 16 ranks: packet %.2f us, tcp %.2f us, ratio %.4f\n", algorithm, packet,
                    tcp, packet / tcp);
        EXPECT_NEAR(packet / tcp, 1.0, 0.05);
    }
}

/// The DLRM hybrid iteration of the study on 16 ranks: at most 10 % apart. Fluid is faster: it has no headers
/// (0.5 % at MTU 9000), no slow start and no queueing delay.
TEST(FluidAgainstTcp, DlrmOn16RanksWithinTenPercent) {
    const auto total_us = [&](const std::string& backend) {
        const experiment::Run run = run_example(
            "dlrm-flat/experiment-16.yaml",
            {"backend=" + backend, "workload.iterations=1", "cluster.collectives.all_reduce.chunks=128"});
        EXPECT_EQ(run.network.drops, 0u);
        return to_nanoseconds(run.execution.total) / 1000;
    };
    const double fluid = total_us("{kind: fluid}");
    const double tcp = total_us("{kind: tcp, window: 0.5MB, mtu: 9000B, buffer_sharing: shared}");
    std::printf("DLRM, 16 ranks: fluid %.1f us, tcp %.1f us, tcp/fluid %.4f\n", fluid, tcp, tcp / fluid);
    EXPECT_NEAR(tcp / fluid, 1.0, 0.10);
}

}  // namespace
}  // namespace astrolabe::testing
