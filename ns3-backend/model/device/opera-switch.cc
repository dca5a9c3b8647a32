// SPDX-License-Identifier: GPL-2.0-only
#include "opera-switch.h"

#include "opera-fabric.h"
#include "opera-net-device.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(OperaSwitch);

TypeId
OperaSwitch::GetTypeId()
{
    static TypeId tid = TypeId("ns3::OperaSwitch")
                            .SetParent<Object>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<OperaSwitch>();
    return tid;
}

OperaSwitch::OperaSwitch() = default;

OperaSwitch::~OperaSwitch() = default;

void
OperaSwitch::Configure(Ptr<OperaFabric> fabric, uint32_t rack)
{
    m_fabric = fabric;
    m_rack = rack;
}

void
OperaSwitch::AddDownPort(Ptr<OperaNetDevice> port)
{
    m_down.push_back(port);
}

void
OperaSwitch::AddUpPort(Ptr<OperaNetDevice> port)
{
    m_up.push_back(port);
}

void
OperaSwitch::Receive(Ptr<OperaFrame> frame, Ptr<OperaNetDevice> port)
{
    const Ptr<OperaNetDevice> out = frame->isBulk ? RouteBulk(*frame) : Route(*frame);
    if (out)
    {
        out->Forward(frame);
        return;
    }
    port->NoteLost(frame);
    m_fabric->CountLost(frame);
}

Ptr<OperaNetDevice>
OperaSwitch::RouteDown(uint32_t host) const
{
    return m_down[host % m_fabric->GetLayout().hostsPerRack];
}

Ptr<OperaNetDevice>
OperaSwitch::RouteBulk(const OperaFrame& frame) const
{
    return m_fabric->GetLayout().GetRackOf(frame.heading) == m_rack ? RouteDown(frame.heading)
                                                                    : m_up[frame.rotor];
}

Ptr<OperaNetDevice>
OperaSwitch::Route(OperaFrame& frame)
{
    if (m_fabric->GetLayout().GetRackOf(frame.destination) == m_rack)
    {
        return RouteDown(frame.destination);
    }
    const bool isAstray = frame.taken == frame.uplinks.size() && frame.taken > 0;
    if (isAstray &&
        (!m_fabric->IsRerouting() || ++frame.detours > MOST_DETOURS || !m_fabric->FindPath(frame, m_rack)))
    {
        return nullptr;
    }
    if (frame.taken == frame.uplinks.size())
    {
        return nullptr;
    }
    return m_up[frame.uplinks[frame.taken++]];
}

void
OperaSwitch::DoDispose()
{
    m_down.clear();
    m_up.clear();
    m_fabric = nullptr;
    Object::DoDispose();
}

} // namespace ns3
