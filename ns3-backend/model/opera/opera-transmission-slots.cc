// SPDX-License-Identifier: GPL-2.0-only
#include "opera-transmission-slots.h"

#include "ns3/assert.h"

#include <algorithm>
#include <tuple>

namespace ns3
{

OperaTransmissionSlots::OperaTransmissionSlots(uint32_t parts, int64_t packetTime, int64_t circuitTime)
    : m_packetTime(packetTime),
      m_round(packetTime * parts),
      m_circuitTime(circuitTime),
      m_queues(parts),
      m_firsts(parts)
{
}

bool
OperaTransmissionSlots::IsLater(const Grant& a, const Grant& b)
{
    return std::tie(a.due, a.order) > std::tie(b.due, b.order);
}

int64_t
OperaTransmissionSlots::GetDue(const Grant& grant, uint32_t packet) const
{
    return grant.start +
           static_cast<int64_t>(static_cast<unsigned __int128>(m_circuitTime) * packet / grant.of);
}

bool
OperaTransmissionSlots::IsDue(uint32_t rotor, int64_t slot) const
{
    const First& first = m_firsts[rotor];
    return first.due < slot + m_round && first.start <= slot;
}

void
OperaTransmissionSlots::NoteFirst(uint32_t rotor)
{
    const std::vector<Grant>& queue = m_queues[rotor];
    m_firsts[rotor] = queue.empty() ? First{0, NEVER} : First{queue.front().start, queue.front().due};
}

void
OperaTransmissionSlots::Commit(uint32_t rotor, int64_t start, const OperaGrant& grant)
{
    if (m_left == 0)
    {
        m_current = rotor;
        m_clock = std::max(m_clock, start);
        m_delay = 0;
    }
    m_left += grant.packets;
    std::vector<Grant>& queue = m_queues[rotor];
    queue.push_back({start,
                     start,
                     m_order++,
                     0,
                     grant.packets,
                     grant.packets,
                     grant.to,
                     grant.destination,
                     grant.isRelayed});
    std::push_heap(queue.begin(), queue.end(), IsLater);
    NoteFirst(rotor);
}

void
OperaTransmissionSlots::Withdraw(uint32_t rotor, uint32_t host, std::vector<OperaGrant>& left)
{
    for (const Grant& grant : m_queues[rotor])
    {
        left.push_back({host, grant.to, grant.destination, grant.end - grant.next, grant.isRelayed});
        m_left -= grant.end - grant.next;
    }
    m_queues[rotor].clear();
    NoteFirst(rotor);
}

void
OperaTransmissionSlots::Plan()
{
    m_next = NEVER;
    if (m_left == 0)
    {
        return;
    }
    const auto parts = static_cast<uint32_t>(m_queues.size());
    while (m_delay > 0 && !IsDue(m_current, m_clock))
    {
        const int64_t made = std::min(m_delay, m_packetTime);
        m_current = (m_current + 1) % parts;
        m_clock += m_packetTime - made;
        m_delay -= made;
    }
    int64_t slot = m_clock;
    for (uint32_t i = 0; i < parts; ++i, slot += m_packetTime)
    {
        const uint32_t rotor = m_current + i < parts ? m_current + i : m_current + i - parts;
        const First& first = m_firsts[rotor];
        if (first.due == NEVER)
        {
            continue;
        }
        const int64_t early = first.due - slot;
        int64_t next = early >= m_round ? slot + early / m_round * m_round : slot;
        next += next < first.start ? m_round : 0;
        if (next < m_next)
        {
            m_next = next;
            m_nextRotor = rotor;
        }
    }
}

OperaTransmissionSlots::Departure
OperaTransmissionSlots::Take(int64_t when, uint32_t host, std::vector<OperaGrant>& back)
{
    NS_ASSERT_MSG(m_next <= when, "a packet leaves in its slot");
    std::vector<Grant>& queue = m_queues[m_nextRotor];
    std::pop_heap(queue.begin(), queue.end(), IsLater);
    Grant& grant = queue.back();
    const Departure departure{m_nextRotor, grant.to, grant.destination, grant.isRelayed};
    --m_left;
    if (++grant.next < grant.end)
    {
        grant.due = GetDue(grant, grant.next);
        std::push_heap(queue.begin(), queue.end(), IsLater);
    }
    else
    {
        queue.pop_back();
    }
    NoteFirst(m_nextRotor);
    m_delay += when - m_next;
    m_current = (m_nextRotor + 1) % static_cast<uint32_t>(m_queues.size());
    m_clock = when + m_packetTime;
    for (; m_delay >= m_round && m_left > 0; m_delay -= m_packetTime)
    {
        GiveBackLast(host, back);
    }
    Plan();
    return departure;
}

void
OperaTransmissionSlots::GiveBackLast(uint32_t host, std::vector<OperaGrant>& back)
{
    uint32_t rotor = 0;
    for (uint32_t i = 1; i < m_firsts.size(); ++i)
    {
        const bool isYounger = m_firsts[rotor].due == NEVER || m_firsts[i].start > m_firsts[rotor].start;
        rotor = m_firsts[i].due != NEVER && isYounger ? i : rotor;
    }
    std::vector<Grant>& youngest = m_queues[rotor];
    const auto last =
        std::max_element(youngest.begin(), youngest.end(), [this](const Grant& a, const Grant& b) {
            return GetDue(a, a.end - 1) < GetDue(b, b.end - 1);
        });
    back.push_back({host, last->to, last->destination, 1, last->isRelayed});
    --m_left;
    if (--last->end == last->next)
    {
        youngest.erase(last);
        std::make_heap(youngest.begin(), youngest.end(), IsLater);
        NoteFirst(rotor);
    }
}

} // namespace ns3
