/// Runs of the workload kind `pipeline`: closed forms on a free network and on one that is not, bounds,
/// accounts.
#include "small_experiment.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

using namespace astrolabe::literals;
using testing::load_small;

std::vector<std::string> backends() {
#ifdef ASTROLABE_WITH_NS3
    return {"fluid", "packet"};
#else
    return {"fluid"};
#endif
}

class PipelineRun : public ::testing::Test {
protected:
    /// Equal layers of `times`, on `ranks` ranks of a switch at 100 Gb/s with 500 ns a cable.
    experiment::Run run(const std::string& backend, std::size_t ranks, const std::string& layers,
                        const std::string& training) {
        const Result<Experiment> loaded = load_small(
            components_,
            {fmt::format("workload={{kind: pipeline, model: {{layers: [{}]}}, {}}}", layers, training),
             fmt::format("cluster.ranks={}", ranks), fmt::format("network.hosts={}", ranks),
             "backend.kind=" + backend});
        EXPECT_TRUE(loaded) << render(loaded.error());
        experiment::Run run = run_experiment(*loaded, {});
        EXPECT_TRUE(run.execution.finished) << run.execution.stall;
        return run;
    }
    Components components_ = builtin_components();
};

TEST_F(PipelineRun, StagesAreIdleAsLongAsThePapersSay) {
    // f = 1 ms, b = 2 ms, messages without bytes take no time: (m + p - 1)(f + b).
    for (const std::string& backend : backends()) {
        for (const std::string schedule : {"gpipe", "1f1b"}) {
            for (const auto& [p, m] : {std::pair{4, 8}, {4, 2}, {5, 5}, {1, 3}}) {
                const experiment::Run made = run(
                    backend, static_cast<std::size_t>(p),
                    fmt::format("{{name: l, count: {}, forward: 1ms, backward: 2ms}}", p),
                    fmt::format("batch: {}, micro_batches: {}, stages: {}, schedule: {}", m, m, p, schedule));
                EXPECT_EQ(made.execution.total, (m + p - 1) * 3_ms) << backend << schedule << p << m;
                for (const system::RankRecord& rank : made.execution.ranks) {
                    EXPECT_EQ(rank.compute, m * 3_ms);
                }
                EXPECT_EQ(made.bounds.value(), made.execution.total);
            }
        }
    }
}

TEST_F(PipelineRun, InterleavedStagesAreIdleForAPartOfThat) {
    // v parts of f/v and b/v on a stage: (v m + p - 1)(f + b) of a part.
    for (const std::string& backend : backends()) {
        for (const auto& [p, m, v] : {std::tuple{4, 8, 2}, {2, 2, 3}, {4, 4, 4}}) {
            const experiment::Run made =
                run(backend, static_cast<std::size_t>(p),
                    fmt::format("{{name: l, count: {}, forward: 1ms, backward: 2ms}}", p * v),
                    fmt::format("batch: {}, micro_batches: {}, stages: {}, schedule: interleaved, "
                                "virtual_stages: {}",
                                m, m, p, v));
            EXPECT_EQ(made.execution.total, (v * m + p - 1) * 3_ms) << backend << p << m << v;
        }
    }
}

TEST_F(PipelineRun, TransfersBehindComputationsShowOnceAStage) {
    // A message of 1 MB takes 80 us and two cables of 500 ns: t = 81 us ≤ f. Forward (p - 1)(f + t) + m f,
    // backward likewise: m (f + b) + (p - 1)(f + b + 2 t).
    const experiment::Run made =
        run("fluid", 4, "{name: l, count: 4, forward: 100us, backward: 200us, output: 500000}",
            "batch: 8, micro_batches: 8, stages: 4, schedule: gpipe");
    const Time expected = 8 * 300_us + 3 * (300_us + 2 * 81_us);
    // The fluid engine may end each of the six messages in a chain early by 2^-36 of its duration.
    EXPECT_NEAR(static_cast<double>(made.execution.total.count()), static_cast<double>(expected.count()),
                10.0);
    EXPECT_EQ(made.network.messages, 2U * 3U * 8U);
    EXPECT_EQ(made.network.bytes_delivered, Bytes(2 * 3 * 8 * 1'000'000));
}

TEST_F(PipelineRun, ReplicasAndTensorGroupsExchangeWhatTheModelSays) {
    // 2 stages, 2 replicas, 2 tensor ranks; 4 layers of 10^5 parameters, one all-reduce of 20,000 bytes each.
    for (const std::string& backend : backends()) {
        const experiment::Run made =
            run(backend, 8,
                "{name: l, count: 4, forward: 50us, parameters: 100000, output: 10000, all_reduces: 1}",
                "batch: 8, micro_batches: 4, stages: 2, tensor_parallel: 2, iterations: 2, bucket: 100000B");
        // Ring in pairs: each rank sends the whole once. Tensor: 8 ranks · 2 layers of a stage · 2 passes · 4
        // micro-batches · 20,000 B; gradients: 8 ranks · 2 layers · 50,000 · 2 B; two iterations of both.
        EXPECT_EQ(made.traffic[static_cast<std::size_t>(system::CollectiveKind::kAllReduce)],
                  Bytes(2 * (8 * 2 * 2 * 4 * 20'000 + 8 * 2 * 100'000)))
            << backend;
        // One place between stages: 4 pairs, there and back, 4 micro-batches.
        EXPECT_EQ(made.traffic[static_cast<std::size_t>(system::CollectiveKind::kPointToPoint)],
                  Bytes(2 * 4 * 2 * 4 * 20'000));
        for (const system::RankRecord& rank : made.execution.ranks) {
            EXPECT_EQ(rank.compute, 2 * 4 * 2 * 150_us);
            Time sum = rank.compute + rank.drain;
            for (const auto& [cause, time] : rank.exposed) {
                sum += time;
            }
            EXPECT_EQ(sum, made.execution.total);
        }
    }
}

TEST_F(PipelineRun, OneStageFoldsAsOtherDataParallelJobsDo) {
    const experiment::Run made = run("fluid", 4, "{name: l, count: 3, forward: 50us, parameters: 1000000}",
                                     "batch: 4, bucket: 1MB, iterations: 2");
    EXPECT_EQ(made.engine.simulated_ranks, 1U);
    EXPECT_EQ(made.execution.ranks[3].compute, 2 * 3 * 150_us);
}

TEST_F(PipelineRun, BoundsFollowThePlacementOfReceivers) {
    // Host 3 has a quarter of the rate. The last stage is there, or on host 2.
    const auto bound = [&](const std::string& placement) {
        const Result<Experiment> loaded = load_small(
            components_,
            {"workload={kind: pipeline, batch: 1, stages: 3, model: {layers: [{name: l, count: 3, forward: "
             "1us, output: 500000}]}}",
             "cluster.ranks=3", "cluster.placement=" + placement,
             "network={kind: graph, nodes: [{name: fast, count: 3}, {name: slow}, {name: switch, kind: "
             "switch}], links: [{from: fast, to: switch, rate: 100Gbps, latency: 1us}, {from: slow, to: "
             "switch, rate: 25Gbps, latency: 1us}]}"});
        if (!loaded) {
            ADD_FAILURE() << render(loaded.error());
            return std::pair{Time(0), Time(0)};
        }
        const experiment::Run made = run_experiment(*loaded, {});
        return std::pair{made.bounds.value(), made.execution.total};
    };
    for (const std::string placement : {"[0, 1, 2]", "[1, 2, 3]", "[3, 2, 1]"}) {
        const auto [lower, total] = bound(placement);
        EXPECT_LE(lower, total) << placement;
        EXPECT_GT(lower, total / 2) << placement;
    }
}

}  // namespace
}  // namespace astrolabe::experiment
