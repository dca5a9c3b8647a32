#include "network/src/engines/fluid/exact_sum.hpp"

#include "random_seed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network {
namespace {

TEST(ExactSum, KeepsWhatOneDoubleWouldLose) {
    // 2^60 + 1 needs 61 bits.
    ExactSum sum;
    sum.add(0x1p60);
    sum.add(1.0);
    EXPECT_EQ(sum.most, 0x1p60);
    EXPECT_EQ(sum.rest, 1.0);
    sum.add(-0x1p60);
    EXPECT_EQ(sum.value(), 1.0);
}

RC_GTEST_PROP(ExactSumProperty, ProductsOfIntegersAreExact, ()) {
    // Of up to 53 bits each; both parts are integers then, and their sum is the product.
    std::mt19937_64 random(random_seed());
    const auto integer = [&] { return static_cast<std::int64_t>(random() >> (11 + random() % 40)); };
    const std::int64_t a = integer();
    const std::int64_t b = integer();
    ExactSum sum;
    sum.add_product(static_cast<double>(a), static_cast<double>(b));
    const auto whole = [](double value) { return static_cast<__int128>(value); };
    RC_ASSERT(whole(sum.most) + whole(sum.rest) == static_cast<__int128>(a) * b);
}

RC_GTEST_PROP(ExactSumProperty, TermsTakenAwayInAnotherOrderLeaveNothing, ()) {
    std::mt19937_64 random(random_seed());
    std::uniform_real_distribution<double> real(1e-3, 1e11);
    std::vector<std::pair<double, double>> terms(1 + random() % 1000);
    ExactSum sum;
    for (auto& [load, rate] : terms) {
        load = random() % 2 == 0 ? 1.0 : real(random) / 1e11;
        rate = real(random);
        sum.add_product(load, rate);
    }
    std::shuffle(terms.begin(), terms.end(), random);
    for (const auto& [load, rate] : terms) {
        sum.add_product(-load, rate);
    }
    // 2,000 terms, each with an error of 2^-106 or so of a sum of up to 10^14.
    RC_ASSERT(std::abs(sum.value()) <= 2'000 * 0x1p-104 * 1e14);
}

}  // namespace
}  // namespace astrolabe::network
