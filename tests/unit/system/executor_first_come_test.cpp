// Computation in first-come order, on a network without interaction.

#include "program_builder.hpp"

#include <string>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using system::CollectiveKind;
using system::ComputeOrder;
using system::ExecutionReport;
using system::OperationId;
using system::PerRank;
using system::RankId;

/// Two ranks that exchange 100 and 1,000 bytes: with α = 1,000 ps and β = 80 ps/B the quick exchange ends at
/// 9,000 ps, the slow one at 81,000.
class FirstComeTest : public ::testing::Test {
protected:
    FirstComeTest() {
        quick_ = builder_.collective("quick", {.kind = CollectiveKind::kAllToAll, .size = Bytes(200)});
        slow_ = builder_.collective("slow", {.kind = CollectiveKind::kAllToAll, .size = Bytes(2000)});
    }

    ExecutionReport execute(ComputeOrder order) {
        builder_.program().compute_order = order;
        system::SystemOptions options = options_with(algorithm_of("direct"), 1, 64);
        options.scheduling = system::Scheduling::kFifo;
        FakeBackend backend(2, {.latency = Time(1000), .time_per_byte = Time(80)});
        system::Executor executor(builder_.program(), options, backend, host_of_each_rank(2));
        ExecutionReport report = executor.run();
        EXPECT_TRUE(report.finished) << report.stall;
        return report;
    }
    static Time end_of(const ExecutionReport& report, OperationId id) {
        return report.operations[id].last_finish;
    }

    ProgramBuilder builder_{2};
    OperationId quick_;
    OperationId slow_;
};

TEST_F(FirstComeTest, WhatBecomesReadyFirstStartsFirst) {
    const OperationId after_slow = builder_.compute("after slow", Time(5000), {slow_});
    const OperationId after_quick = builder_.compute("after quick", Time(50'000), {quick_});
    const ExecutionReport in_order = execute(ComputeOrder::kProgram);
    EXPECT_EQ(end_of(in_order, after_slow), Time(86'000));    // 81,000 + 5,000
    EXPECT_EQ(end_of(in_order, after_quick), Time(136'000));  // and 50,000
    const ExecutionReport report = execute(ComputeOrder::kFirstCome);
    EXPECT_EQ(end_of(report, after_quick), Time(59'000));  // 9,000 + 50,000
    EXPECT_EQ(end_of(report, after_slow), Time(86'000));   // 81,000 + 5,000
    // Idle until 9,000, and from 59,000 to 81,000.
    EXPECT_EQ(report.ranks[1].exposed.at("quick"), Time(9000));
    EXPECT_EQ(report.ranks[1].exposed.at("slow"), Time(22'000));
    EXPECT_EQ(report.ranks[1].compute, Time(55'000));
    EXPECT_EQ(report.ranks[1].iteration_ends.front(), Time(86'000));
}

TEST_F(FirstComeTest, WhatBecomesReadyWhileTheEngineIsBusyWaitsInThatOrder) {
    const OperationId busy = builder_.compute("busy", Time(100'000));
    const OperationId second = builder_.compute("second", Time(7000));
    const OperationId after_slow = builder_.compute("after slow", Time(5000), {slow_});
    const OperationId after_quick = builder_.compute("after quick", Time(50'000), {quick_});
    const ExecutionReport report = execute(ComputeOrder::kFirstCome);
    // Two are ready at 0, in program order; then those of 9,000 and 81,000.
    EXPECT_EQ(end_of(report, busy), Time(100'000));
    EXPECT_EQ(end_of(report, second), Time(107'000));
    EXPECT_EQ(end_of(report, after_quick), Time(157'000));
    EXPECT_EQ(end_of(report, after_slow), Time(162'000));
    EXPECT_TRUE(report.ranks[0].exposed.empty());
}

TEST_F(FirstComeTest, AnOperationIsReadyWhenItsLastDependencyHasFinished) {
    // In a chain of computations each is ready when the one before it ends, behind what came meanwhile.
    const OperationId first = builder_.compute("first", Time(10'000));
    const OperationId next = builder_.compute("next", Time(1000), {first});
    const OperationId after_both = builder_.compute("after both", Time(2000), {slow_, quick_, next});
    const OperationId after_quick = builder_.compute("after quick", Time(3000), {quick_});
    const ExecutionReport report = execute(ComputeOrder::kFirstCome);
    EXPECT_EQ(end_of(report, after_quick), Time(13'000));  // ready at 9,000, the engine is free at 10,000
    EXPECT_EQ(end_of(report, next), Time(14'000));         // ready at 10,000
    EXPECT_EQ(end_of(report, after_both), Time(83'000));
    EXPECT_EQ(report.ranks[0].exposed.at("slow"), Time(67'000));  // 81,000 - 14,000
    EXPECT_EQ(report.ranks[0].exposed.count("quick"), 0U);
}

TEST_F(FirstComeTest, AnIterationEndsWithItsLastComputationWhicheverThatIs) {
    builder_.compute("long", Time(1000), {slow_});
    builder_.compute("short", Time(1000), {quick_});
    EXPECT_EQ(execute(ComputeOrder::kFirstCome).ranks[0].iteration_ends.front(), Time(82'000));
}

TEST_F(FirstComeTest, AStallNamesWhatIsWaitedFor) {
    builder_.compute("after slow", Time(5000), {slow_});
    const OperationId after_quick = builder_.compute("after quick", Time(50'000), {quick_});
    builder_.program().compute_order = ComputeOrder::kFirstCome;
    system::SystemOptions options = options_with(algorithm_of("direct"), 1, 64);
    options.scheduling = system::Scheduling::kFifo;
    // The last of the four messages is one of the slow exchange.
    FakeBackend backend(2, {.latency = Time(1000), .time_per_byte = Time(80), .lose_message = 4});
    system::Executor executor(builder_.program(), options, backend, host_of_each_rank(2));
    const ExecutionReport report = executor.run();
    EXPECT_FALSE(report.finished);
    EXPECT_EQ(report.operations[after_quick].last_finish, Time(59'000));
    EXPECT_NE(report.stall.find("'after slow' waits for 'slow'"), std::string::npos) << report.stall;
}

}  // namespace
}  // namespace astrolabe::testing
