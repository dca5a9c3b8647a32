// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_NODE_H
#define PACKET_NODE_H

#include "packet-port.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/// Which way packets go.
class PacketRouter
{
  public:
    virtual ~PacketRouter() = default;
    /// The port that the packet, which is at `node`, leaves by towards its destination, or null if there is
    /// none. Nodes without queues name a port of the next node. The router may note on the packet which way
    /// it is to be forwarded.
    virtual PacketPort* Route(uint32_t node, PacketDescriptor& packet) = 0;

    /// Whether routes may be asked for as soon as a packet arrives, before the port it came over has found
    /// out what else it has started: they neither depend on that nor draw random numbers of the context.
    virtual bool RoutesAtOnce() const
    {
        return false;
    }

    /// The number of the port that Route will name, where that follows from the node and the packet alone as
    /// long as routes do not change (PacketFabric::ForgetRoutes); else none.
    virtual uint32_t Foresee(uint32_t node, const PacketDescriptor& packet) const
    {
        static_cast<void>(node);
        static_cast<void>(packet);
        return PACKET_NONE;
    }

    /// Whether several threads may ask for routes, which then follow from the node, the packet and nothing
    /// that changes.
    virtual bool RoutesInParallel() const
    {
        return false;
    }

    /// Whether the router takes care of a packet for which it named no port; otherwise it is dropped.
    virtual bool Keep(uint32_t node, uint32_t packet)
    {
        static_cast<void>(node);
        static_cast<void>(packet);
        return false;
    }
};

/// What takes in the packets that have reached their destination.
class PacketTaker
{
  public:
    virtual ~PacketTaker() = default;
    virtual void Take(uint32_t packet) = 0;

    /// A packet is about to be taken: asks for what that reads.
    virtual void Fetch(const PacketDescriptor& packet) const
    {
        static_cast<void>(packet);
    }

    /// And, when that has come, for what it leads to.
    virtual void FetchMore(const PacketDescriptor& packet) const
    {
        static_cast<void>(packet);
    }
};

/**
 * A host or a switch: a packet for itself goes to the sink, any other is at once in the queue of the port it
 * leaves by. It has arrived whole before (store and forward) or with its header (cut-through); forwarding
 * itself takes no time in a switch, where it belongs to the latency of the link. Hosts forward too, as those
 * of a torus must, and may take a time to do it, during which they take and forward any number of others.
 */
class PacketNode
{
  public:
    PacketNode(uint32_t number, PacketContext& context, int64_t forwarding = 0)
        : m_number(number),
          m_forwarding(forwarding),
          m_context(context)
    {
    }

    PacketNode(const PacketNode&) = delete;
    PacketNode& operator=(const PacketNode&) = delete;

    /// Both outlive the fabric, or end after PacketFabric::Detach and the last event: those that are pending
    /// look at them.
    void SetUse(PacketRouter* router, PacketTaker* sink);
    void AddPort(PacketPort* port);

    uint32_t GetNumber() const
    {
        return m_number;
    }

    /// What it takes to forward a packet, ps.
    int64_t GetForwarding() const
    {
        return m_forwarding;
    }

    const std::vector<PacketPort*>& GetPorts() const
    {
        return m_ports;
    }

    /// The port that a packet whose `arrival` is now goes on by, where that can be told at once; else null.
    PacketPort* FindNext(PacketDescriptor& packet)
    {
        if (packet.next != PACKET_NONE)
        {
            return m_context.ports[packet.next];
        }
        return m_routesAtOnce && packet.destination != m_number && m_forwarding == 0
                   ? m_router->Route(m_number, packet)
                   : nullptr;
    }

    /// A packet is about to arrive: notes as its `next` the port it goes on by, if that is certain, and asks
    /// for what it touches.
    void Fetch(PacketDescriptor& packet) const
    {
        if (packet.destination == m_number)
        {
            m_sink->Fetch(packet);
        }
        else if (m_forwarding == 0 && packet.next == PACKET_NONE)
        {
            packet.next = m_router->Foresee(m_number, packet);
            if (packet.next != PACKET_NONE)
            {
                m_context.ports[packet.next]->FetchLines();
            }
        }
    }

    /// And, when that has come, for what it leads to.
    void FetchMore(const PacketDescriptor& packet) const
    {
        if (packet.destination == m_number)
        {
            m_sink->FetchMore(packet);
        }
        else if (packet.next != PACKET_NONE)
        {
            m_context.ports[packet.next]->FetchWaiting(packet);
        }
    }

    /// A packet whose `arrival` is now.
    void Receive(uint32_t packet);
    /// Sends a packet of this node on, or drops it where no way leads to its destination and the router does
    /// not keep it.
    void Forward(uint32_t packet);

    /// Finds out what has left by `now`.
    void Settle(int64_t now);
    /// One more, or one less, waits for what leaves: while any does, the ports wake for every start.
    void Watch(bool begins);

    bool IsWatched() const
    {
        return m_watchers > 0;
    }

  private:
    uint32_t m_number;
    uint32_t m_watchers{0};
    bool m_routesAtOnce{false};
    int64_t m_forwarding;
    PacketContext& m_context;
    PacketRouter* m_router{nullptr};
    PacketTaker* m_sink{nullptr};
    std::vector<PacketPort*> m_ports;
};

} // namespace ns3

#endif /* PACKET_NODE_H */
