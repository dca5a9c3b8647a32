/// What Opera's reference simulator says of small rotor networks (docs/theory/opera.md, "Golden numbers"),
/// for all engines that run them.
///
/// Eight racks of four hosts at 100 Gb/s unless said: a packet takes 0.12 us on a link, 0.5 us between racks,
/// so 0.86 us in all; a superslice 15.84 us, a cycle 126.72 us, a slot 52.74 us, in which a host sends 109
/// packets on a circuit, at most one per turn of 4 · 0.12 us. Rack 0 meets rack 7 in superslice 0, 4 in 1, 1
/// in 2, 5 in 3, 2 in 4.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>
#include <rotor_traffic.hpp>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network::rotor {

/// How long each of the messages takes that are sent together, on an engine that is made from a fabric.
template <class Engine>
std::vector<Time> durations(const RotorNetwork& network, const std::vector<HostPair>& pairs, Bytes size,
                            Time start = Time(0), std::uint8_t traffic_class = 0) {
    Engine engine(build_rotor_fabric(network));
    RotorTraffic traffic(engine, pairs, size, start, traffic_class);
    engine.run();
    EXPECT_EQ(engine.outstanding_messages(), 0U);
    return traffic.durations;
}

/// One bulk message of whole packets.
struct ReferenceMessage {
    HostPair pair;
    std::int64_t packets;
    Time start;
    Time duration;  ///< exact
};

inline std::vector<ReferenceMessage> reference_messages() {
    return {
        {{0, 28}, 1, 0_us, 860_ns},
        // Through rack 7, which meets rack 4 in superslice 2: 31.68 + 0.86.
        {{0, 16}, 1, 0_us, 32'540_ns},
        // Through rack 1 in superslice 2, which meets rack 7 in superslice 4: 63.36 + 0.86 - 16.
        {{0, 28}, 1, 16_us, 48'220_ns},
        // The last of 10 falls due 9/10 of 52.74 us after the installation: 98 turns of 0.48 us, and 0.86.
        {{0, 28}, 10, 0_us, 47'900_ns},
        // The last of 109: turn 108.
        {{0, 28}, 109, 0_us, 52'700_ns}};
}

/// A message from rack 0 to rack 4 by the service that it gets: cutoff 1436 B, classes 2 and 7 low-latency, 3
/// bulk.
struct ServiceCase {
    Bytes size;
    std::uint8_t traffic_class;
    Time duration;
};

inline RotorNetwork network_of_both_services() {
    RotorNetwork network = with_low_latency(eight_rack_network(), 1436_B);
    network.low_latency.classes.add(2);
    network.low_latency.classes.add(7);
    network.bulk.classes.add(3);
    return network;
}

inline std::vector<ServiceCase> service_cases() {
    // At once 2 · 0.12 + 2 · 0.62 us, a byte less 0.08 ns less on four links. Bulk as above, in full packets.
    constexpr Time kAtOnce = 1'480_ns;
    constexpr Time kOneByteLess = kAtOnce - 4 * 80_ps;
    constexpr Time kBulk = 32'540_ns;
    return {{1436_B, 0, kBulk},   {1435_B, 0, kOneByteLess}, {1436_B, 5, kBulk}, {1435_B, 5, kOneByteLess},
            {1436_B, 2, kAtOnce}, {1436_B, 7, kAtOnce},      {1435_B, 3, kBulk}, {1436_B, 3, kBulk}};
}

/// Messages of one size between many hosts, all sent at 0, and when the last arrives.
struct ReferenceTraffic {
    std::string name;
    RotorNetwork network;
    std::vector<HostPair> pairs;
    Bytes size;
    double last_s;
    double share;   ///< within which remainders, drawn at random there, may move it
    double mean_s;  ///< of all messages; 0: not known
};

inline std::vector<ReferenceTraffic> reference_traffic() {
    const auto other_racks = [](auto i, auto j) { return i / 4 != j / 4; };
    const auto all = [](auto, auto) { return true; };
    const auto intra_rack = [](auto i, auto j) { return i / 4 == j / 4; };
    const auto rack_0_to_1 = [](auto i, auto j) { return i / 4 == 0 && j / 4 == 1; };
    const auto next_rack = [](auto i, auto j) { return (i + 4) % 32 == j; };
    std::vector<ReferenceTraffic> rows;
    const auto add = [&rows](const char* name, const RotorNetwork& network, auto wanted, Bytes size,
                             double last_s, double share) {
        const std::uint32_t hosts = network.schedule.racks() * network.hosts_per_rack;
        rows.push_back({name, network, pairs_where(hosts, wanted), size, last_s, share, 0});
    };
    constexpr double kAlone = 0.1;
    constexpr double kMany = 0.03;
    const RotorNetwork eight = eight_rack_network();
    rows.push_back({"to a rack met later, 1 MB", eight, {{0, 4}}, 1_MB, 289.7e-6, kAlone, 0});
    rows.push_back({"to a rack met at once, 1 MB", eight, {{0, 28}}, 1_MB, 301.8e-6, kAlone, 0});
    rows.push_back({"within the rack, 1 MB", eight, {{0, 1}}, 1_MB, 333.5e-6, kAlone, 0});
    add("all to all of other racks, 100 kB", eight, other_racks, 100_KB, 0.502e-3, kMany);
    rows.back().mean_s = 0.405e-3;
    add("all to all of other racks, 1 MB", eight, other_racks, 1_MB, 3.414e-3, kMany);
    rows.back().mean_s = 3.319e-3;
    add("all to all, 100 kB", eight, all, 100_KB, 0.638e-3, kMany);
    add("all to all, 1 MB", eight, all, 1_MB, 4.066e-3, kMany);
    // Two hops make it five times as fast as its direct circuits.
    add("rack to rack, 1 MB", eight, rack_0_to_1, 1_MB, 0.651e-3, kMany);
    add("within all racks, 1 MB", eight, intra_rack, 1_MB, 0.851e-3, kMany);
    add("permutation of racks, 10 MB", eight, next_rack, 10_MB, 2.171e-3, kMany);
    // The same racks with eps 38.7, del 1.7 us: T = 50.4 us.
    RotorNetwork slow = eight;
    slow.rate = 10_Gbps;
    slow.schedule = RotorSchedule(eight_rack_matchings(), 1, {38'700_ns, 1'700_ns, 10_us});
    add("10 Gb/s, all to all of other racks, 100 kB", slow, other_racks, 100_KB, 3.48e-3, kMany);
    add("10 Gb/s, all to all, 100 kB", slow, all, 100_KB, 4.13e-3, kMany);
    // Any matchings of 4 racks are as good: each of the 4 rotors holds one. H = 2.
    const RotorNetwork four = drawn_rotor_network(4, 4, 100_Gbps, 2);
    add("4 racks, all to all of other racks, 1 MB", four, other_racks, 1_MB, 1.778e-3, kMany);
    add("4 racks, all to all, 1 MB", four, all, 1_MB, 2.644e-3, kMany);
    add("4 racks, all to all, 10 MB", four, all, 10_MB, 26.07e-3, kMany);
    add("4 racks, within all racks, 1 MB", four, intra_rack, 1_MB, 0.940e-3, kMany);
    add("4 racks, rack to rack, 1 MB", four, rack_0_to_1, 1_MB, 0.672e-3, kMany);
    return rows;
}

/// The same for 32 racks, H = 9: 12 million packets each.
inline std::vector<ReferenceTraffic> large_reference_traffic() {
    const RotorNetwork network = drawn_rotor_network(32, 4, 100_Gbps, 9);
    const auto other_racks = [](auto i, auto j) { return i / 4 != j / 4; };
    const auto all = [](auto, auto) { return true; };
    return {{"32 racks, all to all of other racks, 1 MB", network, pairs_where(128, other_racks), 1_MB,
             13.02e-3, 0.03, 0},
            {"32 racks, all to all, 1 MB", network, pairs_where(128, all), 1_MB, 13.47e-3, 0.03, 0}};
}

}  // namespace astrolabe::network::rotor
