// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_HELPER_H
#define FABRIC_HELPER_H

#include "ns3/data-rate.h"
#include "ns3/fabric-queue.h"
#include "ns3/fabric-routing.h"
#include "ns3/fabric-switch.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/point-to-point-net-device.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * Makes the hosts, switches and cables of a fabric. Hosts carry IPv4 and TCP and nothing that a fabric of
 * point-to-point links does not need: no ARP, no ICMP, no queue disciplines, no global routing.
 */
class FabricHelper
{
  public:
    explicit FabricHelper(uint16_t mtu);

    /// A node with TCP over IPv4. `route` answers for packets that leave it.
    Ptr<Node> CreateHost(Ipv4Address address, FabricRouting::RouteCallback route) const;

    /// A node that forwards frames.
    Ptr<Node> CreateSwitch(FabricSwitch::RouteCallback route) const;

    /// One direction of a cable.
    struct Direction
    {
        DataRate rate;
        Time delay;
        Ptr<FabricQueue> queue;
    };

    using DevicePair = std::pair<Ptr<PointToPointNetDevice>, Ptr<PointToPointNetDevice>>;

    /// \returns the devices at `a` and at `b`; `forward` is the direction from a to b.
    DevicePair Connect(Ptr<Node> a, Ptr<Node> b, const Direction& forward, const Direction& backward) const;

    struct Star
    {
        Ptr<Node> center;
        std::vector<Ptr<Node>> hosts;         //!< 10.0.0.1, 10.0.0.2, …
        std::vector<Ptr<FabricQueue>> queues; //!< of the switch, towards each host
    };

    /// A switch with 1 to 2^16 hosts, ready for sockets. `queue` makes the queues of the switch.
    Star CreateStar(uint32_t hosts, DataRate rate, Time delay, const ObjectFactory& queue) const;

  private:
    Ptr<PointToPointNetDevice> AddDevice(Ptr<Node> node, const Direction& outward) const;
    static void Attach(Ptr<Node> node, Ptr<PointToPointNetDevice> device);

    uint16_t m_mtu;
};

} // namespace ns3

#endif /* FABRIC_HELPER_H */
