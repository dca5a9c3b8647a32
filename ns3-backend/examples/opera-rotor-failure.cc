// SPDX-License-Identifier: GPL-2.0-only
/**
 * A rotor switch fails under TCP flows that go by low latency over the expander of the moment. Hosts and
 * switches know of it from the next superslice on; what was on its circuits until then is lost, and TCP sends
 * it again. Prints the goodput of all flows before and after beside that of their hosts' links, and writes it
 * over time.
 *
 *     ./ns3 run "opera-rotor-failure --racks=16 --rotors=8 --plot=failure.dat"
 *     gnuplot -p -e "plot 'failure.dat' using 1:2 with lines title 'Gb/s of TCP payload'"
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
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    constexpr uint32_t SEGMENT = 1500 - 18 - 20 - 32; // Ethernet, IP, TCP with timestamps
    uint32_t racks = 16;
    uint32_t rotors = 8;
    uint32_t flows = 2;
    uint32_t rotor = 1;
    const Time step = MicroSeconds(100); // of goodput
    Time failure = MilliSeconds(2);
    Time duration = MilliSeconds(5);
    std::string plot;
    CommandLine command(__FILE__);
    command.AddValue("racks", "of one host, a multiple of the rotors, 4 to 64", racks);
    command.AddValue("rotors", "4 to 16", rotors);
    command.AddValue("flows", "from hosts to the rack half way round, 1 to half the racks", flows);
    command.AddValue("rotor", "that fails", rotor);
    command.AddValue("failure", "when, from 1.1 ms on", failure);
    command.AddValue("duration", "of the run, until 2.1 ms after the failure or longer", duration);
    command.AddValue("plot", "file for gnuplot: goodput over time", plot);
    command.Parse(argc, argv);
    if (racks < 4 || racks > 64 || rotors < 4 || rotors > 16 || racks % rotors != 0 || flows < 1 ||
        flows > racks / 2 || rotor >= rotors || failure < MilliSeconds(1) + step ||
        duration < failure + MilliSeconds(2) + step)
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(100'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(100'000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));

    NodeContainer hosts;
    hosts.Create(racks);
    OperaHelper opera;
    opera.SetSize(racks, rotors);
    opera.SetQueue(32);
    opera.SetClassifierAttribute("Cutoff", UintegerValue(1'000'000'000)); // all is low-latency
    const NetDeviceContainer devices = opera.Install(hosts);
    InternetStackHelper internet;
    internet.Install(hosts);
    const Ipv4InterfaceContainer addresses = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    opera.GetFabric()->FailRotor(rotor, failure);
    uint64_t received = 0;
    for (uint32_t from = 0; from < flows; ++from)
    {
        const uint32_t to = from + racks / 2;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 10));
        sink.Install(hosts.Get(to))
            .Get(0)
            ->TraceConnectWithoutContext(
                "Rx",
                Callback<void, Ptr<const Packet>, const Address&>(
                    [&](Ptr<const Packet> packet, const Address&) { received += packet->GetSize(); }));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(addresses.GetAddress(to), 10));
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        source.Install(hosts.Get(from)).Start(Time(0));
    }
    FlowMonitorHelper monitors;
    const Ptr<FlowMonitor> monitor = monitors.Install(hosts);
    std::vector<uint64_t> bytes{0}; // by time: i steps
    for (Time when = step; when <= duration; when += step)
    {
        Simulator::Schedule(when, [&] { bytes.push_back(received); });
    }
    Simulator::Stop(duration);
    Simulator::Run();

    const auto goodput = [&](Time from, Time to) {
        const auto first = static_cast<std::size_t>(from.GetTimeStep() / step.GetTimeStep());
        const auto last = static_cast<std::size_t>(to.GetTimeStep() / step.GetTimeStep());
        return 8e-3 * static_cast<double>(bytes[last] - bytes[first]) /
               (static_cast<double>(last - first) * step.ToDouble(Time::US));
    };
    const double most = flows * 10.0 * SEGMENT / 1500;
    std::cout << std::fixed << std::setprecision(2) << flows
              << " flows, Gb/s of TCP payload: " << goodput(MilliSeconds(1), failure)
              << " before the failure, " << goodput(failure, failure + MilliSeconds(2))
              << " in the 2 ms after, " << goodput(failure + MilliSeconds(2), duration)
              << " later; their hosts' links carry " << most << "\n";
    uint64_t counted = 0;
    for (const auto& [flow, stats] : monitor->GetFlowStats())
    {
        counted += stats.rxBytes;
    }
    const OperaFabric::Counters& counters = opera.GetFabric()->GetCounters();
    std::cout << counters.lost << " frames lost on circuits, " << counters.drops << " dropped, "
              << counters.rerouted << " rerouted; FlowMonitor counted " << counted << " bytes, the fabric "
              << counters.bytes << "\n";
    if (!plot.empty())
    {
        std::ofstream out(plot);
        out << "# us, Gb/s\n";
        for (std::size_t i = 1; i < bytes.size(); ++i)
        {
            out << static_cast<double>(i) * step.ToDouble(Time::US) << " "
                << 8e-3 * static_cast<double>(bytes[i] - bytes[i - 1]) / step.ToDouble(Time::US) << "\n";
        }
    }
    Simulator::Destroy();
    return 0;
}
