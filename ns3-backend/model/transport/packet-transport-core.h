// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_TRANSPORT_CORE_H
#define PACKET_TRANSPORT_CORE_H

#include "ns3/packet-fabric.h"
#include "packet-congestion-control.h"
#include "packet-queue-pair.h"
#include "packet-transport-parameters.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>

namespace ns3
{

/// The sender of messages.
class PacketTransportClient
{
  public:
    virtual ~PacketTransportClient() = default;
    /// The last byte has arrived. Sending from inside is allowed.
    virtual void Delivered(const PacketMessage& message) = 0;
};

/// The trace sources; PacketTransport documents each.
struct PacketTransportTraces
{
    TracedCallback<const PacketMessage&> m_sent;
    TracedCallback<const PacketMessage&, Time> m_delivered;
    TracedCallback<uint32_t, uint32_t, int64_t> m_received;
    TracedCallback<const PacketMessage&, Time> m_acknowledged;
    TracedCallback<uint32_t, uint32_t, uint64_t> m_retransmission;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_timeout;
    TracedCallback<uint32_t, uint32_t> m_givenUp;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_window;
    TracedCallback<uint32_t, uint32_t, DataRate> m_rate;
    TracedCallback<uint32_t, uint32_t> m_notification;
};

/// What a transport has done.
struct PacketTransportCounters
{
    uint64_t packets{0}; //!< data packets sent, retransmissions included
    uint64_t retransmissions{0};
    uint64_t timeouts{0};
    uint64_t givenUp{0};  //!< queue pairs, that had too many timeouts in a row
    uint64_t messages{0}; //!< delivered
    uint64_t bytes{0};    //!< payload delivered
};

/// What the sending and the receiving half of a transport share.
struct PacketTransportCore
{
    PacketTransportCore(const PacketTransportParameters& parametersArg,
                        PacketTransportTraces& tracesArg,
                        PacketFabric& fabricArg,
                        PacketRouter& routerArg,
                        PacketTransportClient* clientArg)
        : parameters(parametersArg),
          traces(tracesArg),
          fabric(fabricArg),
          context(fabricArg.GetContext()),
          router(routerArg),
          client(clientArg),
          congestion(parameters.congestionControl->make(*this))
    {
    }

    PacketTransportCore(const PacketTransportCore&) = delete;
    PacketTransportCore& operator=(const PacketTransportCore&) = delete;

    static int64_t Now()
    {
        return Simulator::Now().GetTimeStep();
    }

    /// A pair is about to be used: asks for its two cache lines and what its congestion control keeps.
    void Fetch(uint32_t index) const
    {
        const PacketQueuePair* pair = &pairs[index];
        __builtin_prefetch(pair, 1);
        __builtin_prefetch(&pair->expected, 1);
        congestion->Fetch(index);
    }

    /// A message, if any, is about to be used.
    void FetchMessage(uint32_t message) const
    {
        if (message != PACKET_NONE)
        {
            __builtin_prefetch(&messages[message], 1);
        }
    }

    /// A packet of the pair, from its sender or its receiver, with nothing in it.
    uint32_t MakePacket(
        uint32_t index, bool isSenders, PacketDescriptor::Kind kind, uint32_t bytes, int64_t when)
    {
        const PacketQueuePair& pair = pairs[index];
        const uint32_t packet = context.packets.Allocate();
        PacketDescriptor& descriptor = context.packets[packet];
        descriptor.bytes = bytes;
        descriptor.source = isSenders ? pair.source : pair.destination;
        descriptor.destination = isSenders ? pair.destination : pair.source;
        descriptor.queuePair = index;
        descriptor.incarnation = pair.incarnation;
        descriptor.arrival = when;
        descriptor.tail = when;
        descriptor.ingress = PACKET_NONE;
        descriptor.telemetry = PACKET_NONE;
        descriptor.subject = 0;
        descriptor.marks = 0;
        descriptor.flags = 0;
        descriptor.priority = pair.priority & 7;
        descriptor.kind = kind;
        return packet;
    }

    const PacketTransportParameters parameters;
    PacketTransportTraces& traces;
    PacketFabric& fabric;
    PacketContext& context;
    PacketRouter& router;
    PacketTransportClient* client;
    PacketPool<PacketQueuePair> pairs;
    PacketPool<PacketMessageRecord> messages;
    const std::unique_ptr<PacketCongestionControl> congestion; //!< made last: it refers to all of the above
    PacketTransportCounters counters;
    uint64_t outstanding{0};              //!< messages
    bool hasTimers{parameters.hasTimers}; //!< packets may be lost, by now
};

} // namespace ns3

#endif /* PACKET_TRANSPORT_CORE_H */
