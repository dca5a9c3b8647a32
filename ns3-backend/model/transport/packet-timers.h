// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_TIMERS_H
#define PACKET_TIMERS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

namespace ns3
{

/**
 * What is due when, the earliest first and of one time the one set first. Made for a million timeouts of
 * which nearly all are set for later than all before: those are a plain queue, O(1); the others a heap, O(log
 * n). In the simulator's own event queue they would make every event of the run slower.
 */
class PacketTimers
{
  public:
    struct Timer
    {
        int64_t when; //!< ps
        uint64_t order;
        uint64_t token;

        bool operator>(const Timer& other) const
        {
            return std::tie(when, order) > std::tie(other.when, other.order);
        }
    };

    void Set(int64_t when, uint64_t token)
    {
        const Timer timer{when, m_nextOrder++, token};
        if (m_queue.empty() || m_queue.back().when <= when)
        {
            m_queue.push_back(timer);
        }
        else
        {
            m_heap.push(timer);
        }
    }

    bool IsEmpty() const
    {
        return m_queue.empty() && m_heap.empty();
    }

    /// There is one.
    const Timer& GetFirst() const
    {
        return IsInHeap() ? m_heap.top() : m_queue.front();
    }

    /// There is one.
    Timer TakeFirst()
    {
        const Timer first = GetFirst();
        if (IsInHeap())
        {
            m_heap.pop();
        }
        else
        {
            m_queue.pop_front();
        }
        return first;
    }

  private:
    bool IsInHeap() const
    {
        return m_queue.empty() || (!m_heap.empty() && m_queue.front() > m_heap.top());
    }

    std::deque<Timer> m_queue; //!< by time
    std::priority_queue<Timer, std::vector<Timer>, std::greater<Timer>> m_heap;
    uint64_t m_nextOrder{0};
};

} // namespace ns3

#endif /* PACKET_TIMERS_H */
