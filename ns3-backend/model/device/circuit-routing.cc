// SPDX-License-Identifier: GPL-2.0-only
#include "circuit-routing.h"

#include "ns3/abort.h"
#include "ns3/ipv4-route.h"
#include "ns3/output-stream-wrapper.h"

#include <array>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CircuitRouting);

TypeId
CircuitRouting::GetTypeId()
{
    static TypeId tid = TypeId("ns3::CircuitRouting")
                            .SetParent<Ipv4RoutingProtocol>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<CircuitRouting>();
    return tid;
}

void
CircuitRouting::SetRoute(Ipv4Address destination, std::vector<uint32_t> interfaces)
{
    NS_ABORT_MSG_IF(interfaces.empty(), "no interface leads to " << destination << ", expected one or more");
    m_routes[destination.Get()] = std::move(interfaces);
}

Ptr<Ipv4Route>
CircuitRouting::Find(Ptr<const Packet> packet, const Ipv4Header& header) const
{
    const auto known = m_routes.find(header.GetDestination().Get());
    if (known == m_routes.end())
    {
        return nullptr;
    }
    constexpr uint8_t PROTOCOL_TCP = 6;
    constexpr uint8_t PROTOCOL_UDP = 17;
    constexpr uint64_t SPREAD = 0x9e3779b97f4a7c15U;
    std::array<uint8_t, 4> ports{};
    if (packet && header.GetFragmentOffset() == 0 &&
        (header.GetProtocol() == PROTOCOL_TCP || header.GetProtocol() == PROTOCOL_UDP))
    {
        packet->CopyData(ports.data(), ports.size());
    }
    uint64_t hash = (uint64_t{header.GetSource().Get()} << 32 | header.GetDestination().Get()) * SPREAD;
    for (const uint8_t byte : ports)
    {
        hash = (hash ^ hash >> 29 ^ byte) * SPREAD;
    }
    const std::vector<uint32_t>& interfaces = known->second;
    const uint32_t interface = interfaces[(hash >> 33) % interfaces.size()];
    auto route = Create<Ipv4Route>();
    route->SetDestination(header.GetDestination());
    route->SetGateway(Ipv4Address::GetZero());
    route->SetSource(m_ipv4->GetAddress(interface, 0).GetLocal());
    route->SetOutputDevice(m_ipv4->GetNetDevice(interface));
    return route;
}

Ptr<Ipv4Route>
CircuitRouting::RouteOutput(Ptr<Packet>, const Ipv4Header& header, Ptr<NetDevice>, Socket::SocketErrno& error)
{
    // A socket asks with the packet before its transport header is on it, or with none: its first answer is
    // where all of the flow leaves, by addresses alone.
    Ptr<Ipv4Route> route = Find(nullptr, header);
    error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
    return route;
}

bool
CircuitRouting::RouteInput(Ptr<const Packet> packet,
                           const Ipv4Header& header,
                           Ptr<const NetDevice> device,
                           RouteInputUnicast forward,
                           RouteInputMulticast,
                           RouteInputLocal deliver,
                           RouteInputError failed)
{
    const int32_t interface = m_ipv4->GetInterfaceForDevice(device);
    if (m_ipv4->IsDestinationAddress(header.GetDestination(), static_cast<uint32_t>(interface)))
    {
        deliver(packet, header, static_cast<uint32_t>(interface));
        return true;
    }
    const Ptr<Ipv4Route> route = Find(packet, header);
    if (!route)
    {
        failed(packet, header, Socket::ERROR_NOROUTETOHOST);
        return false;
    }
    forward(route, packet, header);
    return true;
}

void
CircuitRouting::NotifyInterfaceUp(uint32_t)
{
}

void
CircuitRouting::NotifyInterfaceDown(uint32_t)
{
}

void
CircuitRouting::NotifyAddAddress(uint32_t, Ipv4InterfaceAddress)
{
}

void
CircuitRouting::NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress)
{
}

void
CircuitRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
CircuitRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit) const
{
    *stream->GetStream() << "destination and interfaces that begin a shortest path\n";
    for (const auto& [destination, interfaces] : m_routes)
    {
        *stream->GetStream() << Ipv4Address(destination);
        for (const uint32_t interface : interfaces)
        {
            *stream->GetStream() << " " << interface;
        }
        *stream->GetStream() << "\n";
    }
}

void
CircuitRouting::DoDispose()
{
    m_ipv4 = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

} // namespace ns3
