#include "network/src/engines/fluid/minimum_tree.hpp"

#include "random_seed.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network {
namespace {

constexpr std::int64_t kNothing = MinimumTree<std::int64_t>::kNothing;

std::vector<std::uint32_t> all_least(const MinimumTree<std::int64_t>& tree) {
    std::vector<std::uint32_t> numbers;
    tree.for_each_least([&](std::uint32_t number) { numbers.push_back(number); });
    return numbers;
}

TEST(MinimumTree, OfNothingIsNothing) {
    for (const std::size_t count : {0U, 1U, 8U, 9U, 65U}) {
        const MinimumTree<std::int64_t> tree(count);
        EXPECT_EQ(tree.least(), kNothing);
        EXPECT_TRUE(all_least(tree).empty());
    }
    EXPECT_EQ(MinimumTree<double>(3).least(), std::numeric_limits<double>::infinity());
}

TEST(MinimumTree, KnowsAllThatHaveTheLeast) {
    MinimumTree<std::int64_t> tree(100);
    tree.set(99, 5);
    tree.set(0, 7);
    tree.set(8, 5);
    EXPECT_EQ(tree.least(), 5);
    EXPECT_EQ(tree.first_least(), 8U);
    EXPECT_EQ(all_least(tree), (std::vector<std::uint32_t>{8, 99}));
    tree.set(8, kNothing);
    EXPECT_EQ(all_least(tree), (std::vector<std::uint32_t>{99}));
    tree.set(99, 8);
    EXPECT_EQ(all_least(tree), (std::vector<std::uint32_t>{0}));
}

RC_GTEST_PROP(MinimumTreeProperty, IsTheMinimumOfAnArray, ()) {
    std::mt19937_64 random(random_seed());
    const std::size_t count = 1 + random() % 600;
    MinimumTree<std::int64_t> tree(count);
    std::vector<std::int64_t> values(count, kNothing);
    for (int step = 0; step < 300; ++step) {
        const std::size_t number = random() % count;
        values[number] = random() % 4 == 0 ? kNothing : static_cast<std::int64_t>(random() % 20);
        tree.set(number, values[number]);
        const std::int64_t least = *std::min_element(values.begin(), values.end());
        RC_ASSERT(tree.least() == least);
        std::vector<std::uint32_t> expected;
        for (std::size_t i = 0; i < count && least < kNothing; ++i) {
            if (values[i] == least) {
                expected.push_back(static_cast<std::uint32_t>(i));
            }
        }
        RC_ASSERT(all_least(tree) == expected);
        if (!expected.empty()) {
            RC_ASSERT(tree.first_least() == expected.front());
        }
    }
}

}  // namespace
}  // namespace astrolabe::network
