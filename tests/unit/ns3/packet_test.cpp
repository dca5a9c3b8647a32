// SPDX-License-Identifier: GPL-2.0-only
/// The packet engine against arithmetic: 100 Gb/s, so a byte takes 80 ps; a full packet of 4096 + 82 B takes
/// 334 240 ps, an acknowledgement of 84 B 6 720 ps; 500 ns a link.
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/torus.hpp"
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::ns3 {
namespace {

constexpr Time kFull = 334'240_ps;
constexpr Time kAck = 6'720_ps;
constexpr Time kLatency = 500_ns;

std::vector<Time> times_of(std::shared_ptr<const network::Fabric> fabric, const PacketOptions& options,
                           const std::vector<std::pair<int, int>>& pairs, Bytes size) {
    PacketBackend backend(std::move(fabric), options);
    Recorder recorder(backend);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        recorder.send(pairs[i].first, pairs[i].second, size, i);
    }
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    std::vector<Time> times(pairs.size());
    for (std::size_t i = 0; i < recorder.tokens.size(); ++i) {
        times[recorder.tokens[i]] = recorder.times[i];
    }
    return times;
}

// 4096 packets one behind the other, the last once more over the second link.
TEST(PacketTiming, ALoneMessageIsStoredAndForwarded) {
    EXPECT_EQ(times_of(star(2), {}, {{0, 1}}, 16_MiB).front(), 4097 * kFull + 2 * kLatency);
}

// 1 B more than two packets: 4178, 4178 and 83 B. The switch sends the short one when the second is out.
TEST(PacketTiming, TheLastPacketIsAsShortAsItsPayload) {
    EXPECT_EQ(times_of(star(2), {}, {{0, 1}}, 8193_B).front(), 3 * kFull + 83 * 80_ps + 2 * kLatency);
}

TEST(PacketTiming, AnEmptyMessageIsAHeader) {
    EXPECT_EQ(times_of(star(2), {}, {{0, 1}}, 0_B).front(), 2 * (82 * 80_ps + kLatency));
}

// The switch sends a packet on when its header of 82 B is there: 6.56 ns instead of 334.24 a switch.
TEST(PacketTiming, CutThroughPaysForTheHeaderOnly) {
    PacketOptions options;
    options.ports.switching = ::ns3::PacketSwitching::CUT_THROUGH;
    EXPECT_EQ(times_of(star(2), options, {{0, 1}}, 16_MiB).front(), 4096 * kFull + 82 * 80_ps + 2 * kLatency);
    // An incast waits in the switch either way.
    const std::vector<Time> times = times_of(star(3), options, {{1, 0}, {2, 0}}, 1_MiB);
    EXPECT_EQ(std::max(times[0], times[1]), 512 * kFull + 82 * 80_ps + 2 * kLatency);
}

// On links of no length headers arrive while the packet is still leaving, so ports wake themselves.
TEST(PacketTiming, CutThroughWorksOnLinksShorterThanPackets) {
    PacketOptions options;
    options.ports.switching = ::ns3::PacketSwitching::CUT_THROUGH;
    const auto fabric = star(2, Bytes(0), {100_Gbps, Time(0), Bytes(0)});
    EXPECT_EQ(times_of(fabric, options, {{0, 1}}, 1_MiB).front(), 256 * kFull + 82 * 80_ps);
}

// From 100 Gb/s to 400 Gb/s: the fast link is busy until the last bit has come in over the slow one.
TEST(PacketTiming, CutThroughWaitsForASlowerLink) {
    PacketOptions options;
    options.ports.switching = ::ns3::PacketSwitching::CUT_THROUGH;
    network::FabricBuilder builder("two rates");
    builder.add_host("slow");
    builder.add_host("fast");
    const NodeId center = builder.add_switch("switch");
    builder.connect(NodeId(0), center, {100_Gbps, 500_ns, Bytes(0)});
    builder.connect(NodeId(1), center, {400_Gbps, 500_ns, Bytes(0)});
    const std::shared_ptr<const network::Fabric> fabric = std::move(builder).build();
    EXPECT_EQ(times_of(fabric, options, {{0, 1}}, 1_MiB).front(), 256 * kFull + 2 * kLatency);
    // The other way the slow link sets the pace from the first header on: 82 B at 400 Gb/s are 1.64 ns.
    EXPECT_EQ(times_of(fabric, options, {{1, 0}}, 1_MiB).front(), 256 * kFull + 1640_ps + 2 * kLatency);
}

// A packet at a time: each next one leaves when the acknowledgement of the one before is back.
TEST(PacketTiming, AWindowOfOnePacketWaitsForEveryAcknowledgement) {
    PacketOptions options;
    options.transport.window = 4096;
    const Time there = 2 * (kFull + kLatency);
    const Time back = 2 * (kAck + kLatency);
    EXPECT_EQ(times_of(star(2), options, {{0, 1}}, 10 * 4096_B).front(), 10 * there + 9 * back);
}

// Rates that do not divide the bits of a packet are rounded up, never down: 4178 B at 7 Gb/s are
// 4 774 857.14… ps.
TEST(PacketTiming, ALinkNeverCarriesMoreThanItsRate) {
    const auto fabric = star(2, Bytes(0), {7_Gbps, 500_ns, Bytes(0)});
    EXPECT_EQ(times_of(fabric, {}, {{0, 1}}, 40'960_B).front(), 11 * 4'774'858_ps + 2 * kLatency);
}

// Eight senders, one receiver: the port to it never pauses once the first packet is there, so the last byte
// comes at kFull + 8n·kFull + 2 latencies. Acknowledgements let senders go on 16 packets at a time, so they
// take turns by 16 packets, and each is done within the last turn of all.
TEST(PacketTiming, IncastIsWorkConservingAndFair) {
    std::vector<std::pair<int, int>> pairs;
    for (int sender = 1; sender <= 8; ++sender) {
        pairs.emplace_back(sender, 0);
    }
    const std::vector<Time> times = times_of(star(9), {}, pairs, 1_MiB);
    const Time last = *std::max_element(times.begin(), times.end());
    EXPECT_EQ(last, (1 + 8 * 256) * kFull + 2 * kLatency);
    for (const Time time : times) {
        EXPECT_GT(time, last - 8 * 16 * kFull);
    }
}

// Two messages of one host share its link packet by packet. The first packet leaves, and its queue pair is in
// line again, before the second message comes: turns are 0 0 1 0 1 0 1 …, so the first message has the slots
// 0, 1, 3, …, 509 and ends with slot 509, the second with slot 511; then the second link.
TEST(PacketTiming, QueuePairsOfAHostTakeTurns) {
    const std::vector<Time> times = times_of(star(3), {}, {{0, 1}, {0, 2}}, 1_MiB);
    EXPECT_EQ(times[0], (510 + 1) * kFull + 2 * kLatency);
    EXPECT_EQ(times[1], (512 + 1) * kFull + 2 * kLatency);
}

// On a ring of 5, host 0 sends to 2 over host 1, and 1 to 2: the link 1 → 2 alternates, so host 1 is done
// after about twice its own packets and nobody starves.
TEST(PacketTiming, HostsForwardBesideWhatTheySend) {
    network::TorusParameters torus;
    torus.sizes = {5};
    torus.link = {.rate = {100_Gbps}, .latency = {500_ns}};
    const std::vector<Time> times = times_of(build_torus(torus), {}, {{0, 2}, {1, 2}}, 1_MiB);
    EXPECT_NEAR(to_seconds(times[1]), to_seconds(512 * kFull), to_seconds(6 * kFull));
    EXPECT_NEAR(to_seconds(times[0]), to_seconds(513 * kFull + 2 * kLatency), to_seconds(6 * kFull));
}

TEST(PacketStatistics, CountEveryPacketAndHop) {
    const auto fabric = star(3);
    PacketBackend backend(fabric, {});
    Recorder recorder(backend);
    recorder.send(0, 1, 10 * 4096_B);
    recorder.send(2, 1, 4096_B);
    backend.run();
    const network::NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(statistics.packets, 11U);
    EXPECT_EQ(statistics.packet_hops, 22U);
    EXPECT_EQ(statistics.bytes_delivered, 11 * 4096_B);
    EXPECT_EQ(statistics.links[LinkId(0)].carried, 10 * 4178_B);
    EXPECT_EQ(statistics.links[*fabric->link(LinkId(1)).reverse].carried, 11 * 4178_B);
    EXPECT_EQ(statistics.drops, 0U);
}

/// A port's share of so little memory rounds down to nothing, which must not pass for no limit.
TEST(PacketRefusal, APortNeedsRoomForAPacket) {
    network::FatTreeParameters tree;
    tree.k = 4;  // every switch has 4 ports; a packet is 4096 + 82 B
    const auto refused = [&tree](Bytes memory, ::ns3::PacketBuffers sharing) {
        tree.switch_buffer = memory;
        PacketOptions options;
        options.ports.bufferSharing = sharing;
        return unsupported(*build_fat_tree(tree), options).has_value();
    };
    EXPECT_TRUE(refused(3_B, ::ns3::PacketBuffers::PER_PORT));
    EXPECT_TRUE(refused(4 * 4178_B - 1_B, ::ns3::PacketBuffers::PER_PORT));
    EXPECT_FALSE(refused(4 * 4178_B, ::ns3::PacketBuffers::PER_PORT));
    EXPECT_TRUE(refused(4177_B, ::ns3::PacketBuffers::SHARED));
    EXPECT_FALSE(refused(4178_B, ::ns3::PacketBuffers::SHARED));
    EXPECT_FALSE(refused(0_B, ::ns3::PacketBuffers::PER_PORT));
}

// Of 100 packets one gets through a link, so of 10 000 over both, and the only one of this message is sent
// twice.
TEST(PacketStall, NamesTheConnectionsThatGaveUp) {
    PacketOptions options;
    options.loss_rate = 0.99;
    options.transport.retryLimit = 1;
    PacketBackend backend(star(2), options);
    Recorder recorder(backend);
    recorder.send(0, 1, 4096_B);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    EXPECT_EQ(backend.explain_stall(),
              "these connections had more than 1 timeouts in a row (retry_limit) and gave up, 1 in all:\n"
              "  host 0 -> host 1");
}

struct LossCase {
    ::ns3::PacketBuffers sharing;
    bool sprays;
};

class PacketLoss : public testing::TestWithParam<LossCase> {};

// Eight windows of 122 packets into a port with room for 60 kB: most is lost at first, and every message
// arrives once, in order, whatever it takes.
TEST_P(PacketLoss, ScarceMemoryDropsPacketsAndNoMessage) {
    network::FatTreeParameters tree;
    tree.k = 4;
    tree.switch_buffer = 240'000_B;
    tree.load_balancing =
        GetParam().sprays ? network::LoadBalancing::kSpray : network::LoadBalancing::kFlowHash;
    PacketOptions options;
    options.ports.bufferSharing = GetParam().sharing;
    options.transport.timeout = 1'000'000'000;
    PacketBackend backend(build_fat_tree(tree), options);
    Recorder recorder(backend);
    constexpr int kSenders = 8;
    constexpr int kMessages = 5;
    for (int message = 0; message < kMessages; ++message) {
        for (int sender = 1; sender <= kSenders; ++sender) {
            recorder.send(sender, 0, 300'000_B, static_cast<std::uint64_t>(sender * kMessages + message));
        }
    }
    backend.run();
    const network::NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    EXPECT_EQ(statistics.bytes_delivered, kSenders * kMessages * 300'000_B);
    EXPECT_GT(statistics.drops, 0U);
    EXPECT_GE(statistics.retransmissions, 1U);
    EXPECT_LE(statistics.queue_peak, 240'000_B);
    std::vector<std::uint64_t> next(kSenders + 1, 0);
    ASSERT_EQ(recorder.tokens.size(), static_cast<std::size_t>(kSenders * kMessages));
    for (const std::uint64_t token : recorder.tokens) {
        EXPECT_EQ(token % kMessages, next[token / kMessages]++) << "messages of a pair arrive in order";
    }
}

INSTANTIATE_TEST_SUITE_P(All, PacketLoss,
                         testing::Values(LossCase{::ns3::PacketBuffers::PER_PORT, false},
                                         LossCase{::ns3::PacketBuffers::SHARED, false},
                                         LossCase{::ns3::PacketBuffers::SHARED, true}),
                         [](const auto& loss) {
                             return std::string(loss.param.sharing == ::ns3::PacketBuffers::SHARED
                                                    ? "Shared"
                                                    : "PerPort") +
                                    (loss.param.sprays ? "Sprayed" : "ByFlow");
                         });

// Four paths between hosts of different pods of a k = 4 tree; two flows that share a path by hash take twice
// as long as when every packet goes its own way.
TEST(PacketSpraying, SpreadsAFlowOverAllPaths) {
    network::FatTreeParameters tree;
    tree.k = 4;
    tree.load_balancing = network::LoadBalancing::kSpray;
    std::vector<std::pair<int, int>> pairs;
    for (int host = 0; host < 4; ++host) {
        pairs.emplace_back(host, host + 4);
    }
    const std::vector<Time> times = times_of(build_fat_tree(tree), {}, pairs, 4_MiB);
    // 1024 packets over each host link; random choice leaves some queueing, but no path carries two flows.
    for (const Time time : times) {
        EXPECT_GE(time, 1024 * kFull + 5 * kFull + 6 * kLatency);
        EXPECT_LT(to_seconds(time), 1.15 * to_seconds(1024 * kFull));
    }
}

PacketOptions dctcp() {
    PacketOptions options;
    options.transport.congestionControl = &::ns3::PacketDctcp::KIND;
    options.ports.ecnThreshold = 100'000;
    return options;
}

// A lone flow never waits, so it is never marked and never slowed: a window of 16 packets is 67 kB where the
// path holds 25 kB.
TEST(PacketDctcp, ALoneFlowIsNotSlowed) {
    EXPECT_EQ(times_of(star(2), dctcp(), {{0, 1}}, 16_MiB).front(), 4097 * kFull + 2 * kLatency);
}

// n flows of one size that start together and share one port fairly end together, and until then each has
// 1/n of it: Jain's index of what they got is (Σ t)² / (n Σ t²) of their times. The port never idles.
TEST(PacketDctcp, FlowsShareAPortFairlyAndKeepItBusy) {
    constexpr int kFlows = 8;
    std::vector<std::pair<int, int>> pairs;
    for (int sender = 1; sender <= kFlows; ++sender) {
        pairs.emplace_back(sender, 0);
    }
    const std::vector<Time> times = times_of(star(kFlows + 1), dctcp(), pairs, 16_MiB);
    double sum = 0;
    double squares = 0;
    for (const Time time : times) {
        sum += to_seconds(time);
        squares += to_seconds(time) * to_seconds(time);
    }
    EXPECT_GE(sum * sum / (kFlows * squares), 0.95);
    const Time last = *std::max_element(times.begin(), times.end());
    const Time least = (1 + kFlows * 4096) * kFull + 2 * kLatency;
    EXPECT_GE(last, least);
    EXPECT_LT(to_seconds(last), 1.02 * to_seconds(least));
}

// What DCTCP is for: the queue stays near the threshold instead of holding eight windows of 500 kB, and a
// memory that would be too small for those loses nothing. All eight start with 16 packets, 535 kB in all.
TEST(PacketDctcp, KeepsQueuesShort) {
    const auto peak_of = [](const PacketOptions& options) {
        const auto fabric = star(9);
        PacketBackend backend(fabric, options);
        Recorder recorder(backend);
        for (int sender = 1; sender <= 8; ++sender) {
            recorder.send(sender, 0, 8_MiB);
        }
        backend.run();
        return backend.statistics();
    };
    const network::NetworkStatistics fixed = peak_of({});
    const network::NetworkStatistics marked = peak_of(dctcp());
    EXPECT_EQ(fixed.ecn_marks, 0U);
    EXPECT_GT(fixed.queue_peak, 3'000'000_B);
    EXPECT_GT(marked.ecn_marks, 0U);
    EXPECT_LT(marked.queue_peak, 1'200'000_B);
    EXPECT_EQ(marked.drops, 0U);
}

// Whatever is sent, with whatever window, memory, flow control and classes: every message arrives once, those
// of a pair and class in order, none faster than its bytes and its path allow, and no link carries more than
// its rate.
RC_GTEST_PROP(PacketProperty, EveryMessageArrivesOnceInOrderAndNotTooSoon, ()) {
    const auto pick = [](auto low, auto end) {
        return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<decltype(low)>(low, end));
    };
    const int hosts = pick(2, 8);
    PacketOptions options;
    options.transport.mtu = static_cast<std::uint32_t>(pick(64, 5000));
    options.transport.window = static_cast<std::uint32_t>(pick(1, 100'000));
    options.transport.ackEvery = static_cast<std::uint32_t>(pick(1, 40));
    options.transport.timeout = 200'000'000;
    options.transport.congestionControl =
        pick(0, 2) == 0 ? &::ns3::PacketFixedWindow::KIND : &::ns3::PacketDctcp::KIND;
    options.ports.ecnThreshold = static_cast<std::uint64_t>(pick(0, 50'000));
    options.transport.Get<::ns3::PacketDctcpParameters>().initialWindow =
        static_cast<std::uint32_t>(pick(1, 30));
    options.ports.switching =
        pick(0, 2) == 0 ? ::ns3::PacketSwitching::STORE_AND_FORWARD : ::ns3::PacketSwitching::CUT_THROUGH;
    options.ports.bufferSharing = static_cast<::ns3::PacketBuffers>(pick(0, 3));
    options.ports.flowControl = static_cast<::ns3::PacketFlowControlKind>(pick(0, 3));
    options.ports.creditRoom = static_cast<std::uint64_t>(options.largest_packet().count() + pick(0, 30'000));
    options.ports.trafficClasses = static_cast<std::uint32_t>(pick(1, 9));
    options.ports.service = static_cast<::ns3::PacketService>(pick(0, 2));
    if (options.ports.service == ::ns3::PacketService::WEIGHTED) {
        for (std::uint32_t i = 0; i < options.ports.trafficClasses; ++i) {
            options.weights.push_back(static_cast<std::uint32_t>(pick(1, 20)));
        }
    }
    options.loss_rate = pick(0, 4) == 0 ? 0.01 : 0;
    // Pauses need room for both latencies, three packets and eight frames of each link and class: 28 418 B.
    const bool pauses = options.ports.flowControl == ::ns3::PacketFlowControlKind::PFC;
    const std::int64_t least = pauses ? 28'419 * options.ports.trafficClasses : 5082;
    // Credits grant memory to each link and class.
    const std::int64_t granted =
        options.ports.flowControl == ::ns3::PacketFlowControlKind::CREDIT
            ? options.ports.trafficClasses * static_cast<std::int64_t>(options.ports.creditRoom)
            : 0;
    const Bytes memory =
        Bytes((pauses ? 1 : pick(0, 2)) * (hosts * std::max(least, granted) + pick(0, 200'000)));
    const auto fabric = star(hosts, memory);
    PacketBackend backend(fabric, options);
    Recorder recorder(backend);
    struct Sent {
        int source;
        int destination;
        Bytes size;
        std::uint8_t traffic_class;
    };
    std::vector<Sent> sent;
    const int messages = pick(1, 40);
    Bytes sum;
    for (int i = 0; i < messages; ++i) {
        const int source = pick(0, hosts);
        const int destination = (source + pick(1, hosts)) % hosts;
        const auto traffic_class = static_cast<std::uint8_t>(pick(0, 8));
        sent.push_back({source, destination, Bytes(pick(0, 60'000)), traffic_class});
        sum += sent.back().size;
        backend.send({HostId(source), HostId(destination), sent.back().size, &recorder,
                      static_cast<std::uint64_t>(i), traffic_class});
    }
    backend.run();
    if (options.ports.flowControl != ::ns3::PacketFlowControlKind::NONE && options.loss_rate == 0) {
        RC_ASSERT(backend.statistics().drops == 0U);
    }
    RC_ASSERT(backend.outstanding_messages() == 0U);
    RC_ASSERT(recorder.tokens.size() == sent.size());
    RC_ASSERT(backend.statistics().bytes_delivered == sum);
    std::vector<std::uint64_t> latest(static_cast<std::size_t>(hosts * hosts * 8), 0);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const std::uint64_t token = recorder.tokens[i];
        const Sent& message = sent[token];
        RC_ASSERT(recorder.times[i] >= message.size / 100_Gbps + 2 * kLatency);
        const int pair = message.source * hosts + message.destination;
        std::uint64_t& last = latest[static_cast<std::size_t>(pair * 8 + message.traffic_class)];
        RC_ASSERT(last <= token);
        last = token;
    }
    for (const network::LinkStatistics& link : backend.statistics().links) {
        RC_ASSERT(link.carried / 100_Gbps <= backend.now());
    }
}

}  // namespace
}  // namespace astrolabe::ns3
