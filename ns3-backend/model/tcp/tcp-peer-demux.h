// SPDX-License-Identifier: GPL-2.0-only
#ifndef TCP_PEER_DEMUX_H
#define TCP_PEER_DEMUX_H

#include "ns3/ip-l4-protocol.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv6-interface.h"
#include "ns3/node.h"
#include "ns3/tcp-l4-protocol.h"

#include <cstdint>
#include <unordered_map>

namespace ns3
{

/**
 * TCP of a host that talks to many others: one stock TcpL4Protocol for each peer, found by the peer's
 * address.
 *
 * TcpL4Protocol searches all sockets of the host for that of a segment, one by one; with one
 * connection to and from each of 127 others that is two thirds of the whole simulation. Here a segment
 * reaches only the few sockets that its sender's address can mean. Sockets and everything below them are
 * unmodified, and every segment reaches the same socket at the same time as with one TcpL4Protocol for all,
 * which the attribute PerPeer = false gives.
 */
class TcpPeerDemux : public IpL4Protocol
{
  public:
    static TypeId GetTypeId();

    /// `node` has its Ipv4 already; segments that arrive there come here from now on.
    void Install(Ptr<Node> node);

    /// The TCP of the sockets that are connected to `peer` or listen for it; made on first use.
    Ptr<TcpL4Protocol> GetTcp(Ipv4Address peer);

    int GetProtocolNumber() const override;
    RxStatus Receive(Ptr<Packet> p, const Ipv4Header& header, Ptr<Ipv4Interface> incomingInterface) override;
    RxStatus Receive(Ptr<Packet> p, const Ipv6Header& header, Ptr<Ipv6Interface> incomingInterface) override;
    void SetDownTarget(DownTargetCallback cb) override;
    void SetDownTarget6(DownTargetCallback6 cb) override;
    DownTargetCallback GetDownTarget() const override;
    DownTargetCallback6 GetDownTarget6() const override;

  protected:
    void DoDispose() override;

  private:
    /// The entry of the TCP for `peer`.
    uint32_t KeyOf(Ipv4Address peer) const
    {
        return m_perPeer ? peer.Get() : 0;
    }

    bool m_perPeer;
    Ptr<Node> m_node;
    DownTargetCallback m_downTarget;
    DownTargetCallback6 m_downTarget6;
    std::unordered_map<uint32_t, Ptr<TcpL4Protocol>> m_byPeer;
};

} // namespace ns3

#endif /* TCP_PEER_DEMUX_H */
