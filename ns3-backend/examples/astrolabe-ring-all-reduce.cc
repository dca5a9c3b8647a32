// SPDX-License-Identifier: GPL-2.0-only
/**
 * A ring all-reduce over a k-ary fat-tree: the hosts add up a vector that each of them has, and all get the
 * sum.
 *
 * The vector is cut in as many chunks as there are hosts, N. In step t every host sends a chunk to its
 * successor, adds what it gets from its predecessor, and with that may start step t + 1: N - 1 steps of
 * adding, N - 1 of passing sums on, 2·(N - 1) in all, each of 1/N of the vector (Patarasuk and Yuan,
 * "Bandwidth optimal all-reduce algorithms for clusters of workstations", Journal of Parallel and Distributed
 * Computing 69, 2009, section 3). No host can finish before its link has carried 2·(N - 1)/N of the vector.
 *
 * Shows how a program follows what arrives: the trace source Delivered sends the next chunk. Prints the
 * time, the bound, and how much of the bound was reached.
 */
#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/packet-fabric-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/// Every host's part in the ring.
class RingAllReduce
{
  public:
    RingAllReduce(const PacketNetwork& network, uint64_t bytes)
        : m_network(network),
          m_bytes(bytes),
          m_steps(2 * (network.hosts - 1)),
          m_step(network.hosts, 0)
    {
        m_network.transport->TraceConnectWithoutContext("Delivered",
                                                        MakeCallback(&RingAllReduce::Delivered, this));
        for (uint32_t host = 0; host < m_network.hosts; ++host)
        {
            Send(host);
        }
    }

    /// Hosts that have the whole sum.
    uint32_t CountFinished() const
    {
        return m_finished;
    }

    /// When the last of them had it.
    Time GetEnd() const
    {
        return m_end;
    }

  private:
    /// The chunk of the host's step; the first few are a byte longer where the vector does not divide.
    void Send(uint32_t host)
    {
        const uint32_t hosts = m_network.hosts;
        const uint32_t chunk = (host + 2 * hosts - m_step[host] % hosts) % hosts;
        const uint64_t size = m_bytes / hosts + (chunk < m_bytes % hosts ? 1 : 0);
        m_network.transport->Send({host, (host + 1) % hosts, size, nullptr, 0, 0});
    }

    void Delivered(const PacketMessage& message, Time)
    {
        const uint32_t host = message.destination;
        if (++m_step[host] < m_steps)
        {
            Send(host);
        }
        else
        {
            ++m_finished;
            m_end = Simulator::Now();
        }
    }

    PacketNetwork m_network;
    uint64_t m_bytes;
    uint32_t m_steps;
    std::vector<uint32_t> m_step; //!< of each host, that is chunks it has received
    uint32_t m_finished{0};
    Time m_end;
};

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    uint32_t ports = 4;
    uint64_t bytes = 16'000'000;
    DataRate rate("100Gbps");
    Time latency = NanoSeconds(500);
    bool isSprayed = false;
    CommandLine command(__FILE__);
    command.AddValue("ports", "of a switch, even, 2 to 32; the fabric has ports^3/4 hosts", ports);
    command.AddValue("bytes", "of the vector, 1 to 10^12", bytes);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("latency", "of every link", latency);
    command.AddValue(
        "spray", "packets take any shortest path, instead of one for each pair of hosts", isSprayed);
    command.Parse(argc, argv);
    if (ports < 2 || ports > 32 || ports % 2 != 0 || bytes < 1 || bytes > 1'000'000'000'000 ||
        rate.GetBitRate() == 0 || latency.IsNegative())
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }

    PacketFabricHelper helper;
    helper.SetHostLink(rate, latency);
    helper.SetSwitchLink(rate, latency);
    if (isSprayed)
    {
        helper.SetRouterAttribute("LoadBalancing", StringValue("PerPacket"));
        helper.SetTransportAttribute("IsReordered", BooleanValue(true));
    }
    const PacketNetwork network = helper.CreateFatTree(ports);
    const RingAllReduce ring(network, bytes);
    Simulator::Run();

    const double hosts = network.hosts;
    const double time = ring.GetEnd().ToDouble(Time::US);
    const double bound = 1e6 * 8 * 2 * (hosts - 1) / hosts * static_cast<double>(bytes) /
                         static_cast<double>(rate.GetBitRate());
    std::cout << std::fixed << std::setprecision(1) << network.hosts << " hosts, " << bytes
              << " bytes: " << time << " us; a link needs " << bound << " us for its part ("
              << 100 * bound / time << " % reached); " << network.transport->GetCounters().packets
              << " packets, " << Simulator::GetEventCount() << " events\n";
    const bool isComplete = ring.CountFinished() == network.hosts;
    Simulator::Destroy();
    if (!isComplete)
    {
        std::cerr << "Only " << ring.CountFinished() << " hosts have the sum.\n";
        return 1;
    }
    return 0;
}
