/// The search of the planner (planner/search.hpp) by itself.
#include "workload/src/dlrm/planner/search.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::workload::planner {
namespace {

using namespace astrolabe::literals;

std::size_t places(const Problem& problem, Span span) {
    return span == Span::kAll    ? 1
           : span == Span::kHost ? problem.ranks / problem.ranks_per_host
                                 : problem.ranks;
}

/// Every option of every table at all different places, one after the other.
std::optional<std::int64_t> least_makespan(const Problem& problem) {
    std::optional<std::int64_t> least;
    Assignment assignment(problem.tables.size());
    const std::function<void(std::size_t)> try_table = [&](std::size_t table) {
        if (table == problem.tables.size()) {
            if (fits(problem, assignment)) {
                const std::int64_t makespan = makespan_of(problem, assignment);
                least = std::min(least.value_or(makespan), makespan);
            }
            return;
        }
        for (std::size_t option = 0; option < problem.tables[table].size(); ++option) {
            const Option& taken = problem.tables[table][option];
            Choice& choice = assignment[table];
            choice = {.option = option, .places = {}};
            const std::function<void()> try_piece = [&] {
                if (choice.places.size() == taken.pieces.size()) {
                    try_table(table + 1);
                    return;
                }
                for (std::size_t place = 0; place < places(problem, taken.span); ++place) {
                    if (std::find(choice.places.begin(), choice.places.end(), place) == choice.places.end()) {
                        choice.places.push_back(place);
                        try_piece();
                        choice.places.pop_back();
                    }
                }
            };
            try_piece();
        }
    };
    try_table(0);
    return least;
}

Option on_ranks(std::vector<Load> pieces) {
    return {.span = Span::kRank, .pieces = std::move(pieces)};
}

TEST(PlannerSearch, LowerBoundKnowsThatATableMustBeSplit) {
    // One table of 12 on a rank, or 8 on each of two ranks; three ranks. A makespan of 11 needs the two
    // pieces, 16 of work: at least 8 on the busiest.
    Problem problem{.ranks = 3,
                    .tables = {{on_ranks({{.forward = 12}}), on_ranks({{.forward = 8}, {.forward = 8}})}}};
    EXPECT_EQ(lower_bound_of(problem), 8);
    // Three more tables of 6, alone: with 12 or more the work is 12 + 18, 10 a rank; below 12 it is 16 + 18,
    // and 34/3 rounded up are 12. So nothing below 12 is possible, and 12 is: 12 | 6 6 | 6.
    for (int i = 0; i < 3; ++i) {
        problem.tables.push_back({on_ranks({{.forward = 6}})});
    }
    EXPECT_EQ(lower_bound_of(problem), 12);
    const SearchResult found = search(problem, {});
    EXPECT_EQ(found.makespan, 12);
    EXPECT_TRUE(found.proven);
}

TEST(PlannerSearch, MemoryDecidesWhereTimeWouldNot) {
    // Two tables of 10 ps and 6 B, or in two pieces of 7 ps and 3 B; two ranks of 8 B. Whole on a rank each.
    const std::vector<Option> options{
        on_ranks({{.forward = 10, .memory = 6_B}}),
        on_ranks({{.forward = 7, .memory = 3_B}, {.forward = 7, .memory = 3_B}})};
    Problem problem{.ranks = 2, .memory = 8_B, .tables = {options, options}};
    EXPECT_EQ(search(problem, {}).makespan, 10);
    // A third does not fit whole beside one, so it is split: 6 + 3 are too much as well. All in halves are 9
    // B.
    problem.tables.push_back(options);
    const SearchResult none = search(problem, {});
    EXPECT_FALSE(none.found());
    EXPECT_TRUE(none.proven);
    problem.memory = 9_B;
    // 6 + 3 and 6 + 3 of two whole and one in halves: 10 + 7.
    EXPECT_EQ(search(problem, {}).makespan, 17);
}

TEST(PlannerSearch, WhatFillsAHostLeavesTheOtherAlone) {
    // Hosts of 2. A table of 9 on a rank or of 5 on both ranks of a host; one of 5 on a rank; one of 4.
    Problem problem{
        .ranks = 4,
        .ranks_per_host = 2,
        .tables = {{on_ranks({{.forward = 9}}), {.span = Span::kHost, .pieces = {{.forward = 5}}}},
                   {on_ranks({{.forward = 5}})},
                   {on_ranks({{.forward = 4}})}}};
    const SearchResult found = search(problem, {});
    EXPECT_EQ(found.makespan, 5);
    EXPECT_TRUE(found.proven);
    EXPECT_EQ(found.assignment[0].option, 1U);
}

TEST(PlannerSearch, ForwardAndBackwardAreWaitedForApart) {
    // Two tables of 6 forward and 1 backward, two of 1 and 6, two ranks: one of each on a rank is 7 and 7.
    // Two of a kind on a rank would be as even in their sum, 14, and take 12 and 12.
    const std::vector<Option> forward{on_ranks({{.forward = 6, .backward = 1}})};
    const std::vector<Option> backward{on_ranks({{.forward = 1, .backward = 6}})};
    const Problem problem{.ranks = 2, .tables = {forward, forward, backward, backward}};
    EXPECT_EQ(makespan_of(problem, {{0, {0}}, {0, {0}}, {0, {1}}, {0, {1}}}), 24);
    const SearchResult found = search(problem, {});
    EXPECT_EQ(found.makespan, 14);
    EXPECT_EQ(found.lower_bound, 14);
}

Load drawn_load(bool has_memory) {
    return {.forward = *rc::gen::inRange<std::int64_t>(0, 40),
            .backward = *rc::gen::inRange<std::int64_t>(1, 40),
            .memory = Bytes(has_memory ? *rc::gen::inRange<std::int64_t>(1, 20) : 0)};
}

/// As options are: pieces by falling cost.
Problem drawn_problem(std::size_t tables, std::size_t hosts, std::size_t ranks_per_host, bool has_memory) {
    Problem problem{.ranks = hosts * ranks_per_host, .ranks_per_host = ranks_per_host};
    if (has_memory) {
        problem.memory = Bytes(*rc::gen::inRange<std::int64_t>(10, 50));
    }
    for (std::size_t table = 0; table < tables; ++table) {
        std::vector<Option>& options = problem.tables.emplace_back();
        const int count = *rc::gen::inRange(1, 4);
        for (int i = 0; i < count; ++i) {
            Option option;
            option.span = *rc::gen::element(Span::kRank, Span::kRank, Span::kHost, Span::kAll);
            const std::size_t most = std::min<std::size_t>(places(problem, option.span), 3);
            const auto pieces = *rc::gen::inRange<std::size_t>(1, most + 1);
            for (std::size_t piece = 0; piece < pieces; ++piece) {
                option.pieces.push_back(drawn_load(has_memory));
            }
            std::sort(option.pieces.begin(), option.pieces.end(),
                      [](const Load& a, const Load& b) { return a.cost() > b.cost(); });
            options.push_back(std::move(option));
        }
    }
    return problem;
}

RC_GTEST_PROP(PlannerSearchProperty, SmallProblemsAreSolvedWithoutAGap, ()) {
    const Problem problem =
        drawn_problem(*rc::gen::inRange<std::size_t>(1, 4), *rc::gen::element<std::size_t>(1, 2),
                      *rc::gen::element<std::size_t>(1, 2), *rc::gen::arbitrary<bool>());
    const SearchResult found = search(problem, {});
    const std::optional<std::int64_t> least = least_makespan(problem);
    RC_ASSERT(found.proven);
    RC_ASSERT(found.found() == least.has_value());
    if (least) {
        RC_ASSERT(found.makespan == *least);
        RC_ASSERT(found.lower_bound == *least);
        RC_ASSERT(lower_bound_of(problem) <= *least);
        RC_ASSERT(makespan_of(problem, found.assignment) == *least);
        RC_ASSERT(fits(problem, found.assignment));
    }
}

RC_GTEST_PROP(PlannerSearchProperty, LargerOnesStayWithinTheMemoryAndAboveTheBound, ()) {
    const Problem problem =
        drawn_problem(*rc::gen::inRange<std::size_t>(10, 40), 4, 2, *rc::gen::arbitrary<bool>());
    std::vector<std::size_t> first(problem.tables.size(), 0);
    std::vector<Assignment> starts;
    if (const auto placed = place(problem, first)) {
        starts.push_back(*placed);
    }
    const SearchResult found = search(problem, starts);
    if (!starts.empty()) {
        RC_ASSERT(found.found());
        RC_ASSERT(found.makespan <= makespan_of(problem, starts.front()));
    }
    if (found.found()) {
        RC_ASSERT(fits(problem, found.assignment));
        RC_ASSERT(found.makespan == makespan_of(problem, found.assignment));
        RC_ASSERT(found.lower_bound <= found.makespan);
        for (std::size_t table = 0; table < problem.tables.size(); ++table) {
            std::vector<std::size_t> taken = found.assignment[table].places;
            std::sort(taken.begin(), taken.end());
            RC_ASSERT(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
        }
    }
}

}  // namespace
}  // namespace astrolabe::workload::planner
