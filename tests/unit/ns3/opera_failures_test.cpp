// SPDX-License-Identifier: GPL-2.0-only
/// Parts of a rotor network that fail in the course of a run, packet by packet.
#include "opera/opera_packet_backend.hpp"

#include <cstdint>
#include <vector>

#include <failing_rotors.hpp>
#include <gtest/gtest.h>

#include <astrolabe/core/units.hpp>

namespace astrolabe::ns3 {
namespace {

using namespace network::rotor;

TEST(OperaFailures, AfterTheEndChangeNothing) {
    expect_a_failure_after_the_end_changes_nothing<OperaPacketBackend>();
}

TEST(OperaFailures, CircuitsCarryUntilTheyFail) {
    expect_circuits_carry_until_they_fail<OperaPacketBackend>();
}

TEST(OperaFailures, BulkGoesRoundRotorsAndCables) {
    expect_bulk_goes_round_rotors_and_cables_that_fail<OperaPacketBackend>();
}

TEST(OperaFailures, ARackTakesItsOwnWithIt) {
    expect_a_rack_that_fails_to_take_its_own_with_it<OperaPacketBackend>();
}

TEST(OperaFailures, WhatARackRelaysIsReported) {
    expect_what_a_rack_relays_to_be_reported<OperaPacketBackend>();
}

TEST(OperaFailures, LowLatencyIsSentAgainAndThenGoesRound) {
    // One hop to rack 7 through rotor 0 in superslice 0, until the next begins at 15.84 us. A packet sent at
    // 1 us is lost, and sent again after 1 ms, in superslice 63; it then takes at most 7 hops.
    const RotorNetwork network =
        failing_at(with_low_latency(eight_rack_network(), 1_MB), 500_ns, failed_cable(0, 0));
    const auto fabric = build_rotor_fabric(network);
    OperaPacketBackend backend(fabric);
    RotorTraffic before(backend, {{0, 28}}, 1436_B, 1_us);
    RotorTraffic after(backend, {{1, 29}}, 1436_B, 16_us);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    EXPECT_EQ(backend.packets_lost_in_the_dark(), 1U);
    EXPECT_EQ(backend.statistics().timeouts, 1U);
    EXPECT_GT(before.last(), 1_ms);
    EXPECT_LT(before.last(), 1_ms + 240_ns + 7 * 620_ns);
    EXPECT_LE(after.last(), 240_ns + 7 * 620_ns);
}

TEST(OperaFailures, LowLatencyWithoutAWayGivesUpAndSaysSo) {
    const RotorNetwork network =
        failing_at(with_low_latency(eight_rack_network(), 1_MB), 500_ns, failed_rack(7));
    PacketOptions options;
    options.transport.retryLimit = 3;
    OperaPacketBackend backend(build_rotor_fabric(network), options);
    RotorTraffic cut_off(backend, {{0, 28}, {29, 4}}, 1436_B, 1_us);
    RotorTraffic others(backend, {{0, 4}, {28, 29}}, 1436_B, 20_us);
    backend.run();
    EXPECT_EQ(cut_off.delivered, 0U);
    EXPECT_EQ(others.delivered, 2U);
    EXPECT_EQ(backend.outstanding_messages(), 2U);
    const std::string text = backend.explain_stall();
    EXPECT_NE(text.find("2 pairs of hosts"), std::string::npos) << text;
    EXPECT_NE(text.find("rack 7 is disconnected since 500ns"), std::string::npos) << text;
}

}  // namespace
}  // namespace astrolabe::ns3
