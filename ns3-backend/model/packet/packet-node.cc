// SPDX-License-Identifier: GPL-2.0-only
#include "packet-node.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace ns3
{

void
PacketNode::SetUse(PacketRouter* router, PacketTaker* sink)
{
    m_router = router;
    m_sink = sink;
    m_routesAtOnce = router->RoutesAtOnce();
}

void
PacketNode::AddPort(PacketPort* port)
{
    m_ports.push_back(port);
}

void
PacketNode::Receive(uint32_t packet)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    if (descriptor.destination != m_number)
    {
        if (m_forwarding == 0)
        {
            Forward(packet);
            return;
        }
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(m_forwarding)), [this, packet] {
            m_context.packets[packet].arrival += m_forwarding;
            Forward(packet);
        });
        return;
    }
    if (PacketFlowControl* flowControl = PacketFlowControl::Before(m_context, descriptor))
    {
        flowControl->Release(descriptor.priority, descriptor.bytes, descriptor.arrival, false);
    }
    m_sink->Take(packet);
}

void
PacketNode::Forward(uint32_t packet)
{
    PacketDescriptor& descriptor = m_context.packets[packet];
    PacketPort* port = m_router->Route(m_number, descriptor);
    if (port == nullptr)
    {
        if (m_router->Keep(m_number, packet))
        {
            return;
        }
        if (PacketFlowControl* before = PacketFlowControl::Before(m_context, descriptor))
        {
            before->Release(descriptor.priority, descriptor.bytes, descriptor.arrival, false);
        }
        m_context.Drop(descriptor.ingress, packet, descriptor.arrival);
        return;
    }
    port->Enqueue(packet);
}

void
PacketNode::Settle(int64_t now)
{
    for (PacketPort* port : m_ports)
    {
        port->Advance(now);
    }
}

void
PacketNode::Watch(bool begins)
{
    if (!begins)
    {
        --m_watchers;
        return;
    }
    if (m_watchers++ == 0)
    {
        const int64_t now = Simulator::Now().GetTimeStep();
        for (PacketPort* port : m_ports)
        {
            port->Advance(now);
            port->Wake(now);
        }
    }
}

} // namespace ns3
