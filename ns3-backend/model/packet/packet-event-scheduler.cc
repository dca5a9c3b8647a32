// SPDX-License-Identifier: GPL-2.0-only
#include "packet-event-scheduler.h"

#include "packet-inlet.h"
#include "packet-port.h"

#include <typeinfo>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(PacketEventScheduler);

uint32_t PacketEventScheduler::g_count = 0;
PacketEventGate* PacketEventScheduler::g_gate = nullptr;
bool PacketEventScheduler::g_isOpen = true;
bool PacketEventScheduler::g_hasPortsFirst = false;
Scheduler::EventKey PacketEventScheduler::g_last{};

TypeId
PacketEventScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::PacketEventScheduler")
                            .SetParent<Scheduler>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<PacketEventScheduler>();
    return tid;
}

PacketEventScheduler::PacketEventScheduler()
{
    ++g_count;
}

PacketEventScheduler::~PacketEventScheduler()
{
    --g_count;
}

void
PacketEventScheduler::SetPortsFirst(bool isFirst)
{
    g_hasPortsFirst = isFirst;
}

bool
PacketEventScheduler::HasPortsFirst()
{
    return g_count > 0 && g_hasPortsFirst;
}

void
PacketEventScheduler::SetGate(PacketEventGate* gate)
{
    g_gate = gate;
}

void
PacketEventScheduler::OpenGate(bool isOpen)
{
    g_isOpen = isOpen;
}

Scheduler::EventKey
PacketEventScheduler::GetLastKey()
{
    return g_last;
}

Scheduler::EventKey
PacketEventScheduler::KeyOf(uint64_t when, uint32_t port)
{
    EventKey key{};
    key.m_ts = 2 * when;
    key.m_uid = port;
    return key;
}

uint64_t
PacketEventScheduler::TimeOf(const EventKey& key)
{
    return key.m_ts / 2;
}

Scheduler::Event
PacketEventScheduler::Ordered(const Event& event)
{
    Event ordered = event;
    ordered.key.m_ts *= 2;
    const EventImpl& impl = *event.impl;
    if (!g_hasPortsFirst)
    {
        ++ordered.key.m_ts;
    }
    else if (&typeid(impl) == &typeid(PacketPort))
    {
        ordered.key.m_uid = static_cast<const PacketPort&>(impl).GetNumber();
    }
    else if (&typeid(impl) == &typeid(PacketInlet))
    {
        ordered.key.m_uid = static_cast<const PacketInlet&>(impl).GetNumber();
    }
    else
    {
        ++ordered.key.m_ts;
    }
    return ordered;
}

void
PacketEventScheduler::Insert(const Event& event)
{
    m_calendar.Insert(Ordered(event));
}

bool
PacketEventScheduler::IsEmpty() const
{
    while (m_calendar.IsEmpty() && g_gate != nullptr && g_isOpen && g_gate->Pass(PacketEventGate::NEVER))
    {
    }
    return m_calendar.IsEmpty();
}

Scheduler::Event
PacketEventScheduler::PeekNext() const
{
    Event next = m_calendar.PeekNext();
    next.key.m_ts = TimeOf(next.key);
    return next;
}

Scheduler::Event
PacketEventScheduler::RemoveNext()
{
    while (g_gate != nullptr && g_isOpen && TimeOf(m_calendar.PeekNext().key) >= g_gate->GetHorizon())
    {
        g_gate->Pass(TimeOf(m_calendar.PeekNext().key));
    }
    Event next = m_calendar.RemoveNext();
    // The simulator takes an event for past whose number is not above that of the present one. Nobody asks
    // about those of ports.
    const bool isOther = next.key.m_ts % 2 != 0;
    if (TimeOf(next.key) != TimeOf(g_last))
    {
        m_lastOther = 0;
    }
    m_lastOther = isOther ? next.key.m_uid : m_lastOther;
    g_last = next.key;
    next.key.m_ts = TimeOf(next.key);
    next.key.m_uid = m_lastOther;
    return next;
}

void
PacketEventScheduler::Remove(const Event& event)
{
    m_calendar.Remove(Ordered(event));
}

} // namespace ns3
