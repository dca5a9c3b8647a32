// SPDX-License-Identifier: GPL-2.0-only
/// What the helper builds of the packet engine, and by which names it can be changed and watched.
#include "packet-test-case.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/object-factory.h"
#include "ns3/packet-event-scheduler.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;

namespace
{

class ShapeTest : public PicosecondTestCase
{
  public:
    ShapeTest()
        : PicosecondTestCase("the helper's fabrics have the nodes, ports and paths that they should")
    {
    }

  private:
    void DoRun() override
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

    void Expect(const PacketNetwork& network, uint32_t nodes, uint32_t ports)
    {
        NS_TEST_EXPECT_MSG_EQ(network.fabric->GetNodeCount(), nodes, "nodes");
        NS_TEST_EXPECT_MSG_EQ(network.fabric->GetPortCount(), ports, "ports, two for each cable");
    }

    void ExpectPaths(const PacketNetwork& network, uint32_t from, uint32_t to, uint64_t paths)
    {
        NS_TEST_EXPECT_MSG_EQ(network.router->CountPaths(from, to), paths, from << " to " << to);
        NS_TEST_EXPECT_MSG_EQ(network.router->CountPaths(to, from), paths, to << " to " << from);
    }
};

class LoadBalancingTest : public PicosecondTestCase
{
  public:
    LoadBalancingTest()
        : PicosecondTestCase("a flow takes one spine; sprayed, its packets take all of them")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(CountSpines("PerFlow"), 1, "a path for a pair");
        // 100 packets over 4 spines at random: that one gets none has probability 4 · 0.75^100 = 1.3e-12.
        NS_TEST_EXPECT_MSG_EQ(CountSpines("PerPacket"), 4, "every path");
    }

    /// \returns how many spines carried data of one message of 100 packets.
    uint32_t CountSpines(const std::string& loadBalancing)
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
class NamesTest : public PicosecondTestCase
{
  public:
    NamesTest()
        : PicosecondTestCase("attributes and trace sources have the names of the documentation")
    {
    }

  private:
    void DoRun() override
    {
        Expect("ns3::PacketFabric",
               {"Switching",
                "CutThroughHeader",
                "LargestPacket",
                "BufferSharing",
                "DynamicShare",
                "EcnThreshold",
                "EcnMaxThreshold",
                "EcnProbability",
                "TrimmedSize",
                "TrimThreshold",
                "FlowControl",
                "PauseThreshold",
                "PauseFrame",
                "CreditRoom",
                "TrafficClasses",
                "Service"},
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

    void Expect(const std::string& type,
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

class DefaultsTest : public PicosecondTestCase
{
  public:
    DefaultsTest()
        : PicosecondTestCase("defaults reach the transport, and an attribute given to the helper wins")
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::PacketTransport::Mtu", UintegerValue(1000));
        PacketFabricHelper helper;
        NS_TEST_EXPECT_MSG_EQ(CountPackets(helper), 5, "4096 bytes in packets of 1000");
        helper.SetTransportAttribute("Mtu", UintegerValue(2048));
        NS_TEST_EXPECT_MSG_EQ(CountPackets(helper), 2, "4096 bytes in packets of 2048");
        Config::Reset();
    }

    uint64_t CountPackets(const PacketFabricHelper& helper)
    {
        const PacketNetwork network = helper.CreateStar(2);
        SendToFirst(network, 1, PAYLOAD);
        Simulator::Run();
        Simulator::Destroy();
        return network.transport->GetCounters().packets;
    }
};

/// 16 hosts on 4 leaves and 4 spines that send to one another, each to each, in packets of 256 bytes; on one
/// thread and on several. Each sends some 15 · 82 packets of 338 bytes with headers, at 80 ps a byte, in
/// 33 us; so about 300 leave in the 500 ns of a window and cross up to three switches, enough for threads to
/// work at a time (PacketRegions).
class DivisionTest : public PicosecondTestCase
{
  public:
    DivisionTest()
        : PicosecondTestCase("a fabric divided among threads delivers, counts and ends as undivided")
    {
    }

  private:
    struct Seen
    {
        uint32_t threads;
        std::vector<std::tuple<uint32_t, uint32_t, int64_t>> deliveries;
        std::vector<uint64_t> carried; //!< bytes, by port
        uint64_t events;
    };

    void DoRun() override
    {
        const Seen alone = See(1);
        NS_TEST_EXPECT_MSG_EQ(alone.threads, 1, "what was asked for");
        NS_TEST_EXPECT_MSG_EQ(alone.deliveries.size(), HOSTS * (HOSTS - 1), "all arrive");
        for (uint32_t threads = 2; threads <= 4; ++threads)
        {
            const Seen together = See(threads);
            NS_TEST_EXPECT_MSG_EQ(together.threads, threads, "there are more switches");
            NS_TEST_EXPECT_MSG_EQ((together.deliveries == alone.deliveries), true, "what arrives when");
            NS_TEST_EXPECT_MSG_EQ((together.carried == alone.carried), true, "what links carried");
            NS_TEST_EXPECT_MSG_EQ(together.events, alone.events, "events");
        }
        m_memory = 1'000'000;
        NS_TEST_EXPECT_MSG_EQ(See(4).threads, 1, "where packets may be dropped");
    }

    Seen See(uint32_t threads)
    {
        Simulator::SetScheduler(ObjectFactory("ns3::PacketEventScheduler"));
        PacketEventScheduler::SetPortsFirst(true);
        PacketFabricHelper helper;
        helper.SetTransportAttribute("Mtu", UintegerValue(256));
        helper.SetSwitchMemory(m_memory);
        const PacketNetwork network = helper.CreateLeafSpine(4, HOSTS / 4, 4);
        Seen seen{};
        seen.threads = network.fabric->Divide(
            threads, *network.router, [&network] { return network.transport->GetOutstandingCount(); });
        m_deliveries = &seen.deliveries;
        network.transport->TraceConnectWithoutContext("Delivered", MakeCallback(&DivisionTest::Note, this));
        for (uint32_t by = 1; by < HOSTS; ++by)
        {
            for (uint32_t host = 0; host < HOSTS; ++host)
            {
                network.transport->Send({host, (host + by) % HOSTS, 20'000 + 100 * host, nullptr, 0, 0});
            }
        }
        Simulator::Run();
        network.fabric->Settle();
        for (uint32_t port = 0; port < network.fabric->GetPortCount(); ++port)
        {
            seen.carried.push_back(network.fabric->GetPort(port).GetCounters().carriedBytes);
        }
        seen.events =
            Simulator::GetEventCount() + static_cast<uint64_t>(network.fabric->GetEventsElsewhere());
        network.fabric->Detach();
        Simulator::Destroy();
        PacketEventScheduler::SetPortsFirst(false);
        return seen;
    }

    void Note(const PacketMessage& message, Time completion)
    {
        m_deliveries->emplace_back(message.source, message.destination, completion.GetPicoSeconds());
    }

    static constexpr uint32_t HOSTS = 16;
    std::vector<std::tuple<uint32_t, uint32_t, int64_t>>* m_deliveries{nullptr};
    uint64_t m_memory{0};
};

class FabricSuite : public TestSuite
{
  public:
    FabricSuite()
        : TestSuite("astrolabe-fabric")
    {
        AddTestCase(new ShapeTest);
        AddTestCase(new LoadBalancingTest);
        AddTestCase(new NamesTest);
        AddTestCase(new DefaultsTest);
        AddTestCase(new DivisionTest);
    }
};

FabricSuite g_fabricSuite;

} // namespace
