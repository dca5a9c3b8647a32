// SPDX-License-Identifier: GPL-2.0-only
#ifndef CIRCUIT_ROUTING_H
#define CIRCUIT_ROUTING_H

#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ns3-releases.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * Routes of a server in a network of servers that forward for each other: for every destination the
 * interfaces that begin a shortest path, of which a flow takes one: at its source by a hash of the addresses
 * alone, at servers on its way by addresses and ports, so that its packets stay in order. Fragments and
 * packets of other protocols than TCP and UDP go by addresses everywhere. What is for one of the node's own
 * addresses goes up.
 */
class CircuitRouting : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId();

    /// Interfaces that begin a shortest path to `destination`; at least one.
    void SetRoute(Ipv4Address destination, std::vector<uint32_t> interfaces);

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet,
                               const Ipv4Header& header,
                               Ptr<NetDevice> device,
                               Socket::SocketErrno& error) override;
    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    RouteInputUnicast forward,
                    RouteInputMulticast multicast,
                    RouteInputLocal deliver,
                    RouteInputError failed) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const override;

  protected:
    void DoDispose() override;

  private:
    Ptr<Ipv4Route> Find(Ptr<const Packet> packet, const Ipv4Header& header) const;

    Ptr<Ipv4> m_ipv4;
    std::unordered_map<uint32_t, std::vector<uint32_t>> m_routes; //!< interfaces, by destination
};

} // namespace ns3

#endif /* CIRCUIT_ROUTING_H */
