/// Direct opportunities against the matchings themselves, installation by installation.
#include "network/src/rotor/failures/rotor_failures.hpp"
#include "network/src/topologies/flat.hpp"

#include <memory>
#include <optional>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::network {
namespace {

using namespace astrolabe::literals;
using rotor::Rack;
using rotor::RotorNetwork;
using rotor::RotorSchedule;

constexpr Time kSuperslice = 15'840_ns;  ///< of the eight racks

std::shared_ptr<const CircuitWindows> of(RotorNetwork network) {
    return rotor::build_rotor_fabric(std::move(network))->family().circuit_windows();
}

/// By looking at every installation from `time` on, for two cycles.
std::optional<Time> next_installation(const RotorSchedule& schedule, Rack from, Rack to, Time time) {
    const Time length = schedule.timing().superslice();
    const auto first = static_cast<std::uint64_t>((time + length - 1_ps) / length);
    for (std::uint64_t s = first; s < first + 2 * schedule.superslices(); ++s) {
        for (rotor::Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
            if (schedule.installs(rotor, s) && schedule.peer(rotor, from, s) == to) {
                return length * s;
            }
        }
    }
    return std::nullopt;
}

void expect_installations(const RotorNetwork& network) {
    const RotorSchedule& schedule = network.schedule;
    const auto opportunities = of(network);
    const Time length = schedule.timing().superslice();
    for (Rack from = 0; from < schedule.racks(); ++from) {
        for (Rack to = 0; to < schedule.racks(); ++to) {
            for (std::uint32_t s = 0; s < schedule.superslices() && from != to; ++s) {
                for (const Time time : {length * s, length * s + 1_ps}) {
                    const auto found = opportunities->next(PlaceId(from), PlaceId(to), time);
                    const auto expected = next_installation(schedule, from, to, time);
                    ASSERT_EQ(found.has_value(), expected.has_value()) << from << " " << to;
                    if (found) {
                        EXPECT_EQ(found->begin, *expected) << from << " " << to << " " << s;
                        EXPECT_EQ(found->end, *expected + schedule.bulk_slot());
                    }
                }
            }
        }
    }
}

TEST(CircuitWindows, AreTheInstallationsOfMatchings) {
    expect_installations(rotor::eight_rack_network());
    expect_installations(rotor::drawn_rotor_network(12, 3, Bandwidth(100'000'000'000), 5));
    RotorNetwork together = rotor::eight_rack_network();
    together.schedule = RotorSchedule(rotor::eight_rack_matchings(), 4, rotor::kEightRackTiming);
    expect_installations(together);
}

TEST(CircuitWindows, WhatFailedNeverComes) {
    RotorNetwork network = rotor::eight_rack_network();
    rotor::RotorFailures failures;
    failures.rotors = {1, 0, 0, 0};
    network.schedule = rotor::without_failed(network.schedule, failures);
    expect_installations(network);
    EXPECT_FALSE(of(network)->next(PlaceId(0), PlaceId(7), 0_ps));  // M_0, on the rotor that failed
}

TEST(CircuitWindows, SayWhatACircuitCarries) {
    const auto opportunities = of(rotor::eight_rack_network());
    EXPECT_EQ(opportunities->places(), 8u);
    EXPECT_EQ(opportunities->place_of(HostId(0)), PlaceId(0));
    EXPECT_EQ(opportunities->place_of(HostId(31)), PlaceId(7));
    EXPECT_EQ(opportunities->period(), 8 * kSuperslice);
    // Slot 3 T + eps = 52.74 us, a turn of four packets of 120 ns: 109 and a bit.
    EXPECT_EQ(opportunities->packets(), 109u);
    EXPECT_EQ(opportunities->payload(), 1436_B);
    EXPECT_TRUE(opportunities->wait_for_circuits(0));
}

TEST(CircuitWindows, OnlyWhatIsBulkInAnyPiecesWaits) {
    rotor::RotorNetwork network = rotor::with_low_latency(rotor::eight_rack_network(), 10_KB);
    network.bulk.classes.add(1);
    const auto with_cutoff = of(network);
    EXPECT_FALSE(with_cutoff->wait_for_circuits(0));
    EXPECT_TRUE(with_cutoff->wait_for_circuits(1));
    network.low_latency.cutoff = 0_B;
    network.low_latency.classes.add(2);
    const auto by_class = of(network);
    EXPECT_TRUE(by_class->wait_for_circuits(0));
    EXPECT_FALSE(by_class->wait_for_circuits(2));
}

TEST(CircuitWindows, NoticeLiesBehindTheInstallationBefore) {
    const auto opportunities = of(rotor::eight_rack_network());
    EXPECT_GT(opportunities->notice(), 0_ps);
    EXPECT_LT(opportunities->notice(), kSuperslice);
}

TEST(CircuitWindows, HostsOfARackMeetIfTheirSwitchLetsThem) {
    EXPECT_FALSE(of(rotor::eight_rack_network())->next(PlaceId(3), PlaceId(3), 0_ps));
    RotorNetwork network = rotor::eight_rack_network();
    network.bulk.intra_rack = rotor::IntraRack::kDirect;
    // At any installation.
    EXPECT_EQ(of(network)->next(PlaceId(3), PlaceId(3), kSuperslice + 1_ps)->begin, 2 * kSuperslice);
}

TEST(CircuitWindows, EndWithTime) {
    const auto opportunities = of(rotor::eight_rack_network());
    EXPECT_FALSE(opportunities->next(PlaceId(0), PlaceId(1), Time::max()));
    EXPECT_TRUE(opportunities->next(PlaceId(0), PlaceId(1), Time::max() - 3 * opportunities->period()));
}

TEST(CircuitWindows, AreNoneWithoutRotors) {
    FlatParameters parameters;
    parameters.hosts = 4;
    EXPECT_EQ(build_flat(parameters)->family().circuit_windows(), nullptr);
}

}  // namespace
}  // namespace astrolabe::network
