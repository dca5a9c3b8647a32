// SPDX-License-Identifier: GPL-2.0-only
/// Opera packet by packet against the figures of its reference simulator (rotor_reference.hpp).
#include "opera/opera_packet_backend.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_reference.hpp>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/packet_observer.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::ns3 {
namespace {

using namespace network::rotor;

constexpr std::uint32_t kHosts = 32;

TEST(OperaPackets, SingleMessagesAreExact) {
    for (const ReferenceMessage& row : reference_messages()) {
        const std::vector<Time> times =
            durations<OperaPacketBackend>(eight_rack_network(), {row.pair}, row.packets * 1436_B, row.start);
        EXPECT_EQ(times.front(), row.duration) << row.packets << " packets to " << row.pair.destination;
    }
}

TEST(OperaPackets, TrafficTakesTheTimeOfTheReference) {
    for (const ReferenceTraffic& row : reference_traffic()) {
        const std::vector<Time> times = durations<OperaPacketBackend>(row.network, row.pairs, row.size);
        const double last = last_seconds(times);
        std::printf("%s: %.1f us, reference %.1f us\n", row.name.c_str(), 1e6 * last, 1e6 * row.last_s);
        EXPECT_NEAR(last, row.last_s, row.share * row.last_s) << row.name;
    }
}

TEST(OperaPackets, SevenMessagesOfTenKilobytes) {
    // All leave in the first slot, those for rack 7 directly: the last of 7 at turn 94, 45.12 + 0.86. Of the
    // others each host of rack 7 relays 2, 2, 2 and 1 per destination, which leave at turns 0 and 54 of the
    // circuit to it. Those for rack 2 that come after 15.84 us wait a cycle. Those for rack 4 are all there
    // at 31.68 us if they go before others that fall due with them at turn 54 of the first slot, which
    // packets of the message sent first do; in the reference they did.
    const std::vector<Time> times = durations<OperaPacketBackend>(
        eight_rack_network(), {{0, 16}, {0, 4}, {0, 8}, {0, 12}, {0, 20}, {0, 24}, {0, 28}}, 10_KB);
    constexpr double kReference[] = {58.8, 90.3, 143.5, 106.2, 122.2, 74.8, 46.0};
    for (std::size_t i = 0; i < 7; ++i) {
        // Up to 3 packets of other hosts wait at the switch of rack 7 before the last, of 0.12 us each, by
        // who relays two and who one; the figures are rounded to 0.1 us.
        EXPECT_NEAR(to_seconds(times[i]), kReference[i] * 1e-6, 3 * 0.12e-6 + 0.05e-6) << i;
    }
}

/// The golden network with low-latency messages.
RotorNetwork low_latency_network(Bytes cutoff, RotorTiming timing = kEightRackTiming) {
    RotorNetwork network = eight_rack_network();
    network.schedule = RotorSchedule(eight_rack_matchings(), 1, timing);
    return with_low_latency(network, cutoff);
}

TEST(OperaPackets, MessagesBelowTheCutoffLeaveAtOnce) {
    // 1 hop to rack 7: 2 · 0.12 + 0.62 us. One that is no smaller than the cutoff waits for the circuit,
    // which is up at 0 too, so that both services take as long; 16 us later bulk waits for superslice 4 (see
    // above).
    const RotorNetwork network = low_latency_network(1437_B);
    EXPECT_EQ(durations<OperaPacketBackend>(network, {{0, 28}}, 1436_B).front(), 860_ns);
    EXPECT_EQ(durations<OperaPacketBackend>(network, {{0, 28}}, 1436_B, 16_us).front(), 860_ns);
    EXPECT_EQ(durations<OperaPacketBackend>(low_latency_network(1436_B), {{0, 28}}, 1436_B, 16_us).front(),
              48'220_ns);
    // Without payload: 64 B on two links of hosts and a circuit.
    EXPECT_EQ(durations<OperaPacketBackend>(network, {{0, 28}}, 0_B, 16_us).front(), 3 * 5'120_ps + 500_ns);
}

TEST(OperaPackets, PathsAreThoseOfTheSupersliceInWhichAPacketLeaves) {
    // Rack 4 is two hops away in superslice 0, of which the circuits last, and one in superslice 1,
    // from 15.84 us. A packet that leaves at 15.8 us has left its host at 15.92.
    const RotorNetwork network = low_latency_network(1437_B);
    EXPECT_EQ(durations<OperaPacketBackend>(network, {{0, 16}}, 1436_B, 15'800_ns).front(),
              240_ns + 2 * 620_ns);
    EXPECT_EQ(durations<OperaPacketBackend>(network, {{0, 16}}, 1436_B, 15'840_ns).front(), 240_ns + 620_ns);
}

TEST(OperaPackets, AListedClassGoesBeforeTheSize) {
    for (const ServiceCase& row : service_cases()) {
        EXPECT_EQ(durations<OperaPacketBackend>(network_of_both_services(), {{0, 16}}, row.size, 0_us,
                                                row.traffic_class),
                  std::vector{row.duration})
            << to_string(row.size) << " of class " << int{row.traffic_class};
    }
}

TEST(OperaPackets, LowLatencyGoesBeforeBulk) {
    // 109 packets fill the turns of host 0 on the circuit to rack 7; the one that a low-latency packet delays
    // by some of 0.12 us shortens a dummy, so the last is as late as without.
    const auto fabric = build_rotor_fabric(low_latency_network(1437_B));
    OperaPacketBackend backend(fabric);
    RotorTraffic bulk(backend, {{0, 28}}, 109 * 1436_B);
    RotorTraffic low_latency(backend, {{0, 1}}, 1436_B, 10_us);
    backend.run();
    EXPECT_EQ(bulk.last(), 52'700_ns);
    // Within the rack, at most behind one bulk packet: 2 · 0.12 and up to 0.12 us.
    EXPECT_LE(low_latency.last(), 360_ns);
}

/// 28 hosts of other racks send 30 packets each at once to one host: 840 on its link.
struct Incast {
    network::NetworkStatistics statistics;
    std::uint64_t returned_headers;
    Time last;
};

Incast incast(const RotorNetwork& network) {
    OperaPacketBackend backend(build_rotor_fabric(network));
    RotorTraffic traffic(backend, pairs_where(kHosts, [](auto i, auto j) { return i >= 4 && j == 0; }),
                         30 * 1436_B);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    EXPECT_GE(traffic.last(), 840 * 120_ns);
    return {backend.statistics(), backend.returned_headers(), traffic.last()};
}

TEST(OperaPackets, AnIncastOfLowLatencyIsTrimmedAndArrives) {
    // The host's port holds 8 packets.
    const Incast run = incast(low_latency_network(1_MB));
    EXPECT_GT(run.statistics.trims, 0U);
    EXPECT_GE(run.statistics.retransmissions, run.statistics.trims);
    // Where headers wait, 640 B of them go before each packet of 1500 B; and some 5 us there and back over 4
    // hops before the first comes again.
    EXPECT_LE(run.last, 840 * 120_ns * 2140 / 1500 + 5_us);
}

TEST(OperaPackets, HeadersWithoutRoomGoBackToTheirSenders) {
    // The same with a packet of data and 1500 B of headers, 23 of them, in each queue: 28 data packets meet
    // at the host's port in each 0.12 us, in which it sends 23 headers, so that their queue fills. Only a
    // header that finds no room twice is a drop.
    RotorNetwork network = low_latency_network(1_MB);
    network.low_latency.queue = 1;
    const Incast run = incast(network);
    EXPECT_GT(run.returned_headers, 0U);
    EXPECT_GE(run.statistics.trims, run.returned_headers);
}

TEST(OperaPackets, WhatACircuitLosesIsSentAgainAndCounted) {
    // Superslices of 0.2 + 0.1 + 4 us: a path of more than a hop takes 0.62 us a hop, so that its later
    // circuits have gone when packets sent near the end of a superslice get there.
    const RotorTiming timing{Time(200'000), Time(100'000), Time(4'000'000)};
    const auto fabric = build_rotor_fabric(low_latency_network(1_MB, timing));
    OperaPacketBackend backend(fabric);
    const auto pairs = pairs_where(kHosts, [](auto i, auto j) { return i / 4 != j / 4 && i % 4 == j % 4; });
    RotorTraffic traffic(backend, pairs, 20 * 1436_B);
    backend.run();
    EXPECT_EQ(traffic.delivered, pairs.size());
    const network::NetworkStatistics statistics = backend.statistics();
    EXPECT_GT(backend.packets_lost_in_the_dark(), 0U);
    EXPECT_GE(statistics.drops, backend.packets_lost_in_the_dark());
    EXPECT_GT(statistics.timeouts, 0U);
    EXPECT_GT(statistics.retransmissions, 0U);
    // The first timeout is 1 ms.
    EXPECT_GT(traffic.last(), 1_ms);
}

TEST(OperaPackets, CarriedBytesOfCircuitsAreThoseOfHosts) {
    // Direct messages alone: each crosses the host's link, its circuit, and the link down.
    RotorNetwork network = eight_rack_network();
    network.bulk.routing = BulkRouting::kDirectOnly;
    network.bulk.intra_rack = IntraRack::kDirect;
    const auto fabric = build_rotor_fabric(network);
    OperaPacketBackend backend(fabric);
    const auto pairs = pairs_where(kHosts, [](auto i, auto j) { return i / 4 != j / 4; });
    RotorTraffic traffic(backend, pairs, 20 * 1436_B);
    backend.run();
    const network::NetworkStatistics statistics = backend.statistics();
    Bytes of_hosts;
    Bytes of_circuits;
    for (network::LinkId link; link.index() < fabric->link_count(); ++link) {
        (fabric->circuits().is_circuit(link) ? of_circuits : of_hosts) += statistics.links[link].carried;
    }
    const Bytes all = static_cast<std::int64_t>(pairs.size()) * 20 * 1500_B;
    EXPECT_EQ(of_circuits, all);
    EXPECT_EQ(of_hosts, 2 * all);
    EXPECT_EQ(statistics.packets, pairs.size() * 20);
    EXPECT_EQ(statistics.packet_hops, pairs.size() * 20 * 3);
}

TEST(OperaPackets, OptionsThatMeanNothingAreRefusedByName) {
    const auto fabric = build_rotor_fabric(eight_rack_network());
    EXPECT_EQ(opera_unsupported(*fabric, {}), std::nullopt);
    PacketOptions options;
    options.transport.timeout = 2'000'000'000;
    options.transport.maxBackoff = 4;
    options.transport.retryLimit = 3;
    EXPECT_EQ(opera_unsupported(*fabric, options), std::nullopt);
    const auto refused = [&fabric](auto change) {
        PacketOptions changed;
        change(changed);
        return opera_unsupported(*fabric, changed).value_or("");
    };
    EXPECT_NE(refused([](PacketOptions& o) { o.transport.mtu = 1500; }).find("'mtu'"), std::string::npos);
    EXPECT_NE(refused([](PacketOptions& o) { o.transport.mtu = 1500; }).find("bulk.payload"),
              std::string::npos);
    EXPECT_NE(refused([](PacketOptions& o) { o.transport.window = 1'000'000; }).find("'window'"),
              std::string::npos);
    EXPECT_NE(refused([](PacketOptions& o) {
                  o.transport.Get<::ns3::PacketNdpParameters>().pullRate = 0.5;
              }).find("'ndp'"),
              std::string::npos);
    EXPECT_NE(refused([](PacketOptions& o) { o.flowlet_gap = 1_us; }).find("'flowlet_gap'"),
              std::string::npos);
    EXPECT_NE(refused([](PacketOptions& o) { o.loss_rate = 0.1; }).find("'loss_rate'"), std::string::npos);
    // Of the network: a slot too short, and no second hop to take.
    RotorNetwork network = eight_rack_network();
    network.bulk.routing = BulkRouting::kDirectOnly;
    EXPECT_NE(opera_unsupported(*build_rotor_fabric(network), {}).value_or("").find("bulk.intra_rack"),
              std::string::npos);
    network = eight_rack_network();
    network.low_latency.cutoff = 1_KB;
    EXPECT_NE(opera_unsupported(*build_rotor_fabric(network), {}).value_or("").find("paths"),
              std::string::npos);
}

/// Counts what it hears.
class Listener final : public network::PacketObserver {
public:
    void packet(const network::PacketEvent& event) override {
        ++events[static_cast<std::size_t>(event.what)];
        bytes += event.what == network::PacketEventKind::kStarted ? event.size : Bytes(0);
    }

    std::array<std::uint64_t, 6> events{};
    Bytes bytes;
};

TEST(OperaPackets, TellsOfEveryPacket) {
    OperaPacketBackend backend(build_rotor_fabric(eight_rack_network()));
    Listener listener;
    EXPECT_TRUE(backend.observe(listener));
    RotorTraffic traffic(backend, {{0, 28}}, 10 * 1436_B);
    backend.run();
    // 10 packets on a host's link, a circuit, and a link down.
    EXPECT_EQ(listener.events[static_cast<std::size_t>(network::PacketEventKind::kStarted)], 30U);
    EXPECT_EQ(listener.events[static_cast<std::size_t>(network::PacketEventKind::kArrived)], 30U);
    EXPECT_EQ(listener.bytes, 30 * 1500_B);
}

}  // namespace
}  // namespace astrolabe::ns3
