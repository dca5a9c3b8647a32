#include "small_experiment.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
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
    void add(const char* name, decltype(system::Operation::work) work,
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
    void expect_path(const std::vector<std::tuple<std::size_t, Time, Time>>& expected) {
        const std::vector<PathSegment> path = path_of_operations(program_, report_);
        ASSERT_EQ(path.size(), expected.size());
        for (std::size_t i = 0; i < path.size(); ++i) {
            EXPECT_EQ(std::tuple(path[i].operation.index(), path[i].from, path[i].to), expected[i]) << i;
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
    expect_path({{0, 0_us, 10_us}, {2, 10_us, 20_us}, {3, 20_us, 40_us}, {4, 40_us, 41_us}});
    // The first now takes longer than the second: the second computation is hidden behind it.
    ended(1, 10_us, 50_us);
    ended(4, 50_us, 51_us);
    expect_path({{0, 0_us, 10_us}, {1, 10_us, 50_us}, {4, 50_us, 51_us}});
}

TEST_F(CriticalPathTest, InFirstComeOrderFollowsTheComputationThatEndedBefore) {
    program_.compute_order = system::ComputeOrder::kFirstCome;
    // The second computation of the program is the first to run, the last one waits for the engine alone.
    ended(2, 0_us, 10_us);
    ended(0, 10_us, 20_us);
    ended(1, 20_us, 25_us);
    ended(3, 10_us, 15_us);
    ended(4, 25_us, 26_us);
    expect_path({{2, 0_us, 10_us}, {0, 10_us, 20_us}, {1, 20_us, 25_us}, {4, 25_us, 26_us}});
}

TEST_F(CriticalPathTest, FollowsOnlyRanksThatTakePart) {
    const auto one = program_.rank_sets.push_back({system::RankId(0)});
    const auto other = program_.rank_sets.push_back({system::RankId(1)});
    std::get<system::ComputeOperation>(program_.operations[OperationId(0)].work).ranks = one;
    std::get<system::ComputeOperation>(program_.operations[OperationId(2)].work).ranks = other;
    program_.operations[OperationId(2)].dependencies.clear();
    program_.operations[OperationId(4)].dependencies.clear();
    std::get<system::ComputeOperation>(program_.operations[OperationId(4)].work).ranks = one;
    // "backward" is the other rank's and ends late; "update" follows "forward" on its own.
    ended(0, 0_us, 50_us);
    ended(1, 0_us, 5_us);
    ended(2, 0_us, 45_us);
    ended(3, 0_us, 5_us);
    ended(4, 50_us, 51_us);
    expect_path({{0, 0_us, 50_us}, {4, 50_us, 51_us}});
}

TEST_F(CriticalPathTest, GoesFromStreamToStream) {
    program_.streams = {"compute", "host"};
    const auto on_host = [](Time duration) { return system::ComputeOperation{duration, 1}; };
    // The device is at 21 us when the host has loaded for 40 us; the next update waits for its launch.
    add("load", on_host(40_us), {});
    add("launch update", on_host(5_us), {});
    program_.operations[OperationId(4)].dependencies.clear();
    add("next update", system::ComputeOperation{1_us}, {OperationId(6)});
    ended(0, 0_us, 10_us);
    ended(1, 10_us, 25_us);
    ended(2, 10_us, 20_us);
    ended(3, 20_us, 30_us);
    ended(4, 20_us, 21_us);
    ended(5, 0_us, 40_us);
    ended(6, 40_us, 45_us);
    ended(7, 45_us, 46_us);
    expect_path({{5, 0_us, 40_us}, {6, 40_us, 45_us}, {7, 45_us, 46_us}});
    // With an update of 30 us the launch is over in time, and the path is that of the device.
    ended(4, 20_us, 50_us);
    ended(7, 50_us, 51_us);
    expect_path({{0, 0_us, 10_us}, {2, 10_us, 20_us}, {4, 20_us, 50_us}, {7, 50_us, 51_us}});
    const auto shares = shares_by_operation(path_of_operations(program_, report_), nullptr, program_);
    EXPECT_EQ(shares.front().operation, "update");
    EXPECT_EQ(shares.front().kind, "compute");
}

TEST_F(CriticalPathTest, WaitingForRoomIsTheOperationsOwn) {
    ended(0, 0_us, 10_us);
    ended(1, 10_us, 25_us);
    ended(2, 10_us, 20_us);
    ended(3, 25_us, 40_us);  // issued at 20 us, and had room when the first had ended
    ended(4, 40_us, 41_us);
    expect_path({{0, 0_us, 10_us}, {2, 10_us, 20_us}, {3, 20_us, 40_us}, {4, 40_us, 41_us}});
}

TEST_F(CriticalPathTest, ACollectiveThatDrainsEndsIt) {
    ended(0, 0_us, 10_us);
    ended(1, 10_us, 15_us);
    ended(2, 10_us, 20_us);
    ended(3, 20_us, 30_us);
    ended(4, 30_us, 31_us);
    add("last", collective(), {OperationId(2)});
    ended(5, 20_us, 60_us);
    expect_path({{0, 0_us, 10_us}, {2, 10_us, 20_us}, {5, 20_us, 60_us}});
}

TEST(CriticalPath, CausesWithoutLabelGoToWhatTheyDelayed) {
    constexpr std::uint32_t kNone = network::TimerPurpose::kNoLabel;
    const auto path =
        path_of_causes({{4, 0_us, 1_us, {1_us}}, {kNone, 1_us, 3_us, {2_us}}, {5, 3_us, 4_us, {1_us}}});
    ASSERT_EQ(path.size(), 3u);
    EXPECT_EQ(path[1].operation, OperationId(5));
    EXPECT_EQ(path[1].to, 3_us);
}

constexpr const char* kLeafSpine =
    "network={kind: leaf_spine, hosts: 4, hosts_per_leaf: 2, spines: 1, link: {rate: 1Gbps, latency: 500ns}, "
    "oversubscription: 4}";

Time sum_of(const std::vector<PathShare>& shares) {
    Time sum;
    for (const PathShare& share : shares) {
        sum += share.time;
    }
    return sum;
}

TEST(CriticalPath, SharesOfOperationsAndOfResourcesAreTheWholeRun) {
    const Components components = builtin_components();
    const Experiment experiment =
        *testing::load_small(components, {kLeafSpine, "workload.batch.global=4096"});
    const auto run = run_experiment(experiment, {});
    const auto operations = shares_by_operation(run.path, run.resources.get(), experiment.program);
    EXPECT_EQ(sum_of(operations), run.execution.total);
    // A leaf's one uplink has half a host's rate, and every algorithm here sends a host's worth through it.
    const auto resources = shares_by_resource(operations);
    EXPECT_EQ(resources.front().resource, "spine-leaf links");
    EXPECT_EQ(sum_of(resources), run.execution.total);
    EXPECT_NE(text_summary(experiment, run).find("spine-leaf links "), std::string::npos);
}

TEST(CriticalPath, WithoutCausesItHasOperationsOnly) {
    const Components components = builtin_components();
    const Experiment experiment = *testing::load_small(components, {kLeafSpine});
    const auto followed = run_experiment(experiment, {}, {.causes = Causes::kAlways});
    const auto run = run_experiment(experiment, {}, {.causes = Causes::kNever});
    EXPECT_EQ(run.fingerprint, followed.fingerprint);
    const auto operations = shares_by_operation(run.path, run.resources.get(), experiment.program);
    EXPECT_EQ(sum_of(operations), run.execution.total);
    EXPECT_TRUE(shares_by_resource(operations).empty());
    EXPECT_FALSE(binding_of(operations));
    EXPECT_NE(text_summary(experiment, run).find("run --why"), std::string::npos);
}

/// One collective over `ranks` hosts on one switch.
experiment::Run run_of_collective(int ranks, const std::string& size, const std::string& latency) {
    const Components components = builtin_components();
    const Experiment experiment = *testing::load_small(
        components, {fmt::format("cluster.ranks={}", ranks),
                     "cluster.collectives={all_reduce: {algorithm: ring, chunks: 1}}",
                     fmt::format("network={{kind: flat, hosts: {}, link: {{rate: 100Gbps, latency: {}}}}}",
                                 ranks, latency),
                     fmt::format("workload={{kind: collective, collective: all_reduce, size: {}}}", size)});
    return run_experiment(experiment, {}, {.causes = Causes::kAlways});
}

Time time_of(const experiment::Run& run, network::ResourceId resource) {
    Time sum;
    for (const PathSegment& segment : run.path) {
        sum += segment.times[resource.index()];
    }
    return sum;
}

TEST(CriticalPath, ARingIsBoundByTheHostsLinksButForItsLatency) {
    // 2·(8-1) = 14 steps of 8 MB/8 = 1 MB: 80 us each at 100 Gb/s, and 2 us of latency.
    const auto run = run_of_collective(8, "8MB", "1us");
    EXPECT_EQ(run.execution.total, 14 * 82_us);
    EXPECT_EQ(time_of(run, network::Resources::kLatency), 14 * 2_us);
    const network::ResourceId links(run.resources->size() - 1);
    EXPECT_EQ(run.resources->name(links), "host-switch links");
    EXPECT_EQ(time_of(run, links), 14 * 80_us);
}

TEST(CriticalPath, WhatIsTinyIsBoundByLatency) {
    // 14 steps of 100 B: 8 ns of 2.008 us each.
    const auto run = run_of_collective(8, "800B", "1us");
    EXPECT_EQ(time_of(run, network::Resources::kLatency), 14 * 2_us);
    EXPECT_EQ(run.execution.total, 14 * 2008_ns);
}

TEST(CriticalPath, OfSeveralStreamsIsTheWholeRunAndNamesThem) {
    const Components components = builtin_components();
    Experiment experiment =
        *testing::load_small(components, {"cluster.device.peak=1GFLOPS", "network.link.rate=1Tbps"});
    testing::compute_weight_gradients_aside(experiment);
    for (const Causes causes : {Causes::kAlways, Causes::kNever}) {
        const auto run = run_experiment(experiment, {}, {.causes = causes});
        ASSERT_TRUE(run.execution.finished) << run.execution.stall;
        EXPECT_EQ(run.path.back().to, run.execution.total);
        const auto operations = shares_by_operation(run.path, run.resources.get(), experiment.program);
        EXPECT_EQ(sum_of(operations), run.execution.total);
        const auto aside = std::ranges::find(operations, "side", &PathShare::kind);
        ASSERT_NE(aside, operations.end()) << "an iteration waits for the weight gradients of the one before";
        EXPECT_EQ(aside->resource, causes == Causes::kAlways ? "side" : "");
    }
}

}  // namespace
}  // namespace astrolabe::experiment
