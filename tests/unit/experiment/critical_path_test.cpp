#include "small_experiment.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/critical_path.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

using namespace literals;
using system::OperationId;

/// Two computations, a collective after each, and a computation that waits for both collectives.
class CriticalPathTest : public ::testing::Test {
protected:
    CriticalPathTest() {
        program_.ranks = 2;
        program_.iterations = 1;
        world_ = program_.partitions.push_back(system::Partition::world(2));
        add("forward", system::ComputeOperation{10_us}, {});
        add("first", collective(), {OperationId(0)});
        add("backward", system::ComputeOperation{10_us}, {});
        add("second", collective(), {OperationId(2)});
        add("update", system::ComputeOperation{1_us}, {OperationId(1), OperationId(3)});
    }

    [[nodiscard]] system::CollectiveOperation collective() const {
        return {.kind = system::CollectiveKind::kAllReduce, .partition = world_, .size = 1_MB};
    }
    void add(const char* name, std::variant<system::ComputeOperation, system::CollectiveOperation> work,
             std::vector<OperationId> dependencies) {
        system::Operation operation;
        operation.name = name;
        operation.work = std::move(work);
        operation.dependencies = std::move(dependencies);
        program_.operations.push_back(operation);
        report_.operations.push_back({});
    }
    void ended(std::size_t operation, Time start, Time end) {
        report_.operations[OperationId(operation)].first_start = start;
        report_.operations[OperationId(operation)].last_finish = end;
        report_.total = std::max(report_.total, end);
    }
    void expect_path(const std::vector<std::tuple<std::size_t, SegmentKind, Time, Time>>& expected) {
        const std::vector<PathSegment> path = critical_path(program_, report_);
        ASSERT_EQ(path.size(), expected.size());
        for (std::size_t i = 0; i < path.size(); ++i) {
            EXPECT_EQ(std::tuple(path[i].operation.index(), path[i].kind, path[i].from, path[i].to),
                      expected[i])
                << i;
        }
    }

    system::Program program_;
    system::PartitionId world_;
    system::ExecutionReport report_;
};

TEST_F(CriticalPathTest, FollowsWhatEndedLast) {
    ended(0, 0_us, 10_us);
    ended(1, 10_us, 25_us);
    ended(2, 10_us, 20_us);
    ended(3, 20_us, 40_us);
    ended(4, 40_us, 41_us);
    using enum SegmentKind;
    expect_path({{0, kCompute, 0_us, 10_us},
                 {2, kCompute, 10_us, 20_us},
                 {3, kCollective, 20_us, 40_us},
                 {4, kCompute, 40_us, 41_us}});
    // The first now takes longer than the second: the second computation is hidden behind it.
    ended(1, 10_us, 50_us);
    ended(4, 50_us, 51_us);
    expect_path({{0, kCompute, 0_us, 10_us}, {1, kCollective, 10_us, 50_us}, {4, kCompute, 50_us, 51_us}});
}

TEST_F(CriticalPathTest, TellsWaitingForRoomFromRunning) {
    ended(0, 0_us, 10_us);
    ended(1, 10_us, 25_us);
    ended(2, 10_us, 20_us);
    ended(3, 25_us, 40_us);  // issued at 20 us, and had room when the first had ended
    ended(4, 40_us, 41_us);
    using enum SegmentKind;
    expect_path({{0, kCompute, 0_us, 10_us},
                 {2, kCompute, 10_us, 20_us},
                 {3, kWait, 20_us, 25_us},
                 {3, kCollective, 25_us, 40_us},
                 {4, kCompute, 40_us, 41_us}});
}

TEST_F(CriticalPathTest, ACollectiveThatDrainsEndsIt) {
    ended(0, 0_us, 10_us);
    ended(1, 10_us, 15_us);
    ended(2, 10_us, 20_us);
    ended(3, 20_us, 30_us);
    ended(4, 30_us, 31_us);
    add("last", collective(), {OperationId(2)});
    ended(5, 20_us, 60_us);
    using enum SegmentKind;
    expect_path({{0, kCompute, 0_us, 10_us}, {2, kCompute, 10_us, 20_us}, {5, kCollective, 20_us, 60_us}});
}

TEST(CriticalPath, SharesOfOperationsAndOfResourcesAreTheWholeRun) {
    const Components components = builtin_components();
    const Experiment experiment = *testing::load_small(
        components, {"network={kind: leaf_spine, hosts: 4, hosts_per_leaf: 2, spines: 1, link: {rate: 1Gbps, "
                     "latency: 500ns}, oversubscription: 4}",
                     "workload.batch.global=4096"});
    const auto run = run_experiment(experiment, {});
    const std::vector<PathShare> operations = shares_by_operation(run.path, run.bounds, experiment);
    Time sum;
    for (const PathShare& share : operations) {
        sum += share.time;
    }
    EXPECT_EQ(sum, run.execution.total);
    // A leaf's one uplink has half a host's rate, and every algorithm here sends a host's worth through it.
    const std::vector<PathShare> resources = shares_by_resource(operations);
    EXPECT_EQ(resources.front().resource, "spine-leaf links");
    sum = Time(0);
    for (const PathShare& share : resources) {
        sum += share.time;
    }
    EXPECT_EQ(sum, run.execution.total);
    EXPECT_NE(text_summary(experiment, run).find("on spine-leaf links, "), std::string::npos);
}

TEST(CriticalPath, OperationsOfOneNameMayWaitForDifferentResources) {
    // Each rank sends 1024 samples · 8 · 4 B = 32 KiB of its table to each other one, 0.5 ms at half of 1
    // Gb/s; the gradients, a few KB, take latency.
    const Components components = builtin_components();
    Experiment experiment = *testing::load_small(
        components, {"network={kind: leaf_spine, hosts: 4, hosts_per_leaf: 2, spines: 1, link: {rate: 1Gbps, "
                     "latency: 100us}, oversubscription: 4}",
                     "workload.batch.global=4096"});
    const auto run = run_experiment(experiment, {});
    const std::vector<PathShare> before =
        shares_by_resource(shares_by_operation(run.path, run.bounds, experiment));
    for (system::Operation& operation : experiment.program.operations) {
        operation.name = "same";
    }
    const std::vector<PathShare> operations = shares_by_operation(run.path, run.bounds, experiment);
    const auto collectives = std::count_if(operations.begin(), operations.end(), [](const PathShare& share) {
        return share.kind == SegmentKind::kCollective;
    });
    EXPECT_GT(collectives, 1);
    const std::vector<PathShare> after = shares_by_resource(operations);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        EXPECT_EQ(after[i].resource, before[i].resource);
        EXPECT_EQ(after[i].time, before[i].time);
    }
}

}  // namespace
}  // namespace astrolabe::experiment
