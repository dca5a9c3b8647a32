// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_TRANSPORT_PARAMETERS_H
#define PACKET_TRANSPORT_PARAMETERS_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{

/// How much a queue pair may have under way, and how fast it sends.
enum class PacketCongestionControl : uint8_t
{
    NONE,  //!< the window never changes
    DCTCP, //!< packet-dctcp.h
    DCQCN, //!< packet-dcqcn.h
    HPCC,  //!< packet-hpcc.h
    NDP    //!< packet-ndp.h
};

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
    ON_DEMAND, //!< nowhere: a packet is made when the link is free for it, and queue pairs take turns
    FIFO       //!< in the port: packets are made as soon as the window allows
};

/// What shares the pace of pulls.
enum class PacketPullPacing : uint8_t
{
    PER_HOST, //!< all queue pairs that end at a host
    PER_PAIR  //!< each queue pair by itself
};

/// What the transport is set to.
struct PacketTransportParameters
{
    uint32_t mtu{4096};       //!< payload of a full packet, bytes
    uint32_t header{82};      //!< of a data packet on the wire, bytes
    uint32_t ackSize{84};     //!< of an acknowledgement, and of all that is not data, on the wire, bytes
    uint64_t window{500'000}; //!< most payload of a queue pair that is not acknowledged, at least a packet
    uint32_t ackEvery{16};    //!< packets per acknowledgement; fewer where the window is full before
    PacketConnections connections{PacketConnections::PER_PAIR};
    bool handshake{false}; //!< a queue pair begins with a packet without payload, alone
    PacketHostQueue hostQueue{PacketHostQueue::ON_DEMAND};
    PacketCongestionControl congestionControl{PacketCongestionControl::NONE};

    // Recovery
    PacketRecovery recovery{PacketRecovery::GO_BACK_N};
    bool isReordered{false};       //!< packets of a queue pair may overtake one another
    uint32_t reorderTolerance{32}; //!< where they may: packets that can overtake one that is not lost
    bool hasTimers{false};         //!< packets may be lost
    Time timeout{MilliSeconds(1)}; //!< without an acknowledgement before packets are sent again, the first
    uint32_t maxBackoff{64};       //!< a timeout doubles each time, to so many times the first
    uint32_t retryLimit{32};       //!< timeouts in a row before a queue pair gives up
    bool estimatesRtt{false};      //!< the timeout follows measured round-trip times (packet-rtt.h)
    Time minTimeout{MilliSeconds(10)}; //!< then

    // DCTCP
    uint32_t initialWindow{16};             //!< packets
    uint32_t slowStartThreshold{1'000'000}; //!< packets
    double dctcpGain{1.0 / 16};             //!< g

    // DCQCN
    double dcqcnGain{1.0 / 256};                  //!< g
    Time dcqcnNotifyInterval{MicroSeconds(50)};   //!< N, least between two notifications of a pair
    Time dcqcnAlphaInterval{MicroSeconds(55)};    //!< K
    Time dcqcnIncreaseInterval{MicroSeconds(55)}; //!< T
    uint64_t dcqcnIncreaseBytes{10'000'000};      //!< B
    uint32_t dcqcnFastRecovery{5};                //!< F
    DataRate dcqcnAdditiveIncrease{40'000'000};   //!< R_AI
    DataRate dcqcnHyperIncrease{400'000'000};     //!< R_HAI
    DataRate dcqcnMinRate{10'000'000};
    bool dcqcnClampTarget{true}; //!< every cut lowers the target, not only the first in a row

    // HPCC
    Time hpccBaseRtt{MicroSeconds(13)}; //!< T
    double hpccUtilization{0.95};       //!< η
    uint32_t hpccMaxStage{5};
    uint64_t hpccAdditiveIncrease{80}; //!< W_AI, bytes

    // NDP
    uint32_t ndpInitialWindow{30}; //!< packets
    double ndpPullRate{1};         //!< of the rate of the link into the receiver
    PacketPullPacing ndpPullPacing{PacketPullPacing::PER_HOST};

    static constexpr uint64_t MOST_WINDOW_PACKETS = 1U << 20;

    /// Packets that may be under way in a full window.
    uint32_t GetWindowPackets() const
    {
        const uint64_t packets = window / mtu;
        return static_cast<uint32_t>(std::clamp<uint64_t>(packets, 1, MOST_WINDOW_PACKETS));
    }

    /// A receiver keeps packets that come before one that is missing.
    bool KeepsEarly() const
    {
        return isReordered || recovery == PacketRecovery::SELECTIVE ||
               congestionControl == PacketCongestionControl::NDP;
    }

    /// A sender keeps book of what arrived after a packet that is missing.
    bool IsSelective() const
    {
        return recovery == PacketRecovery::SELECTIVE || congestionControl == PacketCongestionControl::NDP;
    }
};

} // namespace ns3

#endif /* PACKET_TRANSPORT_PARAMETERS_H */
