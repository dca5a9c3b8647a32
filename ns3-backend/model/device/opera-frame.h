// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_FRAME_H
#define OPERA_FRAME_H

#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * A datagram on its way through an Opera network, with what hosts and switches know of its way. Hosts are
 * numbers, by rack. On a link it takes the datagram, a header of 14 bytes and a check sequence of 4, and 64
 * bytes at least.
 */
struct OperaFrame : public SimpleRefCount<OperaFrame>
{
    static constexpr uint32_t OVERHEAD = 18;
    static constexpr uint32_t SMALLEST = 64;

    uint32_t GetBytes() const
    {
        const uint32_t bytes = packet->GetSize() + OVERHEAD;
        return bytes < SMALLEST ? SMALLEST : bytes;
    }

    Ptr<Packet> packet;
    uint16_t protocol{0};
    uint32_t payload{0}; //!< bytes that TCP or UDP carry in it
    uint32_t source{0};
    uint32_t destination{0};

    // Bulk
    bool isBulk{false};
    bool isRelayed{false}; //!< `sender` is not its source
    uint32_t sender{0};    //!< the host that it left last
    uint32_t heading{0};   //!< where this hop ends: `destination`, or a host that relays it
    uint16_t rotor{0};     //!< whose circuit it was granted

    // Low latency
    std::vector<uint16_t> uplinks; //!< to take, one after the other
    uint32_t taken{0};             //!< of them
    uint32_t detours{0};           //!< paths beyond the first
};

} // namespace ns3

#endif /* OPERA_FRAME_H */
