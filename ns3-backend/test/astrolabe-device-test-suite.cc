// SPDX-License-Identifier: GPL-2.0-only
/// Opera of ordinary nodes: sockets and applications of ns-3 over circuits that come and go. Times of single
/// packets and of the all-to-all are those of the simulator of Opera's authors on the same eight racks.
#include "opera-device-fixture.h"
#include "picosecond-test-case.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/on-off-helper.h"
#include "ns3/opera-net-device.h"
#include "ns3/opera-switch.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/string.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

using namespace ns3;

namespace
{

/// A frame of 1500 bytes over f circuits and one of 64 bytes back: 2σ + f(σ + p) there, the same with 5.12 ns
/// back; σ = 120 ns, p = 500 ns.
class RoundTripTest : public PicosecondTestCase
{
  public:
    RoundTripTest()
        : PicosecondTestCase(
              "a low-latency packet and its answer take the reference's times over 0 to 4 circuits")
    {
    }

  private:
    void DoRun() override
    {
        struct Case
        {
            uint32_t to;
            uint32_t circuits;
            int64_t reference; // ps
        };

        for (const Case& c : {Case{1, 0, 250'240},
                              Case{28, 1, 1'375'360},
                              Case{16, 2, 2'500'480},
                              Case{8, 3, 3'625'600},
                              Case{4, 4, 4'750'720}})
        {
            EightRacks net;
            net.Install();
            UdpHost asking(net, 0, FAST_PORT);
            UdpHost answering(net, c.to, FAST_PORT, true);
            asking.Send(net.addresses.GetAddress(c.to), FAST_PORT, FULL);
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(asking.m_count, 1, "it is answered");
            NS_TEST_EXPECT_MSG_EQ(asking.m_last,
                                  (2 + c.circuits) * (120'000 + 5'120) + 2 * c.circuits * 500'000,
                                  "store and forward over " << c.circuits << " circuits");
            NS_TEST_EXPECT_MSG_EQ(asking.m_last, c.reference, "as measured");
            Simulator::Destroy();
        }
    }
};

/// Direct bulk: rotor 0 connects racks 0 and 7 from 0 on, for a slot of 52.74 us. n packets fall due at
/// m/n of it and leave in turns of 4σ = 0.48 us; a packet takes 3σ + p = 0.86 us.
class BulkTimesTest : public PicosecondTestCase
{
  public:
    BulkTimesTest()
        : PicosecondTestCase("bulk packets wait for their circuits as in the reference")
    {
    }

  private:
    int64_t Run(uint32_t to, uint64_t packets, int64_t start)
    {
        EightRacks net;
        net.Install();
        UdpHost from(net, 0, BULK_PORT);
        UdpHost sink(net, to, BULK_PORT);
        const Ipv4Address address = net.addresses.GetAddress(to);
        Simulator::Schedule(PicoSeconds(start), [&] { from.Send(address, BULK_PORT, FULL, packets); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(sink.m_count, packets, "all arrive");
        NS_TEST_EXPECT_MSG_EQ(net.helper.GetFabric()->GetWaiting(), 0, "nothing is left");
        Simulator::Destroy();
        return sink.m_last - start;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Run(28, 1, 0), 860'000, "the circuit has just come up");
        // The 9th of 0 … 9 is due at 47.466 us; turn 98 of 0.48 us begins at 47.04 us, before which it is not
        // too early: it is due before turn 99.
        NS_TEST_EXPECT_MSG_EQ(Run(28, 10, 0), 47'040'000 + 860'000, "spread over the slot");
        // The last of 109 is due at 52.256 us: turn 108.
        NS_TEST_EXPECT_MSG_EQ(Run(28, 109, 0), 51'840'000 + 860'000, "a full slot");
        NS_TEST_EXPECT_MSG_EQ_TOL(Run(16, 1, 0), 32'540'000, 10'000, "by two hops");
        NS_TEST_EXPECT_MSG_EQ_TOL(Run(28, 1, 16'000'000), 48'220'000, 10'000, "the circuit was just missed");
    }
};

/// 70 packets from every host to every host of another rack, 896 pairs.
class AllToAllTest : public PicosecondTestCase
{
  public:
    AllToAllTest()
        : PicosecondTestCase("an all-to-all of 100 kB a pair takes the reference's time within 3 %")
    {
    }

  private:
    void DoRun() override
    {
        EightRacks net;
        net.Install();
        std::vector<std::unique_ptr<UdpHost>> hosts;
        for (uint32_t host = 0; host < 32; ++host)
        {
            hosts.push_back(std::make_unique<UdpHost>(net, host, BULK_PORT));
        }
        for (uint32_t from = 0; from < 32; ++from)
        {
            for (uint32_t to = 0; to < 32; ++to)
            {
                if (from / 4 != to / 4)
                {
                    hosts[from]->Send(net.addresses.GetAddress(to), BULK_PORT, FULL, 70);
                }
            }
        }
        Simulator::Run();
        int64_t last = 0;
        for (const auto& host : hosts)
        {
            NS_TEST_EXPECT_MSG_EQ(host->m_count, 28 * 70, "a host receives all");
            last = std::max(last, host->m_last);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(last, 502'000'000, 0.03 * 502'000'000, "the last");
        // 16 · 70 packets of a pair of racks, at most 4 · 109 in an installation, one a cycle: 2.57 cycles.
        NS_TEST_EXPECT_MSG_GT(last, 2 * 8 * int64_t{15'840'000}, "no sooner than circuits allow");
    }
};

/// What a BulkSendApplication of a number of bytes takes between two hosts of an otherwise idle network.
class Transfer
{
  public:
    Transfer(EightRacks& net, uint32_t from, uint32_t to, uint16_t port, uint64_t bytes)
        : m_bytes(bytes)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        m_sink = DynamicCast<PacketSink>(sink.Install(net.hosts.Get(to)).Get(0));
        m_sink->TraceConnectWithoutContext("Rx", MakeCallback(&Transfer::Receive, this));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(net.addresses.GetAddress(to), port));
        source.SetAttribute("MaxBytes", UintegerValue(bytes));
        source.SetAttribute("SendSize", UintegerValue(1442));
        source.Install(net.hosts.Get(from)).Start(Seconds(0));
    }

    void Receive(Ptr<const Packet> packet, const Address&)
    {
        m_received += packet->GetSize();
        m_last = Simulator::Now();
        if (m_received == m_bytes)
        {
            Simulator::Stop(MilliSeconds(1));
        }
    }

    uint64_t m_bytes;
    uint64_t m_received{0};
    Time m_last;
    Ptr<PacketSink> m_sink;
};

/// TCP with segments of a whole frame and timers of a data centre.
void
SetTcpDefaults(uint32_t window)
{
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1500 - 18 - 40 - 12));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(2)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MicroSeconds(100)));
}

class LowLatencyMegabyteTest : public PicosecondTestCase
{
  public:
    LowLatencyMegabyteTest()
        : PicosecondTestCase("a low-latency megabyte takes 1.1 times what its link needs at most")
    {
    }

  private:
    void DoRun() override
    {
        SetTcpDefaults(128 * 1024);
        EightRacks net(DataRate(10'000'000'000));
        net.Install();
        Transfer transfer(net, 0, 4, FAST_PORT, 1'000'000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(transfer.m_received, 1'000'000, "it arrives");
        NS_TEST_EXPECT_MSG_GT(transfer.m_last, MicroSeconds(800), "no faster than the link");
        NS_TEST_EXPECT_MSG_LT(transfer.m_last, MicroSeconds(880), "1.1 · 8 · 10^6 / 10^10 s");
    }
};

/// 688 frames of 1454 bytes of payload, a megabyte, from rack 0 to rack 1 at 10 Gb/s: eps is 38.7 us, T 50.4
/// us, a slot 3 T + eps = 189.9 us and 39 frames, a cycle 8 T.
class BulkMegabyteTest : public PicosecondTestCase
{
  public:
    BulkMegabyteTest()
        : PicosecondTestCase("a bulk megabyte takes 1.1 times its wait for circuits at most")
    {
    }

  private:
    double Run(bool twoHops)
    {
        EightRacks net(DataRate(10'000'000'000), {twoHops, true, false});
        net.Install();
        NS_TEST_EXPECT_MSG_EQ(net.helper.GetFabric()->GetSlotPackets(), 39, "189.9 / (4 * 1.2)");
        UdpHost from(net, 0, BULK_PORT);
        UdpHost sink(net, 4, BULK_PORT);
        from.Send(net.addresses.GetAddress(4), BULK_PORT, FULL, 688);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(sink.m_count, 688, "all arrive");
        Simulator::Destroy();
        return static_cast<double>(sink.m_last) / 1e6;
    }

    void DoRun() override
    {
        // Over direct circuits alone: M_5 connects 0 with 10 mod 7 = 3, M_4 with 1, the first of rotor 2. It
        // comes up at superslices 2, 10, 18, …; 688 frames are 17 · 39 + 25, so the last 25 use the
        // eighteenth, at 138.
        const double direct = 138 * 50.4 + 25 * 1.2 + 2 * 1.2 + 0.5;
        const double measuredDirect = Run(false);
        NS_TEST_EXPECT_MSG_GT(measuredDirect, direct, "no sooner than circuits allow");
        NS_TEST_EXPECT_MSG_LT(measuredDirect, 1.1 * direct, "within 1.1 of it");
        // With relays the source uses every circuit of its rack, 39 frames each, all superslices but the one
        // of a cycle in which it idles, 7: the last 25 frames leave by the eighteenth circuit, at superslice
        // 19, to rack 5, until 19 T + 24/25 of a slot = 1139.9 us. Rack 5 meets rack 1 at superslices 5, 13,
        // 21, 29, … and 21 T = 1058.4 us is before: some wait for 29 T.
        const double relayed = 29 * 50.4 + 3 * 1.2 + 0.5;
        const double measuredRelayed = Run(true);
        NS_TEST_EXPECT_MSG_GT(measuredRelayed, relayed, "no sooner than circuits allow");
        NS_TEST_EXPECT_MSG_LT(measuredRelayed, 1.1 * relayed, "within 1.1 of it");
    }
};

/// An unmodified BulkSendApplication over the direct circuits between two racks.
class DutyCycleTest : public PicosecondTestCase
{
  public:
    DutyCycleTest()
        : PicosecondTestCase("TCP over circuits reaches what their duty cycle leaves a pair of hosts")
    {
    }

  private:
    void DoRun() override
    {
        SetTcpDefaults(1'000'000);
        EightRacks net(DataRate(10'000'000'000), {false, true, false});
        net.Install();
        Transfer transfer(net, 0, 4, BULK_PORT, 0);
        uint64_t before = 0;
        // Ten cycles of 403.2 us, once the window is open.
        const Time cycle = NanoSeconds(403'200);
        Simulator::Schedule(20 * cycle, [&] { before = transfer.m_received; });
        Simulator::Stop(30 * cycle);
        Simulator::Run();
        const auto received = static_cast<double>(transfer.m_received - before);
        // 39 frames of 1430 bytes of TCP payload a cycle; a circuit is there for 189.9 of 403.2 us, and a
        // host has a quarter of it: 0.471 / 4 of 10 Gb/s, 38 frames' time and a rest that no whole frame fits
        // into.
        const double most = 10 * 39 * 1430.0;
        NS_TEST_EXPECT_MSG_EQ_TOL(received, most, 0.02 * most, "of the duty cycle");
    }
};

/// Applications, FlowMonitor, pcap and ascii as any ns-3 device has them.
class ToolsTest : public PicosecondTestCase
{
  public:
    ToolsTest()
        : PicosecondTestCase("applications, FlowMonitor, pcap and ascii agree with the fabric's counters")
    {
    }

  private:
    void Count(Ptr<const Packet> packet)
    {
        ++m_frames;
        m_frameBytes += packet->GetSize();
    }

    void DoRun() override
    {
        auto owned = std::make_unique<EightRacks>(DataRate(10'000'000'000));
        EightRacks& net = *owned;
        net.Install();
        UdpEchoServerHelper server(7);
        server.Install(net.hosts.Get(17));
        UdpEchoClientHelper client(net.addresses.GetAddress(17), 7);
        client.SetAttribute("MaxPackets", UintegerValue(20));
        client.SetAttribute("Interval", TimeValue(MicroSeconds(37)));
        client.SetAttribute("PacketSize", UintegerValue(700));
        client.Install(net.hosts.Get(2)).Start(Seconds(0));
        OnOffHelper onOff("ns3::UdpSocketFactory", InetSocketAddress(net.addresses.GetAddress(9), BULK_PORT));
        onOff.SetConstantRate(DataRate("1Gbps"), 1000);
        onOff.SetAttribute("MaxBytes", UintegerValue(200'000));
        onOff.Install(net.hosts.Get(2)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), BULK_PORT));
        const auto received = DynamicCast<PacketSink>(sink.Install(net.hosts.Get(9)).Get(0));
        FlowMonitorHelper monitors;
        const Ptr<FlowMonitor> monitor = monitors.Install(net.hosts);
        net.devices.Get(2)->TraceConnectWithoutContext("Sniffer", MakeCallback(&ToolsTest::Count, this));
        const std::string pcap = CreateTempDirFilename("host2.pcap");
        net.helper.EnablePcap(pcap, net.devices.Get(2), false, true);
        std::ostringstream ascii;
        net.helper.EnableAscii(Create<OutputStreamWrapper>(&ascii), net.devices.Get(2));
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();

        NS_TEST_EXPECT_MSG_EQ(received->GetTotalRx(), 200'000, "OnOffApplication");
        uint64_t bytes = 0;
        uint64_t packets = 0;
        for (const auto& [flow, stats] : monitor->GetFlowStats())
        {
            bytes += stats.rxBytes;
            packets += stats.rxPackets;
            NS_TEST_EXPECT_MSG_EQ(stats.txPackets, stats.rxPackets, "nothing is lost");
        }
        const OperaFabric::Counters& counters = net.helper.GetFabric()->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(packets, 20 + 20 + 200, "requests, answers and stream");
        NS_TEST_EXPECT_MSG_EQ(bytes, 40 * (700 + 28) + 200 * (1000 + 28), "with headers of UDP and IP");
        NS_TEST_EXPECT_MSG_EQ(counters.packets, packets, "packets of FlowMonitor are ours");
        NS_TEST_EXPECT_MSG_EQ(counters.bytes, bytes, "bytes of FlowMonitor are ours");
        NS_TEST_EXPECT_MSG_EQ(counters.bulkPackets, 200, "the service goes by port");
        NS_TEST_EXPECT_MSG_EQ(
            m_frames, 20 + 20 + 200, "the host sends requests and stream, and gets answers");

        // The file is whole once the devices are gone.
        Simulator::Destroy();
        owned.reset();
        // A file header of 24 bytes, and 16 before each frame. What the host relays would be promiscuous.
        std::ifstream file(pcap, std::ios::binary | std::ios::ate);
        NS_TEST_EXPECT_MSG_EQ(static_cast<uint64_t>(file.tellg()),
                              24 + 16 * m_frames + m_frameBytes,
                              "pcap has what the host sent and got");
        uint64_t lines = 0;
        const std::string text = ascii.str();
        for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        {
            lines += text[at] == '+' || text[at] == 'r' ? 1 : 0;
        }
        NS_TEST_EXPECT_MSG_EQ(lines, m_frames, "ascii has a + or an r for each");
    }

    uint64_t m_frames{0};
    uint64_t m_frameBytes{0};
};

/// The cable between rack 0 and rotor 1 fails in the middle of a stream of datagrams. Of the matchings only
/// M_7 leaves racks idle, so that rack 0 has a circuit left in every superslice. Racks 4 and 6, which rotor 1
/// connected it with, are reached by bulk in two hops.
class CableFailureTest : public PicosecondTestCase
{
  public:
    CableFailureTest()
        : PicosecondTestCase(
              "a cable that fails loses what is on it, and nothing from the next superslice on")
    {
    }

  private:
    void Lose(uint32_t, Ptr<const Packet>)
    {
        m_lost.push_back(Simulator::Now().GetMicroSeconds());
    }

    void DoRun() override
    {
        EightRacks net(DataRate(10'000'000'000));
        net.Install();
        const Ptr<OperaFabric> fabric = net.helper.GetFabric();
        fabric->FailCable(0, 1, MicroSeconds(1000));
        fabric->TraceConnectWithoutContext("Lost", MakeCallback(&CableFailureTest::Lose, this));
        UdpHost source(net, 0, FAST_PORT);
        UdpHost bulk(net, 1, BULK_PORT);
        std::vector<std::unique_ptr<UdpHost>> sinks;
        for (uint32_t rack = 1; rack < 8; ++rack)
        {
            sinks.push_back(std::make_unique<UdpHost>(net, 4 * rack, FAST_PORT));
            sinks.push_back(std::make_unique<UdpHost>(net, 4 * rack, BULK_PORT));
            bulk.Send(net.addresses.GetAddress(4 * rack), BULK_PORT, FULL, 100);
            for (uint32_t i = 0; i < 200; ++i)
            {
                Simulator::Schedule(MicroSeconds(10 * i), [&, rack] {
                    source.Send(net.addresses.GetAddress(4 * rack), FAST_PORT, LEAST);
                });
            }
        }
        Simulator::Run();
        uint64_t fast = 0;
        uint64_t slow = 0;
        for (std::size_t i = 0; i < sinks.size(); i += 2)
        {
            fast += sinks[i]->m_count;
            slow += sinks[i + 1]->m_count;
        }
        NS_TEST_EXPECT_MSG_EQ(slow, 700, "bulk frames come back from what failed, and go another way");
        NS_TEST_EXPECT_MSG_EQ(fast + m_lost.size(), 1400, "what is lost is counted");
        NS_TEST_EXPECT_MSG_GT(m_lost.size(), 0, "something was on its circuits");
        for (const int64_t when : m_lost)
        {
            // Superslice 20 starts at 1008 us; frames sent before arrive within a path of 4 circuits.
            NS_TEST_EXPECT_MSG_GT(when, 999, "not before");
            NS_TEST_EXPECT_MSG_LT(when, 1008 + 4 * 2, "not after the next superslice has begun");
        }
    }

    std::vector<int64_t> m_lost; //!< us
};

class SuiteOfDevices : public TestSuite
{
  public:
    SuiteOfDevices()
        : TestSuite("astrolabe-device")
    {
        AddTestCase(new RoundTripTest);
        AddTestCase(new BulkTimesTest);
        AddTestCase(new AllToAllTest);
        AddTestCase(new LowLatencyMegabyteTest);
        AddTestCase(new BulkMegabyteTest);
        AddTestCase(new DutyCycleTest);
        AddTestCase(new CableFailureTest);
    }
};

/// Apart from the others: ascii traces print packets, which ns-3 wants to know before there are any, and
/// which makes packets several times as slow.
class SuiteOfTools : public TestSuite
{
  public:
    SuiteOfTools()
        : TestSuite("astrolabe-device-tools")
    {
        AddTestCase(new ToolsTest);
    }
};

SuiteOfDevices g_suiteOfDevices;
SuiteOfTools g_suiteOfTools;

} // namespace
