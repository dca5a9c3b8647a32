// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_HOST_QUEUE_H
#define FABRIC_HOST_QUEUE_H

#include "fabric-queue.h"

#include <deque>
#include <unordered_map>

namespace ns3
{

/**
 * Output queue of a host: without limit, and fair as the multi-queue network cards of servers are.
 *
 * Frames without TCP payload, acknowledgements above all, leave first. Data leaves a frame at a time from
 * each destination in turn, in order within a destination. In one queue for all, an acknowledgement would
 * wait behind every window the host has open, which stretches the round trip of what it receives by what it
 * sends: 127 windows of 0.5 MB are 5 ms at 100 Gb/s, and hold an incoming stream to a hundredth of the link.
 * The attributes HeadersFirst and DestinationsInTurn switch either off; without both it is first in, first
 * out.
 */
class FabricHostQueue : public FabricQueue
{
  public:
    static TypeId GetTypeId();

    bool Enqueue(Ptr<Packet> packet) override;
    Ptr<Packet> Dequeue() override;
    Ptr<Packet> Remove() override;
    Ptr<const Packet> Peek() const override;

  private:
    using Line = std::deque<Iterator>;

    /// Takes the frame that leaves next out of its line; past the end when nothing waits.
    ConstIterator Take();

    bool m_headersFirst;
    bool m_destinationsInTurn;
    Line m_headersOnly;
    std::unordered_map<uint32_t, Line>
        m_byDestination;       //!< IPv4 destination; all at 0 unless destinations are served round-robin
    std::deque<Line*> m_turns; //!< lines that are not empty, next first
};

} // namespace ns3

#endif /* FABRIC_HOST_QUEUE_H */
