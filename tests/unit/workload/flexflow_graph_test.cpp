// Task graphs of FlexFlow: graphs of our own, written here, and the totals of the public ones.

#include "workload/src/flexflow/task_graph.hpp"
#include "workload/src/rank_graphs/build_program.hpp"
#include "workload/src/rank_graphs/graph_summary.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <flatbuffers/flatbuffers.h>
#include <gtest/gtest.h>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::workload {
namespace {

struct WrittenTask {
    int type = 0;
    std::uint64_t id = 0;
    std::uint64_t device = 0;
    float runtime = 0;
    std::uint64_t size = 0;
    std::vector<std::uint64_t> next{};
};

struct WrittenDevice {
    int type = 0;
    std::uint64_t id = 0;
    std::uint64_t node = 0;
    std::uint64_t property = 0;
};

constexpr flatbuffers::voffset_t field(unsigned number) {
    return static_cast<flatbuffers::voffset_t>(4 + 2 * number);
}

/// A buffer of the format, field by field.
/// Tasks that follow one another with the same `next` share it where `is_shared` says so.
std::string written(const std::vector<WrittenTask>& tasks, const std::vector<WrittenDevice>& devices,
                    std::uint32_t servers = 3, bool is_shared = false) {
    flatbuffers::FlatBufferBuilder builder;
    using Table = flatbuffers::Offset<flatbuffers::Table>;
    std::vector<Table> task_tables;
    flatbuffers::Offset<flatbuffers::Vector<std::uint64_t>> next;
    const std::vector<std::uint64_t>* last = nullptr;
    for (const WrittenTask& task : tasks) {
        if (!is_shared || last == nullptr || *last != task.next) {
            next = builder.CreateVector(task.next);
        }
        last = &task.next;
        const auto start = builder.StartTable();
        builder.AddElement<std::int16_t>(field(0), static_cast<std::int16_t>(task.type), 0);
        builder.AddElement<std::uint64_t>(field(1), task.id, 0);
        builder.AddElement<std::uint64_t>(field(2), task.device, 0);
        builder.AddElement<float>(field(3), task.runtime, 0);
        builder.AddElement<std::uint64_t>(field(4), task.size, 0);
        builder.AddOffset(field(5), next);
        task_tables.emplace_back(builder.EndTable(start));
    }
    std::vector<Table> device_tables;
    for (const WrittenDevice& device : devices) {
        const auto start = builder.StartTable();
        builder.AddElement<std::int16_t>(field(0), static_cast<std::int16_t>(device.type), 0);
        builder.AddElement<std::uint64_t>(field(1), device.id, 0);
        builder.AddElement<std::uint64_t>(field(2), device.node, 0);
        builder.AddElement<std::uint64_t>(field(3), device.property, 0);
        device_tables.emplace_back(builder.EndTable(start));
    }
    const auto all_tasks = builder.CreateVector(task_tables);
    const auto all_devices = builder.CreateVector(device_tables);
    const auto start = builder.StartTable();
    builder.AddElement<std::uint32_t>(field(0), 1, 0);
    builder.AddElement<std::uint32_t>(field(1), servers, 0);
    builder.AddElement<std::uint32_t>(field(2), 1, 0);
    builder.AddOffset(field(8), all_tasks);
    builder.AddOffset(field(9), all_devices);
    builder.Finish(Table(builder.EndTable(start)));
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

/// GPUs 100, 101, 102 of three servers, the nominal network from 0 to 1 (0 · (3 + 1) + 1) and from 1 to 0.
std::vector<WrittenDevice> devices() {
    constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
    return {{0, 100, 0, 0}, {0, 101, 1, 1}, {0, 102, 2, 2}, {14, 201, kNowhere, 1}, {14, 210, kNowhere, 4}};
}

/// Server 0 computes for 2 ms and sends 1,000 bytes to server 1, which computes for 3 ms; both then add up
/// 4,000 bytes. Ids descend: their order means nothing.
std::vector<WrittenTask> tasks() {
    return {{0, 90, 100, 2.0F, 0, {80, 60}},
            {5, 80, 201, 7.0F, 1000, {70}},
            {1, 70, 101, 3.0F, 0, {60}},
            {6, 60, 0, 0.1F, 4000, {0, 1}}};
}

FlexFlowGraph graph_of(const std::vector<WrittenTask>& list) {
    Result<FlexFlowGraph> graph = read_flexflow_graph(written(list, devices()), "x.fbuf");
    EXPECT_TRUE(graph) << render(graph.error());
    return *std::move(graph);
}

void expect_defect(const std::string& buffer, const std::string& expected) {
    const Result<FlexFlowGraph> graph = read_flexflow_graph(buffer, "x.fbuf");
    ASSERT_FALSE(graph) << expected;
    const std::string said = render(graph.error());
    EXPECT_NE(said.find("x.fbuf: error[flexflow.graph]: "), std::string::npos) << said;
    EXPECT_NE(said.find(expected), std::string::npos) << said;
}

TEST(FlexFlowGraphs, TasksBecomeThoseOfRanks) {
    const FlexFlowGraph graph = graph_of(tasks());
    EXPECT_EQ(longest_compute_chain(graph), Time(5'000'000'000));  // 2 ms, then 3 ms behind the transfer
    const RankGraphs graphs = rank_graphs_of(graph, 1);
    ASSERT_EQ(graphs.ranks.size(), 3U);
    // Server 0: computation, send, its part of the all-reduce, which waits for the computation.
    const std::vector<RankTask>& first = graphs.ranks[0].tasks;
    ASSERT_EQ(first.size(), 3U);
    EXPECT_EQ(first[0].kind, TaskKind::kCompute);
    EXPECT_EQ(first[0].duration, Time(2'000'000'000));
    EXPECT_EQ(first[1].kind, TaskKind::kSend);
    EXPECT_EQ(first[1].peer, 1U);
    EXPECT_EQ(first[1].size, Bytes(1000));
    EXPECT_EQ(first[2].kind, TaskKind::kCollective);
    EXPECT_EQ(first[2].size, Bytes(4000));
    EXPECT_EQ(graphs.ranks[0].dependencies(2).size(), 1U);
    EXPECT_EQ(graphs.ranks[0].dependencies(2)[0], 0U);
    // Server 1: receive, computation, its part; server 2 does nothing.
    const std::vector<RankTask>& second = graphs.ranks[1].tasks;
    ASSERT_EQ(second.size(), 3U);
    EXPECT_EQ(second[0].kind, TaskKind::kReceive);
    EXPECT_EQ(second[0].peer, 0U);
    EXPECT_EQ(second[1].duration, Time(3'000'000'000));
    EXPECT_TRUE(graphs.ranks[2].tasks.empty());
    const Result<system::Program> program = build_program(graphs, {});
    ASSERT_TRUE(program) << render(program.error());
    EXPECT_EQ(program->ranks, 3U);
    program->check();
}

TEST(FlexFlowGraphs, AnIterationWaitsForTheOneBeforeOnEveryServer) {
    const RankGraphs graphs = rank_graphs_of(graph_of(tasks()), 3);
    // Three tasks an iteration and, between two of them, one of no time.
    ASSERT_EQ(graphs.ranks[0].tasks.size(), 11U);
    const RankTask& start = graphs.ranks[0].tasks[3];
    EXPECT_EQ(start.duration, Time());
    EXPECT_EQ(start.iteration, 1);
    // It waits for what nothing waits for: the send and the all-reduce.
    EXPECT_EQ(graphs.ranks[0].dependencies(3).size(), 2U);
    EXPECT_EQ(graphs.ranks[0].dependencies(4)[0], 3U);
    const Result<system::Program> program = build_program(graphs, {.begins_together = true});
    ASSERT_TRUE(program) << render(program.error());
    // Longest chain: 2 ms and 3 ms, three times.
    EXPECT_EQ(summarize(graphs).critical_path, Time(15'000'000'000));
}

TEST(BrokenFlexFlowGraphs, AreToldWhatAndWhere) {
    const std::string whole = written(tasks(), devices());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        // The verifier refuses it, or what is missing is padding and the graph is whole.
        const Result<FlexFlowGraph> graph = read_flexflow_graph(whole.substr(0, size), "x.fbuf");
        EXPECT_TRUE(!graph || graph->tasks.size() == 4) << size;
    }
    expect_defect(whole.substr(0, whole.size() / 2), "offsets lead out of the file");
    expect_defect("<algo/>", "offsets lead out of the file");
    expect_defect(written({}, devices()), "there are no tasks");
    expect_defect(written(tasks(), devices(), 0), "nnode is 0, expected 1 to");
    expect_defect(written(tasks(), devices(), 2), "device 2 (id 102): a GPU of server 2 of 2");
    const auto broken = [](std::size_t task, const auto& change) {
        std::vector<WrittenTask> list = tasks();
        change(list[task]);
        return written(list, devices());
    };
    expect_defect(broken(1, [](WrittenTask& task) { task.id = 90; }),
                  "task 1 (id 90): another task has the same id");
    expect_defect(broken(0, [](WrittenTask& task) { task.next = {81}; }),
                  "task 0 (id 90): successor 81 does not exist");
    expect_defect(broken(0, [](WrittenTask& task) { task.runtime = -1; }),
                  "task 0 (id 90): a runtime of -1 ms");
    expect_defect(broken(0, [](WrittenTask& task) { task.device = 7; }),
                  "task 0 (id 90): device 7 does not exist");
    expect_defect(broken(0, [](WrittenTask& task) { task.device = 201; }),
                  "on a device of type 14, expected 0");
    expect_defect(broken(0, [](WrittenTask& task) { task.type = 4; }), "task 0 (id 90): type 4");
    expect_defect(broken(3,
                         [](WrittenTask& task) {
                             task.next = {0, 3};
                         }),
                  "task 3 (id 60): member 3 of 3 servers");
    expect_defect(broken(3, [](WrittenTask& task) { task.next = {1, 1}; }), "server 1 is a member twice");
    expect_defect(broken(3, [](WrittenTask& task) { task.next = {}; }), "an all-reduce without members");
    expect_defect(broken(0, [](WrittenTask& task) { task.next = {70}; }),
                  "task 0 (id 90): ends on server 0, where its successor task 2 (id 70) has no part");
    expect_defect(broken(3,
                         [](WrittenTask& task) {
                             task.next = {0, 2};
                         }),
                  "ends on server 1, where its successor task 3 (id 60) has no part");
    std::vector<WrittenTask> circle = tasks();
    circle.push_back({5, 50, 210, 0, 10, {90}});
    circle[2].next = {50};
    expect_defect(written(circle, devices()), "4 tasks wait for each other: task ");
}

// 40 computations before 40 others take one list of these: 40 · 40 ids of 8 bytes are 12,800 bytes, and the
// file has 80 tables of some 50 bytes. All-reduces of three servers take theirs of one list likewise.
TEST(BrokenFlexFlowGraphs, ListsThatTasksShareAreNoLongerThanTheFile) {
    constexpr std::uint64_t kTasks = 40;
    std::vector<std::uint64_t> successors;
    for (std::uint64_t i = 0; i < kTasks; ++i) {
        successors.push_back(1000 + i);
    }
    std::vector<WrittenTask> list;
    for (std::uint64_t i = 0; i < kTasks; ++i) {
        list.push_back({0, i + 1, 100, 1.0F, 0, successors});
    }
    for (const std::uint64_t id : successors) {
        list.push_back({0, id, 100, 1.0F, 0, {}});
    }
    const std::string own = written(list, devices());
    ASSERT_GT(own.size(), kTasks * kTasks * sizeof(std::uint64_t));
    const Result<FlexFlowGraph> graph = read_flexflow_graph(own, "x.fbuf");
    ASSERT_TRUE(graph) << render(graph.error());
    EXPECT_EQ(graph->tasks[kTasks - 1].successors.size(), kTasks);

    const std::string shared = written(list, devices(), 3, true);
    ASSERT_LT(shared.size(), kTasks * kTasks * sizeof(std::uint64_t) / 2);
    // The first task whose list no longer fits: task t makes (t + 1) · 40 ids of 8 bytes.
    const std::size_t first = shared.size() / sizeof(std::uint64_t) / kTasks;
    expect_defect(shared, "task " + std::to_string(first) + " (id " + std::to_string(first + 1) +
                              "): the tasks up to it list " + std::to_string((first + 1) * kTasks) +
                              " ids in 'nexttasks', and " + std::to_string(shared.size()) + " bytes hold " +
                              std::to_string(shared.size() / sizeof(std::uint64_t)) + " at most");

    std::vector<std::uint64_t> members;
    std::vector<WrittenDevice> gpus;
    for (std::uint64_t server = 0; server < kTasks; ++server) {
        members.push_back(server);
        gpus.push_back({0, 100 + server, server, 0});
    }
    std::vector<WrittenTask> sums;
    for (std::uint64_t i = 0; i < kTasks; ++i) {
        sums.push_back({6, i + 1, 0, 0.1F, 4000, members});
    }
    EXPECT_TRUE(read_flexflow_graph(written(sums, gpus, kTasks), "x.fbuf"));
    expect_defect(written(sums, gpus, kTasks, true), "ids in 'nexttasks'");
}

struct PublicGraph {
    std::string name;
    std::size_t tasks;
    double least_compute;  // ms
    double most_compute;
    double chain;
    std::int64_t transferred;
    std::size_t pairs;
    std::size_t all_reduces;  // of two servers or more
    std::int64_t ring_bytes;
};

/// Names of tests have the graph's, not its bytes.
void PrintTo(const PublicGraph& graph, std::ostream* out) {
    *out << graph.name;
}

class PublicFlexFlowGraphs : public ::testing::TestWithParam<PublicGraph> {};

TEST_P(PublicFlexFlowGraphs, HaveTheirTotals) {
    const PublicGraph& expected = GetParam();
    const std::filesystem::path path = std::filesystem::path(ASTROLABE_SOURCE_DIR).parent_path() /
                                       "shared/data/traces/flexflow" / (expected.name + ".fbuf");
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "the files are not here";
    }
    const Result<FlexFlowGraph> graph = load_flexflow_graph(path);
    ASSERT_TRUE(graph) << render(graph.error());
    EXPECT_EQ(graph->tasks.size(), expected.tasks);
    // A runtime is a float of ms, taken to the nearest ps; sums of a thousand are within 1 ns of the table's.
    const auto milliseconds = [](Time time) { return static_cast<double>(time.count()) / 1e9; };
    EXPECT_NEAR(milliseconds(longest_compute_chain(*graph)), expected.chain, 1e-6);

    const RankGraphs graphs = rank_graphs_of(*graph, 1);
    const GraphSummary summary = summarize(graphs);
    const auto [least, most] = std::ranges::minmax(summary.compute_by_rank);
    EXPECT_NEAR(milliseconds(least), expected.least_compute, 1e-6);
    EXPECT_NEAR(milliseconds(most), expected.most_compute, 1e-6);
    EXPECT_EQ(summary.sent, Bytes(expected.transferred));
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    std::size_t all_reduces = 0;
    std::int64_t ring_bytes = 0;
    for (const FlexFlowTask& task : graph->tasks) {
        if (task.kind == FlexFlowTask::Kind::kTransfer) {
            pairs.emplace(task.server, task.receiver);
        } else if (task.kind == FlexFlowTask::Kind::kAllReduce && task.members.size() > 1) {
            ++all_reduces;
            // n members send 2 (n - 1) parts of S / n each.
            ring_bytes += 2 * (static_cast<std::int64_t>(task.members.size()) - 1) * task.size.count();
        }
    }
    EXPECT_EQ(pairs.size(), expected.pairs);
    EXPECT_EQ(all_reduces, expected.all_reduces);
    EXPECT_EQ(ring_bytes, expected.ring_bytes);
    const Result<system::Program> program = build_program(graphs, {});
    ASSERT_TRUE(program) << render(program.error());
}
INSTANTIATE_TEST_SUITE_P(All, PublicFlexFlowGraphs,
                         ::testing::Values(PublicGraph{"100dlrm_16", 1278, 7.889606, 17.567606, 12.002796,
                                                       1'073'741'824, 230, 46, 8'854'446'200},
                                           PublicGraph{"100vgg_16", 768, 100.476891, 100.476891, 100.476891,
                                                       0, 0, 32, 34'722'298'560},
                                           PublicGraph{"100transformer_16", 2020, 62.201796, 62.201796,
                                                       39.671563, 0, 0, 68, 6'797'076'600},
                                           PublicGraph{"100candle_16", 1580, 94.329762, 113.805529, 80.487436,
                                                       18'522'046'464, 48, 140, 57'676'759'400},
                                           PublicGraph{"100dlrm_32", 3662, 10.052824, 26.133544, 15.984562,
                                                       4'395'630'592, 940, 46, 20'838'588'664}),
                         [](const auto& graph) { return "graph_" + graph.param.name; });

}  // namespace
}  // namespace astrolabe::workload
