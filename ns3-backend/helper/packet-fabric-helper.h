// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_FABRIC_HELPER_H
#define PACKET_FABRIC_HELPER_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/packet-fabric.h"
#include "ns3/packet-shortest-path-router.h"
#include "ns3/packet-transport.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/// A fabric with its routes and its transport, ready for PacketTransport::Send. Hosts are the nodes from 0
/// on.
struct PacketNetwork
{
    Ptr<PacketFabric> fabric;
    Ptr<PacketShortestPathRouter> router;
    Ptr<PacketTransport> transport;
    uint32_t hosts;

    /// The port of a node whose link leads to its neighbour; aborts if they are none.
    PacketPort& GetPort(uint32_t node, uint32_t neighbour) const;
};

/**
 * Builds the usual fabrics of hosts, switches, and cables that are alike in both directions.
 *
 * Attributes given here, or as defaults (Config::SetDefault), reach the fabric, the router and the transport
 * before a packet is sent. The links of hosts and those between switches are two sorts; every switch has the
 * same memory. Time::SetResolution (Time::PS) comes first in a program: the engine counts picoseconds.
 *
 *     PacketFabricHelper helper;
 *     helper.SetFabricAttribute("EcnThreshold", UintegerValue(30000));
 *     PacketNetwork network = helper.CreateLeafSpine(4, 8, 4);
 *     network.transport->Send({0, 9, 1000000, nullptr, 0, 0}); // from host 0 to host 9
 *
 * Numbers, by which nodes are known: hosts from 0 on, by leaf; then the switches, from the lowest layer up.
 */
class PacketFabricHelper
{
  public:
    PacketFabricHelper();

    void SetFabricAttribute(const std::string& name, const AttributeValue& value);
    void SetRouterAttribute(const std::string& name, const AttributeValue& value);
    void SetTransportAttribute(const std::string& name, const AttributeValue& value);

    /// Of the links of hosts, to switches or to each other; 100 Gb/s and 500 ns unless set.
    void SetHostLink(DataRate rate, Time latency);
    /// Of the links between switches; 100 Gb/s and 500 ns unless set.
    void SetSwitchLink(DataRate rate, Time latency);
    /// From when a host has a packet for others until the packet is queued to be forwarded; 0 unless set.
    void SetForwarding(Time latency);
    /// Bytes of packet memory in each switch; 0, the default: without limit. A fabric that pauses needs some.
    void SetSwitchMemory(uint64_t bytes);

    /// One switch, number `hosts`. At least 1 host.
    PacketNetwork CreateStar(uint32_t hosts) const;
    /// Every leaf is connected to every spine: `spines` paths between hosts of different leaves. Host h is at
    /// leaf h / hostsPerLeaf, which is node leaves · hostsPerLeaf + that. At least 1 of each.
    PacketNetwork CreateLeafSpine(uint32_t leaves, uint32_t hostsPerLeaf, uint32_t spines) const;
    /// The k-ary fat-tree of Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network
    /// architecture", SIGCOMM 2008, section 3: k pods of k/2 edge and k/2 aggregation switches, (k/2)² cores,
    /// k³/4 hosts, all switches with k ports; (k/2)² paths between hosts of different pods, k/2 between edges
    /// of a pod. `ports`, that is k, is even and at least 2. Edges come first, then aggregation switches,
    /// both by pod.
    PacketNetwork CreateFatTree(uint32_t ports) const;
    /// Hosts without switches, which forward for each other: for each stride s a cable from every host h to h
    /// + s modulo `hosts`, as the rings that TopoOpt lays (Wang and others, "TopoOpt: Co-optimizing network
    /// topology and parallelization strategy for distributed training jobs", NSDI 2023, section 4.2). Each
    /// stride is between 1 and hosts - 1 and makes links both ways; s and hosts - s make two cables between
    /// the same pairs, as a stride given twice does. Hosts forward without limit of memory or rate of their
    /// own. At least 2 hosts and 1 stride.
    PacketNetwork CreateDirectConnect(uint32_t hosts, const std::vector<uint32_t>& strides) const;

  private:
    struct LinkFacts
    {
        DataRate rate;
        Time latency;
    };

    Ptr<PacketFabric> StartFabric(uint32_t hosts, uint32_t switches) const;
    static void Connect(PacketFabric& fabric, uint32_t a, uint32_t b, const LinkFacts& link);
    PacketNetwork Finish(Ptr<PacketFabric> fabric, uint32_t hosts) const;

    ObjectFactory m_fabric{"ns3::PacketFabric"};
    ObjectFactory m_router{"ns3::PacketShortestPathRouter"};
    ObjectFactory m_transport{"ns3::PacketTransport"};
    LinkFacts m_hostLink;
    LinkFacts m_switchLink;
    Time m_forwarding;
    uint64_t m_switchMemory{0};
};

} // namespace ns3

#endif /* PACKET_FABRIC_HELPER_H */
