// SPDX-License-Identifier: GPL-2.0-only
#include "packet-node.h"

namespace ns3
{

void
PacketNode::Receive(uint32_t packet)
{
    if (m_context.packets[packet].destination == m_number)
    {
        m_sink.Take(packet);
        return;
    }
    Forward(packet);
}

void
PacketNode::Forward(uint32_t packet)
{
    PacketPort* port = m_router.Route(m_number, m_context.packets[packet]);
    if (port == nullptr)
    {
        ++m_context.drops;
        m_context.Discard(packet);
        return;
    }
    port->Enqueue(packet);
}

} // namespace ns3
