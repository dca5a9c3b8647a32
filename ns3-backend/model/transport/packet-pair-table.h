// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_PAIR_TABLE_H
#define PACKET_PAIR_TABLE_H

#include "ns3/packet-pool.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The queue pair of (source, destination, priority): an open-addressing hash table with linear probing, at
 * most half full, that closes the gap when an entry goes. Find, Insert and Erase read one cache line as a
 * rule (Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithms L and R); 16 bytes a slot.
 */
class PacketPairTable
{
  public:
    /// Hosts are below 2^30.
    static uint64_t KeyOf(uint32_t source, uint32_t destination, uint8_t priority);

    PacketPairTable();

    /// \returns the number stored under `key`, or none.
    uint32_t Find(uint64_t key) const;
    /// Nothing is stored under `key`.
    void Insert(uint64_t key, uint32_t number);
    /// It is about to be asked for.
    void Fetch(uint64_t key) const
    {
        __builtin_prefetch(&m_slots[HomeOf(key)], 1);
    }

    /// Something is stored under `key`.
    void Erase(uint64_t key);

  private:
    struct Slot
    {
        uint64_t key;
        uint32_t number{PACKET_NONE}; //!< none: free
    };

    std::size_t HomeOf(uint64_t key) const;
    void Grow();

    std::vector<Slot> m_slots; //!< a power of two
    std::size_t m_used{0};
    unsigned m_shift;
};

} // namespace ns3

#endif /* PACKET_PAIR_TABLE_H */
