// SPDX-License-Identifier: GPL-2.0-only
#include "packet-pair-table.h"

#include "ns3/assert.h"

#include <utility>

namespace ns3
{

namespace
{

constexpr unsigned FIRST_BITS = 10;
constexpr unsigned KEY_BITS = 64;
constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15; // 2^64 / golden ratio: multiplicative hashing

} // namespace

PacketPairTable::PacketPairTable()
    : m_slots(std::size_t{1} << FIRST_BITS),
      m_shift(KEY_BITS - FIRST_BITS)
{
}

uint64_t
PacketPairTable::KeyOf(uint32_t source, uint32_t destination, uint8_t priority)
{
    NS_ASSERT_MSG(source >> 30 == 0 && destination >> 30 == 0 && priority < 16, "a key is 64 bits");
    return uint64_t{source} << 34 | uint64_t{destination} << 4 | priority;
}

std::size_t
PacketPairTable::HomeOf(uint64_t key) const
{
    return static_cast<std::size_t>(key * GOLDEN >> m_shift);
}

uint32_t
PacketPairTable::Find(uint64_t key) const
{
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t at = HomeOf(key);; at = (at + 1) & mask)
    {
        const Slot& slot = m_slots[at];
        if (slot.number == PACKET_NONE || slot.key == key)
        {
            return slot.number;
        }
    }
}

void
PacketPairTable::Insert(uint64_t key, uint32_t number)
{
    if (2 * (m_used + 1) > m_slots.size())
    {
        Grow();
    }
    const std::size_t mask = m_slots.size() - 1;
    std::size_t at = HomeOf(key);
    while (m_slots[at].number != PACKET_NONE)
    {
        at = (at + 1) & mask;
    }
    m_slots[at].key = key;
    m_slots[at].number = number;
    ++m_used;
}

void
PacketPairTable::Erase(uint64_t key)
{
    const std::size_t mask = m_slots.size() - 1;
    std::size_t gap = HomeOf(key);
    while (m_slots[gap].key != key || m_slots[gap].number == PACKET_NONE)
    {
        gap = (gap + 1) & mask;
    }
    // What follows moves up unless that would put it before its home.
    for (std::size_t at = (gap + 1) & mask; m_slots[at].number != PACKET_NONE; at = (at + 1) & mask)
    {
        const std::size_t home = HomeOf(m_slots[at].key);
        if (((at - home) & mask) >= ((at - gap) & mask))
        {
            m_slots[gap] = m_slots[at];
            gap = at;
        }
    }
    m_slots[gap].number = PACKET_NONE;
    --m_used;
}

void
PacketPairTable::Grow()
{
    std::vector<Slot> before(2 * m_slots.size());
    std::swap(before, m_slots);
    --m_shift;
    m_used = 0;
    for (const Slot& slot : before)
    {
        if (slot.number != PACKET_NONE)
        {
            Insert(slot.key, slot.number);
        }
    }
}

} // namespace ns3
