/// What a rank's memory holds, under every plan (planner/memory_use.hpp).
#include "workload/src/dlrm/planner/memory_use.hpp"

#include "workload/src/dlrm/dlrm_training.hpp"
#include "workload/src/dlrm/planner/placed_tables.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::workload::planner {
namespace {

using namespace astrolabe::literals;

/// Two tables of 1000 rows of 8 and 16 values of 4 bytes and 3 lookups, with Adagrad's state as large again;
/// dense 10 → 8, interaction 8 + 24 → 1, 80 + 32 parameters. Two ranks, 5 samples each.
class MemoryUse : public ::testing::Test {
protected:
    MemoryUse() {
        model_.dense_features = 10;
        model_.bottom_mlp = {8};
        model_.top_mlp = {1};
        model_.interaction = Interaction::kConcatenation;
        model_.element_size = 4_B;
        model_.tables = {{.count = 2,
                          .rows = 1000,
                          .dimension = TableValues(std::vector<std::int64_t>{8, 16}),
                          .pooling = 3}};
        training_.local_batch = 5;
        training_.embedding_optimizer = EmbeddingOptimizer::kAdagrad;
        device_.peak = 1_TFLOPS;
        device_.memory_bandwidth = 8_Gbps;
    }

    [[nodiscard]] std::vector<RankMemory> use() const {
        std::optional<ShardingPlan> plan;
        if (!training_.sharding.is_balanced()) {
            plan = place_tables(model_, training_, device_, 2).plan;
        }
        return memory_use(model_, training_, training_costs(model_, training_, device_, 2), plan);
    }
    [[nodiscard]] ValidationErrors errors(Bytes memory) {
        device_.memory = memory;
        return validation_errors(model_, training_, device_, 2);
    }

    DlrmModel model_;
    DlrmTraining training_;
    Device device_;
};

TEST_F(MemoryUse, CountsOfTheHostsTablesWhatIsInTheDevice) {
    training_.sharding.plan = ShardingMethod::kRoundRobin;
    training_.embedding_optimizer = EmbeddingOptimizer::kPartialRowWiseAdam;
    model_.tables[0].traits.memory = TableMemory::kHost;
    // One value of state for each of 1000 rows.
    EXPECT_EQ(use()[0].tables.weights + use()[0].tables.state, 4'000_B);
    model_.tables[0].traits.memory = TableMemory::kCached;
    model_.tables[0].traits.cache.load_factor = 0.1;
    // Beside it 4 bytes of the map a row, and ceil(100 / 32)·32 = 128 slots of 8·4 + 16 bytes.
    EXPECT_EQ(use()[0].tables.weights + use()[0].tables.state, 8'000_B + 128 * 48_B);
}

TEST_F(MemoryUse, AddsUpWhatTheTablesOfARankNeed) {
    training_.sharding.plan = ShardingMethod::kRoundRobin;
    const std::vector<RankMemory> ranks = use();
    // Rank 0: 1000·8·4 and as much state; 10 samples of 8 values and their gradients; 10·3 indices of 8
    // bytes.
    EXPECT_EQ(ranks[0].tables.weights, 32'000_B);
    EXPECT_EQ(ranks[0].tables.state, 32'000_B);
    EXPECT_EQ(ranks[0].tables.activations, 640_B);
    EXPECT_EQ(ranks[0].tables.indices, 240_B);
    EXPECT_EQ(ranks[1].tables.weights, 64'000_B);
    EXPECT_EQ(fullest(ranks), 1U);
    // 112 parameters and their gradients; 5 samples of 32 + 2·24 + 8 + 1 values.
    EXPECT_EQ(ranks[0].parameters, 896_B);
    EXPECT_EQ(ranks[0].activations, Bytes(5 * 89 * 4));
}

TEST_F(MemoryUse, TheBalancedPlanGivesEveryRankItsShareAndCopiesAll) {
    // 96,000 B in both tables, and as much state.
    const std::vector<RankMemory> shares = use();
    EXPECT_EQ(shares[0].tables.weights, 48'000_B);
    EXPECT_EQ(shares[0].tables.state, 48'000_B);
    EXPECT_EQ(shares[1].tables.total(), shares[0].tables.total());
    training_.parallelism = Parallelism::kData;
    EXPECT_EQ(use()[0].tables.weights, 96'000_B);
    EXPECT_EQ(use()[0].tables.activations, Bytes(2 * 5 * 24 * 4));
}

TEST_F(MemoryUse, NoPlanMayNeedMoreThanTheDeviceHas) {
    const std::vector<Sharding> plans{
        {},
        {.plan = ShardingMethod::kRoundRobin},
        {.plan = ShardingMethod::kPlanner},
        {.plan = ShardingMethod::kExplicit, .tables = {{.first = 0, .count = 2, .ranks = {1, 0}}}}};
    for (const Sharding& sharding : plans) {
        training_.sharding = sharding;
        device_.memory.reset();
        const std::vector<RankMemory> ranks = use();
        const std::size_t rank = fullest(ranks);
        const Bytes needed = ranks[rank].total();
        EXPECT_TRUE(errors(needed).empty());
        const ValidationErrors refused = errors(needed - 1000_B);
        ASSERT_EQ(refused.size(), 1U);
        EXPECT_EQ(refused[0].key, "sharding");
        EXPECT_NE(refused[0].message.find("rank " + std::to_string(rank) + " needs"), std::string::npos);
        EXPECT_NE(refused[0].message.find("1 KB too little"), std::string::npos) << refused[0].message;
    }
}

TEST_F(MemoryUse, TheFullSearchKeepsToTheDevice) {
    training_.sharding = {
        .plan = ShardingMethod::kPlanner, .search = PlacementSearch::kFull, .link_rate = LinkRate(100_Gbps)};
    device_.memory = 110'000_B;  // the table of 16 columns alone needs 128,000
    ASSERT_TRUE(validation_errors(training_, model_, 2).empty());
    ASSERT_TRUE(validation_errors(model_, training_, device_, 2).empty());
    for (const RankMemory& rank : use()) {
        EXPECT_LE(rank.total(), 110'000_B);
    }
    EXPECT_EQ(errors(60'000_B).size(), 1U);
    const DlrmSummary summary = [this] {
        device_.memory = 110'000_B;
        return summarise(model_, training_, device_, 2);
    }();
    ASSERT_TRUE(summary.report.has_value());
    EXPECT_NE(summary.fullest_rank.find("optimiser's state"), std::string::npos) << summary.fullest_rank;
}

}  // namespace
}  // namespace astrolabe::workload::planner
