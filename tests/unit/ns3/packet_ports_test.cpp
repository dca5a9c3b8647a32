// SPDX-License-Identifier: GPL-2.0-only
/// Ports of the packet engine: traffic classes, pauses, credits, memory and what they count, against
/// arithmetic. 100 Gb/s and 500 ns a link; a full packet of 4096 + 82 B takes 334 240 ps.
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/torus.hpp"
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

constexpr Bytes kPacket = 4178_B;
constexpr Time kFull = 334'240_ps;
constexpr Time kLatency = 500_ns;

struct Flow {
    int source;
    int destination;
    Bytes size;
    std::uint8_t traffic_class = 0;
};

struct Outcome {
    std::vector<Time> times;  // of the flows
    network::NetworkStatistics statistics;
};

Outcome run(const std::shared_ptr<const network::Fabric>& fabric, const PacketOptions& options,
            const std::vector<Flow>& flows) {
    PacketBackend backend(fabric, options);
    Recorder recorder(backend);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        backend.send({HostId(flows[i].source), HostId(flows[i].destination), flows[i].size, &recorder, i,
                      flows[i].traffic_class});
    }
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    Outcome outcome;
    outcome.times.resize(flows.size());
    for (std::size_t i = 0; i < recorder.tokens.size(); ++i) {
        outcome.times[recorder.tokens[i]] = recorder.times[i];
    }
    outcome.statistics = backend.statistics();
    return outcome;
}

std::vector<Flow> incast(int senders, Bytes size) {
    std::vector<Flow> flows;
    for (int sender = 1; sender <= senders; ++sender) {
        flows.push_back({sender, 0, size});
    }
    return flows;
}

PacketOptions pfc() {
    PacketOptions options;
    options.ports.flowControl = ::ns3::PacketFlowControlKind::PFC;
    return options;
}

// What comes until a pause takes effect: the packet that is one too many, the one the frame waits for and the
// one just begun 3 · 4178 B, both latencies 1 us · 12.5 GB/s = 12 500 B, a frame for each class 84 B.
constexpr Bytes kHeadroom = 25'118_B;

// Room for the headroom and three packets of each of nine links: the last byte of eight senders comes as
// early as without pauses, nothing is dropped, and the switch never holds more than the room of eight links.
TEST(PacketPauses, AnIncastLosesNothingAndKeepsThePortBusy) {
    const Bytes room = kHeadroom + 3 * kPacket;
    const Outcome outcome = run(star(9, 9 * room), pfc(), incast(8, 1_MiB));
    EXPECT_EQ(*std::max_element(outcome.times.begin(), outcome.times.end()),
              (1 + 8 * 256) * kFull + 2 * kLatency);
    EXPECT_EQ(outcome.statistics.drops, 0U);
    EXPECT_EQ(outcome.statistics.retransmissions, 0U);
    EXPECT_GT(outcome.statistics.pauses, 8U);
    EXPECT_LE(outcome.statistics.queue_peak, 8 * room);
}

// The headroom is tight: where a switch has one byte above it, that is enough; the same memory split over the
// ports that send loses packets without pauses.
TEST(PacketPauses, AByteAboveTheHeadroomIsEnough) {
    const auto fabric = star(9, 9 * (kHeadroom + 1_B));
    const Outcome paused = run(fabric, pfc(), incast(8, 1_MiB));
    EXPECT_EQ(paused.statistics.drops, 0U);
    EXPECT_LE(paused.statistics.queue_peak, 8 * (kHeadroom + 1_B));
    const Outcome dropping = run(fabric, {}, incast(8, 1_MiB));
    EXPECT_GT(dropping.statistics.drops, 0U);
    EXPECT_EQ(dropping.statistics.bytes_delivered, 8_MiB);
}

TEST(PacketPauses, ASwitchWithoutHeadroomIsRefused) {
    EXPECT_FALSE(unsupported(*star(9, 9 * (kHeadroom + 1_B)), pfc()).has_value());
    EXPECT_TRUE(unsupported(*star(9, 9 * kHeadroom), pfc()).has_value());
    EXPECT_TRUE(unsupported(*star(9), pfc()).has_value()) << "nothing says when to pause";
    PacketOptions options = pfc();
    options.ports.pauseThreshold = 50'000;
    EXPECT_FALSE(unsupported(*star(9), options).has_value());
    EXPECT_FALSE(unsupported(*star(9, 9 * (kHeadroom + 50'000_B)), options).has_value());
    EXPECT_TRUE(unsupported(*star(9, 9 * (kHeadroom + 49'999_B)), options).has_value());
}

// Host 1 sends to the congested host 0 and to host 4, to which nobody else sends. In one class the pauses
// meant for the former hold up the latter; in a class of its own it has what the former leaves.
TEST(PacketPauses, HoldUpTheirOwnClassOnly) {
    const Bytes room = kHeadroom + 84_B + 3 * kPacket;
    const auto victim = [&room](std::uint8_t traffic_class) {
        PacketOptions options = pfc();
        options.ports.trafficClasses = 2;
        std::vector<Flow> flows = incast(3, 4_MiB);
        flows.push_back({1, 4, 1_MiB, traffic_class});
        return run(star(5, 5 * 2 * room), options, flows).times.back();
    };
    // The better class goes first at the host and meets nobody: 256 packets and one that had begun.
    EXPECT_LE(victim(1), 258 * kFull + 2 * kLatency);
    // Alternating with a flow that gets a third of a port it has little more than that.
    EXPECT_GT(victim(0), 2 * 256 * kFull);
}

// Packets that have to turn the corner of a ring of switches: each switch is full of packets for the next
// one.
std::shared_ptr<const network::Fabric> switch_ring(int size, Bytes memory) {
    network::FabricBuilder builder("switch ring");
    for (int i = 0; i < size; ++i) {
        builder.add_host("host " + std::to_string(i));
    }
    std::vector<NodeId> switches;
    for (int i = 0; i < size; ++i) {
        switches.push_back(builder.add_switch("switch " + std::to_string(i), memory));
        builder.connect(NodeId(i), switches.back(), kLink);
    }
    for (int i = 0; i < size; ++i) {
        builder.connect(switches[i], switches[(i + 1) % size], kLink);
    }
    return std::move(builder).build();
}

void expect_circle(const PacketOptions& options, Bytes memory) {
    constexpr int kSize = 7;
    PacketBackend backend(switch_ring(kSize, memory), options);
    Recorder recorder(backend);
    for (int host = 0; host < kSize; ++host) {
        recorder.send(host, (host + 3) % kSize, 8_MiB);
    }
    backend.run();
    EXPECT_GT(backend.outstanding_messages(), 0U);
    const std::string text = backend.explain_stall();
    for (int i = 0; i < kSize; ++i) {
        EXPECT_NE(text.find("switch " + std::to_string(i) + " -> switch " + std::to_string((i + 1) % kSize)),
                  std::string::npos)
            << text;
    }
}

TEST(PacketDeadlock, PausesInACircleAreNamed) {
    expect_circle(pfc(), 3 * (kHeadroom + 1_B));
}

TEST(PacketDeadlock, CreditsInACircleAreNamed) {
    PacketOptions options;
    options.ports.flowControl = ::ns3::PacketFlowControlKind::CREDIT;
    options.ports.creditRoom = 2 * kPacket.count();
    expect_circle(options, 0_B);
}

// With room for one packet the first link carries one for each time it takes to cross, leave, and be heard
// of: kFull and two latencies. The second link has its room back just as the next packet comes.
TEST(PacketCredits, ALinkIsAsFastAsItsRoomComesBack) {
    PacketOptions options;
    options.ports.flowControl = ::ns3::PacketFlowControlKind::CREDIT;
    options.ports.creditRoom = kPacket.count();
    constexpr int kPackets = 20;
    const Outcome one = run(star(2), options, {{0, 1, kPackets * 4096_B}});
    EXPECT_EQ(one.times.front(), (kPackets - 1) * (kFull + 2 * kLatency) + 2 * (kFull + kLatency));
    EXPECT_EQ(one.statistics.pauses, kPackets - 1U)
        << "the first link waits before every packet but the first";
    // Room for what the loop holds: kFull + 1 us is 3.99 packets' time, so four are enough for the full rate.
    options.ports.creditRoom = 4 * kPacket.count();
    EXPECT_EQ(run(star(2), options, {{0, 1, 1_MiB}}).times.front(), 257 * kFull + 2 * kLatency);
}

TEST(PacketCredits, AnIncastLosesNothingAndKeepsThePortBusy) {
    PacketOptions options;
    options.ports.flowControl = ::ns3::PacketFlowControlKind::CREDIT;
    options.ports.creditRoom = 4 * kPacket.count();
    const Outcome outcome = run(star(9, 9 * 4 * kPacket), options, incast(8, 1_MiB));
    EXPECT_EQ(*std::max_element(outcome.times.begin(), outcome.times.end()),
              (1 + 8 * 256) * kFull + 2 * kLatency);
    EXPECT_EQ(outcome.statistics.drops, 0U);
    EXPECT_LE(outcome.statistics.queue_peak, 8 * 4 * kPacket);
}

// The better class meets nobody of its own; a packet of the other may just have begun. The other class fills
// what is left, so the last byte comes when it would have.
TEST(PacketClasses, TheUrgentOneGoesFirst) {
    PacketOptions options;
    options.ports.trafficClasses = 2;
    const Outcome outcome = run(star(3), options, {{1, 0, 1_MiB, 0}, {2, 0, 1_MiB, 1}});
    EXPECT_LE(outcome.times[1], (257 + 1) * kFull + 2 * kLatency);
    EXPECT_EQ(outcome.times[0], 513 * kFull + 2 * kLatency);
    // From one host alike: its own packets are made in the order of the classes.
    const Outcome host = run(star(3), options, {{0, 1, 1_MiB, 0}, {0, 2, 1_MiB, 1}});
    EXPECT_EQ(host.times[1], (257 + 1) * kFull + 2 * kLatency);
    EXPECT_EQ(host.times[0], 513 * kFull + 2 * kLatency);
    // A backend that tells no classes apart treats them alike: each gets every other packet.
    const Outcome alike = run(star(3), {}, {{1, 0, 1_MiB, 0}, {2, 0, 1_MiB, 1}});
    EXPECT_GT(alike.times[1], 480 * kFull);
}

// Weights 1 and 3: while both have something to send the better has three packets of four. Its window of 122
// packets keeps its queue filled, so it is done after 4/3 · 256 = 342 packets, to within a turn of four and
// the packets that came before the queue had both.
TEST(PacketClasses, ShareByWeight) {
    PacketOptions options;
    options.ports.trafficClasses = 2;
    options.ports.service = ::ns3::PacketService::WEIGHTED;
    options.weights = {1, 3};
    const Outcome outcome = run(star(3), options, {{1, 0, 1_MiB, 0}, {2, 0, 1_MiB, 1}});
    EXPECT_GE(outcome.times[1], (342 - 4) * kFull);
    EXPECT_LE(outcome.times[1], (342 + 4) * kFull + 2 * kLatency);
    EXPECT_EQ(outcome.times[0], 513 * kFull + 2 * kLatency);
}

// A queue takes a packet of b bytes in if it then holds no more than α times what was free: q <= α(M - (q -
// b)), for α = 1 half of M + b. Two queues take a third each.
TEST(PacketSharedBuffer, DynamicThresholdsLeaveSomeFree) {
    PacketOptions options;
    options.ports.bufferSharing = ::ns3::PacketBuffers::DYNAMIC;
    const Bytes memory = 600'000_B;
    const auto peaks = [&](const std::vector<Flow>& flows) {
        const auto fabric = star(9, memory);
        const Outcome outcome = run(fabric, options, flows);
        EXPECT_GT(outcome.statistics.drops, 0U);
        return outcome.statistics.queue_peak;
    };
    const Bytes one = peaks(incast(4, 2_MiB));
    EXPECT_LE(one, 300'000_B + kPacket / 2);
    EXPECT_GT(one, 300'000_B - kPacket / 2);
    std::vector<Flow> both = incast(4, 2_MiB);
    for (int sender = 5; sender <= 8; ++sender) {
        both.push_back({sender, 4, 2_MiB});
    }
    // The two rise alike until the memory they leave free is what each holds.
    const Bytes two = peaks(both);
    EXPECT_LE(two, 200'000_B + 2 * kPacket);
    EXPECT_GT(two, 200'000_B - 2 * kPacket);
}

// Two packets meet at the switch; one waits while the other is sent. 4178 B for kFull, of 3·kFull + 2
// latencies in all.
TEST(PacketStatistics, MeanQueueIsTheTimeAverage) {
    const auto fabric = star(3);
    const Outcome outcome = run(fabric, {}, {{1, 0, 4096_B}, {2, 0, 4096_B}});
    const Time end = 3 * kFull + 2 * kLatency;
    EXPECT_EQ(*std::max_element(outcome.times.begin(), outcome.times.end()), end);
    const network::LinkStatistics& link = outcome.statistics.links[*fabric->link(LinkId(0)).reverse];
    EXPECT_EQ(link.queue_peak, kPacket);
    EXPECT_DOUBLE_EQ(link.queue_mean,
                     4178.0 * static_cast<double>(kFull.count()) / static_cast<double>(end.count()));
}

/// How many links from the switch of host 0 to other switches carried something.
std::size_t used_uplinks(const network::Fabric& fabric, const network::NetworkStatistics& statistics) {
    const NodeId edge = fabric.target(LinkId(0));
    std::size_t used = 0;
    for (std::size_t i = 0; i < fabric.out_degree(edge); ++i) {
        const LinkId link(fabric.first_link(edge).index() + i);
        const bool is_up = fabric.node(fabric.target(link)).kind == network::NodeKind::kSwitch;
        used += is_up && statistics.links[link].carried > Bytes(0) ? 1 : 0;
    }
    return used;
}

// Between pods of a k = 4 tree there are four ways; a pair that pauses after every message tries several, and
// stays on one where it never pauses.
TEST(PacketFlowlets, APairThatPausesTakesAnotherWay) {
    network::FatTreeParameters tree;
    tree.k = 4;
    const auto ways = [&tree](Time gap) {
        PacketOptions options;
        options.flowlet_gap = gap;
        const auto fabric = build_fat_tree(tree);
        PacketBackend backend(fabric, options);
        Recorder recorder(backend);
        int left = 30;
        recorder.then = [&](std::uint64_t) {
            if (left-- > 0) {
                recorder.send(0, 12, 4096_B);
            }
        };
        recorder.send(0, 12, 4096_B);
        backend.run();
        return used_uplinks(*fabric, backend.statistics());
    };
    // A message and its successor are 6 latencies and as many crossings apart, about 5 us.
    EXPECT_EQ(ways(1_us), 2U);
    EXPECT_EQ(ways(1_ms), 1U);
    EXPECT_EQ(ways(Time(0)), 1U);
}

// The four ways of a pair by connection: sixteen messages that are connections of their own take both
// uplinks, but for one case in 2^15; on the connection of their pair they take one.
TEST(PacketConnectionPaths, EveryConnectionHashesByItself) {
    network::FatTreeParameters tree;
    tree.k = 4;
    const auto uplinks = [&tree](::ns3::PacketConnections connections) {
        PacketOptions options;
        options.transport.connections = connections;
        const auto fabric = build_fat_tree(tree);
        const Outcome outcome = run(fabric, options, std::vector<Flow>(16, Flow{0, 12, 40'960_B}));
        EXPECT_EQ(outcome.statistics.retransmissions, 0U);
        return used_uplinks(*fabric, outcome.statistics);
    };
    EXPECT_EQ(uplinks(::ns3::PacketConnections::PER_MESSAGE), 2U);
    EXPECT_EQ(uplinks(::ns3::PacketConnections::PER_PAIR), 1U);
}

// Eight packets leave within 2.7 us and are still on a link of 20 us when a ninth is handed over at 16 us:
// the port, which has not looked since, must not send it behind the eighth, in the past.
TEST(PacketTiming, NothingLeavesBeforeItIsHandedOver) {
    const auto fabric = star(2, Bytes(0), {100_Gbps, 20_us, Bytes(0)});
    PacketBackend backend(fabric, {});
    Recorder recorder(backend);
    Recorder later(backend);
    later.then = [&](std::uint64_t) { recorder.send(0, 1, 4096_B, 1); };
    recorder.send(0, 1, 8 * 4096_B, 0);
    backend.schedule(16_us, later, 0);
    backend.run();
    ASSERT_EQ(recorder.times.size(), 2U);
    EXPECT_EQ(recorder.times[0], 9 * kFull + 40_us);
    EXPECT_EQ(recorder.times[1], 16_us + 2 * (kFull + 20_us));
}

/// Every host of a small leaf-spine with one narrow spine to every other.
network::NetworkStatistics all_to_all(PacketOptions options, const network::LinkParameters& link,
                                      Bytes size) {
    constexpr int kHosts = 12;
    network::FabricBuilder builder("leaves");
    for (int i = 0; i < kHosts; ++i) {
        builder.add_host("host " + std::to_string(i));
    }
    const NodeId left = builder.add_switch("left", Bytes(0));
    const NodeId right = builder.add_switch("right", Bytes(0));
    for (int i = 0; i < kHosts; ++i) {
        builder.connect(NodeId(i), i < kHosts / 2 ? left : right, link);
    }
    builder.connect(left, right, kLink);
    PacketBackend backend(std::move(builder).build(), options);
    Recorder recorder(backend);
    for (int shift = 1; shift < kHosts; ++shift) {
        for (int host = 0; host < kHosts; ++host) {
            recorder.send(host, (host + shift) % kHosts, size);
        }
    }
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    EXPECT_EQ(recorder.tokens.size(), static_cast<std::size_t>(kHosts * (kHosts - 1)));
    return backend.statistics();
}

TEST(PacketCredits, NeedTheMemoryTheyGrant) {
    PacketOptions options;
    options.ports.flowControl = ::ns3::PacketFlowControlKind::CREDIT;
    options.ports.creditRoom = 4 * kPacket.count();
    EXPECT_FALSE(unsupported(*star(9, 9 * 4 * kPacket), options).has_value());
    EXPECT_TRUE(unsupported(*star(9, 9 * 4 * kPacket - 1_B), options).has_value());
}

// Every port of a torus may wait for every other: the run ends, delivered or locked up with the circle named,
// and in time that grows with the network, not with its paths.
TEST(PacketCredits, ATorusEnds) {
    network::TorusParameters torus;
    torus.sizes = {4, 4};
    torus.link = {.rate = {100_Gbps}, .latency = {500_ns}};
    PacketOptions options;
    options.ports.flowControl = ::ns3::PacketFlowControlKind::CREDIT;
    PacketBackend backend(build_torus(torus), options);
    Recorder recorder(backend);
    for (int shift = 1; shift < 16; ++shift) {
        for (int host = 0; host < 16; ++host) {
            recorder.send(host, (host + shift) % 16, 256_KiB);
        }
    }
    backend.run();
    EXPECT_EQ(backend.outstanding_messages() > 0, !backend.explain_stall().empty());
}

// A port whose one pair has no credits while another waits for its rate must watch for the credits all the
// same.
TEST(PacketCredits, GoWithRates) {
    PacketOptions options;
    options.ports.flowControl = ::ns3::PacketFlowControlKind::CREDIT;
    options.transport.congestionControl = &::ns3::PacketDcqcn::KIND;
    options.ports.ecnThreshold = 5'000;
    options.ports.ecnMaxThreshold = 20'000;
    const network::NetworkStatistics statistics = all_to_all(options, kLink, 256_KiB);
    EXPECT_EQ(statistics.drops, 0U);
    EXPECT_GT(statistics.ecn_marks, 0U);
}

// HPCC may cut a window below what is under way and asked for no answer; without losses there are no timers
// to help.
TEST(PacketHpcc, GoesOnWithFewAcknowledgements) {
    PacketOptions options;
    options.transport.congestionControl = &::ns3::PacketHpcc::KIND;
    options.transport.ackEvery = 16;
    EXPECT_EQ(all_to_all(options, kLink, 1_MiB).bytes_delivered, Bytes(12 * 11 * (1 << 20)));
}

// Cut through from 10 Gb/s a packet holds the 100 Gb/s port for 3.3 us, and so the pause behind it.
TEST(PacketPauses, WaitForWhatIsStillComingIn) {
    PacketOptions options = pfc();
    options.ports.pauseThreshold = 10'000;
    options.ports.switching = ::ns3::PacketSwitching::CUT_THROUGH;
    const network::NetworkStatistics statistics = all_to_all(options, {10_Gbps, 500_ns, Bytes(0)}, 256_KiB);
    EXPECT_GT(statistics.pauses, 0U);
    EXPECT_EQ(statistics.drops, 0U);
}

TEST(PacketLoss, RandomLossOnEveryLinkIsRepaired) {
    PacketOptions options;
    options.loss_rate = 0.02;
    options.transport.timeout = 50'000'000;
    const Outcome outcome = run(star(3), options, {{0, 1, 4_MiB}, {2, 1, 4_MiB}, {1, 0, 4_MiB}});
    EXPECT_EQ(outcome.statistics.bytes_delivered, 12_MiB);
    // 3072 packets over two links lose 2 % on each, and so do repetitions and acknowledgements.
    EXPECT_GT(outcome.statistics.drops, 2U * 3072U * 2 / 100 / 2);
    EXPECT_GT(outcome.statistics.retransmissions, 0U);
}

}  // namespace
}  // namespace astrolabe::ns3
