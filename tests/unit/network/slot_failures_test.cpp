/// Parts of a rotor network that fail in the course of a run, slot by slot.
#include "network/src/engines/slots/slot_engine.hpp"

#include <string>

#include <failing_rotors.hpp>
#include <gtest/gtest.h>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network::rotor {
namespace {

TEST(SlotFailures, AfterTheEndChangeNothing) {
    expect_a_failure_after_the_end_changes_nothing<SlotEngine>();
}

TEST(SlotFailures, CircuitsCarryUntilTheyFail) {
    expect_circuits_carry_until_they_fail<SlotEngine>();
}

TEST(SlotFailures, BulkGoesRoundRotorsAndCables) {
    expect_bulk_goes_round_rotors_and_cables_that_fail<SlotEngine>();
}

TEST(SlotFailures, ARackTakesItsOwnWithIt) {
    expect_a_rack_that_fails_to_take_its_own_with_it<SlotEngine>();
}

TEST(SlotFailures, WhatARackRelaysIsReported) {
    expect_what_a_rack_relays_to_be_reported<SlotEngine>();
}

// One hop to rack 7 over rotor 0 in superslice 0; 24 packets, 2.88 us, leave before hosts know of the
// failure. From 15.84 us on 1,436 B take at most 7 hops of 620 ns, and none over the cable.
TEST(SlotFailures, LowLatencyGoesRoundOnceHostsKnow) {
    const RotorNetwork network =
        failing_at(with_low_latency(eight_rack_network(), 1_MB), 500_ns, failed_cable(0, 0));
    SlotEngine engine(build_rotor_fabric(network));
    RotorTraffic before(engine, {{0, 28}}, 24 * 1436_B, 1_us);
    RotorTraffic after(engine, {{1, 29}}, 1436_B, 16_us);
    engine.run();
    EXPECT_EQ(engine.outstanding_messages(), 0U);
    EXPECT_EQ(before.last(), 24 * 120_ns + 240_ns + 500_ns);
    EXPECT_GT(after.last(), 2 * 620_ns) << "no more one hop";
    EXPECT_LE(after.last(), 240_ns + 7 * 620_ns);
}

// 349 packets in 59 pieces take 42 us to leave; hosts know at 15.84 us that no path is left. What is sent
// from then on is bulk, for it has no path, and is reported as that.
TEST(SlotFailures, LowLatencyWithoutAWayIsReported) {
    const RotorNetwork network =
        failing_at(with_low_latency(eight_rack_network(), 1_MB), 500_ns, failed_rack(7));
    SlotEngine engine(build_rotor_fabric(network));
    RotorTraffic cut_off(engine, {{0, 28}, {29, 4}}, 500_KB, 1_us);
    RotorTraffic later(engine, {{2, 30}}, 1436_B, 20_us);
    RotorTraffic others(engine, {{0, 4}, {28, 29}}, 500_KB, 20_us);
    engine.run();
    EXPECT_EQ(cut_off.delivered + later.delivered, 0U);
    EXPECT_EQ(others.delivered, 2U);
    EXPECT_EQ(engine.describe_outstanding(10).size(), 3U);
    const std::string text = engine.explain_stall();
    EXPECT_NE(text.find("1 bulk packet of 1 pair of hosts waits"), std::string::npos) << text;
    EXPECT_NE(text.find("2 low-latency messages have no path left"), std::string::npos) << text;
    EXPECT_NE(text.find("host 29 -> host 4: rack 7 is disconnected since 500ns"), std::string::npos) << text;
}

}  // namespace
}  // namespace astrolabe::network::rotor
