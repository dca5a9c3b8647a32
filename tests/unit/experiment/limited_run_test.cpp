/// Runs that are given up for taking too long: limited_run.hpp.
#include "small_experiment.hpp"

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/run/limited_run.hpp>

namespace astrolabe::experiment {
namespace {

class LimitedRunTest : public ::testing::Test {
protected:
    /// Limits from nothing to the whole run: what is given up takes longer, and what is not is the same run.
    void expect_only_longer_runs_given_up(const std::vector<std::string>& overrides, bool folds,
                                          bool has_streams = false) {
        Result<Experiment> experiment = testing::load_small(components_, overrides);
        ASSERT_TRUE(experiment) << render(experiment.error());
        if (has_streams) {
            testing::compute_weight_gradients_aside(*experiment);
        }
        const auto run = run_experiment(*experiment, {});
        EXPECT_EQ(run.engine.simulated_ranks < 4, folds) << run.engine.folding_refusal;
        const Time total = run.execution.total;
        int waited = 0;
        for (int part = 0; part <= 100; ++part) {
            const Time most(total.count() * (part / 2) / 50);
            const auto result = run_within(*experiment, most, part % 2 == 1);
            if (const Time* least = std::get_if<Time>(&result)) {
                EXPECT_GT(*least, most);
                EXPECT_LE(*least, total);
                waited += most >= run.bounds.compute ? 1 : 0;
            } else {
                // The busiest rank has more to compute than a shorter limit, before anything has begun.
                EXPECT_GE(most, run.bounds.compute);
                EXPECT_EQ(std::get<experiment::Run>(result).fingerprint, run.fingerprint);
            }
        }
        EXPECT_GT(waited, 0) << "no rank waited";
        EXPECT_TRUE(std::holds_alternative<experiment::Run>(run_within(*experiment, total)));
    }

    Components components_ = builtin_components();
};

TEST_F(LimitedRunTest, FoldedAndWholeRunsAreGivenUpOnlyWhereTheyTakeMore) {
    expect_only_longer_runs_given_up({"cluster.padding=true"}, true);
    expect_only_longer_runs_given_up({"cluster.padding=true", "cluster.folding=off"}, false);
}

TEST_F(LimitedRunTest, SoAreRunsWhoseRanksComputeForDifferentTimes) {
    expect_only_longer_runs_given_up(
        {"workload.sharding={plan: explicit, tables: [{first: 0, count: 4, sharding: table_wise, "
         "ranks: [0, 0, 0, 1]}]}",
         "workload.iterations=3"},
        false);
}

TEST_F(LimitedRunTest, EveryStreamsRemainderCounts) {
    // Gradients of one layer end on both streams at one instant and issue collectives: a tie, so nothing
    // folds.
    expect_only_longer_runs_given_up({"cluster.padding=true"}, false, true);
}

TEST_F(LimitedRunTest, WhatOnlyCommunicatesIsGivenUpToo) {
    const Result<Experiment> experiment =
        testing::load_small(components_, {"workload={kind: collective, collective: all_reduce, size: 64MB}",
                                          "cluster.collectives.all_reduce={algorithm: ring, chunks: 4096}"});
    ASSERT_TRUE(experiment) << render(experiment.error());
    const Time total = run_experiment(*experiment, {}).execution.total;
    const auto stopped = run_within(*experiment, Time(total.count() / 4), true);
    ASSERT_TRUE(std::holds_alternative<Time>(stopped));
    EXPECT_GT(std::get<Time>(stopped), Time(total.count() / 4));
    EXPECT_LE(std::get<Time>(stopped), total);
    EXPECT_TRUE(std::holds_alternative<experiment::Run>(run_within(*experiment, total, true)));
}

}  // namespace
}  // namespace astrolabe::experiment
