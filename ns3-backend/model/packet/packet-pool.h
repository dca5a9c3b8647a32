// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_POOL_H
#define PACKET_POOL_H

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/// No packet, message, queue pair or port.
constexpr uint32_t PACKET_NONE = 0xffffffff;

/// The state of a packet: one cache line. Payload has a length and no content.
struct alignas(64) PacketDescriptor
{
    enum class Kind : uint8_t
    {
        DATA,
        ACK,  //!< everything below `sequence` has arrived
        NACK, //!< as ACK, and `sequence` itself is missing
        CNP,  //!< congestion notification: data arrived marked (DCQCN)
        PULL  //!< the receiver asks for more (NDP); `sequence` counts what it has asked for
    };

    enum Flag : uint8_t
    {
        MARKED = 1,  //!< congestion experienced
        ASKS = 2,    //!< for an acknowledgement
        TRIMMED = 4, //!< only the header is left
        AGAIN = 8,   //!< sent before
        ROUTED = 16, //!< `path` is its way, fixed where it came into the network
        BULK = 32,   //!< of OperaBulk, which sends it on when a circuit leads there
        RETURNED =
            64 //!< a header without room, on its way back to its sender: source and destination are swapped
    };

    uint32_t next;        //!< in the list the packet is in
    uint32_t bytes;       //!< on the wire, headers included
    uint32_t source;      //!< host
    uint32_t destination; //!< host
    uint32_t queuePair;

    union {
        uint32_t incarnation; //!< of the queue pair when the packet was made
        uint32_t sender;      //!< of bulk: the host that sent it last, its source or one that relays it
    };

    uint64_t sequence; //!< of a data packet in its queue pair; see Kind for the others
    int64_t arrival;   //!< at the node where it is, or at the end of the link it is crossing, in ps: of its
                       //!< head where the node cuts through, else of all of it
    int64_t tail;      //!< when its last bit is, or will be, there
    uint32_t ingress;  //!< the port it came from, whose node is upstream; none at its source

    union {
        uint32_t telemetry; //!< what ports on its way noted, in the context's pool; none: nothing is noted
        uint32_t path;      //!< if ROUTED: its way, in the context's pool
    };

    union {
        uint32_t subject; //!< of an acknowledgement: the packet that caused it, less `sequence`
        uint32_t heading; //!< of bulk: the host it is on the way to, there to stay or to be relayed
    };

    union {
        uint16_t
            marks; //!< of an acknowledgement: the marked packets among those it covers for the first time
        uint16_t rotor; //!< of bulk: that it is to cross
    };

    uint8_t flags;
    uint8_t priority : 4; //!< 0 to 7, the greater the more urgent; data packets only
    Kind kind : 4;

    bool Is(Flag flag) const
    {
        return (flags & flag) != 0;
    }

    bool HasTelemetry() const
    {
        return telemetry != PACKET_NONE && !Is(ROUTED);
    }

    /// Carries payload; all else is control.
    bool IsData() const
    {
        return kind == Kind::DATA && !Is(TRIMMED);
    }
};

static_assert(sizeof(PacketDescriptor) == 64, "a packet is one cache line");

/**
 * Packets, or what goes with them, by number, handed out and taken back without the allocator. Addresses stay
 * valid while the pool grows, by blocks; it never shrinks, so its size is the largest number alive at once.
 *
 * `Item::next` is the pool's while the item is free.
 */
template <class Item>
class PacketPool
{
  public:
    uint32_t Allocate()
    {
        if (m_free == PACKET_NONE)
        {
            Grow();
        }
        const uint32_t number = m_free;
        m_free = (*this)[number].next;
        ++m_used;
        return number;
    }

    void Free(uint32_t number)
    {
        (*this)[number].next = m_free;
        m_free = number;
        --m_used;
    }

    Item& operator[](uint32_t number)
    {
        return (*m_blocks.data()[number / BLOCK])[number % BLOCK];
    }

    const Item& operator[](uint32_t number) const
    {
        return (*m_blocks.data()[number / BLOCK])[number % BLOCK];
    }

    uint64_t GetUsed() const
    {
        return m_used;
    }

    /// From now on other threads may look at items that they were given the numbers of, while one thread
    /// allocates and frees.
    void Reserve()
    {
        m_blocks.reserve(PACKET_NONE / BLOCK);
    }

  private:
    static constexpr uint32_t BLOCK = 4096;
    using Block = std::array<Item, BLOCK>;

    void Grow()
    {
        const auto first = static_cast<uint32_t>(m_blocks.size() * BLOCK);
        m_blocks.push_back(std::make_unique<Block>());
        for (uint32_t i = 0; i < BLOCK; ++i)
        {
            (*m_blocks.back())[i].next = i + 1 < BLOCK ? first + i + 1 : PACKET_NONE;
        }
        m_free = first;
    }

    std::vector<std::unique_ptr<Block>> m_blocks;
    // Apart from what other threads read.
    alignas(64) uint32_t m_free{PACKET_NONE};
    uint64_t m_used{0};
};

} // namespace ns3

#endif /* PACKET_POOL_H */
