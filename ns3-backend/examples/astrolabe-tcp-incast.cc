// SPDX-License-Identifier: GPL-2.0-only
/**
 * Incast on ns-3's own TCP: senders on one switch each send one message to the same receiver, all at once.
 *
 *     sender 1 ---+
 *     sender 2 ---+-- switch -- receiver
 *     ...      ---+
 *
 * Shows FabricHelper (here, a star), FabricQueue (a byte-exact queue with ECN marks and trace
 * sources) and FabricTransfer (a message over a connection of its own). Prints when each message had
 * arrived whole, and what the port to the receiver dropped and marked. With --dctcp, TcpDctcp and marks keep
 * the queue short. With --monitor, FlowMonitor's XML.
 */
#include "ns3/callback.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-transfer.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/// How long a queue gets, from its trace source.
class Peak
{
  public:
    void Observe(uint32_t, uint32_t bytes)
    {
        if (bytes > m_bytes)
        {
            m_bytes = bytes;
            m_when = Simulator::Now();
        }
    }

    uint32_t m_bytes{0};
    Time m_when;
};

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS); // a byte at 100 Gb/s takes 80 ps
    uint32_t senders = 8;
    uint64_t bytes = 1'000'000;
    uint64_t buffer = 1'000'000;
    uint32_t mtu = 9000;
    DataRate rate("100Gbps");
    Time latency = NanoSeconds(500);
    Time minRto = MilliSeconds(1); // ns-3's default, a second, is a hundred thousand round trips here
    bool dctcp = false;
    uint64_t threshold = 200'000;
    std::string monitor;
    CommandLine command(__FILE__);
    command.AddValue("senders", "hosts that send, 1 to 1000", senders);
    command.AddValue("bytes", "that each sends, 1 to 10^10", bytes);
    command.AddValue("buffer", "bytes that may wait for the receiver's link, at least two packets", buffer);
    command.AddValue("mtu", "IP datagram of a full packet, 576 to 9000 bytes", mtu);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("latency", "of every link", latency);
    command.AddValue("minRto", "smallest time before a segment is sent again", minRto);
    command.AddValue("dctcp", "TcpDctcp and ECN instead of ns-3's default TCP", dctcp);
    command.AddValue("threshold", "bytes waiting before marking starts, with --dctcp", threshold);
    command.AddValue("monitor", "file for FlowMonitor's XML", monitor);
    command.Parse(argc, argv);
    if (senders < 1 || senders > 1000 || bytes < 1 || bytes > 10'000'000'000 || mtu < 576 || mtu > 9000 ||
        buffer < 2 * (mtu + 2) || buffer > std::numeric_limits<uint32_t>::max() || rate.GetBitRate() == 0 ||
        latency.IsNegative() || minRto.IsNegative() || threshold == 0)
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mtu - 52)); // IP, TCP, timestamps
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1)); // a window may be one segment
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(minRto));
    if (dctcp)
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpDctcp::GetTypeId()));
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    }

    const FabricHelper helper(static_cast<uint16_t>(mtu));
    const ObjectFactory queue("ns3::FabricQueue",
                              "ByteLimit",
                              UintegerValue(buffer),
                              "MarkThreshold",
                              UintegerValue(dctcp ? threshold : 0));
    const FabricHelper::Star star = helper.CreateStar(senders + 1, rate, latency, queue);
    const Ptr<FabricQueue> bottleneck = star.queues[0];
    Peak peak;
    bottleneck->TraceConnectWithoutContext("BytesInQueue", MakeCallback(&Peak::Observe, &peak));

    std::vector<std::unique_ptr<FabricTransfer>> transfers;
    for (uint32_t i = 1; i <= senders; ++i)
    {
        transfers.push_back(std::make_unique<FabricTransfer>(star.hosts[i], star.hosts[0], 5000, bytes));
    }
    FlowMonitorHelper monitors;
    if (!monitor.empty())
    {
        NodeContainer hosts;
        for (const Ptr<Node>& host : star.hosts)
        {
            hosts.Add(host);
        }
        monitors.Install(hosts);
    }
    Simulator::Stop(Seconds(100));
    Simulator::Run();

    std::cout << std::fixed << std::setprecision(3) << "sender  completed (us)\n";
    Time last;
    bool isComplete = true;
    for (uint32_t i = 0; i < senders; ++i)
    {
        const Time end = transfers[i]->GetEnd();
        isComplete = isComplete && transfers[i]->IsComplete();
        last = std::max(last, end);
        std::cout << std::setw(6) << i + 1 << std::setw(16) << end.ToDouble(Time::US) << "\n";
    }
    const auto& counters = bottleneck->GetCounters();
    std::cout << "receiver's link "
              << 100 * 8 * static_cast<double>(counters.carriedBytes) /
                     static_cast<double>(rate.GetBitRate()) / last.ToDouble(Time::S)
              << " % busy; " << counters.drops << " drops, " << counters.marks << " marks, peak "
              << peak.m_bytes << " bytes at " << peak.m_when.ToDouble(Time::US) << " us\n";
    if (!monitor.empty())
    {
        monitors.SerializeToXmlFile(monitor, true, true);
    }
    transfers.clear();
    Simulator::Destroy();
    if (!isComplete)
    {
        std::cerr << "Not everything had arrived after 100 s.\n";
        return 1;
    }
    return 0;
}
