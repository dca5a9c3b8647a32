// SPDX-License-Identifier: GPL-2.0-only
/// What an event of a port will read, asked for before the event comes (packet-calendar.h).
#include "packet-port.h"

#include "packet-node.h"

namespace ns3
{

void
PacketPort::FetchPackets() const
{
    if (m_isDetached)
    {
        return;
    }
    if (!m_isCut && !m_inFlight.IsEmpty())
    {
        __builtin_prefetch(&GetContext().packets[m_inFlight.GetFirst()], 1);
    }
    m_queue.FetchFirst();
    if (m_isHosts)
    {
        __builtin_prefetch(&m_hostScheduler);
    }
}

void
PacketPort::FetchOffers() const
{
    if (m_isHosts)
    {
        __builtin_prefetch(m_hostScheduler.get(), 1);
    }
}

void
PacketPort::FetchUsers() const
{
    if (m_isDetached)
    {
        return;
    }
    if (!m_isCut && !m_inFlight.IsEmpty())
    {
        m_to.Fetch(GetContext().packets[m_inFlight.GetFirst()]);
    }
    if (m_isHosts)
    {
        m_hostScheduler->Fetch(*m_source);
    }
}

void
PacketPort::FetchMore() const
{
    if (m_isDetached)
    {
        return;
    }
    if (!m_isCut && !m_inFlight.IsEmpty())
    {
        m_to.FetchMore(GetContext().packets[m_inFlight.GetFirst()]);
    }
    if (m_isHosts)
    {
        m_hostScheduler->FetchMore(*m_source);
    }
}

} // namespace ns3
