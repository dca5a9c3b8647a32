// SPDX-License-Identifier: GPL-2.0-only
#include "packet-sets.h"

#include "ns3/assert.h"

#include <algorithm>

namespace ns3
{

namespace
{

constexpr uint64_t WORD = 64;

uint64_t
MaskFor(uint32_t span)
{
    uint64_t size = WORD;
    while (size < span)
    {
        size *= 2;
    }
    return size - 1;
}

} // namespace

PacketSets::PacketSets(uint32_t span)
    : m_mask(MaskFor(span)),
      m_words(static_cast<std::size_t>((m_mask + 1) / WORD))
{
}

uint32_t
PacketSets::Allocate()
{
    if (m_free.empty())
    {
        m_free.push_back(static_cast<uint32_t>(m_counts.size()));
        m_counts.push_back(0);
        m_bits.resize(m_bits.size() + m_words, 0);
    }
    const uint32_t set = m_free.back();
    m_free.pop_back();
    return set;
}

void
PacketSets::Free(uint32_t set)
{
    NS_ASSERT_MSG(m_counts[set] == 0, "a set is given back empty");
    m_free.push_back(set);
}

std::size_t
PacketSets::WordOf(uint32_t set, uint64_t packet) const
{
    return set * m_words + static_cast<std::size_t>((packet & m_mask) / WORD);
}

bool
PacketSets::Has(uint32_t set, uint64_t packet) const
{
    return (m_bits[WordOf(set, packet)] >> packet % WORD & 1) != 0;
}

bool
PacketSets::Add(uint32_t set, uint64_t packet)
{
    if (Has(set, packet))
    {
        return false;
    }
    m_bits[WordOf(set, packet)] |= uint64_t{1} << packet % WORD;
    ++m_counts[set];
    return true;
}

bool
PacketSets::Remove(uint32_t set, uint64_t packet)
{
    if (!Has(set, packet))
    {
        return false;
    }
    m_bits[WordOf(set, packet)] &= ~(uint64_t{1} << packet % WORD);
    --m_counts[set];
    return true;
}

uint32_t
PacketSets::GetCount(uint32_t set) const
{
    return m_counts[set];
}

uint64_t
PacketSets::FindFirst(uint32_t set, uint64_t from, uint64_t end) const
{
    for (uint64_t at = from; at < end; at = (at / WORD + 1) * WORD)
    {
        const uint64_t word = m_bits[WordOf(set, at)] >> at % WORD;
        if (word != 0)
        {
            return std::min(at + static_cast<uint64_t>(__builtin_ctzll(word)), end);
        }
    }
    return end;
}

} // namespace ns3
