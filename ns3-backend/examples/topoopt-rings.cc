// SPDX-License-Identifier: GPL-2.0-only
/**
 * What a direct-connect network gives the two collectives of a recommendation model. Hosts are connected by
 * cables of some strides, both ways round, and forward for each other. First they add up a vector, a part of
 * it going round the ring of every stride in either direction at once; then every host sends as much to
 * every other. Prints both times beside what the busiest link takes, and the mean number of links between
 * hosts: the sum uses all links of a host, however many hosts there are, while the exchange pays for every
 * host on the way (Wang and others, TopoOpt, NSDI 2023, sections 2 and 4).
 *
 *     ./ns3 run "topoopt-rings --hosts=128 --strides=1,13 --bytes=1000000"
 */
#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/packet-fabric-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct Scenario
{
    uint32_t hosts{16};
    std::vector<uint32_t> strides{1, 5};
    uint64_t bytes{4'000'000};
    DataRate rate{100'000'000'000};
    Time latency{MicroSeconds(1)};
    Time forwarding;
    bool isSprayed{false};
};

PacketNetwork
CreateNetwork(const Scenario& scenario)
{
    PacketFabricHelper helper;
    helper.SetHostLink(scenario.rate, scenario.latency);
    helper.SetForwarding(scenario.forwarding);
    if (scenario.isSprayed)
    {
        helper.SetRouterAttribute("LoadBalancing", StringValue("PerPacket"));
        helper.SetTransportAttribute("IsReordered", BooleanValue(true));
    }
    return helper.CreateDirectConnect(scenario.hosts, scenario.strides);
}

/// Microseconds that a link takes for some bytes of payload, in whole packets.
double
GetLinkTime(const Scenario& scenario, const PacketTransport& transport, double bytes)
{
    const double share =
        static_cast<double>(transport.mtu) / static_cast<double>(transport.mtu + transport.header);
    return 8e6 * bytes / share / static_cast<double>(scenario.rate.GetBitRate());
}

/// A sum of vectors on one ring for each stride and direction, each of an even part.
class RingSum
{
  public:
    RingSum(const PacketNetwork& network, const std::vector<uint32_t>& strides, uint64_t bytes)
        : m_network(network),
          m_steps(2 * (network.hosts - 1))
    {
        for (const uint32_t stride : strides)
        {
            m_strides.push_back(stride);
            m_strides.push_back(network.hosts - stride);
        }
        m_chunk = (bytes + network.hosts * m_strides.size() - 1) / (network.hosts * m_strides.size());
        m_step.resize(network.hosts * m_strides.size());
        m_network.transport->TraceConnectWithoutContext("Delivered", MakeCallback(&RingSum::Delivered, this));
        for (uint32_t host = 0; host < network.hosts; ++host)
        {
            for (uint32_t ring = 0; ring < m_strides.size(); ++ring)
            {
                Send(host, ring);
            }
        }
    }

    bool IsComplete() const
    {
        return m_finished == m_step.size();
    }

    Time GetEnd() const
    {
        return m_end;
    }

    /// Of payload, over the link of a stride in one direction.
    double GetLinkBytes() const
    {
        return static_cast<double>(m_chunk) * m_steps;
    }

  private:
    void Send(uint32_t host, uint32_t ring)
    {
        const uint32_t next = (host + m_strides[ring]) % m_network.hosts;
        m_network.transport->Send({host, next, m_chunk, nullptr, ring, 0});
    }

    void Delivered(const PacketMessage& message, Time)
    {
        const auto ring = static_cast<uint32_t>(message.token);
        if (++m_step[message.destination * m_strides.size() + ring] < m_steps)
        {
            Send(message.destination, ring);
            return;
        }
        ++m_finished;
        m_end = Simulator::Now();
    }

    PacketNetwork m_network;
    uint32_t m_steps;
    std::vector<uint32_t> m_strides; //!< of each ring
    uint64_t m_chunk;
    std::vector<uint32_t> m_step; //!< chunks received, by host and ring
    std::size_t m_finished{0};
    Time m_end;
};

/// What every host sends to every other, all at once.
class Exchange
{
  public:
    Exchange(const PacketNetwork& network, uint64_t bytes)
        : m_network(network)
    {
        m_network.transport->TraceConnectWithoutContext("Delivered",
                                                        MakeCallback(&Exchange::Delivered, this));
        for (uint32_t distance = 1; distance < network.hosts; ++distance)
        {
            for (uint32_t host = 0; host < network.hosts; ++host)
            {
                m_network.transport->Send({host, (host + distance) % network.hosts, bytes, nullptr, 0, 0});
            }
        }
    }

    bool IsComplete() const
    {
        return m_count == std::size_t{m_network.hosts} * (m_network.hosts - 1);
    }

    Time GetEnd() const
    {
        return m_end;
    }

  private:
    void Delivered(const PacketMessage&, Time)
    {
        ++m_count;
        m_end = Simulator::Now();
    }

    PacketNetwork m_network;
    std::size_t m_count{0};
    Time m_end;
};

/// Bytes that left by the busiest port, and by all.
std::pair<uint64_t, uint64_t>
CountBytes(const PacketFabric& fabric)
{
    std::pair<uint64_t, uint64_t> bytes{0, 0};
    for (uint32_t port = 0; port < fabric.GetPortCount(); ++port)
    {
        const uint64_t sent = fabric.GetPort(port).GetCounters().carriedBytes;
        bytes.first = std::max(bytes.first, sent);
        bytes.second += sent;
    }
    return bytes;
}

bool
RunSum(const Scenario& scenario)
{
    const PacketNetwork network = CreateNetwork(scenario);
    const RingSum sum(network, scenario.strides, scenario.bytes);
    Simulator::Run();
    const double time = sum.GetEnd().ToDouble(Time::US);
    const double bound = GetLinkTime(scenario, *network.transport, sum.GetLinkBytes());
    std::cout << "all-reduce of " << scenario.bytes << " bytes on " << 2 * scenario.strides.size()
              << " rings: " << time << " us; links need " << bound << " us (" << 100 * bound / time
              << " % reached)\n";
    const bool isComplete = sum.IsComplete();
    Simulator::Destroy();
    return isComplete;
}

bool
RunExchange(const Scenario& scenario)
{
    const PacketNetwork network = CreateNetwork(scenario);
    const uint64_t bytes = std::max<uint64_t>(1, scenario.bytes / scenario.hosts);
    const Exchange exchange(network, bytes);
    Simulator::Run();
    const double time = exchange.GetEnd().ToDouble(Time::US);
    const auto [busiest, all] = CountBytes(*network.fabric);
    const double bound = 8e6 * static_cast<double>(busiest) / static_cast<double>(scenario.rate.GetBitRate());
    const double links = static_cast<double>(network.fabric->GetPortCount());
    std::cout << "all-to-all of " << bytes << " bytes a pair: " << time << " us; the busiest link needs "
              << bound << " us (" << 100 * bound / time << " % reached), "
              << static_cast<double>(busiest) * links / static_cast<double>(all) << " times the mean\n";
    const bool isComplete = exchange.IsComplete();
    Simulator::Destroy();
    return isComplete;
}

/// \returns numbers between commas; none where something else is there.
std::vector<uint32_t>
ReadNumbers(const std::string& text)
{
    std::vector<uint32_t> numbers;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');)
    {
        if (part.empty() || part.size() > 6 || part.find_first_not_of("0123456789") != std::string::npos)
        {
            return {};
        }
        numbers.push_back(static_cast<uint32_t>(std::stoul(part)));
    }
    return numbers;
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Scenario scenario;
    std::string strides = "1,5";
    CommandLine command(__FILE__);
    command.AddValue("hosts", "2 to 1024", scenario.hosts);
    command.AddValue("strides",
                     "of the cables, each from 1 to hosts / 2 and without a common divisor with hosts",
                     strides);
    command.AddValue(
        "bytes", "of the vector, and of what a host sends in the exchange, 1 to 10^9", scenario.bytes);
    command.AddValue("rate", "of every link, at least 1 Gb/s", scenario.rate);
    command.AddValue("latency", "of every link", scenario.latency);
    command.AddValue("forwarding", "what a host takes to forward a packet", scenario.forwarding);
    command.AddValue(
        "spray", "packets take any shortest path, instead of one for each pair of hosts", scenario.isSprayed);
    command.Parse(argc, argv);
    scenario.strides = ReadNumbers(strides);
    const bool areRings =
        !scenario.strides.empty() &&
        std::all_of(scenario.strides.begin(), scenario.strides.end(), [&](uint32_t stride) {
            return stride >= 1 && 2 * stride <= scenario.hosts && std::gcd(stride, scenario.hosts) == 1;
        });
    if (scenario.hosts < 2 || scenario.hosts > 1024 || !areRings || scenario.bytes < 1 ||
        scenario.bytes > 1'000'000'000 || scenario.rate.GetBitRate() < 1'000'000'000 ||
        scenario.latency.IsStrictlyNegative() || scenario.forwarding.IsStrictlyNegative())
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }
    std::cout << std::fixed << std::setprecision(2);
    if (!RunSum(scenario) || !RunExchange(scenario))
    {
        std::cerr << "Some messages never arrived.\n";
        return 1;
    }
    return 0;
}
