#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::RankId;
using Values = std::vector<std::int64_t>;
using Keys = std::vector<std::string>;

/// Tables of 100 rows of 4, 8, 12 and 16 values of 2 bytes, pooling 1, 2, 3, 4; 4 ranks with 6 samples each.
class ShardingTest : public ::testing::Test {
protected:
    ShardingTest() {
        model_.dense_features = 4;
        model_.bottom_mlp = {4};
        model_.top_mlp = {1};
        model_.interaction = Interaction::kConcatenation;
        model_.tables = {{.count = 4,
                          .rows = 100,
                          .dimension = TableValues(ValueRange{.from = 4, .to = 16, .step = 4}),
                          .pooling = TableValues(Values{1, 2, 3, 4})}};
        sharding_.plan = ShardingMethod::kRoundRobin;
    }

    /// A nanosecond for every value of every lookup.
    [[nodiscard]] ShardingResult plan() const {
        return plan_sharding(sharding_, model_, kRanks, kSamples,
                             [](std::size_t table, std::int64_t columns, std::int64_t samples, std::int64_t) {
                                 const auto pooling = static_cast<std::int64_t>(table) + 1;
                                 return samples * pooling * columns * 1_ns;
                             });
    }
    [[nodiscard]] Keys keys() const {
        Keys found;
        for (const ValidationError& problem : validation_errors(sharding_, model_, kRanks)) {
            EXPECT_FALSE(problem.message.empty());
            found.push_back(problem.key);
        }
        return found;
    }

    static constexpr std::size_t kRanks = 4;
    static constexpr std::int64_t kSamples = 6;
    DlrmModel model_;
    Sharding sharding_;
};

TEST_F(ShardingTest, PlacesMadeExplicitGiveTheSamePlan) {
    sharding_.ranks_per_host = 2;
    sharding_.index_size = 4_B;
    sharding_.tables = {{.first = 1, .sharding = TableSharding::kColumnWise, .shards = 3},
                        {.first = 2, .sharding = TableSharding::kTableRowWise},
                        {.first = 3, .sharding = TableSharding::kTableColumnWise}};
    const ShardingPlan plan = this->plan().plan;
    const std::vector<TablePlace> places = places_of(plan);
    // Shards in turn from rank 0 on: table 0 on 0, table 1 on 1 to 3; on hosts of two, tables 2 and 3 in
    // turn.
    EXPECT_EQ(places[0], (TablePlace{.ranks = {0}}));
    EXPECT_EQ(places[1], (TablePlace{.sharding = TableSharding::kColumnWise, .ranks = {1, 2, 3}}));
    EXPECT_EQ(places[2], (TablePlace{.sharding = TableSharding::kTableRowWise, .hosts = {0}}));
    EXPECT_EQ(places[3], (TablePlace{.sharding = TableSharding::kTableColumnWise, .hosts = {1}}));
    sharding_.plan = ShardingMethod::kExplicit;
    sharding_.tables.clear();
    for (std::size_t table = 0; table < places.size(); ++table) {
        TableRule rule{.first = static_cast<std::int64_t>(table), .sharding = places[table].sharding};
        rule.ranks = places[table].ranks;
        if (rule.sharding == TableSharding::kColumnWise) {
            rule.shards = static_cast<std::int64_t>(rule.ranks.size());
        }
        rule.hosts = places[table].hosts;
        sharding_.tables.push_back(rule);
    }
    ASSERT_EQ(keys(), Keys{});
    const ShardingPlan explicit_plan = this->plan().plan;
    EXPECT_EQ(columns_of(explicit_plan), columns_of(plan));
    EXPECT_EQ(memory_of(explicit_plan, 2_B), memory_of(plan, 2_B));
    EXPECT_EQ(places_of(explicit_plan), places);
}

TEST_F(ShardingTest, RoundRobinTakesRanksInTurn) {
    const ShardingPlan plan = this->plan().plan;
    EXPECT_EQ(columns_of(plan), (Values{4, 8, 12, 16}));
    EXPECT_EQ(memory_of(plan, 2_B), (std::vector<Bytes>{800_B, 1600_B, 2400_B, 3200_B}));  // 100·D·2
}

TEST_F(ShardingTest, WideTablesAreCutInColumns) {
    sharding_.widest_shard = 5;
    // 4 | 4 4 | 4 4 4 | 4 4 4 4: ten shards of 4 columns, ranks 0 1 2 3 0 1 2 3 0 1.
    EXPECT_EQ(plan().plan.shards.size(), 10U);
    EXPECT_EQ(columns_of(plan().plan), (Values{12, 12, 8, 8}));
    sharding_.widest_shard = 6;
    // 4 | 4 4 | 6 6 | 6 5 5, the remainder of 16 on the first: ranks 0 | 1 2 | 3 0 | 1 2 3.
    EXPECT_EQ(columns_of(plan().plan), (Values{10, 10, 9, 11}));
}

TEST_F(ShardingTest, SizeDecidesBetweenCopiesAndRows) {
    sharding_.data_parallel_up_to = 800_B;  // table 0
    sharding_.row_wise_from = 3200_B;       // table 3
    const ShardingPlan plan = this->plan().plan;
    EXPECT_EQ(plan.data_parallel, std::vector<std::size_t>{0});
    EXPECT_EQ(plan.row_wise, std::vector<std::size_t>{3});
    EXPECT_EQ(columns_of(plan), (Values{8, 12, 0, 0}));
    // Everywhere 800 of the copy and 100/4 rows of 16·2 bytes: 1600 B.
    EXPECT_EQ(memory_of(plan, 2_B), (std::vector<Bytes>{3200_B, 4000_B, 1600_B, 1600_B}));
    TableCounts expected{};
    expected[static_cast<std::size_t>(TableSharding::kTableWise)] = 2;
    expected[static_cast<std::size_t>(TableSharding::kDataParallel)] = 1;
    expected[static_cast<std::size_t>(TableSharding::kRowWise)] = 1;
    EXPECT_EQ(count_tables(sharding_, model_), expected);
}

TEST_F(ShardingTest, TablesLieWithinHosts) {
    sharding_.ranks_per_host = 2;
    sharding_.tables = {{.first = 2, .count = 1, .sharding = TableSharding::kTableRowWise, .hosts = {1}},
                        {.first = 3, .count = 1, .sharding = TableSharding::kTableColumnWise}};
    const ShardingPlan plan = this->plan().plan;
    ASSERT_EQ(plan.host_tables.size(), 1U);
    EXPECT_EQ(plan.host_tables[0].host, 1U);
    // Table 3 in halves on host 0, tables 0 and 1 on ranks 0 and 1.
    EXPECT_EQ(columns_of(plan), (Values{12, 16, 0, 0}));
    // 100·(4 + 8)·2; 100·(8 + 8)·2; 50 rows of 12·2.
    EXPECT_EQ(memory_of(plan, 2_B), (std::vector<Bytes>{2400_B, 3200_B, 1200_B, 1200_B}));
}

TEST_F(ShardingTest, AGridHasColumnsOnHostsAndRowsInside) {
    sharding_.ranks_per_host = 2;
    sharding_.tables = {{.first = 3, .sharding = TableSharding::kGrid, .shards = 2, .hosts = {1, 0}}};
    const ShardingPlan plan = this->plan().plan;
    ASSERT_EQ(plan.host_tables.size(), 2U);
    // Tables 0, 1, 2 on ranks 0, 1, 2; everywhere 50 rows of 8 of table 3's columns.
    EXPECT_EQ(memory_of(plan, 2_B), (std::vector<Bytes>{1600_B, 2400_B, 3200_B, 800_B}));
    EXPECT_EQ(places_of(plan)[3], (TablePlace{.sharding = TableSharding::kGrid, .hosts = {1, 0}}));
    sharding_.plan = ShardingMethod::kPlanner;
    sharding_.tables[0].hosts.clear();
    const ShardingPlan planned = this->plan().plan;
    // Its column shards weigh 12·4·8 ns on both ranks of a host each: one host each.
    EXPECT_NE(planned.host_tables.at(0).host, planned.host_tables.at(1).host);
}

TEST_F(ShardingTest, MinimumPartitionCutsAsTorchRecDoes) {
    // Multiples of 4 from 5 on that divide: of 16 it is 8; 4, 8 and 12 have none below themselves.
    sharding_.min_partition = 5;
    EXPECT_EQ(plan().plan.shards.size(), 5U);
    EXPECT_EQ(columns_of(plan().plan), (Values{12, 8, 12, 8}));
    // From 3 on it is 4: 1, 2, 3 and 4 shards.
    sharding_.min_partition = 3;
    EXPECT_EQ(plan().plan.shards.size(), 10U);
    sharding_.plan = ShardingMethod::kExplicit;
    sharding_.min_partition = 8;
    // 16 is cut in 2 by the rule itself; 8 and 12 stay whole.
    sharding_.tables = {
        {.first = 0, .ranks = {0}},
        {.first = 1, .count = 3, .sharding = TableSharding::kColumnWise, .ranks = {0, 1, 2, 3}}};
    EXPECT_EQ(keys(), Keys{});
    EXPECT_EQ(columns_of(plan().plan), (Values{12, 12, 8, 8}));
    sharding_.tables[1].ranks.pop_back();
    EXPECT_EQ(keys(), Keys{"sharding.tables.1.ranks"});
    sharding_ = {.plan = ShardingMethod::kRoundRobin, .widest_shard = 8, .min_partition = 8};
    EXPECT_EQ(keys(), Keys{"sharding.min_partition"});
}

TEST_F(ShardingTest, PlannerBalancesLookups) {
    // Values a sample looks up: 4, 16, 36, 64; of 24 samples, 1 ns each.
    sharding_.plan = ShardingMethod::kPlanner;
    const ShardingPlan whole = plan().plan;
    EXPECT_EQ(whole.placement->makespan, (24 * 64 * 1_ns).count());
    // In columns of 4: one of 4, two of 8, three of 12, four of 16, 120 in all: 30 a rank is the bound.
    // Greedy: 16 each; 12 on ranks 0, 1, 2; both 8 on rank 3; 4 on rank 0: 32, 28, 28, 32.
    sharding_.widest_shard = 4;
    const ShardingPlan cut = plan().plan;
    EXPECT_EQ(cut.placement->lower_bound, (24 * 30 * 1_ns).count());
    EXPECT_EQ(cut.placement->makespan, (24 * 32 * 1_ns).count());
    sharding_.search = PlacementSearch::kExact;
    // Multiples of 4 that sum up to 120 on 4 ranks: one has 32.
    EXPECT_EQ(plan().plan.placement->makespan, (24 * 32 * 1_ns).count());
    EXPECT_TRUE(plan().plan.placement->proven);
}

TEST_F(ShardingTest, PlannerCountsCommunicationAtTheLinkRate) {
    sharding_.plan = ShardingMethod::kPlanner;
    sharding_.link_rate = 8_Gbps;  // a byte takes 1 ns
    // Table 3: 24·64 ns, and 2·(4 - 1)·6·16 values of 2 bytes.
    EXPECT_EQ(plan().plan.placement->makespan, (24 * 64 * 1_ns + 2 * 3 * 6 * 16 * 2 * 1_ns).count());
}

TEST_F(ShardingTest, ExplicitPlacesWhatItSays) {
    sharding_.plan = ShardingMethod::kExplicit;
    sharding_.tables = {
        {.first = 0, .count = 3, .ranks = {3, 3, 1}},
        {.first = 3, .count = 1, .sharding = TableSharding::kColumnWise, .shards = 3, .ranks = {0, 1, 2}}};
    EXPECT_EQ(keys(), Keys{});
    EXPECT_EQ(columns_of(plan().plan), (Values{6, 17, 5, 12}));  // 16 = 6 + 5 + 5
    sharding_.tables.pop_back();
    EXPECT_EQ(keys(), Keys{"sharding.tables"});  // table 3 lies nowhere
}

TEST_F(ShardingTest, MemoryThatIsNotEnoughIsRefusedWithTheNumbers) {
    sharding_.memory = 2800_B;  // table 3 has 3200
    ShardingResult result = plan();
    ASSERT_EQ(result.validation_errors.size(), 1U);
    EXPECT_EQ(result.validation_errors[0].key, "sharding.memory");
    EXPECT_NE(result.validation_errors[0].message.find("rank 3"), std::string::npos);
    sharding_.plan = ShardingMethod::kPlanner;
    result = plan();
    ASSERT_EQ(result.validation_errors.size(), 1U);
    EXPECT_EQ(result.validation_errors[0].key, "sharding.memory");
    sharding_.widest_shard = 8;  // shards of 800 to 1600 B, 8000 B together, on 4·2800
    EXPECT_TRUE(plan().validation_errors.empty());
    for (const Bytes held : memory_of(plan().plan, 2_B)) {
        EXPECT_LE(held, 2800_B);
    }
}

TEST_F(ShardingTest, KeysThatHaveNoEffectAreRefused) {
    sharding_.search = PlacementSearch::kExact;
    sharding_.link_rate = 1_Gbps;
    EXPECT_EQ(keys(), (Keys{"sharding.search", "sharding.link_rate"}));
    sharding_ = {};
    sharding_.memory = 1_GiB;
    sharding_.tables = {TableRule{}};
    EXPECT_EQ(keys(), (Keys{"sharding.memory", "sharding.tables"}));
    sharding_ = {.plan = ShardingMethod::kRoundRobin, .ranks_per_host = 2};
    EXPECT_EQ(keys(), Keys{"sharding.ranks_per_host"});  // nothing lies on a host
}

TEST_F(ShardingTest, WhatTheExactSearchCannotTakeIsRefused) {
    sharding_ = {.plan = ShardingMethod::kPlanner, .search = PlacementSearch::kExact};
    model_.tables = {{.count = static_cast<std::int64_t>(kMaxExactItems), .rows = 1, .dimension = 2}};
    EXPECT_TRUE(keys().empty());
    sharding_.widest_shard = 1;  // two shards of each table
    EXPECT_EQ(keys(), Keys{"sharding.search"});
    sharding_.search = PlacementSearch::kGreedy;
    EXPECT_TRUE(keys().empty());
}

TEST_F(ShardingTest, MemoryBeyondAllCountsIsRefusedAsWell) {
    // Copies of 2^56 rows of 4 values of 2 B on 32 ranks are 2^64 B, told as the 2^63 at which
    // counts end; table 1 finds no room beside them.
    constexpr std::int64_t kRows = std::int64_t{1} << 56;
    constexpr std::size_t kManyRanks = 32;
    model_.tables = {{.count = 1, .rows = kRows, .dimension = 4}, {.count = 1, .rows = 1, .dimension = 4}};
    sharding_ = {.plan = ShardingMethod::kPlanner, .memory = 1_GiB};
    sharding_.tables = {{.first = 0, .count = 1, .sharding = TableSharding::kDataParallel}};
    const ShardingResult result =
        plan_sharding(sharding_, model_, kManyRanks, kSamples,
                      [](std::size_t, std::int64_t, std::int64_t, std::int64_t) { return 1_ns; });
    ASSERT_EQ(result.validation_errors.size(), 1U);
    EXPECT_EQ(result.validation_errors[0].key, "sharding.memory");
    EXPECT_NE(result.validation_errors[0].message.find("they need 9.223 EB"), std::string::npos)
        << result.validation_errors[0].message;
}

TEST_F(ShardingTest, RulesThatCannotBe) {
    const auto keys_with = [this](TableRule rule) {
        sharding_.tables = {std::move(rule)};
        return keys();
    };
    EXPECT_EQ(keys_with({.first = 3, .count = 2}), Keys{"sharding.tables.0"});
    EXPECT_EQ(keys_with({.shards = 2}), Keys{"sharding.tables.0.shards"});
    EXPECT_EQ(keys_with({.sharding = TableSharding::kColumnWise}), Keys{"sharding.tables.0.shards"});
    EXPECT_EQ(keys_with({.sharding = TableSharding::kColumnWise, .shards = 5}),
              Keys{"sharding.tables.0.shards"});  // table 0 has 4 columns
    EXPECT_EQ(keys_with({.ranks = {4}}), Keys{"sharding.tables.0.ranks.0"});
    EXPECT_EQ(keys_with({.ranks = {1, 2}}), Keys{"sharding.tables.0.ranks"});
    EXPECT_EQ(keys_with({.hosts = {0}}), Keys{"sharding.tables.0.hosts"});
    EXPECT_EQ(keys_with({.sharding = TableSharding::kRowWise, .ranks = {0}}),
              Keys{"sharding.tables.0.ranks"});
    EXPECT_EQ(keys_with({.sharding = TableSharding::kTableRowWise}), Keys{"sharding.tables.0.sharding"});
    EXPECT_EQ(keys_with({.sharding = TableSharding::kGrid}),
              (Keys{"sharding.tables.0.shards", "sharding.tables.0.sharding"}));
    sharding_.ranks_per_host = 3;
    EXPECT_EQ(keys_with({.sharding = TableSharding::kTableRowWise}), Keys{"sharding.ranks_per_host"});
    sharding_.ranks_per_host = 2;
    EXPECT_EQ(keys_with({.sharding = TableSharding::kTableRowWise, .hosts = {2}}),
              Keys{"sharding.tables.0.hosts.0"});
    EXPECT_EQ(keys_with({.sharding = TableSharding::kGrid, .shards = 2, .hosts = {0}}),
              Keys{"sharding.tables.0.hosts"});
}

/// Of the whole interval from the first case on.
std::int64_t number(std::int64_t from, std::int64_t end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, end));
}

/// Whatever the plan: every column of every table lies somewhere exactly once, and all memory is that of the
/// tables, copies and rounded-up shares of rows apart.
RC_GTEST_PROP(ShardingProperty, NothingIsLost, ()) {
    DlrmModel model;
    const std::int64_t count = number(1, 20);
    Values dimensions;
    Values rows;
    for (std::int64_t i = 0; i < count; ++i) {
        dimensions.push_back(number(4, 60));
        rows.push_back(number(1, 500));
    }
    model.tables = {{.count = count, .rows = TableValues(rows), .dimension = TableValues(dimensions)}};
    const std::size_t ranks = 2 * static_cast<std::size_t>(number(1, 5));
    Sharding sharding;
    sharding.plan = *rc::gen::element(ShardingMethod::kRoundRobin, ShardingMethod::kPlanner);
    sharding.widest_shard = number(1, 70);
    sharding.data_parallel_up_to = Bytes(number(0, 3000));
    sharding.row_wise_from = Bytes(number(1, 40'000));
    sharding.ranks_per_host = 2;
    sharding.tables = {{.first = number(0, count), .sharding = TableSharding::kTableRowWise},
                       {.first = number(0, count), .sharding = TableSharding::kTableColumnWise}};
    RC_ASSERT(validation_errors(sharding, model, ranks).empty());
    const ShardingPlan plan = plan_sharding(sharding, model, ranks, 3,
                                            [](std::size_t, std::int64_t columns, std::int64_t samples,
                                               std::int64_t) { return Time(columns * samples); })
                                  .plan;
    Values columns(dimensions.size(), 0);
    for (const Shard& shard : plan.shards) {
        RC_ASSERT(shard.rank.index() < ranks);
        RC_ASSERT(shard.columns >= 1);
        columns[shard.table] += shard.columns;
    }
    Bytes expected;
    const auto add_spread = [&](std::size_t table, std::size_t sharers) {
        columns[table] += dimensions[table];
        const auto n = static_cast<std::int64_t>(sharers);
        expected += n * ((rows[table] + n - 1) / n) * dimensions[table] * 2_B;
    };
    for (const Shard& shard : plan.shards) {
        expected += rows[shard.table] * shard.columns * 2_B;
    }
    for (const HostTable& table : plan.host_tables) {
        RC_ASSERT(table.host < ranks / 2);
        add_spread(table.table, 2);
    }
    for (const std::size_t table : plan.row_wise) {
        add_spread(table, ranks);
    }
    for (const std::size_t table : plan.data_parallel) {
        columns[table] += dimensions[table];
        expected += static_cast<std::int64_t>(ranks) * rows[table] * dimensions[table] * 2_B;
    }
    RC_ASSERT(columns == dimensions);
    const std::vector<Bytes> memory = memory_of(plan, 2_B);
    RC_ASSERT(std::accumulate(memory.begin(), memory.end(), Bytes(0)) == expected);
}

}  // namespace
}  // namespace astrolabe::workload
