// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_SHARED_BUFFER_H
#define PACKET_SHARED_BUFFER_H

#include <cstdint>
#include <vector>

namespace ns3
{

class PacketPort;

/**
 * Packet memory of a switch that its ports draw on, byte-exact. A packet takes its size on the wire while it
 * waits; the packet being serialised has left the memory.
 *
 * With `share` α > 0 a queue may hold at most α times what is free, so the more ports are congested the less
 * each may hold, and some memory stays free (Choudhury and Hahne, "Dynamic queue length thresholds for
 * shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2), 1998, section II).
 */
class PacketSharedBuffer
{
  public:
    PacketSharedBuffer(uint64_t capacity, double share)
        : m_capacity(capacity),
          m_share(share)
    {
    }

    void AddPort(PacketPort* port)
    {
        m_ports.push_back(port);
    }

    /// Whether a queue of `waiting` bytes may take in `bytes` more at `now`.
    bool Admits(uint64_t waiting, uint32_t bytes, int64_t now);

    void Take(uint32_t bytes)
    {
        m_used += bytes;
    }

    void Give(uint32_t bytes)
    {
        m_used -= bytes;
    }

  private:
    bool HasRoom(uint64_t waiting, uint32_t bytes) const;

    uint64_t m_capacity;
    double m_share;     //!< 0: first come, first served
    uint64_t m_used{0}; //!< at most, by packets whose ports have not looked whether they left
    std::vector<PacketPort*> m_ports;
};

} // namespace ns3

#endif /* PACKET_SHARED_BUFFER_H */
