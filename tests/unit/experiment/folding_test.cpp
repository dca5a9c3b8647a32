#include "process.hpp"
#include "small_experiment.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/collective_run.hpp>
#include <astrolabe/experiment/run.hpp>

namespace astrolabe::experiment {
namespace {

class FoldingTest : public ::testing::Test {
protected:
    experiment::Run run(std::vector<std::string> overrides) {
        return run_experiment(*testing::load_small(components_, std::move(overrides)), {});
    }

    Components components_ = builtin_components();
};

TEST_F(FoldingTest, TheFingerprintDoesNotDependOnIt) {
    const auto folded = run({"cluster.padding=true"});
    const auto whole = run({"cluster.padding=true", "cluster.folding=off"});
    ASSERT_TRUE(folded.execution.finished && whole.execution.finished);
    EXPECT_LT(folded.engine.simulated_ranks, 4U) << folded.engine.folding_refusal;
    EXPECT_EQ(whole.engine.simulated_ranks, 4U);
    EXPECT_EQ(whole.engine.folding_refusal, "folding is off");
    EXPECT_EQ(folded.fingerprint, whole.fingerprint);
    EXPECT_EQ(folded.utilization.max, whole.utilization.max);
}

TEST_F(FoldingTest, SizesThatDoNotDivideAreNotFoldedUnlessPadded) {
    // Bottom_0 has 16 · 32 + 32 parameters; 4 ranks share what its 2 B make, but a layer of 1 output has a
    // bias of 1 value, or 2 bytes.
    const auto plain = run({"workload.model.top_mlp=[31, 1]"});
    const auto padded = run({"workload.model.top_mlp=[31, 1]", "cluster.padding=true"});
    EXPECT_EQ(plain.engine.simulated_ranks, 4U);
    EXPECT_NE(plain.engine.folding_refusal.find("equal blocks"), std::string::npos)
        << plain.engine.folding_refusal;
    EXPECT_LT(padded.engine.simulated_ranks, 4U);
    EXPECT_GT(padded.network.bytes_delivered, plain.network.bytes_delivered);
}

TEST_F(FoldingTest, ACollectiveFoldsAsWell) {
    const auto run = [this](const std::string& mode) {
        CollectiveRequest request;
        request.kind = "all_reduce";
        request.algorithm = "ring";
        request.sizes = {"1MiB"};
        request.network = "{kind: flat, hosts: 64, link: {rate: 100Gbps, latency: 500ns}}";
        request.overrides = {"folding=" + mode};
        return CollectiveRun::prepare(request, components_)->run(0, {}).run;
    };
    const auto folded = run("auto");
    const auto whole = run("off");
    EXPECT_EQ(folded.engine.simulated_ranks, 1U);
    EXPECT_EQ(whole.engine.simulated_ranks, 64U);
    EXPECT_EQ(folded.fingerprint, whole.fingerprint);
}

TEST_F(FoldingTest, AModeThatIsNoneIsReported) {
    const auto loaded = testing::load_small(components_, {"cluster.folding=on"});
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().front().message.find("on"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::experiment
