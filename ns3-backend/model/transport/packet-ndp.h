// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_NDP_H
#define PACKET_NDP_H

#include "ns3/packet-parameter.h"
#include "packet-congestion-control.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

/// What shares the pace of pulls.
enum class PacketPullPacing : uint8_t
{
    PER_HOST, //!< all queue pairs that end at a host
    PER_PAIR  //!< each queue pair by itself
};

/// Defaults: Handley et al., section 3.
struct PacketNdpParameters
{
    uint32_t initialWindow{30}; //!< packets
    double pullRate{1};         //!< of the rate of the link into the receiver
    PacketPullPacing pullPacing{PacketPullPacing::PER_HOST};

    // clang-format off
    template <class Visitor>
    static void VisitParameters(Visitor&& visit)
    {
        using P = PacketNdpParameters;
        visit("initial_window", &P::initialWindow, "packets sent before the first pull",
              PacketCount{1, 1'000'000});
        visit("pull_rate", &P::pullRate, "of pulls, as a share of the link into the receiver",
              PacketNumber{0.001, 1});
        visit("pull_pacing", &P::pullPacing, "what shares that rate",
              PacketChoice<PacketPullPacing>{
                  {{PacketPullPacing::PER_HOST, "per_host"}, {PacketPullPacing::PER_PAIR, "per_pair"}}});
    }
    // clang-format on
};

/**
 * A queue pair under NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and
 * high performance", SIGCOMM 2017, section 3).
 *
 * The sender sends its first window of `initialWindow` packets at once, and then a packet for each pull,
 * those that were lost first. The receiver answers each packet: an acknowledgement for one that is whole, a
 * negative one for one that a port has cut down to its header. Each such arrival is worth a pull, as long as
 * the sender has not been given leave for all it must send,
 *
 *     first window + pulls < packets + headers
 *
 * (every packet carries the length of the message). Pulls leave the receiver one in 8(mtu + header)/(p·rate)
 * of its link, p the pull rate, the pairs that wait in round-robin order; one that need not wait goes with
 * the answer. Pulls are counted from the start of the pair and every answer carries the count, so a lost pull
 * is made up for by what comes after it. A message that starts when nothing waits to be sent has a first
 * window of its own.
 *
 * What is lost whole, and a last pull, only the timeout finds: then a first window of what is missing goes
 * out.
 */
struct PacketNdpState
{
    using Parameters = PacketNdpParameters;

    /// \param packetBytes of a full packet on the wire
    void Start(const Parameters& parameters, uint32_t packetBytes, uint64_t receiverBitsPerSecond);

    /// Sender: the receiver has pulled `count` packets in all. A sender with nothing to send saves up no more
    /// than a first window.
    void Pulled(const Parameters& parameters, uint64_t count, bool hasData);
    /// Sender: may send a first window, or `packets` where that is less, but one.
    void Grant(const Parameters& parameters, uint64_t packets);
    /// Sender: the count of which `low` is the last 16 bits.
    uint64_t GetCountNear(uint16_t low) const;
    /// Receiver: a packet of `packets` has come, or its header. \returns whether that is worth a pull.
    bool IsWorthAPull(const Parameters& parameters, uint64_t packets) const;

    uint64_t credit{0};        //!< sender: packets it may send
    uint64_t pullsReceived{0}; //!< sender: pulls
    uint64_t pulls{0};         //!< receiver: sent
    uint64_t headers{0};       //!< receiver: arrived without payload
    int64_t gap{0};            //!< receiver: between pulls, ps
    uint32_t owed{0};          //!< receiver: pulls that wait to leave
};

/// The pulls that wait at one receiver, or for one pair, first come, first served.
class PacketPullQueue
{
  public:
    /// \returns whether a pull may leave now, in which case it has.
    bool LeavesNow(int64_t now, int64_t gap);
    /// Puts a pair at the end of the queue.
    void Wait(uint64_t pair);

    bool IsEmpty() const
    {
        return m_first == m_pairs.size();
    }

    /// The queue is not empty. \returns the first pair, which leaves it.
    uint64_t TakeFirst();
    /// A pull leaves now.
    void Leave(int64_t now, int64_t gap);

    int64_t GetFreeTime() const
    {
        return m_freeAt;
    }

    bool isScheduled{false}; //!< an event will take the first

  private:
    int64_t m_freeAt{0};           //!< ps
    std::vector<uint64_t> m_pairs; //!< from m_first on
    std::size_t m_first{0};
};

class PacketNdp final : public PacketCongestionControl
{
  public:
    using Parameters = PacketNdpParameters;
    static constexpr PacketControlKind KIND{"ndp",
                                            "NDP (Handley et al., SIGCOMM 2017)",
                                            PacketControlKind::IS_PULLED | PacketControlKind::USES_RATES,
                                            MakePacketControl<PacketNdp>};

    explicit PacketNdp(PacketTransportCore& core);

    void Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates& rates) override;

    void Fetch(uint32_t index) const override
    {
        m_states.Fetch(index);
    }

    void Resume(uint32_t index, PacketQueuePair& pair) override;
    int64_t Sent(uint32_t index, PacketQueuePair& pair, uint32_t bytes, int64_t when) override;
    void TimedOut(uint32_t index, PacketQueuePair& pair, uint64_t lost) override;
    void Arrived(uint32_t index, const PacketQueuePair& pair, bool isTrimmed) override;
    uint16_t GetNote(uint32_t index) const override;
    void Answered(uint32_t index, PacketQueuePair& pair, uint16_t note) override;
    void Pulled(uint32_t index, PacketQueuePair& pair, uint64_t count) override;
    void Returned(uint32_t index, PacketQueuePair& pair) override;

  private:
    void Grant(uint32_t index, PacketQueuePair& pair, uint64_t packets);
    void SendPull(uint32_t index);
    void PullNext(uint32_t queue);

    const Parameters& m_own;
    PacketPairStates<PacketNdpState> m_states;
    std::unordered_map<uint32_t, PacketPullQueue> m_queues; //!< by host or by queue pair
};

} // namespace ns3

#endif /* PACKET_NDP_H */
