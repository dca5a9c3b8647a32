// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_DCTCP_H
#define PACKET_DCTCP_H

#include "ns3/packet-parameter.h"
#include "packet-congestion-control.h"

#include <cstdint>

namespace ns3
{

struct PacketDctcpParameters
{
    uint32_t initialWindow{16};             //!< packets
    uint32_t slowStartThreshold{1'000'000}; //!< packets
    double gain{1.0 / 16};                  //!< g

    // clang-format off
    template <class Visitor>
    static void VisitParameters(Visitor&& visit)
    {
        using P = PacketDctcpParameters;
        visit("initial_window", &P::initialWindow, "window of a connection that starts, in packets (dctcp)",
              PacketCount{1, 1'000'000});
        visit("slow_start_threshold", &P::slowStartThreshold,
              "window at which slow start ends, in packets (dctcp)", PacketCount{1, 1'000'000});
        visit("gain", &P::gain, "g, of the share of marks (dctcp)", PacketNumber{PACKET_ABOVE_ZERO, 1});
    }
    // clang-format on
};

/**
 * The window of a queue pair under DCTCP (Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010,
 * section 3.1; RFC 8257), in packets.
 *
 * w starts at `initialWindow` and grows by a packet for each that is acknowledged until the first mark or
 * loss or `slowStartThreshold` (slow start), then by one for each w. Once for each window of data, with F the
 * share of marked packets in it,
 *
 *     α <- (1 - g)·α + g·F                  w <- w·(1 - α/2) if F > 0
 *
 * and α starts at 1. A missing packet halves w. A timeout sets the slow-start threshold to half of w, at
 * least 2 packets, and w to 1 (RFC 5681, sections 3.1 and 3.2).
 */
struct PacketDctcpState
{
    using Parameters = PacketDctcpParameters;

    /// \param windowPackets the largest window
    void Start(const Parameters& parameters, uint32_t windowPackets);
    /// Packets below `acknowledged` have arrived, `packets` more than before, `marked` of them marked; `sent`
    /// is the next packet to send.
    void Acknowledged(const Parameters& parameters,
                      uint32_t windowPackets,
                      uint64_t packets,
                      uint64_t marked,
                      uint64_t acknowledged,
                      uint64_t sent);
    void Lost();
    void TimedOut();

    double window{0};    //!< w
    double threshold{0}; //!< of slow start
    double alpha{1};
    uint64_t roundEnd{0}; //!< the packet that ends the window of data being observed
    uint64_t roundAcknowledged{0};
    uint64_t roundMarked{0};
};

class PacketDctcp final : public PacketCongestionControl
{
  public:
    using Parameters = PacketDctcpParameters;
    static constexpr PacketControlKind KIND{"dctcp",
                                            "DCTCP (Alizadeh et al., SIGCOMM 2010)",
                                            PacketControlKind::IS_WINDOWED | PacketControlKind::USES_MARKS |
                                                PacketControlKind::HAS_NO_SECTION,
                                            MakePacketControl<PacketDctcp>};

    explicit PacketDctcp(PacketTransportCore& core);

    void Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates& rates) override;

    void Fetch(uint32_t index) const override
    {
        m_states.Fetch(index);
    }

    void Open(uint32_t index, PacketQueuePair& pair) override;
    bool Acknowledged(uint32_t index,
                      PacketQueuePair& pair,
                      uint64_t packets,
                      uint64_t marked,
                      uint32_t telemetry) override;
    void Lost(uint32_t index, PacketQueuePair& pair) override;
    void TimedOut(uint32_t index, PacketQueuePair& pair, uint64_t lost) override;

  private:
    const Parameters& m_own;
    PacketPairStates<PacketDctcpState> m_states;
};

} // namespace ns3

#endif /* PACKET_DCTCP_H */
