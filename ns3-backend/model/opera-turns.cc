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
      m_queues(parts)
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
    const std::vector<Grant>& queue = m_queues[rotor];
    return !queue.empty() && queue.front().begin <= visit && queue.front().due < visit + m_round;
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
    while (m_behind >= m_turn && !IsDue(m_visited, m_clock))
    {
        m_visited = (m_visited + 1) % parts;
        m_behind -= m_turn;
    }
    int64_t visit = m_clock;
    for (uint32_t i = 0; i < parts; ++i, visit += m_turn)
    {
        const uint32_t rotor = m_visited + i < parts ? m_visited + i : m_visited + i - parts;
        if (m_queues[rotor].empty())
        {
            continue;
        }
        const Grant& first = m_queues[rotor].front();
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
    std::vector<Grant>* youngest = nullptr;
    for (std::vector<Grant>& queue : m_queues)
    {
        if (!queue.empty() && (youngest == nullptr || queue.front().begin > youngest->front().begin))
        {
            youngest = &queue;
        }
    }
    const auto last =
        std::max_element(youngest->begin(), youngest->end(), [this](const Grant& a, const Grant& b) {
            return GetDue(a, a.end - 1) < GetDue(b, b.end - 1);
        });
    back.push_back({host, last->to, last->destination, 1, last->isRelayed});
    --m_left;
    if (--last->end == last->next)
    {
        youngest->erase(last);
        std::make_heap(youngest->begin(), youngest->end(), IsLater);
    }
}

} // namespace ns3
