#include "network/src/rotor/failures/robustness.hpp"

#include "network/src/rotor/failures/rotor_failures.hpp"
#include "network/src/rotor/rotor_draw.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <eight_racks.hpp>
#include <gtest/gtest.h>

#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {
namespace {

/// Rotors that hold one matching each; rotor 0 is the one that goes dark in the last superslice.
RotorSchedule of_matchings(const std::vector<Matching>& matchings) {
    std::vector<std::vector<Matching>> rotors;
    for (const Matching& matching : matchings) {
        rotors.push_back({matching});
    }
    return {std::move(rotors), 1, kEightRackTiming};
}

TEST(SpectralGap, OfKnownGraphs) {
    // Rotors 1 and 2 make a ring of 8 racks: eigenvalues 2 cos(2 pi k / 8), and -2 since the ring is even.
    const Matching odd{1, 0, 3, 2, 5, 4, 7, 6};
    const Matching even{7, 2, 1, 4, 3, 6, 5, 0};
    const RotorSchedule ring = of_matchings({odd, odd, even});
    EXPECT_NEAR(spectral_gap(ring, 2).gap, 0.0, 1e-6);
    EXPECT_DOUBLE_EQ(spectral_gap(ring, 2).ideal, 0.0);  // 2 - 2 sqrt(1)
    // A line of 4 racks whose ends are idle on one uplink: that of a ring of 8 folded, 2 cos(pi k / 4).
    const RotorSchedule line = of_matchings({{1, 0, 3, 2}, {1, 0, 3, 2}, {0, 2, 1, 3}});
    EXPECT_NEAR(spectral_gap(line, 2).gap, 2.0 - 2.0 * std::cos(std::numbers::pi / 4), 1e-6);
    // All pairs of 4 racks: eigenvalues 3 and -1.
    const RotorSchedule complete = of_matchings({{1, 0, 3, 2}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}});
    EXPECT_NEAR(spectral_gap(complete, 3).gap, 3.0 - 1.0, 1e-6);
    EXPECT_NEAR(spectral_gap(complete, 3).ideal, 3.0 - 2.0 * std::sqrt(2.0), 1e-12);
    // Two parts: the eigenvalue 2 twice.
    const RotorSchedule parts = of_matchings({{1, 0, 3, 2}, {1, 0, 3, 2}, {1, 0, 3, 2}});
    EXPECT_NEAR(spectral_gap(parts, 2).gap, 0.0, 1e-6);
}

TEST(SpectralGap, RandomNetworksComeCloseToTheIdeal) {
    const RotorSchedule schedule(draw_rotors({.racks = 128, .uplinks = 8}).matchings, 1, kEightRackTiming);
    for (std::uint32_t s = 0; s < 128; ++s) {
        const SpectralGap gap = spectral_gap(schedule, s);
        // d = 7. The squares of all eigenvalues sum to 128 * 7, the entries of the matrix, and one of them is
        // 49: the largest other square is at least (128 * 7 - 49) / 127 = 2.58². For large graphs lambda
        // tends to 2 sqrt(6) = 4.90 or more; random ones of this size are within 15 % of it.
        EXPECT_LE(gap.gap, 7.0 - 2.58);
        EXPECT_GE(gap.gap, 7.0 - 1.15 * 4.90);
    }
}

TEST(FailureTolerance, OfThePublishedDesign) {
    // 108 racks with 6 uplinks lose no pair in any superslice with 4 % of the cables, 7 % of the racks or one
    // rotor gone, in 6 draws each.
    const RotorSchedule schedule(draw_rotors({.racks = 108, .uplinks = 6}).matchings, 1, kEightRackTiming);
    RandomStream random(1, "failures");
    EXPECT_EQ(count_of(FailingPart::kCables, schedule), 648U);
    EXPECT_EQ(worst_disconnected_share(schedule, FailingPart::kCables, 648 * 4 / 100, 6, random), 0.0);
    EXPECT_EQ(worst_disconnected_share(schedule, FailingPart::kRacks, 108 * 7 / 100, 6, random), 0.0);
    EXPECT_EQ(worst_disconnected_share(schedule, FailingPart::kRotors, 1, 6, random), 0.0);
    // With 30 % of the cables gone, a rack loses the 5 that stay with a probability of 0.3^5, idle uplinks
    // apart: some of 108 racks are alone in some superslice.
    EXPECT_GT(worst_disconnected_share(schedule, FailingPart::kCables, 648 * 30 / 100, 6, random), 0.02);
    // Without any rotor nobody reaches anybody.
    EXPECT_EQ(worst_disconnected_share(schedule, FailingPart::kRotors, 6, 1, random), 1.0);
}

TEST(RotorFailures, LeaveAScheduleWithFewerCircuits) {
    const RotorSchedule whole(draw_rotors({.racks = 16, .uplinks = 4}).matchings, 1, kEightRackTiming);
    RandomStream random(1, "failures");
    const RotorFailures failures = draw_failures(whole, {.cables = 7, .racks = 1, .rotors = 1}, random);
    EXPECT_EQ(std::ranges::count(failures.cables, 1), 7);
    EXPECT_EQ(std::ranges::count(failures.racks, 1), 1);
    EXPECT_EQ(std::ranges::count(failures.rotors, 1), 1);
    const RotorSchedule left = without_failed(whole, failures);
    for (std::uint32_t s = 0; s < whole.superslices(); ++s) {
        EXPECT_EQ(SliceGraph(left, s).distances(), SliceGraph(whole, s, failures).distances());
    }
    for (Rack from = 0; from < 16; ++from) {
        for (Rack to = 0; to < 16; ++to) {
            EXPECT_LE(left.installations(from, to).size(), whole.installations(from, to).size());
            EXPECT_EQ(left.installations(from, to).size(), left.installations(to, from).size());
        }
    }
}

TEST(FailureTolerance, ARackAloneIsMissedByAllOthers) {
    // Without all but one of 4 racks there is no pair left; without one, 3 racks of a complete graph.
    const RotorSchedule complete(draw_rotors({.racks = 4, .uplinks = 4}).matchings, 1, kEightRackTiming);
    RandomStream random(1, "failures");
    EXPECT_EQ(worst_disconnected_share(complete, FailingPart::kRacks, 3, 2, random), 0.0);
    EXPECT_EQ(worst_disconnected_share(complete, FailingPart::kCables, 16, 1, random), 1.0);
}

}  // namespace
}  // namespace astrolabe::network::rotor
