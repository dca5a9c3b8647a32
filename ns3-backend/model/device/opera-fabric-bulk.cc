// SPDX-License-Identifier: GPL-2.0-only
/// Bulk frames of an Opera network's devices: what waits at hosts, leaves in their slots, and comes back.
#include "opera-fabric.h"
#include "opera-net-device.h"

#include "ns3/assert.h"

namespace ns3
{

OperaBulkPolicy&
OperaFabric::GetBulkPolicy() const
{
    return *m_policy;
}

uint32_t
OperaFabric::GetSlotHosts() const
{
    return static_cast<uint32_t>(m_hosts.size());
}

OperaTransmissionSlots&
OperaFabric::GetSlots(uint32_t host)
{
    return m_hosts[host].slots;
}

void
OperaFabric::PrepareSlots(uint32_t /* host */)
{
}

void
OperaFabric::UseSlots(uint32_t host)
{
    m_hosts[host].device->Wake();
}

void
OperaFabric::NoteGrant(uint32_t rotor, const OperaGrant& grant)
{
    m_granted(rotor, grant);
}

void
OperaFabric::NoteSlots()
{
}

void
OperaFabric::SendBulk(uint32_t host, Ptr<OperaFrame> frame)
{
    m_hosts[host].own[frame->destination].push_back(frame);
    Wait(host, frame->destination, 1, false);
}

void
OperaFabric::Relay(Ptr<OperaFrame> frame)
{
    m_hosts[frame->heading].relayed[frame->destination].push_back(frame);
    EndFlight();
    m_relays(frame->heading, frame->packet);
    Wait(frame->heading, frame->destination, 1, true);
}

void
OperaFabric::TakeBack(Ptr<OperaFrame> frame)
{
    Host& host = m_hosts[frame->sender];
    (frame->isRelayed ? host.relayed : host.own)[frame->destination].push_front(frame);
    ++m_counters.returned;
    EndFlight();
    m_returned(frame->sender, frame->packet);
    Wait(frame->sender, frame->destination, 1, frame->isRelayed);
}

int64_t
OperaFabric::GetNextSlot(uint32_t host) const
{
    return m_hosts[host].slots.GetNext();
}

Ptr<OperaFrame>
OperaFabric::TakeBulk(uint32_t number)
{
    Host& host = m_hosts[number];
    const int64_t now = Now();
    if (host.slots.GetNext() > now)
    {
        return nullptr;
    }
    const OperaTransmissionSlots::Departure departure = TakeDeparture(number, now);
    auto& lines = departure.isRelayed ? host.relayed : host.own;
    const auto line = lines.find(departure.destination);
    NS_ASSERT_MSG(line != lines.end(), "what is granted waits");
    const Ptr<OperaFrame> frame = line->second.front();
    line->second.pop_front();
    if (line->second.empty())
    {
        lines.erase(line);
    }
    frame->sender = number;
    frame->heading = departure.to;
    frame->rotor = static_cast<uint16_t>(departure.rotor);
    frame->isRelayed = departure.isRelayed;
    ++m_counters.bulkHops;
    m_counters.relayed += departure.isRelayed ? 1 : 0;
    return frame;
}

} // namespace ns3
