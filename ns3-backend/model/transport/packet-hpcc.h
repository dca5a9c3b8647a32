// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_HPCC_H
#define PACKET_HPCC_H

#include "ns3/packet-context.h"
#include "ns3/packet-parameter.h"
#include "packet-congestion-control.h"

#include <cstdint>

namespace ns3
{

/// Defaults: Li et al., section 5.1, but for T, which is a property of the network.
struct PacketHpccParameters
{
    int64_t baseRtt{0};            //!< T, ps; 0: FindLongestRoundTrip of the fabric
    double utilization{0.95};      //!< η
    uint32_t maxStage{5};          //!< additive steps in a row
    uint64_t additiveIncrease{80}; //!< W_AI, bytes

    // clang-format off
    template <class Visitor>
    static void VisitParameters(Visitor&& visit)
    {
        using P = PacketHpccParameters;
        visit("base_rtt", &P::baseRtt,
              "T, the longest round trip without queues; 0: that of a full packet and its acknowledgement "
              "between the hosts of the network",
              PacketDuration{0, 1'000'000'000'000});
        visit("utilization", &P::utilization, "eta, of links that is aimed at",
              PacketNumber{PACKET_ABOVE_ZERO, 1});
        visit("max_stage", &P::maxStage, "additive steps in a row", PacketCount{0, 1'000'000});
        visit("additive_increase", &P::additiveIncrease, "W_AI, of the window by a step",
              PacketSize{0, uint64_t{1} << 30});
    }
    // clang-format on
};

/**
 * The window and rate of a queue pair under HPCC (Li et al., "HPCC: high precision congestion control",
 * SIGCOMM 2019, algorithm 1), bytes and bit/s on the wire. Defaults are that paper's (section 5.1), but that
 * T is found from the fabric (packet-round-trip.h), unless it is given.
 *
 * Acknowledgements bring back what each link on the way noted of a packet: queue q, bytes carried c, time t
 * and rate B. Against what was noted on the packet before, a link's share of its bandwidth-delay product is
 *
 *     u = min(q, q')/(B·T) + (c - c')/((t - t')·B)
 *
 * with T the base round-trip time. U follows the largest of these by a moving average whose weight is τ/T,
 * with τ = min(t - t', T) on that link. With the reference window W_C,
 *
 *     U >= η, or maxStage additive steps in a row     W = W_C·η/U + W_AI
 *     otherwise                                       W = W_C + W_AI
 *
 * W_C <- W once in a round trip: when a packet is acknowledged that was sent after the last such update.
 * Packets leave at the rate W/T. W starts as T times the link's rate, its bound; it is never below a byte. At
 * most 16 links are read.
 *
 * Loss leaves W alone. With coalesced acknowledgements only the packets that ask for one carry notes.
 */
struct PacketHpccState
{
    using Parameters = PacketHpccParameters;

    // Parameters have T from here on: baseRtt > 0.

    void Start(const Parameters& parameters, uint64_t bitsPerSecond);
    /// What the last packets brought back; packets below `acknowledged` have arrived, `sent` is the next to
    /// send.
    void Acknowledged(const Parameters& parameters,
                      const PacketTelemetry& before,
                      const PacketTelemetry& now,
                      uint64_t acknowledged,
                      uint64_t sent);
    /// A packet leaves at `when`. \returns when the next may.
    int64_t Sent(const Parameters& parameters, uint32_t bytes, int64_t when);

    double window{0};                //!< W
    double reference{0};             //!< W_C
    double largest{0};               //!< W at the start, which it never exceeds
    double utilization{1};           //!< U
    uint64_t updateAfter{0};         //!< the packet whose acknowledgement updates W_C
    int64_t ready{0};                //!< the next packet may leave, ps
    uint32_t stage{0};               //!< additive steps in a row
    uint32_t telemetry{PACKET_NONE}; //!< of the last acknowledgement

  private:
    void Measure(const Parameters& parameters, const PacketTelemetry& before, const PacketTelemetry& now);
};

class PacketHpcc final : public PacketCongestionControl
{
  public:
    using Parameters = PacketHpccParameters;
    static constexpr PacketControlKind KIND{"hpcc",
                                            "HPCC (Li et al., SIGCOMM 2019)",
                                            PacketControlKind::USES_TELEMETRY | PacketControlKind::USES_RATES,
                                            MakePacketControl<PacketHpcc>};

    explicit PacketHpcc(PacketTransportCore& core);

    void Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates& rates) override;

    void Fetch(uint32_t index) const override
    {
        m_states.Fetch(index);
    }

    void Open(uint32_t index, PacketQueuePair& pair) override;
    void End(uint32_t index) override;
    int64_t Sent(uint32_t index, PacketQueuePair& pair, uint32_t bytes, int64_t when) override;
    int64_t GetReadyTime(uint32_t index) const override;
    bool Acknowledged(uint32_t index,
                      PacketQueuePair& pair,
                      uint64_t packets,
                      uint64_t marked,
                      uint32_t telemetry) override;

  private:
    const Parameters m_own; //!< with T
    PacketPairStates<PacketHpccState> m_states;
};

} // namespace ns3

#endif /* PACKET_HPCC_H */
