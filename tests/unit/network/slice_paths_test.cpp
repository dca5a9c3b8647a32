#include "network/src/rotor/rotor_draw.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <eight_racks.hpp>
#include <gtest/gtest.h>

#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::network::rotor {
namespace {

/// All walks of `hops` circuits that stay through the superslice, from one rack to another.
std::uint64_t walks(const RotorSchedule& schedule, std::uint32_t superslice, Rack from, Rack to,
                    std::uint32_t hops) {
    if (hops == 0) {
        return from == to ? 1 : 0;
    }
    std::uint64_t count = 0;
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        const Rack next = schedule.peer(rotor, from, superslice);
        if (!schedule.goes_dark(rotor, superslice) && next != from) {
            count += walks(schedule, superslice, next, to, hops - 1);
        }
    }
    return count;
}

TEST(SlicePaths, AreAllShortestPathsOnce) {
    const RotorSchedule schedule = eight_racks();
    const ShortestSlicePaths paths(schedule, 1'000, 1);
    PathList list;
    for (std::uint32_t s = 0; s < schedule.superslices(); ++s) {
        const std::vector<std::uint16_t> hops = SliceGraph(schedule, s).distances();
        for (Rack from = 0; from < 8; ++from) {
            for (Rack to = 0; to < 8; ++to) {
                paths.find(s, from, to, list);
                std::set<std::vector<std::uint16_t>> distinct;
                for (std::size_t i = 0; i < list.size(); ++i) {
                    Rack at = from;
                    for (const std::uint16_t rotor : list[i]) {
                        EXPECT_FALSE(schedule.goes_dark(rotor, s));
                        at = schedule.peer(rotor, at, s);
                    }
                    EXPECT_EQ(at, to);
                    EXPECT_EQ(list[i].size(), hops[from * 8 + to]);
                    distinct.emplace(list[i].begin(), list[i].end());
                }
                EXPECT_EQ(distinct.size(), list.size());
                EXPECT_EQ(list.size(), from == to ? 0 : walks(schedule, s, from, to, hops[from * 8 + to]));
            }
        }
    }
}

TEST(SlicePaths, RepeatEveryCycle) {
    const ShortestSlicePaths paths(eight_racks(), 2, 1);
    PathList once;
    PathList again;
    paths.find(3, 0, 6, once);
    paths.find(3 + 8 * 1'000'000, 0, 6, again);
    ASSERT_EQ(once.size(), again.size());
    EXPECT_TRUE(std::ranges::equal(once[0], again[0]));
}

TEST(SlicePaths, ListNoMoreThanAskedFor) {
    const RotorSchedule schedule(draw_rotors({.racks = 32, .uplinks = 8}).matchings, 1, kEightRackTiming);
    PathList few;
    PathList all;
    const ShortestSlicePaths at_most_two(schedule, 2, 1);
    const ShortestSlicePaths unlimited(schedule, 1'000, 1);
    for (Rack to = 1; to < 32; ++to) {
        at_most_two.find(0, 0, to, few);
        unlimited.find(0, 0, to, all);
        EXPECT_EQ(few.size(), std::min<std::size_t>(2, all.size()));
    }
}

TEST(SlicePaths, OnePathEachPrefersNoUplink) {
    // First hops of single paths, over all pairs and superslices: each of the 4 uplinks is up in 3 of 4
    // superslices, and shortest paths of 31 pairs a rack leave by it about as often as by any other.
    const RotorSchedule schedule(draw_rotors({.racks = 32, .uplinks = 4}).matchings, 1, kEightRackTiming);
    const ShortestSlicePaths paths(schedule, 1, 1);
    std::vector<std::uint64_t> first(4, 0);
    PathList list;
    for (std::uint32_t s = 0; s < 32; ++s) {
        for (Rack from = 0; from < 32; ++from) {
            for (Rack to = 0; to < 32; ++to) {
                paths.find(s, from, to, list);
                if (list.size() > 0) {
                    ++first[list[0].front()];
                }
            }
        }
    }
    // 32 * 32 * 31 paths, a quarter each; standard deviation of a fair choice sqrt(31744 * 3/16) = 77. How
    // many racks are idle on an uplink differs, by some percent: 31744 / 4 = 7936 within 10 %.
    for (const std::uint64_t count : first) {
        EXPECT_NEAR(static_cast<double>(count), 7'936.0, 794.0);
    }
}

TEST(SlicePaths, SuperslicesThatDoNotAllFitInMemoryAtOnce) {
    // 512 racks take 512 KiB a superslice, of which 128 are kept; asked for in any order, the answers stay
    // those of each superslice.
    const RotorSchedule schedule(draw_rotors({.racks = 512, .uplinks = 8}).matchings, 1, kEightRackTiming);
    const ShortestSlicePaths paths(schedule, 1, 1);
    PathList list;
    for (const std::uint32_t s : {0U, 128U, 256U, 0U, 5U, 133U, 5U}) {
        paths.find(s, 3, 400, list);
        ASSERT_EQ(list.size(), 1U);
        Rack at = 3;
        for (const std::uint16_t rotor : list[0]) {
            at = schedule.peer(rotor, at, s);
        }
        EXPECT_EQ(at, 400U);
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
