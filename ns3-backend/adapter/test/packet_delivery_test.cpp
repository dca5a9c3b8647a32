// SPDX-License-Identifier: GPL-2.0-only
/// Every message arrives once and in order, whatever happens to packets, acknowledgements, notifications and
/// pulls.
#include "packet_net.hpp"

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>
#include <ns3/enum.h>
#include <ns3/uinteger.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::ns3 {
namespace {

using Kind = sim::PacketDescriptor::Kind;
using Recovery = sim::PacketRecovery;

/// Packets of 1000 + 50 B, windows of 20; timeouts of 200 us.
sim::PacketTransportParameters small(Control::Kind control, Recovery recovery) {
    sim::PacketTransportParameters parameters;
    parameters.mtu = 1000;
    parameters.header = 50;
    parameters.window = 20'000;
    parameters.ackEvery = 4;
    parameters.congestionControl = control;
    parameters.recovery = recovery;
    parameters.hasTimers = true;
    parameters.timeout = 200'000'000;
    return parameters;
}

/// Trouble of all sorts; shares are of packets of a kind.
struct Trouble {
    double data_loss = 0;
    double answer_loss = 0;  // acknowledgements, notifications and pulls
    double delayed = 0;
    std::int64_t longest_delay = 0;
    std::int64_t down_from = 0;  // the link out of the switch to host 0 loses everything
    std::int64_t down_until = 0;
};

void trouble(PacketNet& net, const Trouble& what, std::uint64_t seed) {
    auto random = std::make_shared<sim::PacketRandom>(seed);
    net.strike = [what, random](const sim::PacketPort& port, const sim::PacketDescriptor& packet,
                                std::int64_t when) -> std::int64_t {
        const double loss = packet.kind == Kind::DATA ? what.data_loss : what.answer_loss;
        const bool is_down = port.GetNumber() == 1 && when >= what.down_from && when < what.down_until;
        if (is_down || random->NextFraction() < loss) {
            return sim::PacketFaults::LOST;
        }
        if (random->NextFraction() < what.delayed) {
            return 1 + static_cast<std::int64_t>(random->NextFraction() *
                                                 static_cast<double>(what.longest_delay));
        }
        return 0;
    };
}

using Combination = std::tuple<Control::Kind, Recovery>;

std::string case_name(const testing::TestParamInfo<Combination>& combination) {
    const auto& [control, recovery] = combination.param;
    return name_of(control) + (recovery == Recovery::SELECTIVE ? "Selective" : "GoBackN");
}

class PacketDelivery : public testing::TestWithParam<Combination> {};

// Four hosts, all pairs, three messages each in two classes of priority: 4·3·3 messages. Nothing is
// outstanding and no packet, telemetry or queue pair is left when the events run out.
TEST_P(PacketDelivery, IsOnceAndInOrderUnderAllTrouble) {
    const auto& [control, recovery] = GetParam();
    const std::vector<Trouble> all{
        {.data_loss = 0.1},
        {.answer_loss = 0.3},
        {.delayed = 0.3, .longest_delay = 5'000'000},
        {.down_from = 10'000'000, .down_until = 600'000'000},
        {.data_loss = 0.05,
         .answer_loss = 0.05,
         .delayed = 0.1,
         .longest_delay = 50'000'000,
         .down_from = 100'000'000,
         .down_until = 300'000'000},
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const bool is_reordered : {false, true}) {
            PacketNet net(4, 40'000);
            trouble(net, all[i], 7 * i + 1);
            net.fabric->SetAttribute("EcnThreshold", sim::UintegerValue(3000));
            if (control == Control::kNdp) {
                net.fabric->SetAttribute("TrimmedSize", sim::UintegerValue(84));
                net.fabric->SetAttribute("TrimThreshold", sim::UintegerValue(8400));
            }
            sim::PacketTransportParameters parameters = small(control, recovery);
            parameters.isReordered = is_reordered;
            net.start(parameters);
            std::uint64_t sent = 0;
            std::uint64_t token = 0;
            for (int message = 0; message < 3; ++message) {
                for (std::uint32_t source = 0; source < 4; ++source) {
                    for (std::uint32_t destination = 0; destination < 4; ++destination) {
                        if (source != destination) {
                            const std::uint64_t bytes = 20'000 * token % 70'001;
                            net.send(source, destination, bytes, token++, message == 1 ? 3 : 0);
                            sent += bytes;
                        }
                    }
                }
            }
            sim::Simulator::Run();
            const std::string where = "trouble " + std::to_string(i) + (is_reordered ? ", reordered" : "");
            EXPECT_EQ(net.deliveries.size(), 36U) << where;
            EXPECT_EQ(net.transport->GetCounters().bytes, sent) << where;
            EXPECT_EQ(net.transport->GetOutstandingCount(), 0U) << where;
            EXPECT_EQ(net.transport->GetQueuePairCount(), 0U) << where;
            EXPECT_EQ(net.fabric->GetContext().packets.GetUsed(), 0U) << where;
            EXPECT_EQ(net.fabric->GetContext().telemetry.GetUsed(), 0U) << where;
            std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, std::uint64_t> latest;
            for (const PacketNet::Delivery& delivery : net.deliveries) {
                const sim::PacketMessage& message = delivery.message;
                const auto [last, is_first] = latest.try_emplace(
                    {message.source, message.destination, message.priority}, message.token);
                EXPECT_TRUE(is_first || last->second < message.token) << where;
                last->second = message.token;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, PacketDelivery,
                         testing::Values(Combination{Control::kNone, Recovery::GO_BACK_N},
                                         Combination{Control::kNone, Recovery::SELECTIVE},
                                         Combination{Control::kDctcp, Recovery::GO_BACK_N},
                                         Combination{Control::kDctcp, Recovery::SELECTIVE},
                                         Combination{Control::kDcqcn, Recovery::GO_BACK_N},
                                         Combination{Control::kDcqcn, Recovery::SELECTIVE},
                                         Combination{Control::kHpcc, Recovery::GO_BACK_N},
                                         Combination{Control::kHpcc, Recovery::SELECTIVE},
                                         Combination{Control::kNdp, Recovery::GO_BACK_N}),
                         case_name);

// Whatever the shapes: window, packet size, acknowledgements, messages, losses and delays.
RC_GTEST_PROP(PacketDeliveryProperty, EveryMessageArrivesOnceAndInOrder, ()) {
    const auto pick = [](auto low, auto end) {
        return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<decltype(low)>(low, end));
    };
    const auto names = sim::PacketCongestionControls::GetNames().names;
    const Control::Kind control = names[pick(std::size_t{0}, names.size())].first;
    const bool selects = control != Control::kNdp && pick(0, 2) == 0;
    sim::PacketTransportParameters parameters =
        small(control, selects ? Recovery::SELECTIVE : Recovery::GO_BACK_N);
    parameters.mtu = static_cast<std::uint32_t>(pick(64, 3000));
    parameters.window = static_cast<std::uint64_t>(pick(1, 60'000));
    parameters.ackEvery = static_cast<std::uint32_t>(pick(1, 40));
    parameters.isReordered = pick(0, 2) == 0;
    parameters.reorderTolerance = static_cast<std::uint32_t>(pick(1, 20));
    parameters.Get<sim::PacketDctcpParameters>().initialWindow = static_cast<std::uint32_t>(pick(1, 30));
    parameters.Get<sim::PacketNdpParameters>().initialWindow = static_cast<std::uint32_t>(pick(1, 40));
    parameters.Get<sim::PacketNdpParameters>().pullPacing =
        pick(0, 2) == 0 ? sim::PacketPullPacing::PER_HOST : sim::PacketPullPacing::PER_PAIR;
    parameters.connections =
        pick(0, 2) == 0 ? sim::PacketConnections::PER_PAIR : sim::PacketConnections::PER_MESSAGE;
    const bool is_windowed = control->Has(sim::PacketControlKind::IS_WINDOWED);
    parameters.handshake = is_windowed && pick(0, 2) == 0;
    parameters.hostQueue =
        is_windowed && pick(0, 2) == 0 ? sim::PacketHostQueue::FIFO : sim::PacketHostQueue::ON_DEMAND;
    parameters.rttEstimation = !parameters.IsSelective() && pick(0, 2) == 0;
    parameters.minTimeout = 200'000'000;
    Trouble what;
    what.data_loss = pick(0, 20) / 100.0;
    what.answer_loss = pick(0, 20) / 100.0;
    what.delayed = pick(0, 30) / 100.0;
    what.longest_delay = pick(1, 100'000'000);
    what.down_from = pick(0, 200'000'000);
    what.down_until = what.down_from + pick(0, 500'000'000);

    const auto hosts = static_cast<std::uint32_t>(pick(2, 6));
    PacketNet net(hosts, pick(0, 2) * std::uint64_t{50'000});
    trouble(net, what, static_cast<std::uint64_t>(pick(0, 1'000'000)));
    net.fabric->SetAttribute("EcnThreshold", sim::UintegerValue(static_cast<std::uint64_t>(pick(0, 20'000))));
    if (pick(0, 2) == 0) {
        net.fabric->SetAttribute("TrimmedSize", sim::UintegerValue(84));
        net.fabric->SetAttribute("TrimThreshold",
                                 sim::UintegerValue(8 * (parameters.mtu + parameters.header)));
    }
    net.start(parameters);
    const int messages = pick(1, 30);
    std::uint64_t bytes = 0;
    for (int i = 0; i < messages; ++i) {
        const auto source = static_cast<std::uint32_t>(pick(0, static_cast<int>(hosts)));
        const auto step = static_cast<std::uint32_t>(pick(1, static_cast<int>(hosts)));
        const auto size = static_cast<std::uint64_t>(pick(0, 3) * pick(0, 40'000));
        bytes += size;
        net.send(source, (source + step) % hosts, size, static_cast<std::uint64_t>(i),
                 static_cast<std::uint8_t>(pick(0, 8)));
    }
    sim::Simulator::Run();
    RC_ASSERT(net.deliveries.size() == static_cast<std::size_t>(messages));
    RC_ASSERT(net.transport->GetCounters().bytes == bytes);
    RC_ASSERT(net.transport->GetQueuePairCount() == 0U);
    RC_ASSERT(net.fabric->GetContext().packets.GetUsed() == 0U);
    RC_ASSERT(net.fabric->GetContext().telemetry.GetUsed() == 0U);
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, std::uint64_t> latest;
    std::vector<bool> seen(static_cast<std::size_t>(messages), false);
    for (const PacketNet::Delivery& delivery : net.deliveries) {
        const sim::PacketMessage& message = delivery.message;
        RC_ASSERT(!seen[message.token]);
        seen[message.token] = true;
        if (parameters.connections == sim::PacketConnections::PER_PAIR) {
            const auto [last, is_first] =
                latest.try_emplace({message.source, message.destination, message.priority}, message.token);
            RC_ASSERT(is_first || last->second < message.token);
            last->second = message.token;
        }
    }
}

// Everything to host 0 is lost for good: timeouts come after 200, 400, 800, … us, three of them, then the
// pair gives up, 200·(1 + 2 + 4 + 8) us after its only packet left, and the run ends with its message
// outstanding.
TEST(PacketGiveUp, EndsTheRunAndNamesThePair) {
    PacketNet net(3);
    trouble(net, {.down_from = 0, .down_until = std::numeric_limits<std::int64_t>::max()}, 1);
    sim::PacketTransportParameters parameters = small(Control::kNone, Recovery::GO_BACK_N);
    parameters.retryLimit = 3;
    net.start(parameters);
    net.send(1, 0, 900);
    net.send(1, 2, 900);
    sim::Simulator::Run();
    EXPECT_EQ(net.deliveries.size(), 1U);
    EXPECT_EQ(net.transport->GetCounters().timeouts, 3U);
    EXPECT_EQ(net.transport->GetCounters().givenUp, 1U);
    EXPECT_EQ(net.transport->GetCounters().packets, 2U + 3U);
    EXPECT_EQ(sim::Simulator::Now().GetTimeStep(), 15 * std::int64_t{200'000'000});
    const auto outstanding = net.transport->GetOutstanding();
    ASSERT_EQ(outstanding.size(), 1U);
    EXPECT_EQ(outstanding.front().message.source, 1U);
    EXPECT_EQ(outstanding.front().message.destination, 0U);
    EXPECT_EQ(outstanding.front().remaining, 900U);
    EXPECT_EQ(net.transport->GetGivenUp(), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 0}}));
}

// Without a bound on the timeout it doubles from 200 us on: 200·(2^6 - 1) us for a limit of 5.
TEST(PacketGiveUp, TimeoutsDoubleUpToTheirBound) {
    for (const std::uint32_t most : {1U, 4U, 1U << 30}) {
        PacketNet net(2);
        trouble(net, {.down_from = 0, .down_until = std::numeric_limits<std::int64_t>::max()}, 1);
        sim::PacketTransportParameters parameters = small(Control::kNone, Recovery::GO_BACK_N);
        parameters.retryLimit = 5;
        parameters.maxBackoff = most;
        net.start(parameters);
        net.send(1, 0, 900);
        sim::Simulator::Run();
        // 1·6; 1 + 2 + 4·4; 1 + 2 + 4 + 8 + 16 + 32
        const std::int64_t units = most == 1 ? 6 : most == 4 ? 19 : 63;
        EXPECT_EQ(sim::Simulator::Now().GetTimeStep(), units * 200'000'000);
    }
}

}  // namespace
}  // namespace astrolabe::ns3
