/// Runs of traces of PyTorch: small ones to the picosecond, the recorded step of a DLRM on every engine.
#include "small_experiment.hpp"
#include "tests/unit/workload/execution_trace_text.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <process.hpp>
#include <workload/src/pytorch/param_traces.hpp>
#include <workload/src/rank_graphs/build_program.hpp>
#include <workload/src/rank_graphs/program_graphs.hpp>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/workload/traces/trace_export.hpp>

namespace astrolabe::experiment {
namespace {

using namespace astrolabe::literals;
using testing::execution_trace;
using testing::TemporaryFolder;
using testing::TraceCall;

Result<Experiment> load(const std::string& workload, std::size_t ranks, std::vector<std::string> more) {
    static const Components kParts = builtin_components();
    more.insert(more.begin(), {"workload=" + workload, fmt::format("cluster.ranks={}", ranks)});
    return testing::load_small(kParts, std::move(more));
}

/// A message takes 1 us and 1 ns a byte.
std::vector<std::string> slow_network(std::size_t ranks) {
    return {fmt::format("network.hosts={}", ranks), "network.link.rate=8Gbps",
            "backend={kind: congestion_free}", "cluster.collectives.all_reduce.algorithm=direct"};
}

Time total_of(const std::string& workload, std::size_t ranks, std::vector<std::string> more) {
    const Result<Experiment> experiment = load(workload, ranks, std::move(more));
    EXPECT_TRUE(experiment) << render(experiment.error());
    return experiment ? run_experiment(*experiment, {}).execution.total : Time();
}

// An all-reduce of 1,000 floats on 2 ranks takes 2 · (1 + 2) us, then an exchange in which the longest
// message has 5 floats, 1.020 us. Waited for at once they follow one another; the group keeps their order
// anyway.
TEST(PytorchRun, ExecutionTracesTakeTheTimeOfTheirCommunication) {
    const TemporaryFolder folder;
    for (const int rank : {0, 1}) {
        folder.write(fmt::format("et.{}.json", rank),
                     execution_trace("1.1.1", 2, rank,
                                     {{.name = "allreduce", .sequence = 1, .elements = 1000},
                                      {.name = "all_to_allv",
                                       .sequence = 2,
                                       .elements = rank == 0 ? 8 : 6,
                                       .in_splits = rank == 0 ? std::vector{3, 5} : std::vector{2, 4},
                                       .out_splits = rank == 0 ? std::vector{3, 2} : std::vector{5, 4},
                                       .out_elements = rank == 0 ? 5 : 9}})
                         .dump());
    }
    const std::string traces = fmt::format("execution_traces: {}", folder.path().string());
    EXPECT_EQ(total_of(fmt::format("{{kind: pytorch, {}}}", traces), 2, slow_network(2)), 6_us + 1020_ns);
    EXPECT_EQ(total_of(fmt::format("{{kind: pytorch, {}, overlap: all}}", traces), 2, slow_network(2)),
              6_us + 1020_ns);
    // On 4 ranks each has the same bytes: 2 · (1 + 1) us; 20 bytes for the copies of rank 1 are 10 for each.
    EXPECT_EQ(
        total_of(fmt::format("{{kind: pytorch, {}, replicate: data_parallel}}", traces), 4, slow_network(4)),
        4_us + 1010_ns);
    const Result<Experiment> few = load(fmt::format("{{kind: pytorch, {}}}", traces), 4, slow_network(4));
    ASSERT_FALSE(few);
    EXPECT_NE(render(few.error()).find("there are traces of 2 ranks, and the cluster has 4"),
              std::string::npos)
        << render(few.error());
    const Result<Experiment> three =
        load(fmt::format("{{kind: pytorch, {}, replicate: data_parallel}}", traces), 3, slow_network(3));
    ASSERT_FALSE(three);
    EXPECT_NE(render(three.error()).find("use a multiple of 2 ranks"), std::string::npos)
        << render(three.error());
}

// Host: 18 us until the first kernel's launch, 26 more until the all-reduce's, 18 more until the second
// kernel's, then 18 us, a synchronisation that needs 10 us by itself, and 10 us. The second kernel takes 5 us
// and waits for the all-reduce, which is issued at 44 us and takes 2 · (1 us + half its bytes in ns).
TEST(PytorchRun, ATimelineTakesItsTimeOnAnotherNetwork) {
    const auto total = [](int elements) {
        const TemporaryFolder folder;
        for (const int rank : {0, 1}) {
            const auto event = [](const char* category, const char* name, double start, double end,
                                  const std::string& arguments) {
                return fmt::format(
                    R"({{"ph": "X", "cat": "{}", "name": "{}", "tid": 1, "ts": {}, "dur": {}, "args": {{{}}}}})",
                    category, name, start, end - start, arguments);
            };
            const std::vector<std::string> events{
                event("user_annotation", "ProfilerStep#3", 0, 100, ""),
                event("cpu_op", "aten::mm", 10, 20, ""),
                event("cuda_runtime", "cudaLaunchKernel", 14, 18, R"("correlation": 1)"),
                event("kernel", "gemm", 19, 29, R"("correlation": 1, "stream": 7)"),
                event("cpu_op", "record_param_comms", 30, 50,
                      fmt::format(
                          R"("Collective name": "allreduce", "In msg nelems": {0}, "Out msg nelems": {0},
                                  "Group size": 2, "dtype": "Float", "Process Group Ranks": "[0, 1]")",
                          elements)),
                event("cuda_runtime", "cudaLaunchKernel", 40, 44, R"("correlation": 2)"),
                event("kernel", "ncclDevKernel_AllReduce", 46, 70, R"("correlation": 2, "stream": 40)"),
                event("cpu_op", "record_param_comms", 52, 54,
                      R"("Collective name": "wait", "Group size": 1, "dtype": "Byte")"),
                event("cuda_runtime", "cudaLaunchKernel", 58, 62, R"("correlation": 3)"),
                event("kernel", "relu", 71, 76, R"("correlation": 3, "stream": 7)"),
                event("cuda_runtime", "cudaDeviceSynchronize", 80, 90, R"("correlation": 4)")};
            folder.write(
                fmt::format("rank{}.json", rank),
                fmt::format(R"({{"schemaVersion": 1, "distributedInfo": {{"rank": {}, "world_size": 2}},
                                     "traceEvents": [{}]}})",
                            rank, fmt::join(events, ",\n")));
        }
        return total_of(fmt::format("{{kind: pytorch, kineto: {}}}", folder.path().string()), 2,
                        slow_network(2));
    };
    // 6 us: over at 50, so the kernel runs from 62 to 67 and the host decides.
    EXPECT_EQ(total(1000), 100_us);
    // 2 · (1 + 49) us: over at 144, the kernel at 149; then 10 us of the synchronisation, and 10.
    EXPECT_EQ(total(24'500), 169_us);
}

// A product of 10 × 10 by 10 × 10: 2,000 FLOP at 1 TFLOP/s take 2 ns, 1,200 B at 100 GB/s 12 ns; beside it an
// all-reduce of 2 · (1 + 2) us.
TEST(PytorchRun, ParamTracesComputeByTheRoofline) {
    const TemporaryFolder folder;
    const std::string trace = R"([
{"comms": "all_reduce", "dtype": "float", "in_msg_size": 1000, "out_msg_size": 1000, "world_size": 2, "req": 1},
{"compute": "gemm", "mm_dim": 10, "dtype": "float", "count": 1000},
{"comms": "wait", "req": 1},
{"compute": "gemm", "mm_dim": 10, "dtype": "float"}])";
    folder.write("0.json", trace);
    folder.write("1.json", trace);
    const std::string traces = fmt::format("traces: {}", folder.path().string());
    // The product of 12 us hides the all-reduce; without overlap it follows.
    EXPECT_EQ(total_of(fmt::format("{{kind: param, {}}}", traces), 2, slow_network(2)), 12_us + 12_ns);
    EXPECT_EQ(total_of(fmt::format("{{kind: param, {}, overlap: none}}", traces), 2, slow_network(2)),
              6_us + 12_us + 12_ns);
    // One trace of the two for 4 ranks: 2 · (1 + 1) us.
    EXPECT_EQ(total_of(fmt::format("{{kind: param, traces: {}, overlap: none, replicate: data_parallel}}",
                                   (folder.path() / "0.json").string()),
                       4, slow_network(4)),
              4_us + 12_us + 12_ns);
}

/// What a rank has of the collectives of a list: kind, members, bytes held.
using HeldCollective = std::tuple<system::CollectiveKind, std::vector<system::RankId>, std::int64_t>;

std::vector<HeldCollective> held_by(const workload::RankGraphs& graphs, const workload::RankGraph& rank) {
    std::vector<HeldCollective> held;
    for (const workload::RankTask& task : rank.tasks) {
        if (task.kind != workload::TaskKind::kCollective) {
            continue;
        }
        std::int64_t bytes = task.size.count();
        if (task.splits != workload::RankTask::kNone) {
            bytes = 0;
            for (const Bytes split : rank.splits[task.splits]) {
                bytes += split.count();
            }
        }
        held.emplace_back(task.collective, graphs.groups[task.group], bytes);
    }
    return held;
}

// Every rank's collectives come back with their kinds, groups and bytes, in order. (Of a reduce_scatter that
// does not divide, PARAM has n equal parts; none is here.)
TEST(PytorchRun, ExportedParamTracesComeBack) {
    const Components parts = builtin_components();
    for (const char* file :
         {"quickstart/experiment.yaml", "traces/dlrm.yaml", "dlrm-torchrec/experiment.yaml"}) {
        const Result<Experiment> experiment =
            load_experiment(std::filesystem::path(ASTROLABE_SOURCE_DIR) / "examples" / file, {}, parts);
        ASSERT_TRUE(experiment) << render(experiment.error());
        const system::Program& program = experiment->program;
        const auto exported =
            workload::export_traces(program, {.format = workload::TraceExportFormat::kParam});
        ASSERT_TRUE(exported) << render(exported.error());
        const TemporaryFolder folder;
        for (std::size_t i = 0; i < (*exported)->files(); ++i) {
            std::string text;
            (*exported)->write(i, [&](std::string_view piece) { text += piece; });
            folder.write((*exported)->name(i), text);
        }
        const Result<workload::pytorch::ParamTraces> read =
            workload::pytorch::read_param_traces({.traces = {folder.path().string()}});
        ASSERT_TRUE(read) << render(read.error());
        const Result<system::Program> again = workload::build_program(read->graphs, {});
        ASSERT_TRUE(again) << file << render(again.error());
        workload::RankGraphs graphs = workload::empty_graphs_of(program);
        ASSERT_EQ(read->graphs.ranks.size(), program.ranks);
        for (std::size_t rank = 0; rank < program.ranks; ++rank) {
            const workload::RankGraph graph = workload::rank_graph_of(program, system::RankId(rank), graphs);
            const std::vector<HeldCollective> held = held_by(graphs, graph);
            EXPECT_FALSE(held.empty()) << file;
            EXPECT_EQ(held_by(read->graphs, read->graphs.ranks[rank]), held) << file << " rank " << rank;
        }
    }
}

/// The recorded step of a DLRM on 8 V100 with 6 links of 25 GB/s each.
class RecordedDlrm : public ::testing::TestWithParam<const char*> {
protected:
    std::filesystem::path folder_ =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/traces/pytorch/dlrm-8xV100";
};

// Recorded were 12.5 to 19.9 ms by rank: all ended together, and had begun up to 7.5 ms apart. Here all begin
// at once. Hosts have 12.5 to 13.7 ms of work by rank; together they take longer, since at each exchange that
// a host waits for the slowest so far decides. The network adds microseconds.
TEST_P(RecordedDlrm, IsBoundByItsHosts) {
    if (!std::filesystem::exists(folder_)) {
        GTEST_SKIP() << "no public traces at hand";
    }
    const Result<Experiment> experiment =
        load(fmt::format("{{kind: pytorch, execution_traces: '{}/et.{{rank}}.json.gz', kineto: "
                         "'{}/kineto.{{rank}}.json.gz'}}",
                         folder_.string(), folder_.string()),
             8,
             {"network={kind: flat, hosts: 8, link: {rate: 1200Gbps, latency: 500ns}}",
              fmt::format("backend={}", GetParam())});
    ASSERT_TRUE(experiment) << render(experiment.error());
    const experiment::Run run = run_experiment(*experiment, {});
    EXPECT_TRUE(run.execution.finished);
    EXPECT_GT(run.execution.total, 12'500_us);
    EXPECT_LT(run.execution.total, 15_ms);
    RecordProperty("total_us", static_cast<int>(run.execution.total.count() / 1'000'000));
}

// Rank 7 began last, so it waited for nobody: it took 12,509 us. Eight copies of it take as long here, but
// for what the device still waited of NCCL's kernels and the clock's microseconds: less than 1 %.
TEST_P(RecordedDlrm, TheLastRankTakesItsRecordedTime) {
    if (!std::filesystem::exists(folder_)) {
        GTEST_SKIP() << "no public traces at hand";
    }
    const Result<Experiment> experiment =
        load(fmt::format("{{kind: pytorch, execution_traces: '{0}/et.7.json.gz', kineto: "
                         "'{0}/kineto.7.json.gz', replicate: data_parallel}}",
                         folder_.string()),
             8,
             {"network={kind: flat, hosts: 8, link: {rate: 1200Gbps, latency: 500ns}}",
              fmt::format("backend={}", GetParam())});
    ASSERT_TRUE(experiment) << render(experiment.error());
    const experiment::Run run = run_experiment(*experiment, {});
    EXPECT_TRUE(run.execution.finished);
    const Time recorded = 12'509_us;
    EXPECT_GT(run.execution.total, recorded - recorded / 100);
    EXPECT_LT(run.execution.total, recorded + recorded / 100);
}

INSTANTIATE_TEST_SUITE_P(Engines, RecordedDlrm,
                         ::testing::Values("{kind: fluid}", "{kind: packet}", "{kind: tcp}"));

}  // namespace
}  // namespace astrolabe::experiment
