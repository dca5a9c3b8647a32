/// Trends of the HOTI 2020 study (docs/theory/hoti20-study.md, "Formula against queues", "Switch buffer",
/// "TCP window", "Chunks" and "Tree against direct") that need queues: stock TCP on 16 hosts. Every test
/// prints the numbers that it compares.
#include "collective_time.hpp"

#include <cstdio>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

struct Measured {
    double us;
    std::uint64_t drops;
    std::uint64_t timeouts;
};

struct Question {
    std::string kind = "all_reduce";
    std::string algorithm = "double_binary_tree";
    std::string size = "1MiB";
    std::uint32_t chunks = 16;
    std::string rate = "100Gbps";
    std::string buffer = "1GB";
    std::string backend = "{kind: tcp, mtu: 9000B}";
    std::size_t ranks = 16;
};

Measured measure(const Question& question) {
    experiment::CollectiveRequest request;
    request.kind = question.kind;
    request.algorithm = question.algorithm;
    request.sizes = {question.size};
    request.chunks = question.chunks;
    request.ranks = question.ranks;
    request.backend = question.backend;
    request.network = "{kind: flat, hosts: 16, link: {rate: " + question.rate +
                      ", latency: 500ns}, switch_buffer: " + question.buffer + "}";
    const experiment::Run run = run_collective(request).run;
    const Measured measured{to_nanoseconds(run.execution.total) / 1000, run.network.drops,
                            run.network.timeouts};
    std::printf("%s by %s, %s in %u chunks, %zu ranks at %s, buffer %s, %s: ", question.kind.c_str(),
                question.algorithm.c_str(), question.size.c_str(), question.chunks, question.ranks,
                question.rate.c_str(), question.buffer.c_str(), question.backend.c_str());
    std::printf("%.1f us, %llu drops, %llu timeouts\n", measured.us,
                static_cast<unsigned long long>(measured.drops),
                static_cast<unsigned long long>(measured.timeouts));
    return measured;
}

/// The same without congestion: the formula of latency and rate.
double formula_us(Question question) {
    question.backend = "congestion_free";
    return measure(question).us;
}

// "Formula against queues": near 1 (framing only) for one flow per port, large where many send to one.
TEST(Hoti20TcpTrends, TheFormulaIsRightForOneFlowAndFarOffForIncasts) {
    const Question one_flow{
        .kind = "point_to_point", .algorithm = "direct", .size = "16MiB", .chunks = 1, .ranks = 2};
    const double single = measure(one_flow).us / formula_us(one_flow);
    // A reduce by a star: 15 into one port.
    const Question incast{.kind = "reduce", .algorithm = "direct", .chunks = 1};
    const double ample = measure(incast).us / formula_us(incast);
    Question lossy = incast;
    lossy.buffer = "1MB";
    const Measured dropped = measure(lossy);
    const double finite = dropped.us / formula_us(lossy);
    std::printf("packets over formula: one flow %.3f, incast %.2f, incast into a small buffer %.2f\n", single,
                ample, finite);
    EXPECT_GE(single, 1.0);
    EXPECT_LT(single, 1.1);  // headers of 52 in 8948 B, and slow start
    EXPECT_GT(ample, single);
    EXPECT_GT(dropped.drops, 0u);
    EXPECT_GE(finite, ample);
}

// "Switch buffer": without drops the buffer does not matter, and a smaller one drops no less.
TEST(Hoti20TcpTrends, BuffersMatterOnlyWhereTheyOverflow) {
    Question incast{.kind = "reduce", .algorithm = "direct", .chunks = 1};
    const Measured large = measure(incast);
    incast.buffer = "512MB";
    const Measured half = measure(incast);
    EXPECT_EQ(large.drops, 0u);
    EXPECT_EQ(half.drops, 0u);
    EXPECT_EQ(half.us, large.us);
    incast.buffer = "1MB";
    const Measured small = measure(incast);
    EXPECT_GT(small.drops, 0u);
    EXPECT_GT(small.us, large.us);
}

// "TCP window": 0.1 MB limits nobody at 100 Gb/s, and one flow to 400 Gb/s at 800 Gb/s, where 0.5 MB does
// not.
TEST(Hoti20TcpTrends, ASmallWindowCapsALoneFlowAt800Only) {
    const auto rate_of = [](const std::string& rate, const std::string& window) {
        const Question flow{.kind = "point_to_point",
                            .algorithm = "direct",
                            .size = "64MiB",
                            .chunks = 1,
                            .rate = rate,
                            .backend = "{kind: tcp, mtu: 9000B, window: " + window + "}",
                            .ranks = 2};
        return 8 * 67'108'864 / measure(flow).us / 1e3;  // Gb/s
    };
    EXPECT_GT(rate_of("100Gbps", "0.1MB"), 0.95 * rate_of("100Gbps", "0.5MB"));
    const double capped = rate_of("800Gbps", "0.1MB");
    EXPECT_LT(capped, 400.0);  // 0.1 MB a round trip of 2 us
    EXPECT_LT(capped, 0.8 * rate_of("800Gbps", "0.5MB"));
}

// "Tree against direct": direct wins with large buffers and small S. Where that page derives that the tree
// wins with small buffers, because a direct exchange has N-1 flows into every port, it does not here: hosts
// that start together send to i+1, i+2, … in turn, so no port is ever offered more than its rate, while the
// tree's two children do meet at their parent.
TEST(Hoti20TcpTrends, DirectExchangeWinsWithLargeBuffersAndBetweenEqualHostsWithSmallOnesToo) {
    const Question direct{.algorithm = "direct", .size = "256KiB", .chunks = 1};
    EXPECT_LT(measure(direct).us, measure({.size = "256KiB", .chunks = 4}).us);
    const Measured small_direct =
        measure({.algorithm = "direct", .size = "4MiB", .chunks = 1, .buffer = "1MB"});
    const Measured small_tree = measure({.size = "4MiB", .chunks = 32, .buffer = "1MB"});
    EXPECT_EQ(small_direct.drops, 0u);
    EXPECT_GT(small_tree.drops, 0u);
    EXPECT_LT(small_direct.us, small_tree.us);
}

}  // namespace
}  // namespace astrolabe::testing
