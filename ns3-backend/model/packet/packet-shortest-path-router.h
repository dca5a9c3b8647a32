// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_SHORTEST_PATH_ROUTER_H
#define PACKET_SHORTEST_PATH_ROUTER_H

#include "packet-fabric.h"
#include "packet-node.h"

#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * Shortest paths, by number of links, from every node to every host of a fabric; where several ports start
 * one, equal-cost multi-path.
 *
 * `PER_FLOW`: the port is a hash of source, destination and node, so that packets of a queue pair stay in
 * order. `PER_PACKET`: every packet draws a port at random, all alike; the transport must be set so that
 * packets may overtake one another.
 *
 * Building takes a breadth-first search for each host, O(hosts · (nodes + ports)); the table has an entry for
 * each node, host, and port that may be taken. A route is one look-up in a table.
 */
class PacketShortestPathRouter : public Object, public PacketRouter
{
  public:
    enum LoadBalancing
    {
        PER_FLOW,
        PER_PACKET
    };

    static TypeId GetTypeId();

    /// Finds the routes to the nodes 0 to `hosts` - 1 of a fabric that is complete but for Install.
    void Build(Ptr<PacketFabric> fabric, uint32_t hosts);

    PacketPort* Route(uint32_t node, PacketDescriptor& packet) override;

    bool RoutesAtOnce() const override
    {
        return m_loadBalancing == PER_FLOW;
    }

    bool RoutesInParallel() const override
    {
        return m_loadBalancing == PER_FLOW;
    }

    /// The ports that start a shortest path, by number; none at the host itself or where no path leads there.
    std::vector<uint32_t> GetNextPorts(uint32_t node, uint32_t host) const;
    /// Shortest paths from a node to a host, each a different sequence of links; one to itself.
    uint64_t CountPaths(uint32_t node, uint32_t host) const;

  protected:
    void DoDispose() override;

  private:
    std::size_t GetRow(uint32_t node, uint32_t host) const;

    LoadBalancing m_loadBalancing;
    Ptr<PacketFabric> m_fabric;
    uint32_t m_hosts{0};
    std::vector<std::size_t> m_rows; //!< (node, host) -> its first port in m_ports; one more at the end
    std::vector<PacketPort*> m_ports;
};

} // namespace ns3

#endif /* PACKET_SHORTEST_PATH_ROUTER_H */
