// SPDX-License-Identifier: GPL-2.0-only
#include "packet-shared-buffer.h"

#include "packet-port.h"

namespace ns3
{

bool
PacketSharedBuffer::HasRoom(uint64_t waiting, uint32_t bytes) const
{
    if (m_used + bytes > m_capacity)
    {
        return false;
    }
    return m_share <= 0 ||
           static_cast<double>(waiting + bytes) <= m_share * static_cast<double>(m_capacity - m_used);
}

bool
PacketSharedBuffer::Admits(uint64_t waiting, uint32_t bytes, int64_t now)
{
    if (HasRoom(waiting, bytes))
    {
        return true;
    }
    // Packets may have left other ports, which have not advanced since.
    for (PacketPort* port : m_ports)
    {
        port->Advance(now);
    }
    return HasRoom(waiting, bytes);
}

} // namespace ns3
