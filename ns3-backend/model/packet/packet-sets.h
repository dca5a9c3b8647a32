// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_SETS_H
#define PACKET_SETS_H

#include "packet-pool.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * Sets of packet numbers, each within a window of `span` numbers, a bit a number modulo that span rounded up:
 * for the packets that a few queue pairs have received early, or lost. Taken when needed and given back when
 * empty. Memory: span/8 bytes for each set alive at once; all operations but the searches are O(1).
 */
class PacketSets
{
  public:
    explicit PacketSets(uint32_t span);

    /// An empty set.
    uint32_t Allocate();
    /// The set is empty.
    void Free(uint32_t set);

    bool Has(uint32_t set, uint64_t packet) const;
    /// \returns whether it was not in the set.
    bool Add(uint32_t set, uint64_t packet);
    /// \returns whether it was in the set.
    bool Remove(uint32_t set, uint64_t packet);
    uint32_t GetCount(uint32_t set) const;
    /// The first packet of [from, end) that is in the set, or `end`; end - from is at most the span.
    uint64_t FindFirst(uint32_t set, uint64_t from, uint64_t end) const;

  private:
    std::size_t WordOf(uint32_t set, uint64_t packet) const;

    uint64_t m_mask;     //!< numbers of a set less 1, a power of two less 1
    std::size_t m_words; //!< of a set
    std::vector<uint64_t> m_bits;
    std::vector<uint32_t> m_counts;
    std::vector<uint32_t> m_free;
};

} // namespace ns3

#endif /* PACKET_SETS_H */
