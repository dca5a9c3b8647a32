// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-routing.h"

#include "ns3/net-device.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"

#include <array>
#include <ostream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricRouting);

TypeId
FabricRouting::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricRouting")
                            .SetParent<Ipv4RoutingProtocol>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<FabricRouting>();
    return tid;
}

void
FabricRouting::SetAddress(Ipv4Address address)
{
    m_address = address;
}

void
FabricRouting::SetRouteCallback(RouteCallback callback)
{
    m_route = callback;
}

void
FabricRouting::SetFlowRouteCallback(FlowRouteCallback callback)
{
    m_flowRoute = callback;
}

void
FabricRouting::SetForwardingDelay(Time delay)
{
    m_forwardingDelay = delay;
}

uint32_t
FabricRouting::GetPorts(Ptr<const Packet> segment)
{
    std::array<uint8_t, 4> ports{};
    if (!segment || segment->CopyData(ports.data(), ports.size()) < ports.size())
    {
        return 0;
    }
    return uint32_t{ports[0]} << 24 | uint32_t{ports[1]} << 16 | uint32_t{ports[2]} << 8 | ports[3];
}

uint32_t
FabricRouting::GetPortsThatMatter(Ptr<const Packet> segment) const
{
    return m_flowRoute.IsNull() ? 0 : GetPorts(segment);
}

void
FabricRouting::ForgetRoutes()
{
    m_ownRoutes.clear();
}

Ptr<Ipv4Route>
FabricRouting::Find(Ipv4Address source, Ipv4Address destination, uint32_t ports) const
{
    const Ptr<NetDevice> device =
        m_flowRoute.IsNull() ? m_route(source, destination) : m_flowRoute(source, destination, ports);
    if (!device)
    {
        return nullptr;
    }
    auto route = Create<Ipv4Route>();
    route->SetSource(source);
    route->SetDestination(destination);
    route->SetGateway(destination);
    route->SetOutputDevice(device);
    return route;
}

Ptr<Ipv4Route>
FabricRouting::RouteOutput(Ptr<Packet> p,
                           const Ipv4Header& header,
                           Ptr<NetDevice>,
                           Socket::SocketErrno& sockerr)
{
    const Ipv4Address destination = header.GetDestination();
    const uint32_t ports = GetPortsThatMatter(p);
    auto [entry, isNew] = m_ownRoutes.try_emplace(uint64_t{destination.Get()} << 32 | ports);
    if (isNew)
    {
        entry->second = Find(m_address, destination, ports);
    }
    sockerr = entry->second ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
    return entry->second;
}

bool
FabricRouting::RouteInput(Ptr<const Packet> p,
                          const Ipv4Header& header,
                          Ptr<const NetDevice> idev,
                          RouteInputUnicast ucb,
                          RouteInputMulticast,
                          RouteInputLocal lcb,
                          RouteInputError ecb)
{
    if (header.GetDestination() == m_address)
    {
        lcb(p, header, static_cast<uint32_t>(m_ipv4->GetInterfaceForDevice(idev)));
        return true;
    }
    const Ptr<Ipv4Route> route = Find(header.GetSource(), header.GetDestination(), GetPortsThatMatter(p));
    if (!route)
    {
        ecb(p, header, Socket::ERROR_NOROUTETOHOST);
        return false;
    }
    if (m_forwardingDelay.IsZero())
    {
        ucb(route, p, header);
    }
    else
    {
        Simulator::Schedule(m_forwardingDelay, [ucb, route, p, header] { ucb(route, p, header); });
    }
    return true;
}

void
FabricRouting::NotifyInterfaceUp(uint32_t)
{
}

void
FabricRouting::NotifyInterfaceDown(uint32_t)
{
}

void
FabricRouting::NotifyAddAddress(uint32_t, Ipv4InterfaceAddress)
{
}

void
FabricRouting::NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress)
{
}

void
FabricRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
FabricRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit) const
{
    *stream->GetStream() << "host " << m_address << ": routes are those of the fabric" << std::endl;
}

void
FabricRouting::DoDispose()
{
    m_ownRoutes.clear();
    m_route = RouteCallback();
    m_flowRoute = FlowRouteCallback();
    m_ipv4 = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

} // namespace ns3
