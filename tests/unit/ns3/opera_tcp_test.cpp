// SPDX-License-Identifier: GPL-2.0-only
/// TCP over rotor switches, on the eight racks of rotor_reference.hpp: 100 Gb/s, 500 ns between racks, frames
/// of 1500 B. A full segment carries 1500 - 18 - 40 = 1442 B of a stream, of which each message has 16 B of
/// its own. On a link it takes 120 ns, a request or its answer (48 B of datagram, 66 B) 5.28 ns, an
/// acknowledgement (64 B) 5.12 ns.
#include "opera/opera_tcp_network.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <failing_rotors.hpp>
#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

using namespace network::rotor;

constexpr Bytes kStream{1442};  // of a full segment
constexpr Bytes kHeader{16};

RotorNetwork direct_network() {
    RotorNetwork network = eight_rack_network();
    network.bulk.routing = BulkRouting::kDirectOnly;
    network.bulk.intra_rack = IntraRack::kDirect;
    return network;
}

/// A message that fills so many segments.
Bytes segments(std::int64_t count) {
    return kStream * count - kHeader;
}

Time time_of(const RotorNetwork& network, std::uint32_t destination, Bytes size,
             const TcpOptions& options = {}) {
    const auto backend = make_opera_tcp(build_rotor_fabric(network), options);
    RotorTraffic traffic(*backend, {{0, destination}}, size);
    backend->run();
    EXPECT_EQ(traffic.delivered, 1U);
    EXPECT_EQ(backend->statistics().drops, 0U);
    EXPECT_EQ(backend->statistics().retransmissions, 0U);
    return traffic.last();
}

/// A request and its answer, over f circuits each way.
Time handshake(std::int64_t f) {
    return 2 * ((2 + f) * 5'280_ps + f * 500_ns);
}

// Racks 1 … 7 are 4 3 1 2 2 3 1 hops from rack 0 in superslice 0, which lasts 15.84 us. The sender
// acknowledges the answer to its request, and data leaves behind that.
TEST(OperaTcp, AShortMessageOfLowLatencyTakesItsHandshakeAndItsPath) {
    const RotorNetwork network = with_low_latency(direct_network(), 1_MB);
    const auto expected = [](std::int64_t f) {
        return handshake(f) + 5'120_ps + (2 + f) * 120_ns + f * 500_ns;
    };
    EXPECT_EQ(time_of(network, 1, segments(1)), expected(0));
    EXPECT_EQ(time_of(network, 28, segments(1)), expected(1));
    EXPECT_EQ(time_of(network, 16, segments(1)), expected(2));
    EXPECT_EQ(time_of(network, 8, segments(1)), expected(3));
    EXPECT_EQ(time_of(network, 4, segments(1)), expected(4));
}

// Rack 0 meets rack 4 from 15.84 us on. The handshake is over by then, without waiting for a circuit; packets
// then leave as those of the packet engine do: number m of n falls due m/n of a slot of 52.74 us after the
// first and leaves at the last turn before, turns being 0.48 us: 0, 98 and 107 of them for the last of 1, 10
// and
// 45. The answer to a request offers 65,535 B at most, room for 45 segments.
TEST(OperaTcp, BulkWaitsForItsCircuitAndLeavesAsPacketsDo) {
    TcpOptions all_at_once;
    all_at_once.initial_window = 45;
    for (const auto& [count, duration] :
         {std::pair<std::int64_t, Time>{1, 860_ns}, {10, 47'900_ns}, {45, 52'220_ns}}) {
        EXPECT_EQ(time_of(direct_network(), 16, segments(count), all_at_once), 15'840_ns + duration) << count;
    }
    // To rack 7 the circuit of time 0 is missed by the handshake, and the next comes a cycle later.
    EXPECT_EQ(time_of(direct_network(), 28, segments(1)), 126'720_ns + 860_ns);
}

// Where all rotors change at once no path stays, and all waits: the request leaves at 0, its answer with the
// next circuit, 31.68 us later, and with that after it the acknowledgement and the data: the second of two
// packets falls due half a slot of 5.22 us after the first, and leaves at the last turn before, 5 of 0.48 us.
TEST(OperaTcp, WithoutPathsAcknowledgementsWaitForCircuitsToo) {
    RotorNetwork together = direct_network();
    together.schedule = eight_racks(4);
    EXPECT_EQ(time_of(together, 28, segments(1)), 2 * 31'680_ns + 5 * 480_ns + 860_ns);
}

// By class 7 it is low-latency, by its size bulk: two connections, neither of which waits for the other.
TEST(OperaTcp, EachServiceOfAPairHasAConnection) {
    RotorNetwork network = with_low_latency(direct_network(), 1000_B);
    network.low_latency.classes.add(7);
    const auto backend = make_opera_tcp(build_rotor_fabric(network));
    RotorTraffic bulk(*backend, {{0, 28}}, segments(1));
    RotorTraffic urgent(*backend, {{0, 28}}, segments(1), Time(0), 7);
    RotorTraffic small(*backend, {{0, 28}}, 999_B);
    backend->run();
    EXPECT_EQ(bulk.last(), 126'720_ns + 860_ns);
    EXPECT_LT(urgent.last(), 2_us);
    EXPECT_LT(small.last(), 2_us);
    EXPECT_EQ(dynamic_cast<TcpBackend&>(*backend).connections(), 2U);
    EXPECT_EQ(backend->statistics().bytes_delivered, 2 * segments(1) + 999_B);
}

struct Exchange {
    std::vector<Time> durations;
    std::uint64_t events;
    network::NetworkStatistics statistics;
    Time end;
};

Exchange exchange(const std::shared_ptr<const network::Fabric>& fabric, Bytes size) {
    const auto backend = make_opera_tcp(fabric);
    RotorTraffic traffic(*backend, all_of_other_racks(), size);
    backend->run();
    EXPECT_EQ(backend->outstanding_messages(), 0U) << backend->explain_stall();
    return {traffic.durations, backend->events_processed(), backend->statistics(), backend->now()};
}

// 32 · 28 messages with relays: all arrive, nothing is dropped, what packets of others overtake is sent
// again, no circuit carries more than while it is up, and it happens again in the same way.
TEST(OperaTcp, AnAllToAllArrivesWholeWithinWhatCircuitsCarry) {
    const RotorNetwork network = eight_rack_network();
    const auto fabric = build_rotor_fabric(network);
    const Exchange once = exchange(fabric, 8_KB);
    EXPECT_EQ(once.statistics.messages, 32U * 28);
    EXPECT_EQ(once.statistics.bytes_delivered, 32 * 28 * 8_KB);
    EXPECT_EQ(once.statistics.drops, 0U);
    // (8 kB + 16 B) / 1442 B: 6 segments a message.
    EXPECT_EQ(once.statistics.packets - once.statistics.retransmissions, 32U * 28 * 6);
    EXPECT_GT(once.statistics.retransmissions, 0U);
    // A circuit is up for 4 superslices less 10 us in 8.
    const std::int64_t cycles = once.end / 126'720_ns + 1;
    const Time up = cycles * (4 * 15'840_ns - 10_us);
    Bytes at_hosts;
    Bytes on_circuits;
    for (LinkId id; id.index() < fabric->link_count(); ++id) {
        const Bytes carried = once.statistics.links[id].carried;
        const bool is_circuit =
            fabric->node(fabric->source(id)).kind == fabric->node(fabric->target(id)).kind;
        (is_circuit ? on_circuits : at_hosts) += carried;
        EXPECT_LE(carried / 100_Gbps, is_circuit ? up : once.end) << id.index();
    }
    // All payload crosses two cables of hosts and a circuit.
    EXPECT_GT(at_hosts, 2 * once.statistics.bytes_delivered);
    EXPECT_GT(on_circuits, once.statistics.bytes_delivered);
    const Exchange again = exchange(fabric, 8_KB);
    EXPECT_EQ(again.durations, once.durations);
    EXPECT_EQ(again.events, once.events);
}

// With two hops a rotor or a cable less delays messages and loses none.
TEST(OperaTcp, BulkGoesRoundWhatFails) {
    for (const RotorFailures& failures : {failed_rotor(1), failed_cable(0, 1), failed_cable(4, 1)}) {
        const Exchange failing =
            exchange(build_rotor_fabric(failing_at(eight_rack_network(), 20_us, failures)), 2_KB);
        EXPECT_EQ(failing.statistics.messages, 32U * 28);
    }
}

// Two rotors that stay do not join all racks: without rotor 3 acknowledgements would have no path in some
// superslices. All is bulk then, though the network has paths, and nothing is lost. What waits at a rack that
// was to pass it on, and has lost its circuit there, is sent again.
TEST(OperaTcp, WithoutPathsAfterAFailureNothingIsLost) {
    RotorNetwork network = eight_rack_network();
    network.paths = std::make_shared<const ShortestSlicePaths>(network.schedule, 12, network.seed);
    const Exchange failing = exchange(build_rotor_fabric(failing_at(network, 20_us, failed_rotor(3))), 2_KB);
    EXPECT_EQ(failing.statistics.messages, 32U * 28);
    EXPECT_EQ(failing.statistics.drops, 0U);
}

// Sockets try 32 times for the rack that failed while what they sent waited, and the run ends as a stall that
// says so. Others are not held up.
TEST(OperaTcp, ARackThatFailsIsReported) {
    RotorNetwork network = eight_rack_network();
    network.bulk.intra_rack = IntraRack::kDirect;
    const auto backend = make_opera_tcp(build_rotor_fabric(failing_at(network, 5_us, failed_rack(7))));
    RotorTraffic cut_off(*backend, {{0, 28}}, segments(3));
    RotorTraffic others(*backend, {{0, 16}, {28, 29}}, segments(3));
    backend->run();
    EXPECT_EQ(cut_off.delivered, 0U);
    EXPECT_EQ(others.delivered, 2U);
    ASSERT_EQ(backend->outstanding_messages(), 1U);
    EXPECT_EQ(backend->describe_outstanding(5).front().remaining, segments(3));
    const std::string text = backend->explain_stall();
    EXPECT_NE(text.find("gave up, 1 in all"), std::string::npos) << text;
    EXPECT_NE(text.find("rack 7 is disconnected since 5us"), std::string::npos) << text;
}

// A queue of 8 full frames, 12 kB, in front of a host that four others send to at once, 10 segments each:
// TCP loses some, sends them again after min_rto, and delivers all. Marks keep DCTCP from that once it has
// heard of them.
TEST(OperaTcp, ShortQueuesDropLowLatencySegmentsAndTcpSendsThemAgain) {
    const RotorNetwork network = with_low_latency(eight_rack_network(), 1_MB);
    const auto incast = [&](const TcpOptions& options) {
        const auto backend = make_opera_tcp(build_rotor_fabric(network), options);
        RotorTraffic traffic(*backend, {{0, 28}, {4, 28}, {8, 28}, {16, 28}}, segments(40));
        backend->run();
        EXPECT_EQ(traffic.delivered, 4U);
        return backend->statistics();
    };
    const network::NetworkStatistics lossy = incast({});
    EXPECT_GT(lossy.drops, 0U);
    EXPECT_GE(lossy.retransmissions, lossy.drops / 2) << "acknowledgements are dropped too";
    EXPECT_LE(lossy.queue_peak, 12'000_B);
    EXPECT_EQ(lossy.ecn_marks, 0U);
    TcpOptions dctcp;
    dctcp.variant = TcpVariant::kDctcp;
    dctcp.ecn_threshold = 4500_B;
    dctcp.initial_window = 2;
    const network::NetworkStatistics marked = incast(dctcp);
    EXPECT_GT(marked.ecn_marks, 0U);
    EXPECT_LT(marked.drops, lossy.drops);
}

TEST(OperaTcp, WhatMeansNothingOnRotorsIsRefusedWithTheReason) {
    const auto fabric = build_rotor_fabric(with_low_latency(eight_rack_network(), 1_MB));
    const auto reason = [&](const TcpOptions& options) {
        return opera_tcp_unsupported(*fabric, options).value_or("");
    };
    EXPECT_EQ(reason({}), "");
    TcpOptions jumbo;
    jumbo.mtu = 9000_B;
    EXPECT_NE(reason(jumbo).find("'mtu' has no meaning"), std::string::npos);
    TcpOptions shared;
    shared.buffer_sharing = BufferSharing::kShared;
    EXPECT_NE(reason(shared).find("low_latency.queue"), std::string::npos);
    TcpOptions queue;
    queue.attributes = {{"ns3::FabricHostQueue::HeadersFirst", "false"}};
    EXPECT_NE(reason(queue).find("HeadersFirst"), std::string::npos);
    // Those of rotor switches mean something here alone.
    TcpOptions lost;
    lost.attributes = {{"ns3::OperaFabric::Reroute", "false"}};
    EXPECT_EQ(attribute_problem("ns3::OperaFabric::Reroute", "false"), std::nullopt);
    EXPECT_NE(attribute_problem("ns3::OperaClassifier::Cutoff", "5").value_or("").find("low_latency.cutoff"),
              std::string::npos);
    EXPECT_EQ(reason(lost), "");
    EXPECT_NE(unsupported(*star(2), lost).value_or("").find("without rotor switches"), std::string::npos);
    // 8 packets of 1500 B are 12 kB; 97.5 kB never wait.
    TcpOptions dctcp;
    dctcp.variant = TcpVariant::kDctcp;
    EXPECT_NE(reason(dctcp).find("room for 12KB"), std::string::npos) << reason(dctcp);
    dctcp.ecn_threshold = 10'500_B;
    EXPECT_EQ(reason(dctcp), "");

    RotorNetwork small = eight_rack_network();
    small.bulk.payload = 436_B;
    EXPECT_NE(opera_tcp_unsupported(*build_rotor_fabric(small), {})->find("mtu: 482B is not between"),
              std::string::npos);
    RotorNetwork slow = eight_rack_network();
    slow.schedule = RotorSchedule(eight_rack_matchings(), 1, {1_s, 620_ns, 10_us});
    slow.rate = Bandwidth(1'000'000'000);
    EXPECT_NE(opera_tcp_unsupported(*build_rotor_fabric(slow), {}).value_or("").find("timers of TCP"),
              std::string::npos);
}

}  // namespace
}  // namespace astrolabe::ns3
