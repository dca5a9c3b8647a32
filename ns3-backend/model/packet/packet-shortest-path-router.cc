// SPDX-License-Identifier: GPL-2.0-only
#include "packet-shortest-path-router.h"

#include "ns3/abort.h"
#include "ns3/enum.h"
#include "ns3/ns3-releases.h"

#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(PacketShortestPathRouter);

namespace
{

constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

/// Links from every node to `host`.
std::vector<uint32_t>
MeasureDistances(const PacketFabric& fabric, const std::vector<std::vector<uint32_t>>& into, uint32_t host)
{
    std::vector<uint32_t> distance(fabric.GetNodeCount(), UNREACHED);
    std::vector<uint32_t> reached{host};
    distance[host] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i)
    {
        for (const uint32_t port : into[reached[i]])
        {
            const uint32_t node = fabric.GetPort(port).GetFrom().GetNumber();
            if (distance[node] == UNREACHED)
            {
                distance[node] = distance[reached[i]] + 1;
                reached.push_back(node);
            }
        }
    }
    return distance;
}

} // namespace

TypeId
PacketShortestPathRouter::GetTypeId()
{
    static TypeId tid = TypeId("ns3::PacketShortestPathRouter")
                            .SetParent<Object>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<PacketShortestPathRouter>()
                            .AddAttribute("LoadBalancing",
                                          "Which of several ports that start a shortest path a packet takes.",
                                          EnumValue(PER_FLOW),
                                          MakeMemberEnumAccessor(&PacketShortestPathRouter::m_loadBalancing),
                                          MakeEnumChecker(PER_FLOW, "PerFlow", PER_PACKET, "PerPacket"));
    return tid;
}

void
PacketShortestPathRouter::Build(Ptr<PacketFabric> fabric, uint32_t hosts)
{
    NS_ABORT_MSG_IF(hosts > fabric->GetNodeCount(), "a fabric has no more hosts than nodes");
    m_fabric = fabric;
    m_hosts = hosts;
    const uint32_t nodes = fabric->GetNodeCount();
    std::vector<std::vector<uint32_t>> into(nodes);
    for (uint32_t port = 0; port < fabric->GetPortCount(); ++port)
    {
        into[fabric->GetPort(port).GetTo().GetNumber()].push_back(port);
    }
    std::vector<std::vector<uint32_t>> distances;
    for (uint32_t host = 0; host < hosts; ++host)
    {
        distances.push_back(MeasureDistances(*fabric, into, host));
    }

    m_rows.clear();
    m_ports.clear();
    for (uint32_t node = 0; node < nodes; ++node)
    {
        for (uint32_t host = 0; host < hosts; ++host)
        {
            m_rows.push_back(m_ports.size());
            const std::vector<uint32_t>& distance = distances[host];
            for (PacketPort* port : fabric->GetNode(node).GetPorts())
            {
                const uint32_t next = distance[port->GetTo().GetNumber()];
                if (next != UNREACHED && next + 1 == distance[node])
                {
                    m_ports.push_back(port);
                }
            }
        }
    }
    m_rows.push_back(m_ports.size());
}

PacketPort*
PacketShortestPathRouter::Route(uint32_t node, PacketDescriptor& packet)
{
    const std::size_t row = GetRow(node, packet.destination);
    const std::size_t first = m_rows[row];
    const std::size_t choices = m_rows[row + 1] - first;
    if (choices < 2)
    {
        return choices == 0 ? nullptr : m_ports[first];
    }
    if (m_loadBalancing == PER_PACKET)
    {
        return m_ports[first + m_fabric->GetContext().random.Next() % choices];
    }
    const uint64_t pair = (static_cast<uint64_t>(packet.source) << 32) | packet.destination;
    return m_ports[first + PacketRandom(PacketRandom(pair).Next() + node).Next() % choices];
}

std::vector<uint32_t>
PacketShortestPathRouter::GetNextPorts(uint32_t node, uint32_t host) const
{
    std::vector<uint32_t> numbers;
    const std::size_t row = GetRow(node, host);
    for (std::size_t i = m_rows[row]; i < m_rows[row + 1]; ++i)
    {
        numbers.push_back(m_ports[i]->GetNumber());
    }
    return numbers;
}

uint64_t
PacketShortestPathRouter::CountPaths(uint32_t node, uint32_t host) const
{
    if (node == host)
    {
        return 1;
    }
    uint64_t paths = 0;
    const std::size_t row = GetRow(node, host);
    for (std::size_t i = m_rows[row]; i < m_rows[row + 1]; ++i)
    {
        paths += CountPaths(m_ports[i]->GetTo().GetNumber(), host);
    }
    return paths;
}

std::size_t
PacketShortestPathRouter::GetRow(uint32_t node, uint32_t host) const
{
    return static_cast<std::size_t>(node) * m_hosts + host;
}

void
PacketShortestPathRouter::DoDispose()
{
    m_fabric = nullptr;
    m_rows.clear();
    m_ports.clear();
    Object::DoDispose();
}

} // namespace ns3
