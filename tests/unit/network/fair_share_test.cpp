/// Fair shares in one and two dimensions: by hand, and what must hold of any.
#include "random_seed.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/rotor/fair_share.hpp>

namespace astrolabe::network::rotor {
namespace {

using Counts = std::vector<std::uint32_t>;

std::uint32_t sum(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0U);
}

Counts split(FairShare& fair, const Counts& demands, std::uint32_t cap) {
    Counts shares(demands.size(), 99);
    const std::uint32_t given = fair.split(demands, cap, shares);
    EXPECT_EQ(given, sum(shares));
    return shares;
}

TEST(FairShare, GivesSurplusBackUntilNobodyIsOverserved) {
    FairShare fair(1);
    // 12 / 4 = 3 each; the first returns 2 and leaves 2 for three: nobody is given a whole one more, but two
    // of the three one of the remainder.
    const Counts shares = split(fair, {1, 9, 9, 9, 0}, 12);
    EXPECT_EQ(shares[0], 1U);
    EXPECT_EQ(shares[4], 0U);
    EXPECT_EQ(sum(shares), 12U);
    EXPECT_EQ(std::count(shares.begin(), shares.end(), 4U), 2);
    EXPECT_EQ(std::count(shares.begin(), shares.end(), 3U), 1);
    // 20 / 3 = 6: two are done with 2 and 3, and the third gets the 9 that return.
    EXPECT_EQ(split(fair, {2, 3, 90}, 20), (Counts{2, 3, 15}));
    EXPECT_EQ(split(fair, {2, 3, 4}, 9), (Counts{2, 3, 4}));
    EXPECT_EQ(split(fair, {2, 3, 4}, 0), (Counts{0, 0, 0}));
    EXPECT_EQ(split(fair, {}, 5), Counts{});
}

TEST(FairShare, RemaindersGoToAllAlikeInTheLongRun) {
    // 2 over 5: each is chosen with probability 2/5. Of 10,000 draws 4,000 are expected, with a deviation of
    // sqrt(10,000 · 0.4 · 0.6) = 49; five of them are 245.
    FairShare fair(7);
    Counts chosen(5, 0);
    for (int draw = 0; draw < 10'000; ++draw) {
        const Counts shares = split(fair, {3, 3, 3, 3, 3}, 2);
        for (std::size_t i = 0; i < shares.size(); ++i) {
            chosen[i] += shares[i];
        }
    }
    for (const std::uint32_t count : chosen) {
        EXPECT_NEAR(count, 4'000, 245);
    }
}

TEST(FairShare, SplitsRowsThenColumnsAndAgain) {
    FairShare fair(1);
    Counts shares(4);
    {
        // Rows offer 5, 5 and 10, 0. The first column may take 10 of 15: 5 of each row, and 5 of the second
        // row stay unused, for it wants nothing else.
        Counts demands{20, 20, 20, 0};
        Counts rows{10, 10};
        Counts columns{10, 10};
        fair.split(demands, rows, columns, shares);
        EXPECT_EQ(shares, (Counts{5, 5, 5, 0}));
        EXPECT_EQ(rows, (Counts{0, 5}));
        EXPECT_EQ(columns, (Counts{0, 5}));
    }
    {
        // Rows offer 5, 5 and 5, 5; the first column takes 1 of each, which leaves rows with 4 that the
        // second round gives to the second column.
        Counts demands{20, 20, 20, 20};
        Counts rows{10, 10};
        Counts columns{2, 20};
        fair.split(demands, rows, columns, shares);
        EXPECT_EQ(shares, (Counts{1, 9, 1, 9}));
        EXPECT_EQ(columns, (Counts{0, 2}));
    }
}

using Random = std::mt19937_64;

std::uint32_t between(Random& random, std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
}

Counts random_counts(Random& random, std::size_t size, std::uint32_t most) {
    Counts counts(size);
    std::generate(counts.begin(), counts.end(), [&] { return between(random, 0, most); });
    return counts;
}

RC_GTEST_PROP(FairShareProperty, IsFairAndWastesNothing, ()) {
    Random random(random_seed());
    FairShare fair(random());
    const Counts demands = random_counts(random, between(random, 0, 20), between(random, 0, 50));
    const std::uint32_t cap = between(random, 0, 300);
    const Counts shares = split(fair, demands, cap);
    RC_ASSERT(sum(shares) == std::min(cap, sum(demands)));
    std::uint32_t least_hungry = cap;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        RC_ASSERT(shares[i] <= demands[i]);
        if (shares[i] < demands[i]) {
            least_hungry = std::min(least_hungry, shares[i]);
        }
    }
    // Nobody has more than one above who is still hungry.
    for (const std::uint32_t share : shares) {
        RC_ASSERT(share <= least_hungry + 1);
    }
}

RC_GTEST_PROP(FairShareProperty, AMatrixKeepsItsCaps, ()) {
    Random random(random_seed());
    FairShare fair(random());
    const Counts rows = random_counts(random, between(random, 1, 8), 100);
    const Counts columns = random_counts(random, between(random, 1, 8), 100);
    const Counts wanted = random_counts(random, rows.size() * columns.size(), 60);
    Counts demands = wanted;
    Counts rows_left = rows;
    Counts columns_left = columns;
    Counts shares(demands.size());
    fair.split(demands, rows_left, columns_left, shares);
    Counts row_sums(rows.size());
    Counts column_sums(columns.size());
    for (std::size_t cell = 0; cell < shares.size(); ++cell) {
        RC_ASSERT(shares[cell] <= wanted[cell]);
        row_sums[cell / columns.size()] += shares[cell];
        column_sums[cell % columns.size()] += shares[cell];
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
        RC_ASSERT(row_sums[row] + rows_left[row] == rows[row]);
    }
    for (std::size_t column = 0; column < columns.size(); ++column) {
        RC_ASSERT(column_sums[column] + columns_left[column] == columns[column]);
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
