// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-switch.h"

#include "ns3/packet.h"

#include <array>

namespace ns3
{

namespace
{

constexpr uint16_t ETHERTYPE_IPV4 = 0x0800;
constexpr std::size_t SOURCE_AT = 12;
constexpr std::size_t DESTINATION_AT = 16;
constexpr std::size_t PORTS_AT = 20; // behind a header without options

} // namespace

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

TypeId
FabricSwitch::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricSwitch")
                            .SetParent<Object>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<FabricSwitch>()
                            .AddTraceSource("NoRoute",
                                            "A frame was discarded because no port leads to its destination.",
                                            MakeTraceSourceAccessor(&FabricSwitch::m_noRouteTrace),
                                            "ns3::Packet::TracedCallback");
    return tid;
}

void
FabricSwitch::AddPort(Ptr<NetDevice> port)
{
    port->SetReceiveCallback(MakeCallback(&FabricSwitch::Receive, this));
}

void
FabricSwitch::SetRouteCallback(RouteCallback callback)
{
    m_route = callback;
}

void
FabricSwitch::SetFlowRouteCallback(FlowRouteCallback callback)
{
    m_flowRoute = callback;
}

Ptr<NetDevice>
FabricSwitch::Find(Ptr<const Packet> datagram) const
{
    std::array<uint8_t, PORTS_AT + 4> ip{};
    if (datagram->CopyData(ip.data(), ip.size()) < PORTS_AT)
    {
        return nullptr;
    }
    const Ipv4Address source = Ipv4Address::Deserialize(&ip[SOURCE_AT]);
    const Ipv4Address destination = Ipv4Address::Deserialize(&ip[DESTINATION_AT]);
    if (m_flowRoute.IsNull())
    {
        return m_route(source, destination);
    }
    uint32_t ports = 0;
    for (std::size_t i = PORTS_AT; i < ip.size(); ++i)
    {
        ports = ports << 8 | ip[i];
    }
    return m_flowRoute(source, destination, ports);
}

bool
FabricSwitch::Receive(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t protocol, const Address&)
{
    const Ptr<NetDevice> out = protocol == ETHERTYPE_IPV4 ? Find(packet) : nullptr;
    if (!out)
    {
        m_noRouteTrace(packet);
        return false;
    }
    return out->Send(packet->Copy(), out->GetBroadcast(), ETHERTYPE_IPV4);
}

void
FabricSwitch::DoDispose()
{
    m_route = RouteCallback();
    m_flowRoute = FlowRouteCallback();
    Object::DoDispose();
}

} // namespace ns3
