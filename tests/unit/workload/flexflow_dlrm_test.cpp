/// Program, times and problems of FlexFlow's DLRM (docs/theory/opera-dlrm-study.md, "Compute times" and "Task
/// graph").
#include "flexflow_dlrm_study.hpp"

#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::Operation;
using system::OperationId;
using system::Program;
using system::RankId;

using Names = std::vector<std::string>;

/// Two rounds on two nodes, the second with one table.
struct Small {
    FlexflowModel model{
        .tables = 3, .rows = 10, .dimension = 5, .bag_size = 2, .bottom_mlp = {7, 2}, .top_mlp = {9, 6}};
    FlexflowTraining training;
    Device device;
    std::size_t nodes = 2;

    Small() {
        training.batch = 48;  // 24 a node, 3 a GPU
        training.element_size = 8_B;
        training.embedding = {.forward = 10_us, .backward = 30_us, .samples = 24};
        device.peak = 1_TFLOPS;
        device.memory_bandwidth = Bandwidth(8'000'000'000'000);  // 1 TB/s
    }
    [[nodiscard]] Program program() const { return build_flexflow_program(model, training, device, nodes); }
};

std::map<std::string, const Operation*> by_name(const Program& program) {
    std::map<std::string, const Operation*> found;
    for (const Operation& operation : program.operations) {
        found.emplace(operation.name, &operation);
    }
    return found;
}

Names names_of(const Program& program, const std::vector<OperationId>& ids) {
    Names names;
    for (const OperationId id : ids) {
        names.push_back(program.operations[id].name);
    }
    return names;
}

TEST(FlexflowProgram, TasksInTheOrderOfTheStudy) {
    Names names;
    const Program program = Small().program();
    for (const Operation& operation : program.operations) {
        names.push_back(operation.name);
    }
    EXPECT_EQ(names,
              (Names{"Embedding_0.forward", "Embedding_0.forward.all_to_all", "Embedding_1.forward",
                     "Embedding_1.forward.all_to_all", "Bottom_0.forward", "Concat.forward", "Top_0.forward",
                     "Top_0.backward", "Top_0.backward.kernel.all_reduce", "Top_0.backward.bias.all_reduce",
                     "Concat.backward", "Embedding_0.backward.all_to_all", "Embedding_1.backward.all_to_all",
                     "Bottom_0.backward", "Bottom_0.backward.kernel.all_reduce",
                     "Bottom_0.backward.bias.all_reduce", "Embedding_0.backward", "Embedding_1.backward",
                     "Gradients.wait"}));
}

TEST(FlexflowProgram, WaitsOfTheStudyAndNoOthers) {
    const Program program = Small().program();
    const std::map<std::string, Names> expected{
        {"Embedding_0.forward.all_to_all", {"Embedding_0.forward"}},
        {"Embedding_1.forward.all_to_all", {"Embedding_1.forward"}},
        {"Concat.forward", {"Embedding_0.forward.all_to_all", "Embedding_1.forward.all_to_all"}},
        {"Top_0.backward.kernel.all_reduce", {"Top_0.backward"}},
        {"Top_0.backward.bias.all_reduce", {"Top_0.backward"}},
        {"Embedding_0.backward.all_to_all", {"Concat.backward"}},
        {"Embedding_1.backward.all_to_all", {"Concat.backward"}},
        {"Bottom_0.backward.kernel.all_reduce", {"Bottom_0.backward"}},
        {"Bottom_0.backward.bias.all_reduce", {"Bottom_0.backward"}},
        {"Embedding_0.backward", {"Embedding_0.backward.all_to_all"}},
        {"Embedding_1.backward", {"Embedding_1.backward.all_to_all"}},
        {"Gradients.wait",
         {"Top_0.backward.kernel.all_reduce", "Top_0.backward.bias.all_reduce",
          "Bottom_0.backward.kernel.all_reduce", "Bottom_0.backward.bias.all_reduce"}}};
    for (const Operation& operation : program.operations) {
        const auto found = expected.find(operation.name);
        EXPECT_EQ(names_of(program, operation.dependencies),
                  found == expected.end() ? Names{} : found->second)
            << operation.name;
    }
}

TEST(FlexflowProgram, TimesOfTheTasks) {
    const Program program = Small().program();
    const auto operations = by_name(program);
    const auto time = [&](const std::string& name, int node) {
        return operations.at(name)->compute().duration[RankId(node)];
    };
    // All 48 samples pass through a table: 10 and 30 us for 24 samples, twice that.
    EXPECT_EQ(time("Embedding_0.forward", 1), 20_us);
    EXPECT_EQ(time("Embedding_0.backward", 0), 60_us);
    // Table 2 is on node 0, and node 1 has no table left.
    EXPECT_EQ(time("Embedding_1.forward", 0), 20_us);
    EXPECT_EQ(time("Embedding_1.forward", 1), 0_us);
    EXPECT_EQ(time("Embedding_1.backward", 0), 60_us);
    EXPECT_EQ(time("Embedding_1.backward", 1), 0_us);
    // 3 rows a GPU at 1 FLOP/ps: 2·3·7·2 forward, twice that backward; the top input is 2 + 3·5 wide.
    EXPECT_EQ(time("Bottom_0.forward", 0), 84_ps);
    EXPECT_EQ(time("Bottom_0.backward", 0), 168_ps);
    EXPECT_EQ(time("Top_0.forward", 0), 612_ps);  // 2·3·17·6
    EXPECT_EQ(time("Top_0.backward", 0), 1224_ps);
    // 2·3·17·4 bytes at 1 byte/ps.
    EXPECT_EQ(time("Concat.forward", 0), 408_ps);
    EXPECT_EQ(time("Concat.backward", 0), 408_ps);
    EXPECT_EQ(time("Gradients.wait", 0), 0_ps);

    const FlexflowCompute sums = compute_times(Small().model, Small().training, Small().device, 2);
    EXPECT_EQ(sums.embedding, 160_us);  // 2 rounds of 20 + 60
    EXPECT_EQ(sums.mlp, 2088_ps);       // 3·(84 + 612)
    EXPECT_EQ(sums.concatenation, 816_ps);
}

TEST(FlexflowProgram, SizesOfTheExchanges) {
    const Program program = Small().program();
    const auto operations = by_name(program);
    const auto all_to_all = [&](const std::string& name) { return operations.at(name)->collective(); };
    const Bytes slice = 24 * 5 * 8_B;  // B/N samples of 5 values of 8 bytes
    for (const char* name : {"Embedding_0.forward.all_to_all", "Embedding_0.backward.all_to_all"}) {
        EXPECT_FALSE(all_to_all(name).is_uneven());
        EXPECT_EQ(all_to_all(name).size, 2 * slice);
    }
    const system::CollectiveOperation forward = all_to_all("Embedding_1.forward.all_to_all");
    ASSERT_TRUE(forward.is_uneven());
    EXPECT_EQ(forward.size, 2 * slice);  // node 0 holds its own slice and node 1's
    EXPECT_EQ(forward.pair_sizes->front()(0, 1), slice);
    EXPECT_EQ(forward.pair_sizes->front()(1, 0), 0_B);
    const system::CollectiveOperation backward = all_to_all("Embedding_1.backward.all_to_all");
    ASSERT_TRUE(backward.is_uneven());
    EXPECT_EQ(backward.size, slice);  // each node holds the gradients of table 2 alone
    EXPECT_EQ(backward.pair_sizes->front()(1, 0), slice);
    EXPECT_EQ(backward.pair_sizes->front()(0, 1), 0_B);

    EXPECT_EQ(all_to_all("Top_0.backward.kernel.all_reduce").size, 17 * 6 * 4_B);
    EXPECT_EQ(all_to_all("Top_0.backward.bias.all_reduce").size, 6 * 4_B);
}

/// All transfers and times of the tests above over 7, rounded up.
TEST(FlexflowProgram, ScaledDownInBytesAndTimesAlike) {
    Small small;
    small.training.scale_down = 7;
    const Program program = small.program();
    const auto operations = by_name(program);
    const auto time = [&](const std::string& name) {
        return operations.at(name)->compute().duration[RankId(0)];
    };
    EXPECT_EQ(time("Embedding_0.backward"), 8'571'429_ps);  // 60 us
    EXPECT_EQ(time("Bottom_0.forward"), 12_ps);             // 84 ps
    EXPECT_EQ(time("Top_0.backward"), 175_ps);              // 1224 ps: 174.9
    EXPECT_EQ(time("Concat.forward"), 59_ps);               // 408 ps: 58.3
    const auto size = [&](const std::string& name) { return operations.at(name)->collective().size; };
    EXPECT_EQ(size("Embedding_0.forward.all_to_all"), 2 * 138_B);  // 960 B: 137.1
    EXPECT_EQ(size("Top_0.backward.kernel.all_reduce"), 59_B);     // 408 B: 58.3
    EXPECT_EQ(size("Top_0.backward.bias.all_reduce"), 4_B);        // 24 B: 3.4
}

TEST(FlexflowProgram, KernelAndBiasTogether) {
    Small small;
    small.training.separate_bias = false;
    small.training.gradient_element_size = 2_B;
    const Program program = small.program();
    const auto operations = by_name(program);
    EXPECT_EQ(operations.count("Top_0.backward.kernel.all_reduce"), 0U);
    EXPECT_EQ(operations.at("Top_0.backward.all_reduce")->collective().size, (17 * 6 + 6) * 2_B);
    // Two tasks less: one for each layer.
    EXPECT_EQ(count(small.model, small.training, 2).tasks, count(small.model, Small().training, 2).tasks - 2);
}

TEST(FlexflowProgram, AnIterationStartsWhenTheOneBeforeHasEnded) {
    Small small;
    small.training.iterations = 3;
    const Program program = small.program();
    const std::size_t once = Small().program().operations.size();
    ASSERT_EQ(program.operations.size(), 3 * once);
    EXPECT_EQ(program.iterations, 3);
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const Operation& operation = program.operations[OperationId(i)];
        EXPECT_EQ(operation.name, program.operations[OperationId(i % once)].name);
        EXPECT_EQ(operation.iteration, static_cast<int>(i / once));
        // Compute in program order and a final wait for everything: nothing needs to look further back.
        for (const OperationId dependency : operation.dependencies) {
            EXPECT_GE(dependency.index(), i / once * once);
        }
    }
}

TEST(FlexflowProgram, SizeFollowsRoundsAndLayersNotNodes) {
    const auto operations = [](std::size_t nodes) {
        const Program program = build_flexflow_program(testing::model_a(), testing::opera_study_training(),
                                                       testing::a100(), nodes);
        return program.operations.size();
    };
    // 4 for each round of tables, 4 for each of 39 layers, the concatenation twice and the wait.
    EXPECT_EQ(operations(16), 4U * 63 + 4 * 39 + 3);
    EXPECT_EQ(operations(128), 4U * 8 + 4 * 39 + 3);
    EXPECT_EQ(operations(1024), 4U * 1 + 4 * 39 + 3);
}

TEST(GemmRate, OfTheLastEntryThatDoesNotAskForMoreRows) {
    const FlexflowTraining training = testing::opera_study_training();
    const Device device = testing::a100();
    EXPECT_EQ(gemm_rate(training, device, 64), 5_TFLOPS);
    EXPECT_EQ(gemm_rate(training, device, 511), 5_TFLOPS);
    EXPECT_EQ(gemm_rate(training, device, 512), 9'400_GFLOPS);
    EXPECT_EQ(gemm_rate(training, device, 4095), 9'400_GFLOPS);
    EXPECT_EQ(gemm_rate(training, device, 4096), 17'400_GFLOPS);
    EXPECT_EQ(gemm_rate(training, device, 1'000'000), 17'400_GFLOPS);
}

TEST(GemmRate, OfTheFirstEntryBelowItAndThePeakWithoutEntries) {
    FlexflowTraining training;
    training.gemm = {{100, 2_TFLOPS}, {200, 3_TFLOPS}};
    Device device;
    device.peak = 7_TFLOPS;
    EXPECT_EQ(gemm_rate(training, device, 1), 2_TFLOPS);
    training.gemm.clear();
    EXPECT_EQ(gemm_rate(training, device, 1), 7_TFLOPS);
}

RC_GTEST_PROP(FlexflowProgram, CountsAreThoseOfTheProgram, ()) {
    FlexflowModel model{.tables = *rc::gen::inRange<std::int64_t>(1, 60),
                        .rows = 100,
                        .dimension = *rc::gen::inRange<std::int64_t>(1, 200)};
    const auto sizes = [] {
        return *rc::gen::container<std::vector<std::int64_t>>(*rc::gen::inRange<std::size_t>(2, 6),
                                                              rc::gen::inRange<std::int64_t>(1, 50));
    };
    model.bottom_mlp = sizes();
    model.top_mlp = sizes();
    const auto nodes = *rc::gen::inRange<std::size_t>(1, 20);
    FlexflowTraining training = testing::opera_study_training();
    training.gpus_per_node = *rc::gen::inRange<std::int64_t>(1, 9);
    const auto samples = *rc::gen::inRange<std::int64_t>(1, 5);
    training.batch = samples * training.gpus_per_node * static_cast<std::int64_t>(nodes);
    training.element_size = Bytes(*rc::gen::inRange<std::int64_t>(1, 9));
    training.gradient_element_size = Bytes(*rc::gen::inRange<std::int64_t>(1, 9));
    training.separate_bias = *rc::gen::arbitrary<bool>();
    training.placement = *rc::gen::element(FlexflowPlacement::kRoundRobin, FlexflowPlacement::kBalanced);
    RC_ASSERT(validation_errors(model).empty());
    RC_ASSERT(validation_errors(model, training, nodes).empty());

    const testing::Crossing sent =
        testing::crossing(build_flexflow_program(model, training, testing::a100(), nodes));
    const FlexflowCounts counts = count(model, training, nodes);
    RC_ASSERT(sent.slices == counts.slice_traffic);
    // 2·T·(N-1)·(B/N)·D·e
    RC_ASSERT(sent.slices == 2 * model.tables * static_cast<std::int64_t>(nodes - 1) * samples *
                                 training.gpus_per_node * model.dimension * training.element_size);
    RC_ASSERT(sent.all_reduce == counts.all_reduce);
    // Every table, or part of one, has an all-reduce of its own, of one member, which the program leaves out.
    const auto n = static_cast<std::int64_t>(nodes);
    const std::int64_t parts =
        training.placement == FlexflowPlacement::kBalanced ? (model.tables + n - 1) / n * n : model.tables;
    RC_ASSERT(sent.tasks + parts == counts.tasks);
}

Names keys_of(const ValidationErrors& found) {
    Names keys;
    for (const ValidationError& problem : found) {
        EXPECT_FALSE(problem.message.empty());
        keys.push_back(problem.key);
    }
    return keys;
}

TEST(FlexflowModelProblems, NoneInTheStudy) {
    EXPECT_EQ(keys_of(validation_errors(testing::model_a())), Names{});
    EXPECT_EQ(keys_of(validation_errors(testing::model_i())), Names{});
}

TEST(FlexflowModelProblems, EveryNumberOutOfRange) {
    const FlexflowModel model{
        .tables = 0, .rows = 0, .dimension = 0, .bag_size = 0, .bottom_mlp = {3}, .top_mlp = {3, 0, 1}};
    EXPECT_EQ(keys_of(validation_errors(model)),
              (Names{"tables", "rows", "dimension", "bag_size", "bottom_mlp", "top_mlp.1"}));
}

TEST(FlexflowModelProblems, MoreParametersThanCanBeCounted) {
    FlexflowModel model = Small().model;
    model.tables = 1 << 20;
    model.rows = std::int64_t{1} << 40;
    model.dimension = 1 << 20;  // 2^80 parameters
    EXPECT_EQ(keys_of(validation_errors(model)), Names{"tables"});
    model.rows = 1;
    model.top_mlp = {1, 1 << 24, 1};  // 2^40 inputs of 2^24 columns
    EXPECT_EQ(keys_of(validation_errors(model)), Names{"top_mlp"});
}

class FlexflowTrainingProblems : public ::testing::Test {
protected:
    [[nodiscard]] ValidationErrors found() const {
        return validation_errors(small_.model, small_.training, small_.nodes);
    }
    Small small_;
};

TEST_F(FlexflowTrainingProblems, None) {
    EXPECT_EQ(keys_of(found()), Names{});
}

TEST_F(FlexflowTrainingProblems, BatchThatTheGpusCannotShare) {
    small_.training.batch = 50;  // 2 nodes of 8 GPUs
    ASSERT_EQ(keys_of(found()), Names{"batch"});
    EXPECT_EQ(found().front().hint, "use a batch of 48 or 64");
    small_.training.batch = 5;
    EXPECT_EQ(found().front().hint, "use a batch of 16");
    small_.training.batch = 0;
    EXPECT_EQ(keys_of(found()), Names{"batch"});
}

TEST_F(FlexflowTrainingProblems, BatchTooLargeToCountItsWork) {
    small_.training.batch = std::numeric_limits<std::int64_t>::max();
    ASSERT_EQ(keys_of(found()), Names{"batch"});
    EXPECT_NE(found().front().message.find("too large"), std::string::npos);
}

TEST_F(FlexflowTrainingProblems, GradientsOfSoManyNodesThatTheyCannotBeCounted) {
    small_.model = testing::model_a();
    small_.nodes = std::size_t{1} << 30;  // 2·2^30·4·7.0e8 bytes are more than 2^60
    small_.training.batch = std::int64_t{1} << 33;
    EXPECT_EQ(keys_of(found()), Names{"batch"});
}

TEST_F(FlexflowTrainingProblems, NumbersOutOfRange) {
    small_.training.gpus_per_node = 0;
    small_.training.element_size = 17_B;
    small_.training.gradient_element_size = 0_B;
    small_.training.scale_down = 0;
    small_.training.iterations = 0;
    small_.training.embedding = {.forward = Time(-1), .backward = Time(-1), .samples = 0};
    EXPECT_EQ(keys_of(found()),
              (Names{"gpus_per_node", "element_size", "gradient_element_size", "scale_down", "iterations",
                     "embedding.forward", "embedding.backward", "embedding.samples"}));
}

TEST_F(FlexflowTrainingProblems, RatesOutOfOrder) {
    small_.training.gemm = {{512, 9_TFLOPS}, {512, 0_TFLOPS}, {0, 1_TFLOPS}};
    EXPECT_EQ(keys_of(found()), (Names{"gemm.1.rows", "gemm.1.rate", "gemm.2.rows", "gemm.2.rows"}));
}

TEST(FlexflowDeviceProblems, RatesThatAreMissing) {
    FlexflowTraining training;
    EXPECT_EQ(keys_of(validation_errors(Device{}, training)), (Names{"peak", "memory_bandwidth"}));
    training.gemm = {{1, 1_TFLOPS}};
    EXPECT_EQ(keys_of(validation_errors(Device{}, training)), Names{"memory_bandwidth"});
    EXPECT_EQ(keys_of(validation_errors(testing::a100(), training)), Names{});
}

TEST(FlexflowDeviceProblems, ZeroRatesAndTimesThatNobodyUses) {
    Device device{.peak = FlopRate(0), .memory_bandwidth = Bandwidth(0)};
    device.measured["Top_0"].forward = 1_us;
    EXPECT_EQ(keys_of(validation_errors(device, FlexflowTraining{})),
              (Names{"peak", "memory_bandwidth", "layers"}));
}

TEST(FlexflowTimeProblems, ComputeThatNoRunCanHold) {
    Small small;
    const auto keys = [&] {
        return keys_of(validation_errors(small.model, small.training, small.device, small.nodes));
    };
    EXPECT_EQ(keys(), Names{});
    // 53 days are 4.6e6 s; two rounds of 2·(1.0e6 + 0.1e6) s take 4.4e6 s.
    small.training.embedding.forward = 1'000'000_s;
    small.training.embedding.backward = 100'000_s;
    EXPECT_EQ(keys(), Names{});
    small.training.iterations = 2;
    EXPECT_EQ(keys(), Names{""});
    small.training.embedding = {.forward = Time::max(), .backward = Time::max(), .samples = 1};
    EXPECT_EQ(keys(), Names{""});
}

}  // namespace
}  // namespace astrolabe::workload
