// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKETS_IN_FLIGHT_H
#define PACKETS_IN_FLIGHT_H

#include "packet-pool.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The packets on a link, by arrival: a ring with the time at which each arrives, so that a port finds the
 * next event without reading the packet, which has left the cache since. O(1).
 */
class PacketsInFlight
{
  public:
    bool IsEmpty() const
    {
        return m_count == 0;
    }

    /// Of the first, of packets that are not none.
    int64_t GetFirstArrival() const
    {
        return m_ring[m_first].arrival;
    }

    /// \param arrival no sooner than those before
    void Append(uint32_t packet, int64_t arrival)
    {
        if (m_count == m_ring.size())
        {
            Grow();
        }
        m_ring[(m_first + m_count) & (m_ring.size() - 1)] = {arrival, packet};
        ++m_count;
    }

    uint32_t TakeFirst()
    {
        const uint32_t packet = m_ring[m_first].packet;
        m_first = (m_first + 1) & (m_ring.size() - 1);
        --m_count;
        return packet;
    }

  private:
    struct Entry
    {
        int64_t arrival;
        uint32_t packet;
    };

    void Grow()
    {
        std::vector<Entry> larger(m_ring.empty() ? 4 : 2 * m_ring.size());
        for (std::size_t i = 0; i < m_count; ++i)
        {
            larger[i] = m_ring[(m_first + i) & (m_ring.size() - 1)];
        }
        m_ring.swap(larger);
        m_first = 0;
    }

    std::vector<Entry> m_ring; //!< a size that is a power of two, or none
    std::size_t m_first{0};
    std::size_t m_count{0};
};

} // namespace ns3

#endif /* PACKETS_IN_FLIGHT_H */
