// SPDX-License-Identifier: GPL-2.0-only
#include "packet-queue.h"

#include "packet-flow-control.h"

#include "ns3/assert.h"

#include <algorithm>
#include <utility>

namespace ns3
{

PacketQueue::PacketQueue(PacketContext& context, uint32_t number)
    : m_context(context),
      m_number(number),
      m_marks(false),
      m_isTrimming(false),
      m_isLimited(false)
{
}

void
PacketQueue::SetLimit(uint64_t limit)
{
    m_limit = limit;
    m_isLimited = m_limit > 0 || m_sharedBuffer != nullptr;
}

void
PacketQueue::SetSharedBuffer(PacketSharedBuffer* memory)
{
    m_sharedBuffer = memory;
    m_isLimited = m_limit > 0 || m_sharedBuffer != nullptr;
}

void
PacketQueue::SetMarking(const Marking& marking)
{
    NS_ASSERT_MSG(marking.from <= marking.to, "marking gets no rarer as the queue grows");
    m_marking = marking;
    m_marks = true;
}

void
PacketQueue::SetTrimming(uint32_t header)
{
    m_trimmedBytes = header;
    m_isTrimming = header > 0;
}

void
PacketQueue::SetUnlimited(uint8_t priority)
{
    m_unlimitedLane = priority;
    m_unlimited = BitOf(priority);
}

double
PacketQueue::GetMeanWaitingBytes(int64_t now) const
{
    const int64_t since = std::max<int64_t>(0, now - m_countedUntil);
    const auto area =
        static_cast<double>(m_area) + static_cast<double>(m_waiting) * static_cast<double>(since);
    return now > 0 ? area / static_cast<double>(now) : 0;
}

std::vector<uint32_t>
PacketQueue::GetIngressOf(uint8_t lane) const
{
    std::vector<uint32_t> ports;
    for (uint32_t packet = At(lane).list.GetFirst(); packet != PACKET_NONE;
         packet = m_context.packets[packet].next)
    {
        ports.push_back(m_context.packets[packet].ingress);
    }
    return ports;
}

void
PacketQueue::Count(int64_t when)
{
    m_area += static_cast<unsigned __int128>(m_waiting) * static_cast<uint64_t>(when - m_countedUntil);
    m_countedUntil = when;
}

void
PacketQueue::Wait(uint32_t packet, int64_t now)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    const uint8_t lane = LaneOf(descriptor);
    Count(now);
    Lane& own = At(lane);
    m_waiting += descriptor.bytes;
    own.waiting += descriptor.bytes;
    m_peakBytes = std::max(m_peakBytes, m_waiting);
    if (m_sharedBuffer != nullptr)
    {
        m_sharedBuffer->Take(descriptor.bytes);
    }
    own.list.Append(m_context.packets, packet);
    m_lanes = static_cast<uint16_t>(m_lanes | BitOf(lane));
    m_context.traces.enqueued(m_number, descriptor, now);
}

uint32_t
PacketQueue::TakeFirst(uint8_t lane, int64_t when)
{
    Lane& own = At(lane);
    const uint32_t packet = own.list.TakeFirst(m_context.packets);
    if (own.list.IsEmpty())
    {
        m_lanes = static_cast<uint16_t>(m_lanes & ~BitOf(lane));
    }
    else
    {
        // The next to leave, which has waited in memory since it came.
        __builtin_prefetch(&m_context.packets[own.list.GetFirst()], 1);
    }
    const PacketDescriptor& descriptor = m_context.packets[packet];
    Count(when);
    m_waiting -= descriptor.bytes;
    own.waiting -= descriptor.bytes;
    if (m_sharedBuffer != nullptr)
    {
        m_sharedBuffer->Give(descriptor.bytes);
    }
    return packet;
}

void
PacketQueue::FreeRoom(uint32_t packet, int64_t when)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    if (PacketFlowControl* before = PacketFlowControl::Before(m_context, descriptor))
    {
        before->Release(descriptor.priority, descriptor.bytes, when, true);
    }
}

uint32_t
PacketQueue::Leave(uint8_t lane, int64_t when)
{
    const uint32_t packet = TakeFirst(lane, when);
    if (m_marks && lane != CONTROL)
    {
        Mark(packet, At(lane).waiting, when);
    }
    FreeRoom(packet, when);
    return packet;
}

uint32_t
PacketQueue::Remove(uint8_t lane, int64_t when)
{
    const uint32_t packet = TakeFirst(lane, when);
    FreeRoom(packet, when);
    return packet;
}

void
PacketQueue::Mark(uint32_t packet, uint64_t waiting, int64_t when)
{
    if (waiting <= m_marking.from)
    {
        return;
    }
    if (waiting <= m_marking.to)
    {
        const double share = static_cast<double>(waiting - m_marking.from) /
                             static_cast<double>(m_marking.to - m_marking.from);
        if (m_context.random.NextFraction() >= share * m_marking.probability)
        {
            return;
        }
    }
    PacketDescriptor& descriptor = m_context.packets[packet];
    descriptor.flags |= PacketDescriptor::MARKED;
    ++m_marked;
    m_context.traces.marked(m_number, descriptor, when);
}

bool
PacketQueue::HasRoom(const PacketDescriptor& packet, int64_t now)
{
    if ((BitOf(LaneOf(packet)) & m_unlimited) != 0)
    {
        return true;
    }
    // Trimmed headers have a queue, and a limit, of their own.
    const uint64_t control = At(CONTROL).waiting;
    const uint64_t limited = m_waiting - (m_unlimited != 0 ? At(m_unlimitedLane).waiting : 0);
    const uint64_t waiting = m_trimmedBytes == 0 ? limited : packet.IsData() ? limited - control : control;
    if (m_limit > 0 && waiting + packet.bytes > m_limit)
    {
        return false;
    }
    return m_sharedBuffer == nullptr || m_sharedBuffer->Admits(m_waiting, packet.bytes, now);
}

void
PacketQueue::Trim(uint32_t packet, int64_t now)
{
    PacketDescriptor& descriptor = m_context.packets[packet];
    if (PacketFlowControl* before = PacketFlowControl::Before(m_context, descriptor))
    {
        before->Release(descriptor.priority, descriptor.bytes, now, false);
    }
    descriptor.bytes = m_trimmedBytes;
    descriptor.flags |= PacketDescriptor::TRIMMED;
    descriptor.tail = descriptor.arrival;
    ++m_trims;
    m_context.traces.trimmed(m_number, descriptor, now);
}

bool
PacketQueue::MakeRoom(uint32_t packet, int64_t now)
{
    PacketDescriptor& arrival = m_context.packets[packet];
    if (HasRoom(arrival, now))
    {
        return true;
    }
    if (m_trimmedBytes == 0 || !arrival.IsData() || arrival.bytes <= m_trimmedBytes)
    {
        return false;
    }
    if ((m_lanes & BitOf(arrival.priority)) != 0 && (m_context.random.Next() & 1) != 0)
    {
        TakePlaceOfLast(packet, now);
    }
    Trim(packet, now);
    return HasRoom(arrival, now);
}

void
PacketQueue::TakePlaceOfLast(uint32_t packet, int64_t now)
{
    PacketDescriptor& arrival = m_context.packets[packet];
    PacketDescriptor& last = m_context.packets[At(arrival.priority).list.GetLast()];
    if (last.bytes < arrival.bytes)
    {
        return; // there would not be room
    }
    // Under its number, so that the list stays what it is.
    Count(now);
    const uint32_t less = last.bytes - arrival.bytes;
    m_waiting -= less;
    At(arrival.priority).waiting -= less;
    if (m_sharedBuffer != nullptr)
    {
        m_sharedBuffer->Give(less);
    }
    std::swap(arrival, last);
    last.next = PACKET_NONE;
    arrival.arrival = now;
}

} // namespace ns3
