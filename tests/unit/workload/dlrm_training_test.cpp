#include "workload/src/dlrm/dlrm_training.hpp"

#include "study.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::Operation;
using system::OperationId;
using system::Program;
using system::RankId;

constexpr RankId kAnyRank(0);

/// 2 + 1 tables of dimension 4; dense 10 → 8 → 4; interaction 4·3/2 + 4 = 10 → 5 → 1; 4 ranks with 6 samples
/// each; a FLOP takes 1 ps, a byte of memory 1 ns.
class Training : public ::testing::Test {
protected:
    Training() {
        model_.dense_features = 10;
        model_.bottom_mlp = {8, 4};
        model_.top_mlp = {5, 1};
        model_.tables = {{.count = 2, .rows = 100, .dimension = 4, .pooling = 3},
                         {.count = 1, .rows = 5, .dimension = 4, .pooling = 1}};
        training_.local_batch = 6;
        training_.dense_feature_gradient = true;
        device_.peak = 1_TFLOPS;
        device_.memory_bandwidth = 8_Gbps;
    }

    [[nodiscard]] TrainingPlan plan() const { return dlrm_training_plan(model_, training_, device_, kRanks); }
    [[nodiscard]] TrainingLayer layer(const std::string& name) const {
        for (TrainingLayer& candidate : plan().layers) {
            if (candidate.name == name) {
                return candidate;
            }
        }
        throw std::out_of_range(name);
    }
    static void expect_collective(const std::optional<LayerCommunication>& communication, CollectiveKind kind,
                                  Bytes size) {
        ASSERT_TRUE(communication);
        EXPECT_EQ(communication->kind, kind);
        EXPECT_EQ(communication->size, size);
    }

    static constexpr std::size_t kRanks = 4;
    DlrmModel model_;
    DlrmTraining training_;
    Device device_;
};

TEST_F(Training, GlobalAndLocalBatchMeanTheSame) {
    EXPECT_EQ(local_batch(training_, kRanks), 6);
    training_.local_batch.reset();
    training_.global_batch = 24;
    EXPECT_EQ(local_batch(training_, kRanks), 6);
}

TEST_F(Training, PlanRequiresSoundArguments) {
    training_.iterations = 0;
    EXPECT_THROW((void)plan(), std::logic_error);
}

TEST_F(Training, FixedEmbeddingTime) {
    training_.embedding_time = EmbeddingTime::kFixed;
    training_.fixed_embedding_time = 10_ns;
    EXPECT_EQ(layer("Embedding").forward[kAnyRank], 10_ns);
    EXPECT_EQ((*layer("Embedding").weight_gradient)[kAnyRank], 20_ns);  // rows are read and written
}

TEST_F(Training, MlpByFlopsOrByRoofline) {
    // Bottom_0: 2·6·10·8 = 960 FLOP; (6·10 + 10·8 + 6·8) · 2 = 376 B, which take 376 ns.
    EXPECT_EQ(layer("Bottom_0").forward[kAnyRank], 960_ps);
    training_.mlp_time = MlpTime::kRoofline;
    EXPECT_EQ(layer("Bottom_0").forward[kAnyRank], 376_ns);
    EXPECT_EQ((*layer("Bottom_0").weight_gradient)[kAnyRank], 376_ns);
}

TEST_F(Training, MeasuredTimesReplaceComputedOnesPassByPass) {
    device_.measured["Bottom_0"] = {.input_gradient = 7_us};
    device_.measured["Embedding"] = {.forward = 8_us, .weight_gradient = 9_us};
    EXPECT_EQ(layer("Bottom_0").forward[kAnyRank], 960_ps);
    EXPECT_EQ((*layer("Bottom_0").input_gradient)[kAnyRank], 7_us);
    EXPECT_EQ((*layer("Bottom_0").weight_gradient)[kAnyRank], 960_ps);
    EXPECT_EQ(layer("Embedding").forward[kAnyRank], 8_us);
    EXPECT_EQ((*layer("Embedding").weight_gradient)[kAnyRank], 9_us);
}

TEST_F(Training, DenseFeatureGradientIsLeftOutUnlessAskedFor) {
    EXPECT_TRUE(layer("Bottom_0").input_gradient);
    training_.dense_feature_gradient = DlrmTraining().dense_feature_gradient;
    EXPECT_FALSE(layer("Bottom_0").input_gradient);
    EXPECT_TRUE(layer("Bottom_1").input_gradient);
    // (3·(80 + 32 + 50 + 5) - 80) · 2·6 FLOP = 421·12.
    EXPECT_EQ(summarise(model_, training_, device_, kRanks).mlp_compute, 5052_ps);
}

TEST_F(Training, HybridCountsTheInteractionBeforeTheTop) {
    EXPECT_THROW((void)layer("Interaction"), std::out_of_range);
    training_.interaction_time = true;
    const TrainingLayer interaction = layer("Interaction");
    EXPECT_EQ(interaction.forward[kAnyRank], 768_ps);  // 6 · 2·4²·4 FLOP
    EXPECT_EQ((*interaction.input_gradient)[kAnyRank], 768_ps);
    EXPECT_FALSE(interaction.weight_gradient);

    // It needs the pooled embeddings, and their gradients need it.
    const Program program = build_dlrm_program(model_, training_, device_, kRanks);
    for (const Operation& operation : program.operations) {
        if (operation.name == "Interaction.forward") {
            ASSERT_EQ(operation.dependencies.size(), 1U);
            EXPECT_EQ(program.operations[operation.dependencies[0]].name, "Embedding.forward.all_to_all");
        }
        if (operation.name == "Embedding.input_gradient.all_to_all") {
            ASSERT_EQ(operation.dependencies.size(), 1U);
            EXPECT_EQ(program.operations[operation.dependencies[0]].name, "Interaction.input_gradient");
        }
    }
}

TEST_F(Training, InteractionByRooflineMovesItsVectors) {
    training_.interaction_time = true;
    training_.mlp_time = MlpTime::kRoofline;
    // 6 samples · (4 + 12 in, 10 out) · 2 B = 312 B.
    EXPECT_EQ(layer("Interaction").forward[kAnyRank], 312_ns);
}

TEST_F(Training, HybridUpdatesInTheOrderAskedFor) {
    training_.embedding_update = EmbeddingUpdate::kBeforeGradients;
    const Program program = build_dlrm_program(model_, training_, device_, kRanks);
    EXPECT_EQ(program.operations[OperationId(program.operations.size() - 1)].name,
              "Embedding.input_gradient.all_to_all.wait");
}

TEST_F(Training, DataExchangesTheRowsTouched) {
    training_.parallelism = Parallelism::kData;
    const TrainingLayer embedding = layer("Embedding");
    EXPECT_FALSE(embedding.forward_communication);
    EXPECT_FALSE(embedding.input_gradient_communication);
    // 2 tables · 6·3 = 18 rows, and min(6·1, 5) = 5 rows of the small one: 41 rows of 4·2 + 8 B.
    expect_collective(embedding.weight_gradient_communication, CollectiveKind::kAllGather, 656_B);
    // Lookup, and gradient, of 6·(2·3·4 + 4) values, 2 bytes each.
    EXPECT_EQ(embedding.forward[kAnyRank], 336_ns);
    EXPECT_EQ((*embedding.weight_gradient)[kAnyRank], 336_ns);
    // 4 ranks' 41 rows of 4 values, read and written, 2 bytes each.
    EXPECT_EQ(embedding.update_delay, 2624_ns);
}

TEST_F(Training, DataCanExchangeWholeTables) {
    training_.parallelism = Parallelism::kData;
    training_.embedding_gradients = EmbeddingGradients::kDense;
    const TrainingLayer embedding = layer("Embedding");
    // (2·100 + 5) rows of 4 values, 2 bytes each; read and written.
    expect_collective(embedding.weight_gradient_communication, CollectiveKind::kAllReduce, 1640_B);
    EXPECT_EQ(embedding.update_delay, 3280_ns);
}

TEST_F(Training, DataScalesAFixedEmbeddingTimeToTheRowsUpdated) {
    training_.parallelism = Parallelism::kData;
    training_.embedding_time = EmbeddingTime::kFixed;
    training_.fixed_embedding_time = 168_ns;              // 168 values are looked up: 1 ns each
    EXPECT_EQ(layer("Embedding").update_delay, 1312_ns);  // 4·41·4 values twice
}

TEST_F(Training, DataWithMeasuredEmbeddingGradientHoldsTheUpdate) {
    training_.parallelism = Parallelism::kData;
    device_.measured["Embedding"] = {.forward = 1_us, .weight_gradient = 2_us};
    device_.memory_bandwidth.reset();
    EXPECT_EQ((*layer("Embedding").weight_gradient)[kAnyRank], 2_us);
    EXPECT_EQ(layer("Embedding").update_delay, 0_ns);
}

TEST_F(Training, DataReducesTheMlpsAsHybridDoes) {
    training_.parallelism = Parallelism::kData;
    expect_collective(layer("Bottom_0").weight_gradient_communication, CollectiveKind::kAllReduce, 160_B);
    EXPECT_EQ(layer("Bottom_0").forward[kAnyRank], 960_ps);
}

TEST_F(Training, ModelShardsLayersAndExchangesActivations) {
    training_.parallelism = Parallelism::kModel;
    const TrainingLayer bottom = layer("Bottom_0");
    EXPECT_EQ(bottom.forward[kAnyRank], 960_ps);  // 2·24·10·8 / 4 FLOP
    expect_collective(bottom.forward_communication, CollectiveKind::kAllGather, 96_B);  // 24·8·2 / 4
    EXPECT_FALSE(bottom.input_gradient_communication);  // of the dense features
    EXPECT_FALSE(bottom.weight_gradient_communication);

    const TrainingLayer last_bottom = layer("Bottom_1");
    expect_collective(last_bottom.forward_communication, CollectiveKind::kAllToAll, 48_B);  // 24·4·2 / 4
    expect_collective(last_bottom.input_gradient_communication, CollectiveKind::kReduceScatter,
                      384_B);  // 24·8·2

    const TrainingLayer top = layer("Top_0");
    expect_collective(top.forward_communication, CollectiveKind::kAllGather, 60_B);  // 24·5·2 / 4
    expect_collective(top.input_gradient_communication, CollectiveKind::kReduceScatter, 480_B);  // 24·10·2
}

TEST_F(Training, ModelExchangesAroundTheInteraction) {
    training_.parallelism = Parallelism::kModel;
    const TrainingLayer embedding = layer("Embedding");
    expect_collective(embedding.forward_communication, CollectiveKind::kAllToAll, 144_B);  // 6·12·2
    EXPECT_FALSE(embedding.input_gradient_communication);  // comes with the interaction's
    EXPECT_EQ((*embedding.weight_gradient)[kAnyRank], 672_ns);

    const TrainingLayer interaction = layer("Interaction");
    EXPECT_EQ(interaction.forward[kAnyRank], 0_ns);
    expect_collective(interaction.forward_communication, CollectiveKind::kAllGather, 120_B);  // 6·10·2
    expect_collective(interaction.input_gradient_communication, CollectiveKind::kAllToAll,
                      192_B);  // 6·(12 + 4)·2
}

TEST_F(Training, ModelByRooflineReadsAllSamplesAndAShareOfTheWeights) {
    training_.parallelism = Parallelism::kModel;
    training_.mlp_time = MlpTime::kRoofline;
    // Top_1, 5 × 1: 24·5 inputs, ceil(5/4) weights, 24·1/4 outputs: 128 · 2 B.
    EXPECT_EQ(layer("Top_1").forward[kAnyRank], 256_ns);
}

TEST_F(Training, ModelUpdatesEmbeddingsFromGradientsThatHaveArrived) {
    training_.parallelism = Parallelism::kModel;
    const Program program = build_dlrm_program(model_, training_, device_, kRanks);
    // Bottom_1's input gradient needs the interaction's exchange; the update runs last, on one compute
    // engine.
    EXPECT_EQ(program.operations[OperationId(program.operations.size() - 1)].name,
              "Embedding.weight_gradient");
    for (const Operation& operation : program.operations) {
        if (operation.name == "Bottom_1.input_gradient") {
            ASSERT_EQ(operation.dependencies.size(), 1U);
            EXPECT_EQ(program.operations[operation.dependencies[0]].name,
                      "Interaction.input_gradient.all_to_all");
        }
    }
}

/// Whatever the model and the training: the program is sound, its iterations are alike, and its collectives
/// sum up to the summary's traffic.
RC_GTEST_PROP(TrainingProperty, SummaryCountsWhatTheProgramDoes, ()) {
    const auto width = [] { return *rc::gen::inRange<std::int64_t>(1, 300); };
    const std::int64_t dimension = width();
    DlrmModel model;
    model.dense_features = width();
    model.bottom_mlp = {width(), dimension};
    model.top_mlp = {width(), width(), 1};
    model.tables = {{.count = *rc::gen::inRange<std::int64_t>(1, 40),
                     .rows = width(),
                     .dimension = dimension,
                     .pooling = width()}};
    model.interaction = *rc::gen::element(Interaction::kDot, Interaction::kConcatenation);
    model.element_size = Bytes(*rc::gen::inRange<std::int64_t>(1, 9));
    DlrmTraining training;
    training.parallelism = *rc::gen::element(Parallelism::kData, Parallelism::kModel, Parallelism::kHybrid);
    training.local_batch = width();
    training.iterations = *rc::gen::inRange(1, 4);
    training.interaction_time = *rc::gen::arbitrary<bool>();
    training.dense_feature_gradient = *rc::gen::arbitrary<bool>();
    if (training.parallelism == Parallelism::kData) {
        training.embedding_gradients =
            *rc::gen::element(EmbeddingGradients::kSparse, EmbeddingGradients::kDense);
    }
    if (training.parallelism == Parallelism::kHybrid) {
        training.embedding_update = *rc::gen::element(
            EmbeddingUpdate::kAfterGradients, EmbeddingUpdate::kBeforeGradients, EmbeddingUpdate::kStale);
        if (training.embedding_update == EmbeddingUpdate::kStale && *rc::gen::arbitrary<bool>()) {
            training.staleness = *rc::gen::inRange(0, 5);
        }
    }
    const Device device{.peak = 3_TFLOPS, .memory_bandwidth = 7_Gbps};
    const auto ranks = *rc::gen::inRange<std::size_t>(1, 9);
    RC_ASSERT(validation_errors(model).empty());
    RC_ASSERT(validation_errors(training, model, ranks).empty());

    const Program program = build_dlrm_program(model, training, device, ranks);
    const DlrmSummary summary = summarise(model, training, device, ranks);
    program.check();
    std::array<Bytes, system::kCollectiveKinds> traffic{};
    Time compute;
    for (const Operation& operation : program.operations) {
        if (operation.is_compute()) {
            compute += operation.compute().duration[kAnyRank];
        } else {
            traffic[static_cast<std::size_t>(operation.collective().kind)] += operation.collective().size;
        }
    }
    for (std::size_t kind = 0; kind < traffic.size(); ++kind) {
        RC_ASSERT(traffic[kind] == training.iterations * summary.traffic[kind]);
    }
    RC_ASSERT(compute == training.iterations *
                             (summary.mlp_compute + summary.embedding_compute + summary.interaction_compute));
}

}  // namespace
}  // namespace astrolabe::workload
