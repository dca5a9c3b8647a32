#include "random_seed.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/factorisation.hpp>

namespace astrolabe::network::rotor {
namespace {

std::size_t idle_racks(const Matching& matching) {
    std::size_t idle = 0;
    for (Rack rack = 0; rack < matching.size(); ++rack) {
        idle += matching[rack] == rack ? 1 : 0;
    }
    return idle;
}

/// Every pair once, every rack idle once, checked without the function that the program trusts.
void expect_factorisation(const std::vector<Matching>& matchings) {
    const std::size_t racks = matchings.size();
    std::vector<std::vector<int>> met(racks, std::vector<int>(racks, 0));
    for (const Matching& matching : matchings) {
        ASSERT_EQ(matching.size(), racks);
        for (Rack rack = 0; rack < racks; ++rack) {
            EXPECT_EQ(matching[matching[rack]], rack);
            ++met[rack][matching[rack]];
        }
    }
    EXPECT_EQ(met, std::vector<std::vector<int>>(racks, std::vector<int>(racks, 1)));
}

RC_GTEST_PROP(Matchings, EveryDrawIsAFactorisation, ()) {
    RandomStream random(random_seed(), "matchings");
    const auto racks = *rc::gen::inRange<std::uint32_t>(1, 65);
    const std::vector<Matching> matchings = draw_factorisation(racks, random);
    expect_factorisation(matchings);
    for (const Matching& matching : matchings) {
        // The others pair up.
        RC_ASSERT(idle_racks(matching) % 2 == racks % 2);
    }
}

TEST(Matchings, EverySizeIsReached) {
    for (std::uint32_t racks = 1; racks <= 128; ++racks) {
        RandomStream random(racks, "matchings");
        expect_factorisation(draw_factorisation(racks, random));
    }
    for (const std::uint32_t racks : {509U, 511U, 512U}) {
        RandomStream random(racks, "matchings");
        EXPECT_TRUE(is_factorisation(draw_factorisation(racks, random)));
    }
}

TEST(Matchings, OneIdleRackInEachMatchingOfAnOddNumber) {
    // At least one is idle by parity, and there are N idle racks for N matchings.
    RandomStream random(1, "matchings");
    for (const Matching& matching : draw_factorisation(63, random)) {
        EXPECT_EQ(idle_racks(matching), 1U);
    }
}

TEST(Matchings, LiftingKeepsTheBaseVisible) {
    RandomStream random(1, "matchings");
    const std::vector<Matching> base = draw_factorisation(9, random);
    const std::vector<Matching> lifted = lift_factorisation(base, 4, random);
    expect_factorisation(lifted);
    for (std::size_t t = 0; t < lifted.size(); ++t) {
        for (Rack rack = 0; rack < 36; ++rack) {
            EXPECT_EQ(lifted[t][rack] / 4, base[t / 4][rack / 4]);
        }
    }
}

TEST(Matchings, SeedSaysWhich) {
    const auto draw = [](std::uint64_t seed) {
        RandomStream random(seed, "matchings");
        return draw_factorisation(16, random);
    };
    EXPECT_EQ(draw(1), draw(1));
    EXPECT_NE(draw(1), draw(2));
}

TEST(Matchings, WhatIsNoFactorisation) {
    const std::vector<Matching> both{{0, 1}, {1, 0}};
    EXPECT_TRUE(is_factorisation(both));
    EXPECT_FALSE(is_factorisation({{0, 1}, {0, 1}}));                   // the pair never meets
    EXPECT_FALSE(is_factorisation({{1, 2, 0}, {0, 1, 2}, {2, 0, 1}}));  // sums to ones, no involutions
    EXPECT_FALSE(is_factorisation({{0, 1}}));                           // a matching is missing
    EXPECT_FALSE(is_factorisation({{0, 2}, {1, 0}}));                   // no such rack
}

TEST(Matchings, RotorsGetConsecutiveOnes) {
    RandomStream random(1, "matchings");
    const std::vector<Matching> matchings = draw_factorisation(6, random);
    const std::vector<std::vector<Matching>> rotors = deal(matchings, 2);
    ASSERT_EQ(rotors.size(), 2U);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(rotors[i / 3][i % 3], matchings[i]);
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
