// SPDX-License-Identifier: GPL-2.0-only
/// TopoOpt of ordinary nodes: circuits for a demand, and TCP over servers that forward for each other.
#include "ns3/bulk-send-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/topoopt-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

class CircuitsTest : public TestCase
{
  public:
    CircuitsTest()
        : TestCase("circuits follow the demand")
    {
    }

  private:
    void DoRun() override
    {
        // An all-reduce alone: all four circuits of a server are rings. Strides nearest to 16^(i/2), i = 0,
        // 1, are 1 and 4's nearest that is coprime with 16, 3.
        TopoOptHelper rings;
        rings.AddAllReduce(1'000'000);
        const auto circuits = rings.FindCircuits(16);
        NS_TEST_ASSERT_MSG_EQ(circuits.size(), 32, "2 rings of 16");
        uint32_t ones = 0;
        uint32_t threes = 0;
        for (const auto& [a, b] : circuits)
        {
            const uint32_t stride = std::min(b - a, 16 - (b - a));
            ones += stride == 1 ? 1 : 0;
            threes += stride == 3 ? 1 : 0;
        }
        NS_TEST_EXPECT_MSG_EQ(ones, 16, "stride 1");
        NS_TEST_EXPECT_MSG_EQ(threes, 16, "stride 3");

        // Traffic between pairs alone: one ring, as servers must reach each other, and two matchings. Servers
        // i and i + 8 ask for the most, and have a circuit in the first.
        const std::string file = CreateTempDirFilename("demand.txt");
        std::ofstream out(file);
        out << "# bytes\n\n";
        for (uint32_t from = 0; from < 16; ++from)
        {
            for (uint32_t to = 0; to < 16; ++to)
            {
                out << (from == to ? 0 : (from + 8) % 16 == to ? 1000 : 1) << (to < 15 ? "," : "\n");
            }
        }
        out.close();
        TopoOptHelper pairs;
        pairs.ReadDemand(file);
        const auto matched = pairs.FindCircuits(16);
        NS_TEST_EXPECT_MSG_EQ(matched.size(), 32, "16 of a ring and two times 8");
        for (uint32_t server = 0; server < 8; ++server)
        {
            const std::pair<uint32_t, uint32_t> wanted(server, server + 8);
            NS_TEST_EXPECT_MSG_GT(
                std::count(matched.begin(), matched.end(), wanted), 0, "who asks for the most has a circuit");
        }
    }
};

/// A ring of 8 servers, both ways round, at 10 Gb/s and 1 us; server 0 sends to 3, over 1 and 2.
class ForwardingTest : public TestCase
{
  public:
    ForwardingTest()
        : TestCase("servers forward TCP at the rate of a circuit")
    {
    }

  private:
    void Receive(Ptr<const Packet> packet, const Address&)
    {
        m_received += packet->GetSize();
        m_last = Simulator::Now();
    }

    void DoRun() override
    {
        TopoOptHelper topo;
        topo.SetDegree(2);
        topo.SetLink(DataRate("10Gbps"), MicroSeconds(1));
        topo.AddAllReduce(1);
        NodeContainer servers;
        servers.Create(8);
        NetDeviceContainer devices = topo.Install(servers);
        NS_TEST_EXPECT_MSG_EQ(devices.GetN(), 16, "two of a server");
        NS_TEST_EXPECT_MSG_EQ(topo.GetHops().first, 4, "half round the ring");
        InternetStackHelper internet;
        internet.Install(servers);
        const std::vector<Ipv4Address> addresses = topo.AssignAddresses("10.0.0.1");
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(addresses[3], 9));
        source.SetAttribute("MaxBytes", UintegerValue(1'000'000));
        source.Install(servers.Get(0)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink.Install(servers.Get(3))
            .Get(0)
            ->TraceConnectWithoutContext("Rx", MakeCallback(&ForwardingTest::Receive, this));
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(m_received, 1'000'000, "it arrives");
        // Segments of 536 bytes take 54 of headers more (TCP with timestamps 32, IP 20, PPP 2): 880.6 us, 3
        // us of delay, and a few round trips of slow start.
        NS_TEST_EXPECT_MSG_GT(m_last, NanoSeconds(883'000), "no faster than a circuit");
        NS_TEST_EXPECT_MSG_LT(m_last, NanoSeconds(1'060'000), "nor much slower");
    }

    uint64_t m_received{0};
    Time m_last;
};

class TopoOptSuite : public TestSuite
{
  public:
    TopoOptSuite()
        : TestSuite("astrolabe-topoopt")
    {
        AddTestCase(new CircuitsTest);
        AddTestCase(new ForwardingTest);
    }
};

TopoOptSuite g_topoOptSuite;

} // namespace
