/// Execution traces of PyTorch as rank graphs: every schema, real traces counted anew, and what is refused.
#include "execution_trace_text.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <process.hpp>
#include <workload/src/pytorch/call_book.hpp>
#include <workload/src/pytorch/pytorch_traces.hpp>
#include <workload/src/rank_graphs/build_program.hpp>
#include <workload/src/rank_graphs/graph_summary.hpp>
#include <workload/src/rank_graphs/json_records.hpp>
#include <workload/src/rank_graphs/replicate.hpp>

namespace astrolabe::workload {
namespace {

using pytorch::Overlap;
using pytorch::PytorchTraces;
using pytorch::ReadOptions;
using system::CollectiveKind;
using system::RankId;
using testing::execution_trace;
using testing::TemporaryFolder;
using testing::TraceCall;

using Kinds = std::map<CollectiveKind, std::pair<int, std::int64_t>>;  // tasks, and bytes held

/// Collectives of a rank by kind.
Kinds kinds_of(const RankGraph& graph) {
    Kinds kinds;
    for (const RankTask& task : graph.tasks) {
        if (task.kind != TaskKind::kCollective) {
            continue;
        }
        auto& [count, bytes] = kinds[task.collective];
        ++count;
        bytes += task.size.count();
        if (task.splits != RankTask::kNone) {
            for (const Bytes split : graph.splits[task.splits]) {
                bytes += split.count();
            }
        }
    }
    return kinds;
}

std::vector<const RankTask*> tasks_of(const RankGraph& graph, TaskKind kind) {
    std::vector<const RankTask*> tasks;
    for (const RankTask& task : graph.tasks) {
        if (task.kind == kind) {
            tasks.push_back(&task);
        }
    }
    return tasks;
}

/// The text of the errors; empty: it was read and makes a program.
std::string errors_of(const ReadOptions& options) {
    const Result<PytorchTraces> traces = pytorch::read_traces(options);
    if (!traces) {
        return render(traces.error());
    }
    const Result<system::Program> program = build_program(traces->graphs, {});
    return program ? "" : render(program.error());
}

/// What two ranks do in the small traces: an all-reduce of 1,000 floats that is waited for, an exchange in
/// which rank 0 sends 3 and 5 floats and rank 1 sends 2 and 4, and a broadcast of 7 from rank 1.
std::vector<TraceCall> small_calls(int rank) {
    return {{.name = "allreduce", .sequence = 7, .elements = 1000},
            {.name = "all_to_allv",
             .sequence = 8,
             .elements = rank == 0 ? 8 : 6,
             .in_splits = rank == 0 ? std::vector{3, 5} : std::vector{2, 4},
             .out_splits = rank == 0 ? std::vector{3, 2} : std::vector{5, 4},
             .out_elements = rank == 0 ? 5 : 9},
            {.name = "wait", .sequence = 7},
            {.name = "broadcast", .sequence = 9, .elements = 7, .root = 1}};
}

class PytorchTracesTest : public ::testing::Test {
protected:
    /// Writes et.0.json, …: one call list a rank.
    ReadOptions write(std::string_view schema, const std::vector<std::vector<TraceCall>>& ranks) {
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            folder_.write(
                fmt::format("et.{}.json", rank),
                execution_trace(schema, static_cast<int>(ranks.size()), static_cast<int>(rank), ranks[rank])
                    .dump(1));
        }
        return {.execution_traces = {folder_.path().string()}};
    }

    TemporaryFolder folder_;
};

TEST_F(PytorchTracesTest, EverySchemaSaysTheSame) {
    for (const char* schema : {"1.0.1", "1.0.2", "1.0.3", "1.0.4", "1.1.0", "1.1.1"}) {
        const ReadOptions options = write(schema, {small_calls(0), small_calls(1)});
        const Result<PytorchTraces> traces = pytorch::read_traces(options);
        ASSERT_TRUE(traces) << schema << render(traces.error());
        EXPECT_EQ(traces->world_size, 2U);
        ASSERT_EQ(traces->graphs.groups.size(), 1U) << schema;
        EXPECT_EQ(traces->graphs.groups[0], (std::vector{RankId(0), RankId(1)}));
        for (std::size_t rank = 0; rank < 2; ++rank) {
            const RankGraph& graph = traces->graphs.ranks[rank];
            const auto collectives = tasks_of(graph, TaskKind::kCollective);
            ASSERT_EQ(collectives.size(), 3U) << schema;
            EXPECT_EQ(collectives[0]->collective, CollectiveKind::kAllReduce);
            EXPECT_EQ(collectives[0]->size, Bytes(4000));
            EXPECT_EQ(collectives[0]->match, 7U);
            const std::vector<Bytes> expected =
                rank == 0 ? std::vector{Bytes(12), Bytes(20)} : std::vector{Bytes(8), Bytes(16)};
            EXPECT_EQ(graph.splits.at(collectives[1]->splits), expected) << schema;
            EXPECT_EQ(collectives[2]->collective, CollectiveKind::kBroadcast);
            EXPECT_EQ(collectives[2]->size, Bytes(28));
            EXPECT_EQ(collectives[2]->root, 1U);
        }
        EXPECT_TRUE(build_program(traces->graphs, {})) << schema;
    }
}

// all-reduce, exchange, wait for the all-reduce, broadcast. By the replay rule the exchange, for which no
// wait is, is waited for at once, the all-reduce at its wait, the broadcast at once again.
TEST_F(PytorchTracesTest, WhatIsWaitedForIsAsynchronous) {
    ReadOptions options = write("1.1.0", {small_calls(0), small_calls(1)});
    const auto order = [&](Overlap overlap) {
        options.overlap = overlap;
        const Result<PytorchTraces> traces = pytorch::read_traces(options);
        EXPECT_TRUE(traces);
        std::vector<std::string> names;
        for (const RankTask& task : traces->graphs.ranks[0].tasks) {
            names.push_back(traces->graphs.names[task.name]);
        }
        return names;
    };
    EXPECT_EQ(order(Overlap::kWaited),
              (std::vector<std::string>{"allreduce", "all_to_allv", "all_to_allv.wait", "allreduce.wait",
                                        "broadcast", "broadcast.wait", "step.end"}));
    EXPECT_EQ(order(Overlap::kNone),
              (std::vector<std::string>{"allreduce", "allreduce.wait", "all_to_allv", "all_to_allv.wait",
                                        "broadcast", "broadcast.wait", "step.end"}));
    EXPECT_EQ(order(Overlap::kAll), (std::vector<std::string>{"allreduce", "all_to_allv", "allreduce.wait",
                                                              "broadcast", "step.end"}));
}

TEST_F(PytorchTracesTest, GatherAndScatterAreUnevenExchanges) {
    // 6 floats of each for rank 1; rank 0 has 5 for each.
    const auto calls = [](int) {
        return std::vector<TraceCall>{
            {.name = "gather", .sequence = 1, .elements = 6, .root = 1},
            {.name = "scatter", .sequence = 2, .elements = 10, .out_elements = 5, .root = 0}};
    };
    const Result<PytorchTraces> traces = pytorch::read_traces(write("1.0.3", {calls(0), calls(1)}));
    ASSERT_TRUE(traces) << render(traces.error());
    using Splits = std::vector<std::vector<Bytes>>;
    EXPECT_EQ(traces->graphs.ranks[0].splits, (Splits{{Bytes(0), Bytes(24)}, {Bytes(20), Bytes(20)}}));
    EXPECT_EQ(traces->graphs.ranks[1].splits, (Splits{{Bytes(0), Bytes(24)}, {Bytes(0), Bytes(0)}}));
    EXPECT_TRUE(build_program(traces->graphs, {}));
}

TEST_F(PytorchTracesTest, WaitsForRequestsFromBeforeTheTraceAreNoted) {
    const std::vector<TraceCall> calls{{.name = "wait", .sequence = 3},
                                       {.name = "allreduce", .sequence = 4, .elements = 1}};
    const Result<PytorchTraces> traces = pytorch::read_traces(write("1.0.2", {calls, calls}));
    ASSERT_TRUE(traces);
    EXPECT_EQ(traces->notes,
              (std::vector<std::string>{"every rank: 1 calls are waited for by nothing in the trace",
                                        "every rank: 1 waits are for requests from before the trace"}));
}

// ---- Real traces ----

class RealTraces : public ::testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(folder_)) {
            GTEST_SKIP() << "no public traces at hand";
        }
    }
    [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] nlohmann::json unpacked(const std::string& name) const {
        return nlohmann::json::parse(astrolabe::testing::run_program("gzip", {"-dc", file(name)}).out);
    }
    [[nodiscard]] ReadOptions dlrm(bool with_times) const {
        ReadOptions options{.execution_traces = {file("pytorch/dlrm-8xV100/et.{rank}.json.gz")}};
        if (with_times) {
            options.kineto = {file("pytorch/dlrm-8xV100/kineto.{rank}.json.gz")};
        }
        return options;
    }

    std::filesystem::path folder_ = std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/traces";
};

// A plain loop over the JSON: elements × size of the first tensor, splits × size.
TEST_F(RealTraces, TheDlrmStepHasItsExchangesToTheByte) {
    const Result<PytorchTraces> traces = pytorch::read_traces(dlrm(false));
    ASSERT_TRUE(traces) << render(traces.error());
    ASSERT_EQ(traces->graphs.ranks.size(), 8U);
    for (std::size_t rank = 0; rank < 8; ++rank) {
        std::vector<std::pair<std::string, std::int64_t>> counted;
        std::vector<std::vector<Bytes>> counted_splits;
        nlohmann::json nodes = unpacked(fmt::format("pytorch/dlrm-8xV100/et.{}.json.gz", rank))["nodes"];
        std::sort(nodes.begin(), nodes.end(),
                  [](const auto& one, const auto& other) { return one["id"] < other["id"]; });
        for (const nlohmann::json& node : nodes) {
            if (node["name"] != "record_param_comms" || node["inputs"][0].is_number()) {
                continue;
            }
            const nlohmann::json& inputs = node["inputs"];
            const nlohmann::json& tensor = inputs[0][0].is_array() ? inputs[0][0] : inputs[0];
            const auto size = tensor[4].get<std::int64_t>();
            counted.emplace_back(inputs[4], tensor[3].get<std::int64_t>() * size);
            if (!inputs[5].empty()) {
                std::vector<Bytes>& splits = counted_splits.emplace_back();
                for (const nlohmann::json& split : inputs[5]) {
                    splits.emplace_back(split.get<std::int64_t>() * size);
                }
            }
        }
        const RankGraph& graph = traces->graphs.ranks[rank];
        std::vector<std::pair<std::string, std::int64_t>> read;
        std::vector<std::vector<Bytes>> read_splits;
        for (const RankTask* task : tasks_of(graph, TaskKind::kCollective)) {
            std::int64_t bytes = task->size.count();
            if (task->splits != RankTask::kNone) {
                read_splits.push_back(graph.splits[task->splits]);
                for (const Bytes split : graph.splits[task->splits]) {
                    bytes += split.count();
                }
            }
            read.emplace_back(traces->graphs.names[task->name], bytes);
        }
        EXPECT_EQ(read, counted) << rank;
        EXPECT_EQ(read_splits, counted_splits) << rank;
        const std::vector<std::pair<std::string, std::int64_t>> stated{
            {"all_to_allv", 24'576}, {"all_to_all", 192},      {"all_to_allv", 1'536},
            {"all_to_allv", 13'568}, {"allreduce", 1'576'964}, {"all_to_allv", 24'576},
            {"allreduce", 448},      {"allreduce", 907'840}};
        EXPECT_EQ(read, stated) << rank;
        // Every rank sends the indices by receiver: 96, 224, 288, 1,664, 592, 96, 192 and 240 of 4 bytes.
        EXPECT_EQ(graph.splits.at(2), (std::vector{Bytes(384), Bytes(896), Bytes(1152), Bytes(6656),
                                                   Bytes(2368), Bytes(384), Bytes(768), Bytes(960)}))
            << rank;
    }
    // No wait is for the three all-reduces and for the two exchanges of the next step's input.
    EXPECT_EQ(traces->notes,
              (std::vector<std::string>{"every rank: 2 waits are for requests from before the trace",
                                        "every rank: 5 calls are waited for by nothing in the trace"}));
    EXPECT_TRUE(build_program(traces->graphs, {}));
}

// Durations of kernels, copies and fills, but for NCCL's, are all computed on the streams of the device; and
// host threads compute no longer than the step took.
TEST_F(RealTraces, TheDlrmStepComputesWhatItsKernelsTook) {
    const Result<PytorchTraces> traces = pytorch::read_traces(dlrm(true));
    ASSERT_TRUE(traces) << render(traces.error());
    const auto host = static_cast<std::uint16_t>(
        std::find_if(traces->graphs.streams.begin(), traces->graphs.streams.end(),
                     [](const StreamName& stream) { return stream.name == "host"; }) -
        traces->graphs.streams.begin());
    for (std::size_t rank = 0; rank < 8; ++rank) {
        const nlohmann::json events =
            unpacked(fmt::format("pytorch/dlrm-8xV100/kineto.{}.json.gz", rank))["traceEvents"];
        // Ranks 1 and 3 still ran 64 kernels of the step before, whose launches the trace does not have.
        std::set<std::int64_t> launches;
        for (const nlohmann::json& event : events) {
            if (event.value("cat", "") == "cuda_runtime") {
                launches.insert(event["args"]["correlation"].get<std::int64_t>());
            }
        }
        Time device;
        std::size_t kernels = 0;
        std::size_t left_out = 0;
        Time step;
        for (const nlohmann::json& event : events) {
            const std::string kind = event.value("cat", "");
            const std::string name = event.value("name", "");
            if (event.value("ph", "") != "X") {
                continue;
            }
            if (name.starts_with("ProfilerStep#")) {
                step = Time(event["dur"].get<std::int64_t>() * 1'000'000);
            } else if ((kind == "kernel" || kind == "gpu_memcpy" || kind == "gpu_memset") &&
                       !name.starts_with("nccl")) {
                if (!launches.contains(event["args"]["correlation"].get<std::int64_t>())) {
                    ++left_out;
                    continue;
                }
                device += Time(event["dur"].get<std::int64_t>() * 1'000'000);
                ++kernels;
            }
        }
        Time computed;
        std::size_t tasks = 0;
        Time on_host;
        for (const RankTask* task : tasks_of(traces->graphs.ranks[rank], TaskKind::kCompute)) {
            const std::string& stream = traces->graphs.streams[task->stream].name;
            if (stream.starts_with("host")) {
                on_host += task->stream == host ? task->duration : Time(0);
            } else {
                computed += task->duration;
                ++tasks;
            }
        }
        EXPECT_EQ(computed, device) << rank;
        EXPECT_EQ(tasks, kernels) << rank;
        EXPECT_EQ(left_out, rank == 1 || rank == 3 ? 64U : 0U);
        EXPECT_LT(on_host, step) << rank;
        EXPECT_GT(on_host, step / 3) << rank;
        // The same calls as the execution trace alone has.
        EXPECT_EQ(kinds_of(traces->graphs.ranks[rank]), (Kinds{{CollectiveKind::kAllReduce, {3, 2'485'252}},
                                                               {CollectiveKind::kAllToAll, {5, 64'448}}}));
    }
    EXPECT_TRUE(build_program(traces->graphs, {}));
}

TEST_F(RealTraces, ResnetOfOneOfTwoRanksIsReplicated) {
    const Result<PytorchTraces> traces = pytorch::read_traces(
        {.execution_traces = {file("pytorch/other/resnet_2gpu_rank1_et-1.1.0.json.gz")}});
    ASSERT_TRUE(traces) << render(traces.error());
    EXPECT_EQ(traces->ranks, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(traces->world_size, 2U);
    EXPECT_EQ(traces->graphs.iterations, 3);
    EXPECT_EQ(kinds_of(traces->graphs.ranks[0]), (Kinds{{CollectiveKind::kAllReduce, {15, 306'684'384}},
                                                        {CollectiveKind::kBroadcast, {6, 638'712}}}));
    for (const std::size_t ranks : {2U, 5U, 16U}) {
        const Result<RankGraphs> all = replicate(traces->graphs, traces->world_size, ranks);
        ASSERT_TRUE(all);
        const Result<system::Program> program = build_program(*all, {});
        ASSERT_TRUE(program) << render(program.error());
        EXPECT_EQ(program->ranks, ranks);
        // All ranks do the same: one operation for each of their tasks.
        EXPECT_EQ(program->operations.size(), traces->graphs.ranks[0].tasks.size());
    }
}

TEST_F(RealTraces, OtherExecutionTraces) {
    const auto read = [&](const std::string& name) {
        const Result<PytorchTraces> traces =
            pytorch::read_traces({.execution_traces = {file("pytorch/other/" + name)}});
        EXPECT_TRUE(traces) << render(traces.error());
        return *traces;
    };
    const PytorchTraces gather = read("allgather_et-1.0.2.json.gz");
    EXPECT_EQ(gather.world_size, 2U);
    EXPECT_EQ(kinds_of(gather.graphs.ranks[0]), (Kinds{{CollectiveKind::kAllGather, {10, 40}}}));
    const PytorchTraces linear = read("linear_et-1.0.1.json.gz");
    EXPECT_TRUE(kinds_of(linear.graphs.ranks[0]).empty());
    EXPECT_EQ(linear.world_size, 1U);
    EXPECT_EQ(read("pt2_et-1.1.1.json.gz").graphs.iterations, 2);
}

// 21 collectives on stream 40, 2,679 kernels, 960 copies and 114 fills on stream 7, in three steps.
TEST_F(RealTraces, TimelinesWithSizesNeedNoExecutionTrace) {
    const Result<PytorchTraces> traces =
        pytorch::read_traces({.kineto = {file("kineto/resnet_2gpu_rank0_kineto.json.gz")}});
    ASSERT_TRUE(traces) << render(traces.error());
    EXPECT_EQ(traces->world_size, 2U);
    EXPECT_EQ(traces->graphs.iterations, 3);
    const RankGraph& graph = traces->graphs.ranks[0];
    EXPECT_EQ(kinds_of(graph), (Kinds{{CollectiveKind::kAllReduce, {15, 306'684'384}},
                                      {CollectiveKind::kBroadcast, {6, 638'712}}}));
    const auto computations = tasks_of(graph, TaskKind::kCompute);
    EXPECT_EQ(std::count_if(computations.begin(), computations.end(),
                            [](const RankTask* task) { return task->stream == 0; }),
              2679 + 960 + 114);
    const Result<RankGraphs> all = replicate(traces->graphs, 2, 4);
    ASSERT_TRUE(all);
    EXPECT_TRUE(build_program(*all, {}));
}

TEST_F(RealTraces, TimelinesWithoutSizesAskForExecutionTraces) {
    const std::string trace = file("kineto/dlrm128_sampled_rank-0.json.gz");
    const std::string text = errors_of({.kineto = {trace}});
    EXPECT_NE(text.find("nothing says how many bytes kernel 'ncclKernel_SendRecv"), std::string::npos)
        << text;
    EXPECT_NE(text.find("give the execution traces too"), std::string::npos) << text;
    EXPECT_EQ(text.find("error["), text.rfind("error[")) << "one error for all kernels";
    const Result<PytorchTraces> lenient = pytorch::read_traces({.kineto = {trace}, .lenient = true});
    ASSERT_TRUE(lenient) << render(lenient.error());
    EXPECT_EQ(lenient->world_size, 128U);
    EXPECT_EQ(lenient->graphs.iterations, 2);
    EXPECT_TRUE(kinds_of(lenient->graphs.ranks[0]).empty());
}

// The second kernel's stream 24 waits for what stream 20 had been given.
TEST_F(RealTraces, StreamsWaitForEventsThatTheProfilerNames) {
    const Result<PytorchTraces> traces =
        pytorch::read_traces({.kineto = {file("kineto/event_sync_3_streams.json.gz")}});
    ASSERT_TRUE(traces) << render(traces.error());
    const RankGraph& graph = traces->graphs.ranks[0];
    const auto stream_of = [&](std::uint32_t place) {
        return traces->graphs.streams[graph.tasks[place].stream].name;
    };
    std::map<std::string, std::vector<std::string>> waits;  // by stream: streams of what it waits for
    for (std::uint32_t i = 0; i < graph.tasks.size(); ++i) {
        for (const std::uint32_t dependency : graph.dependencies(i)) {
            if (stream_of(i) != stream_of(dependency) && !stream_of(dependency).starts_with("host") &&
                !stream_of(i).starts_with("host")) {
                waits[stream_of(i)].push_back(stream_of(dependency));
            }
        }
    }
    // Stream 20, the first of those with most kernels, is "compute".
    EXPECT_EQ(waits, (std::map<std::string, std::vector<std::string>>{{"stream 24", {"compute"}}}));
}

// ---- Records of a long list ----

class JsonRecordsTest : public ::testing::Test {
protected:
    /// The ids of the records of a list "nodes", or the error.
    std::string read(const std::string& text, const JsonLimits& most = {}) {
        const auto path = folder_.write("x.json", text);
        std::string ids;
        const Result<nlohmann::json> rest = read_json_records(
            path, "nodes",
            [&](JsonRecord& record) {
                ids += fmt::format("{}:{} ", record.line, record.value.at("id").dump());
                return true;
            },
            most);
        return rest ? ids + rest->dump() : render(rest.error());
    }

    TemporaryFolder folder_;
};

TEST_F(JsonRecordsTest, HoldsOneRecordAndWhatIsBesideTheList) {
    // Pieces of 65,536 bytes; limits are looked at between them. Ten records of 80,000 bytes are let go of.
    const JsonLimits most{.held = 200'000, .records = 10, .bytes = 2'000'000};
    const auto record = [](int id, std::size_t bytes) {
        return fmt::format("{{\"id\": {}, \"name\": \"{}\"}}", id, std::string(bytes, 'x'));
    };
    std::string list;
    for (int id = 0; id < 9; ++id) {
        list += record(id, 80'000) + ",\n";
    }
    const std::string start = "{\"schema\": 1,\n\"nodes\": [\n";
    EXPECT_EQ(read(start + list + record(9, 80'000) + "]}", most),
              "3:0 4:1 5:2 6:3 7:4 8:5 9:6 10:7 11:8 12:9 {\"nodes\":[],\"schema\":1}");
    // The tenth, on line 12, is refused before its 400,000 bytes are read.
    const std::string large = read(start + list + record(9, 400'000) + "]}", most);
    EXPECT_NE(large.find("x.json:12:"), std::string::npos) << large;
    EXPECT_NE(
        large.find("error[trace.limit]: a record, with what is beside the list, of more than 200000 bytes"),
        std::string::npos)
        << large;
    // 150,000 bytes before the lists and as many behind them are held, the 80,000 of a record are not.
    const std::string beside = "\"a\": \"" + std::string(150'000, 'x') + "\"";
    EXPECT_EQ(read("{" + beside + ", \"nodes\": [" + record(1, 80'000) + "]}", most).substr(0, 4), "1:1 ");
    EXPECT_NE(read("{" + beside + ", \"nodes\": [" + record(1, 80'000) + "], \"nodes\": [" + record(2, 9) +
                       "], \"b\": \"" + std::string(150'000, 'x') + "\"}",
                   most)
                  .find("of more than 200000 bytes"),
              std::string::npos);
    const std::string many = read(start + list + "{\"id\": 9}, {\"id\": 10}]}", most);
    EXPECT_NE(many.find("x.json:12:"), std::string::npos) << many;
    EXPECT_NE(many.find("more than 10 records"), std::string::npos) << many;
    EXPECT_NE(read(start + std::string(2'100'000, '\n') + "]}", {.bytes = 2'000'000})
                  .find("more than 2000000 bytes"),
              std::string::npos);
    EXPECT_EQ(JsonLimits{}.held, 16'777'216U);
}

TEST_F(JsonRecordsTest, SaysTheBracketThatNestsTooDeep) {
    // The object's is the first: the 100th of these is the 101st, in column 8 + 100.
    const std::string deep = read("{\n\"nodes\":" + std::string(200, '['));
    EXPECT_NE(
        deep.find(
            "x.json:2:108: error[trace.limit]: its lists and objects are more than 100 inside each other"),
        std::string::npos)
        << deep;
}

// ---- Groups that few bytes say ----

/// 40 groups of 2^24 ranks would be 2.6 GB as lists.
constexpr std::int64_t kManyRanks = 16'777'216;

TEST(GroupRanks, AListAndRanksAtEqualDistancesSayTheSame) {
    // 3, 8, 13, 18
    const auto spaced = pytorch::GroupRanks::spaced(3, 5, 4);
    const pytorch::GroupRanks list({3, 8, 13, 18});
    for (const pytorch::GroupRanks& ranks : {spaced, list}) {
        ASSERT_EQ(ranks.size(), 4U);
        EXPECT_EQ(ranks[2], 13U);
        EXPECT_EQ(ranks.greatest(), 18U);
        EXPECT_EQ(ranks.position_of(13), 2U);
        for (const std::uint32_t other : {0U, 2U, 4U, 12U, 19U, 23U}) {
            EXPECT_EQ(ranks.position_of(other), std::nullopt) << other;
        }
        EXPECT_EQ(ranks.repeated(), std::nullopt);
    }
    EXPECT_NE(spaced.spacing(), list.spacing());
    const pytorch::GroupRanks unordered({9, 2, 7, 2});
    EXPECT_EQ(unordered.position_of(9), 0U);
    EXPECT_EQ(unordered.position_of(2), 1U);
    EXPECT_EQ(unordered.greatest(), 9U);
    EXPECT_EQ(unordered.repeated(), 2U);
    EXPECT_TRUE(pytorch::GroupRanks().empty());
    EXPECT_EQ(pytorch::GroupRanks().position_of(0), std::nullopt);
}

TEST(ProcessGroups, OfASizeAloneTakeNoMemory) {
    nlohmann::json list = nlohmann::json::array();
    for (int group = 0; group < 40; ++group) {
        list.push_back({{"pg_name", fmt::format("k{}", group)},
                        {"pg_size", kManyRanks - group},
                        {"ranks", nlohmann::json::array()}});
    }
    pytorch::ProcessGroups groups;
    std::int64_t world_size = 0;
    ASSERT_TRUE(pytorch::add_process_groups(list, groups, world_size));
    EXPECT_EQ(world_size, kManyRanks);
    ASSERT_EQ(groups.size(), 40U);
    EXPECT_EQ(groups["k39"].size(), static_cast<std::size_t>(kManyRanks - 39));
    EXPECT_EQ(groups["k39"].greatest(), static_cast<std::uint32_t>(kManyRanks - 40));
    EXPECT_NE(groups["k39"].spacing(), pytorch::GroupRanks::Spacing());
}

TEST_F(PytorchTracesTest, GroupsOfCallsAreFirstStrideAndSize) {
    std::vector<TraceCall> calls;
    for (int call = 0; call < 40; ++call) {
        calls.push_back({.name = "allreduce", .sequence = call, .elements = 1});
    }
    const auto path =
        folder_.write("et.0.json", execution_trace("1.0.3", static_cast<int>(kManyRanks), 0, calls).dump());
    const Result<pytorch::ExecutionTrace> trace = pytorch::read_execution_trace(path, false);
    ASSERT_TRUE(trace) << render(trace.error());
    EXPECT_EQ(trace->world_size, kManyRanks);
    ASSERT_EQ(trace->calls.size(), 40U);
    for (const pytorch::CommCall& call : trace->calls) {
        EXPECT_EQ(call.ranks.spacing(), pytorch::GroupRanks::Spacing(0, 1, kManyRanks));
    }
}

TEST(CallBook, RefusesMoreMembersThanItHolds) {
    RankGraphs graphs;
    RankGraph graph;
    graph.source = "et.0.json";
    pytorch::CallBook book(graphs, 8, {.members = 12, .shares = 20});
    const pytorch::GroupNames names{0, {}, {}};
    Diagnostics errors;
    const auto task_of = [&](const char* name, std::uint32_t stride, std::size_t count) {
        pytorch::CommCall call;
        call.line = 7;
        call.name = name;
        call.meaning = pytorch::meaning_of(name).value();
        call.group = fmt::format("{} ranks", count);
        call.ranks = pytorch::GroupRanks::spaced(0, stride, count);
        return book.task_of(call, names, graph, errors);
    };
    // 8 and 4 members: a group that is known adds none.
    EXPECT_TRUE(task_of("allreduce", 1, 8));
    EXPECT_TRUE(task_of("allreduce", 2, 4));
    EXPECT_TRUE(task_of("allreduce", 1, 8));
    EXPECT_TRUE(errors.empty()) << render(errors);
    EXPECT_FALSE(task_of("allreduce", 1, 2));
    EXPECT_NE(render(errors).find("et.0.json:7:0: error[pytorch.group]"), std::string::npos) << render(errors);
    EXPECT_NE(render(errors).find("with its group '2 ranks' of 2 ranks all groups have 14 members"),
              std::string::npos)
        << render(errors);
    // Messages need no group of the graphs.
    errors.clear();
    EXPECT_TRUE(task_of("send", 1, 3));
    // Two gathers have 16 shares of the 20, a third has 24.
    EXPECT_TRUE(task_of("gather", 1, 8));
    EXPECT_TRUE(task_of("scatter", 1, 8));
    EXPECT_FALSE(task_of("gather", 1, 8));
    EXPECT_NE(render(errors).find("gathers and scatters up to this one, of 8 ranks, have 24 members"),
              std::string::npos)
        << render(errors);
}

// ---- What is refused ----

TEST_F(PytorchTracesTest, ErrorsSayWhereAndWhat) {
    const auto calls = [](int rank) { return small_calls(rank); };
    const auto broken = [&](std::string_view schema, const auto& change) {
        const ReadOptions options = write(schema, {calls(0), calls(1)});
        nlohmann::json trace = execution_trace(schema, 2, 1, calls(1));
        change(trace);
        folder_.write("et.1.json", trace.dump(1));
        return errors_of(options);
    };
    const auto expect = [](const std::string& text, std::initializer_list<const char*> parts) {
        EXPECT_EQ(text.find("error["), text.rfind("error[")) << "one error: " << text;
        for (const char* part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
        }
    };
    expect(broken("1.1.0", [](auto& trace) { trace["nodes"][1]["inputs"]["values"][0][0][3] = -5; }),
           {"et.1.json:", "node 10: a tensor of -5 elements"});
    expect(broken("1.1.0", [](auto& trace) { trace["nodes"][1]["attrs"][2]["value"] = -5; }),
           {"et.1.json:", "node 10: 'in_msg_nelems' is -5"});
    expect(broken("1.0.3",
                  [](auto& trace) {
                      trace["nodes"][2]["inputs"]["values"][5] = {2, 5};
                  }),
           {"et.1.json:", "node 13: the input splits sum to 7, and the tensor has 6 elements"});
    expect(broken("1.0.3",
                  [](auto& trace) {
                      trace["nodes"][2]["inputs"]["values"][5] = {2, 2, 2};
                  }),
           {"et.1.json:", "call 13 'all_to_allv': 3 splits for a group of 2 ranks"});
    expect(broken("1.0.3",
                  [](auto& trace) {
                      trace["nodes"][2]["inputs"]["values"][6] = {4, 5};
                  }),
           {"et.1.json", "rank 1 expects 16 bytes of rank 0, which sends 20"});
    expect(broken("1.0.1", [](auto& trace) { trace["nodes"][0]["inputs"][4] = "all_red"; }),
           {"et.1.json:", "node 10: operation 'all_red' is not known", "lenient: true"});
    expect(broken("1.0.1", [](auto& trace) { trace["nodes"][1]["id"] = 10; }),
           {"et.1.json:", "node 10: line", "has a node of this id too"});
    expect(broken("1.0.3",
                  [](auto& trace) {
                      trace["nodes"][1]["ctrl_deps"] = 13;
                      trace["nodes"][2]["ctrl_deps"] = 10;
                  }),
           {"et.1.json:", "its enclosing call", "is inside it"});
    expect(broken("1.0.3", [](auto& trace) { trace["schema"] = "9.0"; }),
           {"et.1.json", "schema '9.0' is not known", "1.0.1 to 1.1.1"});
    expect(broken("1.1.0", [](auto& trace) { trace["nodes"].erase(4); }),
           {"rank 0", "never take part in its collective 9"});
    expect(broken("1.0.4", [](auto& trace) { trace["nodes"][1]["inputs"]["values"][9] = 3; }),
           {"et.1.json:", "call 10 'allreduce': its group '0' has 3 ranks here, and 2 in the list"});
}

TEST_F(PytorchTracesTest, DamagedFilesAreRefused) {
    ReadOptions options = write("1.1.0", {small_calls(0), small_calls(1)});
    const std::string whole = astrolabe::testing::read_file(folder_.path() / "et.1.json");
    for (const std::size_t size : {whole.size() / 3, whole.size() / 2, whole.size() - 2}) {
        folder_.write("et.1.json", whole.substr(0, size));
        const std::string text = errors_of(options);
        EXPECT_NE(text.find("et.1.json:"), std::string::npos) << text;
        EXPECT_NE(text.find("no JSON"), std::string::npos) << text;
        EXPECT_NE(text.find("the file is cut off"), std::string::npos) << text;
    }
    folder_.write("et.1.json", "{\"schema\": \"1.1.0\", \"pid\": 3}");
    EXPECT_NE(errors_of(options).find("has no list 'nodes'"), std::string::npos);
    options.execution_traces = {(folder_.path() / "et.{rank}.jsonl").string()};
    EXPECT_NE(errors_of(options).find("no such traces are there"), std::string::npos);
    options.execution_traces = {(folder_.path() / "missing.json").string()};
    EXPECT_NE(errors_of(options).find("no such file"), std::string::npos);
}

// ---- Replication ----

TEST_F(PytorchTracesTest, UnevenExchangesGrowInCopies) {
    const Result<PytorchTraces> traces =
        pytorch::read_traces(write("1.1.0", {small_calls(0), small_calls(1)}));
    ASSERT_TRUE(traces);
    const Result<RankGraphs> all = replicate(traces->graphs, 2, 6);
    ASSERT_TRUE(all) << render(all.error());
    // Rank 0 sends 12 bytes to the copies 0, 2, 4 of rank 0 and 20 to 1, 3, 5: 20/3 as 6, 7, 7.
    const std::vector<Bytes> expected{Bytes(4), Bytes(6), Bytes(4), Bytes(7), Bytes(4), Bytes(7)};
    for (const std::size_t rank : {0U, 2U, 4U}) {
        EXPECT_EQ(all->ranks[rank].splits[0], expected);
    }
    for (const RankGraph& graph : all->ranks) {
        EXPECT_EQ(
            kinds_of(graph),
            kinds_of(traces->graphs.ranks[&graph == &all->ranks[0]
                                              ? 0
                                              : static_cast<std::size_t>(&graph - all->ranks.data()) % 2]));
    }
    EXPECT_TRUE(build_program(*all, {}));
    const Result<RankGraphs> refused = replicate(traces->graphs, 2, 5);
    ASSERT_FALSE(refused);
    EXPECT_NE(render(refused.error()).find("5 ranks are no multiple of the 2 recorded"), std::string::npos);
}

TEST(Replicate, SendsAndGroupsOfAPartAreRefused) {
    RankGraphs graphs;
    graphs.ranks.resize(4);
    RankTask send;
    send.kind = TaskKind::kSend;
    send.peer = 1;
    send.name = graphs.name("send");
    graphs.ranks[0].add(send, {});
    RankTask part;
    part.kind = TaskKind::kCollective;
    part.name = graphs.name("part");
    part.group = graphs.group({RankId(0), RankId(1)}, "pair");
    graphs.ranks[0].add(part, {});
    const Result<RankGraphs> refused = replicate(graphs, 4, 8);
    ASSERT_FALSE(refused);
    ASSERT_EQ(refused.error().size(), 2U);
    EXPECT_NE(refused.error()[0].message.find("which rank's messages"), std::string::npos);
    EXPECT_NE(refused.error()[1].message.find("'pair' of 2 of the 4 recorded ranks"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::workload
