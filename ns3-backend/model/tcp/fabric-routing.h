// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_ROUTING_H
#define FABRIC_ROUTING_H

#include "ns3/callback.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"

#include <unordered_map>

namespace ns3
{

/**
 * IPv4 routing of a fabric host: the builder of the fabric decides, and this class calls it.
 *
 * The host has one address, on all of its interfaces. A callback names the device that a packet from a source
 * to a destination address leaves by; the answer for packets of the host itself is cached until routes are
 * forgotten. A packet for
 * the host is delivered, whichever interface it came in by; any other is forwarded, so a host may
 * stand between others as in a direct-connect torus.
 */
class FabricRouting : public Ipv4RoutingProtocol
{
  public:
    /// (source, destination) -> output device, null when the destination cannot be reached.
    using RouteCallback = Callback<Ptr<NetDevice>, Ipv4Address, Ipv4Address>;

    static TypeId GetTypeId();

    void SetAddress(Ipv4Address address);

    Ipv4Address GetAddress() const
    {
        return m_address;
    }

    void SetRouteCallback(RouteCallback callback);
    /// The callback gives other answers from now on.
    void ForgetRoutes();

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> p,
                               const Ipv4Header& header,
                               Ptr<NetDevice> oif,
                               Socket::SocketErrno& sockerr) override;
    bool RouteInput(Ptr<const Packet> p,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> idev,
                    UnicastForwardCallback ucb,
                    MulticastForwardCallback mcb,
                    LocalDeliverCallback lcb,
                    ErrorCallback ecb) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit = Time::S) const override;

  protected:
    void DoDispose() override;

  private:
    Ptr<Ipv4Route> Find(Ipv4Address source, Ipv4Address destination) const;

    Ptr<Ipv4> m_ipv4;
    Ipv4Address m_address;
    RouteCallback m_route;
    std::unordered_map<uint32_t, Ptr<Ipv4Route>> m_ownRoutes; //!< by destination
};

} // namespace ns3

#endif /* FABRIC_ROUTING_H */
