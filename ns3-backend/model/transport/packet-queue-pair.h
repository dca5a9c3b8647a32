// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_QUEUE_PAIR_H
#define PACKET_QUEUE_PAIR_H

#include "ns3/packet-pool.h"

#include <cstdint>

namespace ns3
{

/// A message that has arrived, or is on its way.
struct PacketMessage
{
    uint32_t source;
    uint32_t destination;
    uint64_t bytes;
    void* owner; //!< whatever the sender attached
    uint64_t token;
    uint8_t priority; //!< 0 to 7, the greater the more urgent
};

/// What a queue pair keeps of a message; the rest is the pair's.
struct alignas(64) PacketMessageRecord
{
    uint64_t bytes;
    void* owner;
    uint64_t token;
    uint64_t order; //!< of sending, among all messages
    uint64_t end;   //!< of its packets
    int64_t sent;   //!< ps
    uint32_t next;  //!< of the queue pair
};

/**
 * A queue pair while something is outstanding on it: two cache lines. The first is what its sender needs for
 * a packet, the second what its receiver needs and what is read less often. Packets are counted from 0
 * over all its messages.
 */
struct alignas(64) PacketQueuePair
{
    /// Why a sender that has packets and room in its window must wait.
    enum Hold : uint8_t
    {
        GIVEN_UP = 1, //!< too many timeouts in a row
        NOT_PULLED = 2
    };

    uint64_t nextPacket{0};   //!< to send
    uint64_t acknowledged{0}; //!< packets
    uint64_t end{0};          //!< of the packets that messages have been cut in
    uint64_t messageEnd{0};   //!< of the message `sending`
    uint32_t source{0};
    uint32_t destination{0};
    uint32_t incarnation{0};
    uint32_t allowed{0};  //!< packets that may be in flight
    uint32_t askAfter{1}; //!< packets at the latest
    uint32_t unasked{0};  //!< packets sent since an acknowledgement was last asked for
    uint32_t again{0};    //!< packets from `nextPacket` on that have been sent before
    uint8_t priority{0};
    uint8_t holds{0};
    bool isOffered{false}; //!< to a port
    bool hasLost{false};   //!< the scoreboard holds packets to send again

    uint64_t expected{0};            //!< packets arrived in order
    uint64_t receivingEnd{0};        //!< of the message `receiving`
    uint32_t receiving{PACKET_NONE}; //!< first message not delivered
    uint32_t early{PACKET_NONE};     //!< the set of packets that came before `expected`
    uint32_t marked{0};              //!< arrivals since the last acknowledgement
    bool hasAsked{false};            //!< for the missing packet
    bool hasTimer{false};
    uint16_t retries{0};          //!< timeouts since the last acknowledgement
    uint32_t oldest{PACKET_NONE}; //!< message not wholly acknowledged
    uint32_t newest{PACKET_NONE};
    uint32_t sending{PACKET_NONE}; //!< message that `nextPacket` is of, or an earlier one
    uint32_t scoreboard{PACKET_NONE};
    int64_t deadline{0};        //!< of the oldest packet in flight, ps
    uint32_t next{PACKET_NONE}; //!< the pool's
};

static_assert(sizeof(PacketQueuePair) == 128, "a queue pair is two cache lines");

} // namespace ns3

#endif /* PACKET_QUEUE_PAIR_H */
