// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_NDP_H
#define PACKET_NDP_H

#include "packet-transport-parameters.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * A queue pair under NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and
 * high performance", SIGCOMM 2017, section 3).
 *
 * The sender sends its first window of `ndpInitialWindow` packets at once, and then a packet for each pull,
 * those that were lost first. The receiver answers each packet: an acknowledgement for one that is whole, a
 * negative one for one that a port has cut down to its header. Each such arrival is worth a pull, as long as
 * the sender has not been given leave for all it must send,
 *
 *     first window + pulls < packets + headers
 *
 * (the length of the message stands in the packets). Pulls leave the receiver one in 8(mtu + header)/(p·rate)
 * of its link, p the pull rate, the pairs that wait taking turns; one that need not wait goes with the
 * answer. Pulls are counted from the start of the pair and every answer carries the count, so a lost pull is
 * made up for by what comes after it. A message that begins when nothing waits to be sent has a first window
 * of its own.
 *
 * What is lost whole, and a last pull, only the timeout finds: then a first window of what is missing goes
 * out.
 */
struct PacketNdp
{
    void Start(const PacketTransportParameters& parameters, uint64_t receiverBitsPerSecond);

    /// Sender: the receiver has pulled `count` packets in all. A sender with nothing to send saves up no more
    /// than a first window.
    void Pulled(const PacketTransportParameters& parameters, uint64_t count, bool hasData);
    /// Sender: may send a first window, or `packets` where that is less, but one.
    void Grant(const PacketTransportParameters& parameters, uint64_t packets);
    /// Sender: the count of which `low` is the last 16 bits.
    uint64_t GetCountNear(uint16_t low) const;
    /// Receiver: a packet of `packets` has come, or its header. \returns whether that is worth a pull.
    bool IsWorthAPull(const PacketTransportParameters& parameters, uint64_t packets) const;

    uint64_t credit{0};  //!< sender: packets it may send
    uint64_t heard{0};   //!< sender: pulls
    uint64_t pulls{0};   //!< receiver: sent
    uint64_t headers{0}; //!< receiver: arrived without payload
    int64_t gap{0};      //!< receiver: between pulls, ps
    uint32_t owed{0};    //!< receiver: pulls that wait for their turn
};

/// The pulls that wait at one receiver, or for one pair, in turn.
class PacketPullLine
{
  public:
    /// \returns whether a pull may leave now, in which case it has.
    bool LeavesNow(int64_t now, int64_t gap);
    /// Puts a pair at the end of the line.
    void Wait(uint64_t pair);
    bool IsEmpty() const;
    /// The line is not empty. \returns the first pair, which leaves it.
    uint64_t TakeFirst();
    /// A pull leaves now.
    void Leave(int64_t now, int64_t gap);
    int64_t GetFreeTime() const;

    bool isScheduled{false}; //!< an event will take the first

  private:
    int64_t m_freeAt{0};           //!< ps
    std::vector<uint64_t> m_pairs; //!< from m_first on
    std::size_t m_first{0};
};

} // namespace ns3

#endif /* PACKET_NDP_H */
