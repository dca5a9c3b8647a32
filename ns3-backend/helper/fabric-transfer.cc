// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-transfer.h"

#include "ns3/abort.h"
#include "ns3/fabric-routing.h"
#include "ns3/inet-socket-address.h"
#include "ns3/simulator.h"
#include "ns3/tcp-peer-demux.h"

#include <algorithm>

namespace ns3
{

FabricTransfer::FabricTransfer(Ptr<Node> from, Ptr<Node> to, uint16_t port, uint64_t bytes)
    : m_unsent(bytes),
      m_missing(bytes)
{
    NS_ABORT_MSG_IF(bytes == 0, "a transfer has at least one byte");
    const Ipv4Address source = from->GetObject<FabricRouting>()->GetAddress();
    const InetSocketAddress destination(to->GetObject<FabricRouting>()->GetAddress(), port);
    m_listener = to->GetObject<TcpPeerDemux>()->GetTcp(source)->CreateSocket();
    NS_ABORT_MSG_IF(m_listener->Bind(destination) != 0, "port " << port << " is taken");
    m_listener->Listen();
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&FabricTransfer::Accepted, this));
    m_sender = from->GetObject<TcpPeerDemux>()->GetTcp(destination.GetIpv4())->CreateSocket();
    m_sender->SetConnectCallback(MakeCallback(&FabricTransfer::Connected, this),
                                 MakeNullCallback<void, Ptr<Socket>>());
    m_sender->SetSendCallback(MakeCallback(&FabricTransfer::HasRoom, this));
    m_sender->Bind();
    m_sender->Connect(destination);
}

void
FabricTransfer::Accepted(Ptr<Socket> receiver, const Address&)
{
    m_receiver = receiver;
    m_receiver->SetRecvCallback(MakeCallback(&FabricTransfer::Read, this));
}

void
FabricTransfer::Connected(Ptr<Socket> sender)
{
    HasRoom(sender, sender->GetTxAvailable());
}

void
FabricTransfer::HasRoom(Ptr<Socket> sender, uint32_t room)
{
    const auto piece = static_cast<uint32_t>(std::min<uint64_t>(room, m_unsent));
    if (piece > 0 && sender->Send(Create<Packet>(piece)) > 0)
    {
        m_unsent -= piece;
    }
}

void
FabricTransfer::Read(Ptr<Socket> receiver)
{
    while (Ptr<Packet> data = receiver->Recv())
    {
        m_missing -= data->GetSize();
        m_end = Simulator::Now();
    }
}

} // namespace ns3
