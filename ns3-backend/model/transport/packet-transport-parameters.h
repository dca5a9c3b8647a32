// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_TRANSPORT_PARAMETERS_H
#define PACKET_TRANSPORT_PARAMETERS_H

#include "ns3/packet-parameter.h"
#include "packet-congestion-controls.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{

/// What is sent again when a packet is missing.
enum class PacketRecovery : uint8_t
{
    GO_BACK_N, //!< it, and all that came after it
    SELECTIVE  //!< only what is missing
};

/// Which messages share a queue pair.
enum class PacketConnections : uint8_t
{
    PER_PAIR,   //!< those from one host to another with one priority
    PER_MESSAGE //!< none
};

/// Where a host's packets wait for its link.
enum class PacketHostQueue : uint8_t
{
    ON_DEMAND, //!< nowhere: a packet is made when the link is free for it, from the queue pairs in turn
    FIFO       //!< in the port: packets are made as soon as the window allows
};

/// What the transport is set to, beside IsReordered and HasTimers all of it as a user sees it: ns-3's
/// attributes and the keys of a configuration file are made from what VisitParameters says.
struct PacketTransportParameters
{
    uint32_t mtu{4096};
    /// Ethernet with preamble, gap and check sum 38, IPv4 20, UDP 8, BTH 12, ICRC 4.
    uint32_t header{82};
    uint32_t ackSize{84}; //!< the smallest Ethernet frame, preamble and gap
    uint64_t window{500'000};
    uint32_t ackEvery{16}; //!< fewer where the window is full before
    PacketConnections connections{PacketConnections::PER_PAIR};
    bool handshake{false};
    PacketHostQueue hostQueue{PacketHostQueue::ON_DEMAND};
    PacketRecovery recovery{PacketRecovery::GO_BACK_N};
    uint32_t reorderTolerance{32}; //!< where packets may overtake one another
    int64_t timeout{1'000'000'000};
    uint32_t maxBackoff{64};
    /// With the defaults they last 1.7 s, a thousand round trips of any fabric; a path that loses every other
    /// packet still fails only once in 2^32.
    uint32_t retryLimit{32};
    bool rttEstimation{false};          //!< packet-rtt.h
    int64_t minTimeout{10'000'000'000}; //!< then
    const PacketControlKind* congestionControl{&PacketFixedWindow::KIND};
    PacketControlParameters controls; //!< what each is set to: Get

    bool isReordered{false}; //!< packets of a queue pair may overtake one another
    bool hasTimers{false};   //!< packets may be lost

    // clang-format off
    /// `Controls` are those that congestion_control chooses from.
    template <class Controls = PacketCongestionControls, class Visitor>
    static void VisitParameters(Visitor&& visit)
    {
        using P = PacketTransportParameters;
        constexpr uint32_t LARGEST_HEADER = 65'535;
        constexpr PacketDuration TIMEOUTS{1'000'000, 1'000'000'000'000'000}; // 1 us to 1000 s
        visit("mtu", &P::mtu, "payload of a full packet", PacketSize{64, 1U << 20});
        visit("header", &P::header, "of a data packet on the wire, beside its payload",
              PacketSize{1, LARGEST_HEADER});
        visit("ack_size", &P::ackSize, "of an acknowledgement on the wire", PacketSize{1, LARGEST_HEADER});
        visit("window", &P::window,
              "largest payload of a pair of hosts that is not acknowledged; always one packet",
              PacketSize{1, PACKET_UNBOUNDED});
        visit("ack_every", &P::ackEvery, "packets per acknowledgement", PacketCount{1, 1'000'000});
        visit("connections", &P::connections,
              "which messages share a connection: those of a pair of hosts and class, or none",
              PacketChoice<PacketConnections>{{{PacketConnections::PER_PAIR, "per_pair"},
                                               {PacketConnections::PER_MESSAGE, "per_message"}}});
        visit("handshake", &P::handshake, "a connection starts with a packet without payload, alone",
              PacketFlag{});
        visit("host_queue", &P::hostQueue,
              "where packets wait for the host's link: in their connections, served round-robin, or in one queue",
              PacketChoice<PacketHostQueue>{
                  {{PacketHostQueue::ON_DEMAND, "on_demand"}, {PacketHostQueue::FIFO, "fifo"}}});
        visit("recovery", &P::recovery,
              "what is sent again: all from the first missing packet on, or the missing ones",
              PacketChoice<PacketRecovery>{
                  {{PacketRecovery::GO_BACK_N, "go_back_n"}, {PacketRecovery::SELECTIVE, "selective"}}});
        visit("reorder_tolerance", &P::reorderTolerance,
              "later packets that come before one is presumed lost, where routes reorder (selective)",
              PacketCount{1, 1'000'000});
        visit("timeout", &P::timeout, "without an acknowledgement before packets are sent again, the first",
              TIMEOUTS);
        visit("max_backoff", &P::maxBackoff, "a timeout doubles each time, to so many times the first",
              PacketCount{1, 1U << 30});
        visit("retry_limit", &P::retryLimit,
              "timeouts in a row before a connection gives up, and the run with it", PacketCount{1, 1'000});
        visit("rtt_estimation", &P::rttEstimation,
              "the timeout follows measured round-trip times, as in RFC 6298", PacketFlag{});
        visit("min_timeout", &P::minTimeout, "smallest timeout that is estimated (rtt_estimation)", TIMEOUTS);
        visit("congestion_control", &P::congestionControl,
              "how a connection's window or rate adapts, or receivers pull",
              Controls::GetNames());
    }
    // clang-format on

    static constexpr uint64_t MAX_WINDOW_PACKETS = 1U << 20; //!< a set of them takes 128 KiB

    /// What a congestion control is set to, by the type of its parameters.
    template <class Parameters>
    Parameters& Get()
    {
        return controls.Get<Parameters>();
    }

    template <class Parameters>
    const Parameters& Get() const
    {
        return controls.Get<Parameters>();
    }

    /// Packets that may be in flight in a full window.
    uint32_t GetWindowPackets() const
    {
        const uint64_t packets = window / mtu;
        return static_cast<uint32_t>(std::clamp<uint64_t>(packets, 1, MAX_WINDOW_PACKETS));
    }

    bool IsPulled() const
    {
        return congestionControl->Has(PacketControlKind::IS_PULLED);
    }

    /// The sender keeps a record of what arrived after a missing packet, and the receiver keeps such packets.
    bool IsSelective() const
    {
        return recovery == PacketRecovery::SELECTIVE || IsPulled();
    }

    /// A receiver keeps packets that come before one that is missing.
    bool KeepsEarly() const
    {
        return isReordered || IsSelective();
    }
};

} // namespace ns3

#endif /* PACKET_TRANSPORT_PARAMETERS_H */
