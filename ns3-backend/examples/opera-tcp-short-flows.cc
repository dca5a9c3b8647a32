// SPDX-License-Identifier: GPL-2.0-only
/**
 * TCP over Opera, unmodified: short flows between random hosts start at random times and go by low latency,
 * over the expander of the moment; one long flow goes by bulk, over circuits that come and go, and shows what
 * TCP makes of them: segments that overtake each other on two-hop ways, and timeouts while no circuit is
 * there. Prints each beside its bound, and writes what a plot needs.
 *
 *     ./ns3 run "opera-tcp-short-flows --flows=200 --plot=short.dat --monitor=short.xml"
 *     gnuplot -p -e "plot 'short.dat' index 0 using 1:2 with lines title 'bulk, Gb/s'"
 *     gnuplot -p -e "plot 'short.dat' index 1 using 1:2 with steps title 'share of short flows by us'"
 */
#include "ns3/bulk-send-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/opera-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint16_t BULK_PORT = 9;
constexpr uint32_t SEGMENT = 1500 - 18 - 20 - 32; // Ethernet, IP, TCP with timestamps

/// A flow, from its start to its last byte.
struct Flow
{
    Flow(uint32_t source, uint32_t destination, uint64_t size, Time begin)
        : from(source),
          to(destination),
          bytes(size),
          start(begin)
    {
    }

    void Receive(Ptr<const Packet> packet, const Address&)
    {
        received += packet->GetSize();
        end = Simulator::Now();
    }

    uint32_t from;
    uint32_t to;
    uint64_t bytes;
    Time start;
    uint64_t received{0};
    Time end;
};

/// Data segments of the bulk flow in the order they arrive at its host, below TCP.
struct Order
{
    void Receive(Ptr<const Packet> datagram, Ptr<Ipv4>, uint32_t)
    {
        const Ptr<Packet> copy = datagram->Copy();
        Ipv4Header ip;
        TcpHeader tcp;
        copy->RemoveHeader(ip);
        if (ip.GetProtocol() != TcpL4Protocol::PROT_NUMBER || copy->RemoveHeader(tcp) == 0 ||
            tcp.GetDestinationPort() != BULK_PORT || copy->GetSize() == 0)
        {
            return;
        }
        const uint32_t sequence = tcp.GetSequenceNumber().GetValue();
        ++segments;
        overtaken += sequence < highest ? 1 : 0;
        highest = std::max(highest, sequence);
    }

    uint64_t segments{0};
    uint64_t overtaken{0}; //!< behind a higher one, those sent again included
    uint32_t highest{0};
};

void
Connect(const NodeContainer& hosts, const Ipv4InterfaceContainer& addresses, Flow& flow, uint16_t port)
{
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(hosts.Get(flow.to))
        .Get(0)
        ->TraceConnectWithoutContext("Rx", MakeCallback(&Flow::Receive, &flow));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(addresses.GetAddress(flow.to), port));
    source.SetAttribute("MaxBytes", UintegerValue(flow.bytes));
    source.SetAttribute("SendSize", UintegerValue(SEGMENT));
    source.Install(hosts.Get(flow.from)).Start(flow.start);
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    uint32_t racks = 8;
    uint32_t rotors = 4;
    uint32_t flows = 100;
    uint64_t bytes = 50'000;
    Time duration = MilliSeconds(20);
    std::string plot;
    std::string monitorFile;
    CommandLine command(__FILE__);
    command.AddValue("racks", "of four hosts, a multiple of the rotors, 4 to 64", racks);
    command.AddValue("rotors", "4 to 16", rotors);
    command.AddValue("flows", "short ones, 1 to 10000", flows);
    command.AddValue("bytes", "of a short flow, 1 to 10^7", bytes);
    command.AddValue("duration", "of the bulk flow; short ones start in its first half", duration);
    command.AddValue(
        "plot", "file for gnuplot: goodput of the bulk flow over time, times of short flows", plot);
    command.AddValue("monitor", "file for the XML of FlowMonitor", monitorFile);
    command.Parse(argc, argv);
    if (racks < 4 || racks > 64 || rotors < 4 || rotors > 16 || racks % rotors != 0 || flows < 1 ||
        flows > 10'000 || bytes < 1 || bytes > 10'000'000 || !duration.IsStrictlyPositive())
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1'000'000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));

    NodeContainer hosts;
    hosts.Create(4 * racks);
    OperaHelper opera;
    opera.SetSize(racks, rotors);
    opera.SetQueue(16);
    opera.SetPortService(BULK_PORT, OperaService::BULK);
    const NetDeviceContainer devices = opera.Install(hosts);
    InternetStackHelper internet;
    internet.Install(hosts);
    const Ipv4InterfaceContainer addresses = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);

    const auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(1);
    std::vector<std::unique_ptr<Flow>> all;
    all.push_back(std::make_unique<Flow>(0, 4 * racks - 1, 0, Time(0)));
    Connect(hosts, addresses, *all.front(), BULK_PORT);
    for (uint32_t i = 0; i < flows; ++i)
    {
        const uint32_t from = random->GetInteger(0, 4 * racks - 1);
        const uint32_t to = (from + random->GetInteger(1, 4 * racks - 1)) % (4 * racks);
        const Time start =
            PicoSeconds(static_cast<int64_t>(random->GetValue(0, 0.5) * duration.GetPicoSeconds()));
        all.push_back(std::make_unique<Flow>(from, to, bytes, start));
        Connect(hosts, addresses, *all.back(), static_cast<uint16_t>(1000 + i));
    }
    Order order;
    hosts.Get(all.front()->to)
        ->GetObject<Ipv4L3Protocol>()
        ->TraceConnectWithoutContext("Rx", MakeCallback(&Order::Receive, &order));
    FlowMonitorHelper monitors;
    const Ptr<FlowMonitor> monitor = monitors.Install(hosts);
    std::vector<uint64_t> goodput;
    const Time step = MicroSeconds(100);
    for (Time when = step; when <= duration; when += step)
    {
        Simulator::Schedule(when, [&] { goodput.push_back(all.front()->received); });
    }
    Simulator::Stop(duration);
    Simulator::Run();

    std::vector<double> times;
    for (std::size_t i = 1; i < all.size(); ++i)
    {
        if (all[i]->received == all[i]->bytes)
        {
            times.push_back((all[i]->end - all[i]->start).ToDouble(Time::US));
        }
    }
    std::sort(times.begin(), times.end());
    const OperaFabric& fabric = *opera.GetFabric();
    const OperaSchedule& schedule = fabric.GetSchedule();
    const double cycle = PicoSeconds(schedule.GetLength() * schedule.GetSuperslices()).ToDouble(Time::US);
    const double frames = static_cast<double>((bytes + SEGMENT - 1) / SEGMENT);
    std::cout << std::fixed << std::setprecision(1) << "low latency: " << times.size() << " of " << flows
              << " flows of " << bytes << " bytes complete";
    if (!times.empty())
    {
        std::cout << "; us, p50 " << times[times.size() / 2] << ", p99 " << times[times.size() * 99 / 100]
                  << ", last " << times.back();
    }
    std::cout << "; their frames take " << 8e-4 * (static_cast<double>(bytes) + frames * (1500.0 - SEGMENT))
              << " us of a link\n";
    const double most = fabric.GetSlotPackets() * SEGMENT * 8.0 / cycle / 1e3;
    std::cout << std::setprecision(3)
              << "bulk: " << 8e-3 * static_cast<double>(all.front()->received) / duration.ToDouble(Time::US)
              << " Gb/s of TCP payload; direct circuits alone, " << fabric.GetSlotPackets()
              << " frames in a cycle of " << cycle << " us, carry " << most << ", all circuits of the rack "
              << most * (racks - 1) << "\n"
              << order.overtaken << " of " << order.segments
              << " segments arrived behind a higher one, those sent again included; "
              << fabric.GetCounters().relayed << " frames left relays, " << fabric.GetCounters().returned
              << " came to a circuit that was gone\n";
    uint64_t received = 0;
    for (const auto& [flow, stats] : monitor->GetFlowStats())
    {
        received += stats.rxBytes;
    }
    std::cout << "FlowMonitor counted " << received << " bytes, the fabric " << fabric.GetCounters().bytes
              << "; " << fabric.GetCounters().lost << " frames lost, " << fabric.GetCounters().drops
              << " dropped\n";
    if (!monitorFile.empty())
    {
        monitor->SerializeToXmlFile(monitorFile, true, true);
    }
    if (!plot.empty())
    {
        std::ofstream out(plot);
        out << "# us, Gb/s of the bulk flow\n";
        for (std::size_t i = 0; i < goodput.size(); ++i)
        {
            const uint64_t before = i == 0 ? 0 : goodput[i - 1];
            out << static_cast<double>(i + 1) * step.ToDouble(Time::US) << " "
                << 8e-3 * static_cast<double>(goodput[i] - before) / step.ToDouble(Time::US) << "\n";
        }
        out << "\n\n# us, share of short flows that take no longer\n";
        for (std::size_t i = 0; i < times.size(); ++i)
        {
            out << times[i] << " " << static_cast<double>(i + 1) / static_cast<double>(flows) << "\n";
        }
    }
    Simulator::Destroy();
    return times.size() == flows ? 0 : 1;
}
