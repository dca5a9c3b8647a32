// SPDX-License-Identifier: GPL-2.0-only
#include "packet-fabric-helper.h"

#include "ns3/abort.h"
#include "ns3/enum.h"
#include "ns3/uinteger.h"

namespace ns3
{

PacketPort&
PacketNetwork::GetPort(uint32_t node, uint32_t neighbour) const
{
    for (PacketPort* port : fabric->GetNode(node).GetPorts())
    {
        if (port->GetTo().GetNumber() == neighbour)
        {
            return *port;
        }
    }
    NS_ABORT_MSG("no link leads from node " << node << " to node " << neighbour);
}

namespace
{

/// Aborts where a switch has less memory than comes in until a pause works: attributes alone do not show it.
void
CheckRoomToPause(const PacketFabric& fabric, uint32_t hosts)
{
    if (fabric.flowControl != PacketFlowControlKind::PFC || fabric.pauseThreshold > 0)
    {
        return;
    }
    for (uint32_t port = 0; port < fabric.GetPortCount(); ++port)
    {
        const uint32_t to = fabric.GetPort(port).GetTo().GetNumber();
        NS_ABORT_MSG_IF(to >= hosts && fabric.GetIngressRoom(port) <= fabric.GetHeadroom(port),
                        "switch " << to << " has " << fabric.GetIngressRoom(port)
                                  << " bytes of memory for each link and "
                                  << "priority, and a pause needs more than " << fabric.GetHeadroom(port)
                                  << ": give it more (SetSwitchMemory), or set PauseThreshold");
    }
}

} // namespace

PacketFabricHelper::PacketFabricHelper()
    : m_hostLink{DataRate(100'000'000'000), NanoSeconds(500)},
      m_switchLink(m_hostLink)
{
}

void
PacketFabricHelper::SetFabricAttribute(const std::string& name, const AttributeValue& value)
{
    m_fabric.Set(name, value);
}

void
PacketFabricHelper::SetRouterAttribute(const std::string& name, const AttributeValue& value)
{
    m_router.Set(name, value);
}

void
PacketFabricHelper::SetTransportAttribute(const std::string& name, const AttributeValue& value)
{
    m_transport.Set(name, value);
}

void
PacketFabricHelper::SetHostLink(DataRate rate, Time latency)
{
    m_hostLink = {rate, latency};
}

void
PacketFabricHelper::SetSwitchLink(DataRate rate, Time latency)
{
    m_switchLink = {rate, latency};
}

void
PacketFabricHelper::SetForwarding(Time latency)
{
    NS_ABORT_MSG_IF(latency.IsStrictlyNegative(), "forwarding takes no less than no time");
    m_forwarding = latency;
}

void
PacketFabricHelper::SetSwitchMemory(uint64_t bytes)
{
    m_switchMemory = bytes;
}

PacketNetwork
PacketFabricHelper::CreateStar(uint32_t hosts) const
{
    NS_ABORT_MSG_IF(hosts == 0, "a star has at least one host");
    const Ptr<PacketFabric> fabric = StartFabric(hosts, 1);
    for (uint32_t host = 0; host < hosts; ++host)
    {
        Connect(*fabric, host, hosts, m_hostLink);
    }
    return Finish(fabric, hosts);
}

PacketNetwork
PacketFabricHelper::CreateLeafSpine(uint32_t leaves, uint32_t hostsPerLeaf, uint32_t spines) const
{
    NS_ABORT_MSG_IF(leaves == 0 || hostsPerLeaf == 0 || spines == 0,
                    "a leaf-spine has at least one leaf, one spine, and one host at each leaf");
    const uint32_t hosts = leaves * hostsPerLeaf;
    const Ptr<PacketFabric> fabric = StartFabric(hosts, leaves + spines);
    for (uint32_t host = 0; host < hosts; ++host)
    {
        Connect(*fabric, host, hosts + host / hostsPerLeaf, m_hostLink);
    }
    for (uint32_t leaf = 0; leaf < leaves; ++leaf)
    {
        for (uint32_t spine = 0; spine < spines; ++spine)
        {
            Connect(*fabric, hosts + leaf, hosts + leaves + spine, m_switchLink);
        }
    }
    return Finish(fabric, hosts);
}

PacketNetwork
PacketFabricHelper::CreateFatTree(uint32_t ports) const
{
    NS_ABORT_MSG_IF(ports < 2 || ports % 2 != 0, "a fat-tree has switches with an even number of ports");
    const uint32_t half = ports / 2;
    const uint32_t edges = ports * half;
    const uint32_t hosts = edges * half;
    const uint32_t firstEdge = hosts;
    const uint32_t firstAggregation = firstEdge + edges;
    const uint32_t firstCore = firstAggregation + edges;
    const Ptr<PacketFabric> fabric = StartFabric(hosts, 2 * edges + half * half);
    for (uint32_t host = 0; host < hosts; ++host)
    {
        Connect(*fabric, host, firstEdge + host / half, m_hostLink);
    }
    for (uint32_t edge = 0; edge < edges; ++edge)
    {
        const uint32_t pod = edge / half;
        for (uint32_t i = 0; i < half; ++i)
        {
            Connect(*fabric, firstEdge + edge, firstAggregation + pod * half + i, m_switchLink);
        }
    }
    for (uint32_t aggregation = 0; aggregation < edges; ++aggregation)
    {
        const uint32_t position = aggregation % half; // in its pod; the cores of one position form a group
        for (uint32_t i = 0; i < half; ++i)
        {
            Connect(*fabric, firstAggregation + aggregation, firstCore + position * half + i, m_switchLink);
        }
    }
    return Finish(fabric, hosts);
}

PacketNetwork
PacketFabricHelper::CreateDirectConnect(uint32_t hosts, const std::vector<uint32_t>& strides) const
{
    NS_ABORT_MSG_IF(hosts < 2 || strides.empty(),
                    "hosts are connected by at least one stride, and are two at least");
    const Ptr<PacketFabric> fabric = StartFabric(hosts, 0);
    for (const uint32_t stride : strides)
    {
        NS_ABORT_MSG_IF(stride < 1 || stride >= hosts,
                        "stride " << stride << " does not lead to another of " << hosts << " hosts");
        for (uint32_t host = 0; host < hosts; ++host)
        {
            Connect(*fabric, host, (host + stride) % hosts, m_hostLink);
        }
    }
    return Finish(fabric, hosts);
}

Ptr<PacketFabric>
PacketFabricHelper::StartFabric(uint32_t hosts, uint32_t switches) const
{
    const Ptr<PacketFabric> fabric = m_fabric.Create<PacketFabric>();
    for (uint32_t host = 0; host < hosts; ++host)
    {
        fabric->AddHost(m_forwarding.GetPicoSeconds());
    }
    for (uint32_t i = 0; i < switches; ++i)
    {
        fabric->AddSwitch(m_switchMemory);
    }
    return fabric;
}

void
PacketFabricHelper::Connect(PacketFabric& fabric, uint32_t a, uint32_t b, const LinkFacts& link)
{
    const uint64_t rate = link.rate.GetBitRate();
    const int64_t latency = link.latency.GetPicoSeconds();
    fabric.Pair(fabric.AddPort(a, b, rate, latency, 0), fabric.AddPort(b, a, rate, latency, 0));
}

PacketNetwork
PacketFabricHelper::Finish(Ptr<PacketFabric> fabric, uint32_t hosts) const
{
    NS_ABORT_MSG_IF(Time::GetResolution() != Time::PS, "call Time::SetResolution(Time::PS) first");
    PacketNetwork network{
        fabric, m_router.Create<PacketShortestPathRouter>(), m_transport.Create<PacketTransport>(), hosts};
    // Headrooms and cut-through need the sizes of packets, which the transport makes.
    fabric->largestPacket = network.transport->mtu + network.transport->header;
    fabric->cutThroughHeader = network.transport->header;
    if (!network.transport->congestionControl->Has(PacketControlKind::USES_MARKS))
    {
        fabric->ecnThreshold = PACKET_UNBOUNDED;
    }
    CheckRoomToPause(*fabric, hosts);
    network.router->Build(fabric, hosts);
    network.transport->Bind(*fabric, *network.router);
    fabric->Install(*network.router, *network.transport, *network.transport);
    return network;
}

} // namespace ns3
