// SPDX-License-Identifier: GPL-2.0-only
/// The packet engine as a user of the module sees it: helpers, attributes and trace sources by name, and the
/// numbers that follow from rates and sizes alone.
#include "packet-test-case.h"

#include "ns3/boolean.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <string>

using namespace ns3;

namespace
{

class OneMessageTest : public PicosecondTestCase
{
  public:
    OneMessageTest()
        : PicosecondTestCase("a message over a switch takes what its packets take, to the picosecond")
    {
    }

  private:
    void DoRun() override
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

class ForwardingHostsTest : public PicosecondTestCase
{
  public:
    ForwardingHostsTest()
        : PicosecondTestCase(
              "hosts that forward for each other take their time at each hop, to the picosecond")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t FORWARDING = 700'000;
        PacketFabricHelper helper;
        helper.SetForwarding(PicoSeconds(FORWARDING));
        // Strides 1 and 5 of 16: 3 links from 13 to 0, one of stride 5 and two back, or three of stride 1.
        const PacketNetwork network = helper.CreateDirectConnect(16, {1, 5});
        NS_TEST_EXPECT_MSG_EQ(network.router->CountPaths(4, 0), 2, "5 back and 1 forward, either first");
        const Arrivals arrivals(network);
        network.transport->Send({13, 0, 10 * PAYLOAD, nullptr, 0, 0});
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrivals.m_count, 1, "it arrives");
        NS_TEST_EXPECT_MSG_EQ(arrivals.m_last,
                              10 * PACKET_TIME + LATENCY + 2 * (FORWARDING + PACKET_TIME + LATENCY),
                              "ten packets leave, and the last is forwarded twice");
    }
};

class IncastTest : public PicosecondTestCase
{
  public:
    IncastTest()
        : PicosecondTestCase(
              "incast leaves no gap: the link to the receiver is busy from the first packet to the last")
    {
    }

  private:
    void DoRun() override
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
class FlowControlTest : public PicosecondTestCase
{
  public:
    explicit FlowControlTest(const std::string& flowControl)
        : PicosecondTestCase("scarce memory, flow control " + flowControl),
          m_flowControl(flowControl)
    {
    }

  private:
    void DoRun() override
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
            network.fabric->GetContext().drops, drops.m_count, "the trace reports every drop");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(arrivals.m_last, 800 * PACKET_TIME, "the rate of the receiver's link");
        if (!isLossy)
        {
            NS_TEST_EXPECT_MSG_EQ(network.transport->GetCounters().retransmissions, 0, "nothing was lost");
        }
    }

    std::string m_flowControl;
};

class MarkTest : public PicosecondTestCase
{
  public:
    MarkTest()
        : PicosecondTestCase("DCTCP keeps the queue that marks its packets shorter")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t without = Run(false);
        const uint64_t with = Run(true);
        // Four windows of 500 kB less what the links hold would wait for ever; DCTCP's first windows are 16
        // packets.
        NS_TEST_EXPECT_MSG_LT(with, without / 2, "peak of the queue in bytes");
    }

    /// \returns the largest length of the receiver's queue.
    uint64_t Run(bool isDctcp)
    {
        PacketFabricHelper helper;
        if (isDctcp)
        {
            helper.SetFabricAttribute("EcnThreshold", UintegerValue(50'000));
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
        NS_TEST_EXPECT_MSG_EQ(counters.marks, marks.m_count, "the trace reports every mark");
        Simulator::Destroy();
        return counters.peakBytes;
    }
};

class PacketSuite : public TestSuite
{
  public:
    PacketSuite()
        : TestSuite("astrolabe-packet")
    {
        AddTestCase(new OneMessageTest);
        AddTestCase(new ForwardingHostsTest);
        AddTestCase(new IncastTest);
        AddTestCase(new FlowControlTest("None"));
        AddTestCase(new FlowControlTest("Pfc"));
        AddTestCase(new FlowControlTest("Credit"));
        AddTestCase(new MarkTest);
    }
};

PacketSuite g_packetSuite;

} // namespace
