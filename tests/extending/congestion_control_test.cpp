// SPDX-License-Identifier: GPL-2.0-only
/// The congestion control of docs/extending.md: its keys, and its window in a small simulation.
#include "ns3-backend/adapter/test/packet_net.hpp"
#include "packet-aimd.h"
#include "transport/transport_keys.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

using Controls = sim::PacketControlList<sim::PacketFixedWindow, sim::PacketAimd>;

std::optional<PacketOptions> read(const std::string& text, std::string& errors) {
    Schema<PacketOptions> schema("packet", "packets with the congestion controls of this test");
    add_transport_keys<Controls>(schema);
    ReadContext context;
    std::optional<PacketOptions> options = schema.read(*parse_config(text, "extending.yaml"), context);
    for (const Diagnostic& error : context.errors()) {
        errors += error.message + "\n";
    }
    return options;
}

TEST(ExtendingCongestionControls, ItsEntryGivesItItsKeys) {
    std::string errors;
    const auto options = read("{congestion_control: aimd, aimd: {initial_window: 4}}", errors);
    ASSERT_TRUE(options) << errors;
    EXPECT_EQ(options->transport.congestionControl, &sim::PacketAimd::KIND);
    EXPECT_EQ(options->transport.Get<sim::PacketAimdParameters>().initialWindow, 4U);
    EXPECT_EQ(options->transport.Get<sim::PacketAimdParameters>().increase, 1);

    EXPECT_FALSE(read("{congestion_control: aimd, aimd: {increase: 0}}", errors));
    EXPECT_NE(errors.find("'increase' is 0, expected more than 0 and at most 100"), std::string::npos)
        << errors;
}

void note_window(std::vector<std::uint32_t>* windows, std::uint32_t, std::uint32_t, std::uint32_t window) {
    windows->push_back(window);
}

// Two hosts, 100 packets, each acknowledged by itself, and packet 20 is lost once. The window starts at 4
// packets. An acknowledgement makes w² to (w + 1/w)² = w² + 2 + 1/w², so after packets 0 to 19
// 4² + 2·20 < w² < 4² + (2 + 1/4²)·20: 7.48 < w < 7.57, and 8 packets may be in flight. The loss halves w to
// 3.74 or more, 4 packets.
TEST(ExtendingCongestionControls, AWindowGrowsWithAcknowledgementsAndHalvesWithALoss) {
    std::string errors;
    const auto options = read(
        "{mtu: 1000B, window: 64000B, ack_every: 1, congestion_control: aimd, aimd: {initial_window: 4}}",
        errors);
    ASSERT_TRUE(options) << errors;
    PacketNet net(2);
    bool was_lost = false;
    net.strike = [&was_lost](const sim::PacketPort& port, const sim::PacketDescriptor& packet,
                             std::int64_t) -> std::int64_t {
        const bool is_lost = !was_lost && port.GetNumber() == 0 && packet.sequence == 20;
        was_lost = was_lost || is_lost;
        return is_lost ? sim::PacketFaults::LOST : 0;
    };
    std::vector<std::uint32_t> windows;
    net.transport->TraceConnectWithoutContext("Window", sim::MakeBoundCallback(&note_window, &windows));
    sim::PacketTransportParameters parameters = options->transport;
    parameters.hasTimers = true;
    net.start(parameters);
    net.send(0, 1, 100'000);
    sim::Simulator::Run();

    EXPECT_EQ(net.deliveries.size(), 1U);
    EXPECT_GT(net.transport->GetCounters().retransmissions, 0U);
    ASSERT_GE(windows.size(), 5U);
    windows.resize(5);
    EXPECT_EQ(windows, (std::vector<std::uint32_t>{5, 6, 7, 8, 4}));
}

}  // namespace
}  // namespace astrolabe::ns3
