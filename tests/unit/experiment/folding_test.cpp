#include "process.hpp"
#include "small_experiment.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/collective_run.hpp>
#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/experiment/run/run.hpp>

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
        request.chunks = 1;
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

/// On ranks 0 to 3, two ends of one instant: all-reduces among rows {0, 1}, {2, 3} and among columns {0, 2},
/// {1, 3} share the hosts' links evenly, so both end at once, each with a message of its own; each sets off
/// an all-reduce among all, and which of these is issued first is the backend's choice.
system::Program tied_program() {
    using system::OperationId;
    using system::RankId;
    system::Program program;
    program.ranks = 4;
    program.iterations = 1;
    const auto world = program.partitions.push_back(system::Partition::world(4));
    const auto rows = program.partitions.push_back(
        {.name = "rows", .groups = {{RankId(0), RankId(1)}, {RankId(2), RankId(3)}}});
    const auto columns = program.partitions.push_back(
        {.name = "columns", .groups = {{RankId(0), RankId(2)}, {RankId(1), RankId(3)}}});
    const auto all_reduce = [&](std::string name, system::PartitionId partition,
                                std::vector<OperationId> after) {
        return program.operations.push_back(
            {.name = name,
             .layer = name,
             .iteration = 0,
             .work = system::CollectiveOperation{.kind = system::CollectiveKind::kAllReduce,
                                                 .partition = partition,
                                                 .size = Bytes(1 << 20)},
             .dependencies = std::move(after)});
    };
    const OperationId row = all_reduce("row", rows, {});
    const OperationId column = all_reduce("column", columns, {});
    all_reduce("after row", world, {row});
    all_reduce("after column", world, {column});
    return program;
}

/// Whoever waits is told when all begins anew, and `validate` foresees it where the beginning has the tie.
TEST_F(FoldingTest, ATieIsToldAtOnceAndForeseen) {
    auto experiment = testing::load_small(components_, {"cluster.folding=auto"});
    ASSERT_TRUE(experiment);
    EXPECT_EQ(predict(*experiment).simulated_ranks, 1U);
    EXPECT_EQ(predict(*experiment).folding_refusal, "");
    experiment->program = tied_program();
    std::vector<LostFolding> told;
    RunObservers observers;
    observers.folding_lost = [&told](const LostFolding& lost) { told.push_back(lost); };
    const auto run = run_experiment(*experiment, {}, observers);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_LT(told[0].simulated_ranks, 4U);
    EXPECT_EQ(told[0].ranks, 4U);
    EXPECT_LT(told[0].at, run.execution.total);
    EXPECT_EQ(told[0].reason, run.engine.folding_refusal);
    const Prediction foreseen = predict(*experiment);
    EXPECT_EQ(foreseen.simulated_ranks, 4U);
    EXPECT_EQ(foreseen.folding_refusal, run.engine.folding_refusal);
}

TEST_F(FoldingTest, ATieIsRunAgainWhole) {
    const auto run = [this](const std::string& mode) {
        auto experiment = testing::load_small(components_, {"cluster.folding=" + mode});
        experiment->program = tied_program();
        return run_experiment(*experiment, {});
    };
    const auto tied = run("auto");
    const auto whole = run("off");
    ASSERT_TRUE(tied.execution.finished && whole.execution.finished);
    EXPECT_FALSE(tied.execution.has_tie);
    EXPECT_EQ(tied.engine.simulated_ranks, 4U);
    EXPECT_NE(tied.engine.folding_refusal.find("other order"), std::string::npos)
        << tied.engine.folding_refusal;
    EXPECT_EQ(tied.fingerprint, whole.fingerprint);
}

/// Equivalent ranks may have different rates within the slack; and causes are followed only if they are asked
/// for, as rates are exact then.
TEST_F(FoldingTest, NothingFoldsWithSlackAndResultsSayWhetherItIsApplied) {
    const auto experiment = testing::load_small(components_, {"backend.rate_slack=0.001"});
    ASSERT_TRUE(experiment);
    const auto rate_slack = [&](Causes causes) {
        RunObservers observers;
        observers.causes = causes;
        const auto run = run_experiment(*experiment, {}, observers);
        EXPECT_EQ(run.engine.simulated_ranks, 4U);
        return summary_json(*experiment, run)["network"]["rate_slack"];
    };
    const nlohmann::ordered_json unasked = rate_slack(Causes::kWhereCheap);
    EXPECT_EQ(unasked["slack"], 0.001);
    EXPECT_EQ(unasked["applied"], true);
    EXPECT_DOUBLE_EQ(unasked["one_bottleneck_longer_at_most"].get<double>(), 1.0 / 999.0);
    EXPECT_EQ(rate_slack(Causes::kAlways)["applied"], false);
}

TEST_F(FoldingTest, TheSummarySaysHowManyRanksWereSimulatedAndWhyNotFewer) {
    const auto summary = [this](const std::string& mode) {
        const auto experiment = testing::load_small(components_, {"cluster.folding=" + mode});
        return text_summary(*experiment, run_experiment(*experiment, {}));
    };
    const std::string folded = summary("auto");
    const std::string whole = summary("off");
    EXPECT_NE(folded.find("1 of 4 ranks simulated"), std::string::npos) << folded;
    EXPECT_EQ(folded.find("not folded"), std::string::npos) << folded;
    EXPECT_NE(whole.find("4 of 4 ranks simulated"), std::string::npos) << whole;
    EXPECT_NE(whole.find("not folded   every rank is simulated by itself: folding is off\n"),
              std::string::npos)
        << whole;
}

TEST_F(FoldingTest, AnEngineThatNeverFoldsGivesNoReason) {
    for (const char* mode : {"auto", "off"}) {
        const auto experiment = testing::load_small(
            components_, {"backend.kind=congestion_free", std::string("cluster.folding=") + mode});
        const std::string text = text_summary(*experiment, run_experiment(*experiment, {}));
        EXPECT_NE(text.find("4 of 4 ranks simulated"), std::string::npos) << text;
        EXPECT_EQ(text.find("not folded"), std::string::npos) << text;
    }
}

TEST_F(FoldingTest, AModeThatIsNoneIsReported) {
    const auto loaded = testing::load_small(components_, {"cluster.folding=on"});
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().front().message.find("on"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::experiment
