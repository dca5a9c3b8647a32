// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_CONGESTION_H
#define PACKET_CONGESTION_H

#include "packet-dcqcn.h"
#include "packet-dctcp.h"
#include "packet-hpcc.h"
#include "packet-ndp.h"
#include "packet-queue-pair.h"
#include "packet-transport-parameters.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The congestion control of all queue pairs of a transport. It tells a sender how many packets may be under
 * way
 * (`allowed`), after how many it asks for an acknowledgement at the latest (`askAfter`), and when the next
 * packet may leave.
 *
 * One algorithm serves all pairs. Its state lies beside the pairs, under the same number, and only that of
 * the algorithm in use exists; choosing it is a branch that always goes the same way.
 */
class PacketCongestion
{
  public:
    PacketCongestion(const PacketTransportParameters& parameters, PacketContext& context);

    /// A pair begins; the rates are those of the sender's link out and of the receiver's.
    void Start(uint32_t index, PacketQueuePair& pair, uint64_t bitsPerSecond, uint64_t receiverBitsPerSecond);
    /// A pair may send its first window, if it has not done so since it began.
    void Open(uint32_t index, PacketQueuePair& pair) const;
    /// A pair is given up.
    void End(uint32_t index);
    /// `packets` more have been acknowledged, `marked` of them marked, with what the links noted, if
    /// anything. \returns whether `telemetry` has been kept.
    bool Acknowledged(uint32_t index,
                      PacketQueuePair& pair,
                      uint64_t packets,
                      uint64_t marked,
                      uint32_t telemetry);
    void Lost(uint32_t index, PacketQueuePair& pair);
    void TimedOut(uint32_t index, PacketQueuePair& pair);
    /// The receiver has told the sender of congestion.
    void Notified(uint32_t index, int64_t now);
    /// A marked packet has arrived. \returns whether the receiver tells the sender.
    bool Notifies(uint32_t index, int64_t now);
    /// A packet leaves at `when`. \returns when the next may.
    int64_t Sent(uint32_t index, PacketQueuePair& pair, uint32_t bytes, int64_t when);
    /// \returns when the next packet may leave, maybe in the past.
    int64_t GetReadyTime(uint32_t index) const;
    /// Links are to note on packets that ask for an acknowledgement.
    bool UsesTelemetry() const;
    bool IsPulled() const;
    /// The rates of links matter to it.
    bool UsesRates() const;
    /// The rate of a pair in bit/s; 0: that of its window.
    uint64_t GetRate(uint32_t index) const;
    /// `IsPulled`.
    PacketNdp& GetNdp(uint32_t index);

  private:
    void Allow(PacketQueuePair& pair, double packets) const;

    const PacketTransportParameters& m_parameters;
    PacketContext& m_context;
    uint32_t m_windowPackets;
    std::vector<PacketDctcp> m_dctcp;
    std::vector<PacketDcqcn> m_dcqcn;
    std::vector<PacketHpcc> m_hpcc;
    std::vector<PacketNdp> m_ndp;
};

} // namespace ns3

#endif /* PACKET_CONGESTION_H */
