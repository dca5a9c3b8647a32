// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_DCTCP_H
#define PACKET_DCTCP_H

#include "packet-transport-parameters.h"

#include <cstdint>

namespace ns3
{

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
struct PacketDctcp
{
    void Start(const PacketTransportParameters& parameters);
    /// Packets below `acknowledged` have arrived, `packets` more than before, `marked` of them marked; `sent`
    /// is the next packet to send.
    void Acknowledged(const PacketTransportParameters& parameters,
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

} // namespace ns3

#endif /* PACKET_DCTCP_H */
