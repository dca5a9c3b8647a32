// SPDX-License-Identifier: GPL-2.0-only
/// Low-latency messages of rotor networks, many at once: slots, which queue and lose nothing, against
/// packets, which are trimmed, repaired and pulled. docs/models/rotor-lb.md has what this prints.
#include "network/src/engines/slots/slot_engine.hpp"
#include "opera/opera_packet_backend.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_reference.hpp>

#include <astrolabe/core/units.hpp>

namespace astrolabe::ns3 {
namespace {

using namespace network::rotor;

struct Case {
    std::string name;
    std::vector<HostPair> pairs;
    std::int64_t packets;
    double least;  ///< mean on slots, over that on packets
};

/// A packet that finds 8 others in a queue is trimmed, and comes again a round trip of a few microseconds
/// later: what one packet of every message loses by that is up to a quarter of the mean, of 10 us. Of several
/// packets some come again more than once, for up to half of it.
std::vector<Case> cases() {
    constexpr double kOnePacket = 0.75;
    constexpr double kSomePackets = 0.5;
    const auto other_racks = [](auto i, auto j) { return i / 4 != j / 4; };
    const auto next_rack = [](auto i, auto j) { return (i + 4) % 32 == j; };
    const auto into_host_0 = [](auto i, auto j) { return i >= 4 && j == 0; };
    const auto of_one_port = [](auto i, auto j) { return i / 4 != j / 4 && i % 4 == j % 4; };
    return {{"one packet to every host of other racks", pairs_where(32, other_racks), 1, kOnePacket},
            {"seven packets to every host of other racks", pairs_where(32, other_racks), 7, kSomePackets},
            {"one packet to a host of every other rack", pairs_where(32, of_one_port), 1, kOnePacket},
            {"ten packets to a host of every other rack", pairs_where(32, of_one_port), 10, kSomePackets},
            {"one packet of each to the next rack", pairs_where(32, next_rack), 1, kOnePacket},
            {"one packet of each to one host", pairs_where(32, into_host_0), 1, kOnePacket},
            {"30 packets of each to one host", pairs_where(32, into_host_0), 30, kSomePackets}};
}

template <class Engine>
std::vector<Time> times(const Case& one) {
    return durations<Engine>(with_low_latency(eight_rack_network(), 15_MB), one.pairs, one.packets * 1436_B);
}

TEST(OperaLowLatency, SlotsAgainstPackets) {
    for (const Case& one : cases()) {
        const std::vector<Time> packets = times<OperaPacketBackend>(one);
        const std::vector<Time> slots = times<SlotEngine>(one);
        const double mean = mean_seconds(slots) / mean_seconds(packets);
        std::printf("%s: mean %.2f us, %.2f of packets; last %.2f us, %.2f of packets\n", one.name.c_str(),
                    1e6 * mean_seconds(slots), mean, 1e6 * last_seconds(slots),
                    last_seconds(slots) / last_seconds(packets));
        EXPECT_GE(mean, one.least) << one.name;
        // Links are as busy and nothing is sent twice.
        EXPECT_LE(mean, 1.02) << one.name;
    }
}

}  // namespace
}  // namespace astrolabe::ns3
