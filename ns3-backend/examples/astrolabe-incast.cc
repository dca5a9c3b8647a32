// SPDX-License-Identifier: GPL-2.0-only
/**
 * Incast over a leaf-spine fabric: hosts of other leaves all send a message to host 0 at once, and a switch
 * with little memory is in front of it. Ways to live with that, one after the other:
 *
 *     drop   what finds no room is dropped, and sent again after a request or a timeout
 *     dctcp  the switch marks packets from a queue length on, and senders slow down (DCTCP)
 *     pause  the switch pauses the links into it before it is full (priority flow control)
 *     dcqcn  pauses, and receivers tell senders of marks, by which they set their rates (DCQCN)
 *     hpcc   pauses, and senders set windows by what switches write into packets (HPCC)
 *     ndp    the switch cuts payload off, and receivers ask for what they have room for (NDP)
 *
 * Shows PacketFabricHelper, attributes of PacketFabric and PacketTransport, the counters of ports and
 * transport, and the trace source PacketTransport::Delivered. Prints a row for each: the time until a message
 * had arrived whole (mean, and last), against the time that the receiver's link needs for all of them, and
 * what it cost. With --plot, a block of lines for each: the time, and the share of messages complete by then.
 *
 *     ./ns3 run "astrolabe-incast --plot=incast.dat"
 *     gnuplot -p -e "plot for [i=0:5] 'incast.dat' index i using 1:2 with steps title columnheader(1)"
 */
#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/packet-fabric-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr std::array<const char*, 6> SCHEMES{"drop", "dctcp", "pause", "dcqcn", "hpcc", "ndp"};

struct Scenario
{
    uint32_t leaves{4};
    uint32_t hostsPerLeaf{8};
    uint32_t spines{4};
    uint32_t senders{16};
    uint64_t bytes{500'000};
    uint64_t memory{2'000'000};
    uint64_t threshold{100'000};
    DataRate rate{100'000'000'000};
    Time latency{NanoSeconds(500)};
    std::string plot;
};

/// Times of messages that have arrived; all are sent at 0.
class CompletionTimes
{
  public:
    void Note(const PacketMessage&, Time completion)
    {
        m_sum += completion;
        m_completions.push_back(completion);
    }

    Time m_sum;
    std::vector<Time> m_completions; //!< in no order: an event of the last hop may be late
};

PacketNetwork
Build(const Scenario& scenario, const std::string& scheme)
{
    PacketFabricHelper helper;
    helper.SetHostLink(scenario.rate, scenario.latency);
    helper.SetSwitchLink(scenario.rate, scenario.latency);
    helper.SetSwitchMemory(scenario.memory);
    helper.SetFabricAttribute("BufferSharing", StringValue("Dynamic"));
    if (scheme == "pause" || scheme == "dcqcn" || scheme == "hpcc")
    {
        helper.SetFabricAttribute("FlowControl", StringValue("Pfc"));
    }
    else
    {
        helper.SetTransportAttribute("HasTimers", BooleanValue(true)); // packets may be lost
    }
    if (scheme == "dctcp")
    {
        helper.SetFabricAttribute("EcnThreshold", UintegerValue(scenario.threshold));
        helper.SetTransportAttribute("CongestionControl", StringValue("Dctcp"));
    }
    if (scheme == "dcqcn")
    {
        helper.SetFabricAttribute("EcnThreshold", UintegerValue(scenario.threshold));
        helper.SetFabricAttribute("EcnMaxThreshold", UintegerValue(4 * scenario.threshold));
        helper.SetTransportAttribute("CongestionControl", StringValue("Dcqcn"));
    }
    if (scheme == "hpcc")
    {
        helper.SetTransportAttribute("CongestionControl", StringValue("Hpcc"));
    }
    if (scheme == "ndp")
    {
        helper.SetFabricAttribute("TrimThreshold", UintegerValue(scenario.threshold));
        helper.SetTransportAttribute("CongestionControl", StringValue("Ndp"));
    }
    return helper.CreateLeafSpine(scenario.leaves, scenario.hostsPerLeaf, scenario.spines);
}

/// \returns false if something had not arrived when nothing was left to do.
bool
Run(const Scenario& scenario, const std::string& scheme, std::ostream& plot)
{
    const PacketNetwork network = Build(scenario, scheme);
    CompletionTimes times;
    network.transport->TraceConnectWithoutContext("Delivered", MakeCallback(&CompletionTimes::Note, &times));
    for (uint32_t i = 0; i < scenario.senders; ++i)
    {
        network.transport->Send({network.hosts - 1 - i, 0, scenario.bytes, nullptr, i, 0});
    }
    Simulator::Run();
    std::sort(times.m_completions.begin(), times.m_completions.end());
    const Time lastCompletion = times.m_completions.empty() ? Time(0) : times.m_completions.back();
    plot << "\"" << scheme << "\"\n";
    for (std::size_t i = 0; i < times.m_completions.size(); ++i)
    {
        plot << times.m_completions[i].ToDouble(Time::US) << " "
             << 100.0 * static_cast<double>(i + 1) / scenario.senders << "\n";
    }
    plot << "\n\n";

    PacketPort::Counters total;
    uint64_t pauses = 0;
    for (uint32_t i = 0; i < network.fabric->GetPortCount(); ++i)
    {
        const PacketPort& port = network.fabric->GetPort(i);
        total.drops += port.GetCounters().drops;
        total.marks += port.GetCounters().marks;
        pauses += port.GetFlowControl() != nullptr ? port.GetFlowControl()->GetStops() : 0;
    }
    const PacketPort& last = network.GetPort(network.hosts, 0); // of the first leaf, to the receiver
    const PacketTransport::Counters& transport = network.transport->GetCounters();
    std::cout << std::setw(6) << scheme << std::setw(12) << times.m_sum.ToDouble(Time::US) / scenario.senders
              << std::setw(12) << lastCompletion.ToDouble(Time::US) << std::setw(8) << total.drops
              << std::setw(8) << transport.retransmissions << std::setw(10) << transport.timeouts
              << std::setw(8) << total.marks << std::setw(8) << pauses << std::setw(12)
              << last.GetCounters().peakBytes << "\n";
    Simulator::Destroy();
    return times.m_completions.size() == scenario.senders;
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Scenario scenario;
    std::string scheme = "all";
    CommandLine command(__FILE__);
    command.AddValue("leaves", "leaf switches, 2 to 100", scenario.leaves);
    command.AddValue("hostsPerLeaf", "hosts at each leaf, 1 to 100", scenario.hostsPerLeaf);
    command.AddValue("spines", "spine switches, 1 to 100", scenario.spines);
    command.AddValue("senders", "hosts that send, all but those of the first leaf at most", scenario.senders);
    command.AddValue("bytes", "that each sends, up to 10^10", scenario.bytes);
    command.AddValue("memory",
                     "bytes of packet memory in a switch, at least 100000; to pause takes more",
                     scenario.memory);
    command.AddValue(
        "threshold", "bytes waiting from which on packets are marked, for dctcp", scenario.threshold);
    command.AddValue("rate", "of every link", scenario.rate);
    command.AddValue("latency", "of every link", scenario.latency);
    command.AddValue("scheme", "drop, dctcp, pause, dcqcn, hpcc, ndp, or all", scheme);
    command.AddValue("plot", "file for gnuplot: messages complete over time", scenario.plot);
    command.Parse(argc, argv);
    const auto isBetween = [](uint64_t value, uint64_t least, uint64_t most) {
        return least <= value && value <= most;
    };
    if (!isBetween(scenario.leaves, 2, 100) || !isBetween(scenario.hostsPerLeaf, 1, 100) ||
        !isBetween(scenario.spines, 1, 100) ||
        !isBetween(scenario.senders, 1, (scenario.leaves - 1) * scenario.hostsPerLeaf) ||
        !isBetween(scenario.bytes, 1, 10'000'000'000) ||
        !isBetween(scenario.memory, 100'000, 1'000'000'000'000) || scenario.rate.GetBitRate() == 0 ||
        scenario.latency.IsNegative() ||
        (scheme != "all" && std::find(SCHEMES.begin(), SCHEMES.end(), scheme) == SCHEMES.end()))
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }

    // 82 bytes of headers on every 4096 of payload (PacketTransport's defaults).
    const uint64_t packets = (scenario.bytes + 4095) / 4096;
    const double wire = 8.0 * static_cast<double>(scenario.senders * (scenario.bytes + packets * 82));
    std::cout << std::fixed << std::setprecision(1) << scenario.senders << " messages of " << scenario.bytes
              << " bytes; the receiver's link needs "
              << 1e6 * wire / static_cast<double>(scenario.rate.GetBitRate()) << " us for them\n"
              << "scheme   mean (us)   last (us)   drops   again  timeouts   marks  pauses  peak queue\n";
    // Written where a plot is asked for, and nowhere else.
    std::ofstream plot(scenario.plot);
    bool isComplete = true;
    for (const char* each : SCHEMES)
    {
        if (scheme == "all" || scheme == each)
        {
            isComplete = Run(scenario, each, plot) && isComplete;
        }
    }
    if (!isComplete)
    {
        std::cerr << "Some messages never arrived.\n";
        return 1;
    }
    return 0;
}
