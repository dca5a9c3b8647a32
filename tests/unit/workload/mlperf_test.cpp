// `training: mlperf`: the published plans, sizes of exchanges by hand, and what hides what.

#include "tests/unit/system/program_builder.hpp"
#include "workload/src/dlrm/mlperf/mlperf_loop.hpp"
#include "workload/src/dlrm/mlperf/mlperf_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::workload::mlperf {
namespace {

using namespace literals;
using system::PerRank;

using Tables = std::vector<std::vector<std::size_t>>;

/// MLPerf's DLRM-DCNv2 (inputs/models/dlrm-dcnv2-mlperf.yaml).
DlrmModel dcnv2() {
    DlrmModel model{.dense_features = 13,
                    .bottom_mlp = {512, 256, 128},
                    .top_mlp = {1024, 1024, 512, 256, 1},
                    .interaction = Interaction::kDcnV2,
                    .element_size = Bytes(4),
                    .activation_element_size = Bytes(2),
                    .gradient_element_size = Bytes(2)};
    model.cross = {.layers = 3, .rank = 512};
    model.biases = true;
    model.tables = {
        {.count = 26,
         .rows = TableValues(
             std::vector<std::int64_t>{40000000, 39060,    17295,    7424,     20265,  3,     7122, 1543, 63,
                                       40000000, 3067956,  405282,   10,       2209,   11938, 155,  4,    976,
                                       14,       40000000, 40000000, 40000000, 590152, 12973, 108,  36}),
         .dimension = 128,
         .pooling = TableValues(std::vector<std::int64_t>{3, 2, 1, 2, 6, 1, 1,  1,   1,  7,  3, 8, 1,
                                                          6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1})}};
    return model;
}

/// Of hosts of eight.
DlrmTraining training_of(std::int64_t batch) {
    DlrmTraining training;
    training.framework = MlperfTraining{};
    std::get<MlperfTraining>(training.framework).ranks_per_host = 8;
    training.global_batch = batch;
    training.embedding_time = EmbeddingTime::kFbgemm;
    training.embedding_optimizer = EmbeddingOptimizer::kAdagrad;
    training.dense_optimizer = DenseOptimizer::kAdagrad;
    training.mlp_time = MlpTime::kGemm;
    training.precision = Precision::kFp16;
    return training;
}

const Device kDevice{.peak = 500_TFLOPS, .memory_bandwidth = Bandwidth(16'000'000'000'000)};

TEST(MlperfSharding, OfOneHostIsTheSubmissions) {
    const auto plan = mlperf_sharding(dcnv2(), training_of(55'296), 8);
    ASSERT_TRUE(plan);
    // Weights and Adagrad's state of a row: 1,024 B; 8 MB are 7,812 rows.
    EXPECT_EQ(plan->replicated, (std::vector<std::size_t>{3, 5, 6, 7, 8, 12, 13, 15, 16, 17, 18, 24, 25}));
    std::map<std::size_t, std::int64_t> cut;
    for (std::size_t table = 0; table < 26; ++table) {
        if (plan->shards[table] > 1) {
            cut[table] = plan->shards[table];
        }
    }
    EXPECT_EQ(cut, (std::map<std::size_t, std::int64_t>{{20, 8}, {21, 2}}));
    // The ranks are the published ones, but that tables 10 and 23, of three lookups each, change places.
    EXPECT_EQ(
        plan->placed,
        (Tables{
            {21, 20}, {21, 20}, {20, 19}, {20, 22, 2}, {20, 14, 1}, {20, 11, 0}, {20, 9, 10}, {20, 4, 23}}));
    // Ranks 0 and 1: 27/2 + 100/8 lookups and two shards of 7/4.
    EXPECT_DOUBLE_EQ(plan->cost, 13.5 + 12.5 + 2 * 1.75);
}

TEST(MlperfSharding, OfEightHostsIsTheSubmissions) {
    const auto plan = mlperf_sharding(dcnv2(), training_of(135'168), 64);
    ASSERT_TRUE(plan);
    // 12.5 MB are 12,207 rows: table 14 as well.
    EXPECT_EQ(plan->replicated,
              (std::vector<std::size_t>{3, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17, 18, 24, 25}));
    EXPECT_EQ(plan->placed, (Tables{{21}, {20, 10}, {20, 0}, {20, 1}, {20, 2}, {19, 23}, {22, 4}, {11, 9}}));
    EXPECT_EQ(plan->shards[20], 4);
}

TEST(MlperfSharding, WithoutRoomThereIsNone) {
    DlrmTraining training = training_of(55'296);
    // 204,184,588 rows of 1,024 B over 8 ranks are 26.1 GB.
    std::get<MlperfTraining>(training.framework).memory = 26_GB;
    EXPECT_FALSE(mlperf_sharding(dcnv2(), training, 8));
    std::get<MlperfTraining>(training.framework).memory = 30_GB;
    EXPECT_TRUE(mlperf_sharding(dcnv2(), training, 8));
    // A copy of all of it on every rank is 209 GB of rows and state.
    std::get<MlperfTraining>(training.framework).replicate_below = 1000_GB;
    EXPECT_FALSE(mlperf_sharding(dcnv2(), training, 8));
    std::get<MlperfTraining>(training.framework).memory = 210_GB;
    EXPECT_TRUE(mlperf_sharding(dcnv2(), training, 8));
}

TEST(MlperfTraining, SaysWhatItDoesNotHave) {
    EXPECT_TRUE(validation_errors(training_of(55'296), dcnv2(), 8).empty());
    DlrmTraining training = training_of(55'296);
    training.gradient_buckets = GradientBuckets{};
    training.embedding_time = EmbeddingTime::kBandwidth;
    std::get<MlperfTraining>(training.framework).ranks_per_host = 3;
    std::vector<std::string> keys;
    for (const ValidationError& error : validation_errors(training, dcnv2(), 8)) {
        keys.push_back(error.key);
    }
    EXPECT_EQ(keys,
              (std::vector<std::string>{"gradient_buckets", "embedding_time", "training.ranks_per_host"}));
    training = training_of(55'296);
    std::get<MlperfTraining>(training.framework).memory = 26_GB;
    const ValidationErrors errors = validation_errors(dcnv2(), training, kDevice, 8);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.front().key, "training.memory");
    EXPECT_NE(errors.front().message.find("104.5 GB of weights"), std::string::npos)
        << errors.front().message;
}

RC_GTEST_PROP(MlperfSharding, PlacesEveryShardOnceWhereThereIsRoom, ()) {
    const auto buckets = *rc::gen::inRange<std::size_t>(1, 9);
    const auto count = *rc::gen::inRange<std::size_t>(1, 12);
    std::vector<PlannedTable> tables;
    for (std::size_t i = 0; i < count; ++i) {
        tables.push_back({.pooling = *rc::gen::inRange<std::int64_t>(1, 100),
                          .size = Bytes(*rc::gen::inRange<std::int64_t>(1, 1000))});
    }
    const Bytes memory(*rc::gen::inRange<std::int64_t>(100, 4000));
    const Bytes small(*rc::gen::inRange<std::int64_t>(0, 50));
    const auto plan = plan_shards(tables, {.count = buckets, .ranks = 1, .memory = memory}, small, 1.75);
    if (!plan) {
        return;
    }
    Bytes replicated;
    for (const std::size_t table : plan->replicated) {
        RC_ASSERT(tables[table].size < small);
        RC_ASSERT(plan->shards[table] == 0);
        replicated += tables[table].size;
    }
    std::vector<std::int64_t> placed(count, 0);
    for (const std::vector<std::size_t>& bucket : plan->placed) {
        Bytes held = replicated;
        for (const std::size_t table : bucket) {
            ++placed[table];
            held += Bytes(tables[table].size.count() / plan->shards[table]);
            RC_ASSERT(std::count(bucket.begin(), bucket.end(), table) == 1);
        }
        RC_ASSERT(held <= memory);
    }
    RC_ASSERT(placed == plan->shards);
}

TEST(MlperfPlan, ReducesDenseParametersAndReplicasTogether) {
    // 16,044,545 dense parameters and 31,605 rows of 128: 20,089,985 values, 40.18 MB of fp16.
    const MlperfPlan plan = mlperf_plan(dcnv2(), training_of(135'168), kDevice, 64);
    EXPECT_EQ(plan.reduced_values, 20'089'985);
    EXPECT_EQ(plan.all_reduce.size, Bytes(40'179'970));
    // On one host table 14 is not replicated: 19,667 rows.
    EXPECT_EQ(mlperf_plan(dcnv2(), training_of(55'296), kDevice, 8).reduced_values,
              16'044'545 + 19'667 * 128);
}

TEST(MlperfPlan, SendsPartialSumsOfEveryShard) {
    // m = 6,912 samples. Rank 0 has shards of two tables: 2·128 values of 2 B for every sample of every rank.
    const MlperfPlan plan = mlperf_plan(dcnv2(), training_of(55'296), kDevice, 8);
    ASSERT_TRUE(plan.pooled && plan.gradients && plan.keys);
    EXPECT_FALSE(plan.pooled->second);
    const system::PairSizes& pooled = plan.pooled->first.pair_sizes->front();
    const system::PairSizes& gradients = plan.gradients->first.pair_sizes->front();
    for (std::size_t other = 0; other < 8; ++other) {
        EXPECT_EQ(pooled(0, other), 6912 * 2 * 256_B);
        EXPECT_EQ(pooled(3, other), 6912 * 3 * 256_B);
        EXPECT_EQ(gradients(other, 3), pooled(3, other));
    }
    // Indices of 4 B: rank 2 has 1/8 of table 20's 100 lookups and all 12 of table 19's.
    const system::PairSizes& keys = plan.keys->pair_sizes->front();
    EXPECT_EQ(keys(5, 2), (6912 * 100 / 8 + 6912 * 12) * 4_B);
    // Every lookup in a shard is sent once: 191 of 214 a sample.
    EXPECT_EQ(keys.held(0), 6912 * 191 * 4_B);
}

TEST(MlperfPlan, AddsUpWithinHostsBeforeItSendsAcross) {
    // m = 2,112 samples, 8 hosts. Host 0 has one table, host 1 two.
    const MlperfPlan plan = mlperf_plan(dcnv2(), training_of(135'168), kDevice, 64);
    ASSERT_TRUE(plan.pooled && plan.pooled->second);
    const LayerCommunication& within = plan.pooled->first;
    EXPECT_EQ(plan.partitions[within.partition].groups.size(), 8U);
    EXPECT_EQ((*within.pair_sizes)[0](0, 1), 8 * 2112 * 256_B);
    EXPECT_EQ((*within.pair_sizes)[1](0, 1), 8 * 2112 * 2 * 256_B);
    const LayerCommunication& across = *plan.pooled->second;
    EXPECT_EQ(plan.partitions[across.partition].groups.size(), 8U);
    EXPECT_EQ((*across.pair_sizes)[3](0, 5), 2112 * 256_B);
    EXPECT_EQ((*across.pair_sizes)[3](1, 5), 2112 * 2 * 256_B);
    // Backward in the other order.
    EXPECT_EQ(plan.gradients->second->partition, within.partition);
    EXPECT_EQ((*plan.gradients->first.pair_sizes)[0](5, 1), 2112 * 2 * 256_B);
}

/// Two ranks; a pair's 100 B take 9,000 ps, 50 B 5,000 ps, an all-reduce of 200 B two messages of 100 B.
class MlperfLoopTest : public ::testing::Test {
protected:
    MlperfLoopTest() {
        const system::PartitionId world = plan_.partitions.push_back(system::Partition::world(2));
        const auto all_to_all = [world](Bytes size) {
            return LayerCommunication{
                .kind = system::CollectiveKind::kAllToAll, .size = 2 * size, .partition = world};
        };
        plan_.ranks = 2;
        plan_.iterations = 2;
        plan_.sharding.replicated = {0};
        plan_.lookup = Time(10'000);
        plan_.update = Time(20'000);
        plan_.replica_lookup = Time(2000);
        plan_.replica_gradient = Time(1500);
        plan_.collect = Time(1000);
        plan_.spread = Time(500);
        plan_.keys = all_to_all(50_B);
        plan_.pooled = Exchange{.first = all_to_all(100_B)};
        plan_.gradients = Exchange{.first = all_to_all(100_B)};
        plan_.all_reduce = {.kind = system::CollectiveKind::kAllReduce, .size = 200_B, .partition = world};
        plan_.bottom = {{"Bottom_0", Time(3000), Time(3000), Time(3000)}};
        plan_.top = {{"Top_0", Time(4000), Time(4000), Time(5000)}};
        plan_.optimizer = Time(2500);
        plan_.copy = Time(2500);
    }

    system::ExecutionReport execute() {
        program_ = mlperf_loop(plan_, Time(1000));
        testing::FakeBackend backend(2, {.latency = Time(1000), .time_per_byte = Time(80)});
        system::Executor executor(program_, testing::options_with(testing::algorithm_of("direct"), 1, 64),
                                  backend, testing::host_of_each_rank(2));
        system::ExecutionReport report = executor.run();
        EXPECT_TRUE(report.finished) << report.stall;
        return report;
    }
    Time end_of(const system::ExecutionReport& report, const std::string& name, int iteration) const {
        for (std::size_t i = 0; i < program_.operations.size(); ++i) {
            const system::Operation& operation = program_.operations[system::OperationId(i)];
            if (operation.name == name && operation.iteration == iteration) {
                return report.operations[system::OperationId(i)].last_finish;
            }
        }
        ADD_FAILURE() << name;
        return {};
    }

    MlperfPlan plan_;
    system::Program program_;
};

TEST_F(MlperfLoopTest, ExchangesHideBehindWhatDoesNotNeedThem) {
    const system::ExecutionReport report = execute();
    // The first batch: launch 1,000, copy 2,500, keys 5,000, then the lookup.
    EXPECT_EQ(end_of(report, "Input.keys.all_to_all", 0), Time(8500));
    EXPECT_EQ(end_of(report, "Embedding.forward", 0), Time(18'500));
    // The replicas' lookup and the bottom MLP take 5,000 of the exchange's 9,000.
    EXPECT_EQ(end_of(report, "Embedding.forward.all_to_all", 0), Time(27'500));
    EXPECT_EQ(end_of(report, "Embedding.forward.collect", 0), Time(28'500));
    EXPECT_EQ(end_of(report, "Top_0.input_gradient", 0), Time(36'500));  // 4,000 forward, 4,000 backward
    // Gradients leave at 37,000; weight gradients and replicas fill the 9,000 to 46,000 and 500 more.
    EXPECT_EQ(end_of(report, "Embedding.input_gradient.all_to_all", 0), Time(46'000));
    EXPECT_EQ(end_of(report, "Embedding_replicas.weight_gradient", 0), Time(46'500));
    // The all-reduce of 18,000 hides behind the update of 20,000.
    EXPECT_EQ(end_of(report, "Gradients.all_reduce", 0), Time(64'500));
    EXPECT_EQ(end_of(report, "Embedding.update", 0), Time(66'500));
    EXPECT_EQ(end_of(report, "Optimizer.step", 0), Time(69'000));
    // The keys of batch 1 went behind the forward exchange of batch 0.
    EXPECT_EQ(end_of(report, "Input.keys.all_to_all", 1), Time(33'500));
    // A later iteration begins with the lookup: 69,000 - 8,500 in all.
    EXPECT_EQ(report.ranks.front().iteration_ends, (std::vector<Time>{Time(69'000), Time(129'500)}));
    EXPECT_EQ(report.ranks.front().exposed.at("Embedding.forward.all_to_all"), Time(8000));  // 4,000 each
}

TEST_F(MlperfLoopTest, WithinHostsIsAddedUpBesideTheBottomMlp) {
    plan_.pooled->second = plan_.pooled->first;
    plan_.pooled->first.stage = "within_hosts";
    plan_.pooled->second->stage = "across_hosts";
    plan_.pooled->between = Time(700);
    const system::ExecutionReport report = execute();
    // Two exchanges of 9,000 and 700 between them, from 18,500 on; the bottom MLP is over at 23,500.
    EXPECT_EQ(end_of(report, "Bottom_0.forward", 0), Time(23'500));
    EXPECT_EQ(end_of(report, "Embedding.forward.all_to_all.across_hosts", 0), Time(37'200));
}

TEST_F(MlperfLoopTest, WhereAllTablesAreReplicatedNothingIsExchangedButGradients) {
    plan_.keys.reset();
    plan_.pooled.reset();
    plan_.gradients.reset();
    plan_.lookup = Time(0);
    plan_.update = Time(0);
    plan_.collect = Time(0);
    plan_.spread = Time(0);
    const system::ExecutionReport report = execute();
    // Launch 1,000, copy 2,500, replicas 2,000, bottom 3,000, top 8,000, weight gradients 8,000, replicas
    // 1,500, all-reduce 18,000, optimiser 2,500.
    EXPECT_EQ(report.ranks.front().iteration_ends.front(), Time(46'500));
}

}  // namespace
}  // namespace astrolabe::workload::mlperf
