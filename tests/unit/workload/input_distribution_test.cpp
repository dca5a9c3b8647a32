/// The exchange of indices before the lookups (input_distribution.hpp).
#include "workload/src/dlrm/input_distribution.hpp"

#include "workload/src/dlrm/dlrm_training.hpp"
#include "workload/src/dlrm/sharding_decisions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::Operation;
using system::PairSizes;
using system::Program;

using Matrix = std::array<std::array<std::int64_t, 4>, 4>;
using Sample = std::vector<std::int64_t>;

Matrix matrix(const PairSizes& sizes, std::int64_t element) {
    Matrix elements{};
    for (std::size_t source = 0; source < 4; ++source) {
        for (std::size_t destination = 0; destination < 4; ++destination) {
            elements[source][destination] = sizes(source, destination).count() / element;
            EXPECT_EQ(sizes(source, destination).count() % element, 0);
        }
    }
    return elements;
}

// The worked example of the reference for DLRM training: four ranks on two hosts, two samples each, and five
// tables. A: 100 rows of 8, on rank 1. B: 60 rows of 8, columns on ranks 0 and 3. C: 10 rows over all ranks:
// blocks of ceil(10/4) = 3, 3, 3 and 1. D: 8 rows on the second host, 4 a rank. E: a copy on every rank.
class WorkedExample : public ::testing::Test {
protected:
    WorkedExample() {
        plan_.ranks = 4;
        plan_.ranks_per_host = 2;
        for (const auto& [rows, dimension] : {std::pair{100, 8}, {60, 8}, {10, 4}, {8, 4}, {3, 4}}) {
            plan_.tables.push_back({.rows = rows, .dimension = dimension});
        }
        plan_.shards = {{.table = 0, .columns = 8, .rank = system::RankId(1)},
                        {.table = 1, .columns = 4, .rank = system::RankId(0)},
                        {.table = 1, .columns = 4, .rank = system::RankId(3)}};
        plan_.host_tables = {{.table = 3, .columns = 4, .host = 1}};
        plan_.row_wise = {2};
        plan_.data_parallel = {4};
        places_ = {{.sharding = TableSharding::kTableWise},
                   {.sharding = TableSharding::kColumnWise},
                   {.sharding = TableSharding::kRowWise},
                   {.sharding = TableSharding::kTableRowWise},
                   {.sharding = TableSharding::kDataParallel}};
    }

    [[nodiscard]] std::map<TableSharding, IndexExchange> exchanges() const {
        const LookupCount count = [this](std::size_t rank, std::size_t table, std::int64_t block,
                                         std::int64_t blocks) {
            const RowBlock rows = row_block(plan_.tables[table].rows, block, blocks);
            const Sample& looked_up = indices_[rank][table];
            return std::count_if(looked_up.begin(), looked_up.end(), [&rows](std::int64_t index) {
                return rows.begin <= index && index < rows.end;
            });
        };
        std::map<TableSharding, IndexExchange> found;
        for (IndexExchange& exchange : index_exchanges(plan_, places_, 2, {}, count)) {
            found.emplace(exchange.kind, std::move(exchange));
        }
        return found;
    }

    ShardingPlan plan_;
    std::vector<TablePlace> places_;
    /// By rank and table, both samples.
    std::vector<std::vector<Sample>> indices_{{{5, 7, 8}, {1, 2, 3}, {0, 9, 4}, {7, 0, 3}, {0, 2}},
                                              {{5, 6, 7}, {10, 11, 12}, {8, 2, 3}, {4, 5, 1}, {1, 1}},
                                              {{99, 5}, {59}, {9}, {2, 6}, {0, 0}},
                                              {{0, 1, 5}, {2, 2, 2}, {1, 1, 5, 7}, {3, 3}, {2, 2}}};
};

TEST_F(WorkedExample, LengthsAndValuesAreThoseOfTheReference) {
    const auto found = exchanges();
    ASSERT_EQ(found.size(), 4U);
    const auto lengths = [&](TableSharding kind) { return matrix(found.at(kind).lengths, 4); };
    const auto values = [&](TableSharding kind) { return matrix(found.at(kind).values, 8); };
    EXPECT_EQ(lengths(TableSharding::kTableWise),
              (Matrix{{{0, 2, 0, 0}, {0, 2, 0, 0}, {0, 2, 0, 0}, {0, 2, 0, 0}}}));
    EXPECT_EQ(values(TableSharding::kTableWise),
              (Matrix{{{0, 3, 0, 0}, {0, 3, 0, 0}, {0, 2, 0, 0}, {0, 3, 0, 0}}}));
    EXPECT_EQ(lengths(TableSharding::kColumnWise),
              (Matrix{{{2, 0, 0, 2}, {2, 0, 0, 2}, {2, 0, 0, 2}, {2, 0, 0, 2}}}));
    EXPECT_EQ(values(TableSharding::kColumnWise),
              (Matrix{{{3, 0, 0, 3}, {3, 0, 0, 3}, {1, 0, 0, 1}, {3, 0, 0, 3}}}));
    EXPECT_EQ(lengths(TableSharding::kRowWise),
              (Matrix{{{2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}}}));
    EXPECT_EQ(values(TableSharding::kRowWise),
              (Matrix{{{1, 1, 0, 1}, {1, 1, 1, 0}, {0, 0, 0, 1}, {2, 1, 1, 0}}}));
    EXPECT_EQ(lengths(TableSharding::kTableRowWise),
              (Matrix{{{0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 2, 2}}}));
    EXPECT_EQ(values(TableSharding::kTableRowWise),
              (Matrix{{{0, 0, 2, 1}, {0, 0, 1, 2}, {0, 0, 1, 1}, {0, 0, 2, 0}}}));
    // Twelve numbers of 8 bytes a peer: 96 B, and 288 B leave each rank.
    EXPECT_EQ(split_bytes(found.size()), 96_B);
}

// Table C as a grid instead: 2 of its 4 columns on each host, rows in blocks of ceil(10/2) = 5 there. Rank 0
// looks up 0, 9 and 4, two in the first block and one in the second, and asks both hosts.
TEST_F(WorkedExample, AGridAsksTheRanksOfEachOfItsHosts) {
    plan_.row_wise.clear();
    plan_.host_tables.push_back({.table = 2, .columns = 2, .host = 0, .kind = TableSharding::kGrid});
    plan_.host_tables.push_back({.table = 2, .columns = 2, .host = 1, .kind = TableSharding::kGrid});
    places_[2].sharding = TableSharding::kGrid;
    const auto found = exchanges();
    EXPECT_EQ(matrix(found.at(TableSharding::kGrid).lengths, 4),
              (Matrix{{{2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}}}));
    EXPECT_EQ(matrix(found.at(TableSharding::kGrid).values, 8),
              (Matrix{{{2, 1, 2, 1}, {2, 1, 2, 1}, {0, 1, 0, 1}, {2, 2, 2, 2}}}));
    EXPECT_EQ(found.at(TableSharding::kTableRowWise).lengths(0, 1), 0_B);
}

TEST(RowBlock, CutsRowsAsTorchRecDoes) {
    // 10 over 4: 3, 3, 3, 1; 3 over 4: 1, 1, 1, 0.
    const auto heights = [](std::int64_t rows, std::int64_t blocks) {
        std::vector<std::int64_t> all;
        for (std::int64_t block = 0; block < blocks; ++block) {
            const RowBlock one = row_block(rows, block, blocks);
            all.push_back(one.end - one.begin);
        }
        return all;
    };
    EXPECT_EQ(heights(10, 4), (std::vector<std::int64_t>{3, 3, 3, 1}));
    EXPECT_EQ(heights(3, 4), (std::vector<std::int64_t>{1, 1, 1, 0}));
}

RC_GTEST_PROP(RowBlockProperty, BlocksShareAllLookupsOnce, ()) {
    const auto rows = *rc::gen::inRange<std::int64_t>(1, 1'000'000);
    const auto blocks = *rc::gen::inRange<std::int64_t>(1, 200);
    const auto pooling = *rc::gen::inRange<std::int64_t>(1, 100);
    const auto samples = *rc::gen::inRange<std::int64_t>(1, 1'000);
    const std::vector<EqualTables> tables{{.rows = rows, .pooling = pooling}};
    const LookupCount count = even_lookups(tables, samples);
    std::int64_t sum = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t one = count(0, 0, block, blocks);
        RC_ASSERT(one >= 0);
        sum += one;
    }
    RC_ASSERT(sum == samples * pooling);
    RC_ASSERT(count(0, 0, 0, 1) == samples * pooling);
}

/// Two tables of 8 columns and 3 lookups, round robin on 4 ranks with 5 samples each.
class InputProgram : public ::testing::Test {
protected:
    InputProgram() {
        model_.dense_features = 4;
        model_.bottom_mlp = {4};
        model_.top_mlp = {1};
        model_.interaction = Interaction::kConcatenation;
        model_.tables = {{.count = 2, .rows = 100, .dimension = 8, .pooling = 3}};
        training_.local_batch = 5;
        training_.iterations = 2;
        training_.sharding = {.plan = ShardingMethod::kRoundRobin,
                              .index_size = 0_B,
                              .input_distribution = InputDistribution{.ahead = false}};
        device_.peak = 1_TFLOPS;
        device_.memory_bandwidth = 8_Gbps;
    }

    [[nodiscard]] Program program() const { return build_dlrm_program(model_, training_, device_, 4); }
    static std::vector<std::string> names_of(const Program& program) {
        std::vector<std::string> names;
        for (const Operation& operation : program.operations) {
            names.push_back(std::to_string(operation.iteration) + " " + operation.name);
        }
        return names;
    }
    static std::size_t place(const std::vector<std::string>& names, const std::string& name) {
        const auto found = std::find(names.begin(), names.end(), name);
        EXPECT_NE(found, names.end()) << name;
        return static_cast<std::size_t>(found - names.begin());
    }

    DlrmModel model_;
    DlrmTraining training_;
    Device device_;
};

TEST_F(InputProgram, LookupsWaitForSplitsLengthsAndValuesOneAfterTheOther) {
    const Program program = this->program();
    const auto names = names_of(program);
    const std::size_t splits = place(names, "0 Input.indices.all_to_all.splits");
    ASSERT_EQ(place(names, "0 Input.indices.all_to_all.table_wise.lengths"), splits + 1);
    ASSERT_EQ(place(names, "0 Input.indices.all_to_all.table_wise.values"), splits + 2);
    const auto operation = [&](std::size_t index) -> const Operation& {
        return program.operations[system::OperationId(index)];
    };
    EXPECT_EQ(operation(splits).collective().size, 4 * 24_B);
    // 5 samples, 4 B, two tables; 5 · 3 lookups of 8 B, two tables. Of it half is for each of ranks 0 and 1.
    EXPECT_EQ(operation(splits + 1).collective().size, 40_B);
    EXPECT_EQ(operation(splits + 2).collective().size, 240_B);
    const PairSizes& values = operation(splits + 2).collective().pair_sizes->front();
    EXPECT_EQ(values(3, 0), 120_B);
    EXPECT_EQ(values(3, 2), 0_B);
    const Operation& lookup = operation(place(names, "0 Embedding.forward"));
    EXPECT_EQ(lookup.dependencies, (std::vector{system::OperationId(splits + 2)}));
    // The second iteration's begins behind the first's last computation.
    const std::size_t second = place(names, "1 Input.indices.all_to_all.splits");
    EXPECT_GT(second, place(names, "0 Embedding.update"));
}

TEST_F(InputProgram, AheadItIsIssuedBehindTheForwardPassOfTheIterationBefore) {
    training_.sharding.input_distribution->ahead = true;
    const Program program = this->program();
    const auto names = names_of(program);
    const std::size_t second = place(names, "1 Input.indices.all_to_all.splits");
    EXPECT_GT(second, place(names, "0 Top_0.forward"));
    EXPECT_LT(second, place(names, "0 Top_0.weight_gradient"));
    EXPECT_EQ(program.operations[system::OperationId(second)].dependencies,
              (std::vector{system::OperationId(place(names, "0 Top_0.forward"))}));
    const Operation& lookup = program.operations[system::OperationId(place(names, "1 Embedding.forward"))];
    EXPECT_EQ(
        lookup.dependencies,
        (std::vector{system::OperationId(place(names, "1 Input.indices.all_to_all.table_wise.values"))}));
    EXPECT_EQ(std::count_if(names.begin(), names.end(),
                            [](const std::string& name) { return name.ends_with(".splits"); }),
              2);
}

TEST_F(InputProgram, ABalancedPlanPlacesNoTablesAndIsRefused) {
    training_.sharding.plan = ShardingMethod::kBalanced;
    training_.sharding.index_size.reset();
    const ValidationErrors errors = validation_errors(training_, model_, 4);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.front().key, "sharding.input_distribution");
}

// Shards of 2 columns ask for the indices of a table of 8 four times.
TEST_F(InputProgram, NarrowShardsAskForTheSameIndicesAgain) {
    const auto crossing = [&] {
        Bytes sum;
        for (const Operation& operation : program().operations) {
            if (operation.iteration == 0 && operation.name.ends_with(".values")) {
                sum += operation.collective().pair_sizes->front().crossing();
            }
        }
        return sum;
    };
    // 4 ranks · 15 lookups · 8 B · 2 tables, less the quarter that stays where it is.
    EXPECT_EQ(crossing(), Bytes(4 * 15 * 8 * 2 * 3 / 4));
    training_.sharding.widest_shard = 2;
    EXPECT_EQ(crossing(), Bytes(4 * 4 * 15 * 8 * 2 * 3 / 4));
}

}  // namespace
}  // namespace astrolabe::workload
