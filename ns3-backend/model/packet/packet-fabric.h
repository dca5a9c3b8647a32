// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_FABRIC_H
#define PACKET_FABRIC_H

#include "packet-fabric-parameters.h"
#include "packet-node.h"
#include "packet-port.h"
#include "packet-regions.h"

#include "ns3/object.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * Hosts, switches, and the links between them, packet by packet.
 *
 * Add nodes and ports, pair the two directions of each cable, then Install, which gives the ports of switches
 * what the attributes say; attributes set later have no effect. Hosts are made of the same parts but mark,
 * trim and drop nothing: they have memory for all that passes through them.
 *
 * Memory of a switch. `PER_PORT`: an even share for each port. `SHARED`: first come, first served. `DYNAMIC`:
 * PacketSharedBuffer's threshold. A port with a limit of its own draws on that alone. 0 bytes: no limit.
 *
 * Flow control. `PFC`: every switch pauses the links into it, at `PauseThreshold` bytes held in a priority.
 * Where that is 0 each link has an even share of the memory, or of its ports' own limits, over links and
 * `TrafficClasses`, and the pause comes a headroom below it (PacketFlowControl), the end of it two packets
 * below the pause (Zhu et al., SIGCOMM 2015, section 4). The packets a switch holds are then bounded by what
 * comes in, so its ports drop nothing. `CREDIT`: every node grants each link into it `CreditRoom` bytes in
 * each priority.
 */
class PacketFabric : public Object, public PacketFabricParameters
{
  public:
    static TypeId GetTypeId();

    PacketFabric();
    ~PacketFabric() override;
    void SetParameters(const PacketFabricParameters& parameters);

    /// \param forwarding ps from when it has a packet for others until the packet is queued
    /// \returns the number of the new node: nodes are numbered from 0.
    uint32_t AddHost(int64_t forwarding = 0);
    uint32_t AddSwitch(uint64_t memory);
    /// One direction of a cable, numbered from 0. \param limit of the queue before it in bytes; 0: none of
    /// its own
    uint32_t AddPort(uint32_t from, uint32_t to, uint64_t bitsPerSecond, int64_t latency, uint64_t limit);
    /// Two ports are the directions of one cable. One without the other is a link that goes one way: where
    /// there is flow control it is refused.
    void Pair(uint32_t port, uint32_t reverse);
    /// Each at least 1, for `service` WEIGHTED; without, all priorities weigh the same.
    void SetWeights(const std::array<uint32_t, PACKET_PRIORITIES>& weights);
    /// Completes the fabric: all of them outlive the last packet.
    void Install(PacketRouter& router, PacketTaker& sink, PacketSource& source);

    /**
     * Simulates with up to so many threads from now on, event by event as with one (PacketRegions). With one
     * alone where what ports and routers do is not theirs alone: with random routes or marks, limited queues,
     * flow control, faults, or a listener to a trace source; and where links take no time or there are no
     * switches, or under another scheduler than the PacketEventScheduler, ports first. Before anything is
     * sent; who stops the simulator shuts the scheduler's gate first, and who runs it again opens it.
     *
     * \param router that was installed
     * \param due how much is to come (PacketRegions::Due)
     *
     * \returns the number of threads
     */
    uint32_t Divide(uint32_t threads, const PacketRouter& router, PacketRegions::Due due);

    /// Whether what ports and that router do is theirs alone, so that Divide may give more than one thread.
    bool IsDivisible(const PacketRouter& router) const;

    /// Finds out what has left all ports by now, so that what they count is of now.
    void Settle();

    /// Nothing runs until the simulator goes on: what ports have can be read, of up to a latency from now.
    void Pause();

    /// Events of ports that the simulator did not handle itself.
    int64_t GetEventsElsewhere() const
    {
        return m_regions == nullptr ? 0 : m_regions->GetEventsElsewhere();
    }

    /// Bytes that may arrive over a link after the pause was decided on.
    uint64_t GetHeadroom(uint32_t port) const;
    /// Bytes that a switch can hold of what comes over a link, in each priority; 0: no limit.
    uint64_t GetIngressRoom(uint32_t port) const;

    /// A router that foresees routes (PacketRouter::Foresee) names others from now on.
    void ForgetRoutes();

    /// Ports each of which waits for the next one, and the last for the first: a circle of pauses or credits
    /// that nothing will ever open. Empty if there is none.
    std::vector<uint32_t> FindDeadlock() const;

    PacketContext& GetContext()
    {
        return m_context;
    }

    PacketNode& GetNode(uint32_t node)
    {
        return m_nodes[node];
    }

    PacketPort& GetPort(uint32_t port)
    {
        return *m_ports[port];
    }

    const PacketPort& GetPort(uint32_t port) const
    {
        return *m_ports[port];
    }

    bool IsSwitch(uint32_t node) const
    {
        return m_nodeFacts[node].isSwitch;
    }

    uint32_t GetNodeCount() const;
    uint32_t GetPortCount() const;

    /// Routers, sinks and sources may end: events of ports that are pending do nothing any more.
    void Detach();

  protected:
    void DoDispose() override;

  private:
    struct NodeFacts
    {
        uint64_t memory;
        bool isSwitch;
    };

    struct PortFacts
    {
        uint64_t limit;
        uint32_t reverse;
    };

    void InstallQueue(PacketPort& port, std::vector<PacketSharedBuffer*>& memories);
    void InstallFlowControl(PacketPort& port);
    std::vector<uint8_t> FindRegions(uint32_t threads) const;
    std::vector<uint32_t> GetWaitedFor(const PacketPort& port) const;

    std::array<uint32_t, PACKET_PRIORITIES> m_weights;
    PacketContext m_context;
    std::vector<NodeFacts> m_nodeFacts;
    std::vector<PortFacts> m_portFacts;
    std::deque<PacketSharedBuffer> m_memories;
    std::deque<PacketNode> m_nodes;
    std::vector<Ptr<PacketPort>> m_ports;     //!< events of a port may outlive the fabric
    std::unique_ptr<PacketRegions> m_regions; //!< null: one thread simulates all
};

} // namespace ns3

#endif /* PACKET_FABRIC_H */
