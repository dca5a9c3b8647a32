#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/workload/dlrm/placement.hpp>

namespace astrolabe::workload {
namespace {

using system::RankId;

PlacementProblem problem_of(const std::vector<std::int64_t>& costs, std::size_t ranks) {
    PlacementProblem problem{.items = {},
                             .cost_before = std::vector<std::int64_t>(ranks, 0),
                             .memory_before = std::vector<Bytes>(ranks)};
    for (const std::int64_t cost : costs) {
        problem.items.push_back({.cost = cost, .memory = Bytes(0)});
    }
    return problem;
}

/// Loads and memory that follow from a placement; checks that nothing is lost.
std::int64_t makespan_of(const PlacementProblem& problem, const std::vector<RankId>& rank_of) {
    std::vector<std::int64_t> cost = problem.cost_before;
    std::vector<Bytes> memory = problem.memory_before;
    EXPECT_EQ(rank_of.size(), problem.items.size());
    for (std::size_t i = 0; i < rank_of.size(); ++i) {
        cost.at(rank_of[i].index()) += problem.items[i].cost;
        memory.at(rank_of[i].index()) += problem.items[i].memory;
    }
    for (const Bytes held : memory) {
        EXPECT_LE(held, problem.memory.value_or(Bytes::max()));
    }
    return *std::max_element(cost.begin(), cost.end());
}

/// The least makespan of all N^n placements that respect the memory; nothing if there is none.
std::optional<std::int64_t> least_makespan(const PlacementProblem& problem) {
    const std::size_t ranks = problem.cost_before.size();
    std::vector<std::size_t> choice(problem.items.size(), 0);
    std::optional<std::int64_t> least;
    while (true) {
        std::vector<std::int64_t> cost = problem.cost_before;
        std::vector<Bytes> memory = problem.memory_before;
        for (std::size_t i = 0; i < choice.size(); ++i) {
            cost[choice[i]] += problem.items[i].cost;
            memory[choice[i]] += problem.items[i].memory;
        }
        if (!problem.memory || *std::max_element(memory.begin(), memory.end()) <= *problem.memory) {
            const std::int64_t most = *std::max_element(cost.begin(), cost.end());
            least = std::min(least.value_or(most), most);
        }
        std::size_t digit = 0;
        while (digit < choice.size() && ++choice[digit] == ranks) {
            choice[digit++] = 0;
        }
        if (digit == choice.size()) {
            return least;
        }
    }
}

TEST(Placement, GreedyTakesTheLongestFirst) {
    // 5 → 0, 4 → 1, 3 → 1 (4 < 5), 3 → 0 (5 < 7), 3 → 1 (7 < 8): 8 and 10. The least is 9 = 5 + 4, 3 + 3 + 3.
    const PlacementProblem problem = problem_of({3, 4, 3, 5, 3}, 2);
    const Placement greedy = place_greedily(problem);
    EXPECT_EQ(greedy.makespan, 10);
    EXPECT_EQ(greedy.rank_of[3], RankId(0));
    EXPECT_EQ(greedy.rank_of[1], RankId(1));
    EXPECT_EQ(greedy.lower_bound, 9);  // 18 / 2
    EXPECT_FALSE(greedy.proven);
    const Placement exact = place_exactly(problem);
    EXPECT_EQ(exact.makespan, 9);
    EXPECT_TRUE(exact.proven);
}

TEST(Placement, GrahamsWorstCaseIsReached) {
    // N = 3: 5, 5, 4, 4, 3, 3, 3. Greedy ends at 11, the least is 9: 11/9 = 4/3 - 1/9.
    const PlacementProblem problem = problem_of({5, 5, 4, 4, 3, 3, 3}, 3);
    EXPECT_EQ(place_greedily(problem).makespan, 11);
    EXPECT_EQ(place_exactly(problem).makespan, 9);
}

TEST(Placement, MemoryOverridesCost) {
    PlacementProblem problem = problem_of({4, 3, 2}, 2);
    problem.items[1].memory = Bytes(10);
    problem.items[2].memory = Bytes(10);
    problem.memory = Bytes(10);
    // 4 → 0, 3 → 1, and 2 fits beside the 4 only.
    const Placement greedy = place_greedily(problem);
    EXPECT_EQ(greedy.rank_of, (std::vector<RankId>{RankId(0), RankId(1), RankId(0)}));
    EXPECT_EQ(greedy.makespan, 6);
}

TEST(Placement, GreedyMayFindNothingWhereExactDoes) {
    PlacementProblem problem = problem_of({9, 8, 7, 6}, 2);
    const std::vector<std::int64_t> sizes{4, 5, 5, 6};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        problem.items[i].memory = Bytes(sizes[i]);
    }
    problem.memory = Bytes(10);
    // Cost (memory): 9 (4) → 0, 8 (5) → 1, 7 (5) → 1, 6 (6) → 0.
    EXPECT_TRUE(place_greedily(problem).found());
    problem.items[0].memory = Bytes(5);
    problem.items[2].memory = Bytes(4);  // 9 (5) → 0, 8 (5) → 1, 7 (4) → 1, and 6 (6) fits nowhere
    EXPECT_FALSE(place_greedily(problem).found());
    const Placement exact = place_exactly(problem);
    ASSERT_TRUE(exact.found());  // (5, 5) and (4, 6)
    EXPECT_EQ(exact.makespan, 17);
    problem.memory = Bytes(9);
    const Placement none = place_exactly(problem);
    EXPECT_FALSE(none.found());
    EXPECT_TRUE(none.proven);
}

TEST(Placement, ASearchCutShortSaysSo) {
    const Placement cut = place_exactly(problem_of({5, 5, 4, 4, 3, 3, 3}, 3), 3);
    EXPECT_EQ(cut.makespan, 11);  // greedy's
    EXPECT_FALSE(cut.proven);
    EXPECT_EQ(cut.nodes, 3);
}

/// Of the whole interval from the first case on.
std::int64_t number(std::int64_t from, std::int64_t end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, end));
}

RC_GTEST_PROP(PlacementProperty, GreedyIsWithinGrahamsBoundOfTheLeast, ()) {
    const auto ranks = static_cast<std::size_t>(number(1, 5));
    std::vector<std::int64_t> costs;
    for (std::int64_t items = number(1, 8); items > 0; --items) {
        costs.push_back(number(0, 50));
    }
    const PlacementProblem problem = problem_of(costs, ranks);
    const std::int64_t least = *least_makespan(problem);
    const Placement greedy = place_greedily(problem);
    const Placement exact = place_exactly(problem);
    RC_ASSERT(makespan_of(problem, greedy.rank_of) == greedy.makespan);
    RC_ASSERT(makespan_of(problem, exact.rank_of) == exact.makespan);
    RC_ASSERT(exact.makespan == least);
    RC_ASSERT(exact.proven);
    const auto n = static_cast<std::int64_t>(ranks);
    RC_ASSERT(3 * n * greedy.makespan <= (4 * n - 1) * least);  // 4/3 - 1/(3N)
    RC_ASSERT(greedy.lower_bound <= least);
}

RC_GTEST_PROP(PlacementProperty, MemoryAndLoadsBeforehandAreRespected, ()) {
    const auto ranks = static_cast<std::size_t>(number(1, 4));
    PlacementProblem problem = problem_of({}, ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        problem.cost_before[rank] = number(0, 30);
        problem.memory_before[rank] = Bytes(number(0, 5));
    }
    for (std::int64_t items = number(1, 8); items > 0; --items) {
        problem.items.push_back({.cost = number(0, 40), .memory = Bytes(number(0, 12))});
    }
    problem.memory = Bytes(10 + number(0, 20));
    const std::optional<std::int64_t> least = least_makespan(problem);
    const Placement exact = place_exactly(problem);
    RC_ASSERT(exact.found() == least.has_value());
    RC_ASSERT(exact.proven);
    if (least) {
        RC_ASSERT(exact.makespan == *least);
        RC_ASSERT(makespan_of(problem, exact.rank_of) == *least);
    }
    const Placement greedy = place_greedily(problem);
    if (greedy.found()) {
        RC_ASSERT(makespan_of(problem, greedy.rank_of) == greedy.makespan);
        RC_ASSERT(greedy.makespan >= *least);
    }
}

}  // namespace
}  // namespace astrolabe::workload
