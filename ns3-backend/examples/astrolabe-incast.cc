// SPDX-License-Identifier: GPL-2.0-only
/**
 * Incast over a leaf-spine fabric: hosts of other leaves all send a message to host 0 at once, and a switch
 * with little memory is in front of it. Three ways to live with that, one after the other:
 *
 *     drop   what finds no room is dropped, and sent again after a request or a timeout
 *     dctcp  the switch marks packets from a queue length on, and senders slow down (DCTCP)
 *     pause  the switch pauses the links into it before it is full (priority flow control)
 *
 * Shows PacketFabricHelper, attributes of PacketFabric and PacketTransport, the counters of ports and
 * transport, and the trace source PacketTransport::Delivered. Prints a row for each: the time until a message
 * had arrived whole (mean, and last), against the time that the receiver's link needs for all of them, and
 * what it cost.
 */
#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/packet-fabric-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

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
};

/// Times of messages that have arrived; all are sent at 0.
class CompletionTimes
{
  public:
    void Note(const PacketMessage&, Time completion)
    {
        m_sum += completion;
        m_last = std::max(m_last, completion);
        ++m_count;
    }

    Time m_sum;
    Time m_last;
    uint32_t m_count{0};
};

PacketNetwork
Build(const Scenario& scenario, const std::string& scheme)
{
    PacketFabricHelper helper;
    helper.SetHostLink(scenario.rate, scenario.latency);
    helper.SetSwitchLink(scenario.rate, scenario.latency);
    helper.SetSwitchMemory(scenario.memory);
    helper.SetFabricAttribute("BufferSharing", StringValue("Dynamic"));
    if (scheme == "pause")
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
    return helper.CreateLeafSpine(scenario.leaves, scenario.hostsPerLeaf, scenario.spines);
}

/// \returns false if something had not arrived when nothing was left to do.
bool
Run(const Scenario& scenario, const std::string& scheme)
{
    const PacketNetwork network = Build(scenario, scheme);
    CompletionTimes times;
    network.transport->TraceConnectWithoutContext("Delivered", MakeCallback(&CompletionTimes::Note, &times));
    for (uint32_t i = 0; i < scenario.senders; ++i)
    {
        network.transport->Send({network.hosts - 1 - i, 0, scenario.bytes, nullptr, i, 0});
    }
    Simulator::Run();

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
              << std::setw(12) << times.m_last.ToDouble(Time::US) << std::setw(8) << total.drops
              << std::setw(8) << transport.retransmissions << std::setw(10) << transport.timeouts
              << std::setw(8) << total.marks << std::setw(8) << pauses << std::setw(12)
              << last.GetCounters().peakBytes << "\n";
    Simulator::Destroy();
    return times.m_count == scenario.senders;
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
    command.AddValue("scheme", "drop, dctcp, pause, or all", scheme);
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
        (scheme != "all" && scheme != "drop" && scheme != "dctcp" && scheme != "pause"))
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
    bool isComplete = true;
    for (const char* each : {"drop", "dctcp", "pause"})
    {
        if (scheme == "all" || scheme == each)
        {
            isComplete = Run(scenario, each) && isComplete;
        }
    }
    if (!isComplete)
    {
        std::cerr << "Some messages never arrived.\n";
        return 1;
    }
    return 0;
}
