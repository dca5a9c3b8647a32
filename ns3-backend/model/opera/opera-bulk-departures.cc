// SPDX-License-Identifier: GPL-2.0-only
/// How bulk packets leave hosts in their slots. Messages are in opera-bulk.cc.
#include "opera-bulk.h"

#include "ns3/packet-port.h"

namespace ns3
{

namespace
{

/// Of offers, as their number has room for.
constexpr uint32_t GENERATIONS = 0x7fffffff;

} // namespace

OperaBulkPolicy&
OperaBulk::GetBulkPolicy() const
{
    return m_policy;
}

uint32_t
OperaBulk::GetSlotHosts() const
{
    return static_cast<uint32_t>(m_hosts.size());
}

OperaTransmissionSlots&
OperaBulk::GetSlots(uint32_t host)
{
    return m_hosts[host].slots;
}

void
OperaBulk::PrepareSlots(uint32_t host)
{
    m_hosts[host].port->Advance(Now());
}

void
OperaBulk::UseSlots(uint32_t host)
{
    Offer(host);
}

void
OperaBulk::NoteGrant(uint32_t rotor, const OperaGrant& grant)
{
    traces.granted(rotor, grant);
}

void
OperaBulk::NoteSlots()
{
    ++m_counters.slots;
}

void
OperaBulk::Offer(uint32_t number)
{
    Host& host = m_hosts[number];
    const int64_t next = host.slots.GetNext();
    if (next >= host.offered)
    {
        return; // the port asks before, and gets it then
    }
    host.offered = next;
    ++host.generation;
    const uint64_t offer =
        uint64_t{1} << 63 | static_cast<uint64_t>(host.generation & GENERATIONS) << 32 | number;
    host.port->Offer(offer, 0, next);
}

int64_t
OperaBulk::TakePacket(uint64_t offer, int64_t when, uint32_t& packet)
{
    const auto number = static_cast<uint32_t>(offer);
    Host& host = m_hosts[number];
    if ((offer >> 32 & GENERATIONS) != (host.generation & GENERATIONS))
    {
        return PacketSource::NEVER;
    }
    if (host.slots.GetNext() <= when)
    {
        packet = Make(number, TakeDeparture(number, when), when);
    }
    host.offered = host.slots.GetNext();
    return host.offered;
}

uint32_t
OperaBulk::Make(uint32_t number, const OperaTransmissionSlots::Departure& departure, int64_t when)
{
    const uint32_t packet = departure.isRelayed
                                ? m_hosts[number].relayed[departure.destination].TakeFirst(m_context.packets)
                                : TakeOwn(number, departure.destination);
    PacketDescriptor& descriptor = m_context.packets[packet];
    descriptor.arrival = when;
    descriptor.tail = when;
    descriptor.ingress = PACKET_NONE;
    descriptor.sender = number;
    descriptor.heading = departure.to;
    descriptor.rotor = static_cast<uint16_t>(departure.rotor);
    ++m_counters.packets;
    m_counters.relayed += departure.isRelayed ? 1 : 0;
    return packet;
}

} // namespace ns3
