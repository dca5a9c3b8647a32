// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_AIMD_H
#define PACKET_AIMD_H

#include "ns3/packet-congestion-control.h"
#include "ns3/packet-parameter.h"

#include <cstdint>

namespace ns3
{

struct PacketAimdParameters
{
    uint32_t initialWindow{10}; //!< packets
    double increase{1};         //!< a, packets a window

    template <class Visitor>
    static void VisitParameters(Visitor&& visit)
    {
        using P = PacketAimdParameters;
        visit("initial_window", &P::initialWindow, "packets", PacketCount{1, 1'000'000});
        visit("increase", &P::increase, "a, packets for each window", PacketNumber{PACKET_ABOVE_ZERO, 100});
    }
};

/// Additive increase, multiplicative decrease: an acknowledged packet adds a/w to the window of w packets, a
/// lost one halves it, and a timeout sets it to one packet.
class PacketAimd final : public PacketCongestionControl
{
  public:
    using Parameters = PacketAimdParameters;
    static constexpr PacketControlKind KIND{"aimd",
                                            "AIMD (Chiu and Jain, Computer Networks and ISDN Systems 1989)",
                                            PacketControlKind::IS_WINDOWED,
                                            MakePacketControl<PacketAimd>};

    explicit PacketAimd(PacketTransportCore& core);

    void Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates& rates) override;
    void Open(uint32_t index, PacketQueuePair& pair) override;
    bool Acknowledged(uint32_t index,
                      PacketQueuePair& pair,
                      uint64_t packets,
                      uint64_t marked,
                      uint32_t telemetry) override;
    void Lost(uint32_t index, PacketQueuePair& pair) override;
    void TimedOut(uint32_t index, PacketQueuePair& pair, uint64_t lost) override;

  private:
    /// Sets the window of a pair.
    void Set(uint32_t index, PacketQueuePair& pair, double window);

    const Parameters& m_own;
    PacketPairStates<double> m_windows; //!< w
};

} // namespace ns3

#endif /* PACKET_AIMD_H */
