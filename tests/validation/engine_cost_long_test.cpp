/// Costs of engines (run/engine_cost.hpp) against measured runs, as ratios: Meta's Model-A and the quick
/// start on small networks. Prints what it measured.
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/run/engine_cost.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

struct Case {
    std::string name;
    std::string file;
    std::vector<std::string> overrides;
};

double processor_seconds(const Experiment& experiment) {
    const std::clock_t start = std::clock();
    const Run run = run_experiment(experiment, {});
    EXPECT_TRUE(run.execution.finished) << run.execution.stall;
    return static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
}

Case model_a(int ranks, const std::string& network) {
    return {"Model-A, " + std::to_string(ranks) + " ranks, " + network,
            "examples/dlrm-model-a/experiment.yaml",
            {"cluster.ranks=" + std::to_string(ranks), "network={kind: " + network + "}",
             "workload.sharding.memory=400GB"}};
}

TEST(EngineCostLong, WhatIsSuggestedIsCheaperAndRatiosAreWithinTheirIntervals) {
    const std::vector<Case> cases{
        {"quick start", "examples/quickstart/experiment.yaml", {}},           model_a(16, "flat, hosts: 16"),
        model_a(32, "leaf_spine, hosts: 32, hosts_per_leaf: 16, spines: 16"), model_a(64, "flat, hosts: 64"),
        model_a(64, "leaf_spine, hosts: 64, hosts_per_leaf: 16, spines: 16"),
    };
    const Components components = builtin_components();
    for (const Case& one : cases) {
        std::vector<Experiment> engines;
        std::vector<EngineCost> costs;
        std::vector<double> measured;
        for (const char* backend : {"backend={kind: fluid}", "backend={kind: packet, mtu: 64KiB}"}) {
            std::vector<std::string> overrides = one.overrides;
            overrides.emplace_back(backend);
            Result<Experiment> loaded = load_experiment(std::string(ASTROLABE_SOURCE_DIR "/") + one.file,
                                                        {overrides, std::nullopt}, components);
            ASSERT_TRUE(loaded) << render(loaded.error());
            costs.push_back(
                engine_cost(loaded->backend_kind, loaded->backend.reports_packets, predict(*loaded)));
            measured.push_back(processor_seconds(*loaded));
            std::printf("%-64s %-6s %8.3f s, predicted %8.3f s to %8.3f s\n", one.name.c_str(),
                        costs.back().kind.c_str(), measured.back(), costs.back().least, costs.back().most);
        }
        // A machine that is busier or slower scales both. What takes milliseconds says nothing.
        constexpr double kTimed = 0.05;
        if (measured[0] < kTimed || measured[1] < kTimed) {
            continue;
        }
        const double ratio = measured[1] / measured[0];
        EXPECT_GE(ratio, costs[1].least / costs[0].most) << one.name;
        EXPECT_LE(ratio, costs[1].most / costs[0].least) << one.name;
        EXPECT_FALSE(costs[0].most < costs[1].least && ratio < 1) << one.name;
        EXPECT_FALSE(costs[1].most < costs[0].least && ratio > 1) << one.name;
    }
}

}  // namespace
}  // namespace astrolabe::experiment
