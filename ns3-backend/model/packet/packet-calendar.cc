// SPDX-License-Identifier: GPL-2.0-only
#include "packet-calendar.h"

#include "packet-inlet.h"
#include "packet-port.h"

#include "ns3/assert.h"

#include <algorithm>
#include <functional>
#include <typeinfo>

namespace ns3
{

namespace
{

constexpr unsigned FIRST_SHIFT = 12; // 4 ns, where the clock counts picoseconds
constexpr unsigned MOST_SHIFT = 50;
constexpr unsigned WORD_BITS = 64;
constexpr std::size_t FEWEST_BUCKETS = WORD_BITS;
constexpr std::size_t MOST_BUCKETS = std::size_t{1} << 16;
constexpr uint64_t FEWEST_TAKEN = 1024; // between two looks at the width

unsigned
Log2(uint64_t value)
{
    return value < 2 ? 0 : WORD_BITS - 1 - static_cast<unsigned>(__builtin_clzll(value));
}

} // namespace

PacketCalendar::PacketCalendar()
    : m_buckets(FEWEST_BUCKETS),
      m_isFull(FEWEST_BUCKETS / WORD_BITS),
      m_shift(FIRST_SHIFT),
      m_lookAt(FEWEST_TAKEN)
{
}

std::size_t
PacketCalendar::GetSize() const
{
    return m_front.size() - m_next + m_inBuckets + m_heap.size();
}

bool
PacketCalendar::IsEmpty() const
{
    return GetSize() == 0;
}

bool
PacketCalendar::IsFrontNext() const
{
    return m_next < m_front.size() && (m_heap.empty() || m_front[m_next] < m_heap.front());
}

void
PacketCalendar::Insert(const Event& event)
{
    const uint64_t bucket = event.key.m_ts >> m_shift;
    if (bucket <= m_current)
    {
        ++m_early;
        AddToHeap(event);
    }
    else if (bucket - m_current >= m_buckets.size())
    {
        AddToHeap(event);
    }
    else
    {
        AddToBucket(event);
        if (m_next == m_front.size())
        {
            Refill();
        }
    }
}

void
PacketCalendar::AddToHeap(const Event& event)
{
    m_heap.push_back(event);
    std::push_heap(m_heap.begin(), m_heap.end(), std::greater<>());
}

void
PacketCalendar::AddToBucket(const Event& event)
{
    uint32_t number = m_free;
    if (number == NONE)
    {
        number = static_cast<uint32_t>(m_entries.size());
        m_entries.emplace_back();
    }
    else
    {
        m_free = m_entries[number].next;
    }
    m_entries[number] = {event, NONE};
    const std::size_t slot = (event.key.m_ts >> m_shift) & (m_buckets.size() - 1);
    Bucket& bucket = m_buckets[slot];
    if (bucket.first == NONE)
    {
        bucket.first = number;
        m_isFull[slot / WORD_BITS] |= uint64_t{1} << slot % WORD_BITS;
    }
    else
    {
        m_entries[bucket.last].next = number;
    }
    bucket.last = number;
    ++m_inBuckets;
}

uint64_t
PacketCalendar::FindBucket() const
{
    const std::size_t mask = m_buckets.size() - 1;
    const std::size_t start = (m_current + 1) & mask;
    std::size_t word = start / WORD_BITS;
    uint64_t bits = m_isFull[word] & ~uint64_t{0} << start % WORD_BITS;
    while (bits == 0)
    {
        word = (word + 1) % m_isFull.size();
        bits = m_isFull[word];
    }
    const std::size_t slot = word * WORD_BITS + static_cast<unsigned>(__builtin_ctzll(bits));
    return m_current + 1 + ((slot - start) & mask);
}

void
PacketCalendar::TakeBucket(uint64_t bucket)
{
    const std::size_t slot = bucket & (m_buckets.size() - 1);
    const std::size_t before = m_front.size();
    const uint32_t last = m_buckets[slot].last;
    for (uint32_t number = m_buckets[slot].first; number != NONE; number = m_entries[number].next)
    {
        m_front.push_back(m_entries[number].event);
    }
    m_entries[last].next = m_free;
    m_free = m_buckets[slot].first;
    m_buckets[slot] = Bucket();
    m_isFull[slot / WORD_BITS] &= ~(uint64_t{1} << slot % WORD_BITS);
    m_inBuckets -= m_front.size() - before;
    m_current = bucket;
    // Those of one time are in order as they came.
    const auto first = m_front.begin() + static_cast<std::ptrdiff_t>(before);
    if (!std::is_sorted(first, m_front.end()))
    {
        std::sort(first, m_front.end());
    }
}

void
PacketCalendar::Refill()
{
    m_front.erase(m_front.begin(), m_front.begin() + static_cast<std::ptrdiff_t>(m_next));
    m_next = 0;
    while (m_inBuckets > 0 && m_front.size() < LOOKAHEAD)
    {
        TakeBucket(FindBucket());
    }
}

PacketCalendar::Event
PacketCalendar::PeekNext() const
{
    return IsFrontNext() ? m_front[m_next] : m_heap.front();
}

PacketCalendar::Event
PacketCalendar::RemoveNext()
{
    NS_ASSERT_MSG(!IsEmpty(), "there is a next event");
    Event next;
    if (IsFrontNext())
    {
        next = m_front[m_next++];
        if (m_inBuckets > 0 && m_front.size() - m_next < LOOKAHEAD)
        {
            Refill();
        }
        Fetch();
    }
    else
    {
        std::pop_heap(m_heap.begin(), m_heap.end(), std::greater<>());
        next = m_heap.back();
        m_heap.pop_back();
        if (m_next == m_front.size() && m_inBuckets == 0)
        {
            m_current = next.key.m_ts >> m_shift;
        }
    }
    if (++m_taken >= m_lookAt)
    {
        Adapt(next.key.m_ts);
    }
    return next;
}

template <class FetchOf>
void
PacketCalendar::FetchFor(std::size_t ahead, FetchOf fetch) const
{
    if (m_next + ahead >= m_front.size())
    {
        return;
    }
    const EventImpl& event = *m_front[m_next + ahead].impl;
    if (&typeid(event) == &typeid(PacketPort))
    {
        fetch(static_cast<const PacketPort&>(event));
    }
    else if (&typeid(event) == &typeid(PacketInlet))
    {
        fetch(static_cast<const PacketInlet&>(event));
    }
}

void
PacketCalendar::Fetch() const
{
    constexpr std::size_t LINES = 4;
    constexpr std::size_t LINE = 64;
    const std::size_t left = m_front.size() - m_next;
    if (left > 4 * STEP)
    {
        const char* line = reinterpret_cast<const char*>(m_front[m_next + 4 * STEP].impl);
        for (std::size_t i = 0; i < LINES; ++i)
        {
            __builtin_prefetch(line + i * LINE, 1);
        }
    }
    FetchFor(3 * STEP, [](const auto& event) { event.FetchPackets(); });
    FetchFor(2 * STEP, [](const auto& event) { event.FetchOffers(); });
    FetchFor(STEP, [](const auto& event) { event.FetchUsers(); });
    FetchFor(0, [](const auto& event) { event.FetchMore(); });
}

void
PacketCalendar::Remove(const Event& event)
{
    const auto isIt = [&](const Event& other) { return other.key.m_uid == event.key.m_uid; };
    if (const auto found = std::find_if(m_heap.begin(), m_heap.end(), isIt); found != m_heap.end())
    {
        m_heap.erase(found);
        std::make_heap(m_heap.begin(), m_heap.end(), std::greater<>());
        return;
    }
    const auto first = m_front.begin() + static_cast<std::ptrdiff_t>(m_next);
    if (const auto found = std::find_if(first, m_front.end(), isIt); found != m_front.end())
    {
        m_front.erase(found);
        Refill();
        return;
    }
    // The others of its bucket go through the heap, which keeps the order as well.
    const uint64_t bucket = event.key.m_ts >> m_shift;
    if (m_buckets[bucket & (m_buckets.size() - 1)].first == NONE)
    {
        return; // it is not pending
    }
    const uint64_t current = m_current;
    const std::size_t taken = m_front.size();
    TakeBucket(bucket);
    m_current = current;
    for (std::size_t i = taken; i < m_front.size(); ++i)
    {
        if (!isIt(m_front[i]))
        {
            AddToHeap(m_front[i]);
        }
    }
    m_front.resize(taken);
}

void
PacketCalendar::Adapt(uint64_t now)
{
    const std::size_t pending = GetSize();
    const uint64_t span = now - std::min(now, m_lookedAt);
    const unsigned shift = std::min(MOST_SHIFT, Log2(span / m_taken * EVENTS_PER_BUCKET));
    std::size_t buckets = FEWEST_BUCKETS;
    while (buckets < MOST_BUCKETS && buckets * EVENTS_PER_BUCKET < pending * SPAN)
    {
        buckets *= 2;
    }
    // Twice as wide or as narrow is as good; a front that ends far ahead is not.
    const bool isWide = shift + 1 < m_shift;
    const bool isNarrow = shift > m_shift + 1;
    const bool isOfSize = buckets <= m_buckets.size() && m_buckets.size() <= 4 * buckets;
    if (isWide || isNarrow || !isOfSize || m_early > m_taken / 4)
    {
        Rebuild(shift, buckets, now);
    }
    m_lookAt = std::max<uint64_t>(FEWEST_TAKEN, 2 * pending);
    m_lookedAt = now;
    m_taken = 0;
    m_early = 0;
}

void
PacketCalendar::Rebuild(unsigned shift, std::size_t buckets, uint64_t now)
{
    std::vector<Event> all(m_front.begin() + static_cast<std::ptrdiff_t>(m_next), m_front.end());
    all.insert(all.end(), m_heap.begin(), m_heap.end());
    for (const Bucket& bucket : m_buckets)
    {
        for (uint32_t number = bucket.first; number != NONE; number = m_entries[number].next)
        {
            all.push_back(m_entries[number].event);
        }
    }
    m_front.clear();
    m_next = 0;
    m_heap.clear();
    m_entries.clear();
    m_free = NONE;
    m_inBuckets = 0;
    m_buckets.assign(buckets, Bucket());
    m_isFull.assign(buckets / WORD_BITS, 0);
    m_shift = shift;
    m_current = now >> shift;
    for (const Event& event : all)
    {
        const uint64_t bucket = event.key.m_ts >> m_shift;
        if (bucket <= m_current || bucket - m_current >= m_buckets.size())
        {
            m_heap.push_back(event);
        }
        else
        {
            AddToBucket(event);
        }
    }
    std::make_heap(m_heap.begin(), m_heap.end(), std::greater<>());
    Refill();
}

} // namespace ns3
