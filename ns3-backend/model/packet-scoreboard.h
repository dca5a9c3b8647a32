// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_SCOREBOARD_H
#define PACKET_SCOREBOARD_H

#include "packet-queue-pair.h"
#include "packet-sets.h"

#include <cstdint>

namespace ns3
{

/**
 * What senders know of the packets above the first that is not acknowledged: which have arrived, and which
 * are held lost and wait to be sent again. Only queue pairs with such packets have a scoreboard; it goes when
 * everything below its last judgement is acknowledged.
 *
 * A packet is judged once: it is sent again at most once until the next timeout, which judges everything
 * anew.
 */
class PacketScoreboards
{
  public:
    explicit PacketScoreboards(uint32_t windowPackets);

    /// The packet, sent before, has arrived. \returns whether that is news.
    bool SetArrived(PacketQueuePair& pair, uint64_t packet);
    /// The packet, sent before, has not arrived. \returns whether that is news.
    bool SetLost(PacketQueuePair& pair, uint64_t packet);
    /// Packets below `bound` that have not arrived by now, and were not judged before, are lost.
    /// \returns whether there is one.
    bool Judge(PacketQueuePair& pair, uint64_t bound);
    /// Everything sent that has not arrived is lost. \returns how many packets.
    uint64_t SetAllLost(PacketQueuePair& pair);
    /// \returns whether the loss just found is the first in a window of data, until everything sent so far is
    /// acknowledged.
    bool StartsEpisode(PacketQueuePair& pair);

    /// `pair.hasLost`. \returns the first packet to send again.
    uint64_t GetFirstLost(const PacketQueuePair& pair) const;
    /// The first packet to send again is sent. \returns it.
    uint64_t TakeFirstLost(PacketQueuePair& pair);
    /// Packets from `before` to `pair.acknowledged` are acknowledged.
    void Acknowledge(PacketQueuePair& pair, uint64_t before);

  private:
    struct Board
    {
        uint64_t judged;     //!< packets below have been judged
        uint64_t episodeEnd; //!< packets sent when the last loss episode began
        uint32_t arrived;    //!< set
        uint32_t lost;       //!< set
        uint32_t next;
    };

    Board& Of(PacketQueuePair& pair);

    PacketSets m_sets;
    PacketPool<Board> m_boards;
};

} // namespace ns3

#endif /* PACKET_SCOREBOARD_H */
