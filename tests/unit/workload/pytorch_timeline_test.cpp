/// Kineto's timelines as tasks: small ones by hand.
#include "execution_trace_text.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <process.hpp>
#include <workload/src/pytorch/param_traces.hpp>
#include <workload/src/pytorch/pytorch_traces.hpp>
#include <workload/src/rank_graphs/build_program.hpp>

namespace astrolabe::workload {
namespace {

using Json = nlohmann::json;
using pytorch::PytorchTraces;
using testing::TemporaryFolder;
using namespace astrolabe::literals;

/// Events of one rank of two; times in microseconds.
class Timeline {
public:
    void host(const char* name, int thread, double start, double end, Json arguments = Json::object(),
              const char* category = "cpu_op") {
        event(category, name, thread, start, end, std::move(arguments));
    }
    void step(int number, double start, double end) {
        host(fmt::format("ProfilerStep#{}", number).c_str(), 1, start, end, Json::object(),
             "user_annotation");
    }
    void runtime(const char* name, int thread, double start, double end, int correlation) {
        event("cuda_runtime", name, thread, start, end, {{"correlation", correlation}});
    }
    void device(const char* name, int stream, double start, double end, int correlation,
                const char* category = "kernel") {
        event(category, name, stream, start, end, {{"stream", stream}, {"correlation", correlation}});
    }
    /// An all-reduce of `elements` floats, launched in [launch, launch + 4].
    void all_reduce(int elements, int thread, double start, double launch, double end, double kernel_end,
                    int correlation) {
        host("record_param_comms", thread, start, end,
             {{"Collective name", "allreduce"},
              {"In msg nelems", elements},
              {"Out msg nelems", elements},
              {"Group size", 2},
              {"dtype", "Float"},
              {"Process Group Name", "0"},
              {"Process Group Ranks", "[0, 1]"}});
        runtime("cudaLaunchKernel", thread, launch, launch + 4, correlation);
        device("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 40, launch + 6, kernel_end, correlation);
    }
    void wait(int thread, double start, double end) {
        host("record_param_comms", thread, start, end,
             {{"Collective name", "wait"}, {"Group size", 1}, {"dtype", "Byte"}});
    }
    void sync(int correlation, int stream, int awaited, int record) {
        event("cuda_sync", "Stream Wait Event", 0, 0, 1,
              {{"correlation", correlation},
               {"stream", stream},
               {"wait_on_stream", awaited},
               {"wait_on_cuda_event_record_corr_id", record}});
    }

    [[nodiscard]] std::string text(int rank) const {
        return Json{{"schemaVersion", 1},
                    {"distributedInfo", {{"rank", rank}, {"world_size", 2}}},
                    {"traceEvents", events_}}
            .dump();
    }

private:
    void event(const char* category, const char* name, int thread, double start, double end, Json arguments) {
        events_.push_back({{"ph", "X"},
                           {"cat", category},
                           {"name", name},
                           {"tid", thread},
                           {"ts", start},
                           {"dur", end - start},
                           {"args", std::move(arguments)}});
    }

    Json events_ = Json::array();
};

struct ReadTask {
    std::string stream;  ///< empty: a collective
    std::string name;
    Time duration;
    std::vector<std::string> waits_for;  ///< names

    friend bool operator==(const ReadTask&, const ReadTask&) = default;
    friend void PrintTo(const ReadTask& task, std::ostream* out) {
        *out << task.stream << " '" << task.name << "' " << to_string(task.duration);
        for (const std::string& before : task.waits_for) {
            *out << " <- " << before;
        }
    }
};

std::vector<ReadTask> read_tasks(const Timeline& timeline, std::vector<std::string>* notes = nullptr) {
    const TemporaryFolder folder;
    folder.write("rank0.json", timeline.text(0));
    folder.write("rank1.json", timeline.text(1));
    const Result<PytorchTraces> traces = pytorch::read_traces({.kineto = {folder.path().string()}});
    EXPECT_TRUE(traces) << render(traces.error());
    if (!traces) {
        return {};
    }
    EXPECT_TRUE(build_program(traces->graphs, {}));
    if (notes != nullptr) {
        *notes = traces->notes;
    }
    const RankGraph& graph = traces->graphs.ranks[1];
    std::vector<ReadTask> tasks;
    for (std::uint32_t i = 0; i < graph.tasks.size(); ++i) {
        const RankTask& task = graph.tasks[i];
        ReadTask& read = tasks.emplace_back();
        read.stream = task.kind == TaskKind::kCompute ? traces->graphs.streams[task.stream].name : "";
        read.name = traces->graphs.names[task.name];
        read.duration = task.duration;
        for (const std::uint32_t dependency : graph.dependencies(i)) {
            read.waits_for.push_back(traces->graphs.names[graph.tasks[dependency].name]);
        }
    }
    return tasks;
}

TEST(PytorchTimeline, HostStreamsAndCollectivesByHand) {
    Timeline timeline;
    timeline.step(3, 0, 100);
    timeline.host("aten::mm", 1, 10, 20);
    timeline.runtime("cudaLaunchKernel", 1, 14, 18, 1);
    timeline.device("void gemm<float>(int)", 7, 19, 29, 1);
    timeline.all_reduce(1000, 1, 30, 40, 50, 70, 2);
    timeline.wait(1, 52, 54);
    timeline.host("aten::relu", 1, 55, 65);
    timeline.runtime("cudaLaunchKernel", 1, 58, 62, 3);
    timeline.device("relu", 7, 71, 76, 3);
    timeline.runtime("cudaDeviceSynchronize", 1, 80, 90, 4);
    // The device had nothing to do any more at 80: all 10 us of the call are the host's.
    EXPECT_EQ(read_tasks(timeline), (std::vector<ReadTask>{
                                        {"host", "aten::mm", 18_us, {}},
                                        {"compute", "gemm", 10_us, {"aten::mm"}},
                                        {"host", "record_param_comms", 26_us, {}},
                                        {"", "allreduce", 0_us, {"gemm", "record_param_comms"}},
                                        {"host", "aten::relu", 18_us, {}},
                                        {"compute", "relu", 5_us, {"gemm", "allreduce", "aten::relu"}},
                                        {"host", "ProfilerStep#3", 18_us, {}},
                                        {"host", "cudaDeviceSynchronize.wait", 10_us, {"allreduce", "relu"}},
                                        {"host", "ProfilerStep#3", 10_us, {}},
                                    }));
}

TEST(PytorchTimeline, ACopyThatIsOverBeforeItsCallReturnsHoldsTheHost) {
    Timeline timeline;
    timeline.step(0, 0, 60);
    timeline.runtime("cudaLaunchKernel", 1, 4, 8, 1);
    timeline.device("slow", 7, 9, 30, 1);
    // Waits for the kernel until 30; 2 us are left of the call after its copy.
    timeline.runtime("cudaMemcpyAsync", 1, 20, 40, 2);
    timeline.device("Memcpy DtoH (Device -> Pageable)", 7, 35, 38, 2, "gpu_memcpy");
    // Waits for nothing: 5 us until the copy starts.
    timeline.runtime("cudaMemcpyAsync", 1, 45, 55, 3);
    timeline.device("Memcpy HtoD (Pageable -> Device)", 7, 50, 51, 3, "gpu_memcpy");
    EXPECT_EQ(read_tasks(timeline), (std::vector<ReadTask>{
                                        {"host", "ProfilerStep#0", 8_us, {}},
                                        {"compute", "slow", 21_us, {"ProfilerStep#0"}},
                                        {"host", "ProfilerStep#0", 12_us, {}},
                                        {"compute", "Memcpy DtoH ", 3_us, {"slow", "ProfilerStep#0"}},
                                        {"host", "cudaMemcpyAsync.wait", 2_us, {"Memcpy DtoH "}},
                                        {"host", "ProfilerStep#0", 10_us, {}},
                                        {"compute", "Memcpy HtoD ", 1_us, {"Memcpy DtoH ", "ProfilerStep#0"}},
                                        {"host", "cudaMemcpyAsync.wait", 4_us, {"Memcpy HtoD "}},
                                        {"host", "ProfilerStep#0", 5_us, {}},
                                    }));
}

// The main thread calls nothing from 100 to 5,000 us while the other works from 150 to 3,150: it computes 150
// us before and 1,850 after. The other's all-reduce, for which no wait is, is what its cudaStreamWaitEvent is
// for.
TEST(PytorchTimeline, AThreadThatIsHandedTheBackwardPass) {
    Timeline timeline;
    timeline.step(0, 0, 6000);
    timeline.runtime("cudaLaunchKernel", 1, 50, 54, 1);
    timeline.device("forward", 7, 60, 80, 1);
    timeline.host("backward", 1, 100, 5000);
    timeline.host("evaluate", 2, 150, 1000);
    timeline.all_reduce(500, 2, 900, 910, 950, 1200, 2);
    timeline.runtime("cudaStreamWaitEvent", 2, 3140, 3150, 3);
    timeline.host("evaluate", 2, 1500, 3130);
    timeline.host("optimizer", 1, 5100, 5200);
    timeline.runtime("cudaLaunchKernel", 1, 5110, 5120, 4);
    timeline.device("update", 7, 5130, 5140, 4);
    std::vector<std::string> notes;
    EXPECT_EQ(read_tasks(timeline, &notes),
              (std::vector<ReadTask>{
                  {"host", "ProfilerStep#0", 54_us, {}},
                  {"compute", "forward", 20_us, {"ProfilerStep#0"}},
                  {"host", "backward", 96_us, {}},
                  {"host 2", "record_param_comms", 764_us, {"backward"}},
                  {"", "allreduce", 0_us, {"forward", "record_param_comms"}},
                  {"host 2", "host", 2236_us, {}},
                  {"host", "optimizer", 1970_us, {"host"}},
                  {"compute", "update", 10_us, {"forward", "allreduce", "optimizer"}},
                  {"host", "ProfilerStep#0", 880_us, {}},
              }));
    EXPECT_TRUE(notes.empty());
}

// An event that was recorded on stream 7 between two kernels: what stream 9 runs next waits for the first.
TEST(PytorchTimeline, StreamsWaitForRecordedEvents) {
    Timeline timeline;
    timeline.step(0, 0, 100);
    timeline.runtime("cudaLaunchKernel", 1, 4, 8, 1);
    timeline.device("first", 7, 9, 30, 1);
    timeline.runtime("cudaEventRecord", 1, 10, 11, 2);
    timeline.runtime("cudaLaunchKernel", 1, 12, 14, 3);
    timeline.device("second", 7, 30, 90, 3);
    timeline.runtime("cudaStreamWaitEvent", 1, 16, 17, 4);
    timeline.sync(4, 9, 7, 2);
    timeline.runtime("cudaLaunchKernel", 1, 18, 20, 5);
    timeline.device("third", 9, 31, 40, 5);
    // Nothing says what this one is for.
    timeline.runtime("cudaStreamWaitEvent", 1, 50, 51, 6);
    std::vector<std::string> notes;
    const std::vector<ReadTask> tasks = read_tasks(timeline, &notes);
    const auto third =
        std::find_if(tasks.begin(), tasks.end(), [](const ReadTask& task) { return task.name == "third"; });
    ASSERT_NE(third, tasks.end());
    EXPECT_EQ(third->stream, "stream 9");
    EXPECT_EQ(third->waits_for, (std::vector<std::string>{"first", "ProfilerStep#0"}));
    EXPECT_EQ(notes, (std::vector<std::string>{
                         "every rank: 1 waits of streams for events that the profiler does not name are left "
                         "out"}));
}

TEST(PytorchTimeline, StepsAreIterationsAndOneCanBeChosen) {
    Timeline timeline;
    for (const int step : {4, 5, 6}) {
        const double start = 100.0 * step;
        timeline.step(step, start, start + 90);
        timeline.runtime("cudaLaunchKernel", 1, start + 10, start + 12, step);
        timeline.device("kernel", 7, start + 13, start + 13 + step, step);
    }
    const TemporaryFolder folder;
    folder.write("rank0.json", timeline.text(0));
    folder.write("rank1.json", timeline.text(1));
    const Result<PytorchTraces> all = pytorch::read_traces({.kineto = {folder.path().string()}});
    ASSERT_TRUE(all) << render(all.error());
    EXPECT_EQ(all->graphs.iterations, 3);
    const Result<PytorchTraces> one = pytorch::read_traces({.kineto = {folder.path().string()}, .step = 5});
    ASSERT_TRUE(one) << render(one.error());
    EXPECT_EQ(one->graphs.iterations, 1);
    ASSERT_EQ(one->graphs.ranks[0].tasks.size(), 3U);
    EXPECT_EQ(one->graphs.ranks[0].tasks[1].duration, 5_us);
    const Result<PytorchTraces> none = pytorch::read_traces({.kineto = {folder.path().string()}, .step = 9});
    ASSERT_FALSE(none);
    EXPECT_NE(render(none.error()).find("there is no step 9"), std::string::npos);
    EXPECT_NE(render(none.error()).find("it has steps 4, 5, 6"), std::string::npos);
}

// Characters of small traces changed, left out or doubled at random: every one is read or refused.
TEST(PytorchTimeline, DamageIsReadOrRefused) {
    Timeline timeline;
    timeline.step(3, 0, 100);
    timeline.host("aten::mm", 1, 10, 20);
    timeline.runtime("cudaLaunchKernel", 1, 14, 18, 1);
    timeline.device("gemm", 7, 19, 29, 1);
    timeline.all_reduce(1000, 1, 30, 40, 50, 70, 2);
    timeline.wait(1, 52, 54);
    timeline.runtime("cudaStreamWaitEvent", 1, 58, 59, 3);
    timeline.sync(3, 7, 40, 2);
    const std::string trace =
        testing::execution_trace(
            "1.1.1", 2, 0,
            {{.name = "allreduce", .sequence = 1, .elements = 10},
             {.name = "all_to_allv", .sequence = 2, .elements = 8, .in_splits = {3, 5}, .out_splits = {3, 5}},
             {.name = "wait", .sequence = 2}})
            .dump();
    const std::string param =
        R"([{"comms": "init", "pg_id": 1, "global_ranks": [0, 1]},
            {"comms": "all_to_allv", "pg_id": 1, "dtype": "int", "in_msg_size": 3, "out_msg_size": 3,
             "in_split": [1, 2], "out_split": [2, 1], "req": 1}, {"compute": "gemm", "mm_dim": 4},
            {"comms": "wait", "req": 1}])";
    std::mt19937 random(7);
    std::size_t refused = 0;
    constexpr std::size_t kRuns = 300;
    for (std::size_t run = 0; run < kRuns; ++run) {
        for (const std::string& whole : {timeline.text(0), trace, param}) {
            std::string text = whole;
            for (int change = 0; change < 1 + static_cast<int>(run % 3); ++change) {
                const std::size_t at = random() % text.size();
                switch (random() % 4) {
                    case 0:
                        text[at] = "0123456789-[]{}\",:e"[random() % 19];
                        break;
                    case 1:
                        text.erase(at, 1 + random() % 8);
                        break;
                    case 2:
                        text.insert(at, text.substr(at, random() % 30));
                        break;
                    default:
                        text[at] = static_cast<char>('0' + random() % 10);
                }
            }
            const TemporaryFolder folder;
            const std::string file = folder.write("rank0.json", text).string();
            if (whole == param) {
                const auto read = pytorch::read_param_traces({.traces = {file}});
                refused += !read || !build_program(read->graphs, {});
                continue;
            }
            const auto read = whole == trace ? pytorch::read_traces({.execution_traces = {file}})
                                             : pytorch::read_traces({.kineto = {file}});
            refused += !read || !build_program(read->graphs, {});
        }
    }
    // One rank of two never makes a program, so all that was read was refused then.
    EXPECT_GT(refused, kRuns);
}

TEST(PytorchTimeline, ErrorsSayWhereAndWhat) {
    const auto errors = [](const std::string& text) {
        const TemporaryFolder folder;
        folder.write("rank0.json", text);
        const Result<PytorchTraces> traces =
            pytorch::read_traces({.kineto = {(folder.path() / "rank0.json").string()}});
        return traces ? std::string() : render(traces.error());
    };
    const auto event = [&](const char* text) {
        return errors(fmt::format("{{\"schemaVersion\": 1,\n\"traceEvents\": [\n{}\n]}}", text));
    };
    const auto expect = [](const std::string& text, std::initializer_list<const char*> parts) {
        EXPECT_EQ(text.find("error["), text.rfind("error[")) << "one error: " << text;
        for (const char* part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
        }
    };
    expect(event(R"({"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": -2})"),
           {"rank0.json:3", "event 'a': its 'dur' is no number of microseconds that is 0 or more"});
    expect(event(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"stream": 7}})"),
           {"rank0.json:3", "event 'k': it has no 'correlation'"});
    expect(event(R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 1, "dur": 2, "args":
                  {"Collective name": "allreduce", "In msg nelems": -1, "Out msg nelems": 1, "dtype": "Float"}})"),
           {"rank0.json:4", "'In msg nelems' is no number of elements"});
    expect(event(R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 1, "dur": 2, "args":
                  {"Collective name": "allreduce", "In msg nelems": 1, "Out msg nelems": 1, "dtype": "Flat"}})"),
           {"rank0.json:4", "elements of type 'Flat' are not known"});
    expect(errors("{\"schemaVersion\": 1, \"traceEvents\": [\n{\"ph\""),
           {"rank0.json:2", "no JSON", "cut off"});
    // A day has 8.64e10 us; from the begin of the first to the end of the last is one more.
    expect(event(R"({"ph": "X", "cat": "cpu_op", "name": "a", "ts": 0, "dur": 2},
                    {"ph": "X", "cat": "cpu_op", "name": "b", "ts": 86400000000, "dur": 1})"),
           {"rank0.json", "more than a day apart: event 'a' begins first and event 'b' ends last"});
    expect(errors("[1, 2]"), {"rank0.json", "has no list 'traceEvents'"});
}

}  // namespace
}  // namespace astrolabe::workload
