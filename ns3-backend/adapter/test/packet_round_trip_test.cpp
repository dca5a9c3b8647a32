// SPDX-License-Identifier: GPL-2.0-only
/// T of HPCC: the longest round trip of a fabric, by arithmetic and as the engine measures it.
#include "packet_net.hpp"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>
#include <ns3/data-rate.h>
#include <ns3/nstime.h>
#include <ns3/packet-fabric-helper.h>
#include <ns3/packet-round-trip.h>
#include <ns3/string.h>
#include <ns3/uinteger.h>

namespace astrolabe::ns3 {
namespace {

constexpr std::uint32_t kData = 4178;
constexpr std::uint32_t kAnswer = 84;

std::int64_t longest(const sim::PacketNetwork& network) {
    return sim::FindLongestRoundTrip(*network.fabric, *network.router, kData, kAnswer);
}

class RoundTrip : public testing::Test {
protected:
    RoundTrip() {
        if (sim::Time::GetResolution() != sim::Time::PS) {
            sim::Time::SetResolution(sim::Time::PS);
        }
    }
    ~RoundTrip() override { sim::Simulator::Destroy(); }
};

void note_acknowledgement(std::int64_t* most, const sim::PacketMessage&, sim::Time since_sent) {
    *most = std::max(*most, since_sent.GetTimeStep());
}

/// One full packet from each host to each other, alone, and how long it takes until the sender knows.
std::int64_t measured(const sim::PacketNetwork& network) {
    std::int64_t most = 0;
    network.transport->TraceConnectWithoutContext("Acknowledged",
                                                  sim::MakeBoundCallback(&note_acknowledgement, &most));
    for (std::uint32_t from = 0; from < network.hosts; ++from) {
        for (std::uint32_t to = 0; to < network.hosts; ++to) {
            if (from != to) {
                network.transport->Send({from, to, 4096, nullptr, 0, 0});
                sim::Simulator::Run();
            }
        }
    }
    return most;
}

// Two links of 100 Gb/s and 500 ns each way: 2·4178·80 ps + 2·84·80 ps + 4·500 ns = 2 681 920 ps.
TEST_F(RoundTrip, OfAStar) {
    const sim::PacketNetwork network = sim::PacketFabricHelper().CreateStar(3);
    EXPECT_EQ(longest(network), 2 * (4178 + 84) * 80 + 4 * 500'000);
    EXPECT_EQ(measured(network), longest(network));
}

// Hosts of different leaves: two links of 100 Gb/s and 500 ns, two of 400 Gb/s and 1 us, each way.
TEST_F(RoundTrip, OfALeafSpine) {
    sim::PacketFabricHelper helper;
    helper.SetSwitchLink(sim::DataRate("400Gbps"), sim::MicroSeconds(1));
    const sim::PacketNetwork network = helper.CreateLeafSpine(2, 2, 2);
    EXPECT_EQ(longest(network), (4178 + 84) * (2 * 80 + 2 * 20) + 2 * (2 * 500'000 + 2 * 1'000'000));
    EXPECT_EQ(measured(network), longest(network));
}

// Six links each way between pods, where switches send on what has come with 82 B of header: 4178 B once and
// 82 B five times; an answer of 84 B the same.
TEST_F(RoundTrip, OfAFatTreeThatCutsThrough) {
    sim::PacketFabricHelper helper;
    helper.SetFabricAttribute("Switching", sim::StringValue("CutThrough"));
    const sim::PacketNetwork network = helper.CreateFatTree(4);
    EXPECT_EQ(longest(network), (4178 + 84 + 2 * 5 * 82) * 80 + 2 * 6 * 500'000);
    EXPECT_EQ(measured(network), longest(network));
}

// From 400 Gb/s into 100 Gb/s and back: a packet that is cut through from a slow link leaves no sooner than
// its last bit has come in, so 4178 B take the 100 Gb/s link's time and the headers before it.
TEST_F(RoundTrip, OfRatesThatDifferWhereSwitchesCutThrough) {
    sim::PacketFabricHelper helper;
    helper.SetFabricAttribute("Switching", sim::StringValue("CutThrough"));
    helper.SetSwitchLink(sim::DataRate("400Gbps"), sim::NanoSeconds(100));
    const sim::PacketNetwork network = helper.CreateLeafSpine(2, 1, 1);
    // Of n bytes: the header over the host's link, over two of the switches', then all over the last: it
    // starts at 82·(80 + 2·20) ps + latencies, after the last bit came in at n·80 ps + latencies.
    EXPECT_EQ(longest(network), (4178 + 84) * 80 + 2 * 82 * (80 + 2 * 20) + 2 * (2 * 500'000 + 2 * 100'000));
    EXPECT_EQ(measured(network), longest(network));
}

// A ring of five hosts, neighbours and their neighbours: two cables, and a host that takes 300 ns to forward.
TEST_F(RoundTrip, OfHostsThatForward) {
    sim::PacketFabricHelper helper;
    helper.SetForwarding(sim::NanoSeconds(300));
    const sim::PacketNetwork network = helper.CreateDirectConnect(5, {1});
    EXPECT_EQ(longest(network), 2 * (4178 + 84) * 80 + 4 * 500'000 + 2 * 300'000);
    EXPECT_EQ(measured(network), longest(network));
}

TEST_F(RoundTrip, OfOneHostIsNone) {
    EXPECT_EQ(longest(sim::PacketFabricHelper().CreateStar(1)), 0);
}

/// When eight messages of 256 KiB into one host have all arrived.
std::int64_t last_delivery(std::int64_t base_rtt) {
    PacketNet net(9);
    sim::PacketTransportParameters parameters;
    parameters.congestionControl = Control::kHpcc;
    parameters.ackEvery = 1;
    parameters.Get<sim::PacketHpccParameters>().baseRtt = base_rtt;
    net.start(parameters);
    for (std::uint32_t from = 1; from < 9; ++from) {
        net.send(from, 0, 256 * 1024);
    }
    sim::Simulator::Run();
    EXPECT_EQ(net.deliveries.size(), 8U);
    return net.deliveries.back().when;
}

// HPCC takes T from the fabric; one that is given wins.
TEST_F(RoundTrip, IsTheBaseRttOfHpccUnlessThatIsGiven) {
    const std::int64_t found = last_delivery(0);
    EXPECT_EQ(found, last_delivery(2 * (4178 + 84) * 80 + 4 * 500'000));
    EXPECT_NE(found, last_delivery(13'000'000));
}

}  // namespace
}  // namespace astrolabe::ns3
