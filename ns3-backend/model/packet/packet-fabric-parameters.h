// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_FABRIC_PARAMETERS_H
#define PACKET_FABRIC_PARAMETERS_H

#include "packet-host-scheduler.h"
#include "packet-parameter.h"

#include <cstdint>

namespace ns3
{

/// When a switch may send a packet on.
enum class PacketSwitching : uint8_t
{
    STORE_AND_FORWARD, //!< when all of it has arrived
    CUT_THROUGH        //!< when its header has
};

/// What the ports of a switch have of its memory.
enum class PacketBuffers : uint8_t
{
    PER_PORT, //!< memory / ports for each, whatever the others use
    SHARED,   //!< any port may take any free byte
    DYNAMIC   //!< a queue may hold `dynamicShare` times what is free
};

enum class PacketFlowControlKind : uint8_t
{
    NONE,  //!< what finds no room is dropped
    PFC,   //!< pause frames of each traffic class, IEEE 802.1Qbb
    CREDIT //!< the sender of a link counts the room at its end
};

/// How traffic classes share a link: the highest first, or by weights.
enum class PacketService : uint8_t
{
    STRICT,
    WEIGHTED
};

/// What the ports of a fabric are set to. What VisitParameters describes a user sees, as ns-3's attributes
/// and as keys of a configuration file; the rest follows from the transport.
struct PacketFabricParameters
{
    PacketSwitching switching{PacketSwitching::STORE_AND_FORWARD};
    PacketBuffers bufferSharing{PacketBuffers::PER_PORT};
    double dynamicShare{1};
    /// 65 packets of 1500 B: K of the DCTCP paper at 10 Gb/s (section 3.4). PACKET_UNBOUNDED: no marks.
    uint64_t ecnThreshold{100'000};
    uint64_t ecnMaxThreshold{0};
    double ecnProbability{1};
    PacketFlowControlKind flowControl{PacketFlowControlKind::NONE};
    uint64_t pauseThreshold{0};
    uint64_t creditRoom{65'536};
    uint32_t trafficClasses{1};
    PacketService service{PacketService::STRICT};
    uint64_t trimThreshold{0};

    uint32_t cutThroughHeader{82}; //!< bytes
    uint32_t largestPacket{4178};  //!< bytes on the wire
    uint32_t trimmedSize{84};      //!< bytes left of a packet that loses its payload
    uint32_t pauseFrame{84};       //!< bytes: the smallest Ethernet frame of 64, preamble 8 and gap 12

    // clang-format off
    template <class Visitor>
    static void VisitParameters(Visitor&& visit)
    {
        using P = PacketFabricParameters;
        visit("switching", &P::switching,
              "when a switch may send a packet on: when all of it has arrived, or its header",
              PacketChoice<PacketSwitching>{{{PacketSwitching::STORE_AND_FORWARD, "store_and_forward"},
                                             {PacketSwitching::CUT_THROUGH, "cut_through"}}});
        visit("buffer_sharing", &P::bufferSharing, "how the ports of a switch share its packet memory",
              PacketChoice<PacketBuffers>{{{PacketBuffers::PER_PORT, "per_port"},
                                           {PacketBuffers::SHARED, "shared"},
                                           {PacketBuffers::DYNAMIC, "dynamic"}}});
        visit("dynamic_share", &P::dynamicShare,
              "how many times the free memory a port may hold (dynamic)", PacketNumber{1.0 / 1024, 1024});
        visit("ecn_threshold", &P::ecnThreshold,
              "a packet that leaves more than that waiting behind it may be marked",
              PacketSize{0, PACKET_UNBOUNDED});
        visit("ecn_max_threshold", &P::ecnMaxThreshold,
              "one that leaves more than that is; no more than ecn_threshold: a step there",
              PacketSize{0, PACKET_UNBOUNDED});
        visit("ecn_probability", &P::ecnProbability,
              "of a mark at ecn_max_threshold, rising linearly from ecn_threshold", PacketNumber{0, 1});
        visit("flow_control", &P::flowControl,
              "what keeps links from carrying what the next node has no room for",
              PacketChoice<PacketFlowControlKind>{{{PacketFlowControlKind::NONE, "none"},
                                                   {PacketFlowControlKind::PFC, "pfc"},
                                                   {PacketFlowControlKind::CREDIT, "credit"}}});
        visit("pause_threshold", &P::pauseThreshold,
              "what a switch holds of a link's traffic class before it pauses it; 0: what its memory allows (pfc)",
              PacketSize{0, PACKET_UNBOUNDED});
        visit("credit_room", &P::creditRoom,
              "room at the end of a link for each traffic class (credit)", PacketSize{1, PACKET_UNBOUNDED});
        visit("traffic_classes", &P::trafficClasses,
              "classes with queues of their own; messages above the last are of the last",
              PacketCount{1, PACKET_PRIORITIES});
        visit("service", &P::service, "how the classes of a port share its link",
              PacketChoice<PacketService>{{{PacketService::STRICT, "strict"},
                                           {PacketService::WEIGHTED, "weighted"}}});
        visit("trim_threshold", &P::trimThreshold,
              "data waiting in a port beyond which packets lose their payload; 0: never",
              PacketSize{0, PACKET_UNBOUNDED});
    }
    // clang-format on
};

} // namespace ns3

#endif /* PACKET_FABRIC_PARAMETERS_H */
