#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include <gtest/gtest.h>

#include <astrolabe/core/random.hpp>

namespace astrolabe {
namespace {

TEST(RandomStream, IsSplitMix64) {
    // The first two words that the authors' program writes from state 0.
    EXPECT_EQ(mix_bits(kGoldenGamma), 0xe220a8397b1dcdafU);
    EXPECT_EQ(mix_bits(2 * kGoldenGamma), 0x6e789e6aa1b965f4U);
}

TEST(RandomStream, SeedAndNameSayWhatComes) {
    const auto first = [](std::uint64_t seed, std::string_view name) {
        return RandomStream(seed, name).next();
    };
    EXPECT_EQ(first(1, "matchings"), first(1, "matchings"));
    EXPECT_NE(first(1, "matchings"), first(2, "matchings"));
    EXPECT_NE(first(1, "matchings"), first(1, "paths"));
    EXPECT_NE(first(1, "ab"), first(1, "ba"));
}

TEST(RandomStream, BelowIsUniform) {
    // 70,000 draws of 7 values: 10,000 each, standard deviation sqrt(70000 * 1/7 * 6/7) = 93; five of them.
    RandomStream stream(1, "below");
    std::array<int, 7> drawn{};
    for (int i = 0; i < 70'000; ++i) {
        ++drawn[stream.below(7)];
    }
    for (const int count : drawn) {
        EXPECT_NEAR(count, 10'000, 5 * 93);
    }
    EXPECT_EQ(stream.below(1), 0U);
    EXPECT_THROW((void)stream.below(0), std::logic_error);
}

TEST(RandomStream, ShuffleReachesEveryOrder) {
    // 6 orders of 3 items in 6,000 shuffles: 1,000 each, standard deviation sqrt(6000 * 1/6 * 5/6) = 29.
    RandomStream stream(1, "shuffle");
    std::array<std::array<std::array<int, 3>, 3>, 3> seen{};
    for (int i = 0; i < 6'000; ++i) {
        std::array<std::size_t, 3> order{0, 1, 2};
        stream.shuffle(order);
        ++seen[order[0]][order[1]][order[2]];
    }
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
        EXPECT_NEAR(seen[order[0]][order[1]][order[2]], 1'000, 5 * 29);
    } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace astrolabe
