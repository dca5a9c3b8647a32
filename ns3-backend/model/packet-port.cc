// SPDX-License-Identifier: GPL-2.0-only
#include "packet-port.h"

#include "packet-node.h"

#include "ns3/assert.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

PacketPort::PacketPort(PacketContext& context, PacketNode& to, uint64_t bitsPerSecond, int64_t latency)
    : m_context(context),
      m_to(to),
      m_bitsPerSecond(bitsPerSecond),
      m_latency(latency)
{
    NS_ASSERT_MSG(bitsPerSecond > 0 && latency >= 0, "a link carries something, and not into the past");
}

void
PacketPort::SetLimit(uint64_t limit)
{
    m_limit = limit;
}

void
PacketPort::SetMemory(PacketMemory* memory)
{
    m_memory = memory;
    memory->ports.push_back(this);
}

void
PacketPort::SetSource(PacketSource* source)
{
    m_source = source;
}

void
PacketPort::SetMarkThreshold(uint64_t threshold)
{
    m_markThreshold = threshold;
}

void
PacketPort::SetCutThrough(uint32_t header)
{
    m_header = header;
    m_headerSerialization = ComputeSerialization(header);
}

const PacketPort::Counters&
PacketPort::GetCounters() const
{
    return m_counters;
}

void
PacketPort::Append(List& list, uint32_t packet)
{
    m_context.packets[packet].next = PACKET_NONE;
    if (list.head == PACKET_NONE)
    {
        list.head = packet;
    }
    else
    {
        m_context.packets[list.tail].next = packet;
    }
    list.tail = packet;
}

uint32_t
PacketPort::TakeFirst(List& list)
{
    const uint32_t packet = list.head;
    list.head = m_context.packets[packet].next;
    return packet;
}

uint32_t
PacketPort::Leave(List& list)
{
    const uint32_t packet = TakeFirst(list);
    PacketDescriptor& descriptor = m_context.packets[packet];
    const uint32_t bytes = descriptor.bytes;
    m_waiting -= bytes;
    if (m_waiting > m_markThreshold && descriptor.kind == PacketDescriptor::Kind::DATA)
    {
        descriptor.flags |= PacketDescriptor::MARKED;
        ++m_counters.marks;
    }
    if (m_memory != nullptr)
    {
        m_memory->used -= bytes;
    }
    return packet;
}

bool
PacketPort::HasRoom(uint32_t bytes, int64_t now)
{
    if (m_limit > 0 && m_waiting + bytes > m_limit)
    {
        return false;
    }
    if (m_memory == nullptr || m_memory->used + bytes <= m_memory->capacity)
    {
        return true;
    }
    // Packets may have left other ports that had no reason to look.
    for (PacketPort* port : m_memory->ports)
    {
        port->Advance(now);
    }
    return m_memory->used + bytes <= m_memory->capacity;
}

void
PacketPort::Enqueue(uint32_t packet)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    const int64_t now = descriptor.arrival;
    Advance(now);
    if (m_freeAt <= now)
    {
        // Idle: nothing waits, and the packet does not either.
        Transmit(packet, now);
        return;
    }
    if (!HasRoom(descriptor.bytes, now))
    {
        ++m_counters.drops;
        ++m_context.drops;
        m_context.Discard(packet);
        return;
    }
    m_waiting += descriptor.bytes;
    m_counters.peakBytes = std::max(m_counters.peakBytes, m_waiting);
    if (m_memory != nullptr)
    {
        m_memory->used += descriptor.bytes;
    }
    Append(descriptor.kind == PacketDescriptor::Kind::DATA ? m_data : m_acks, packet);
}

void
PacketPort::Offer(uint64_t offer, uint8_t priority, int64_t from)
{
    NS_ASSERT(priority < PRIORITIES);
    const int64_t now = Simulator::Now().GetTimeStep();
    Advance(now);
    if (m_offeredCount == m_offered.size())
    {
        std::vector<Offered> larger(std::max<std::size_t>(4, 2 * m_offered.size()));
        for (std::size_t i = 0; i < m_offeredCount; ++i)
        {
            larger[i] = m_offered[(m_firstOffered + i) % m_offered.size()];
        }
        m_offered = std::move(larger);
        m_firstOffered = 0;
    }
    m_offered[(m_firstOffered + m_offeredCount) % m_offered.size()] = {offer, from};
    ++m_offeredCount;
    Advance(now);
}

uint32_t
PacketPort::Next(int64_t& start)
{
    if (m_acks.head != PACKET_NONE)
    {
        return Leave(m_acks);
    }
    if (m_data.head == PACKET_NONE || m_ownTurn)
    {
        m_ownTurn = false;
        const uint32_t packet = NextOfSource(start);
        if (packet != PACKET_NONE || m_data.head == PACKET_NONE)
        {
            return packet;
        }
    }
    m_ownTurn = true;
    return Leave(m_data);
}

uint32_t
PacketPort::NextOfSource(int64_t& start)
{
    while (m_offeredCount > 0)
    {
        const Offered first = m_offered[m_firstOffered];
        m_firstOffered = (m_firstOffered + 1) % m_offered.size();
        --m_offeredCount;
        const int64_t from = std::max(start, first.since);
        uint32_t packet = PACKET_NONE;
        const int64_t next = m_source->TakePacket(first.offer, from, packet);
        if (next != PacketSource::NEVER)
        {
            m_offered[(m_firstOffered + m_offeredCount) % m_offered.size()] = {first.offer, next};
            ++m_offeredCount;
        }
        if (packet != PACKET_NONE)
        {
            start = from;
            return packet;
        }
    }
    return PACKET_NONE;
}

void
PacketPort::Advance(int64_t now)
{
    while (m_freeAt <= now)
    {
        int64_t start = m_freeAt;
        const uint32_t packet = Next(start);
        if (packet == PACKET_NONE)
        {
            return;
        }
        Transmit(packet, start);
    }
}

int64_t
PacketPort::Serialization(uint32_t bytes)
{
    if (bytes != m_lastBytes)
    {
        m_lastBytes = bytes;
        m_lastSerialization = ComputeSerialization(bytes);
    }
    return m_lastSerialization;
}

int64_t
PacketPort::ComputeSerialization(uint32_t bytes) const
{
    constexpr uint64_t BIT_PICOSECONDS = 8'000'000'000'000; // in a byte, at 1 bit/s
    const auto product = static_cast<unsigned __int128>(bytes) * BIT_PICOSECONDS;
    return static_cast<int64_t>((product + m_bitsPerSecond - 1) / m_bitsPerSecond);
}

void
PacketPort::Transmit(uint32_t packet, int64_t start)
{
    PacketDescriptor& descriptor = m_context.packets[packet];
    m_freeAt = std::max(start + Serialization(descriptor.bytes), descriptor.tail);
    descriptor.tail = m_freeAt + m_latency;
    descriptor.arrival = m_header > 0 && m_header < descriptor.bytes
                             ? start + m_headerSerialization + m_latency
                             : descriptor.tail;
    m_counters.carriedBytes += descriptor.bytes;
    m_counters.dataPackets += descriptor.kind == PacketDescriptor::Kind::DATA ? 1 : 0;
    Append(m_underWay, packet);
    if (!m_isPending)
    {
        ScheduleNext();
    }
}

bool
PacketPort::HasWork() const
{
    return m_acks.head != PACKET_NONE || m_data.head != PACKET_NONE || m_offeredCount > 0;
}

void
PacketPort::ScheduleNext()
{
    int64_t next = m_freeAt;
    if (m_underWay.head != PACKET_NONE)
    {
        next = m_context.packets[m_underWay.head].arrival;
    }
    else if (!HasWork())
    {
        return;
    }
    m_isPending = true;
    const int64_t delay = next - Simulator::Now().GetTimeStep();
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(delay)), Ptr<EventImpl>(this));
}

void
PacketPort::Notify()
{
    const int64_t now = Simulator::Now().GetTimeStep();
    uint32_t packet = PACKET_NONE;
    if (m_underWay.head != PACKET_NONE && m_context.packets[m_underWay.head].arrival == now)
    {
        packet = TakeFirst(m_underWay);
    }
    m_isPending = false;
    Advance(now);
    if (!m_isPending)
    {
        ScheduleNext();
    }
    if (packet != PACKET_NONE)
    {
        m_to.Receive(packet);
    }
}

} // namespace ns3
