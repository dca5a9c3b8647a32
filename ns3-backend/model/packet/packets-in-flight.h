// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKETS_IN_FLIGHT_H
#define PACKETS_IN_FLIGHT_H

#include "packet-pool.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The packets on a link, by arrival: a ring with the time at which each arrives, so that a port finds the
 * next event without reading the packet, which has left the cache since. O(1).
 *
 * As many as fit into a cache line are in the object itself: with less than that much latency, counted in
 * packets, a link allocates nothing.
 */
class PacketsInFlight
{
  public:
    PacketsInFlight()
    {
        m_ring = m_own.data();
    }
    PacketsInFlight(const PacketsInFlight&) = delete;
    PacketsInFlight& operator=(const PacketsInFlight&) = delete;

    bool IsEmpty() const
    {
        return m_count == 0;
    }

    /// Of the first, of packets that are not none.
    int64_t GetFirstArrival() const
    {
        return m_ring[m_first].arrival;
    }

    /// Of packets that are not none.
    uint32_t GetFirst() const
    {
        return m_ring[m_first].packet;
    }

    /// \param arrival no sooner than those before
    void Append(uint32_t packet, int64_t arrival)
    {
        if (m_count > m_mask)
        {
            Grow();
        }
        m_ring[(m_first + m_count) & m_mask] = {arrival, packet};
        ++m_count;
    }

    uint32_t TakeFirst()
    {
        const uint32_t packet = GetFirst();
        m_first = (m_first + 1) & m_mask;
        --m_count;
        return packet;
    }

    /// Calls `visit` with each packet, the first that arrives first.
    template <class Visit>
    void ForEach(Visit visit) const
    {
        for (uint32_t i = 0; i < m_count; ++i)
        {
            visit(m_ring[(m_first + i) & m_mask].packet);
        }
    }

    /// Calls `visit` with each packet that arrives before `until` and when it does.
    template <class Visit>
    void ForEachBefore(int64_t until, Visit visit) const
    {
        for (uint32_t i = 0; i < m_count; ++i)
        {
            const Entry& entry = m_ring[(m_first + i) & m_mask];
            if (entry.arrival >= until)
            {
                return;
            }
            visit(entry.packet, entry.arrival);
        }
    }

  private:
    struct Entry
    {
        int64_t arrival;
        uint32_t packet;
    };

    static constexpr uint32_t OWN = 4; //!< entries: a cache line

    void Grow()
    {
        std::vector<Entry> larger(2 * (std::size_t{m_mask} + 1));
        for (uint32_t i = 0; i < m_count; ++i)
        {
            larger[i] = m_ring[(m_first + i) & m_mask];
        }
        m_more.swap(larger);
        m_ring = m_more.data();
        m_first = 0;
        m_mask = static_cast<uint32_t>(m_more.size()) - 1;
    }

    Entry* m_ring{nullptr};
    uint32_t m_first{0};
    uint32_t m_count{0};
    uint32_t m_mask{OWN - 1}; //!< entries, a power of two, less one
    std::array<Entry, OWN> m_own;
    std::vector<Entry> m_more; //!< where these do not suffice
};

} // namespace ns3

#endif /* PACKETS_IN_FLIGHT_H */
