// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_ROUTING_H
#define FABRIC_ROUTING_H

#include "ns3/callback.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ns3-releases.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <unordered_map>

namespace ns3
{

/**
 * IPv4 routing of a fabric host: the builder of the fabric decides, and this class calls it.
 *
 * The host has one address, on all of its interfaces. A callback names the device that a packet from a source
 * to a destination address leaves by, or one of a flow, which its ports tell apart from others of the two
 * hosts; the answer for packets of the host itself is cached until routes are forgotten. A packet for the
 * host is delivered, whichever interface it came in by; any other is forwarded, after the forwarding delay,
 * so a host may stand between others as in a direct-connect torus.
 */
class FabricRouting : public Ipv4RoutingProtocol
{
  public:
    /// (source, destination) -> output device, null when the destination cannot be reached.
    using RouteCallback = Callback<Ptr<NetDevice>, Ipv4Address, Ipv4Address>;
    /// (source, destination, ports) -> output device. Ports are as in the packet, that of the source first,
    /// 16 bits each; 0: a socket asks before it has any.
    using FlowRouteCallback = Callback<Ptr<NetDevice>, Ipv4Address, Ipv4Address, uint32_t>;

    static TypeId GetTypeId();

    void SetAddress(Ipv4Address address);

    Ipv4Address GetAddress() const
    {
        return m_address;
    }

    void SetRouteCallback(RouteCallback callback);
    /// In place of a RouteCallback.
    void SetFlowRouteCallback(FlowRouteCallback callback);
    /// From the arrival of a packet for others, whole, to its place in the queue that it leaves by; none
    /// unless set.
    void SetForwardingDelay(Time delay);

    /// Ports at the begin of a TCP header; 0 where there is none.
    static uint32_t GetPorts(Ptr<const Packet> segment);

    /// The callback gives other answers from now on.
    void ForgetRoutes();

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> p,
                               const Ipv4Header& header,
                               Ptr<NetDevice> oif,
                               Socket::SocketErrno& sockerr) override;
    bool RouteInput(Ptr<const Packet> p,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> idev,
                    RouteInputUnicast ucb,
                    RouteInputMulticast mcb,
                    RouteInputLocal lcb,
                    RouteInputError ecb) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit = Time::S) const override;

  protected:
    void DoDispose() override;

  private:
    Ptr<Ipv4Route> Find(Ipv4Address source, Ipv4Address destination, uint32_t ports) const;
    uint32_t GetPortsThatMatter(Ptr<const Packet> segment) const;

    Ptr<Ipv4> m_ipv4;
    Ipv4Address m_address;
    RouteCallback m_route;
    FlowRouteCallback m_flowRoute; //!< null: the other counts
    Time m_forwardingDelay;
    std::unordered_map<uint64_t, Ptr<Ipv4Route>> m_ownRoutes; //!< by destination, and ports that matter
};

} // namespace ns3

#endif /* FABRIC_ROUTING_H */
