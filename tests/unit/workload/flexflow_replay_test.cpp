/// Programs with the semantics of the EuroMLSys 2024 study's replay (docs/theory/opera-dlrm-study.md, "Task
/// graph", "Traffic" and "All-reduces of the replay").
#include "flexflow_dlrm_study.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::CollectiveOperation;
using system::ComputeOrder;
using system::Operation;
using system::OperationId;
using system::Program;
using testing::model_a;
using testing::model_i;
using testing::opera_study_training;

using Names = std::vector<std::string>;

/// Two rounds of tables on two nodes.
Program small_program(const FlexflowReplay& replay, int iterations = 1) {
    const FlexflowModel model{
        .tables = 3, .rows = 10, .dimension = 5, .bag_size = 2, .bottom_mlp = {7, 2}, .top_mlp = {9, 6}};
    FlexflowTraining training;
    training.batch = 48;
    training.embedding = {.forward = 10_us, .backward = 30_us, .samples = 24};
    training.iterations = iterations;
    training.replay = replay;
    Device device;
    device.peak = 1_TFLOPS;
    device.memory_bandwidth = Bandwidth(8'000'000'000'000);
    return build_flexflow_program(model, training, device, 2);
}

Program study_program(const FlexflowModel& model, std::size_t nodes, const FlexflowReplay& replay,
                      std::int64_t scale_down = 1) {
    FlexflowTraining training = opera_study_training();
    training.replay = replay;
    training.scale_down = scale_down;
    return build_flexflow_program(model, training, testing::a100(), nodes);
}

std::map<std::string, Names> dependencies(const Program& program) {
    std::map<std::string, Names> found;
    for (const Operation& operation : program.operations) {
        Names& names = found[operation.name];
        for (const OperationId id : operation.dependencies) {
            names.push_back(program.operations[id].name);
        }
    }
    return found;
}

TEST(FlexflowReplay, NothingIsAsInTheReplayUnlessAKeySaysSo) {
    const Program program = small_program({});
    EXPECT_EQ(program.compute_order, ComputeOrder::kProgram);
    EXPECT_EQ(dependencies(program)["Top_0.backward.kernel.all_reduce"], Names{"Top_0.backward"});
}

TEST(FlexflowReplay, InFirstComeOrderTheGraphIsThatOfTheStudy) {
    const Program program = small_program({.task_order = TaskOrder::kFirstCome});
    EXPECT_EQ(program.compute_order, ComputeOrder::kFirstCome);
    const std::map<std::string, Names> expected{
        {"Embedding_0.forward", {}},
        {"Embedding_0.forward.all_to_all", {"Embedding_0.forward"}},
        {"Embedding_1.forward", {}},
        {"Embedding_1.forward.all_to_all", {"Embedding_1.forward"}},
        {"Bottom_0.forward", {}},
        {"Concat.forward",
         {"Embedding_0.forward.all_to_all", "Embedding_1.forward.all_to_all", "Bottom_0.forward"}},
        {"Top_0.forward", {"Concat.forward"}},
        {"Top_0.backward", {"Top_0.forward"}},
        {"Top_0.backward.kernel.all_reduce", {"Top_0.backward"}},
        {"Top_0.backward.bias.all_reduce", {"Top_0.backward"}},
        {"Concat.backward", {"Top_0.backward"}},
        {"Embedding_0.backward.all_to_all", {"Concat.backward"}},
        {"Embedding_1.backward.all_to_all", {"Concat.backward"}},
        {"Bottom_0.backward", {"Concat.backward"}},
        {"Bottom_0.backward.kernel.all_reduce", {"Bottom_0.backward"}},
        {"Bottom_0.backward.bias.all_reduce", {"Bottom_0.backward"}},
        {"Embedding_0.backward", {"Embedding_0.backward.all_to_all"}},
        {"Embedding_1.backward", {"Embedding_1.backward.all_to_all"}},
        {"Gradients.wait",
         {"Top_0.backward.kernel.all_reduce", "Top_0.backward.bias.all_reduce",
          "Bottom_0.backward.kernel.all_reduce", "Bottom_0.backward.bias.all_reduce", "Embedding_0.backward",
          "Embedding_1.backward"}}};
    EXPECT_EQ(dependencies(program), expected);
}

TEST(FlexflowReplay, InFirstComeOrderAnIterationStartsWhenTheOneBeforeHasEnded) {
    const Program program = small_program({.task_order = TaskOrder::kFirstCome}, 2);
    std::optional<OperationId> end;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const Operation& operation = program.operations[OperationId(i)];
        if (operation.iteration == 0 && operation.name == "Gradients.wait") {
            end = OperationId(i);
        }
        const bool starts = operation.name == "Bottom_0.forward" || operation.name == "Embedding_0.forward" ||
                            operation.name == "Embedding_1.forward";
        if (operation.iteration == 1 && starts) {
            EXPECT_EQ(operation.dependencies, std::vector<OperationId>{*end}) << operation.name;
        } else if (operation.iteration == 1) {
            for (const OperationId dependency : operation.dependencies) {
                EXPECT_GT(dependency, *end) << operation.name;
            }
        }
    }
}

TEST(FlexflowReplay, AllReducesThatWaitForAllNodesFollowACollectiveWithoutBytes) {
    const Program program = small_program({.all_reduce_start = AllReduceStart::kAllGradients});
    const std::map<std::string, Names> found = dependencies(program);
    for (const std::string layer : {"Top_0", "Bottom_0"}) {
        const std::string barrier = layer + ".backward.on_all_nodes.all_reduce";
        EXPECT_EQ(found.at(barrier), Names{layer + ".backward"});
        EXPECT_EQ(found.at(layer + ".backward.kernel.all_reduce"), Names{barrier});
        EXPECT_EQ(found.at(layer + ".backward.bias.all_reduce"), Names{barrier});
    }
    for (const Operation& operation : program.operations) {
        if (operation.name.find("on_all_nodes") != std::string::npos) {
            EXPECT_EQ(operation.collective().size, 0_B);
        }
    }
}

/// What an early stop sends, from the program: whole all-reduces, and flows that go around once.
struct Sent {
    Bytes all_reduce;
    std::size_t once_around = 0;
};
Sent sent_by(const Program& program) {
    const auto nodes = static_cast<std::int64_t>(program.ranks);
    Sent sent;
    for (const Operation& operation : program.operations) {
        if (operation.is_compute() || operation.layer == "Embedding") {
            continue;
        }
        const CollectiveOperation& work = operation.collective();
        if (work.kind == CollectiveKind::kAllReduce) {
            EXPECT_EQ(work.size % Bytes(nodes), 0_B) << "shards are whole";
            sent.all_reduce += 2 * (nodes - 1) * work.size;
            continue;
        }
        ++sent.once_around;
        const system::PairSizes& sizes = work.pair_sizes->front();
        sent.all_reduce += sizes.crossing();
        for (std::size_t node = 0; node < program.ranks; ++node) {
            EXPECT_EQ(sizes(node, (node + 1) % program.ranks), work.size);
            EXPECT_EQ(sizes.held(node), work.size) << "for the next node alone";
        }
    }
    return sent;
}

TEST(FlexflowReplay, AnEarlyStopSendsWhatTheReplayCounts) {
    for (const std::size_t nodes : {16, 128}) {
        for (const FlexflowModel& model : {model_a(), model_i()}) {
            FlexflowTraining training = opera_study_training();
            training.replay = FlexflowReplay{.early_stop = true};
            const ReplayTraffic counted = replay_traffic(model, training, nodes);
            const Sent sent = sent_by(study_program(model, nodes, *training.replay));
            EXPECT_EQ(sent.all_reduce, counted.all_reduce);
            EXPECT_EQ(static_cast<std::int64_t>(sent.once_around), counted.sent_once_around);
            EXPECT_EQ(count(model, training, nodes).all_reduce, counted.all_reduce);
            EXPECT_EQ(count(model, training, nodes).all_reduce_share, counted.all_reduce_share);
        }
    }
}

TEST(FlexflowReplay, TensorsOfModelIThatGoAroundOnce) {
    const auto once_around = [](std::size_t nodes) {
        FlexflowTraining training = opera_study_training();
        training.replay = FlexflowReplay{};
        const ReplayTraffic traffic = replay_traffic(model_i(), training, nodes);
        EXPECT_EQ(traffic.tensors, 170);  // kernel and bias of 85 layers
        return traffic.sent_once_around;
    };
    // 85 biases and the last kernel, 682 -> 1; on 128 nodes and more also 83 kernels of 682 x 682.
    EXPECT_EQ(once_around(16), 86);
    EXPECT_EQ(once_around(128), 169);
    EXPECT_EQ(once_around(1024), 169);
}

TEST(FlexflowReplay, ScaledDownWithAllElse) {
    // 2(N-1)·⌊45,562,500/16⌋·16 bytes of a square kernel, and a flow of 8,936 of a bias, over 16.
    const Program program = study_program(model_a(), 16, {.early_stop = true}, 16);
    std::map<std::string, Bytes> size;
    for (const Operation& operation : program.operations) {
        if (!operation.is_compute()) {
            size[operation.name] = operation.collective().size;
        }
    }
    EXPECT_EQ(size.at("Top_1.backward.kernel.all_reduce"), 2'847'656_B);      // 16 shards of it, over 16
    EXPECT_EQ(size.at("Top_1.backward.bias.once_around.all_to_all"), 559_B);  // 558.5
}

TEST(FlexflowReplay, RulesThatMakeNoRing) {
    FlexflowTraining training = opera_study_training();
    training.replay = FlexflowReplay{.packet = 1500_B};
    const ValidationErrors found = validation_errors(model_a(), training, 16);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().key, "replay.least_flow");
    EXPECT_NE(found.front().hint.find("1500B with 0B"), std::string::npos);
    training.replay->packet = 0_B;
    EXPECT_EQ(validation_errors(model_a(), training, 16).front().key, "replay.packet");
}

}  // namespace
}  // namespace astrolabe::workload
