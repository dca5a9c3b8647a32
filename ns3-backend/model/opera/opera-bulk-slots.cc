// SPDX-License-Identifier: GPL-2.0-only
/// The slots of an Opera network's bulk service: what is granted when circuits come up, and taken back when
/// they go or fail. Messages and their packets are in opera-bulk.cc.
#include "opera-bulk.h"

#include "ns3/packet-port.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

bool
OperaBulk::IsStuck() const
{
    return m_policy.GetWaiting() > 0 && m_inFlight == 0 &&
           m_nextSuperslice >= m_lastChange + m_schedule.GetSuperslices();
}

template <class Is>
void
OperaBulk::WithdrawWhere(Is&& isGone)
{
    const int64_t now = Now();
    for (uint32_t number = 0; number < m_hosts.size(); ++number)
    {
        Host& host = m_hosts[number];
        if (host.slots.IsEmpty())
        {
            continue;
        }
        host.port->Advance(now);
        for (uint32_t rotor = 0; rotor < m_layout.rotors; ++rotor)
        {
            if (isGone(m_layout.GetRackOf(number), rotor))
            {
                host.slots.Withdraw(rotor, number, m_back);
            }
        }
        GiveBack();
        host.slots.Plan();
        Offer(number);
    }
}

void
OperaBulk::WakeForSlot()
{
    if (m_isAwake || m_policy.GetWaiting() == 0 || IsStuck())
    {
        return;
    }
    const int64_t now = Now();
    const int64_t length = m_schedule.GetLength();
    const auto from = static_cast<uint64_t>((now + length - 1) / length);
    m_nextSuperslice = std::max(m_nextSuperslice, from);
    const int64_t begin = static_cast<int64_t>(m_nextSuperslice) * length;
    m_isAwake = true;
    // What happens in the same instant happens before, what it starts included.
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(begin - now)),
                        [this] { Simulator::ScheduleNow(&OperaBulk::BeginSlots, this); });
}

void
OperaBulk::BeginSlots()
{
    const uint64_t superslice = m_nextSuperslice++;
    m_isAwake = false;
    bool isGranted = false;
    LearnOfFailures(superslice);
    for (uint32_t rotor = 0; rotor < m_layout.rotors; ++rotor)
    {
        if (!m_schedule.IsInstalled(rotor, superslice))
        {
            continue;
        }
        const uint32_t matching = m_schedule.GetMatchingIndex(rotor, superslice);
        for (uint32_t rack = 0; rack < m_layout.racks; ++rack)
        {
            const uint32_t peer = m_schedule.GetPeer(rotor, matching, rack, Now());
            if (peer >= rack)
            {
                m_grants.clear();
                m_policy.Share(rack, peer, m_grants);
                isGranted = isGranted || !m_grants.empty();
                Grant(rotor);
            }
        }
    }
    for (const uint32_t host : m_touched)
    {
        m_hosts[host].slots.Plan();
        Offer(host);
    }
    m_touched.clear();
    if (isGranted)
    {
        ++m_counters.slots;
        m_lastChange = superslice + 1;
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(m_schedule.GetBulkSlot())),
                            &OperaBulk::EndSlots,
                            this,
                            superslice);
    }
    WakeForSlot();
}

void
OperaBulk::LearnOfFailures(uint64_t superslice)
{
    const int64_t now = Now();
    if (m_schedule.GetState(now) == m_schedule.GetState(m_notified))
    {
        return;
    }
    m_policy.SetState(m_schedule.GetState(now));
    WithdrawWhere([&](uint32_t rack, uint32_t rotor) {
        const uint32_t matching = m_schedule.GetMatchingIndex(rotor, superslice);
        return m_schedule.GetPeer(rotor, matching, rack, now) !=
               m_schedule.GetPeer(rotor, matching, rack, m_notified);
    });
    m_notified = now;
}

void
OperaBulk::Grant(uint32_t rotor)
{
    const int64_t now = Now();
    for (const OperaGrant& grant : m_grants)
    {
        Host& host = m_hosts[grant.from];
        if (m_touched.empty() || m_touched.back() != grant.from)
        {
            host.port->Advance(now);
            m_touched.push_back(grant.from);
        }
        host.slots.Commit(rotor, now, grant);
        m_inFlight += grant.packets;
        traces.granted(rotor, grant);
    }
}

void
OperaBulk::EndSlots(uint64_t superslice)
{
    WithdrawWhere(
        [&](uint32_t /* rack */, uint32_t rotor) { return m_schedule.IsInstalled(rotor, superslice); });
}

void
OperaBulk::GiveBack()
{
    for (const OperaGrant& grant : m_back)
    {
        m_inFlight -= grant.packets;
        Wait(grant.from, grant.destination, grant.packets, grant.isRelayed);
    }
    m_back.clear();
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
    constexpr uint32_t GENERATIONS = 0x7fffffff;
    const uint64_t offer =
        uint64_t{1} << 63 | static_cast<uint64_t>(host.generation & GENERATIONS) << 32 | number;
    host.port->Offer(offer, 0, next);
}

int64_t
OperaBulk::TakePacket(uint64_t offer, int64_t when, uint32_t& packet)
{
    const auto number = static_cast<uint32_t>(offer);
    Host& host = m_hosts[number];
    constexpr uint32_t GENERATIONS = 0x7fffffff;
    if ((offer >> 32 & GENERATIONS) != (host.generation & GENERATIONS))
    {
        return PacketSource::NEVER;
    }
    if (host.slots.GetNext() <= when)
    {
        packet = Make(number, host.slots.Take(when, number, m_back), when);
        GiveBack();
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
