// SPDX-License-Identifier: GPL-2.0-only
/**
 * The length of one queue over time, while hosts on one switch send to the same receiver, as CSV: time (us),
 * bytes that wait for the receiver's link.
 *
 * Shows the trace sources of PacketFabric. They report all ports, each with its number, and what happened
 * when: a port finds out late what it did, so Simulator::Now() is not the time of the event, but the events
 * of one port come in order. A packet that need not wait has a Start without an Enqueue, so what waits is
 * asked of the port.
 */
#include "ns3/command-line.h"
#include "ns3/packet-fabric-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

/// Prints the length of a port's queue at every multiple of the interval until it last changed.
class QueueSeries
{
  public:
    QueueSeries(const PacketNetwork& network, const PacketPort& port, Time interval)
        : m_port(port),
          m_interval(interval.GetPicoSeconds())
    {
        network.fabric->TraceConnectWithoutContext("Enqueue", MakeCallback(&QueueSeries::Changed, this));
        network.fabric->TraceConnectWithoutContext("Start", MakeCallback(&QueueSeries::Changed, this));
    }

  private:
    void Changed(uint32_t port, const PacketDescriptor&, int64_t when)
    {
        if (port == m_port.GetNumber())
        {
            PrintUntil(when);
            m_bytes = m_port.GetWaitingBytes();
        }
    }

    void PrintUntil(int64_t when)
    {
        for (; m_next < when; m_next += m_interval)
        {
            std::cout << static_cast<double>(m_next) * 1e-6 << "," << m_bytes << "\n";
        }
    }

    const PacketPort& m_port;
    int64_t m_interval;
    int64_t m_next{0};
    uint64_t m_bytes{0};
};

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    uint32_t senders = 4;
    uint64_t bytes = 1'000'000;
    uint64_t threshold = 50'000;
    Time interval = MicroSeconds(5);
    std::string control = "Dctcp";
    CommandLine command(__FILE__);
    command.AddValue("senders", "hosts that send, 1 to 1000", senders);
    command.AddValue("bytes", "that each sends, 1 to 10^10", bytes);
    command.AddValue("control", "congestion control: None, Dctcp or Dcqcn", control);
    command.AddValue("threshold", "bytes waiting from which on packets are marked", threshold);
    command.AddValue("interval", "of the samples, at least 1 ns", interval);
    command.Parse(argc, argv);
    if (senders < 1 || senders > 1000 || bytes < 1 || bytes > 10'000'000'000 || interval < NanoSeconds(1) ||
        (control != "None" && control != "Dctcp" && control != "Dcqcn"))
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }

    PacketFabricHelper helper;
    helper.SetFabricAttribute("EcnThreshold", UintegerValue(threshold));
    helper.SetTransportAttribute("CongestionControl", StringValue(control));
    const PacketNetwork network = helper.CreateStar(senders + 1);
    const PacketPort& port = network.GetPort(network.hosts, 0); // of the switch, to the receiver
    std::cout << std::fixed << std::setprecision(3) << "time_us,queue_bytes\n";
    const QueueSeries series(network, port, interval);
    for (uint32_t sender = 1; sender <= senders; ++sender)
    {
        network.transport->Send({sender, 0, bytes, nullptr, sender, 0});
    }
    Simulator::Run();

    const int64_t end = Simulator::Now().GetPicoSeconds();
    std::cerr << "done after " << static_cast<double>(end) * 1e-6 << " us; queue: peak "
              << port.GetCounters().peakBytes << " bytes, mean " << port.GetQueue().GetMeanWaitingBytes(end)
              << " bytes, " << port.GetCounters().marks << " marks\n";
    const bool isComplete = network.transport->GetOutstandingCount() == 0;
    Simulator::Destroy();
    return isComplete ? 0 : 1;
}
