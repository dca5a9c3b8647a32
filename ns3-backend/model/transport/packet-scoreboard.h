// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_SCOREBOARD_H
#define PACKET_SCOREBOARD_H

#include "ns3/packet-sets.h"
#include "packet-queue-pair.h"

#include <cstdint>

namespace ns3
{

/**
 * What senders know of the packets above the first that is not acknowledged: which have arrived, and which
 * are presumed lost and wait to be sent again. Only queue pairs with such packets have a scoreboard; it goes
 * when everything below its last judgement is acknowledged.
 *
 * A packet is presumed lost when one has arrived that left `tolerance` packets later or more: one with a
 * larger number, and for a packet that was sent again, another that was sent again with a greater number,
 * since these leave in order, or one that was new when the last of them had left.
 */
class PacketScoreboards
{
  public:
    explicit PacketScoreboards(uint32_t windowPackets);

    /// The packet, sent before, has arrived. \returns whether others are lost, that were not known to be.
    bool SetArrived(PacketQueuePair& pair, uint64_t packet, uint64_t tolerance);
    /// The same where arrivals imply nothing about others.
    void SetArrived(PacketQueuePair& pair, uint64_t packet);
    /// The packet, sent before, has not arrived, but its header has. \returns as above.
    bool SetLost(PacketQueuePair& pair, uint64_t packet, uint64_t tolerance);
    /// The same where arrivals imply nothing about others.
    void SetLost(PacketQueuePair& pair, uint64_t packet);
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
        uint64_t judged;     //!< packets below have arrived, or been presumed lost
        uint64_t resentEnd;  //!< packets sent when the last was sent again
        uint64_t episodeEnd; //!< packets sent when the last loss episode began
        uint32_t arrived;    //!< set
        uint32_t lost;       //!< set
        uint32_t resent;     //!< set, of those that have not arrived
        uint32_t next;
    };

    Board& Of(PacketQueuePair& pair);
    bool Judge(PacketQueuePair& pair, Board& board, uint64_t bound);
    bool JudgeResent(PacketQueuePair& pair, Board& board, uint64_t bound);
    bool Overtaken(PacketQueuePair& pair, Board& board, uint64_t packet, bool wasResent, uint64_t tolerance);

    PacketSets m_sets;
    PacketPool<Board> m_boards;
};

} // namespace ns3

#endif /* PACKET_SCOREBOARD_H */
