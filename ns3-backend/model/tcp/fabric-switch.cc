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

bool
FabricSwitch::Receive(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t protocol, const Address&)
{
    std::array<uint8_t, DESTINATION_AT + 4> ip{};
    if (protocol != ETHERTYPE_IPV4 || packet->CopyData(ip.data(), ip.size()) < ip.size())
    {
        m_noRouteTrace(packet);
        return false;
    }
    const Ptr<NetDevice> out =
        m_route(Ipv4Address::Deserialize(&ip[SOURCE_AT]), Ipv4Address::Deserialize(&ip[DESTINATION_AT]));
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
    Object::DoDispose();
}

} // namespace ns3
