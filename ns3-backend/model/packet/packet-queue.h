// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_QUEUE_H
#define PACKET_QUEUE_H

#include "packet-context.h"
#include "packet-host-scheduler.h"
#include "packet-shared-buffer.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/// Packets linked by their `next`, first in, first out.
class PacketList
{
  public:
    bool IsEmpty() const
    {
        return m_head == PACKET_NONE;
    }

    /// PACKET_NONE if there is none.
    uint32_t GetFirst() const
    {
        return m_head;
    }

    /// Of a list that is not empty.
    uint32_t GetLast() const
    {
        return m_tail;
    }

    void Append(PacketPool<PacketDescriptor>& packets, uint32_t packet)
    {
        packets[packet].next = PACKET_NONE;
        if (IsEmpty())
        {
            m_head = packet;
        }
        else
        {
            packets[m_tail].next = packet;
        }
        m_tail = packet;
    }

    void Prepend(PacketPool<PacketDescriptor>& packets, uint32_t packet)
    {
        packets[packet].next = m_head;
        m_tail = IsEmpty() ? packet : m_tail;
        m_head = packet;
    }

    uint32_t TakeFirst(const PacketPool<PacketDescriptor>& packets)
    {
        const uint32_t packet = m_head;
        m_head = packets[packet].next;
        return packet;
    }

  private:
    uint32_t m_head{PACKET_NONE};
    uint32_t m_tail{PACKET_NONE};
};

/**
 * What waits in a port, in nine lanes: control (acknowledgements, notifications, pulls, headers of trimmed
 * packets), and the eight priorities of data. Within a lane packets leave in the order in which they came.
 *
 * Room. What does not fit is refused: tail drop beyond a limit, or what PacketSharedBuffer does not admit.
 * With trimming, data beyond the limit loses its payload instead, the arrival or, as often, the last in its
 * lane (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
 * performance", SIGCOMM 2017, section 3.1); headers have a limit of the same size of their own.
 *
 * One priority may be left out of the limit: what is in it waits for ever, and gives way to everything else.
 *
 * Marks. A data packet that leaves w bytes of its lane waiting behind it is marked with probability 0 up to
 * `from`, rising linearly to `probability` at `to`, and 1 beyond (Zhu et al., "Congestion control for
 * large-scale RDMA deployments", SIGCOMM 2015, figure 5); from = to is DCTCP's step.
 *
 * O(1) a packet; with memory that is nearly full, O(ports of the switch).
 */
class PacketQueue
{
  public:
    struct Counters
    {
        uint64_t carriedBytes{0}; //!< on the wire
        uint64_t dataPackets{0};
        uint64_t drops{0};
        uint64_t marks{0};
        uint64_t trims{0};
        uint64_t peakBytes{0}; //!< waiting
    };

    struct Marking
    {
        uint64_t from{std::numeric_limits<uint64_t>::max()}; //!< bytes
        uint64_t to{std::numeric_limits<uint64_t>::max()};   //!< bytes, no less
        double probability{1};                               //!< at `to`
    };

    static constexpr uint8_t CONTROL = PACKET_PRIORITIES; //!< the lane

    static constexpr uint32_t BitOf(uint8_t lane)
    {
        return 1U << lane;
    }

    static uint8_t LaneOf(const PacketDescriptor& packet)
    {
        return packet.IsData() ? packet.priority : CONTROL;
    }

    /// \param number of the port
    PacketQueue(PacketContext& context, uint32_t number);

    /// In bytes; 0: no limit of its own.
    void SetLimit(uint64_t limit);
    void SetSharedBuffer(PacketSharedBuffer* memory);
    void SetMarking(const Marking& marking);
    /// Data beyond the limit is cut down to `header` bytes.
    void SetTrimming(uint32_t header);
    /// Data of this priority neither counts towards the limit nor is bound by it, and leaves while nothing
    /// else waits.
    void SetUnlimited(uint8_t priority);

    bool Trims() const
    {
        return m_isTrimming;
    }

    bool IsLimited() const
    {
        return m_isLimited;
    }

    /// Whether marks are a matter of chance.
    bool MarksAtRandom() const
    {
        return m_marks && m_marking.from < m_marking.to;
    }

    /// Of `lanes`, the data that alternates with headers.
    uint32_t GetAlternatingLanes(uint32_t lanes) const
    {
        return lanes & (BitOf(CONTROL) - 1) & ~m_unlimited;
    }

    /// Whether a packet that is not in it may wait; it may have become a trimmed one to do so.
    bool Admit(uint32_t packet, int64_t now)
    {
        return !m_isLimited || MakeRoom(packet, now);
    }

    void Wait(uint32_t packet, int64_t now);
    /// The first of a lane that is not empty.
    uint32_t Leave(uint8_t lane, int64_t when);
    /// The same packet, which goes nowhere and is not marked.
    uint32_t Remove(uint8_t lane, int64_t when);

    /// The lanes in which packets wait, bit by bit.
    uint32_t GetLanes() const
    {
        return m_lanes;
    }

    /// Of the first packet of a lane that is not empty.
    uint32_t GetFirstBytes(uint8_t lane) const
    {
        return m_context.packets[At(lane).list.GetFirst()].bytes;
    }

    uint64_t GetWaitingBytes() const
    {
        return m_waiting;
    }

    /// Bytes that waited, on average over time until `now`.
    double GetMeanWaitingBytes(int64_t now) const;
    /// The ports whose packets wait here in a lane, one for each packet.
    std::vector<uint32_t> GetIngressOf(uint8_t lane) const;

    Counters GetCounters() const
    {
        return {m_carriedBytes, m_dataPackets, m_drops, m_marked, m_trims, m_peakBytes};
    }

    uint64_t GetCarriedBytes() const
    {
        return m_carriedBytes;
    }

    void CountCarried(uint32_t bytes)
    {
        m_carriedBytes += bytes;
    }

    void CountData()
    {
        ++m_dataPackets;
    }

    void CountDrop()
    {
        ++m_drops;
    }

    PacketContext& GetContext() const
    {
        return m_context;
    }

    /// Of the port.
    uint32_t GetNumber() const
    {
        return m_number;
    }

    /// A packet is about to wait: asks for the one that it comes after.
    void FetchLast(uint8_t lane) const
    {
        if ((m_lanes & BitOf(lane)) != 0)
        {
            __builtin_prefetch(&m_context.packets[At(lane).list.GetLast()], 1);
        }
    }

    /// One is about to leave: asks for it.
    void FetchFirst() const
    {
        if (m_lanes != 0)
        {
            const auto lane = static_cast<uint8_t>(31 - __builtin_clz(m_lanes));
            __builtin_prefetch(&m_context.packets[At(lane).list.GetFirst()]);
        }
    }

  private:
    /// Of one lane.
    struct Lane
    {
        PacketList list;
        uint64_t waiting{0}; //!< bytes
    };

    /// Control first: beside it lies the lowest priority, which is the only one where there are no classes.
    const Lane& At(uint8_t lane) const
    {
        return m_laneStates[lane == CONTROL ? 0 : lane + 1];
    }

    Lane& At(uint8_t lane)
    {
        return m_laneStates[lane == CONTROL ? 0 : lane + 1];
    }

    bool HasRoom(const PacketDescriptor& packet, int64_t now);
    bool MakeRoom(uint32_t packet, int64_t now);
    void TakePlaceOfLast(uint32_t packet, int64_t now);
    void Trim(uint32_t packet, int64_t now);
    uint32_t TakeFirst(uint8_t lane, int64_t when);
    void FreeRoom(uint32_t packet, int64_t when);
    void Mark(uint32_t packet, uint64_t waiting, int64_t when);
    void Count(int64_t when);

    // What every packet that crosses the port touches: with what PacketPort has before it, a cache line.
    PacketContext& m_context;
    uint32_t m_number;
    uint16_t m_lanes{0};
    bool m_marks : 1;
    bool m_isTrimming : 1;
    bool m_isLimited : 1;  //!< there is a limit of its own or a shared one
    uint64_t m_waiting{0}; //!< bytes, of all lanes
    int64_t m_countedUntil{0};
    uint64_t m_carriedBytes{0};
    uint64_t m_dataPackets{0};
    // What one that waits in it touches: another line, up to the lane of the lowest priority.
    unsigned __int128 m_area{0}; //!< of the queue's length over time, byte · ps
    uint64_t m_peakBytes{0};
    uint64_t m_limit{0};
    std::array<Lane, PACKET_PRIORITIES + 1> m_laneStates;
    // The rest.
    PacketSharedBuffer* m_sharedBuffer{nullptr};
    uint32_t m_trimmedBytes{0}; //!< of a packet that lost its payload, 0: none does
    uint32_t m_unlimited{0};    //!< the lane that has no limit, bit by bit
    uint8_t m_unlimitedLane{CONTROL};
    uint64_t m_drops{0};
    uint64_t m_marked{0};
    uint64_t m_trims{0};
    Marking m_marking;
};

} // namespace ns3

#endif /* PACKET_QUEUE_H */
