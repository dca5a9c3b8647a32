// SPDX-License-Identifier: GPL-2.0-only
/// The transport as an ns-3 object, and what it sends again, when, and why.
#include "packet_net.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <ns3/data-rate.h>
#include <ns3/ns3-releases.h>
#include <ns3/object-factory.h>
#include <ns3/string.h>
#include <ns3/uinteger.h>

namespace astrolabe::ns3 {
namespace {

using Kind = sim::PacketDescriptor::Kind;
using Recovery = sim::PacketRecovery;

constexpr std::int64_t kMicrosecond = 1'000'000;
constexpr std::int64_t kMillisecond = 1'000 * kMicrosecond;

TEST(PacketTransportObject, IsMadeByAFactoryAndSetByAttributes) {
    const PacketNet net(2);  // sets the clock
    sim::ObjectFactory factory("ns3::PacketTransport");
    factory.Set("Mtu", sim::UintegerValue(1000));
    factory.Set("CongestionControl", sim::StringValue("Dcqcn"));
    factory.Set("Recovery", sim::StringValue("Selective"));
    factory.Set("Timeout", sim::StringValue("2ms"));
    factory.Set("DcqcnMinRate", sim::StringValue("1Gbps"));
    const auto transport = factory.Create<sim::PacketTransport>();
    EXPECT_EQ(transport->mtu, 1000U);
    EXPECT_EQ(transport->congestionControl, Control::kDcqcn);
    EXPECT_EQ(transport->recovery, Recovery::SELECTIVE);
    EXPECT_EQ(transport->timeout, 2 * kMillisecond);
    EXPECT_EQ(transport->Get<sim::PacketDcqcnParameters>().minRate, sim::DataRate("1Gbps"));
    sim::NumberedValue control;
    transport->GetAttribute("CongestionControl", control);
    EXPECT_EQ(control.Get(), 2);  // the third in the list
    EXPECT_FALSE(transport->SetAttributeFailSafe("Recovery", sim::StringValue("Perhaps")));
    EXPECT_FALSE(transport->SetAttributeFailSafe("Mtu", sim::UintegerValue(0)));
}

// Each attribute starts as the field of the parameters that it sets.
TEST(PacketTransportObject, HasTheDefaultsOfItsParameters) {
    const PacketNet net(2);
    const auto made = sim::CreateObject<sim::PacketTransport>();
    const sim::PacketTransportParameters defaults;
    EXPECT_EQ(made->window, defaults.window);
    EXPECT_EQ(made->Get<sim::PacketDctcpParameters>().gain, defaults.Get<sim::PacketDctcpParameters>().gain);
    EXPECT_EQ(made->Get<sim::PacketDcqcnParameters>().notifyInterval,
              defaults.Get<sim::PacketDcqcnParameters>().notifyInterval);
    EXPECT_EQ(made->Get<sim::PacketDcqcnParameters>().additiveIncrease,
              defaults.Get<sim::PacketDcqcnParameters>().additiveIncrease);
    EXPECT_EQ(made->Get<sim::PacketHpccParameters>().utilization,
              defaults.Get<sim::PacketHpccParameters>().utilization);
    EXPECT_EQ(made->Get<sim::PacketNdpParameters>().pullPacing,
              defaults.Get<sim::PacketNdpParameters>().pullPacing);
    // General 8, recovery 10, DCTCP 3, DCQCN 10, HPCC 4, NDP 3.
    EXPECT_EQ(sim::PacketTransport::GetTypeId().GetAttributeN(), 38U);
}

/// What a run told.
struct Heard {
    std::vector<std::int64_t> timeouts;
    std::vector<std::uint64_t> again;
    std::vector<std::int64_t> completions;
    std::vector<std::uint32_t> windows;
    std::vector<std::int64_t> notifications;
    std::uint64_t sent = 0;
};

void hear_sent(Heard* heard, const sim::PacketMessage&) {
    ++heard->sent;
}
void hear_delivered(Heard* heard, const sim::PacketMessage&, sim::Time completion) {
    heard->completions.push_back(completion.GetTimeStep());
}
void hear_timeout(Heard* heard, std::uint32_t, std::uint32_t, std::uint32_t) {
    heard->timeouts.push_back(sim::Simulator::Now().GetTimeStep());
}
void hear_again(Heard* heard, std::uint32_t, std::uint32_t, std::uint64_t sequence) {
    heard->again.push_back(sequence);
}
void hear_window(Heard* heard, std::uint32_t, std::uint32_t, std::uint32_t packets) {
    heard->windows.push_back(packets);
}
void hear_notification(Heard* heard, std::uint32_t, std::uint32_t) {
    heard->notifications.push_back(sim::Simulator::Now().GetTimeStep());
}

void listen(PacketNet& net, Heard& heard) {
    const auto connect = [&net](const std::string& name, const sim::CallbackBase& callback) {
        EXPECT_TRUE(net.transport->TraceConnectWithoutContext(name, callback)) << name;
    };
    connect("Sent", sim::MakeBoundCallback(&hear_sent, &heard));
    connect("Delivered", sim::MakeBoundCallback(&hear_delivered, &heard));
    connect("Timeout", sim::MakeBoundCallback(&hear_timeout, &heard));
    connect("Retransmission", sim::MakeBoundCallback(&hear_again, &heard));
    connect("Window", sim::MakeBoundCallback(&hear_window, &heard));
    connect("Notification", sim::MakeBoundCallback(&hear_notification, &heard));
}

/// Packets of 1250 B on the wire, 100 ns at 100 Gb/s, in windows of 40.
sim::PacketTransportParameters plain() {
    sim::PacketTransportParameters parameters;
    parameters.mtu = 1200;
    parameters.header = 50;
    parameters.ackSize = 50;
    parameters.window = 40 * 1200;
    parameters.hasTimers = true;
    return parameters;
}

// A message of 10 packets: the last has crossed both links 11·100 ns + 1 us after it was handed over.
TEST(PacketTransportTraces, TellWhenAMessageIsSentAndDelivered) {
    PacketNet net(2);
    Heard heard;
    net.start(plain());
    listen(net, heard);
    net.send(0, 1, 12'000);
    sim::Simulator::Run();
    EXPECT_EQ(heard.sent, 1U);
    EXPECT_EQ(heard.completions, std::vector<std::int64_t>{11 * 100'000 + kMicrosecond});
    EXPECT_TRUE(heard.timeouts.empty());
    EXPECT_TRUE(heard.again.empty());
}

/// Loses the first copy of some packets of data on the way into the switch.
void lose_once(PacketNet& net, std::vector<std::uint64_t> sequences) {
    net.strike = [lost = std::move(sequences)](const sim::PacketPort& port,
                                               const sim::PacketDescriptor& packet,
                                               std::int64_t) mutable -> std::int64_t {
        const auto found = std::find(lost.begin(), lost.end(), packet.sequence);
        if (packet.kind != Kind::DATA || port.GetNumber() != 0 || found == lost.end()) {
            return 0;
        }
        lost.erase(found);
        return sim::PacketFaults::LOST;
    };
}

// 100 packets, of which 10 and 12 are lost. Selective recovery sends just these again, each when the next
// packet has come, and needs no timeout.
TEST(PacketRecovery, SelectiveSendsWhatIsMissingAndNothingElse) {
    PacketNet net(2);
    lose_once(net, {10, 12});
    Heard heard;
    sim::PacketTransportParameters parameters = plain();
    parameters.recovery = Recovery::SELECTIVE;
    parameters.window = 80 * 1200;  // what leaves until the resent packets are acknowledged
    net.start(parameters);
    listen(net, heard);
    net.send(0, 1, 100 * 1200);
    sim::Simulator::Run();
    EXPECT_EQ(heard.again, (std::vector<std::uint64_t>{10, 12}));
    EXPECT_EQ(net.transport->GetCounters().packets, 102U);
    EXPECT_TRUE(heard.timeouts.empty());
    // The link is never idle for it: 102 packets, and the last once more.
    EXPECT_EQ(heard.completions.front(), 103 * 100'000 + kMicrosecond);
}

// Go back N sends again everything from packet 10 on that has left when the sender hears of it: 10 was sent
// at 1000 ns, 11 is at the receiver at 1100 + 2·100 + 1000 ns, and the answer of 4 ns a link back at 3308 ns,
// when packet 33 is leaving.
TEST(PacketRecovery, GoBackNSendsAllOver) {
    PacketNet net(2);
    lose_once(net, {10});
    Heard heard;
    net.start(plain());
    listen(net, heard);
    net.send(0, 1, 100 * 1200);
    sim::Simulator::Run();
    EXPECT_EQ(net.transport->GetCounters().retransmissions, 34U - 10U);
    EXPECT_EQ(heard.again.front(), 10U);
    EXPECT_EQ(heard.again.back(), 33U);
    EXPECT_TRUE(heard.timeouts.empty());
}

// Eight windows of 40 packets before a queue of 30 lose most of what they send at first. Selective recovery
// sends again only what was dropped, and for each timeout at most a window of which it had no answer; go back
// N also what came behind a gap, and takes longer for it.
TEST(PacketRecovery, SelectiveResendsWhatAnIncastDropped) {
    std::array<std::int64_t, 2> took{};
    for (const Recovery recovery : {Recovery::GO_BACK_N, Recovery::SELECTIVE}) {
        PacketNet net(9, 9 * 30 * 1250);
        sim::PacketTransportParameters parameters = plain();
        parameters.recovery = recovery;
        net.start(parameters);
        for (std::uint32_t sender = 1; sender <= 8; ++sender) {
            net.send(sender, 0, 500 * 1200);
        }
        sim::Simulator::Run();
        ASSERT_EQ(net.deliveries.size(), 8U);
        took[static_cast<std::size_t>(recovery)] = net.deliveries.back().when;
        const auto& counters = net.transport->GetCounters();
        const std::uint64_t drops = net.fabric->GetContext().drops;
        EXPECT_GE(counters.retransmissions, drops);
        if (recovery == Recovery::SELECTIVE) {
            EXPECT_LE(counters.retransmissions, drops + 40 * counters.timeouts);
        }
    }
    EXPECT_LT(took[1], took[0]);
}

// Where routes reorder, a packet is held lost when one has come that was sent `reorderTolerance` packets
// later: packet 15 for a tolerance of 5, and with one of 200 only the timeout, 1 ms after the last
// acknowledgement, tells.
TEST(PacketRecovery, ReorderingIsToleratedForSoManyPackets) {
    for (const std::uint32_t tolerance : {5U, 200U}) {
        PacketNet net(2);
        lose_once(net, {10});
        Heard heard;
        sim::PacketTransportParameters parameters = plain();
        parameters.recovery = Recovery::SELECTIVE;
        parameters.isReordered = true;
        parameters.reorderTolerance = tolerance;
        net.start(parameters);
        listen(net, heard);
        net.send(0, 1, 100 * 1200);
        sim::Simulator::Run();
        EXPECT_EQ(heard.again, std::vector<std::uint64_t>{10});
        EXPECT_EQ(heard.timeouts.size(), tolerance == 5 ? 0U : 1U);
    }
}

// The last packet is lost: nothing comes behind it, so the timeout must find out, 1 ms after the first packet
// was sent, since none has been acknowledged.
TEST(PacketRecovery, TheTimeoutFindsALossAtTheEnd) {
    for (const Recovery recovery : {Recovery::GO_BACK_N, Recovery::SELECTIVE}) {
        PacketNet net(2);
        lose_once(net, {3});
        Heard heard;
        sim::PacketTransportParameters parameters = plain();
        parameters.recovery = recovery;
        net.start(parameters);
        listen(net, heard);
        net.send(0, 1, 4 * 1200);
        sim::Simulator::Run();
        // Packet 0 was sent at 0; 16 packets are unasked at most, so none of 0 to 2 asks.
        EXPECT_EQ(heard.timeouts, std::vector<std::int64_t>{kMillisecond});
        // None of the four has been acknowledged, so all of them are sent again.
        EXPECT_EQ(heard.again.size(), 4U);
    }
}

// An acknowledgement that is lost is made up for: the packet is sent again, and answered again.
TEST(PacketRecovery, ALostAcknowledgementIsRepeated) {
    PacketNet net(2);
    int lost = 0;
    net.strike = [&lost](const sim::PacketPort&, const sim::PacketDescriptor& packet,
                         std::int64_t) -> std::int64_t {
        return packet.kind == Kind::ACK && lost++ < 3 ? sim::PacketFaults::LOST : 0;
    };
    Heard heard;
    net.start(plain());
    listen(net, heard);
    net.send(0, 1, 1200);
    sim::Simulator::Run();
    // Delivered at once; the sender tries again after 1, 1 + 2 and 1 + 2 + 4 ms.
    EXPECT_EQ(heard.completions.size(), 1U);
    EXPECT_EQ(heard.timeouts, (std::vector<std::int64_t>{kMillisecond, 3 * kMillisecond, 7 * kMillisecond}));
    EXPECT_EQ(net.transport->GetQueuePairCount(), 0U);
}

// Two priorities of one pair of hosts are two queue pairs: a long message does not hold up a more urgent one.
TEST(PacketQueuePairs, AreOfOnePriority) {
    PacketNet net(2);
    net.fabric->SetAttribute("TrafficClasses", sim::UintegerValue(8));
    net.start(plain());
    net.send(0, 1, 1'000 * 1200, 0, 0);
    net.send(0, 1, 1200, 1, 7);
    sim::Simulator::Run();
    ASSERT_EQ(net.deliveries.size(), 2U);
    EXPECT_EQ(net.deliveries.front().message.token, 1U);
    EXPECT_EQ(net.deliveries.front().message.priority, 7U);
    // One packet is on the link when it comes: it is the second, over two links.
    EXPECT_EQ(net.deliveries.front().when, 3 * 100'000 + kMicrosecond);
}

// Eight senders that start at the rate of their links fill the queue beyond its threshold for long: each
// hears of it, never twice within 50 us.
TEST(PacketNotifications, ComeAtMostOnceInAnInterval) {
    PacketNet net(9);
    net.fabric->SetAttribute("EcnThreshold", sim::UintegerValue(10'000));
    Heard heard;
    sim::PacketTransportParameters parameters = plain();
    parameters.congestionControl = Control::kDcqcn;
    parameters.window = 1'000'000;
    std::vector<std::int64_t> last(9, -50 * kMicrosecond);
    std::uint64_t sent = 0;
    net.strike = [&](const sim::PacketPort& port, const sim::PacketDescriptor& packet,
                     std::int64_t when) -> std::int64_t {
        if (packet.kind == Kind::CNP && port.GetNumber() == 0) {
            // It waits for at most one packet of 100 ns and eight others of 4 ns before it leaves.
            EXPECT_GE(when - last[packet.destination], 50 * kMicrosecond - 132'000);
            last[packet.destination] = when;
            ++sent;
        }
        return 0;
    };
    net.start(parameters);
    listen(net, heard);
    for (std::uint32_t sender = 1; sender <= 8; ++sender) {
        net.send(sender, 0, 2'000 * 1200);
    }
    sim::Simulator::Run();
    EXPECT_GE(sent, 8U);
    EXPECT_EQ(heard.notifications.size(), sent);
    EXPECT_EQ(net.deliveries.size(), 8U);
}

// Eight first windows of 30 packets meet before a queue of 8: most lose their payload there, none is lost
// whole, no timer goes off, and the port to the receiver does not pause for long: the last byte comes within
// 2 % of the time that 8·500 packets take behind one another.
TEST(PacketPulls, AnIncastIsTrimmedAndNotLost) {
    PacketNet net(9);
    net.fabric->SetAttribute("TrimmedSize", sim::UintegerValue(50));
    net.fabric->SetAttribute("TrimThreshold", sim::UintegerValue(8 * 1250));
    Heard heard;
    sim::PacketTransportParameters parameters = plain();
    parameters.congestionControl = Control::kNdp;
    net.start(parameters);
    listen(net, heard);
    for (std::uint32_t sender = 1; sender <= 8; ++sender) {
        net.send(sender, 0, 500 * 1200);
    }
    sim::Simulator::Run();
    ASSERT_EQ(net.deliveries.size(), 8U);
    EXPECT_GT(heard.again.size(), 100U);
    EXPECT_TRUE(heard.timeouts.empty());
    EXPECT_EQ(net.fabric->GetContext().drops, 0U);
    const std::int64_t least = (1 + 8 * 500) * 100'000 + kMicrosecond;
    EXPECT_GE(net.deliveries.back().when, least);
    EXPECT_LT(static_cast<double>(net.deliveries.back().when), 1.02 * static_cast<double>(least));
}

}  // namespace
}  // namespace astrolabe::ns3
