// Ranks that compute slowly for a time: the integral of speed, and what a run makes of it.
#include "program_builder.hpp"

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/executor/compute_speeds.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using system::ComputeSpeeds;
using system::RankId;

constexpr RankId kRank{2};

TEST(ComputeSpeeds, AnOperationTakesTheIntegralOfTheSpeed) {
    const ComputeSpeeds speeds({{kRank, 10_us, 20_us, 0.5}});
    EXPECT_EQ(speeds.duration(RankId(1), 0_us, 15_us), 15_us);
    EXPECT_EQ(speeds.duration(kRank, 0_us, 10_us), 10_us);  // ends as it becomes slow
    EXPECT_EQ(speeds.duration(kRank, 0_us, 12_us), 14_us);  // 10 + 2/0.5
    EXPECT_EQ(speeds.duration(kRank, 0_us, 18_us), 23_us);  // 10 + 10 (half: 5 done) + 3
    EXPECT_EQ(speeds.duration(kRank, 12_us, 2_us), 4_us);
    EXPECT_EQ(speeds.duration(kRank, 20_us, 5_us), 5_us);
}

TEST(ComputeSpeeds, AThirdIsRoundedUpOnce) {
    // In billionths 0.333333333: 7 ps / that = 21.000000021 ps.
    const ComputeSpeeds speeds({{kRank, 0_us, Time::max(), 0.333333333}});
    EXPECT_EQ(speeds.duration(kRank, 0_us, Time(7)), Time(22));
}

TEST(ComputeSpeeds, TheSmallestSpeedHolds) {
    const ComputeSpeeds speeds({{kRank, 0_us, 30_us, 0.5}, {kRank, 10_us, 20_us, 0.25}});
    // 10 us at 1/2, 10 at 1/4, 10 at 1/2 do 5 + 2.5 + 5.
    EXPECT_EQ(speeds.duration(kRank, 0_us, Time(12'500'000)), 30_us);
}

TEST(ComputeSpeeds, WhatStandsStillForEverNeverEnds) {
    const ComputeSpeeds paused({{kRank, 5_us, 9_us, 0.0}});
    EXPECT_EQ(paused.duration(kRank, 0_us, 8_us), 12_us);
    const ComputeSpeeds dead({{kRank, 5_us, Time::max(), 0.0}});
    EXPECT_EQ(dead.duration(kRank, 0_us, 5_us), 5_us);
    EXPECT_EQ(dead.duration(kRank, 0_us, Time(5'000'001)), Time::max());
}

TEST(ComputeSpeeds, AStragglerAtHalfSpeedDoublesTheIteration) {
    // Four ranks compute 100 us, then all-reduce nothing, twice: all wait for the straggler.
    ProgramBuilder builder(4);
    const auto first = builder.compute("forward", 100_us);
    const auto reduced = builder.collective(
        "gradients", {.kind = system::CollectiveKind::kAllReduce, .size = Bytes(0)}, {first});
    builder.compute("next", 100_us, {reduced});
    const system::Program program = builder.program();
    system::SystemOptions options = options_with(algorithm_of("ring"), 1, 64);
    const auto total = [&] {
        FakeBackend backend(4);
        system::Executor executor(program, options, backend, host_of_each_rank(4));
        const system::ExecutionReport report = executor.run();
        EXPECT_TRUE(report.finished);
        return report.total;
    };
    EXPECT_EQ(total(), 200_us);
    options.compute_speeds = std::make_shared<const ComputeSpeeds>(
        std::vector<system::SlowRank>{{RankId(3), 0_us, Time::max(), 0.5}});
    EXPECT_EQ(total(), 400_us);
    // Slow from 150 to 250 us: in the second computation, of which 50 us are left at 150 us.
    options.compute_speeds = std::make_shared<const ComputeSpeeds>(
        std::vector<system::SlowRank>{{RankId(3), 150_us, 250_us, 0.5}});
    EXPECT_EQ(total(), 250_us);
}

}  // namespace
}  // namespace astrolabe::testing
