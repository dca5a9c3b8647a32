/// PARAM's communication traces as rank graphs, by hand, and what is refused.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <process.hpp>
#include <workload/src/pytorch/param_traces.hpp>
#include <workload/src/rank_graphs/build_program.hpp>

namespace astrolabe::workload {
namespace {

using pytorch::Overlap;
using pytorch::ParamOptions;
using pytorch::ParamTraces;
using system::CollectiveKind;
using system::RankId;
using testing::TemporaryFolder;

class ParamTracesTest : public ::testing::Test {
protected:
    ParamOptions write(const std::vector<std::string>& ranks) {
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            folder_.write(fmt::format("{}.json", rank), ranks[rank]);
        }
        return {.traces = {(folder_.path() / "{rank}.json").string()}};
    }
    static std::string errors_of(const ParamOptions& options) {
        const Result<ParamTraces> traces = pytorch::read_param_traces(options);
        if (!traces) {
            return render(traces.error());
        }
        const Result<system::Program> program = build_program(traces->graphs, {});
        return program ? "" : render(program.error());
    }
    static std::vector<std::string> names_of(const ParamTraces& traces, std::size_t rank) {
        std::vector<std::string> names;
        for (const RankTask& task : traces.graphs.ranks[rank].tasks) {
            names.push_back(traces.graphs.names[task.name]);
        }
        return names;
    }

    TemporaryFolder folder_;
};

/// The example of a rank's trace: a lookup, an exchange beside a product, an all-reduce beside a message.
std::string example(int rank) {
    return fmt::format(R"([
  {{"comms": "init", "pg_id": 0, "global_ranks": [0, 1], "world_size": 2}},
  {{"compute": "emb_lookup", "direction": "forward", "emb_dim": 64, "num_embs": 1000000,
   "batch_size": 2048, "num_emb_tables": 2, "bag_size": 60, "count": 1, "markers": ["fwd", "emb"]}},
  {{"comms": "ALLTOALL_BASE", "pg_id": 0, "world_size": 2, "req": 1, "dtype": "float16",
   "in_msg_size": 100, "out_msg_size": {1}, "in_split": [40, 60], "out_split": [{2}, {2}],
   "startTime_ns": 280000, "marker_stack": ["fwd", "emb_a2a"]}},
  {{"compute": "gemm", "mm0_dim0": 512, "mm0_dim1": 1600, "mm1_dim0": 1600, "mm1_dim1": 1024,
   "dtype": "float16", "count": 3}},
  {{"comms": "wait", "req": 1, "pg_id": 0}},
  {{"comms": "all_reduce", "pg_id": 0, "world_size": 2, "req": [2, false], "dtype": "Float",
   "in_msg_size": 1638400, "out_msg_size": 1638400, "markers": ["bwd", "bottom_0"]}},
  {{"comms": "{3}", "src_rank": 0, "dst_rank": 1, "use_batch": false, "dtype": "float32",
   "in_msg_size": 256, "out_msg_size": 256, "req": 3, "world_size": 2}},
  {{"comms": "wait", "req": 3}},
  {{"comms": "wait", "req": [2, false], "pg_id": 0}}
])",
                       0, rank == 0 ? 80 : 120, rank == 0 ? 40 : 60, rank == 0 ? "isend" : "irecv");
}

TEST_F(ParamTracesTest, TheExampleByHand) {
    const Result<ParamTraces> traces = pytorch::read_param_traces(write({example(0), example(1)}));
    ASSERT_TRUE(traces) << render(traces.error());
    EXPECT_EQ(traces->world_size, 2U);
    EXPECT_EQ(names_of(*traces, 0),
              (std::vector<std::string>{"emb_lookup", "ALLTOALL_BASE", "gemm", "ALLTOALL_BASE.wait",
                                        "bottom_0", "isend", "isend.wait", "bottom_0.wait", "step.end"}));
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const RankGraph& graph = traces->graphs.ranks[rank];
        // Halves: 40 and 60 elements of 2 bytes.
        EXPECT_EQ(graph.splits, (std::vector<std::vector<Bytes>>{{Bytes(80), Bytes(120)}}));
        EXPECT_EQ(graph.tasks[4].collective, CollectiveKind::kAllReduce);
        EXPECT_EQ(graph.tasks[4].size, Bytes(6'553'600));
        EXPECT_EQ(graph.tasks[5].kind, rank == 0 ? TaskKind::kSend : TaskKind::kReceive);
        EXPECT_EQ(graph.tasks[5].peer, 1 - rank);
        EXPECT_EQ(graph.tasks[5].size, Bytes(1024));
        // 2,048 · 2 · 64 · 4 B = 1 MiB pooled; 60 times as much is read.
        EXPECT_EQ(traces->work[rank][0].bytes, Bytes(61 * 1'048'576));
        // 3 · 2 · 512 · 1,600 · 1,024, and 3 · 2 B · (512 · 1,600 + 1,600 · 1,024 + 512 · 1,024).
        EXPECT_EQ(traces->work[rank][2].flops, Flops(5'033'164'800));
        EXPECT_EQ(traces->work[rank][2].bytes, Bytes(17'891'328));
        EXPECT_EQ(traces->work[rank][2].precision, Precision::kFp16);
    }
    EXPECT_TRUE(build_program(traces->graphs, {}));
}

TEST_F(ParamTracesTest, OverlapIsARule) {
    ParamOptions options = write({example(0), example(1)});
    options.overlap = Overlap::kNone;
    const Result<ParamTraces> none = pytorch::read_param_traces(options);
    ASSERT_TRUE(none);
    EXPECT_EQ(names_of(*none, 0),
              (std::vector<std::string>{"emb_lookup", "ALLTOALL_BASE", "ALLTOALL_BASE.wait", "gemm",
                                        "bottom_0", "bottom_0.wait", "isend", "isend.wait", "step.end"}));
}

// The second call begins 30 us after the beginning, the first at 10.
TEST_F(ParamTracesTest, TimestampsAreLowerBounds) {
    const std::string trace = R"([
{"comms": "all_reduce", "dtype": "int", "in_msg_size": 2, "out_msg_size": 2, "world_size": 2, "req": 1, "startTime_ns": 10000},
{"comms": "all_reduce", "dtype": "int", "in_msg_size": 2, "out_msg_size": 2, "world_size": 2, "req": 2, "startTime_ns": 30000},
{"comms": "wait", "req": 1}, {"comms": "wait", "req": 2}])";
    ParamOptions options = write({trace, trace});
    options.timestamps = true;
    const Result<ParamTraces> traces = pytorch::read_param_traces(options);
    ASSERT_TRUE(traces) << render(traces.error());
    const RankGraph& graph = traces->graphs.ranks[0];
    EXPECT_EQ(names_of(*traces, 0),
              (std::vector<std::string>{"clock", "all_reduce", "clock", "all_reduce", "all_reduce.wait",
                                        "all_reduce.wait", "step.end"}));
    EXPECT_EQ(graph.tasks[0].duration, Time(10'000'000));
    EXPECT_EQ(graph.tasks[2].duration, Time(20'000'000));
    EXPECT_TRUE(build_program(traces->graphs, {}));
}

TEST_F(ParamTracesTest, GroupsRootsAndBarriers) {
    // Groups {1, 2} and {0, 3}; the root of the broadcast is rank 2, position 1 of its group.
    const auto trace = [](int) {
        return std::string(R"([
{"comms": "init", "pg_id": 5, "global_ranks": [1, 2]}, {"comms": "init", "pg_id": "six", "global_ranks": [3, 0]},
{"comms": "broadcast", "pg_id": 5, "root": 2, "dtype": "byte", "in_msg_size": 9, "out_msg_size": 9},
{"comms": "reduce_scatter_base", "pg_id": "six", "dtype": "double", "in_msg_size": 6, "out_msg_size": 3},
{"comms": "barrier", "world_size": 4}])");
    };
    const Result<ParamTraces> traces =
        pytorch::read_param_traces(write({trace(0), trace(1), trace(2), trace(3)}));
    ASSERT_TRUE(traces) << render(traces.error());
    const RankTask& broadcast = traces->graphs.ranks[1].tasks[0];
    EXPECT_EQ(broadcast.collective, CollectiveKind::kBroadcast);
    EXPECT_EQ(broadcast.root, 1U);
    EXPECT_EQ(traces->graphs.groups[broadcast.group], (std::vector{RankId(1), RankId(2)}));
    const RankTask& scatter = traces->graphs.ranks[0].tasks[0];
    EXPECT_EQ(scatter.size, Bytes(48));
    EXPECT_EQ(traces->graphs.groups[scatter.group], (std::vector{RankId(3), RankId(0)}));
    EXPECT_TRUE(build_program(traces->graphs, {}));
}

// 2 · 1,000 calls of a world of 2^20 ranks, of which one has a trace: the world is made once, not for each.
TEST_F(ParamTracesTest, GroupsThatAFewBytesSayAreMadeOnce) {
    constexpr std::size_t kCalls = 1000;
    std::string trace = R"([{"comms": "init", "pg_id": 1, "global_ranks": [1048575]})";
    for (std::size_t call = 0; call < kCalls; ++call) {
        trace += R"(,
{"comms": "all_reduce", "dtype": "byte", "in_msg_size": 1, "out_msg_size": 1},
{"comms": "broadcast", "root": 1048575, "dtype": "byte", "in_msg_size": 1, "out_msg_size": 1})";
    }
    const Result<ParamTraces> traces = pytorch::read_param_traces(write({trace + "]"}));
    ASSERT_TRUE(traces) << render(traces.error());
    EXPECT_EQ(traces->world_size, 1'048'576U);
    ASSERT_EQ(traces->graphs.groups.size(), 1U);
    EXPECT_EQ(traces->graphs.groups[0].size(), 1'048'576U);
    EXPECT_EQ(traces->graphs.groups[0].back(), RankId(1'048'575));
    // Each of the two is waited for at once; and the end of the step.
    ASSERT_EQ(traces->graphs.ranks[0].tasks.size(), 4 * kCalls + 1);
    EXPECT_EQ(traces->graphs.ranks[0].tasks[2].root, 1'048'575U);
    // 2^32 is rank 0 in 32 bits.
    EXPECT_NE(errors_of(write({R"([{"comms": "broadcast", "root": 4294967296, "dtype": "byte",
                                    "in_msg_size": 1, "out_msg_size": 1}])"}))
                  .find("its root is 1 in a group of 1 ranks"),
              std::string::npos);
}

TEST_F(ParamTracesTest, TwoTracesOfOneRankAreRefused) {
    const std::string trace =
        R"([{"comms": "all_reduce", "dtype": "byte", "in_msg_size": 1, "out_msg_size": 1}])";
    folder_.write("0.json", trace);
    folder_.write("trace.json", trace);  // without a rank in its name: rank 0
    const std::string errors = errors_of({.traces = {folder_.path().string()}});
    EXPECT_NE(errors.find("param.files"), std::string::npos) << errors;
    EXPECT_NE(errors.find("is a trace of rank 0, too"), std::string::npos) << errors;
}

TEST_F(ParamTracesTest, ErrorsSayWhereAndWhat) {
    const auto entry = [&](const std::string& text) {
        const std::string trace = "[\n" + text + "\n]";
        return errors_of(write({trace, trace}));
    };
    const auto expect = [](const std::string& text, std::initializer_list<const char*> parts) {
        for (const char* part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
        }
        EXPECT_EQ(text.find("error["), text.rfind("error[")) << "one error: " << text;
    };
    expect(entry(R"({"dtype": "int"})"), {"0.json:2", "entry 1: it has neither 'comms' nor 'compute'"});
    expect(entry(R"({"comms": "all_redce", "dtype": "int"})"),
           {"0.json:2", "operation 'all_redce' is not known", "lenient: true"});
    expect(entry(R"({"comms": "all_reduce", "dtype": "quad", "in_msg_size": 1, "out_msg_size": 1})"),
           {"0.json:2", "dtype 'quad' is not known"});
    expect(entry(R"({"comms": "all_reduce", "dtype": "int", "in_msg_size": -1, "out_msg_size": 1})"),
           {"0.json:2", "'in_msg_size' is -1"});
    expect(entry(R"({"comms": "all_to_allv", "dtype": "int", "in_msg_size": 4, "out_msg_size": 4,
                     "in_split": [1, 2], "out_split": [2, 2]})"),
           {"0.json:3", "the in_split splits sum to 3, and the tensor has 4 elements"});
    expect(entry(R"({"comms": "wait", "req": 4})"), {"0.json:2", "no request 4 is open"});
    expect(entry(R"({"comms": "wait", "pg_id": 4})"), {"0.json:2", "a wait has no 'req'"});
    expect(
        entry(R"({"comms": "all_reduce", "pg_id": 3, "dtype": "int", "in_msg_size": 1, "out_msg_size": 1})"),
        {"0.json:2", "no init made group 3"});
    expect(entry(R"({"compute": "gemm", "mm0_dim0": 2, "mm0_dim1": 3, "mm1_dim0": 4, "mm1_dim1": 5})"),
           {"0.json:2", "mm0_dim1 is 3 and mm1_dim0 is 4"});
    expect(entry(R"({"comms": "all_reduce", "dtype": "int", )"), {"0.json:3", "no JSON"});
    const std::string call =
        R"({"comms": "all_reduce", "dtype": "int", "in_msg_size": 1, "out_msg_size": 1})";
    expect(errors_of(write({"[" + call + "]", "[]"})), {"rank 0", "never take part"});
    // A folder is searched for such traces.
    EXPECT_NE(errors_of({.traces = {folder_.path().string()}}).find("never take part"), std::string::npos);
    ParamOptions lenient = write(
        {"[" + call + R"(, {"comms": "magic", "req": 1}, {"comms": "wait", "req": 1}])", "[" + call + "]"});
    lenient.lenient = true;
    EXPECT_EQ(errors_of(lenient), "");
}

}  // namespace
}  // namespace astrolabe::workload
