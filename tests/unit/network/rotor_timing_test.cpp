#include "network/src/rotor/rotor_timing.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include <astrolabe/network/rotor/factorisation.hpp>

namespace astrolabe::network::rotor {
namespace {

/// A row of the published designs: racks, ToR ports, rate and most hops, and the lengths that follow, in
/// nanoseconds. The table was computed from the formulas by hand, independently of this program.
struct Design {
    std::uint32_t racks;
    std::uint32_t radix;
    std::int64_t gigabits;
    std::int64_t most_hops;
    std::int64_t eps;
    std::int64_t del;
    std::int64_t superslice;
    std::int64_t cycle;
    std::int64_t slot;
    double duty;       ///< 1 - r / (u T)
    double bulk_duty;  ///< slot / (u T)
};

constexpr Design kDesigns[] = {
    {108, 12, 10, 5, 48'800, 1'700, 60'500, 6'534'000, 351'300, 0.9725, 0.9678},
    {108, 12, 10, 6, 58'900, 1'700, 70'600, 7'624'800, 411'900, 0.9764, 0.9724},
    {4, 8, 100, 2, 2'300, 620, 12'920, 51'680, 41'060, 0.8065, 0.7945},
    {8, 8, 100, 4, 5'220, 620, 15'840, 126'720, 52'740, 0.8422, 0.8324},
    {32, 8, 100, 8, 11'060, 620, 21'680, 693'760, 76'100, 0.8847, 0.8775},
    {32, 8, 100, 9, 12'520, 620, 23'140, 740'480, 81'940, 0.8920, 0.8853},
    {108, 12, 100, 5, 6'680, 620, 17'300, 1'868'400, 93'180, 0.9037, 0.8977},
    {128, 16, 100, 5, 6'680, 620, 17'300, 2'214'400, 127'780, 0.9277, 0.9233},
};

RotorTiming timing_of(const Design& design) {
    return derive_timing({.propagation = Time(500'000),
                          .queue = 8,
                          .packet = Bytes(1500),
                          .rate = Bandwidth(design.gigabits * 1'000'000'000),
                          .most_hops = design.most_hops,
                          .reconfiguration = Time(10'000'000)});
}

RotorSchedule schedule_of(const Design& design, std::uint32_t groups, RotorTiming timing) {
    RandomStream random(1, "matchings");
    return {deal(draw_factorisation(design.racks, random), design.radix / 2), groups, timing};
}

constexpr std::int64_t kNanosecond = 1'000;

TEST(RotorTiming, PublishedDesigns) {
    for (const Design& design : kDesigns) {
        const RotorTiming timing = timing_of(design);
        EXPECT_EQ(timing.eps, Time(design.eps * kNanosecond));
        EXPECT_EQ(timing.del, Time(design.del * kNanosecond));
        const RotorSchedule schedule = schedule_of(design, 1, timing);
        EXPECT_EQ(timing.superslice(), Time(design.superslice * kNanosecond));
        EXPECT_EQ(schedule.cycle(), Time(design.cycle * kNanosecond));
        EXPECT_EQ(schedule.bulk_slot(), Time(design.slot * kNanosecond));
        // Four digits are printed.
        EXPECT_NEAR(schedule.duty(), design.duty, 0.5e-4);
        const auto stays = static_cast<double>((timing.superslice() * schedule.residence()).count());
        EXPECT_NEAR(static_cast<double>(schedule.bulk_slot().count()) / stays, design.bulk_duty, 0.5e-4);
    }
}

TEST(RotorTiming, RoundsOnceAndUp) {
    // At 7 Gb/s a packet takes 12000 / 7 = 1714285.71 ps. H = 2, q = 2: eps = p + 3 packets
    // = 36000 / 7 = 5142857.14 ps, not 3 times the rounded packet.
    const RotorTiming timing = derive_timing({.propagation = Time(0),
                                              .queue = 2,
                                              .packet = Bytes(1500),
                                              .rate = Bandwidth(7'000'000'000),
                                              .most_hops = 2,
                                              .reconfiguration = Time(0)});
    EXPECT_EQ(timing.eps, Time(5'142'858));
    EXPECT_EQ(timing.del, Time(1'714'286));
}

TEST(RotorTiming, RotorsTogetherKeepCycleDutyAndSlot) {
    for (const Design& design : kDesigns) {
        const std::uint32_t uplinks = design.radix / 2;
        const RotorTiming timing = timing_of(design);
        const RotorTiming together = switched_together(timing, uplinks);
        EXPECT_EQ(together.superslice(), timing.superslice() * uplinks);
        EXPECT_EQ(together.reconfiguration, timing.reconfiguration);
        const RotorSchedule opera = schedule_of(design, 1, timing);
        const RotorSchedule rotornet = schedule_of(design, uplinks, together);
        EXPECT_EQ(rotornet.cycle(), opera.cycle());
        EXPECT_DOUBLE_EQ(rotornet.duty(), opera.duty());
        EXPECT_EQ(rotornet.bulk_slot(), opera.bulk_slot());
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
