// SPDX-License-Identifier: GPL-2.0-only
/// The devices, queues and helpers for ns3's own TCP, as a user of the module sees them.
#include "ns3/fabric-helper.h"
#include "ns3/fabric-queue.h"
#include "ns3/fabric-transfer.h"
#include "ns3/ipv4-header.h"
#include "ns3/object-factory.h"
#include "ns3/ppp-header.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <memory>
#include <vector>

using namespace ns3;

namespace
{

/// Counts the packets of a trace source.
class Counter
{
  public:
    void Count(Ptr<const Packet>)
    {
        ++m_count;
    }

    uint32_t m_count{0};
};

/// An IPv4 packet of `bytes` as a point-to-point device hands it to its queue.
Ptr<Packet>
MakeFrame(uint32_t bytes, Ipv4Header::EcnType ecn)
{
    Ipv4Header ip;
    PppHeader ppp;
    ip.SetPayloadSize(static_cast<uint16_t>(bytes - ip.GetSerializedSize() - ppp.GetSerializedSize()));
    ip.SetEcn(ecn);
    ppp.SetProtocol(0x0021);
    auto frame = Create<Packet>(ip.GetPayloadSize());
    frame->AddHeader(ip);
    frame->AddHeader(ppp);
    return frame;
}

class QueueLimitTest : public TestCase
{
  public:
    QueueLimitTest()
        : TestCase("a queue holds ByteLimit bytes and no byte more")
    {
    }

  private:
    void DoRun() override
    {
        auto queue = CreateObject<FabricQueue>();
        queue->SetAttribute("ByteLimit", UintegerValue(2500));
        Counter drops;
        queue->TraceConnectWithoutContext("Drop", MakeCallback(&Counter::Count, &drops));
        NS_TEST_EXPECT_MSG_EQ(queue->Enqueue(MakeFrame(1000, Ipv4Header::ECN_NotECT)), true, "1000");
        NS_TEST_EXPECT_MSG_EQ(queue->Enqueue(MakeFrame(1000, Ipv4Header::ECN_NotECT)), true, "2000");
        NS_TEST_EXPECT_MSG_EQ(queue->Enqueue(MakeFrame(501, Ipv4Header::ECN_NotECT)), false, "2501");
        NS_TEST_EXPECT_MSG_EQ(queue->Enqueue(MakeFrame(500, Ipv4Header::ECN_NotECT)), true, "2500");
        NS_TEST_EXPECT_MSG_EQ(drops.m_count, 1, "the third");
        NS_TEST_EXPECT_MSG_EQ(queue->GetCounters().drops, 1, "the third");
        NS_TEST_EXPECT_MSG_EQ(queue->GetCounters().peakBytes, 2500, "the limit");
    }
};

class SharedMemoryTest : public TestCase
{
  public:
    SharedMemoryTest()
        : TestCase("queues that share a memory hold no more than it together")
    {
    }

  private:
    void DoRun() override
    {
        const auto memory = Create<SharedPacketMemory>(1500);
        auto first = CreateObject<FabricQueue>();
        auto second = CreateObject<FabricQueue>();
        first->SetSharedMemory(memory);
        second->SetSharedMemory(memory);
        NS_TEST_EXPECT_MSG_EQ(first->Enqueue(MakeFrame(1000, Ipv4Header::ECN_NotECT)), true, "1000 of 1500");
        NS_TEST_EXPECT_MSG_EQ(second->Enqueue(MakeFrame(1000, Ipv4Header::ECN_NotECT)), false, "500 left");
        first->Dequeue();
        NS_TEST_EXPECT_MSG_EQ(second->Enqueue(MakeFrame(1000, Ipv4Header::ECN_NotECT)), true, "all free");
        NS_TEST_EXPECT_MSG_EQ(memory->GetUsed(), 1000, "of the second");
    }
};

class MarkTest : public TestCase
{
  public:
    MarkTest()
        : TestCase("a packet that finds more than MarkThreshold bytes is marked if its sender understands")
    {
    }

  private:
    void DoRun() override
    {
        auto queue = CreateObject<FabricQueue>();
        queue->SetAttribute("MarkThreshold", UintegerValue(1000));
        Counter marks;
        queue->TraceConnectWithoutContext("Mark", MakeCallback(&Counter::Count, &marks));
        queue->Enqueue(MakeFrame(1000, Ipv4Header::ECN_ECT0)); // finds 0
        queue->Enqueue(MakeFrame(1000, Ipv4Header::ECN_ECT0)); // finds 1000, not more
        NS_TEST_EXPECT_MSG_EQ(marks.m_count, 0, "nothing found more than 1000 bytes");
        queue->Enqueue(MakeFrame(1000, Ipv4Header::ECN_ECT0));   // finds 2000
        queue->Enqueue(MakeFrame(1000, Ipv4Header::ECN_NotECT)); // finds 3000, does not understand
        NS_TEST_EXPECT_MSG_EQ(marks.m_count, 1, "the third");
        NS_TEST_EXPECT_MSG_EQ(queue->GetCounters().marks, 1, "the third");
    }
};

/// 4 hosts send 300 kB each to a fifth, through a port with room for 30 kB.
class IncastTest : public TestCase
{
  public:
    IncastTest()
        : TestCase("incast into a short queue: it keeps its limit, and TCP delivers everything")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t SENDERS = 4;
        constexpr uint64_t BYTES = 300'000;
        constexpr uint64_t LIMIT = 30'000;
        const DataRate rate("10Gbps");
        const FabricHelper helper(1500);
        const auto star =
            helper.CreateStar(SENDERS + 1,
                              rate,
                              MicroSeconds(1),
                              ObjectFactory("ns3::FabricQueue", "ByteLimit", UintegerValue(LIMIT)));
        std::vector<std::unique_ptr<FabricTransfer>> transfers;
        for (uint32_t sender = 1; sender <= SENDERS; ++sender)
        {
            transfers.push_back(
                std::make_unique<FabricTransfer>(star.hosts[sender], star.hosts[0], 5000, BYTES));
        }
        Counter drops;
        star.queues[0]->TraceConnectWithoutContext("Drop", MakeCallback(&Counter::Count, &drops));
        Simulator::Stop(Seconds(60));
        Simulator::Run();
        Time last;
        for (const auto& transfer : transfers)
        {
            NS_TEST_EXPECT_MSG_EQ(transfer->IsComplete(), true, "every byte arrives");
            last = std::max(last, transfer->GetEnd());
        }
        const auto& counters = star.queues[0]->GetCounters();
        NS_TEST_EXPECT_MSG_LT_OR_EQ(counters.peakBytes, LIMIT, "room");
        NS_TEST_EXPECT_MSG_EQ(counters.drops, drops.m_count, "the trace source reports every drop");
        // Each sender starts with 10 segments of 536 B (RFC 6928 and ns-3's defaults), 21 kB in all, which
        // fit, and doubles that every round trip: the next 42 kB do not.
        NS_TEST_EXPECT_MSG_GT(counters.drops, 0, "the queue is too short");
        // No link is faster than its rate: 4 · 300 kB of payload take at least 960 us.
        NS_TEST_EXPECT_MSG_GT_OR_EQ(last, rate.CalculateBytesTxTime(SENDERS * BYTES), "the rate of the link");
        transfers.clear();
        Simulator::Destroy();
    }
};

class TcpSuite : public TestSuite
{
  public:
    TcpSuite()
        : TestSuite("astrolabe-tcp")
    {
        AddTestCase(new QueueLimitTest);
        AddTestCase(new SharedMemoryTest);
        AddTestCase(new MarkTest);
        AddTestCase(new IncastTest);
    }
};

TcpSuite g_tcpSuite;

} // namespace
