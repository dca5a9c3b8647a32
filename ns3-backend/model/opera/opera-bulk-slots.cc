// SPDX-License-Identifier: GPL-2.0-only
#include "opera-bulk-slots.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

OperaBulkSlots::OperaBulkSlots(const OperaLayout& layout, const OperaSchedule& schedule)
    : m_slotLayout(layout),
      m_slotSchedule(schedule)
{
}

OperaBulkSlots::~OperaBulkSlots()
{
    Stop();
}

void
OperaBulkSlots::Stop()
{
    m_begin.Cancel();
    m_end.Cancel();
}

int64_t
OperaBulkSlots::Now()
{
    return Simulator::Now().GetTimeStep();
}

bool
OperaBulkSlots::IsStuck() const
{
    return GetBulkPolicy().GetWaiting() > 0 && m_inFlight == 0 &&
           m_nextSuperslice >= m_lastChange + m_slotSchedule.GetSuperslices();
}

void
OperaBulkSlots::Wait(uint32_t host, uint32_t destination, uint64_t packets, bool isRelayed)
{
    GetBulkPolicy().Add(host, destination, packets, isRelayed);
    m_lastChange = m_slotSchedule.GetSuperslice(Now()) + 1;
    WakeForSlot();
}

OperaTransmissionSlots::Departure
OperaBulkSlots::TakeDeparture(uint32_t host, int64_t when)
{
    const OperaTransmissionSlots::Departure departure = GetSlots(host).Take(when, host, m_back);
    GiveBack();
    return departure;
}

void
OperaBulkSlots::GiveBack()
{
    for (const OperaGrant& grant : m_back)
    {
        m_inFlight -= grant.packets;
        Wait(grant.from, grant.destination, grant.packets, grant.isRelayed);
    }
    m_back.clear();
}

template <class Is>
void
OperaBulkSlots::WithdrawWhere(Is&& isGone)
{
    const uint32_t hosts = GetSlotHosts();
    for (uint32_t host = 0; host < hosts; ++host)
    {
        OperaTransmissionSlots& slots = GetSlots(host);
        if (slots.IsEmpty())
        {
            continue;
        }
        PrepareSlots(host);
        for (uint32_t rotor = 0; rotor < m_slotLayout.rotors; ++rotor)
        {
            if (isGone(m_slotLayout.GetRackOf(host), rotor))
            {
                slots.Withdraw(rotor, host, m_back);
            }
        }
        GiveBack();
        slots.Plan();
        UseSlots(host);
    }
}

void
OperaBulkSlots::WakeForSlot()
{
    if (m_isAwake || GetBulkPolicy().GetWaiting() == 0 || IsStuck())
    {
        return;
    }
    const int64_t now = Now();
    const int64_t length = m_slotSchedule.GetLength();
    const auto from = static_cast<uint64_t>((now + length - 1) / length);
    m_nextSuperslice = std::max(m_nextSuperslice, from);
    const int64_t begin = static_cast<int64_t>(m_nextSuperslice) * length;
    m_isAwake = true;
    // What happens in the same instant happens before, what it starts included.
    m_begin = Simulator::Schedule(TimeStep(static_cast<uint64_t>(begin - now)), [this] {
        m_begin = Simulator::ScheduleNow(&OperaBulkSlots::BeginSlots, this);
    });
}

void
OperaBulkSlots::BeginSlots()
{
    const uint64_t superslice = m_nextSuperslice++;
    m_isAwake = false;
    bool isGranted = false;
    LearnOfFailures(superslice);
    for (uint32_t rotor = 0; rotor < m_slotLayout.rotors; ++rotor)
    {
        if (!m_slotSchedule.IsInstalled(rotor, superslice))
        {
            continue;
        }
        const uint32_t matching = m_slotSchedule.GetMatchingIndex(rotor, superslice);
        for (uint32_t rack = 0; rack < m_slotLayout.racks; ++rack)
        {
            const uint32_t peer = m_slotSchedule.GetPeer(rotor, matching, rack, Now());
            if (peer >= rack)
            {
                m_grants.clear();
                GetBulkPolicy().Share(rack, peer, m_grants);
                isGranted = isGranted || !m_grants.empty();
                Grant(rotor);
            }
        }
    }
    for (const uint32_t host : m_touched)
    {
        GetSlots(host).Plan();
        UseSlots(host);
    }
    m_touched.clear();
    if (isGranted)
    {
        NoteSlots();
        m_lastChange = superslice + 1;
        // A slot is shorter than a superslice: those before have ended.
        m_end = Simulator::Schedule(TimeStep(static_cast<uint64_t>(m_slotSchedule.GetBulkSlot())),
                                    &OperaBulkSlots::EndSlots,
                                    this,
                                    superslice);
    }
    WakeForSlot();
}

void
OperaBulkSlots::Grant(uint32_t rotor)
{
    const int64_t now = Now();
    for (const OperaGrant& grant : m_grants)
    {
        if (m_touched.empty() || m_touched.back() != grant.from)
        {
            PrepareSlots(grant.from);
            m_touched.push_back(grant.from);
        }
        GetSlots(grant.from).Commit(rotor, now, grant);
        m_inFlight += grant.packets;
        NoteGrant(rotor, grant);
    }
}

void
OperaBulkSlots::EndSlots(uint64_t superslice)
{
    WithdrawWhere(
        [&](uint32_t /* rack */, uint32_t rotor) { return m_slotSchedule.IsInstalled(rotor, superslice); });
}

void
OperaBulkSlots::LearnOfFailures(uint64_t superslice)
{
    const int64_t now = Now();
    if (m_slotSchedule.GetState(now) == m_slotSchedule.GetState(m_notified))
    {
        return;
    }
    GetBulkPolicy().SetState(m_slotSchedule.GetState(now));
    WithdrawWhere([&](uint32_t rack, uint32_t rotor) {
        const uint32_t matching = m_slotSchedule.GetMatchingIndex(rotor, superslice);
        return m_slotSchedule.GetPeer(rotor, matching, rack, now) !=
               m_slotSchedule.GetPeer(rotor, matching, rack, m_notified);
    });
    m_notified = now;
}

} // namespace ns3
