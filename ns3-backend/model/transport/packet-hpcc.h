// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_HPCC_H
#define PACKET_HPCC_H

#include "ns3/packet-context.h"
#include "packet-transport-parameters.h"

#include <cstdint>

namespace ns3
{

/**
 * The window and rate of a queue pair under HPCC (Li et al., "HPCC: high precision congestion control",
 * SIGCOMM 2019, algorithm 1), bytes and bit/s on the wire. Defaults are that paper's (section 5.1).
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
 * most 16 links are looked at.
 *
 * Loss leaves W alone. With coalesced acknowledgements only the packets that ask for one carry notes.
 */
struct PacketHpcc
{
    void Start(const PacketTransportParameters& parameters, uint64_t bitsPerSecond);
    /// What the last packets brought back; packets below `acknowledged` have arrived, `sent` is the next to
    /// send.
    void Acknowledged(const PacketTransportParameters& parameters,
                      const PacketTelemetry& before,
                      const PacketTelemetry& now,
                      uint64_t acknowledged,
                      uint64_t sent);
    /// A packet leaves at `when`. \returns when the next may.
    int64_t Sent(const PacketTransportParameters& parameters, uint32_t bytes, int64_t when);

    double window{0};                //!< W
    double reference{0};             //!< W_C
    double most{0};                  //!< W at the start, which it never exceeds
    double utilization{1};           //!< U
    uint64_t updateAfter{0};         //!< the packet whose acknowledgement updates W_C
    int64_t ready{0};                //!< the next packet may leave, ps
    uint32_t stage{0};               //!< additive steps in a row
    uint32_t telemetry{PACKET_NONE}; //!< of the last acknowledgement

  private:
    void Measure(const PacketTransportParameters& parameters,
                 const PacketTelemetry& before,
                 const PacketTelemetry& now);
};

} // namespace ns3

#endif /* PACKET_HPCC_H */
