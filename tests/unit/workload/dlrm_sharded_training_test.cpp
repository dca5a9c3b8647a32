#include "workload/src/dlrm/dlrm_training.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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
using Keys = std::vector<std::string>;
using Names = std::vector<std::string>;

constexpr RankId kAnyRank(0);

/// Tables of 4, 8, 12 and 16 columns and pooling 1, 2, 3, 4, 100 rows each, 2 bytes a value; dense 10 → 8 →
/// 4; interaction 4 + 40 → 5 → 1. 4 ranks with 6 samples each; a FLOP takes 1 ps, a byte of memory 1 ns;
/// reading indices takes nothing.
class ShardedTraining : public ::testing::Test {
protected:
    ShardedTraining() {
        model_.dense_features = 10;
        model_.bottom_mlp = {8, 4};
        model_.top_mlp = {5, 1};
        model_.interaction = Interaction::kConcatenation;
        model_.tables = {{.count = 4,
                          .rows = 100,
                          .dimension = TableValues(ValueRange{.from = 4, .to = 16, .step = 4}),
                          .pooling = TableValues(ValueRange{.from = 1, .to = 4})}};
        training_.local_batch = 6;
        training_.dense_feature_gradient = true;
        training_.sharding = {.plan = ShardingMethod::kRoundRobin, .index_size = 0_B};
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
    [[nodiscard]] Program program() const { return build_dlrm_program(model_, training_, device_, kRanks); }
    [[nodiscard]] Keys keys() const {
        Keys found;
        for (const ValidationError& problem : validation_errors(training_, model_, kRanks)) {
            found.push_back(problem.key);
        }
        return found;
    }
    static std::vector<Time> times(const system::PerRank<Time>& each) {
        std::vector<Time> all;
        for (std::size_t rank = 0; rank < kRanks; ++rank) {
            all.push_back(each[RankId(rank)]);
        }
        return all;
    }
    static const Operation& find(const Program& program, const std::string& name, int iteration = 0) {
        for (const Operation& operation : program.operations) {
            if (operation.name == name && operation.iteration == iteration) {
                return operation;
            }
        }
        throw std::out_of_range(name);
    }
    static Names dependencies(const Program& program, const std::string& name, int iteration = 0) {
        Names names;
        for (const OperationId id : find(program, name, iteration).dependencies) {
            names.push_back(program.operations[id].name);
        }
        return names;
    }

    static constexpr std::size_t kRanks = 4;
    DlrmModel model_;
    DlrmTraining training_;
    Device device_;
};

TEST_F(ShardedTraining, TableWiseLookupsAndExchangesDifferByRank) {
    const TrainingLayer embedding = layer("Embedding");
    // Rank r looks up 24 samples · (r + 1) rows of 4·(r + 1) values of 2 bytes: 192 ns times 1, 4, 9, 16.
    EXPECT_EQ(times(embedding.forward), (std::vector<Time>{192_ns, 768_ns, 1728_ns, 3072_ns}));
    // The update reads and writes.
    EXPECT_EQ(times(*embedding.weight_gradient), (std::vector<Time>{384_ns, 1536_ns, 3456_ns, 6144_ns}));

    const LayerCommunication& forward = *embedding.forward_communication;
    const LayerCommunication& backward = *embedding.input_gradient_communication;
    EXPECT_EQ(forward.kind, CollectiveKind::kAllToAll);
    EXPECT_EQ(forward.size, 768_B);   // rank 3: 4 ranks · 6 samples · 16 values · 2 bytes
    EXPECT_EQ(backward.size, 480_B);  // every rank: 6 samples · 40 values · 2 bytes
    const system::PairSizes& ahead = forward.pair_sizes->front();
    const system::PairSizes& back = backward.pair_sizes->front();
    for (std::size_t a = 0; a < kRanks; ++a) {
        for (std::size_t b = 0; b < kRanks; ++b) {
            const Bytes expected = static_cast<std::int64_t>(6 * 4 * (a + 1)) * 2_B;
            EXPECT_EQ(ahead(a, b), expected);  // from the rank that has the table
            EXPECT_EQ(back(b, a), expected);   // to it
        }
    }
}

TEST_F(ShardedTraining, IndicesAreReadOnceAShard) {
    training_.sharding.index_size = 8_B;
    // Rank 3: 24·4 lookups of 16·2 + 8 bytes; update 2·32 + 8.
    EXPECT_EQ(layer("Embedding").forward[RankId(3)], 96 * 40_ns);
    EXPECT_EQ((*layer("Embedding").weight_gradient)[RankId(3)], 96 * 72_ns);
    // In four shards of 4 columns, 96 lookups of 8 + 8 bytes each: 96·64 instead of 96·40.
    training_.sharding.tables = {
        {.first = 3, .sharding = TableSharding::kColumnWise, .shards = 4, .ranks = {3, 3, 3, 3}}};
    EXPECT_EQ(layer("Embedding").forward[RankId(3)], 96 * 64_ns);
}

TEST_F(ShardedTraining, ColumnsBalanceWhatTablesDoNotAtTheCostOfReadingIndices) {
    training_.sharding.index_size = 8_B;
    training_.sharding.plan = ShardingMethod::kPlanner;
    const DlrmSummary whole = summarise(model_, training_, device_, kRanks);
    training_.sharding.widest_shard = 4;
    const DlrmSummary cut = summarise(model_, training_, device_, kRanks);
    EXPECT_LT(cut.imbalance.compute, whole.imbalance.compute);
    EXPECT_LT(cut.embedding_compute, whole.embedding_compute);
    // All ranks' lookups and updates: 24·P·(3·D·2 + 2·8·shards) bytes.
    // whole: 24·(1·40 + 2·64 + 3·88 + 4·112) = 24·880; cut: 24·(1·40 + 2·80 + 3·120 + 4·160) = 24·1200.
    const auto all_ranks = [](const DlrmSummary& summary) {
        return to_nanoseconds(summary.embedding_compute) * kRanks / summary.imbalance.compute;
    };
    EXPECT_NEAR(all_ranks(whole), 24.0 * 880, 1e-6);
    EXPECT_NEAR(all_ranks(cut), 24.0 * 1200, 1e-6);
}

TEST_F(ShardedTraining, ColumnsOnAllRanksAlikeExchangeEvenly) {
    // Every table in 4 pieces, a piece a rank: 10 columns each, as the balanced plan has it.
    for (std::int64_t table = 0; table < 4; ++table) {
        training_.sharding.tables.push_back(
            {.first = table, .sharding = TableSharding::kColumnWise, .shards = 4, .ranks = {0, 1, 2, 3}});
    }
    const TrainingLayer sharded = layer("Embedding");
    EXPECT_TRUE(sharded.forward.uniform());
    EXPECT_EQ(sharded.forward_communication->pair_sizes, nullptr);
    training_.sharding = {};
    const TrainingLayer balanced = layer("Embedding");
    EXPECT_EQ(sharded.forward[kAnyRank], balanced.forward[kAnyRank]);
    EXPECT_EQ(sharded.forward_communication->size, balanced.forward_communication->size);
    EXPECT_EQ(sharded.input_gradient_communication->size, balanced.input_gradient_communication->size);
}

TEST_F(ShardedTraining, RowWiseReducesPartialSums) {
    training_.sharding.row_wise_from = 2400_B;  // tables 2 and 3
    const TrainingLayer rows = layer("Embedding_rows");
    // 6 samples · (3·12 + 4·16) values of 2 bytes, wherever the rows lie.
    EXPECT_EQ(times(rows.forward), std::vector<Time>(4, 1200_ns));
    EXPECT_EQ(rows.forward_communication->kind, CollectiveKind::kReduceScatter);
    EXPECT_EQ(rows.forward_communication->size, 1344_B);  // 24 samples · 28 values · 2 bytes
    EXPECT_EQ(rows.input_gradient_communication->kind, CollectiveKind::kAllGather);
    EXPECT_EQ(rows.input_gradient_communication->size, 336_B);  // of 6 samples
    EXPECT_EQ(times(layer("Embedding").forward), (std::vector<Time>{192_ns, 768_ns, 0_ns, 0_ns}));
}

TEST_F(ShardedTraining, CopiesExchangeTheRowsTheyTouch) {
    training_.sharding.data_parallel_up_to = 800_B;  // table 0
    const TrainingLayer copies = layer("Embedding_replicas");
    EXPECT_EQ(copies.forward[kAnyRank], 48_ns);  // 6 samples · 4 values · 2 bytes
    EXPECT_EQ((*copies.weight_gradient)[kAnyRank], 48_ns);
    EXPECT_EQ(copies.weight_gradient_communication->kind, CollectiveKind::kAllGather);
    EXPECT_EQ(copies.weight_gradient_communication->size, 96_B);  // 6 rows of 4·2 + 8 bytes
    EXPECT_EQ(copies.update_delay, 384_ns);                       // 24 rows of 4 values, read and written
    training_.iterations = 2;
    const Program program = this->program();
    EXPECT_EQ(dependencies(program, "Embedding_replicas.forward", 1),
              Names{"Embedding_replicas.weight_gradient.all_gather"});
}

TEST_F(ShardedTraining, HostsReduceWithinAndExchangeAcross) {
    training_.sharding.ranks_per_host = 2;
    training_.sharding.tables = {
        {.first = 0, .count = 4, .sharding = TableSharding::kTableRowWise, .hosts = {0, 0, 0, 1}}};
    const TrainingLayer hosts = layer("Embedding_hosts");
    // 12 samples · P · D · 2 bytes on each rank: host 0 has 4 + 16 + 36, host 1 64.
    EXPECT_EQ(times(hosts.forward), (std::vector<Time>{1344_ns, 1344_ns, 1536_ns, 1536_ns}));
    const LayerCommunication& within = *hosts.forward_communication;
    EXPECT_EQ(within.stage, "within_hosts");
    // From each to each: 12 samples · 24 or 16 values · 2 bytes.
    EXPECT_EQ((*within.pair_sizes)[0](0, 1), 576_B);
    EXPECT_EQ((*within.pair_sizes)[1](1, 0), 384_B);
    EXPECT_EQ(within.size, 1152_B);
    ASSERT_EQ(within.then.size(), 1U);
    const LayerCommunication& across = within.then[0];
    ASSERT_EQ(across.pair_sizes->size(), 2U);  // ranks 0, 2 and ranks 1, 3
    for (const system::PairSizes& pairs : *across.pair_sizes) {
        EXPECT_EQ(pairs(0, 1), 288_B);  // 6 samples · 24 values · 2 bytes
        EXPECT_EQ(pairs(1, 0), 192_B);
    }
    const LayerCommunication& backward = *hosts.input_gradient_communication;
    EXPECT_EQ(backward.stage, "across_hosts");
    EXPECT_EQ((*backward.pair_sizes)[0](1, 0), 288_B);  // gradients go where the tables are
    EXPECT_EQ((*backward.then.at(0).pair_sizes)[0](0, 1), 576_B);

    const Program program = this->program();
    EXPECT_EQ(dependencies(program, "Embedding_hosts.forward.all_to_all.across_hosts"),
              Names{"Embedding_hosts.forward.all_to_all.within_hosts"});
    EXPECT_EQ(dependencies(program, "Top_0.forward"),
              Names{"Embedding_hosts.forward.all_to_all.across_hosts"});
}

TEST_F(ShardedTraining, HostsAlikeReduceScatter) {
    training_.sharding.ranks_per_host = 2;
    training_.sharding.tables = {
        {.first = 0, .count = 4, .sharding = TableSharding::kTableRowWise, .hosts = {0, 1, 1, 0}}};
    const TrainingLayer hosts = layer("Embedding_hosts");  // 20 columns each
    EXPECT_EQ(hosts.forward_communication->kind, CollectiveKind::kReduceScatter);
    EXPECT_EQ(hosts.forward_communication->size, 960_B);          // 24·20·2
    EXPECT_EQ(hosts.forward_communication->then[0].size, 480_B);  // 2 hosts · 6·20·2
    EXPECT_EQ(hosts.input_gradient_communication->then[0].kind, CollectiveKind::kAllGather);
    EXPECT_EQ(hosts.input_gradient_communication->then[0].size, 480_B);  // 12·20·2
}

TEST_F(ShardedTraining, AGridReducesWithinHostsAndExchangesAcrossByItself) {
    training_.sharding.ranks_per_host = 2;
    training_.sharding.tables = {
        {.first = 0, .count = 3, .sharding = TableSharding::kGrid, .shards = 2, .hosts = {0, 1, 1, 0, 0, 1}},
        {.first = 3, .sharding = TableSharding::kTableRowWise, .hosts = {1}}};
    const TrainingLayer grid = layer("Embedding_grid");
    // Half of 4, 8 and 12 columns, 12 samples · P · D/2 · 2 bytes: 12·(1·2 + 2·4 + 3·6)·2.
    EXPECT_EQ(times(grid.forward), (std::vector<Time>{672_ns, 672_ns, 672_ns, 672_ns}));
    EXPECT_EQ(grid.forward_communication->kind, CollectiveKind::kReduceScatter);
    EXPECT_EQ(grid.forward_communication->size, 576_B);          // 24·12·2
    EXPECT_EQ(grid.forward_communication->then[0].size, 288_B);  // 2 hosts · 6·12·2
    EXPECT_EQ(grid.input_gradient_communication->then[0].kind, CollectiveKind::kAllGather);
    EXPECT_EQ(grid.input_gradient_communication->then[0].size, 288_B);  // 12·12·2
    // Table 3 has exchanges of its own, in the same groups.
    const TrainingLayer hosts = layer("Embedding_hosts");
    EXPECT_EQ(times(hosts.forward), (std::vector<Time>{0_ns, 0_ns, 1536_ns, 1536_ns}));
    EXPECT_EQ(hosts.forward_communication->partition, grid.forward_communication->partition);
    EXPECT_EQ(plan().partitions.size(), 3U);
}

TEST_F(ShardedTraining, EmbeddingsOfAllKindsRunOneAfterTheOther) {
    training_.sharding.data_parallel_up_to = 800_B;
    training_.sharding.row_wise_from = 3200_B;
    const Program program = this->program();
    EXPECT_EQ(dependencies(program, "Top_0.forward"),
              (Names{"Embedding.forward.all_to_all", "Embedding_rows.forward.reduce_scatter"}));
    EXPECT_EQ(dependencies(program, "Embedding.update"), Names{"Embedding.input_gradient.all_to_all"});
    EXPECT_EQ(dependencies(program, "Embedding_rows.update"),
              Names{"Embedding_rows.input_gradient.all_gather"});
}

TEST_F(ShardedTraining, MeasuredTablesScaleWithSamplesAndColumns) {
    device_.tables = TableTimes{.samples = 48, .forward = {10_us}, .backward = {1_us, 2_us, 3_us, 4_us}};
    device_.memory_bandwidth.reset();
    EXPECT_TRUE(validation_errors(device_, training_, model_).empty());
    EXPECT_EQ(times(layer("Embedding").forward), std::vector<Time>(4, 5_us));  // 24 samples of 48
    EXPECT_EQ(times(*layer("Embedding").weight_gradient), (std::vector<Time>{500_ns, 1_us, 1500_ns, 2_us}));
    training_.sharding.tables = {
        {.first = 3, .sharding = TableSharding::kColumnWise, .shards = 2, .ranks = {2, 3}}};
    EXPECT_EQ(times(layer("Embedding").forward), (std::vector<Time>{5_us, 5_us, 7500_ns, 2500_ns}));
    // Balanced: all tables, for the 6 samples of a rank.
    training_.sharding = {};
    EXPECT_EQ(layer("Embedding").forward[kAnyRank], 5_us);  // 4·10·6/48
}

TEST_F(ShardedTraining, MeasuredLayersAreInterpolatedByRows) {
    device_.measured["Top_0"].forward = MeasuredTime({{4, 10_us}, {8, 13_us}});
    EXPECT_EQ(layer("Top_0").forward[kAnyRank], 11'500_ns);  // 6 samples
    device_.measured["Top_0"].forward = MeasuredTime({{8, 13_us}, {16, 20_us}});
    const ValidationErrors found = validation_errors(model_, training_, device_, kRanks);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].key, "batch");
    EXPECT_EQ(found[0].message, "layer Top_0 was measured for 8 to 16 rows, not for the 6 samples of a rank");
}

TEST_F(ShardedTraining, ActivationsMayBeWiderThanTables) {
    model_.activation_element_size = 8_B;
    EXPECT_EQ(layer("Embedding").forward_communication->size, 3072_B);  // 768·8/2
    EXPECT_EQ(layer("Embedding").forward[RankId(0)], 192_ns);
}

/// MLP gradients, 2 bytes each: Bottom_0 80, Bottom_1 32, Top_0 220, Top_1 5 values.
TEST_F(ShardedTraining, BucketsFillFromTheLastLayerOn) {
    training_.gradient_buckets = GradientBuckets{.size = 200_B};
    training_.iterations = 2;
    const TrainingPlan plan = this->plan();
    // Top_1 10 B and Top_0 440 B fill the first, Bottom_1 64 B and Bottom_0 160 B the second.
    ASSERT_EQ(plan.buckets.size(), 2U);
    EXPECT_EQ(plan.buckets[0].communication.size, 450_B);
    EXPECT_EQ(plan.buckets[1].communication.size, 224_B);
    const Program program = this->program();
    EXPECT_EQ(dependencies(program, "Bucket_0.weight_gradient.all_reduce"), Names{"Top_0.weight_gradient"});
    EXPECT_EQ(dependencies(program, "Bucket_1.weight_gradient.all_reduce"),
              Names{"Bottom_0.weight_gradient"});
    EXPECT_EQ(dependencies(program, "Bottom_1.forward", 1), Names{"Bucket_1.weight_gradient.all_reduce"});
    EXPECT_EQ(dependencies(program, "Top_1.forward", 1), Names{"Bucket_0.weight_gradient.all_reduce"});
}

TEST_F(ShardedTraining, BucketsPackedForwardAreIssuedByTheirFirstLayer) {
    training_.gradient_buckets = GradientBuckets{.size = 225_B, .order = BucketOrder::kForward};
    // Bottom_0, Bottom_1 and Top_0 hold 664 B, Top_1 the rest.
    const TrainingPlan plan = this->plan();
    ASSERT_EQ(plan.buckets.size(), 2U);
    EXPECT_EQ(plan.buckets[0].communication.size, 664_B);
    EXPECT_EQ(plan.buckets[1].communication.size, 10_B);
    EXPECT_EQ(dependencies(program(), "Bucket_0.weight_gradient.all_reduce"),
              Names{"Bottom_0.weight_gradient"});
}

TEST_F(ShardedTraining, FsdpGathersBeforeComputingAndScattersGradients) {
    training_.dense_sharding = DenseSharding::kFsdp;
    training_.iterations = 2;
    const TrainingLayer top = layer("Top_0");  // 44 × 5: 55 values a rank
    EXPECT_EQ(top.parameter_gather->size, 110_B);
    EXPECT_EQ(top.weight_gradient_communication->kind, CollectiveKind::kReduceScatter);
    EXPECT_EQ(top.weight_gradient_communication->size, 440_B);
    EXPECT_EQ(layer("Top_1").parameter_gather->size, 4_B);  // 5 values: 2 a rank, padded to 8

    const Program program = this->program();
    EXPECT_EQ(dependencies(program, "Bottom_1.forward"), Names{"Bottom_1.forward_parameters.all_gather"});
    // One ahead: Bottom_1's is issued with Bottom_0's turn, after the lookup; Bottom_0's at once.
    EXPECT_EQ(dependencies(program, "Bottom_0.forward_parameters.all_gather"), Names{});
    EXPECT_EQ(dependencies(program, "Bottom_1.forward_parameters.all_gather"), Names{"Embedding.forward"});
    // The last layer's forward is followed by its backward: gathered again one turn ahead.
    EXPECT_EQ(dependencies(program, "Top_1.backward_parameters.all_gather"), Names{"Top_0.forward"});
    EXPECT_EQ(dependencies(program, "Top_1.weight_gradient"), Names{"Top_1.backward_parameters.all_gather"});
    // The next iteration gathers what this one updated.
    EXPECT_EQ(dependencies(program, "Top_0.forward_parameters.all_gather", 1),
              (Names{"Bottom_0.forward", "Top_0.weight_gradient.reduce_scatter"}));
}

TEST_F(ShardedTraining, FsdpWithoutPrefetchGathersInTurn) {
    training_.dense_sharding = DenseSharding::kFsdp;
    training_.parameter_prefetch = 0;
    EXPECT_EQ(dependencies(program(), "Bottom_1.forward_parameters.all_gather"), Names{"Bottom_0.forward"});
}

TEST_F(ShardedTraining, WireFormatsShrinkExchangesAndCostMemoryTraffic) {
    training_.sharding = {};
    training_.wire_formats.forward_all_to_all = WireFormat::kInt8;
    training_.wire_formats.all_reduce = WireFormat::kFp8;
    // 6 samples · (40 values of 1 byte + 4 rows · 8 bytes) = 432; read 480 and write 432, or the reverse.
    const LayerCommunication forward = *layer("Embedding").forward_communication;
    EXPECT_EQ(forward.size, 432_B);
    EXPECT_EQ((*forward.encode)[kAnyRank], 912_ns);
    EXPECT_EQ((*forward.decode)[kAnyRank], 912_ns);
    EXPECT_EQ(layer("Embedding").input_gradient_communication->size, 480_B);
    EXPECT_EQ(layer("Top_0").weight_gradient_communication->size, 220_B);

    training_.iterations = 2;
    const Program program = this->program();
    EXPECT_EQ(dependencies(program, "Embedding.forward.all_to_all"), Names{"Embedding.forward.encode"});
    EXPECT_EQ(dependencies(program, "Embedding.forward.encode"), Names{"Embedding.forward"});
    EXPECT_EQ(dependencies(program, "Embedding.forward.decode"), Names{"Embedding.forward.all_to_all"});
    EXPECT_EQ(find(program, "Top_0.weight_gradient.decode", 1).compute().duration[kAnyRank], 660_ns);
    EXPECT_EQ(dependencies(program, "Top_0.weight_gradient.decode", 1).front(),
              "Top_0.weight_gradient.all_reduce");
}

TEST_F(ShardedTraining, FormatsAsWideAsTheValuesCostNothing) {
    training_.wire_formats.forward_all_to_all = WireFormat::kBf16;
    EXPECT_FALSE(layer("Embedding").forward_communication->encode);
    EXPECT_EQ(layer("Embedding").forward_communication->size, 768_B);
    device_.memory_bandwidth.reset();
    training_.embedding_time = EmbeddingTime::kFlops;
    EXPECT_TRUE(validation_errors(device_, training_, model_).empty());
    training_.wire_formats.forward_all_to_all = WireFormat::kFp8;
    ASSERT_EQ(validation_errors(device_, training_, model_).size(), 1U);
    EXPECT_EQ(validation_errors(device_, training_, model_)[0].key, "memory_bandwidth");
}

TEST_F(ShardedTraining, RanksConvertWhatTheyHold) {
    training_.wire_formats.forward_all_to_all = WireFormat::kFp8;
    const LayerCommunication forward = *layer("Embedding").forward_communication;
    // Rank 3 holds 24·16 values, of 2 bytes and of 1; every rank receives 6·40.
    EXPECT_EQ((*forward.encode)[RankId(3)], 1152_ns);
    EXPECT_EQ((*forward.encode)[RankId(0)], 288_ns);
    EXPECT_EQ((*forward.decode)[RankId(0)], 720_ns);
}

TEST_F(ShardedTraining, PrioritiesAreExplicit) {
    training_.priorities = {{"Embedding", 9}, {"Top_0", 7}};
    const Program program = this->program();
    const auto& top = find(program, "Top_0.weight_gradient.all_reduce").collective();
    EXPECT_EQ(top.priority, system::Priority::kExplicit);
    EXPECT_EQ(top.explicit_priority, 7);
    EXPECT_EQ(find(program, "Embedding.forward.all_to_all").collective().explicit_priority, 9);
    EXPECT_EQ(find(program, "Top_1.weight_gradient.all_reduce").collective().priority,
              system::Priority::kDefault);
    training_.gradient_buckets = GradientBuckets{.size = 1000_B};  // all in one
    EXPECT_EQ(find(this->program(), "Bucket_0.weight_gradient.all_reduce").collective().explicit_priority, 7);
}

TEST_F(ShardedTraining, CombinationsThatCannotBe) {
    training_.parallelism = Parallelism::kData;
    EXPECT_EQ(keys(), Keys{"sharding.plan"});
    training_.sharding = {};
    training_.wire_formats.forward_all_to_all = WireFormat::kFp8;
    EXPECT_EQ(keys(), Keys{"wire_formats.forward_all_to_all"});
    training_.wire_formats = {};
    training_.parallelism = Parallelism::kModel;
    training_.gradient_buckets = GradientBuckets{};
    EXPECT_EQ(keys(), Keys{"gradient_buckets"});
    training_.parallelism = Parallelism::kHybrid;
    training_.dense_sharding = DenseSharding::kFsdp;
    EXPECT_EQ(keys(), Keys{"gradient_buckets"});
    training_.gradient_buckets.reset();
    training_.wire_formats.all_reduce = WireFormat::kFp8;
    EXPECT_EQ(keys(), Keys{"wire_formats.all_reduce"});
    training_.wire_formats = {};
    training_.dense_sharding = DenseSharding::kReplicated;
    training_.parameter_prefetch = 2;
    EXPECT_EQ(keys(), Keys{"parameter_prefetch"});
    training_.parameter_prefetch.reset();
    training_.priorities = {{"Interaction", 1}, {"Top_7", 1}};
    EXPECT_EQ(keys(), (Keys{"priorities.Interaction", "priorities.Top_7"}));
}

TEST_F(ShardedTraining, TablesMeasuredTwiceOrTooFew) {
    device_.tables = TableTimes{.samples = 0, .forward = {1_us, 2_us}};
    device_.measured["Embedding"].forward = 1_us;
    Keys found;
    for (const ValidationError& problem : validation_errors(device_, training_, model_)) {
        found.push_back(problem.key);
    }
    EXPECT_EQ(found, (Keys{"tables.samples", "tables.forward", "layers.Embedding"}));
}

/// Of the whole interval from the first case on.
std::int64_t number(std::int64_t from, std::int64_t end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, end));
}

/// Whatever the sharding: what the ranks send of pooled embeddings is what they need, and what they look up.
RC_GTEST_PROP(ShardedTrainingProperty, ExchangesConserveBytes, ()) {
    DlrmModel model;
    model.dense_features = 3;
    model.bottom_mlp = {number(1, 20)};
    model.top_mlp = {1};
    model.interaction = Interaction::kConcatenation;
    std::vector<std::int64_t> dimensions;
    for (std::int64_t tables = number(1, 12); tables > 0; --tables) {
        dimensions.push_back(number(1, 50));
    }
    model.tables = {{.count = static_cast<std::int64_t>(dimensions.size()),
                     .rows = 10,
                     .dimension = TableValues(dimensions),
                     .pooling = 2}};
    DlrmTraining training;
    training.local_batch = number(1, 30);
    training.sharding.plan = *rc::gen::element(ShardingMethod::kRoundRobin, ShardingMethod::kPlanner);
    training.sharding.widest_shard = number(1, 60);
    const auto ranks = static_cast<std::size_t>(number(1, 9));
    const Device device{.peak = 3_TFLOPS, .memory_bandwidth = 7_Gbps};
    RC_ASSERT(validation_errors(training, model, ranks).empty());
    const Program program = build_dlrm_program(model, training, device, ranks);
    program.check();
    const auto n = static_cast<std::int64_t>(ranks);
    const Bytes all =
        n * n * *training.local_batch * pooled_width(model) * 2_B;  // N·B·ΣD·e, diagonal included
    for (const Operation& operation : program.operations) {
        if (operation.is_compute() || operation.collective().kind != CollectiveKind::kAllToAll) {
            continue;
        }
        Bytes held;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            held += operation.collective().is_uneven() ? operation.collective().pair_sizes->front().held(rank)
                                                       : operation.collective().size;
        }
        RC_ASSERT(n * held == all);
    }
}

/// Whatever the dense gradients, the sharding and the formats: the program is sound, its iterations are
/// alike, and its collectives sum up to the summary's traffic.
RC_GTEST_PROP(ShardedTrainingProperty, SummaryCountsWhatTheProgramDoes, ()) {
    const auto format = [] {
        return *rc::gen::element(std::optional<WireFormat>(), std::optional(WireFormat::kInt8),
                                 std::optional(WireFormat::kFp16), std::optional(WireFormat::kFp32));
    };
    DlrmModel model;
    model.dense_features = number(1, 50);
    model.bottom_mlp = {number(1, 50), number(1, 50)};
    model.top_mlp = {number(1, 50), number(1, 50), 1};
    model.interaction = Interaction::kConcatenation;
    const ValueDistribution any{.min = 1, .max = 40, .seed = number(1, 100)};
    model.tables = {{.count = number(1, 20),
                     .rows = TableValues(any),
                     .dimension = TableValues(any),
                     .pooling = TableValues(any)}};
    DlrmTraining training;
    training.parallelism = *rc::gen::element(Parallelism::kData, Parallelism::kHybrid);
    training.local_batch = number(1, 30);
    training.iterations = 3;
    training.interaction_time = *rc::gen::arbitrary<bool>();
    training.dense_feature_gradient = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) {
        training.dense_sharding = DenseSharding::kFsdp;
        training.parameter_prefetch = static_cast<int>(number(0, 15));
        training.wire_formats.parameter_all_gather = format();
        training.wire_formats.gradient_reduce_scatter = format();
    } else {
        training.wire_formats.all_reduce = format();
        if (*rc::gen::arbitrary<bool>()) {
            training.gradient_buckets =
                GradientBuckets{.size = Bytes(number(1, 5000)),
                                .order = *rc::gen::element(BucketOrder::kForward, BucketOrder::kReverse)};
        }
    }
    if (training.parallelism == Parallelism::kHybrid) {
        training.sharding.plan = *rc::gen::element(ShardingMethod::kRoundRobin, ShardingMethod::kPlanner);
        training.sharding.data_parallel_up_to = Bytes(number(0, 500));
        training.sharding.row_wise_from = Bytes(number(1, 3000));
        training.sharding.ranks_per_host = 2;
        training.sharding.tables = {{.sharding = TableSharding::kTableRowWise}};
        training.wire_formats.forward_all_to_all = format();
    }
    const Device device{.peak = 3_TFLOPS, .memory_bandwidth = 7_Gbps};
    const auto ranks = static_cast<std::size_t>(2 * number(1, 5));
    RC_ASSERT(validation_errors(training, model, ranks).empty());
    RC_ASSERT(validation_errors(device, training, model).empty());
    const Program program = build_dlrm_program(model, training, device, ranks);
    program.check();
    std::array<Bytes, system::kCollectiveKinds> traffic{};
    for (const Operation& operation : program.operations) {
        if (!operation.is_compute()) {
            traffic[static_cast<std::size_t>(operation.collective().kind)] += operation.collective().size;
        }
    }
    const DlrmSummary summary = summarise(model, training, device, ranks);
    for (std::size_t kind = 0; kind < traffic.size(); ++kind) {
        RC_ASSERT(traffic[kind] == training.iterations * summary.traffic[kind]);
    }
}

}  // namespace
}  // namespace astrolabe::workload
