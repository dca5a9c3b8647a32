// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_RECEIVER_H
#define PACKET_RECEIVER_H

#include "ns3/packet-sets.h"
#include "packet-transport-core.h"

#include <cstdint>

namespace ns3
{

/**
 * The receiving half of the queue pairs of a transport.
 *
 * A packet that comes in order is taken in, and acknowledged if it asks, ends a message, or closes a gap. One
 * that comes early is kept where the parameters say so (`KeepsEarly`), else discarded. Where only the missing
 * packets are sent again, each early packet is answered with what is missing and what has come; where packets
 * keep their order and everything is sent again, the first is. A packet that has come before is answered with
 * an acknowledgement, since the one it had may be lost. A header without payload (a port has trimmed the
 * packet) counts as one that is missing for certain.
 *
 * Messages of a queue pair are delivered in order, each when all packets up to its last have come.
 *
 * Under DCQCN a marked packet is answered with a notification, under NDP every packet or header with an
 * acknowledgement of its own and a pull (packet-ndp.h).
 */
class PacketReceiver
{
  public:
    explicit PacketReceiver(PacketTransportCore& core);
    PacketReceiver(const PacketReceiver&) = delete;
    PacketReceiver& operator=(const PacketReceiver&) = delete;

    /// Data; may take its telemetry.
    void Take(PacketDescriptor& packet);

  private:
    enum class Arrival
    {
        IN_ORDER,
        EARLY,    //!< kept
        REPEATED, //!< it has come before
        MISSED    //!< not kept: another is missing, or its own payload
    };

    Arrival Accept(PacketQueuePair& pair, const PacketDescriptor& packet);
    void TakeEarly(uint32_t index, PacketDescriptor& packet);
    void Deliver(uint32_t index);
    void Reply(uint32_t index, PacketDescriptor& cause, PacketDescriptor::Kind kind);

    PacketTransportCore& m_core;
    const PacketTransportParameters& m_parameters;
    PacketSets m_early;
};

} // namespace ns3

#endif /* PACKET_RECEIVER_H */
