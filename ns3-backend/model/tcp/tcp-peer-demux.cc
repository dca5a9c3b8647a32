// SPDX-License-Identifier: GPL-2.0-only
#include "tcp-peer-demux.h"

#include "ns3/boolean.h"
#include "ns3/ipv4.h"
#include "ns3/packet.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TcpPeerDemux);

TypeId
TcpPeerDemux::GetTypeId()
{
    static TypeId tid = TypeId("ns3::TcpPeerDemux")
                            .SetParent<IpL4Protocol>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<TcpPeerDemux>()
                            .AddAttribute("PerPeer",
                                          "One TcpL4Protocol for each peer; false: one for all.",
                                          BooleanValue(true),
                                          MakeBooleanAccessor(&TcpPeerDemux::m_perPeer),
                                          MakeBooleanChecker());
    return tid;
}

void
TcpPeerDemux::Install(Ptr<Node> node)
{
    m_node = node;
    auto ip = node->GetObject<Ipv4>();
    SetDownTarget(MakeCallback(&Ipv4::Send, ip));
    node->AggregateObject(this);
    ip->Insert(this);
}

Ptr<TcpL4Protocol>
TcpPeerDemux::GetTcp(Ipv4Address peer)
{
    Ptr<TcpL4Protocol>& tcp = m_byPeer[KeyOf(peer)];
    if (!tcp)
    {
        tcp = CreateObject<TcpL4Protocol>();
        tcp->SetNode(m_node);
        tcp->SetDownTarget(m_downTarget);
        tcp->SetDownTarget6(m_downTarget6);
    }
    return tcp;
}

int
TcpPeerDemux::GetProtocolNumber() const
{
    return TcpL4Protocol::PROT_NUMBER;
}

IpL4Protocol::RxStatus
TcpPeerDemux::Receive(Ptr<Packet> p, const Ipv4Header& header, Ptr<Ipv4Interface> incomingInterface)
{
    const auto tcp = m_byPeer.find(KeyOf(header.GetSource()));
    return tcp == m_byPeer.end() ? RX_ENDPOINT_CLOSED : tcp->second->Receive(p, header, incomingInterface);
}

IpL4Protocol::RxStatus
TcpPeerDemux::Receive(Ptr<Packet>, const Ipv6Header&, Ptr<Ipv6Interface>)
{
    return RX_ENDPOINT_UNREACH;
}

void
TcpPeerDemux::SetDownTarget(DownTargetCallback cb)
{
    m_downTarget = cb;
}

void
TcpPeerDemux::SetDownTarget6(DownTargetCallback6 cb)
{
    m_downTarget6 = cb;
}

IpL4Protocol::DownTargetCallback
TcpPeerDemux::GetDownTarget() const
{
    return m_downTarget;
}

IpL4Protocol::DownTargetCallback6
TcpPeerDemux::GetDownTarget6() const
{
    return m_downTarget6;
}

void
TcpPeerDemux::DoDispose()
{
    for (auto& [peer, tcp] : m_byPeer)
    {
        tcp->Dispose();
    }
    m_byPeer.clear();
    m_downTarget.Nullify();
    m_downTarget6.Nullify();
    m_node = nullptr;
    IpL4Protocol::DoDispose();
}

} // namespace ns3
