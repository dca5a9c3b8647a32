// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_CALENDAR_H
#define PACKET_CALENDAR_H

#include "ns3/scheduler.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The events of a simulation of packets, by their keys: by time, and at one time by number. Nearly all are
 * set for a short time from now, and waiting for memory costs more than arithmetic.
 *
 * A calendar (Brown, "Calendar queues: a fast O(1) priority queue implementation for the simulation event set
 * problem", CACM 31(10), 1988): a ring of buckets of one width of time each, and the events of a bucket in no
 * order until its time comes. Then they are sorted and appended to the front, from which events are taken.
 * What lies before the end of the front, or beyond the ring, waits in a binary heap; the next event is the
 * first of the front or of the heap, so the order never depends on the width. Every so often the width is set
 * anew for EVENTS_PER_BUCKET, from the pace of the last events, and the ring so that it spans SPAN times the
 * time an event waits on average (Little's law: events pending × time between two).
 *
 * The front always holds the next few events, as long as there are any. While one is handled, what the others
 * are about to read is fetched into the cache, step by step (PacketPort::FetchPackets).
 *
 * Complexity: O(1) on average for an event that is set for no more than the ring spans; O(log n) for others.
 * Memory: 32 bytes for every pending event in the ring, 24 for one in the front or in the heap, and 8 for a
 * bucket.
 */
class PacketCalendar
{
  public:
    using Event = Scheduler::Event;

    PacketCalendar();

    void Insert(const Event& event);
    bool IsEmpty() const;
    /// Of a calendar that is not empty.
    Event PeekNext() const;
    Event RemoveNext();
    /// O(n).
    void Remove(const Event& event);

  private:
    static constexpr std::size_t STEP = 2; //!< events: what is asked for has come that much later
    static constexpr std::size_t LOOKAHEAD = 4 * STEP + 1; //!< in the front, if there are so many in the ring
    static constexpr uint64_t EVENTS_PER_BUCKET = 16;
    static constexpr uint64_t SPAN = 8;
    static constexpr uint32_t NONE = 0xffffffff;

    struct Entry
    {
        Event event;
        uint32_t next; //!< of the bucket, or free
    };

    struct Bucket
    {
        uint32_t first{NONE};
        uint32_t last{NONE};
    };

    bool IsFrontNext() const;
    std::size_t GetSize() const;
    void AddToBucket(const Event& event);
    void AddToHeap(const Event& event);
    /// The first bucket after the current one that is not empty: there is one.
    uint64_t FindBucket() const;
    void TakeBucket(uint64_t bucket);
    void Refill();
    void Fetch() const;
    /// If the event that many after the next one is that of a port, or of an inlet.
    template <class FetchOf>
    void FetchFor(std::size_t ahead, FetchOf fetch) const;
    void Adapt(uint64_t now);
    void Rebuild(unsigned shift, std::size_t buckets, uint64_t now);

    std::vector<Event> m_front; //!< by order, those from m_next on
    std::size_t m_next{0};
    std::vector<Event> m_heap; //!< the next one first
    std::vector<Entry> m_entries;
    uint32_t m_free{NONE};          //!< of m_entries
    std::vector<Bucket> m_buckets;  //!< a number that is a power of two
    std::vector<uint64_t> m_isFull; //!< of each bucket, a bit: it is not empty
    std::size_t m_inBuckets{0};     //!< events
    uint64_t m_current{0};          //!< the last bucket that is in the front, counted from time 0
    unsigned m_shift;               //!< a bucket is 2^shift units of time wide
    uint64_t m_taken{0};            //!< events, since the width was last looked at
    uint64_t m_lookAt;              //!< after so many again
    uint64_t m_lookedAt{0};         //!< the time of that
    uint64_t m_early{0};            //!< events set for before the end of the front since then
};

} // namespace ns3

#endif /* PACKET_CALENDAR_H */
