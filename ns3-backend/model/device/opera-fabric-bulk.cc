// SPDX-License-Identifier: GPL-2.0-only
/// Bulk frames of an Opera network's devices: what waits at hosts, is granted when circuits come up, and
/// taken back when they go or fail.
#include "opera-fabric.h"
#include "opera-net-device.h"

#include "ns3/assert.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

int64_t
OperaFabric::Now()
{
    return Simulator::Now().GetTimeStep();
}

bool
OperaFabric::IsStuck() const
{
    return m_policy->GetWaiting() > 0 && m_inFlight == 0 &&
           m_nextSuperslice >= m_lastChange + m_schedule.GetSuperslices();
}

void
OperaFabric::SendBulk(uint32_t host, Ptr<OperaFrame> frame)
{
    m_hosts[host].own[frame->destination].push_back(frame);
    Wait(host, frame->destination, 1, false);
}

void
OperaFabric::Wait(uint32_t host, uint32_t destination, uint64_t packets, bool isRelayed)
{
    m_policy->Add(host, destination, packets, isRelayed);
    m_lastChange = m_schedule.GetSuperslice(Now()) + 1;
    WakeForSlot();
}

void
OperaFabric::Relay(Ptr<OperaFrame> frame)
{
    m_hosts[frame->heading].relayed[frame->destination].push_back(frame);
    --m_inFlight;
    m_relays(frame->heading, frame->packet);
    Wait(frame->heading, frame->destination, 1, true);
}

void
OperaFabric::TakeBack(Ptr<OperaFrame> frame)
{
    Host& host = m_hosts[frame->sender];
    (frame->isRelayed ? host.relayed : host.own)[frame->destination].push_front(frame);
    ++m_counters.returned;
    --m_inFlight;
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
    const OperaTransmissionSlots::Departure departure = host.slots.Take(now, number, m_back);
    GiveBack();
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

void
OperaFabric::WakeForSlot()
{
    if (m_isAwake || m_policy->GetWaiting() == 0 || IsStuck())
    {
        return;
    }
    const int64_t now = Now();
    const int64_t length = m_schedule.GetLength();
    m_nextSuperslice = std::max(m_nextSuperslice, static_cast<uint64_t>((now + length - 1) / length));
    const int64_t begin = static_cast<int64_t>(m_nextSuperslice) * length;
    m_isAwake = true;
    // What happens in the same instant happens before, what it starts included.
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(begin - now)),
                        [this] { Simulator::ScheduleNow(&OperaFabric::BeginSlots, this); });
}

void
OperaFabric::BeginSlots()
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
                m_policy->Share(rack, peer, m_grants);
                isGranted = isGranted || !m_grants.empty();
                Grant(rotor);
            }
        }
    }
    for (const uint32_t host : m_touched)
    {
        m_hosts[host].slots.Plan();
        m_hosts[host].device->Wake();
    }
    m_touched.clear();
    if (isGranted)
    {
        m_lastChange = superslice + 1;
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(m_schedule.GetBulkSlot())),
                            &OperaFabric::EndSlots,
                            this,
                            superslice);
    }
    WakeForSlot();
}

void
OperaFabric::Grant(uint32_t rotor)
{
    for (const OperaGrant& grant : m_grants)
    {
        if (m_touched.empty() || m_touched.back() != grant.from)
        {
            m_touched.push_back(grant.from);
        }
        m_hosts[grant.from].slots.Commit(rotor, Now(), grant);
        m_inFlight += grant.packets;
        m_granted(rotor, grant);
    }
}

void
OperaFabric::GiveBack()
{
    const std::vector<OperaGrant> back = std::move(m_back);
    m_back.clear();
    for (const OperaGrant& grant : back)
    {
        m_inFlight -= grant.packets;
        Wait(grant.from, grant.destination, grant.packets, grant.isRelayed);
    }
}

template <class Is>
void
OperaFabric::WithdrawWhere(Is&& isGone)
{
    for (uint32_t number = 0; number < m_hosts.size(); ++number)
    {
        Host& host = m_hosts[number];
        if (host.slots.IsEmpty())
        {
            continue;
        }
        for (uint32_t rotor = 0; rotor < m_layout.rotors; ++rotor)
        {
            if (isGone(m_layout.GetRackOf(number), rotor))
            {
                host.slots.Withdraw(rotor, number, m_back);
            }
        }
        GiveBack();
        host.slots.Plan();
        host.device->Wake();
    }
}

void
OperaFabric::EndSlots(uint64_t superslice)
{
    WithdrawWhere(
        [&](uint32_t /* rack */, uint32_t rotor) { return m_schedule.IsInstalled(rotor, superslice); });
}

void
OperaFabric::LearnOfFailures(uint64_t superslice)
{
    const int64_t now = Now();
    if (m_schedule.GetState(now) == m_schedule.GetState(m_notified))
    {
        return;
    }
    m_policy->SetState(m_schedule.GetState(now));
    WithdrawWhere([&](uint32_t rack, uint32_t rotor) {
        const uint32_t matching = m_schedule.GetMatchingIndex(rotor, superslice);
        return m_schedule.GetPeer(rotor, matching, rack, now) !=
               m_schedule.GetPeer(rotor, matching, rack, m_notified);
    });
    m_notified = now;
}

} // namespace ns3
