/// The step of TorchRec that was recorded on eight V100: collectives, bytes by pair, launches.
#include "torchrec_program.hpp"
#include "workload/src/dlrm/dlrm_training.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <process.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::Operation;
using system::Program;
using testing::collectives;
using testing::Matrix;
using testing::matrix;
using testing::named;
using testing::recorded_model;

/// The recorded step: 8 ranks, 16 samples each, 24 tables whole, 3 a rank, tables 5 and 16 replicated.
class RecordedStep : public ::testing::Test {
protected:
    RecordedStep() {
        training_.local_batch = 16;
        training_.iterations = 2;
        training_.interaction_time = true;
        training_.dense_optimizer = DenseOptimizer::kAdagrad;
        training_.framework = TorchrecTraining{.pipeline = TorchrecPipeline::kSparseDist2023};
        training_.sharding.plan = ShardingMethod::kExplicit;
        training_.sharding.input_distribution = InputDistribution{.index = 4_B, .length = 4_B};
        // Lookups of the three tables of ranks 0 to 7: 6, 14, 18, 104, 37, 6, 12 and 15.
        training_.sharding.tables = {
            {.first = 0,
             .count = 26,
             .sharding = TableSharding::kTableWise,
             .ranks = {3, 0, 3, 5, 7, 0, 4, 2, 7, 1, 0, 7, 1, 1, 4, 2, 0, 6, 6, 2, 3, 4, 6, 5, 0, 5}},
            {.first = 5, .sharding = TableSharding::kDataParallel},
            {.first = 16, .sharding = TableSharding::kDataParallel}};
        device_.peak = 14_TFLOPS;
        device_.memory_bandwidth = Bandwidth(8 * 900'000'000'000);
    }

    [[nodiscard]] Program program() const {
        EXPECT_TRUE(validation_errors(training_, model_, 8).empty());
        EXPECT_TRUE(validation_errors(device_, training_, model_).empty());
        return build_dlrm_program(model_, training_, device_, 8);
    }
    /// Time of the host with these costs.
    [[nodiscard]] Time host_time(const HostCosts& costs) {
        device_.host = costs;
        training_.iterations = 1;
        Time sum;
        const Program program = this->program();
        for (const Operation& operation : program.operations) {
            if (operation.is_compute() && program.streams[operation.compute().stream] == "host") {
                sum += operation.compute().duration[system::RankId(0)];
            }
        }
        return sum;
    }

    DlrmModel model_ = recorded_model();
    DlrmTraining training_;
    Device device_;
};

TEST_F(RecordedStep, HasTheCollectivesOfTheTraceInTheirOrder) {
    std::vector<std::pair<std::string, Bytes>> issued;
    const Program program = this->program();
    for (const Operation* operation : collectives(program)) {
        issued.emplace_back(operation->name, operation->collective().size);
    }
    // The first three distribute the first batch; then the step begins that the trace shows.
    ASSERT_EQ(issued.size(), 3U + 8U + 5U);
    const std::vector<std::pair<std::string, Bytes>> step(issued.begin() + 3, issued.begin() + 11);
    const std::vector<std::pair<std::string, Bytes>> recorded{
        {"Embedding_table_wise.forward.all_to_all", 24'576_B},  // 16 samples, 3 tables of 16, for 8 ranks
        {"Input.indices.all_to_all.splits", 192_B},
        {"Input.indices.all_to_all.table_wise.lengths", 1'536_B},  // 16 samples, 24 tables, int32
        {"Input.indices.all_to_all.table_wise.values", 13'568_B},  // 16 samples, 212 lookups, int32
        {"Bucket_0.weight_gradient.all_reduce", 1'576'964_B},
        {"Embedding_table_wise.input_gradient.all_to_all", 24'576_B},
        {"Bucket_replicas_0.weight_gradient.all_reduce", 448_B},
        {"Bucket_1.weight_gradient.all_reduce", 907'840_B}};
    EXPECT_EQ(step, recorded);
}

TEST_F(RecordedStep, EveryPairExchangesWhatTheTraceSays) {
    const Program program = this->program();
    const Matrix values = matrix(named(program, "Input.indices.all_to_all.table_wise.values"), 4);
    const Matrix lengths = matrix(named(program, "Input.indices.all_to_all.table_wise.lengths"), 4);
    for (std::size_t rank = 0; rank < 8; ++rank) {
        EXPECT_EQ(values[rank], (std::vector<std::int64_t>{96, 224, 288, 1664, 592, 96, 192, 240}));
        EXPECT_EQ(lengths[rank], std::vector<std::int64_t>(8, 48));
    }
    // Alike on all ranks: 16 samples of 3 tables of 16 columns for each.
    EXPECT_FALSE(named(program, "Embedding_table_wise.forward.all_to_all").collective().is_uneven());
}

// The host traces of that step (dlrm_pytorch_et.tar.gz), five of eight ranks: elements, their size, and for
// uneven exchanges the elements for and from each rank.
TEST_F(RecordedStep, IsThatOfTheHostTraces) {
    const std::filesystem::path folder =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/dlrm/param";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "no " << folder;
    }
    const Program program = this->program();
    std::vector<const Operation*> step = collectives(program);
    step.erase(step.begin(), step.begin() + 3);
    for (const std::size_t rank : {0, 1, 2, 4, 7}) {
        const auto file = folder / ("dlrm-pytorch-et-rank" + std::to_string(rank) + ".json.gz");
        const nlohmann::json trace =
            nlohmann::json::parse(astrolabe::testing::run_program("gzip", {"-dc", file.string()}).out);
        std::size_t next = 0;
        for (const nlohmann::json& node : trace.at("nodes")) {
            if (node.at("name") != "record_param_comms" || node.at("inputs").at(3) == "wait") {
                continue;
            }
            ASSERT_LT(next, 8U);
            const Operation& operation = *step[next++];
            const bool reduces = operation.collective().kind == CollectiveKind::kAllReduce;
            EXPECT_EQ(node.at("inputs").at(4).get<std::string>().starts_with("allreduce"), reduces);
            nlohmann::json tensor = node.at("inputs").at(0);
            while (tensor.at(0).is_array()) {
                tensor = nlohmann::json(tensor.at(0));
            }
            const Bytes element(tensor.at(4).get<std::int64_t>());
            EXPECT_EQ(tensor.at(3).get<std::int64_t>() * element, operation.collective().size);
            const auto sent = node.at("inputs").at(5).get<std::vector<std::int64_t>>();
            const auto received = node.at("inputs").at(6).get<std::vector<std::int64_t>>();
            for (std::size_t other = 0; other < sent.size(); ++other) {
                const auto between = [&](std::size_t source, std::size_t destination) {
                    return operation.collective().is_uneven()
                               ? operation.collective().pair_sizes->front()(source, destination)
                               : Bytes(operation.collective().size.count() / 8);
                };
                EXPECT_EQ(sent[other] * element, between(rank, other)) << operation.name;
                EXPECT_EQ(received[other] * element, between(other, rank)) << operation.name;
            }
        }
        EXPECT_EQ(next, 8U);
    }
}

TEST_F(RecordedStep, LaunchesWhatTheTraceLaunches) {
    // The trace: 63 kernels forward (of which cuBLAS cut two), 8, 102 (again two cut) and 64; collectives 1,
    // 3 and 4; two copies that block the host forward, two backward.
    EXPECT_EQ(host_time({.forward_launch = 1_us}), 61_us);
    EXPECT_EQ(host_time({.input_launch = 1_us}), 8_us);
    EXPECT_EQ(host_time({.backward_launch = 1_us}), 100_us);
    EXPECT_EQ(host_time({.optimizer_launch = 1_us}), 64_us);
    EXPECT_EQ(host_time({.collective = 1_us}), 8_us);
    EXPECT_EQ(host_time({.blocking_copy = 1_us}), 4_us);
    EXPECT_EQ(host_time({.iteration = 1_us}), 1_us);
    EXPECT_EQ(host_time({.batch = 1_us}), 1_us);
}

TEST_F(RecordedStep, TheDotInteractionBlocksTheHostUntilItsDeviceIsDone) {
    const Program program = this->program();
    for (const std::string pass : {"forward", "input_gradient"}) {
        const Operation& block = named(program, "Interaction." + pass + "_copy.block");
        EXPECT_EQ(program.streams[block.compute().stream], "host");
        const Operation& awaited = program.operations[block.dependencies.back()];
        EXPECT_EQ(awaited.name, "Interaction." + pass + "_start");
    }
    // What follows is launched behind that.
    const Operation& gather = named(program, "Interaction.forward");
    EXPECT_EQ(program.operations[gather.dependencies.back()].name, "Interaction.forward_copy.block");
}

TEST_F(RecordedStep, WaitsForTheSplitsBeforeItIssuesLengths) {
    const Program program = this->program();
    const Operation& block = named(program, "Input.splits_0.block", 1);
    EXPECT_EQ(program.operations[block.dependencies.front()].name, "Input.indices.all_to_all.splits");
    const Operation& lengths = named(program, "Input.indices.all_to_all.table_wise.lengths", 1);
    const bool follows = std::any_of(
        lengths.dependencies.begin(), lengths.dependencies.end(),
        [&](system::OperationId id) { return program.operations[id].name == "Input.splits_0.block"; });
    EXPECT_TRUE(follows);
}

// 16 samples of 3 tables of 16 values for each of 8 ranks.
TEST_F(RecordedStep, PooledEmbeddingsTravelAsTheCodecsPackThem) {
    constexpr std::int64_t kValues = 16 * 3 * 16;  // for each rank
    constexpr std::int64_t kRows = 16 * 3;
    const auto sent = [this](WireFormat format) {
        training_.wire_formats = {.forward_all_to_all = format};
        return named(program(), "Embedding_table_wise.forward.all_to_all").collective().size;
    };
    EXPECT_EQ(sent(WireFormat::kFp16), 8 * Bytes(2 * kValues));
    EXPECT_EQ(sent(WireFormat::kInt8Blocks), 8 * Bytes(kValues / 32 * 40));
    EXPECT_EQ(sent(WireFormat::kFp8Rows), 8 * Bytes(kRows * (16 + 8)));
    EXPECT_EQ(sent(WireFormat::kMx4), 8 * Bytes(kRows * 17));  // 16 values fill half a block of 32
    const Program packed = program();
    EXPECT_EQ(named(packed, "Embedding_table_wise.forward.encode").compute().stream, 0U);
    EXPECT_EQ(named(packed, "Embedding_table_wise.forward.decode").compute().stream, 0U);
    // Backward as before.
    EXPECT_EQ(named(packed, "Embedding_table_wise.input_gradient.all_to_all").collective().size, 24'576_B);
}

TEST_F(RecordedStep, WhatSumsOnTheWayIsNotSentInEightBits) {
    training_.sharding.tables.push_back({.first = 0, .sharding = TableSharding::kRowWise});
    training_.wire_formats = {.forward_reduce_scatter = WireFormat::kMx4,
                              .backward_all_gather = WireFormat::kFp8Rows};
    const Program program = this->program();
    // 128 samples of 16 values of 2 bytes; backward 16 samples.
    EXPECT_EQ(named(program, "Embedding_row_wise.forward.reduce_scatter").collective().size, 4096_B);
    EXPECT_EQ(named(program, "Embedding_row_wise.input_gradient.all_gather").collective().size, 512_B);
}

TEST_F(RecordedStep, PrefetchTakesTheRowsThatCachesMissOutOfTheLookup) {
    model_.tables[0].traits.memory = TableMemory::kCached;
    model_.tables[0].traits.cache = {.load_factor = 0.2, .hit_rate = 0.75};
    training_.embedding_time = EmbeddingTime::kFbgemm;
    device_.lookup = LookupRates{};
    device_.host_link = Bandwidth(8 * 16'000'000'000);
    const auto with = [this](TorchrecPipeline pipeline) {
        training_.framework = TorchrecTraining{.pipeline = pipeline};
        return program();
    };
    const Program whole = with(TorchrecPipeline::kSparseDist);
    const Program ahead = with(TorchrecPipeline::kPrefetch);
    const Operation& fetch = named(ahead, "Embedding_table_wise.fetch", 1);
    EXPECT_EQ(ahead.streams[fetch.compute().stream], "prefetch");
    for (std::size_t index = 0; index < 8; ++index) {
        const system::RankId rank(index);
        EXPECT_GT(fetch.compute().duration[rank], Time(0));
        EXPECT_EQ(named(whole, "Embedding_table_wise.forward").compute().duration[rank],
                  named(ahead, "Embedding_table_wise.forward").compute().duration[rank] +
                      fetch.compute().duration[rank]);
    }
    // Behind the forward pass of the batch before; the lookup waits for it.
    const Operation& lookup = named(ahead, "Embedding_table_wise.forward", 1);
    EXPECT_TRUE(std::any_of(lookup.dependencies.begin(), lookup.dependencies.end(), [&](auto id) {
        return ahead.operations[id].name == "Embedding_table_wise.fetch";
    }));
}

TEST_F(RecordedStep, OneMeasuredTimeIsNotThatOfSeveralGroups) {
    device_.measured["Embedding"] = {.forward = 10_us, .weight_gradient = 20_us};
    EXPECT_TRUE(validation_errors(device_, training_, model_).empty());
    training_.sharding.tables.push_back(
        {.first = 0, .sharding = TableSharding::kColumnWise, .shards = 2, .ranks = {0, 1}});
    const ValidationErrors errors = validation_errors(device_, training_, model_);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.front().key, "layers.Embedding");
}

TEST_F(RecordedStep, PlacedTablesNeedARateEvenWhereTheirLayerWasMeasured) {
    device_.measured["Embedding"] = {.forward = 10_us, .weight_gradient = 20_us};
    training_.dense_optimizer.reset();
    device_.memory_bandwidth.reset();
    const ValidationErrors errors = validation_errors(device_, training_, model_);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.front().key, "memory_bandwidth");
}

TEST_F(RecordedStep, RefusesWhatTorchRecDoesNotHave) {
    const auto key_of = [this](const auto& change) {
        DlrmTraining training = training_;
        change(training);
        const ValidationErrors errors = validation_errors(training, model_, 8);
        return errors.empty() ? std::string() : errors.front().key;
    };
    EXPECT_EQ(key_of([](DlrmTraining&) {}), "");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.sharding = {}; }), "training");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.priorities["Top_0"] = 3; }), "priorities");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.sharding.input_distribution->ahead = false; }),
              "sharding.input_distribution.ahead");
    EXPECT_EQ(key_of([](DlrmTraining& each) {
                  each.gradient_buckets = GradientBuckets{.order = BucketOrder::kForward};
              }),
              "gradient_buckets.order");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.wire_formats.forward_all_to_all = WireFormat::kInt8; }),
              "wire_formats.forward_all_to_all");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.wire_formats.all_reduce = WireFormat::kMx4; }),
              "wire_formats.all_reduce");
}

}  // namespace
}  // namespace astrolabe::workload
