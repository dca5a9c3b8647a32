/// The trends of the HOTI 2020 study (docs/theory/hoti20-study.md, "Trends") on its systems at 32 ranks
/// (examples/hoti20-dlrm/quarter), fluid and congestion-free engines. Every test prints the numbers that it
/// compares.
#include "collective_time.hpp"

#include <cstdio>

#include <example_run.hpp>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

struct Outcome {
    experiment::Experiment experiment;
    experiment::Run run;

    [[nodiscard]] double total_us() const { return to_nanoseconds(run.execution.total) / 1000; }

    [[nodiscard]] const system::OperationRecord& record(const std::string& operation) const {
        for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
            if (experiment.program.operations[system::OperationId(i)].name == operation) {
                return run.execution.operations[system::OperationId(i)];
            }
        }
        throw std::runtime_error("no operation '" + operation + "'");
    }
    /// Raw latency in the first iteration: from issue to finish.
    [[nodiscard]] double latency_us(const std::string& operation) const {
        return to_nanoseconds(record(operation).last_finish - record(operation).first_issue) / 1000;
    }
    /// Mean exposed wait for operations of this name, over all iterations.
    [[nodiscard]] double exposed_us(const std::string& operation) const {
        const auto& exposed = run.execution.ranks.front().exposed;
        const auto found = exposed.find(operation);
        return found == exposed.end() ? 0.0 : to_nanoseconds(found->second) / 1000;
    }
    /// What is not compute, over the total.
    [[nodiscard]] double exposed_share() const {
        return 1 - to_nanoseconds(run.execution.ranks.front().compute) / to_nanoseconds(run.execution.total);
    }
};

Outcome run_system(const std::string& name, std::vector<std::string> overrides = {}) {
    experiment::Experiment loaded = load_example("hoti20-dlrm/quarter/" + name + ".yaml", overrides);
    experiment::Run run = run_to_the_end(loaded);
    std::printf("%-9s", name.c_str());
    for (const std::string& text : overrides) {
        std::printf(" %s", text.c_str());
    }
    std::printf(": %.1f us\n", to_nanoseconds(run.execution.total) / 1000);
    return {std::move(loaded), std::move(run)};
}

const std::string kOneIteration = "workload.iterations=1";

std::string chunks(int count) {
    return "cluster.collectives.all_reduce.chunks=" + std::to_string(count);
}

/// Time of one all-reduce alone on the network of a system.
double all_reduce_us(const std::string& system, const std::string& algorithm, const std::string& size,
                     std::uint32_t chunks, const std::string& dimensions = "",
                     const std::string& backend = "fluid", const std::string& injection_latency = "10ns",
                     std::uint32_t window = 64) {
    experiment::CollectiveRequest request;
    request.kind = "all_reduce";
    request.algorithm = algorithm;
    request.sizes = {size};
    request.network = ASTROLABE_SOURCE_DIR "/examples/hoti20-dlrm/quarter/" + system + ".yaml";
    request.backend = backend;
    request.chunks = chunks;
    request.active_chunks = window;
    request.dimensions = dimensions;
    request.injection_latency = injection_latency;
    const double time = to_nanoseconds(run_collective(request).run.execution.total) / 1000;
    std::printf("%s, %s, %s in %u chunks, %s, copy %s: %.1f us\n", system.c_str(), algorithm.c_str(),
                size.c_str(), chunks, backend.c_str(), injection_latency.c_str(), time);
    return time;
}

const std::string kBaseline =
    "{algorithm: hierarchical, optimisation: baseline, dimension_algorithms: [direct, double_binary_tree]}";
const std::string kLocalFirst =
    "{algorithm: hierarchical, optimisation: local_bandwidth_aware, dimension_algorithms: [direct, "
    "double_binary_tree]}";

// "Latency of layers": with LIFO the all-reduces of the backward pass that start first are overtaken and take
// longest, of those of one size; with FIFO the last do.
TEST(Hoti20Trends, LifoMakesTheFirstIssuedWaitLongestAndFifoTheLast) {
    // Top_10 to Top_1 have 2 MiB each and are issued in this order. 256 chunks of each and a window of 64:
    // most of a collective still waits when the next is issued.
    const auto latencies = [](const std::string& scheduling) {
        const Outcome outcome = run_system("flat100g", {kOneIteration, "cluster.scheduling=" + scheduling});
        std::vector<double> all;
        for (int layer = 10; layer >= 1; --layer) {
            all.push_back(outcome.latency_us("Top_" + std::to_string(layer) + ".weight_gradient.all_reduce"));
        }
        std::printf("  Top_10 %.1f us … Top_1 %.1f us\n", all.front(), all.back());
        return all;
    };
    const std::vector<double> lifo = latencies("lifo");
    EXPECT_TRUE(std::is_sorted(lifo.rbegin(), lifo.rend()));  // longest first
    const std::vector<double> fifo = latencies("fifo");
    EXPECT_TRUE(std::is_sorted(fifo.begin(), fifo.end()));
}

// "Latency of layers": all-reduces of top layers are longer than those of bottom layers, the last bottom
// layer's the shortest; HierOpt and Flat800G are faster than Flat100G, Hier sends as many bytes across.
TEST(Hoti20Trends, AllReducesOrderBySizeAndBySystem) {
    const double top = all_reduce_us("flat100g", "double_binary_tree", "2MiB", 256);
    const double bottom = all_reduce_us("flat100g", "double_binary_tree", "512KiB", 64);
    const double last = all_reduce_us("flat100g", "double_binary_tree", "64KiB", 8);
    EXPECT_GT(top, bottom);
    EXPECT_GT(bottom, last);
    const double fast = all_reduce_us("flat800g", "double_binary_tree", "2MiB", 256);
    const double baseline = all_reduce_us("hier", kBaseline, "2MiB", 32, "8x4");
    const double local_first = all_reduce_us("hier", kLocalFirst, "2MiB", 32, "8x4");
    EXPECT_LT(local_first, top);
    EXPECT_LT(fast, top);
    // The whole vector crosses the scale-out of Hier too, by a tree of depth 2 instead of 5 but with a stage
    // of 64 KiB before it; both are bound by 2S·β.
    EXPECT_NEAR(baseline / top, 1.0, 0.25);
    // An eighth of the bytes cross it with HierOpt.
    EXPECT_LT(local_first, baseline / 3);
}

// "Latency of layers": the all-to-all is shortest on Flat800G and on Hier about as long as on Flat100G; the
// backward one takes no less than the forward one, as all-reduces of the top MLP are in flight.
TEST(Hoti20Trends, AllToAllsOrderBySystemAndTheBackwardOneIsSlower) {
    const std::string forward = "Embedding.forward.all_to_all";
    const std::string backward = "Embedding.input_gradient.all_to_all";
    const Outcome flat = run_system("flat100g", {kOneIteration, chunks(64)});
    const Outcome fast = run_system("flat800g", {kOneIteration, chunks(64)});
    const Outcome hier = run_system("hieropt", {kOneIteration, chunks(16)});
    for (const Outcome* outcome : {&flat, &fast, &hier}) {
        std::printf("  forward %.1f us, backward %.1f us\n", outcome->latency_us(forward),
                    outcome->latency_us(backward));
        EXPECT_GE(outcome->latency_us(backward), 0.98 * outcome->latency_us(forward));
    }
    EXPECT_LE(hier.latency_us(forward), 1.02 * flat.latency_us(forward));
    EXPECT_LT(fast.latency_us(forward), hier.latency_us(forward));
}

// "Exposed communication": Top_0 waits for what the bottom MLP and other waits leave of the all-to-all, and
// hardly at all on Flat800G.
TEST(Hoti20Trends, TopZeroTakesTheWaitForTheAllToAll) {
    const std::string forward = "Embedding.forward.all_to_all";
    // Bottom MLP, forward: 2·512·(1600·512 + 5·512² + 512·64) FLOP at 15 TFLOPS = 147.64 us.
    const double bottom_us = 2.0 * 512 * (1600 * 512 + 5 * 512 * 512 + 512 * 64) / 15e6;
    const Outcome flat = run_system("flat100g", {kOneIteration, chunks(64)});
    EXPECT_NEAR(flat.exposed_us(forward), flat.latency_us(forward) - bottom_us, 0.1);
    EXPECT_EQ(run_system("flat800g", {kOneIteration, chunks(64)}).exposed_us(forward), 0.0);
    // Over two iterations the wait for the exchange and for its own gradient make Top_0 the layer that waits
    // most.
    const Outcome two = run_system("flat100g", {chunks(64)});
    const auto wait_of = [&two](const std::string& layer) {
        return two.exposed_us(layer + ".weight_gradient.all_reduce");
    };
    const double top_0 = two.exposed_us(forward) + wait_of("Top_0");
    for (int layer = 1; layer <= 11; ++layer) {
        EXPECT_GT(top_0, wait_of("Top_" + std::to_string(layer)));
    }
    for (int layer = 0; layer <= 6; ++layer) {
        EXPECT_GT(top_0, wait_of("Bottom_" + std::to_string(layer)));
    }
}

// "Exposed communication": Flat100G and Hier are slowest, Flat800G and HierOpt fastest.
TEST(Hoti20Trends, RateOrLocalReductionMakeTheFastSystems) {
    const double flat = run_system("flat100g", {chunks(64)}).total_us();
    const double fast = run_system("flat800g", {chunks(64)}).total_us();
    const double baseline = run_system("hier", {chunks(16)}).total_us();
    const double local_first = run_system("hieropt", {chunks(16)}).total_us();
    for (const double slow : {flat, baseline}) {
        EXPECT_LT(fast, slow);
        EXPECT_LT(local_first, slow);
    }
}

// "Exposed communication": its share falls with the link rate. On the fluid engine, as the congestion-free
// one lets all messages of a port pass at once and hides everything here.
TEST(Hoti20Trends, TheExposedShareFallsWithTheRate) {
    double last = 1.0;
    for (const char* rate : {"25Gbps", "50Gbps", "100Gbps", "200Gbps", "400Gbps"}) {
        const Outcome outcome =
            run_system("flat100g", {kOneIteration, chunks(64), std::string("network.link.rate=") + rate});
        std::printf("  exposed %.3f\n", outcome.exposed_share());
        EXPECT_LT(outcome.exposed_share(), last);
        last = outcome.exposed_share();
    }
}

// "Injection latency": time grows with d on every system, more on flat ones, and hardly between 0.01 and 1 µs
// on hierarchical ones.
TEST(Hoti20Trends, CopyLatencyCostsFlatMoreThanHierarchical) {
    const auto times = [](const std::string& system, int count) {
        std::vector<double> all;
        for (const char* latency : {"10ns", "1us", "10us", "100us"}) {
            all.push_back(run_system(system, {kOneIteration, chunks(count),
                                              std::string("cluster.injection_latency=") + latency})
                              .total_us());
        }
        return all;
    };
    // Chunks of the study's size: 8 KiB flat, 64 KiB hierarchical.
    const std::vector<double> flat = times("flat100g", 256);
    const std::vector<double> hier = times("hieropt", 32);
    EXPECT_TRUE(std::is_sorted(flat.begin(), flat.end()));
    EXPECT_TRUE(std::is_sorted(hier.begin(), hier.end()));
    EXPECT_GT(flat.back() - flat.front(), hier.back() - hier.front());
    EXPECT_LT(hier[1] / hier[0], 1.02);
}

// "Injection latency", copies one after another: at 32 ranks and 8 chunks every rank copies 8·31 messages.
TEST(Hoti20Trends, SerialCopiesOfAFlatAllToAllAddUp) {
    experiment::CollectiveRequest request;
    request.kind = "all_to_all";
    request.algorithm = "direct";
    request.sizes = {"4MiB"};
    request.network = ASTROLABE_SOURCE_DIR "/examples/hoti20-dlrm/quarter/flat800g.yaml";
    request.chunks = 8;
    request.injection_latency = "10us";
    const double parallel = to_nanoseconds(run_collective(request).run.execution.total) / 1000;
    request.overrides = {"end_point.copy_engine=serial"};
    const double serial = to_nanoseconds(run_collective(request).run.execution.total) / 1000;
    std::printf("all-to-all of 4 MiB, copies of 10 us: parallel %.1f us, serial %.1f us\n", parallel, serial);
    // 8·31·10 us of copies; the last message of 16 KiB (0.16 us) and 1 us of latency follow, the rest
    // overlaps.
    EXPECT_NEAR(serial, 8 * 31 * 10 + 1.0 + 16384 * 0.01e-3, 0.05);
    EXPECT_LT(parallel, serial / 10);
}

// "Chunks": without queues and copies more chunks cost only their latencies.
TEST(Hoti20Trends, MoreChunksNeverHurtWithoutCongestionAndCopies) {
    // All chunks under way: 2·log2 N = 10 messages of a chunk one after another, 10·(1 us + S/C·0.08 ns), or
    // fewer where the tree is not full.
    for (const std::uint32_t count : {32U, 128U, 1024U}) {
        const double time =
            all_reduce_us("flat100g", "double_binary_tree", "8MiB", count, "", "congestion_free", "0", count);
        EXPECT_LE(time, 10 * (1.0 + 8388608.0 / count * 0.08e-3) + 0.001);
    }
    // A window of 64 makes ⌈C/64⌉ waves of it, and 1024 chunks cost more latency than they save.
    const auto windowed = [](std::uint32_t count) {
        return all_reduce_us("flat100g", "double_binary_tree", "8MiB", count, "", "congestion_free", "0");
    };
    const double waves = windowed(1024);
    EXPECT_GT(waves, windowed(128));
    EXPECT_LE(waves, 1024 / 64 * 10 * (1.0 + 8192 * 0.08e-3) + 0.001);
}

// "Chunks": few large ones leave levels of the tree idle.
TEST(Hoti20Trends, AFewLargeChunksLeaveTheTreeIdle) {
    // One chunk passes 5 levels up and 5 down with the whole vector each; many fill the pipeline.
    EXPECT_GT(all_reduce_us("flat100g", "double_binary_tree", "8MiB", 1),
              2 * all_reduce_us("flat100g", "double_binary_tree", "8MiB", 128));
}

// "Tree against direct": about the same bytes, 2·log2 N latencies against 2, so direct wins for small S and
// for slow copies.
TEST(Hoti20Trends, DirectExchangeWinsForSmallVectorsAndHighCopyLatency) {
    // 32 KiB: bytes take 5 us either way; the tree adds 2·5 latencies of 1 us, the exchange 2.
    EXPECT_LT(all_reduce_us("flat100g", "direct", "32KiB", 1),
              all_reduce_us("flat100g", "double_binary_tree", "32KiB", 4));
    EXPECT_LT(all_reduce_us("flat100g", "direct", "2MiB", 8, "", "fluid", "100us"),
              all_reduce_us("flat100g", "double_binary_tree", "2MiB", 256, "", "fluid", "100us"));
    // Large ones with free copies: the bytes are about equal, and the tree pays for filling and emptying its
    // five levels and for its root's port, which bears both directions of two children.
    const double direct = all_reduce_us("flat100g", "direct", "32MiB", 8);
    const double tree = all_reduce_us("flat100g", "double_binary_tree", "32MiB", 512);
    EXPECT_LT(direct, tree);
    EXPECT_GT(direct, 0.8 * tree);
}

}  // namespace
}  // namespace astrolabe::testing
