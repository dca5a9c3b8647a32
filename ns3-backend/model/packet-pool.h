// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_POOL_H
#define PACKET_POOL_H

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/// What the packet engine knows of a packet. Payload has a length and no content.
struct PacketDescriptor
{
    enum class Kind : uint8_t
    {
        DATA,
        ACK, //!< everything below `sequence` has arrived
        NACK //!< as ACK, and `sequence` itself is missing
    };

    uint32_t next;        //!< in the list the packet is in
    uint32_t bytes;       //!< on the wire, headers included
    uint32_t source;      //!< host
    uint32_t destination; //!< host
    uint32_t queuePair;
    uint32_t incarnation; //!< of the queue pair when the packet was made
    uint64_t sequence;    //!< of a data packet in its queue pair; see Kind for the others
    int64_t arrival;      //!< at the node where it is, or at the end of the link it is crossing, in ps: of its
                          //!< head where the node cuts through, else of all of it
    int64_t tail;         //!< when its last bit is, or will be, there
    uint32_t marks; //!< of an acknowledgement: the marked packets among those it covers for the first time
    Kind kind;
    bool isMarked; //!< congestion experienced
    bool asks;     //!< for an acknowledgement
};

/// No packet, message, queue pair or port.
constexpr uint32_t PACKET_NONE = 0xffffffff;

/**
 * Packets by number, handed out and taken back without the allocator. Addresses stay valid while the pool
 * grows, by blocks; it never shrinks, so its size is that of the most packets alive at once.
 */
class PacketPool
{
  public:
    uint32_t
    Allocate()
    {
        if (m_free == PACKET_NONE)
        {
            Grow();
        }
        const uint32_t packet = m_free;
        m_free = (*this)[packet].next;
        ++m_used;
        return packet;
    }

    void
    Free(uint32_t packet)
    {
        (*this)[packet].next = m_free;
        m_free = packet;
        --m_used;
    }

    PacketDescriptor&
    operator[](uint32_t packet)
    {
        return (*m_blocks[packet / BLOCK])[packet % BLOCK];
    }

    const PacketDescriptor&
    operator[](uint32_t packet) const
    {
        return (*m_blocks[packet / BLOCK])[packet % BLOCK];
    }

    uint64_t
    GetUsed() const
    {
        return m_used;
    }

  private:
    static constexpr uint32_t BLOCK = 4096;
    using Block = std::array<PacketDescriptor, BLOCK>;

    void
    Grow()
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
    uint32_t m_free{PACKET_NONE};
    uint64_t m_used{0};
};

} // namespace ns3

#endif /* PACKET_POOL_H */
