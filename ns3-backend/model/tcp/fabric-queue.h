// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_QUEUE_H
#define FABRIC_QUEUE_H

#include "ns3/object.h"
#include "ns3/packet.h"
#include "ns3/queue.h"
#include "ns3/simple-ref-count.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3
{

/**
 * The packet memory of one switch, byte-exact, of which every output queue takes what it needs.
 * A packet takes its size on the wire while it waits; the packet being serialised has left the memory.
 */
class SharedPacketMemory : public SimpleRefCount<SharedPacketMemory>
{
  public:
    explicit SharedPacketMemory(uint64_t capacity)
        : m_capacity(capacity)
    {
    }

    /// Takes `bytes` if they are free. \returns false, and takes nothing, otherwise.
    bool TryTake(uint32_t bytes)
    {
        if (bytes > m_capacity - m_used)
        {
            return false;
        }
        m_used += bytes;
        return true;
    }

    void Release(uint32_t bytes)
    {
        m_used -= bytes;
    }

    uint64_t GetUsed() const
    {
        return m_used;
    }

  private:
    uint64_t m_capacity;
    uint64_t m_used{0};
};

/**
 * Output queue of a point-to-point device: first in, first out, tail drop by bytes.
 *
 * Room is limited by the queue's own byte limit (attribute ByteLimit), by a packet memory it shares with
 * other queues (SetSharedMemory), by both, or by neither. A packet that arrives when more than MarkThreshold
 * bytes wait in front of it gets the ECN mark "congestion experienced" if its sender is ECN-capable: the
 * marking rule of DCTCP (Alizadeh et al., SIGCOMM 2010, section 3.1). Packets are counted as PPP frames: IP
 * datagram plus two bytes.
 */
class FabricQueue : public Queue<Packet>
{
  public:
    static TypeId GetTypeId();

    FabricQueue();

    /// Draws on `memory` beside its own limit; the same object for all queues of a switch.
    void SetSharedMemory(Ptr<SharedPacketMemory> memory);

    /// While its link is down a queue drops what waits in it and what comes.
    void SetUp(bool isUp);

    bool Enqueue(Ptr<Packet> packet) override;
    Ptr<Packet> Dequeue() override;
    Ptr<Packet> Remove() override;
    Ptr<const Packet> Peek() const override;

    /// A frame that this queue released did not arrive.
    void CountLoss()
    {
        ++m_counters.drops;
    }

    /// Counters since the start. Data packets are those with TCP payload.
    struct Counters
    {
        uint64_t carriedBytes{0}; //!< frames handed to the device for transmission
        uint64_t dataPackets{0};  //!< of these, frames with TCP payload
        uint64_t drops{0};
        uint64_t marks{0};
        uint64_t peakBytes{0};
    };

    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /// Bytes that TCP carries for the application in a frame.
    static uint32_t GetTcpPayload(const Ptr<const Packet>& frame);

  protected:
    /// Checks room, marks, counts and appends. `place` is where the frame waits; \returns false when it was
    /// dropped.
    bool Admit(Ptr<Packet> packet, Iterator& place);
    /// Takes the frame at `place` out for transmission; null when nothing waits.
    Ptr<Packet> Release(ConstIterator place);
    /// Takes the frame at `place` out and drops it; null when nothing waits.
    Ptr<Packet> Discard(ConstIterator place);

    static bool HasTcpPayload(const Ptr<const Packet>& frame);

  private:
    bool MarkIfCapable(const Ptr<Packet>& frame);

    uint64_t m_byteLimit;
    uint64_t m_markThreshold;
    bool m_isUp{true};
    Ptr<SharedPacketMemory> m_memory;
    Counters m_counters;
    TracedCallback<Ptr<const Packet>> m_markTrace;
};

} // namespace ns3

#endif /* FABRIC_QUEUE_H */
