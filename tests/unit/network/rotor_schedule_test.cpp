#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include <eight_racks.hpp>
#include <gtest/gtest.h>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>

namespace astrolabe::network::rotor {
namespace {

TEST(RotorSchedule, TimingFollowsFromTheParts) {
    const RotorSchedule schedule = eight_racks();
    EXPECT_EQ(schedule.timing().superslice(), 15'840_ns);  // 5.22 + 0.62 + 10 us
    EXPECT_EQ(schedule.cycle(), 126'720_ns);               // 8 * 15.84
    EXPECT_EQ(schedule.bulk_slot(), 52'740_ns);            // 3 * 15.84 + 5.22
    EXPECT_NEAR(schedule.duty(), 1 - 10 / 63.36, 1e-15);   // 1 - r / (4 * 15.84)
}

TEST(RotorSchedule, FirstSuperslice) {
    // The adjacency the reference simulator's file has for its first slice, rack by rack.
    constexpr std::array<std::array<Rack, 4>, 8> kExpected{{{7, 6, 3, 0},
                                                            {6, 5, 2, 1},
                                                            {5, 4, 1, 2},
                                                            {4, 7, 0, 3},
                                                            {3, 2, 6, 4},
                                                            {2, 1, 7, 5},
                                                            {1, 0, 4, 6},
                                                            {0, 3, 5, 7}}};
    const RotorSchedule schedule = eight_racks();
    for (Rack rack = 0; rack < 8; ++rack) {
        for (Rotor rotor = 0; rotor < 4; ++rotor) {
            EXPECT_EQ(schedule.peer(rotor, rack, 0), kExpected[rack][rotor]) << rack << ' ' << rotor;
        }
    }
}

TEST(RotorSchedule, OneRotorSwitchesAtATime) {
    const RotorSchedule schedule = eight_racks();
    for (std::uint64_t s = 0; s < 32; ++s) {
        for (Rotor rotor = 0; rotor < 4; ++rotor) {
            EXPECT_EQ(schedule.goes_dark(rotor, s), rotor == (s + 1) % 4);
            EXPECT_EQ(schedule.installs(rotor, s), rotor == s % 4);
            // floor(((s - a) mod N) / u)
            EXPECT_EQ(schedule.matching_index(rotor, s), (s + 8 - rotor) % 8 / 4);
        }
    }
}

TEST(RotorSchedule, GroupsSwitchTogether) {
    const RotorSchedule together = eight_racks(4);
    EXPECT_EQ(together.superslices(), 2U);  // each rotor shows both matchings, one superslice each
    EXPECT_EQ(together.bulk_slot(), 5'220_ns);
    const RotorSchedule pairs = eight_racks(2);
    EXPECT_EQ(pairs.superslices(), 4U);
    for (Rotor rotor = 0; rotor < 4; ++rotor) {
        for (std::uint64_t s = 0; s < 8; ++s) {
            EXPECT_TRUE(together.installs(rotor, s) && together.goes_dark(rotor, s));
            EXPECT_EQ(together.matching_index(rotor, s), s % 2);
            EXPECT_EQ(pairs.goes_dark(rotor, s), rotor % 2 == (s + 1) % 2);
        }
    }
}

TEST(RotorSchedule, EveryPairMeetsOnceACycle) {
    for (const std::uint32_t groups : {1U, 2U, 4U}) {
        const RotorSchedule schedule = eight_racks(groups);
        for (Rack from = 0; from < 8; ++from) {
            EXPECT_TRUE(schedule.installations(from, from).empty());
            for (Rack to = 0; to < 8; ++to) {
                if (from == to) {
                    continue;
                }
                const auto installations = schedule.installations(from, to);
                ASSERT_EQ(installations.size(), 1U);
                const auto [rotor, first] = installations.front();
                EXPECT_TRUE(schedule.installs(rotor, first));
                for (std::uint32_t age = 0; age < schedule.residence(); ++age) {
                    EXPECT_EQ(schedule.peer(rotor, from, first + age), to);
                }
            }
        }
    }
}

TEST(RotorSchedule, FindsThePartOfATime) {
    using Part = RotorSchedule::Part;
    const RotorSchedule schedule = eight_racks();
    const std::vector<std::tuple<Time, std::uint64_t, Part>> expected{
        {0_ns, 0, Part::kEps},      {5'220_ns - 1_ps, 0, Part::kEps},
        {5'220_ns, 0, Part::kDel},  {5'840_ns, 0, Part::kReconfiguration},  // 5.22 + 0.62
        {15'840_ns, 1, Part::kEps}, {126'720_ns * 1000 + 6_us, 8000, Part::kReconfiguration}};
    for (const auto& [time, superslice, part] : expected) {
        const RotorSchedule::Position position = schedule.at(time);
        EXPECT_EQ(position.superslice, superslice);
        EXPECT_EQ(position.part, part);
        EXPECT_EQ(position.begin, 15'840_ns * superslice);
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
