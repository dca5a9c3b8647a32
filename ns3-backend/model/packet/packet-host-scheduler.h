// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_HOST_SCHEDULER_H
#define PACKET_HOST_SCHEDULER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

namespace ns3
{

constexpr uint8_t PACKET_PRIORITIES = 8;

/// Where the host's own packets come from: made when the port is ready to send them, not before.
class PacketSource
{
  public:
    virtual ~PacketSource() = default;
    /// What was offered may send a packet at `when`. `packet` is none if it has nothing to send after all.
    /// \returns from when on it stays on offer, `when` or later, or NEVER, when it has to be offered anew.
    virtual int64_t TakePacket(uint64_t offer, int64_t when, uint32_t& packet) = 0;

    /// What was offered is about to send: asks for what that reads.
    virtual void Fetch(uint64_t offer) const
    {
        static_cast<void>(offer);
    }

    /// And, when that has come, for what it leads to.
    virtual void FetchMore(uint64_t offer) const
    {
        static_cast<void>(offer);
    }

    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();
};

/**
 * What a source has offered to a port: by priority, those whose time has come are served round-robin; the
 * others wait for their time. O(1) for what may be sent at once, O(log n) for what is offered for later.
 */
class alignas(64) PacketHostScheduler
{
  public:
    struct Offer
    {
        uint64_t offer;
        int64_t from;
    };

    /// An offer that holds from `from` on, which may be before or after `now`.
    void Add(uint64_t offer, uint8_t priority, int64_t from, int64_t now)
    {
        if (from > now)
        {
            m_later.push({from, m_nextOrder++, offer, priority});
            return;
        }
        m_ready[priority].Push({offer, from});
        m_mask = static_cast<uint16_t>(m_mask | 1U << priority);
    }

    /// Those whose time has come by `now` are ready.
    void ReleaseDue(int64_t now)
    {
        while (!m_later.empty() && m_later.top().from <= now)
        {
            const Later first = m_later.top();
            m_later.pop();
            Add(first.offer, first.priority, first.from, now);
        }
    }

    /// The priorities in which something is ready, bit by bit.
    uint16_t GetMask() const
    {
        return m_mask;
    }

    /// When the first of the others is ready; NEVER if there are none.
    int64_t GetNextTime() const
    {
        return m_later.empty() ? PacketSource::NEVER : m_later.top().from;
    }

    /// The next of a priority in which something is ready.
    Offer Take(uint8_t priority)
    {
        const Offer first = m_ready[priority].Pop();
        if (m_ready[priority].count == 0)
        {
            m_mask = static_cast<uint16_t>(m_mask & ~(1U << priority));
        }
        return first;
    }

    /// The next of them is about to send.
    void Fetch(const PacketSource& source) const
    {
        if (m_mask != 0)
        {
            const Ring& ring = m_ready[31 - __builtin_clz(m_mask)];
            source.Fetch(ring.offers[ring.first].offer);
        }
    }

    void FetchMore(const PacketSource& source) const
    {
        if (m_mask != 0)
        {
            const Ring& ring = m_ready[31 - __builtin_clz(m_mask)];
            source.FetchMore(ring.offers[ring.first].offer);
        }
    }

    /// All of them, whether their time has come or not: by priority, the highest first.
    std::vector<uint64_t> TakeAll()
    {
        std::vector<uint64_t> all;
        for (uint8_t priority = PACKET_PRIORITIES; priority-- > 0;)
        {
            while (m_ready[priority].count > 0)
            {
                all.push_back(Take(priority).offer);
            }
        }
        for (; !m_later.empty(); m_later.pop())
        {
            all.push_back(m_later.top().offer);
        }
        return all;
    }

  private:
    struct Ring
    {
        std::vector<Offer> offers;
        std::size_t first{0};
        std::size_t count{0};

        void Push(const Offer& offer)
        {
            if (count == offers.size())
            {
                std::vector<Offer> larger(offers.empty() ? 4 : 2 * offers.size());
                for (std::size_t i = 0; i < count; ++i)
                {
                    larger[i] = offers[(first + i) & (offers.size() - 1)];
                }
                offers.swap(larger);
                first = 0;
            }
            offers[(first + count) & (offers.size() - 1)] = offer;
            ++count;
        }

        Offer Pop()
        {
            const Offer offer = offers[first];
            first = (first + 1) & (offers.size() - 1);
            --count;
            return offer;
        }
    };

    struct Later
    {
        int64_t from;
        uint64_t order;
        uint64_t offer;
        uint8_t priority;

        bool operator>(const Later& other) const
        {
            return std::tie(from, order) > std::tie(other.from, other.order);
        }
    };

    uint16_t m_mask{0};
    // The lowest priority, which is the only one where there are no classes, is in the same cache line.
    std::array<Ring, PACKET_PRIORITIES> m_ready; //!< a size that is a power of two, or none
    std::priority_queue<Later, std::vector<Later>, std::greater<Later>> m_later;
    uint64_t m_nextOrder{0};
};

} // namespace ns3

#endif /* PACKET_HOST_SCHEDULER_H */
