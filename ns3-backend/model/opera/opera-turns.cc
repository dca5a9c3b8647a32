// SPDX-License-Identifier: GPL-2.0-only
#include "opera-turns.h"

#include "ns3/assert.h"

#include <algorithm>
#include <tuple>

namespace ns3
{

OperaTurns::OperaTurns(uint32_t parts, int64_t turn, int64_t slot)
    : m_turn(turn),
      m_round(turn * parts),
      m_slot(slot),
      m_queues(parts),
      m_firsts(parts)
{
}

bool
OperaTurns::IsLater(const Grant& a, const Grant& b)
{
    return std::tie(a.due, a.order) > std::tie(b.due, b.order);
}

int64_t
OperaTurns::GetDue(const Grant& grant, uint32_t packet) const
{
    return grant.begin + static_cast<int64_t>(static_cast<unsigned __int128>(m_slot) * packet / grant.of);
}

bool
OperaTurns::IsDue(uint32_t rotor, int64_t visit) const
{
    const First& first = m_firsts[rotor];
    return first.due < visit + m_round && first.begin <= visit;
}

void
OperaTurns::NoteFirst(uint32_t rotor)
{
    const std::vector<Grant>& queue = m_queues[rotor];
    m_firsts[rotor] = queue.empty() ? First{0, NEVER} : First{queue.front().begin, queue.front().due};
}

void
OperaTurns::Commit(uint32_t rotor, int64_t begin, const OperaGrant& grant)
{
    if (m_left == 0)
    {
        m_visited = rotor;
        m_clock = std::max(m_clock, begin);
        m_behind = 0;
    }
    m_left += grant.packets;
    std::vector<Grant>& queue = m_queues[rotor];
    queue.push_back({begin,
                     begin,
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
OperaTurns::Withdraw(uint32_t rotor, uint32_t host, std::vector<OperaGrant>& left)
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
OperaTurns::Plan()
{
    m_next = NEVER;
    if (m_left == 0)
    {
        return;
    }
    const auto parts = static_cast<uint32_t>(m_queues.size());
    while (m_behind > 0 && !IsDue(m_visited, m_clock))
    {
        const int64_t made = std::min(m_behind, m_turn);
        m_visited = (m_visited + 1) % parts;
        m_clock += m_turn - made;
        m_behind -= made;
    }
    int64_t visit = m_clock;
    for (uint32_t i = 0; i < parts; ++i, visit += m_turn)
    {
        const uint32_t rotor = m_visited + i < parts ? m_visited + i : m_visited + i - parts;
        const First& first = m_firsts[rotor];
        if (first.due == NEVER)
        {
            continue;
        }
        const int64_t early = first.due - visit;
        int64_t next = early >= m_round ? visit + early / m_round * m_round : visit;
        next += next < first.begin ? m_round : 0;
        if (next < m_next)
        {
            m_next = next;
            m_nextRotor = rotor;
        }
    }
}

OperaTurns::Turn
OperaTurns::Take(int64_t when, uint32_t host, std::vector<OperaGrant>& back)
{
    NS_ASSERT_MSG(m_next <= when, "a packet leaves when it is its turn");
    std::vector<Grant>& queue = m_queues[m_nextRotor];
    std::pop_heap(queue.begin(), queue.end(), IsLater);
    Grant& grant = queue.back();
    const Turn turn{m_nextRotor, grant.to, grant.destination, grant.isRelayed};
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
    m_behind += when - m_next;
    m_visited = (m_nextRotor + 1) % static_cast<uint32_t>(m_queues.size());
    m_clock = when + m_turn;
    for (; m_behind >= m_round && m_left > 0; m_behind -= m_turn)
    {
        GiveBackLast(host, back);
    }
    Plan();
    return turn;
}

void
OperaTurns::GiveBackLast(uint32_t host, std::vector<OperaGrant>& back)
{
    uint32_t rotor = 0;
    for (uint32_t i = 1; i < m_firsts.size(); ++i)
    {
        const bool isYounger = m_firsts[rotor].due == NEVER || m_firsts[i].begin > m_firsts[rotor].begin;
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
