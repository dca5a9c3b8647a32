// SPDX-License-Identifier: GPL-2.0-only
/// What flows get of a link under each congestion control: alone all of it, together even shares.
#include "packet_net.hpp"

#include <array>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <ns3/double.h>
#include <ns3/uinteger.h>

namespace astrolabe::ns3 {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000'000;
constexpr std::uint64_t kMtu = 4096;
constexpr std::uint64_t kFull = 4096 + 82;
constexpr std::uint64_t kMessage = 16 * kMtu;

/// Settings as published. DCTCP marks above 24 packets; DCQCN as its paper says (figure 14); NDP trims
/// above 8 packets; HPCC acknowledges every packet.
sim::PacketTransportParameters settings(PacketNet& net, Control::Kind control) {
    sim::PacketTransportParameters parameters;
    parameters.congestionControl = control;
    parameters.ackEvery = control == Control::kHpcc ? 1 : parameters.ackEvery;
    if (control == Control::kDctcp) {
        net.fabric->SetAttribute("EcnThreshold", sim::UintegerValue(100'000));
    } else if (control == Control::kDcqcn) {
        net.fabric->SetAttribute("EcnThreshold", sim::UintegerValue(5'000));
        net.fabric->SetAttribute("EcnMaxThreshold", sim::UintegerValue(200'000));
        net.fabric->SetAttribute("EcnProbability", sim::DoubleValue(0.01));
    } else if (control == Control::kNdp) {
        net.fabric->SetAttribute("TrimmedSize", sim::UintegerValue(84));
        net.fabric->SetAttribute("TrimThreshold", sim::UintegerValue(8 * kFull));
        parameters.hasTimers = true;
        parameters.timeout = 10'000'000'000;
    }
    return parameters;
}

class PacketLoneFlow : public testing::TestWithParam<Control::Kind> {};

// Nothing waits, so nothing is marked or cut: n packets leave one behind the other, and the last crosses a
// second link. HPCC aims at 95 % of the link and paces packets, the others reach all of it.
TEST_P(PacketLoneFlow, HasTheLinkToItself) {
    PacketNet net(2);
    const sim::PacketTransportParameters parameters = settings(net, GetParam());
    net.start(parameters);
    net.send(0, 1, 4096 * kMtu);
    sim::Simulator::Run();
    ASSERT_EQ(net.deliveries.size(), 1U);
    const std::int64_t best = 4097 * static_cast<std::int64_t>(kFull) * 80 + 2 * PacketNet::kLatency;
    const std::int64_t took = net.deliveries.front().when;
    if (GetParam() == Control::kHpcc) {
        EXPECT_LT(static_cast<double>(took), static_cast<double>(best) / 0.95 * 1.02);
        EXPECT_GT(took, best);
    } else {
        EXPECT_EQ(took, best);
    }
}

INSTANTIATE_TEST_SUITE_P(All, PacketLoneFlow,
                         testing::Values(Control::kNone, Control::kDctcp, Control::kDcqcn, Control::kHpcc,
                                         Control::kNdp),
                         [](const auto& control) { return name_of(control.param); });

using Sharing = std::tuple<Control::Kind, std::uint32_t>;

class PacketSharing : public testing::TestWithParam<Sharing> {};

// n hosts send to one without end, in messages of 64 KiB of which the next is handed over with the last.
// After 20 ms for the start, over 40 ms, Jain's index (Σ x)²/(n Σ x²) of what each got is at least 0.95, and
// the link carries no more than it can and not less than its congestion control aims at.
TEST_P(PacketSharing, IsFairAndKeepsTheLinkBusy) {
    const auto& [control, flows] = GetParam();
    PacketNet net(flows + 1);
    net.start(settings(net, control));
    std::vector<double> got(flows + 1, 0);
    for (int message = 0; message < 4; ++message) {
        for (std::uint32_t flow = 1; flow <= flows; ++flow) {
            net.send(flow, 0, kMessage);
        }
    }
    net.delivered = [&](const sim::PacketMessage& message) {
        const std::int64_t now = sim::Simulator::Now().GetTimeStep();
        if (now >= 20 * kMillisecond) {
            got[message.source] += static_cast<double>(message.bytes);
        }
        net.send(message.source, 0, kMessage);
    };
    sim::Simulator::Stop(sim::MilliSeconds(60));
    sim::Simulator::Run();
    double sum = 0;
    double squares = 0;
    for (const double bytes : got) {
        sum += bytes;
        squares += bytes * bytes;
    }
    const double fairness = sum * sum / (flows * squares);
    const double most = 40e-3 * 100e9 / 8 * static_cast<double>(kMtu) / static_cast<double>(kFull);
    EXPECT_GE(fairness, 0.95);
    // Messages count when their last byte comes, so one of each flow may belong to before or after.
    EXPECT_LE(sum, most + static_cast<double>(flows * kMessage));
    // HPCC aims at 95 %; its window is rounded to packets, of which a flow of eight has one or two.
    EXPECT_GE(sum, (control == Control::kHpcc ? 0.9 : 0.99) * most);
}

INSTANTIATE_TEST_SUITE_P(All, PacketSharing,
                         testing::Combine(testing::Values(Control::kDctcp, Control::kDcqcn, Control::kHpcc,
                                                          Control::kNdp),
                                          testing::Values(2U, 8U)),
                         [](const auto& sharing) {
                             return name_of(std::get<0>(sharing.param)) +
                                    std::to_string(std::get<1>(sharing.param));
                         });

}  // namespace
}  // namespace astrolabe::ns3
