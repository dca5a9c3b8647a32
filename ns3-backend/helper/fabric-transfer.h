// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_TRANSFER_H
#define FABRIC_TRANSFER_H

#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/socket.h"

#include <cstdint>

namespace ns3
{

/**
 * One message from a FabricHelper host to another, over a TCP connection of its own that opens at once. It
 * must outlive the simulation. The hosts' routes and devices are in place, and Node::Initialize has been
 * called.
 */
class FabricTransfer
{
  public:
    /// `port` is the receiver's; one transfer for each (sender, receiver, port).
    FabricTransfer(Ptr<Node> from, Ptr<Node> to, uint16_t port, uint64_t bytes);
    FabricTransfer(const FabricTransfer&) = delete;
    FabricTransfer& operator=(const FabricTransfer&) = delete;

    bool IsComplete() const
    {
        return m_missing == 0;
    }

    /// When the last byte had arrived; meaningless before.
    Time GetEnd() const
    {
        return m_end;
    }

  private:
    void Accepted(Ptr<Socket> receiver, const Address& from);
    void Connected(Ptr<Socket> sender);
    void HasRoom(Ptr<Socket> sender, uint32_t room);
    void Read(Ptr<Socket> receiver);

    Ptr<Socket> m_listener;
    Ptr<Socket> m_sender;
    Ptr<Socket> m_receiver;
    uint64_t m_unsent;
    uint64_t m_missing;
    Time m_end;
};

} // namespace ns3

#endif /* FABRIC_TRANSFER_H */
