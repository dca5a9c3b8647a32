#include "study.hpp"
#include "workload/src/dlrm/dlrm_training.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;

using Keys = std::vector<std::string>;

Keys keys_of(const ValidationErrors& found) {
    Keys keys;
    for (const ValidationError& problem : found) {
        EXPECT_FALSE(problem.message.empty());
        keys.push_back(problem.key);
    }
    return keys;
}

class TrainingProblems : public ::testing::Test {
protected:
    [[nodiscard]] ValidationErrors found() const {
        return validation_errors(study_.training, study_.model, study_.ranks);
    }
    testing::Profile study_ = testing::mini16();
};

TEST_F(TrainingProblems, NoneInTheStudy) {
    EXPECT_EQ(keys_of(found()), Keys{});
}

TEST_F(TrainingProblems, GlobalBatchThatRanksCannotShare) {
    study_.training.local_batch.reset();
    study_.training.global_batch = 100;  // 16 ranks: 96 = 6·16, 112 = 7·16
    ASSERT_EQ(keys_of(found()), Keys{"batch"});
    EXPECT_EQ(found().front().hint, "use a global batch of 96 or 112, or give the local batch");
}

TEST_F(TrainingProblems, GlobalBatchSmallerThanTheRanks) {
    study_.training.local_batch.reset();
    study_.training.global_batch = 5;
    ASSERT_EQ(keys_of(found()), Keys{"batch"});
    EXPECT_EQ(found().front().hint, "use a global batch of 16, or give the local batch");
}

TEST_F(TrainingProblems, NoBatch) {
    study_.training.local_batch.reset();
    EXPECT_EQ(keys_of(found()), Keys{"batch"});
}

TEST_F(TrainingProblems, BothBatches) {
    study_.training.global_batch = 2048;
    EXPECT_EQ(keys_of(found()), Keys{"batch"});
}

TEST_F(TrainingProblems, EmptyBatch) {
    study_.training.local_batch = 0;
    EXPECT_EQ(keys_of(found()), Keys{"batch"});
}

TEST_F(TrainingProblems, BatchTooLargeToCountItsWork) {
    study_.training.local_batch = std::int64_t{1} << 50;
    EXPECT_EQ(keys_of(found()), Keys{"batch"});
}

TEST_F(TrainingProblems, BatchTooLargeForTheIntegersThatCheckIt) {
    // 2^62 samples on 2^20 ranks, 8·2^42 and more operations each: 2^127 is beyond signed 128-bit integers.
    study_.model.bottom_mlp = {1 << 21, 1 << 21, 64};
    study_.training.local_batch = std::int64_t{1} << 62;
    study_.ranks = std::size_t{1} << 20;
    EXPECT_EQ(keys_of(found()), Keys{"batch"});
}

TEST_F(TrainingProblems, GlobalBatchNextToTheLargestInteger) {
    // Too large comes before not divisible: the next multiple of 16 is no 64-bit integer.
    study_.training.local_batch.reset();
    study_.training.global_batch = std::numeric_limits<std::int64_t>::max();
    ASSERT_EQ(keys_of(found()), Keys{"batch"});
    EXPECT_NE(found().front().message.find("too large"), std::string::npos);
}

TEST_F(TrainingProblems, NoIterations) {
    study_.training.iterations = 0;
    EXPECT_EQ(keys_of(found()), Keys{"iterations"});
}

TEST_F(TrainingProblems, NegativeEmbeddingTime) {
    study_.training.embedding_time = EmbeddingTime::kFixed;
    study_.training.fixed_embedding_time = Time(-1);
    EXPECT_EQ(keys_of(found()), Keys{"embedding_time"});
}

TEST_F(TrainingProblems, GradientsOfCopiesWhereNoTableHasAny) {
    study_.training.embedding_gradients = EmbeddingGradients::kDense;
    EXPECT_EQ(keys_of(found()), Keys{"embedding_gradients"});
    study_.training.sharding.plan = ShardingMethod::kRoundRobin;
    EXPECT_EQ(keys_of(found()), Keys{"embedding_gradients"});
    study_.training.sharding.tables = {{.first = 0, .count = 1, .sharding = TableSharding::kDataParallel}};
    EXPECT_EQ(keys_of(found()), Keys{});
    study_.training.sharding = {};
    study_.training.parallelism = Parallelism::kData;
    EXPECT_EQ(keys_of(found()), Keys{});
}

TEST_F(TrainingProblems, ABoundOfUpdatesThatAreNotStale) {
    study_.training.staleness = 1;
    EXPECT_EQ(keys_of(found()), Keys{"staleness"});
    study_.training.embedding_update = EmbeddingUpdate::kStale;
    EXPECT_EQ(keys_of(found()), Keys{});
}

TEST_F(TrainingProblems, OrderOfAnEmbeddingUpdateWithoutItsAllToAll) {
    study_.training.embedding_update = EmbeddingUpdate::kStale;
    EXPECT_EQ(keys_of(found()), Keys{});
    for (const Parallelism parallelism : {Parallelism::kData, Parallelism::kModel}) {
        study_.training.parallelism = parallelism;
        EXPECT_EQ(keys_of(found()), Keys{"embedding_update"});
    }
}

class TimeProblems : public ::testing::Test {
protected:
    [[nodiscard]] Keys keys() const {
        return keys_of(validation_errors(study_.model, study_.training, study_.device, study_.ranks));
    }
    testing::Profile study_ = testing::mini16();
};

TEST_F(TimeProblems, NoneInTheStudy) {
    EXPECT_EQ(keys(), Keys{});
}

TEST_F(TimeProblems, ComputeOfAllIterationsThatNoRunCanHold) {
    // 6·128·1,401,344 FLOP = 1.0762e9 take 1.0762e6 s at 1000 FLOP/s; half of time is 4.6117e6 s.
    study_.device.peak = FlopRate(1000);
    study_.training.iterations = 4;
    EXPECT_EQ(keys(), Keys{});
    EXPECT_NO_THROW((void)build_dlrm_program(study_.model, study_.training, study_.device, study_.ranks));
    study_.training.iterations = 5;
    EXPECT_EQ(keys(), Keys{""});
    EXPECT_THROW((void)build_dlrm_program(study_.model, study_.training, study_.device, study_.ranks),
                 std::logic_error);
}

TEST_F(TimeProblems, TimesThatSaturate) {
    study_.device.peak = FlopRate(1);
    study_.training.local_batch = std::int64_t{1} << 30;
    EXPECT_EQ(keys(), Keys{""});
}

TEST_F(TimeProblems, MeasuredTimesWhoseSumNoIntegerHolds) {
    study_.device.measured["Top_0"].forward = Time::max();
    study_.device.measured["Top_1"].forward = Time::max();
    EXPECT_EQ(keys(), Keys{""});
}

TEST_F(TimeProblems, FixedLookupWhoseUpdateNoIntegerHolds) {
    study_.training.embedding_time = EmbeddingTime::kFixed;
    study_.training.fixed_embedding_time = Time::max();
    EXPECT_EQ(keys(), Keys{""});
}

class DeviceProblems : public ::testing::Test {
protected:
    [[nodiscard]] Keys keys() const {
        return keys_of(validation_errors(study_.device, study_.training, study_.model));
    }
    void measure_everything() {
        const LayerTimes times{.forward = 1_us, .input_gradient = 2_us, .weight_gradient = 3_us};
        study_.device.measured["Embedding"] = {.forward = 1_us, .weight_gradient = 3_us};
        for (const MlpLayer& layer : bottom_layers(study_.model)) {
            study_.device.measured[layer.name] = times;
        }
        for (const MlpLayer& layer : top_layers(study_.model)) {
            study_.device.measured[layer.name] = times;
        }
    }
    testing::Profile study_ = testing::mini8();
};

TEST_F(DeviceProblems, NoneInTheStudy) {
    EXPECT_EQ(keys(), Keys{});
}

TEST_F(DeviceProblems, NoPeak) {
    study_.device.peak.reset();
    EXPECT_EQ(keys(), Keys{"peak"});
}

TEST_F(DeviceProblems, ZeroRates) {
    study_.device.peak = FlopRate(0);
    study_.device.memory_bandwidth = Bandwidth(0);
    EXPECT_EQ(keys(), (Keys{"peak", "memory_bandwidth"}));
}

TEST_F(DeviceProblems, MemoryBandwidthIsNeededByTheRuleThatUsesIt) {
    study_.device.memory_bandwidth.reset();
    EXPECT_EQ(keys(), Keys{"memory_bandwidth"});
    study_.training.embedding_time = EmbeddingTime::kFlops;
    EXPECT_EQ(keys(), Keys{});
    study_.training.mlp_time = MlpTime::kRoofline;
    EXPECT_EQ(keys(), Keys{"memory_bandwidth"});
}

TEST_F(DeviceProblems, MeasuredEverywhereNeedsNoRates) {
    measure_everything();
    study_.device.peak.reset();
    study_.device.memory_bandwidth.reset();
    EXPECT_EQ(keys(), Keys{});
    study_.device.measured["Top_1"].weight_gradient.reset();
    EXPECT_EQ(keys(), Keys{"peak"});
}

TEST_F(DeviceProblems, MeasuredLayerThatDoesNotExist) {
    study_.device.measured["Botom_0"].forward = 1_us;
    const auto found = validation_errors(study_.device, study_.training, study_.model);
    ASSERT_EQ(keys_of(found), Keys{"layers.Botom_0"});
    EXPECT_NE(found.front().hint.find("Bottom_0"), std::string::npos);
}

TEST_F(DeviceProblems, MeasuredInteractionCountsOnlyWhereTheInteractionDoes) {
    study_.device.measured["Interaction"].forward = 1_us;
    EXPECT_EQ(keys(), Keys{"layers.Interaction"});
    study_.training.interaction_time = true;
    EXPECT_EQ(keys(), Keys{});
}

TEST_F(DeviceProblems, MeasuredPassesThatALayerDoesNotHave) {
    study_.training.interaction_time = true;
    study_.device.measured["Embedding"].input_gradient = 1_us;
    study_.device.measured["Interaction"].weight_gradient = 1_us;
    EXPECT_EQ(keys(), (Keys{"layers.Embedding.input_gradient", "layers.Interaction.weight_gradient"}));
}

TEST_F(DeviceProblems, NegativeMeasuredTime) {
    study_.device.measured["Top_0"].input_gradient = Time(-5);
    EXPECT_EQ(keys(), Keys{"layers.Top_0.input_gradient"});
}

}  // namespace
}  // namespace astrolabe::workload
