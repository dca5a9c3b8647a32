#include "network/src/rotor/rotor_description.hpp"

#include "network/src/rotor/opera.hpp"

#include <cmath>
#include <cstdint>

#include <eight_racks.hpp>
#include <gtest/gtest.h>

namespace astrolabe::network::rotor {
namespace {

/// docs/theory/opera.md, "Timing table": packets of a slot, and payload rates in Gb/s of a pair of racks and
/// of a host, to the digits printed there.
struct Design {
    std::int64_t racks;
    std::int64_t radix;
    std::int64_t gigabits;
    std::int64_t eps;  ///< ns
    std::int64_t del;
    std::int64_t packets;
    double pair;
    double host;
    double digit;  ///< of the rates
};

TEST(RotorCapacity, OfThePublishedDesigns) {
    // The first: 6 hosts * 48 packets * 1436 B in a cycle of 6.534 ms are 8 * 413,568 / 6.534e-3 = 0.50636
    // Gb/s for a pair, and 107 / 6 of that 9.03 for a host.
    constexpr Design kDesigns[] = {{108, 12, 10, 48'800, 1'700, 48, 0.506, 9.03, 1e-3},
                                   {108, 12, 10, 58'900, 1'700, 57, 0.515, 9.19, 1e-3},
                                   {4, 8, 100, 2'300, 620, 85, 75.58, 56.68, 1e-2},
                                   {8, 8, 100, 5'220, 620, 109, 39.53, 69.17, 1e-2},
                                   {32, 8, 100, 11'060, 620, 158, 10.47, 81.11, 1e-2},
                                   {32, 8, 100, 12'520, 620, 170, 10.55, 81.76, 1e-2},
                                   {108, 12, 100, 6'680, 620, 129, 4.76, 84.87, 1e-2},
                                   {128, 16, 100, 6'680, 620, 133, 5.52, 87.63, 1e-2}};
    for (const Design& design : kDesigns) {
        OperaParameters p;
        p.racks = design.racks;
        p.radix = design.radix;
        p.link.rate = Bandwidth(design.gigabits * 1'000'000'000);
        p.eps = Time(design.eps * 1'000);
        p.del = Time(design.del * 1'000);
        const RotorCapacity capacity = capacity_of(*make_rotor_network(p));
        EXPECT_EQ(capacity.packets_per_slot, design.packets) << design.racks;
        EXPECT_NEAR(capacity.pair_rate / 1e9, design.pair, design.digit / 2);
        EXPECT_NEAR(capacity.host_rate / 1e9, design.host, 0.5e-2);
        // (N - 1) pairs for h hosts say the same as the product of what is lost.
        const double hosts = static_cast<double>(design.radix) / 2;
        EXPECT_NEAR(capacity.pair_rate * static_cast<double>(design.racks - 1) / hosts, capacity.host_rate,
                    1e-9 * capacity.host_rate);
        EXPECT_DOUBLE_EQ(capacity.carried,
                         static_cast<double>(design.racks - 1) / static_cast<double>(design.racks));
        EXPECT_DOUBLE_EQ(capacity.payload, 1436.0 / 1500);
    }
}

TEST(RotorCapacity, CircuitsThatFailedAreMissing) {
    // 8 racks on 4 rotors of 2 matchings: 8 * 8 ends of circuits in a cycle, 8 of them idle. A rack that
    // failed takes 7 of 28 pairs with it, in both directions: 42 of 56 ordered pairs are left, and as many of
    // 64 uplinks carry.
    OperaParameters p;
    p.racks = 8;
    p.radix = 8;
    p.eps = 5'220_ns;
    const RotorCapacity whole = capacity_of(*make_rotor_network(p));
    EXPECT_DOUBLE_EQ(whole.met, 1.0);
    p.failures = {{.racks = 1}};
    const RotorCapacity damaged = capacity_of(*make_rotor_network(p));
    EXPECT_DOUBLE_EQ(damaged.met, 42.0 / 56);
    EXPECT_DOUBLE_EQ(damaged.carried, 42.0 / 64);
    EXPECT_NEAR(damaged.pair_rate, whole.pair_rate * 42 / 56, 1e-9 * whole.pair_rate);
    // What a host's pairs have is what it has, as in the whole network: 7 of them for 4 hosts.
    EXPECT_NEAR(damaged.pair_rate * 7 / 4, damaged.host_rate, 1e-9 * whole.host_rate);
}

TEST(RotorCapacity, MoreHostsThanUplinksShareThem) {
    // 8 hosts on 4 uplinks of 100 Gb/s: a turn of 8 * 0.12 us, half as many packets each in a slot.
    OperaParameters p;
    p.racks = 8;
    p.uplinks = 4;
    p.hosts_per_rack = 8;
    p.eps = 5'220_ns;
    p.del = 620_ns;
    const RotorCapacity capacity = capacity_of(*make_rotor_network(p));
    EXPECT_EQ(capacity.packets_per_slot, 54);  // 52.74 / 0.96 = 54.9
    EXPECT_DOUBLE_EQ(capacity.uplinks, 0.5);
    EXPECT_NEAR(capacity.pair_rate * 7 / 8, capacity.host_rate, 1.0);
}

TEST(SliceFigures, OfTheReferenceSimulator) {
    const RotorSchedule schedule = eight_racks();
    const SliceFigures figures = slice_figures(schedule);
    EXPECT_EQ(figures.hops.worst(), 4U);
    EXPECT_NEAR(figures.ideal_gap, 3.0 - 2.0 * std::sqrt(2.0), 1e-12);
    EXPECT_GE(figures.mean_gap, figures.least_gap);
    // 2 % of 32 cables or 8 racks is none of them, and equal numbers are listed once.
    for (const FailureTolerance& row : figures.failures) {
        EXPECT_GT(row.failed, 0U);
        EXPECT_LT(row.failed, count_of(row.part, schedule));
    }
    EXPECT_EQ(figures.failures.back().part, FailingPart::kRotors);
    EXPECT_EQ(figures.failures.back().failed, 3U);
}

}  // namespace
}  // namespace astrolabe::network::rotor
