/// Placements of FlexFlow's tables: equations in flexflow_dlrm.hpp.
#include "flexflow_dlrm_study.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
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

Program program_of(const FlexflowModel& model, FlexflowTraining training, FlexflowPlacement placement,
                   std::size_t nodes) {
    training.placement = placement;
    return build_flexflow_program(model, training, testing::a100(), nodes);
}

const Operation& named(const Program& program, std::string_view name) {
    for (const Operation& operation : program.operations) {
        if (operation.name == name) {
            return operation;
        }
    }
    throw std::out_of_range(std::string(name));
}

Time compute_on(const Program& program, std::size_t node) {
    Time sum;
    for (const Operation& operation : program.operations) {
        sum += operation.is_compute() ? operation.compute().duration[RankId(node)] : Time(0);
    }
    return sum;
}

Time compute_of_all(const Program& program) {
    Time sum;
    for (std::size_t node = 0; node < program.ranks; ++node) {
        sum += compute_on(program, node);
    }
    return sum;
}

TEST(FlexflowPlacement, LastRoundOfModelA) {
    struct Case {
        std::size_t nodes;
        const char* round;  // ⌈1000/N⌉ - 1
        Bytes pair;         // (1000 mod N)/N of a slice
        Time forward;       // (1000 mod N)/N of 34 ms
        Time backward;      // and of 375.8 ms
    };
    for (const Case& expected :
         {Case{16, "62", 8 * 20'971'520_B / 16, 17_ms, 187'900_us},            // 62·16 = 992
          Case{128, "7", 104 * 2'621'440_B / 128, 27'625_us, 305'337'500_ns},  // 7·128 = 896
          Case{1024, "0", 320'000_B, 33'203'125_ns, 366'992'187'500_ps}}) {    // 327,680·1000/1024
        const Program program = program_of(testing::model_a(), testing::opera_study_training(),
                                           FlexflowPlacement::kBalanced, expected.nodes);
        for (const char* direction : {".forward", ".backward"}) {
            const std::string pass = std::string("Embedding_") + expected.round + direction;
            const system::CollectiveOperation& exchange = named(program, pass + ".all_to_all").collective();
            EXPECT_FALSE(exchange.is_uneven());
            EXPECT_EQ(exchange.size, static_cast<std::int64_t>(expected.nodes) * expected.pair);
            const system::PerRank<Time>& duration = named(program, pass).compute().duration;
            EXPECT_TRUE(duration.uniform());
            EXPECT_EQ(duration[RankId(0)], direction[1] == 'f' ? expected.forward : expected.backward);
        }
    }
}

TEST(FlexflowPlacement, WholeRoundsAreThoseOfRoundRobin) {
    const FlexflowTraining training = testing::opera_study_training();
    const Program balanced = program_of(testing::model_a(), training, FlexflowPlacement::kBalanced, 16);
    const Program placed = program_of(testing::model_a(), training, FlexflowPlacement::kRoundRobin, 16);
    ASSERT_EQ(balanced.operations.size(), placed.operations.size());
    for (std::size_t i = 0; i < placed.operations.size(); ++i) {
        const Operation& one = balanced.operations[OperationId(i)];
        const Operation& other = placed.operations[OperationId(i)];
        EXPECT_EQ(one.name, other.name);
        EXPECT_EQ(one.dependencies, other.dependencies);
        if (one.name.starts_with("Embedding_62.")) {
            continue;
        }
        if (one.is_compute()) {
            EXPECT_EQ(one.compute().duration[RankId(0)], other.compute().duration[RankId(0)]);
        } else {
            EXPECT_EQ(one.collective().size, other.collective().size);
        }
    }
}

TEST(FlexflowPlacement, ComputeTimesAreThoseOfTheNodeWithMost) {
    FlexflowTraining training = testing::opera_study_training();
    const auto tables = [&](std::size_t nodes) {
        return compute_times(testing::model_a(), training, testing::a100(), nodes).embedding;
    };
    EXPECT_EQ(tables(16), 63 * 409'800_us);  // 34 + 375.8 ms
    training.placement = FlexflowPlacement::kBalanced;
    EXPECT_EQ(tables(16), 62 * 409'800_us + 204'900_us);          // 1000/16 = 62.5
    EXPECT_EQ(tables(1024), 33'203'125_ns + 366'992'187'500_ps);  // 1000/1024 of a table
}

/// A model and a batch for some nodes.
struct Drawn {
    FlexflowModel model;
    FlexflowTraining training = testing::opera_study_training();
    std::size_t nodes = *rc::gen::inRange<std::size_t>(1, 20);

    explicit Drawn(std::int64_t tables)
        : model{.tables = tables,
                .rows = 100,
                .dimension = *rc::gen::inRange<std::int64_t>(1, 200),
                .bottom_mlp = {7, 4},
                .top_mlp = {5, 3}} {
        training.gpus_per_node = *rc::gen::inRange<std::int64_t>(1, 9);
        training.batch =
            *rc::gen::inRange<std::int64_t>(1, 5) * training.gpus_per_node * static_cast<std::int64_t>(nodes);
        training.scale_down = *rc::gen::inRange<std::int64_t>(1, 5);
    }
    [[nodiscard]] Program program(FlexflowPlacement placement) const {
        return program_of(model, training, placement, nodes);
    }
};

RC_GTEST_PROP(FlexflowPlacement, TotalsDoNotDependOnIt, ()) {
    const Drawn drawn(*rc::gen::inRange<std::int64_t>(1, 60));
    const Program placed = drawn.program(FlexflowPlacement::kRoundRobin);
    const Program balanced = drawn.program(FlexflowPlacement::kBalanced);
    const testing::Crossing expected = testing::crossing(placed);
    const testing::Crossing sent = testing::crossing(balanced);
    RC_ASSERT(sent.slices == expected.slices);
    RC_ASSERT(sent.all_reduce == expected.all_reduce);
    // Each of N parts of the two passes is rounded up by less than a picosecond.
    const Time more = compute_of_all(balanced) - compute_of_all(placed);
    RC_ASSERT(more >= Time(0));
    RC_ASSERT(more < Time(2 * static_cast<std::int64_t>(drawn.nodes)));
    for (std::size_t node = 1; node < drawn.nodes; ++node) {
        RC_ASSERT(compute_on(balanced, node) == compute_on(balanced, 0));
    }
    RC_ASSERT(compute_on(balanced, 0) <= compute_on(placed, 0));
}

/// Runs of nodes that together have all tables.
std::vector<NodeTables> drawn_counts(std::int64_t tables, std::size_t nodes) {
    std::vector<NodeTables> runs;
    for (std::size_t node = 0; node < nodes; ++node) {
        const std::int64_t here = node + 1 < nodes ? *rc::gen::inRange<std::int64_t>(0, tables + 1) : tables;
        runs.push_back({.nodes = 1, .tables = here});
        tables -= here;
    }
    return runs;
}

RC_GTEST_PROP(FlexflowPlacement, AnyPlacementHasTheSameTasksAndBytes, ()) {
    Drawn drawn(*rc::gen::inRange<std::int64_t>(1, 60));
    const testing::Crossing expected = testing::crossing(drawn.program(FlexflowPlacement::kRoundRobin));
    const FlexflowCounts counted = count(drawn.model, drawn.training, drawn.nodes);
    drawn.training.tables_per_node = drawn_counts(drawn.model.tables, drawn.nodes);
    drawn.training.placement = FlexflowPlacement::kExplicit;
    RC_ASSERT(validation_errors(drawn.model, drawn.training, drawn.nodes).empty());
    const Program placed = drawn.program(FlexflowPlacement::kExplicit);
    const testing::Crossing sent = testing::crossing(placed);
    RC_ASSERT(sent.slices == expected.slices);
    RC_ASSERT(sent.tasks == expected.tasks);
    RC_ASSERT(sent.all_reduce == expected.all_reduce);
    RC_ASSERT(count(drawn.model, drawn.training, drawn.nodes).tasks == counted.tasks);
    // Each node passes over its own tables, no more and no less.
    drawn.model.tables = 1;
    FlexflowTraining none = drawn.training;
    none.placement = FlexflowPlacement::kRoundRobin;
    none.tables_per_node = {};
    const Time table = compute_times(drawn.model, none, testing::a100(), drawn.nodes).embedding;
    for (std::size_t node = 0; node < drawn.nodes; ++node) {
        Time passes;
        for (const Operation& operation : placed.operations) {
            passes += operation.is_compute() && operation.layer == "Embedding"
                          ? operation.compute().duration[RankId(node)]
                          : Time(0);
        }
        RC_ASSERT(passes == drawn.training.tables_per_node[node].tables * table);
    }
}

TEST(FlexflowPlacement, ExplicitCountsOfRoundRobinGiveItsProgram) {
    FlexflowTraining training = testing::opera_study_training();
    const Program expected = program_of(testing::model_a(), training, FlexflowPlacement::kRoundRobin, 128);
    training.tables_per_node = {{.nodes = 104, .tables = 8}, {.nodes = 24, .tables = 7}};  // 832 + 168
    const Program placed = program_of(testing::model_a(), training, FlexflowPlacement::kExplicit, 128);
    ASSERT_EQ(placed.operations.size(), expected.operations.size());
    for (std::size_t i = 0; i < placed.operations.size(); ++i) {
        const Operation& one = placed.operations[OperationId(i)];
        const Operation& other = expected.operations[OperationId(i)];
        EXPECT_EQ(one.name, other.name);
        EXPECT_EQ(one.dependencies, other.dependencies);
        for (std::size_t node = 0; one.is_compute() && node < 128; ++node) {
            EXPECT_EQ(one.compute().duration[RankId(node)], other.compute().duration[RankId(node)]);
        }
        if (!one.is_compute()) {
            EXPECT_EQ(one.collective().size, other.collective().size);
            EXPECT_EQ(one.collective().is_uneven(), other.collective().is_uneven());
        }
    }
}

TEST(FlexflowPlacement, ExplicitCountsAreOfAllNodesAndTables) {
    FlexflowTraining training = testing::opera_study_training();
    const auto key = [&] {
        const auto found = validation_errors(testing::model_a(), training, 128);
        return found.empty() ? std::string("none") : found.front().key;
    };
    training.placement = FlexflowPlacement::kExplicit;
    EXPECT_EQ(key(), "placement");  // and no counts
    training.tables_per_node = {{.nodes = 104, .tables = 8}, {.nodes = 23, .tables = 7}};
    EXPECT_EQ(key(), "tables_per_node");  // 127 nodes
    training.tables_per_node = {{.nodes = 103, .tables = 8}, {.nodes = 25, .tables = 7}};
    EXPECT_EQ(key(), "tables_per_node");  // 999 tables
    training.tables_per_node = {{.nodes = 129, .tables = 8}};
    EXPECT_EQ(key(), "tables_per_node.0.nodes");
    training.tables_per_node = {{.nodes = 128, .tables = -1}};
    EXPECT_EQ(key(), "tables_per_node.0.tables");
    training.tables_per_node = {{.nodes = 104, .tables = 8}, {.nodes = 24, .tables = 7}};
    EXPECT_EQ(key(), "none");
    training.placement = FlexflowPlacement::kRoundRobin;
    EXPECT_EQ(key(), "tables_per_node");
}

RC_GTEST_PROP(FlexflowPlacement, SameProgramWhereTablesDivide, ()) {
    const std::int64_t rounds = *rc::gen::inRange<std::int64_t>(1, 5);
    Drawn drawn(1);
    drawn.model.tables = rounds * static_cast<std::int64_t>(drawn.nodes);
    const Program placed = drawn.program(FlexflowPlacement::kRoundRobin);
    const Program balanced = drawn.program(FlexflowPlacement::kBalanced);
    RC_ASSERT(placed.operations.size() == balanced.operations.size());
    for (std::size_t i = 0; i < placed.operations.size(); ++i) {
        const Operation& one = placed.operations[OperationId(i)];
        const Operation& other = balanced.operations[OperationId(i)];
        RC_ASSERT(one.name == other.name);
        RC_ASSERT(one.dependencies == other.dependencies);
        RC_ASSERT(one.is_compute() == other.is_compute());
        if (one.is_compute()) {
            RC_ASSERT(one.compute().duration.uniform() && other.compute().duration.uniform());
            RC_ASSERT(one.compute().duration[RankId(0)] == other.compute().duration[RankId(0)]);
        } else {
            RC_ASSERT(one.collective().kind == other.collective().kind);
            RC_ASSERT(one.collective().size == other.collective().size);
            RC_ASSERT(!one.collective().is_uneven() && !other.collective().is_uneven());
        }
    }
}

}  // namespace
}  // namespace astrolabe::workload
