// SPDX-License-Identifier: GPL-2.0-only
/// Opera packet by packet against the figures of its reference simulator for eight racks of four hosts at
/// 100 Gb/s (opera, section 10). A packet takes 0.12 us on a link, 0.5 us between racks, so 0.86 us in all; a
/// superslice 15.84 us, a cycle 126.72 us, a slot 52.74 us, in which a host sends 109 packets on a circuit,
/// at most one per turn of 4 · 0.12 us. Rack 0 meets rack 7 in superslice 0, 4 in 1, 1 in 2, 5 in 3, 2 in 4.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>
#include <rotor_traffic.hpp>

#include <astrolabe/core/units.hpp>
#include <astrolabe/ns3/opera_packet_backend.hpp>

namespace astrolabe::ns3 {
namespace {

using namespace network::opera;

constexpr std::uint32_t kHosts = 32;

std::vector<Time> durations(const RotorNetwork& network, const std::vector<HostPair>& pairs, Bytes size,
                            Time start = Time(0)) {
    OperaPacketBackend backend(build_rotor_fabric(network));
    RotorTraffic traffic(backend, pairs, size, start);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    return traffic.durations;
}

Time one(std::uint32_t source, std::uint32_t destination, Bytes size, Time start = Time(0)) {
    return durations(eight_rack_network(), {{source, destination}}, size, start).front();
}

TEST(OperaPackets, SinglePacketsAreExact) {
    EXPECT_EQ(one(0, 28, 1436_B), 860_ns);
    // Through rack 7, which meets rack 4 in superslice 2: 31.68 + 0.86.
    EXPECT_EQ(one(0, 16, 1436_B), 32'540_ns);
    // Through rack 1 in superslice 2, which meets rack 7 in superslice 4: 63.36 + 0.86 - 16.
    EXPECT_EQ(one(0, 28, 1436_B, 16_us), 48'220_ns);
}

TEST(OperaPackets, PacketsOfOneMessageAreSpreadOverTheSlot) {
    // The last of 10 falls due 9/10 of 52.74 us after the installation: 98 turns of 0.48 us, and 0.86.
    EXPECT_EQ(one(0, 28, 10 * 1436_B), 47'900_ns);
    // The last of 109: turn 108.
    EXPECT_EQ(one(0, 28, 109 * 1436_B), 52'700_ns);
}

TEST(OperaPackets, MessagesOfOneMegabyte) {
    EXPECT_NEAR(to_seconds(one(0, 4, 1_MB)), 289.7e-6, 0.1 * 289.7e-6);
    EXPECT_NEAR(to_seconds(one(0, 28, 1_MB)), 301.8e-6, 0.1 * 301.8e-6);
    EXPECT_NEAR(to_seconds(one(0, 1, 1_MB)), 333.5e-6, 0.1 * 333.5e-6);
}

TEST(OperaPackets, SevenMessagesOfTenKilobytes) {
    // All leave in the first slot, those for rack 7 directly: the last of 7 at turn 94, 45.12 + 0.86. Of the
    // others each host of rack 7 relays 2, 2, 2 and 1 per destination, which leave at turns 0 and 54 of the
    // circuit to it. Those for rack 2 that come after 15.84 us wait a cycle. Those for rack 4 are all there
    // at 31.68 us if they go before others that fall due with them at turn 54 of the first slot, which
    // packets of the message sent first do; in the reference they did.
    const std::vector<Time> times =
        durations(eight_rack_network(), {{0, 16}, {0, 4}, {0, 8}, {0, 12}, {0, 20}, {0, 24}, {0, 28}}, 10_KB);
    constexpr double kReference[] = {58.8, 90.3, 143.5, 106.2, 122.2, 74.8, 46.0};
    for (std::size_t i = 0; i < 7; ++i) {
        // Up to 3 packets of other hosts wait at the switch of rack 7 before the last, of 0.12 us each, by
        // who relays two and who one; the figures are rounded to 0.1 us.
        EXPECT_NEAR(to_seconds(times[i]), kReference[i] * 1e-6, 3 * 0.12e-6 + 0.05e-6) << i;
    }
}

TEST(OperaPackets, AllToAll) {
    const auto other_racks = pairs_where(kHosts, [](auto i, auto j) { return i / 4 != j / 4; });
    const auto all = pairs_where(kHosts, [](auto, auto) { return true; });
    struct Row {
        const std::vector<HostPair>& pairs;
        Bytes size;
        double last;
    };
    for (const Row& row : {Row{other_racks, 100_KB, 0.502e-3}, Row{other_racks, 1_MB, 3.414e-3},
                           Row{all, 100_KB, 0.638e-3}, Row{all, 1_MB, 4.066e-3}}) {
        const std::vector<Time> times = durations(eight_rack_network(), row.pairs, row.size);
        const double last = to_seconds(*std::max_element(times.begin(), times.end()));
        EXPECT_NEAR(last, row.last, 0.03 * row.last);
    }
}

TEST(OperaPackets, RacksAndPermutations) {
    const auto last = [](const std::vector<HostPair>& pairs, Bytes size) {
        const std::vector<Time> times = durations(eight_rack_network(), pairs, size);
        return to_seconds(*std::max_element(times.begin(), times.end()));
    };
    EXPECT_NEAR(last(pairs_where(kHosts, [](auto i, auto j) { return i / 4 == 0 && j / 4 == 1; }), 1_MB),
                0.651e-3, 0.03 * 0.651e-3);
    EXPECT_NEAR(last(pairs_where(kHosts, [](auto i, auto j) { return i / 4 == j / 4; }), 1_MB), 0.851e-3,
                0.03 * 0.851e-3);
    EXPECT_NEAR(last(pairs_where(kHosts, [](auto i, auto j) { return (i + 4) % 32 == j; }), 10_MB), 2.171e-3,
                0.03 * 2.171e-3);
}

TEST(OperaPackets, TenGigabits) {
    // The same racks with eps 38.7, del 1.7 us: T = 50.4 us.
    RotorNetwork network = eight_rack_network();
    network.rate = 10_Gbps;
    network.schedule = RotorSchedule(eight_rack_matchings(), 1, {38'700_ns, 1'700_ns, 10_us});
    const auto last = [&network](const std::vector<HostPair>& pairs) {
        const std::vector<Time> times = durations(network, pairs, 100_KB);
        return to_seconds(*std::max_element(times.begin(), times.end()));
    };
    EXPECT_NEAR(last(pairs_where(kHosts, [](auto i, auto j) { return i / 4 != j / 4; })), 3.48e-3,
                0.03 * 3.48e-3);
    EXPECT_NEAR(last(pairs_where(kHosts, [](auto, auto) { return true; })), 4.13e-3, 0.03 * 4.13e-3);
}

}  // namespace
}  // namespace astrolabe::ns3
