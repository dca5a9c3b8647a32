/// Spaces of plans, their moves, and the two ways to search them: search_space.hpp and plan_search.hpp.
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/study/search/plan_search.hpp>

namespace astrolabe::study {
namespace {

using workload::CountedTables;
using workload::PlacedTables;
using workload::TablePlace;
using workload::TableSharding;

Choice choice(std::string path, std::size_t alternatives) {
    Choice made{std::move(path), {}};
    for (std::size_t i = 0; i < alternatives; ++i) {
        made.alternatives.push_back(ConfigNode::scalar(std::to_string(i)));
    }
    return made;
}

TableMoves on_ranks(std::int64_t ranks) {
    TableMoves moves;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        moves.ranks.push_back(rank);
    }
    return moves;
}

/// `tables` tables of 8 columns on rank 0.
Plan placed(std::size_t tables) {
    PlacedTables all;
    all.places.assign(tables, {.sharding = TableSharding::kTableWise, .ranks = {0}});
    all.dimensions.assign(tables, 8);
    return {{}, all};
}

std::set<std::string> all_keys(const SearchSpace& space) {
    std::set<std::string> keys;
    for (std::uint64_t number = 0; number < space.size(); ++number) {
        keys.insert(space.at(number).key());
    }
    return keys;
}

/// Plans that moves lead to, from the first on.
std::set<std::string> reached(const SearchSpace& space, int moves) {
    std::set<std::string> keys;
    RandomStream random(1, "moves");
    Plan plan = space.start();
    for (int i = 0; i < moves; ++i) {
        Move move = space.neighbour(plan, random);
        EXPECT_NE(move.plan.key(), plan.key()) << move.what;
        EXPECT_FALSE(move.what.empty());
        plan = std::move(move.plan);
        keys.insert(plan.key());
    }
    return keys;
}

TEST(SearchSpace, CountsItsPlans) {
    TableMoves moves = on_ranks(5);
    EXPECT_EQ(SearchSpace({}, moves, placed(3)).size(), 125u);  // 5^3
    moves.kinds = {TableSharding::kTableWise, TableSharding::kColumnWise, TableSharding::kRowWise};
    moves.shards = {2, 4, 6};  // 6 shards need 6 ranks
    EXPECT_EQ(SearchSpace({}, moves, placed(1)).size(),
              5u + 10u + 5u + 1u);  // 5 + (5 over 2) + (5 over 4) + 1
    moves.kinds.push_back(TableSharding::kTableRowWise);
    moves.hosts = 2;
    EXPECT_EQ(SearchSpace({}, moves, placed(2)).size(), 23u * 23u);
    // 6 like tables on 5 ranks: (6 + 4) over 4.
    EXPECT_EQ(SearchSpace({}, on_ranks(5), {{}, CountedTables{{6, 0, 0, 0, 0}}}).size(), 210u);
    EXPECT_EQ(SearchSpace({choice("a", 3), choice("b", 2)}, {}, {{0, 0}, {}}).size(), 6u);
    // 128^1000 is more than can be counted.
    EXPECT_EQ(SearchSpace({}, on_ranks(128), placed(1000)).size(), ~std::uint64_t{0});
}

TEST(SearchSpace, NumbersTellPlansApartAndMovesReachThemAll) {
    TableMoves columns = on_ranks(3);
    columns.kinds = {TableSharding::kTableWise, TableSharding::kColumnWise, TableSharding::kTableColumnWise,
                     TableSharding::kDataParallel};
    columns.shards = {2};
    columns.ranks_per_host = 1;
    columns.hosts = 3;
    const SearchSpace tables({choice("a", 2)}, columns, {{0}, placed(2).tables});
    ASSERT_EQ(tables.size(), 2u * 10u * 10u);  // 3 + 3 + 3 + 1 places a table
    const std::set<std::string> keys = all_keys(tables);
    EXPECT_EQ(keys.size(), tables.size());
    EXPECT_EQ(reached(tables, 20'000), keys);

    const SearchSpace counts({}, on_ranks(4), {{}, CountedTables{{5, 0, 0, 0}}});
    ASSERT_EQ(counts.size(), 56u);  // (5 + 3) over 3
    EXPECT_EQ(all_keys(counts).size(), 56u);
    EXPECT_EQ(reached(counts, 5'000), all_keys(counts));
}

TEST(SearchSpace, MovesKeepTablesOnTheirRanksAndShardsApart) {
    TableMoves moves = on_ranks(8);
    moves.ranks = {1, 4, 5, 7};
    moves.kinds = {TableSharding::kColumnWise};
    moves.shards = {2, 3};
    Plan start = placed(4);
    for (TablePlace& place : std::get<PlacedTables>(start.tables).places) {
        place = {.sharding = TableSharding::kColumnWise, .ranks = {1, 4}};
    }
    const SearchSpace space({}, moves, start);
    RandomStream random(3, "moves");
    Plan plan = start;
    for (int i = 0; i < 2000; ++i) {
        plan = space.neighbour(plan, random).plan;
        for (const TablePlace& place : std::get<PlacedTables>(plan.tables).places) {
            const std::set<std::int64_t> ranks(place.ranks.begin(), place.ranks.end());
            ASSERT_EQ(ranks.size(), place.ranks.size());
            ASSERT_TRUE(ranks.size() == 2 || ranks.size() == 3);
            for (const std::int64_t rank : ranks) {
                ASSERT_TRUE(rank == 1 || rank == 4 || rank == 5 || rank == 7);
            }
        }
    }
}

/// Time of a plan: the fullest of four ranks, with tables of 1, 2, …, and a penalty for the choice.
double makespan(const Plan& plan) {
    std::map<std::int64_t, double> load;
    const auto& places = std::get<PlacedTables>(plan.tables).places;
    for (std::size_t table = 0; table < places.size(); ++table) {
        load[places[table].ranks.front()] += static_cast<double>(table + 1);
    }
    double most = 0;
    for (const auto& [rank, sum] : load) {
        most = std::max(most, sum);
    }
    return most * (1.0 + 0.1 * static_cast<double>(plan.choices.front()));
}

struct Found {
    double best = std::numeric_limits<double>::infinity();
    std::vector<std::string> trace;
};

Found run(const SearchSpace& space, const ChainOptions& options, const Evaluate& evaluate,
          decltype(&anneal) search = anneal) {
    Found found;
    search(space, options, evaluate, [&](const SearchStep& step, const Plan& plan) {
        found.best = std::min(found.best, step.result.seconds);
        found.trace.push_back(plan.key() + (step.accepted ? "+" : "-"));
    });
    return found;
}

Evaluation exact(const Plan& plan, double) {
    return {Outcome::kSimulated, makespan(plan), 0};
}
/// With a bound that is 5 % below the time.
Evaluation bounded(const Plan& plan, double most) {
    const double bound = 0.95 * makespan(plan);
    return bound > most ? Evaluation{.outcome = Outcome::kRejectedByBound, .bound = bound}
                        : Evaluation{Outcome::kSimulated, makespan(plan), bound};
}

SearchSpace six_tables() {
    return SearchSpace({choice("a", 3)}, on_ranks(4), {{2}, placed(6).tables});
}

TEST(Annealing, TheSameSeedTakesTheSameStepsWithABoundOrWithout) {
    const SearchSpace space = six_tables();
    const ChainOptions options{.evaluations = 500, .restarts = 2, .temperature = 0.1, .seed = 7};
    const Found first = run(space, options, exact);
    EXPECT_EQ(first.trace.size(), 500u);
    EXPECT_EQ(run(space, options, exact).trace, first.trace);
    EXPECT_EQ(run(space, options, bounded).trace, first.trace);
    ChainOptions other = options;
    other.seed = 8;
    EXPECT_NE(run(space, other, exact).trace, first.trace);
    other = options;
    other.chain = 1;
    EXPECT_NE(run(space, other, exact).trace, first.trace);
}

TEST(Annealing, FindsTheOptimumOfASmallSpaceInAtLeast95Of100Seeds) {
    const SearchSpace space = six_tables();
    const Found all = run(space, {.evaluations = space.size()}, exact, enumerate);
    // 1 + … + 6 = 21 on 4 ranks: 6, 5, 4 + 1 and 3 + 2 make a makespan of 6.
    EXPECT_EQ(all.best, 6.0);
    int optimal = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        optimal += run(space, {.evaluations = 1000, .temperature = 0.05, .seed = seed}, exact).best == 6.0;
    }
    std::printf("optimum found by %d of 100 seeds, 1000 of %llu plans each\n", optimal,
                static_cast<unsigned long long>(space.size()));
    EXPECT_GE(optimal, 95);
}

TEST(Annealing, GoesOnFromPlansThatCannotRun) {
    const SearchSpace space = six_tables();
    const Evaluate choosy = [](const Plan& plan, double most) {
        return plan.choices.front() == 2 ? Evaluation{} : exact(plan, most);
    };
    const Found found = run(space, {.evaluations = 2000, .temperature = 0.05, .seed = 1}, choosy);
    EXPECT_EQ(found.best, 6.0);
}

TEST(Annealing, EndsWhenItIsOver) {
    int asked = 0;
    const ChainOptions options{.evaluations = 100, .is_over = [&asked] { return ++asked > 10; }};
    EXPECT_EQ(run(six_tables(), options, exact).trace.size(), 10u);
}

TEST(Enumeration, FindsTheBestPlanOfEachNetworkWhateverOthersTake) {
    const SearchSpace space = six_tables();
    // Alternative i of the choice is a network on which everything takes 1 + i / 10 times as long.
    std::map<std::uint32_t, double> best;
    const ChainOptions options{
        .evaluations = space.size(),
        .known = 6.0,  // that of the base, which is of no network
        .network_of = [](const Plan& plan) { return NetworkChoice{plan.choices.front()}; }};
    enumerate(space, options, bounded, [&](const SearchStep& step, const Plan& plan) {
        if (step.is_best_of_network) {
            best[plan.choices.front()] = step.result.seconds;
        }
    });
    ASSERT_EQ(best.size(), 3U);
    EXPECT_DOUBLE_EQ(best[0], 6.0);
    EXPECT_DOUBLE_EQ(best[1], 6.0 * 1.1);
    EXPECT_DOUBLE_EQ(best[2], 6.0 * 1.2);
}

TEST(Enumeration, ChainsShareAllPlans) {
    const SearchSpace space = six_tables();
    std::multiset<std::string> seen;
    for (std::size_t chain = 0; chain < 5; ++chain) {
        const ChainOptions options{.chain = chain, .chains = 5, .evaluations = space.size()};
        enumerate(space, options, bounded,
                  [&](const SearchStep&, const Plan& plan) { seen.insert(plan.key()); });
    }
    EXPECT_EQ(seen.size(), space.size());
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), space.size());
}

}  // namespace
}  // namespace astrolabe::study
