// SPDX-License-Identifier: GPL-2.0-only
/// The packet engine as a user of the module meets it: helpers, attributes and trace sources by name, and the
/// numbers that follow from rates and sizes alone.
#include "ns3/boolean.h"
#include "ns3/packet-fabric-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

// The defaults: 4096 bytes of payload and 82 of headers, 100 Gb/s or 80 ps a byte, 500 ns a link.
constexpr uint64_t PAYLOAD = 4096;
constexpr int64_t PACKET_TIME = (4096 + 82) * 80;
constexpr int64_t LATENCY = 500'000;

/// What arrived, and when the last of it did.
class Arrivals
{
  public:
    explicit Arrivals(const PacketNetwork& network)
    {
        network.transport->TraceConnectWithoutContext("Delivered", MakeCallback(&Arrivals::Note, this));
    }

    void
    Note(const PacketMessage&, Time completion)
    {
        m_last = std::max(m_last, completion.GetPicoSeconds());
        ++m_count;
    }

    int64_t m_last{0};
    uint32_t m_count{0};
};

/// How often a trace source of the fabric fired.
class Firings
{
  public:
    Firings(const PacketNetwork& network, const std::string& source)
    {
        network.fabric->TraceConnectWithoutContext(source, MakeCallback(&Firings::Note, this));
    }

    void
    Note(uint32_t, const PacketDescriptor&, int64_t)
    {
        ++m_count;
    }

    uint64_t m_count{0};
};

void
SendToFirst(const PacketNetwork& network, uint32_t senders, uint64_t bytes)
{
    for (uint32_t sender = 1; sender <= senders; ++sender)
    {
        network.transport->Send({sender, 0, bytes, nullptr, 0, 0});
    }
}

/// The clock counts picoseconds, as the engine asks.
class PacketTestCase : public TestCase
{
  public:
    using TestCase::TestCase;

  private:
    void
    DoSetup() override
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
    }

    void
    DoTeardown() override
    {
        Simulator::Destroy();
    }
};

class OneMessageTest : public PacketTestCase
{
  public:
    OneMessageTest()
        : PacketTestCase("a message over a switch takes what its packets take, to the picosecond")
    {
    }

  private:
    void
    DoRun() override
    {
        const PacketNetwork network = PacketFabricHelper().CreateStar(2);
        const Arrivals arrivals(network);
        SendToFirst(network, 1, 10 * PAYLOAD);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrivals.m_count, 1, "it arrives");
        // Ten packets leave one after the other; the last crosses a link, waits for its last bit, crosses
        // another.
        NS_TEST_EXPECT_MSG_EQ(
            arrivals.m_last, 10 * PACKET_TIME + LATENCY + PACKET_TIME + LATENCY, "store and forward");
    }
};

class IncastTest : public PacketTestCase
{
  public:
    IncastTest()
        : PacketTestCase(
              "incast leaves no gap: the link to the receiver is busy from the first packet to the last")
    {
    }

  private:
    void
    DoRun() override
    {
        const PacketNetwork network = PacketFabricHelper().CreateStar(5);
        const Arrivals arrivals(network);
        SendToFirst(network, 4, 50 * PAYLOAD);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrivals.m_count, 4, "all arrive");
        // The first packets reach the switch at the same time; then 4 · 50 leave it.
        NS_TEST_EXPECT_MSG_EQ(arrivals.m_last, PACKET_TIME + LATENCY + 200 * PACKET_TIME + LATENCY, "no gap");
    }
};

/// 8 hosts send 100 packets each, 3.3 MB in all, through a switch with 400 kB.
class FlowControlTest : public PacketTestCase
{
  public:
    explicit FlowControlTest(const std::string& flowControl)
        : PacketTestCase("scarce memory, flow control " + flowControl),
          m_flowControl(flowControl)
    {
    }

  private:
    void
    DoRun() override
    {
        const bool isLossy = m_flowControl == "None";
        PacketFabricHelper helper;
        helper.SetSwitchMemory(400'000);
        helper.SetFabricAttribute("FlowControl", StringValue(m_flowControl));
        helper.SetTransportAttribute("HasTimers", BooleanValue(isLossy));
        const PacketNetwork network = helper.CreateStar(9);
        const Arrivals arrivals(network);
        const Firings drops(network, "Drop");
        SendToFirst(network, 8, 100 * PAYLOAD);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrivals.m_count, 8, "everything arrives");
        NS_TEST_EXPECT_MSG_EQ((drops.m_count > 0), isLossy, "only without flow control is anything dropped");
        NS_TEST_EXPECT_MSG_EQ(
            network.fabric->GetContext().drops, drops.m_count, "the trace tells of every drop");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(arrivals.m_last, 800 * PACKET_TIME, "the rate of the receiver's link");
        if (!isLossy)
        {
            NS_TEST_EXPECT_MSG_EQ(network.transport->GetCounters().retransmissions, 0, "nothing was lost");
        }
    }

    std::string m_flowControl;
};

class MarkTest : public PacketTestCase
{
  public:
    MarkTest()
        : PacketTestCase("DCTCP keeps the queue that marks its packets shorter")
    {
    }

  private:
    void
    DoRun() override
    {
        const uint64_t without = Run(false);
        const uint64_t with = Run(true);
        // Four windows of 500 kB less what the links hold would wait for ever; DCTCP's first windows are 16
        // packets.
        NS_TEST_EXPECT_MSG_LT(with, without / 2, "peak of the queue in bytes");
    }

    /// \returns the greatest length of the receiver's queue.
    uint64_t
    Run(bool isDctcp)
    {
        PacketFabricHelper helper;
        if (isDctcp)
        {
            helper.SetFabricAttribute("MarkFrom", UintegerValue(50'000));
            helper.SetTransportAttribute("CongestionControl", StringValue("Dctcp"));
        }
        const PacketNetwork network = helper.CreateStar(5);
        const Arrivals arrivals(network);
        const Firings marks(network, "Mark");
        SendToFirst(network, 4, 500 * PAYLOAD);
        Simulator::Run();
        const PacketPort::Counters counters = network.GetPort(network.hosts, 0).GetCounters();
        NS_TEST_EXPECT_MSG_EQ(arrivals.m_count, 4, "everything arrives");
        NS_TEST_EXPECT_MSG_EQ((counters.marks > 0), isDctcp, "marks");
        NS_TEST_EXPECT_MSG_EQ(counters.marks, marks.m_count, "the trace tells of every mark");
        Simulator::Destroy();
        return counters.peakBytes;
    }
};

class ShapeTest : public PacketTestCase
{
  public:
    ShapeTest()
        : PacketTestCase("the helper's fabrics have the nodes, ports and paths that they should")
    {
    }

  private:
    void
    DoRun() override
    {
        const PacketFabricHelper helper;
        const PacketNetwork star = helper.CreateStar(3);
        Expect(star, 3 + 1, 2 * 3);
        ExpectPaths(star, 0, 2, 1);

        // 3 leaves with 2 hosts and 4 spines.
        const PacketNetwork leafSpine = helper.CreateLeafSpine(3, 2, 4);
        Expect(leafSpine, 6 + 3 + 4, 2 * (6 + 3 * 4));
        ExpectPaths(leafSpine, 0, 1, 1); // of one leaf
        ExpectPaths(leafSpine, 0, 2, 4); // over any spine

        // k = 4: 16 hosts, 8 edges, 8 aggregation switches, 4 cores; every layer of cables has 16.
        const PacketNetwork fatTree = helper.CreateFatTree(4);
        Expect(fatTree, 16 + 8 + 8 + 4, 2 * (16 + 16 + 16));
        ExpectPaths(fatTree, 0, 1, 1);  // of one edge
        ExpectPaths(fatTree, 0, 2, 2);  // of one pod: k/2
        ExpectPaths(fatTree, 0, 15, 4); // of two: (k/2)^2
        for (uint32_t node = 16; node < fatTree.fabric->GetNodeCount(); ++node)
        {
            NS_TEST_EXPECT_MSG_EQ(fatTree.fabric->GetNode(node).GetPorts().size(), 4, "k ports a switch");
        }
    }

    void
    Expect(const PacketNetwork& network, uint32_t nodes, uint32_t ports)
    {
        NS_TEST_EXPECT_MSG_EQ(network.fabric->GetNodeCount(), nodes, "nodes");
        NS_TEST_EXPECT_MSG_EQ(network.fabric->GetPortCount(), ports, "ports, two for each cable");
    }

    void
    ExpectPaths(const PacketNetwork& network, uint32_t from, uint32_t to, uint64_t paths)
    {
        NS_TEST_EXPECT_MSG_EQ(network.router->CountPaths(from, to), paths, from << " to " << to);
        NS_TEST_EXPECT_MSG_EQ(network.router->CountPaths(to, from), paths, to << " to " << from);
    }
};

class LoadBalancingTest : public PacketTestCase
{
  public:
    LoadBalancingTest()
        : PacketTestCase("a flow takes one spine; sprayed, its packets take all of them")
    {
    }

  private:
    void
    DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(CountSpines("PerFlow"), 1, "a path for a pair");
        // 100 packets over 4 spines at random: that one gets none has probability 4 · 0.75^100 = 1.3e-12.
        NS_TEST_EXPECT_MSG_EQ(CountSpines("PerPacket"), 4, "every path");
    }

    /// \returns how many spines carried data of one message of 100 packets.
    uint32_t
    CountSpines(const std::string& loadBalancing)
    {
        constexpr uint32_t SPINES = 4;
        PacketFabricHelper helper;
        helper.SetRouterAttribute("LoadBalancing", StringValue(loadBalancing));
        helper.SetTransportAttribute("IsReordered", BooleanValue(loadBalancing == "PerPacket"));
        const PacketNetwork network = helper.CreateLeafSpine(2, 1, SPINES);
        const Arrivals arrivals(network);
        network.transport->Send({0, 1, 100 * PAYLOAD, nullptr, 0, 0});
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrivals.m_count, 1, "it arrives");
        uint32_t spines = 0;
        uint64_t packets = 0;
        for (uint32_t spine = 4; spine < 4 + SPINES; ++spine) // after 2 hosts and 2 leaves
        {
            const uint64_t carried = network.GetPort(2, spine).GetCounters().dataPackets;
            spines += carried > 0 ? 1 : 0;
            packets += carried;
        }
        NS_TEST_EXPECT_MSG_EQ(packets, 100, "every packet goes over a spine once");
        Simulator::Destroy();
        return spines;
    }
};

/// The names that doc/astrolabe.rst gives.
class NamesTest : public PacketTestCase
{
  public:
    NamesTest()
        : PacketTestCase("attributes and trace sources have the names of the documentation")
    {
    }

  private:
    void
    DoRun() override
    {
        Expect("ns3::PacketFabric",
               {"CutThrough",
                "CutThroughHeader",
                "LargestPacket",
                "BufferSharing",
                "DynamicShare",
                "MarkFrom",
                "MarkTo",
                "MarkProbability",
                "TrimmedSize",
                "TrimAbove",
                "FlowControl",
                "PauseAbove",
                "PauseFrame",
                "CreditRoom",
                "Priorities"},
               {"Enqueue", "Start", "Arrive", "Drop", "Mark", "Trim", "Pause"});
        Expect(
            "ns3::PacketTransport",
            {"Mtu",
             "Header",
             "AckSize",
             "AckEvery",
             "Window",
             "CongestionControl",
             "Recovery",
             "HasTimers",
             "Timeout",
             "MaxBackoff",
             "RetryLimit",
             "IsReordered"},
            {"Sent", "Delivered", "Retransmission", "Timeout", "GivenUp", "Window", "Rate", "Notification"});
        Expect("ns3::PacketShortestPathRouter", {"LoadBalancing"}, {});
        Expect("ns3::FabricQueue", {"ByteLimit", "MarkThreshold"}, {"Mark", "Enqueue", "Dequeue", "Drop"});
        Expect("ns3::FabricHostQueue", {"HeadersFirst", "DestinationsInTurn"}, {});
        Expect("ns3::TcpPeerDemux", {"PerPeer"}, {});
        Expect("ns3::FabricSwitch", {}, {"NoRoute"});
    }

    void
    Expect(const std::string& type,
           const std::vector<std::string>& attributes,
           const std::vector<std::string>& traces)
    {
        TypeId id;
        NS_TEST_ASSERT_MSG_EQ(TypeId::LookupByNameFailSafe(type, &id), true, type);
        for (const std::string& name : attributes)
        {
            TypeId::AttributeInformation information;
            NS_TEST_EXPECT_MSG_EQ(id.LookupAttributeByName(name, &information), true, type << "::" << name);
        }
        for (const std::string& name : traces)
        {
            NS_TEST_EXPECT_MSG_NE(id.LookupTraceSourceByName(name), nullptr, type << "::" << name);
        }
    }
};

class PacketSuite : public TestSuite
{
  public:
    PacketSuite()
        : TestSuite("astrolabe-packet", UNIT)
    {
        AddTestCase(new OneMessageTest, TestCase::QUICK);
        AddTestCase(new IncastTest, TestCase::QUICK);
        AddTestCase(new FlowControlTest("None"), TestCase::QUICK);
        AddTestCase(new FlowControlTest("Pause"), TestCase::QUICK);
        AddTestCase(new FlowControlTest("Credit"), TestCase::QUICK);
        AddTestCase(new MarkTest, TestCase::QUICK);
        AddTestCase(new ShapeTest, TestCase::QUICK);
        AddTestCase(new LoadBalancingTest, TestCase::QUICK);
        AddTestCase(new NamesTest, TestCase::QUICK);
    }
};

PacketSuite g_packetSuite;

} // namespace
