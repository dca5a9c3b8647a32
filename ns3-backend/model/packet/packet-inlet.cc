// SPDX-License-Identifier: GPL-2.0-only
#include "packet-inlet.h"

#include "packet-node.h"
#include "packet-regions.h"

namespace ns3
{

void
PacketInlet::Add(uint32_t packet, int64_t arrival)
{
    const bool isFirst = m_arriving.IsEmpty();
    m_arriving.Append(packet, arrival);
    if (isFirst)
    {
        Schedule();
    }
}

void
PacketInlet::Schedule()
{
    m_context.regions->Schedule(m_region, m_arriving.GetFirstArrival(), m_number, *this);
}

void
PacketInlet::Act()
{
    const uint32_t packet = m_arriving.TakeFirst();
    if (!m_arriving.IsEmpty())
    {
        Schedule();
    }
    PacketPort* next = m_to.FindNext(m_context.packets[packet]);
    if (next != nullptr)
    {
        next->Enqueue(packet);
    }
    else
    {
        m_to.Receive(packet);
    }
}

void
PacketInlet::Notify()
{
    if (HasPackets())
    {
        Act();
    }
}

void
PacketInlet::Detach()
{
    m_isDetached = true;
}

void
PacketInlet::FetchPackets() const
{
    if (HasPackets())
    {
        __builtin_prefetch(&m_context.packets[m_arriving.GetFirst()], 1);
    }
}

void
PacketInlet::FetchUsers() const
{
    if (HasPackets())
    {
        m_to.Fetch(m_context.packets[m_arriving.GetFirst()]);
    }
}

void
PacketInlet::FetchMore() const
{
    if (HasPackets())
    {
        m_to.FetchMore(m_context.packets[m_arriving.GetFirst()]);
    }
}

} // namespace ns3
