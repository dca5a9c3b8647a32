#include "small_experiment.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::experiment {
namespace {

using namespace literals;

/// What summary.json says of steady iterations.
struct Steady {
    nlohmann::ordered_json seconds;  ///< of one of them; null: there are none
    std::size_t count = 0;
    std::vector<double> intervals;
};

/// Of a run whose computations end at `ends` on every rank, and which ends at `total`.
class SteadyIterations : public ::testing::Test {
protected:
    Steady ended(const std::vector<Time>& ends, Time total) {
        experiment::Run run = run_;
        run.execution.total = total;
        for (system::RankRecord& rank : run.execution.ranks) {
            rank.iteration_ends = ends;
        }
        run.iteration_times.clear();
        Time start;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const Time end = i + 1 == ends.size() ? total : ends[i];
            run.iteration_times.push_back(end - start);
            start = end;
        }
        const auto summary = summary_json(experiment_, run);
        return {summary["steady_iteration_time_s"], summary["steady_iterations"].get<std::size_t>(),
                summary["computation_interval_s"].get<std::vector<double>>()};
    }

    Components components_ = builtin_components();
    Experiment experiment_ = *testing::load_small(components_);
    experiment::Run run_ = run_experiment(experiment_, {});
};

TEST_F(SteadyIterations, LeaveOutTheFirstAndTheDrain) {
    // Intervals 110, 250, 250, 250; the last iteration of 390 has a drain of 140.
    const Steady steady = ended({110_us, 360_us, 610_us, 860_us}, 1000_us);
    EXPECT_EQ(steady.intervals, (std::vector{110e-6, 250e-6, 250e-6, 250e-6}));
    EXPECT_EQ(steady.count, 3U);
    EXPECT_DOUBLE_EQ(steady.seconds.get<double>(), 250e-6);
}

TEST_F(SteadyIterations, TheLatestRankEndsAnIteration) {
    // As above, but rank 0 is later by 10 in the second: intervals 110, 260, 240, 250.
    experiment::Run run = run_;
    const std::vector<Time> ends{110_us, 360_us, 610_us, 860_us};
    for (system::RankRecord& rank : run.execution.ranks) {
        rank.iteration_ends = ends;
    }
    run.execution.ranks.front().iteration_ends[1] = 370_us;
    run.execution.total = 1000_us;
    run.iteration_times = {110_us, 260_us, 240_us, 390_us};
    EXPECT_EQ(summary_json(experiment_, run)["computation_interval_s"].get<std::vector<double>>(),
              (std::vector{110e-6, 260e-6, 240e-6, 250e-6}));
}

TEST_F(SteadyIterations, TwoThatDifferShowNone) {
    // Schedule G3 of docs/theory/training-loops.md, FIFO: 110 and 250, though 250 is what would repeat.
    const Steady steady = ended({110_us, 360_us}, 500_us);
    EXPECT_EQ(steady.intervals, (std::vector{110e-6, 250e-6}));
    EXPECT_EQ(steady.count, 0U);
    EXPECT_TRUE(steady.seconds.is_null());
}

TEST_F(SteadyIterations, OneShowsNone) {
    EXPECT_EQ(ended({100_us}, 100_us).count, 0U);
}

TEST_F(SteadyIterations, DifferByTwoPercentOfTheSmallestAtMost) {
    EXPECT_EQ(ended({100_us, 202_us}, 202_us).count, 2U);          // 100, 102
    EXPECT_EQ(ended({100_us, 202_us + 1_ps}, 203_us).count, 0U);   // more than 102
    EXPECT_EQ(ended({102_us, 202_us}, 202_us).count, 2U);          // 102, 100
    const Steady three = ended({100_us, 201_us, 303_us}, 303_us);  // 100, 101, 102
    EXPECT_EQ(three.count, 3U);
    EXPECT_DOUBLE_EQ(three.seconds.get<double>(), 101e-6);
}

TEST_F(SteadyIterations, AreTheLongestStretchAndTheLastOfEqualOnes) {
    // A pipeline of steps fills and empties: 160, 120, 120, 120, 110, 100.
    const Steady middle = ended({160_us, 280_us, 400_us, 520_us, 630_us, 730_us}, 730_us);
    EXPECT_EQ(middle.count, 3U);
    EXPECT_DOUBLE_EQ(middle.seconds.get<double>(), 120e-6);
    // 100, 100, 200, 200.
    EXPECT_DOUBLE_EQ(ended({100_us, 200_us, 400_us, 600_us}, 600_us).seconds.get<double>(), 200e-6);
}

TEST_F(SteadyIterations, TwoOfSevenAreAnAccident) {
    // 100, 200, 300, 300, 400, 500, 600: a third of seven is more than two.
    std::vector<Time> ends{100_us, 300_us, 600_us, 900_us, 1300_us, 1800_us, 2400_us};
    EXPECT_EQ(ended(ends, 2400_us).count, 0U);
    ends.pop_back();
    EXPECT_EQ(ended(ends, 1800_us).count, 2U);
}

TEST_F(SteadyIterations, NeedComputationInEveryIteration) {
    EXPECT_TRUE(ended({Time(0), Time(0)}, 100_us).intervals.empty());
    EXPECT_TRUE(ended({100_us, Time(0)}, 200_us).intervals.empty());
}

TEST_F(SteadyIterations, OfARunAreThoseThatALongerRunRepeats) {
    const auto run_of = [&](int iterations) {
        const auto experiment = testing::load_small(
            components_, {"workload.iterations=" + std::to_string(iterations), "cluster.folding=auto"});
        return summary_json(*experiment, run_experiment(*experiment, {}));
    };
    const auto some = run_of(6);
    const auto many = run_of(12);
    ASSERT_GT(some["steady_iterations"], 1) << some["computation_interval_s"];
    EXPECT_NEAR(some["steady_iteration_time_s"].get<double>(), many["steady_iteration_time_s"].get<double>(),
                0.02 * many["steady_iteration_time_s"].get<double>());
    // What is added by six more iterations is six steady ones.
    const double added = many["total_time_s"].get<double>() - some["total_time_s"].get<double>();
    EXPECT_NEAR(added / 6, many["steady_iteration_time_s"].get<double>(), 0.02 * added / 6);
    EXPECT_TRUE(run_of(1)["steady_iteration_time_s"].is_null());
}

TEST_F(SteadyIterations, TheSummarySaysWhichTheyAreOrHowToFindThem) {
    const auto text_of = [&](int iterations) {
        const auto experiment =
            testing::load_small(components_, {"workload.iterations=" + std::to_string(iterations)});
        return text_summary(*experiment, run_experiment(*experiment, {}));
    };
    EXPECT_NE(text_of(6).find(" steady: "), std::string::npos) << text_of(6);
    EXPECT_NE(text_of(6).find("\n  mean "), std::string::npos) << text_of(6);
    EXPECT_NE(text_of(2).find("--set workload.iterations=4 shows what repeats\n"), std::string::npos)
        << text_of(2);
    EXPECT_NE(text_of(1).find("--set workload.iterations=4 shows what repeats\n"), std::string::npos)
        << text_of(1);
}

}  // namespace
}  // namespace astrolabe::experiment
