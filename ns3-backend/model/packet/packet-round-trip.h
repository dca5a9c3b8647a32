// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_ROUND_TRIP_H
#define PACKET_ROUND_TRIP_H

#include "packet-fabric.h"
#include "packet-node.h"

#include <cstdint>

namespace ns3
{

/**
 * The longest round trip between two hosts of a fabric in which nothing waits, in ps: over all pairs that
 * have a way, the time of a packet of `data` bytes from one to the other and of its answer of `answer` bytes
 * back, on the ways that `router` names. With l links of rates r_i and latencies λ_i, and f_i what the node
 * behind link i takes to forward, n bytes take
 *
 *     store and forward   Σ 8n/r_i + Σ λ_i + Σ f_i
 *     cut through         e_l, with s_1 = 0, e_i = max(s_i + 8n/r_i, e_(i-1)) + λ_i,
 *                         s_(i+1) = s_i + 8h/r_i + λ_i where node i is a switch and h < n, else e_i + f_i
 *
 * h being the header that a switch waits for. Each 8n/r_i is rounded up to a picosecond, as ports do, so that
 * the result is what the engine would measure. 0: there is no such pair.
 *
 * The fabric is complete but for Install, and the router answers for any packet by its source and destination
 * alone. Takes O(hosts² · links of a way).
 */
int64_t FindLongestRoundTrip(PacketFabric& fabric, PacketRouter& router, uint32_t data, uint32_t answer);

} // namespace ns3

#endif /* PACKET_ROUND_TRIP_H */
