// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_SENDER_H
#define PACKET_SENDER_H

#include "packet-pair-table.h"
#include "packet-rtt.h"
#include "packet-scoreboard.h"
#include "packet-timers.h"
#include "packet-transport-core.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The sending half of the queue pairs of a transport.
 *
 * A packet is made when the host's link is free for it, if the pair has one to send, room in its window, and
 * leave of its congestion control; with a host queue, as soon as the latter two hold. It asks for an
 * acknowledgement if it is the last of its message, if the pair can send no other, if `askAfter` packets have
 * not asked, or if it is sent again by selective recovery.
 *
 * Go back N: notified that a packet is missing, or by the timeout, the sender starts again at the first
 * packet that is not acknowledged.
 *
 * Selective recovery (Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, section 3.1). The
 * receiver answers every packet that comes early with what it waits for and what has come. A packet is
 * presumed lost once one has arrived that left r packets later, and sent again before anything new, within
 * the window; r is 1 where packets cannot overtake one another and `reorderTolerance` where they can. So is
 * one that was sent again and overtaken once more (packet-scoreboard.h), which the paper leaves to the
 * timeout. Where fewer than r packets follow, after a timeout everything is presumed lost that is not known
 * to have arrived. Loss is reported to the congestion control once for each window of data.
 *
 * Timeout. It runs from when the first unacknowledged packet was sent or the last acknowledgement of
 * something new came, doubles with each in a row, and after `retryLimit` in a row the pair sends no more
 * until an answer shows that a packet arrived after all.
 */
class PacketSender
{
  public:
    explicit PacketSender(PacketTransportCore& core);
    PacketSender(const PacketSender&) = delete;
    PacketSender& operator=(const PacketSender&) = delete;

    void Send(const PacketMessage& message);
    /// See PacketSource.
    int64_t TakePacket(uint64_t offer, int64_t when, uint32_t& packet);
    /// Something from the receiver that is not data; may take its telemetry.
    void Take(PacketDescriptor& packet);
    /// The header of a packet that found no room on its way: NDP's return to sender (Handley et al., SIGCOMM
    /// 2017, section 3.2). The packet is sent again before anything new, at once.
    void TakeReturned(const PacketDescriptor& packet);

    /// The router names other ports: pairs on offer are offered to those.
    void NoteRoutes();
    /// Of all pairs that wait for an answer, which takes no longer than a timeout from now.
    void StartTimers();

    /// An answer is about to come that may end the pair: asks for what that touches.
    void FetchEnd(const PacketQueuePair& pair) const
    {
        m_table.Fetch(PacketPairTable::KeyOf(pair.source, pair.destination, pair.priority));
    }

    uint64_t GetQueuePairCount() const
    {
        return m_pairCount;
    }

    /// Queue pairs have numbers below.
    uint32_t GetQueuePairEnd() const
    {
        return m_pairEnd;
    }

  private:
    static constexpr int64_t NEVER = PacketSource::NEVER;

    uint32_t Open(const PacketMessage& message);
    PacketLinkRates GetLinkRates(uint32_t index) const;
    void Release(uint32_t index);

    /// The ports of a pair on offer find out late what it has sent; before it changes they make up for it.
    void Settle(const PacketQueuePair& pair) const;
    bool HasWindow(const PacketQueuePair& pair) const;
    bool CanSend(const PacketQueuePair& pair) const;
    void GoOn(uint32_t index);
    uint32_t Make(uint32_t index, int64_t when);
    uint32_t PayloadOf(const PacketQueuePair& pair, uint32_t message, uint64_t packet) const;

    void TakeAcknowledgement(uint32_t index, PacketDescriptor& packet);
    bool Acknowledge(uint32_t index, PacketDescriptor& packet);
    void TakeMissing(uint32_t index, const PacketDescriptor& packet);
    void TakeAnswer(uint32_t index, const PacketDescriptor& packet);
    void NotePull(uint32_t index);

    void GoBack(PacketQueuePair& pair) const;
    int64_t GetTimeout(uint32_t index) const;
    void StartTimer(uint32_t index);
    void CheckTimer(uint32_t index);
    void CheckTimers();
    void WakeForTimers();
    void TimeOut(uint32_t index);
    void TraceWindow(const PacketQueuePair& pair, uint32_t before) const;

    PacketTransportCore& m_core;
    const PacketTransportParameters& m_parameters;
    const bool m_usesTelemetry;
    PacketPairTable m_table;
    PacketScoreboards m_scoreboards;
    PacketTimers m_timers;        //!< of queue pairs, by incarnation and number
    int64_t m_wakesAt{NEVER};     //!< the first event pending for them
    std::vector<PacketRtt> m_rtt; //!< by queue pair, where it is estimated
    uint64_t m_nextOrder{0};
    uint64_t m_pairCount{0};
    uint32_t m_pairEnd{0};
};

} // namespace ns3

#endif /* PACKET_SENDER_H */
