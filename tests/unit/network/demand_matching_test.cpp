#include "network/src/topoopt/demand_matching.hpp"

#include "network/src/topoopt/finder_checks.hpp"
#include "random_seed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/random.hpp>

namespace astrolabe::network::topoopt {
namespace {

using Pairs = std::vector<std::pair<Server, Server>>;

/// Half of a symmetric matrix in each direction would halve weights: all of it goes one way.
PairDemand upper_half(const std::vector<std::vector<std::uint64_t>>& rows) {
    PairDemand demand(static_cast<std::uint32_t>(rows.size()));
    for (Server a = 0; a < rows.size(); ++a) {
        for (Server b = a + 1; b < rows.size(); ++b) {
            demand.add(a, b, rows[a][b]);
        }
    }
    return demand;
}

TEST(SplitDegree, IsProportionalAndRoundedUpForAllReduces) {
    EXPECT_EQ(split_degree(4, 1, 0), (DegreeSplit{4, 0}));
    EXPECT_EQ(split_degree(4, 3, 1), (DegreeSplit{3, 1}));
    EXPECT_EQ(split_degree(4, 1, 1), (DegreeSplit{2, 2}));
    EXPECT_EQ(split_degree(4, 1, 3), (DegreeSplit{1, 3}));
    EXPECT_EQ(split_degree(4, 1, 9), (DegreeSplit{1, 3}));   // ⌈0.4⌉
    EXPECT_EQ(split_degree(8, 10, 3), (DegreeSplit{7, 1}));  // ⌈6.15⌉
    EXPECT_EQ(split_degree(4, 0, 5), (DegreeSplit{1, 3}));   // some ring joins all servers
    EXPECT_EQ(split_degree(1, 0, 5), (DegreeSplit{1, 0}));
    EXPECT_EQ(split_degree(3, 0, 0), (DegreeSplit{3, 0}));
    EXPECT_EQ(split_degree(64, kMaxTraffic, kMaxTraffic), (DegreeSplit{32, 32}));
}

TEST(AllReduceTraffic, IsWhatRingsSend) {
    Demand demand{.servers = 4, .groups = {}, .point_to_point = {}};
    EXPECT_EQ(all_reduce_traffic(demand), 0U);
    // 2·(4 - 1)·100 + 2·(2 - 1)·7
    demand.groups = {{{0, 1, 2, 3}, 100}, {{0, 2}, 7}};
    EXPECT_EQ(all_reduce_traffic(demand), 614U);
    demand.groups.push_back({{0, 2}, kMaxTraffic});
    EXPECT_EQ(all_reduce_traffic(demand), kMaxTraffic);
}

TEST(PairDemand, AddsUp) {
    PairDemand demand(3);
    demand.add(0, 2, 5);
    demand.add(0, 2, 6);
    demand.add(2, 0, 1);
    EXPECT_EQ(demand.at(0, 2), 11U);
    EXPECT_EQ(demand.at(2, 0), 1U);
    EXPECT_EQ(demand.at(1, 2), 0U);
    EXPECT_EQ(demand.total(), 12U);
    EXPECT_THROW(demand.add(1, 1, 1), std::logic_error);
    EXPECT_THROW(demand.add(0, 3, 1), std::logic_error);
    EXPECT_THROW(demand.add(0, 1, kMaxTraffic), std::logic_error);
}

TEST(MatchDemand, HalvesWhatItHasServed) {
    const PairDemand demand = upper_half({{0, 9, 2, 6, 1, 1},
                                          {9, 0, 5, 1, 1, 2},
                                          {2, 5, 0, 7, 3, 1},
                                          {6, 1, 7, 0, 1, 2},
                                          {1, 1, 3, 1, 0, 4},
                                          {1, 2, 1, 2, 4, 0}});
    const std::vector<MatchingRound> rounds = match_demand(6, demand, 4);
    ASSERT_EQ(rounds.size(), 4U);
    EXPECT_EQ(rounds[0].pairs, (Pairs{{0, 1}, {2, 3}, {4, 5}}));
    EXPECT_EQ(rounds[0].weight, 9 + 7 + 4);
    EXPECT_EQ(rounds[1].pairs, (Pairs{{0, 3}, {1, 2}, {4, 5}}));
    EXPECT_EQ(rounds[1].weight, 6 + 5 + 4 / 2.0);
    EXPECT_EQ(rounds[2].pairs, (Pairs{{0, 1}, {2, 4}, {3, 5}}));
    EXPECT_EQ(rounds[2].weight, 9 / 2.0 + 3 + 2);
    EXPECT_EQ(rounds[3].pairs, (Pairs{{0, 1}, {2, 3}, {4, 5}}));
    EXPECT_EQ(rounds[3].weight, 9 / 4.0 + 7 / 2.0 + 4 / 4.0);
}

TEST(MatchDemand, CountsBothDirections) {
    PairDemand demand(4);
    demand.add(0, 1, 10);
    demand.add(2, 3, 10);
    demand.add(0, 2, 7);
    demand.add(2, 0, 7);
    demand.add(3, 1, 7);
    const std::vector<MatchingRound> rounds = match_demand(4, demand, 1);
    EXPECT_EQ(rounds[0].pairs, (Pairs{{0, 2}, {1, 3}}));
    EXPECT_EQ(rounds[0].weight, 14 + 7);
}

TEST(MatchDemand, ServersThatAskForNothingGetChords) {
    const std::vector<MatchingRound> rounds = match_demand(8, PairDemand(), 2);
    for (const MatchingRound& round : rounds) {
        EXPECT_EQ(round.pairs, (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
        EXPECT_EQ(round.weight, 0);
    }
    // Of {0, 2, 3, 5, 6, 7, 8}, an odd number, the middle one is left out.
    PairDemand demand(9);
    demand.add(4, 1, 1);
    EXPECT_EQ(match_demand(9, demand, 1)[0].pairs, (Pairs{{0, 6}, {1, 4}, {2, 7}, {3, 8}}));
}

TEST(MatchDemand, HalvesExactlyUntilNothingIsLeft) {
    PairDemand demand(2);
    demand.add(0, 1, 3);
    const std::vector<MatchingRound> rounds = match_demand(2, demand, 60);
    // 3·2^-r: the weight is 3·2^48 in the matching, so round 49 is the first that is rounded, to 1·2^-48.
    for (int round = 0; round < 49; ++round) {
        EXPECT_EQ(rounds[round].weight, std::ldexp(3.0, -round));
    }
    EXPECT_EQ(rounds[49].weight, std::ldexp(1.0, -48));
    EXPECT_EQ(rounds[50].weight, 0);
    EXPECT_EQ(rounds[59].pairs, (Pairs{{0, 1}}));
}

TEST(MatchDemand, HugeDemandLosesItsLastBitsAlone) {
    PairDemand demand(2);
    demand.add(0, 1, (std::uint64_t{1} << 56) + 1);
    EXPECT_EQ(match_demand(2, demand, 1)[0].weight, std::ldexp(1.0, 56));
}

/// Of all perfect matchings of the servers from `first` on, by trying.
std::uint64_t heaviest(const std::vector<std::vector<std::uint64_t>>& weights,
                       std::vector<bool>& is_matched) {
    const auto free = std::find(is_matched.begin(), is_matched.end(), false);
    if (free == is_matched.end()) {
        return 0;
    }
    const auto a = static_cast<std::size_t>(free - is_matched.begin());
    std::uint64_t best = 0;
    is_matched[a] = true;
    for (std::size_t b = a + 1; b < weights.size(); ++b) {
        if (!is_matched[b]) {
            is_matched[b] = true;
            best = std::max(best, weights[a][b] + heaviest(weights, is_matched));
            is_matched[b] = false;
        }
    }
    is_matched[a] = false;
    return best;
}

RC_GTEST_PROP(MatchDemand, IsPerfectAndHeaviest, ()) {
    const auto servers = 2 * *rc::gen::inRange<std::uint32_t>(1, 5);
    std::vector<std::vector<std::uint64_t>> weights(servers, std::vector<std::uint64_t>(servers, 0));
    for (Server a = 0; a < servers; ++a) {
        for (Server b = a + 1; b < servers; ++b) {
            weights[a][b] = *rc::gen::weightedOneOf<std::uint64_t>(
                {{1, rc::gen::just(std::uint64_t{0})}, {2, rc::gen::inRange<std::uint64_t>(0, 9)}});
        }
    }
    const MatchingRound round = match_demand(servers, upper_half(weights), 1)[0];
    RC_ASSERT(round.pairs.size() == servers / 2);
    std::vector<bool> is_matched(servers, false);
    std::uint64_t weight = 0;
    for (const auto& [a, b] : round.pairs) {
        RC_ASSERT(a < b && !is_matched[a] && !is_matched[b]);
        is_matched[a] = is_matched[b] = true;
        weight += weights[a][b];
    }
    RC_ASSERT(round.weight == static_cast<double>(weight));
    std::fill(is_matched.begin(), is_matched.end(), false);
    RC_ASSERT(weight == heaviest(weights, is_matched));
}

TEST(MatchDemand, IsTheSameEveryTime) {
    // Every server asks every other for the same: all perfect matchings are equally heavy.
    PairDemand demand(64);
    for (Server a = 0; a < 64; ++a) {
        for (Server b = 0; b < 64; ++b) {
            if (a != b) {
                demand.add(a, b, 1'000);
            }
        }
    }
    const std::vector<MatchingRound> once = match_demand(64, demand, 3);
    const std::vector<MatchingRound> again = match_demand(64, demand, 3);
    for (std::size_t round = 0; round < 3; ++round) {
        EXPECT_EQ(once[round].pairs, again[round].pairs);
        EXPECT_EQ(once[round].weight, 32 * 2'000);  // no pair comes twice while others are not served
    }
}

}  // namespace
}  // namespace astrolabe::network::topoopt
