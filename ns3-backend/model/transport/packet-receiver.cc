// SPDX-License-Identifier: GPL-2.0-only
#include "packet-receiver.h"

#include <algorithm>
#include <limits>

namespace ns3
{

namespace
{

using Kind = PacketDescriptor::Kind;

} // namespace

PacketReceiver::PacketReceiver(PacketTransportCore& core)
    : m_core(core),
      m_parameters(core.parameters),
      m_early(core.parameters.KeepsEarly() ? core.parameters.GetWindowPackets() : 1)
{
}

void
PacketReceiver::Take(PacketDescriptor& packet)
{
    const uint32_t index = packet.queuePair;
    PacketQueuePair& pair = m_core.pairs[index];
    const uint64_t before = pair.expected;
    const bool isMarked = packet.Is(PacketDescriptor::MARKED);
    const Arrival arrival = Accept(pair, packet);
    const bool isNew = arrival == Arrival::IN_ORDER || arrival == Arrival::EARLY;
    pair.marked += isMarked && isNew ? 1 : 0;
    if (isNew)
    {
        m_core.traces.m_received(
            pair.destination, packet.bytes - m_parameters.header, PacketTransportCore::Now());
    }
    const bool endsMessage = arrival == Arrival::IN_ORDER && pair.expected >= pair.receivingEnd;
    if (m_parameters.IsPulled())
    {
        m_core.congestion->Arrived(index, pair, packet.Is(PacketDescriptor::TRIMMED));
        Reply(index, packet, arrival == Arrival::MISSED ? Kind::NACK : Kind::ACK);
    }
    else if (arrival == Arrival::REPEATED)
    {
        Reply(index, packet, Kind::ACK); // sent again: an acknowledgement was late
    }
    else if (arrival != Arrival::IN_ORDER)
    {
        TakeEarly(index, packet);
    }
    // A packet that closes a gap is answered for those that came early and asked without effect.
    else if (packet.Is(PacketDescriptor::ASKS) || endsMessage || pair.expected > before + 1)
    {
        Reply(index, packet, Kind::ACK);
    }
    if (isMarked && m_core.congestion->Marked(index, PacketTransportCore::Now()))
    {
        const uint32_t notification =
            m_core.MakePacket(index, false, Kind::CNP, m_parameters.ackSize, PacketTransportCore::Now());
        m_core.fabric.GetNode(pair.destination).Forward(notification);
    }
    if (endsMessage)
    {
        Deliver(index);
    }
}

PacketReceiver::Arrival
PacketReceiver::Accept(PacketQueuePair& pair, const PacketDescriptor& packet)
{
    if (packet.sequence < pair.expected)
    {
        return Arrival::REPEATED;
    }
    if (packet.Is(PacketDescriptor::TRIMMED))
    {
        return Arrival::MISSED;
    }
    if (packet.sequence > pair.expected)
    {
        if (!m_parameters.KeepsEarly())
        {
            return Arrival::MISSED;
        }
        if (pair.early == PACKET_NONE)
        {
            pair.early = m_early.Allocate();
        }
        return m_early.Add(pair.early, packet.sequence) ? Arrival::EARLY : Arrival::REPEATED;
    }
    ++pair.expected;
    pair.hasAsked = false;
    if (pair.early != PACKET_NONE)
    {
        while (m_early.Remove(pair.early, pair.expected))
        {
            ++pair.expected;
        }
        if (m_early.GetCount(pair.early) == 0)
        {
            m_early.Free(pair.early);
            pair.early = PACKET_NONE;
        }
    }
    return Arrival::IN_ORDER;
}

void
PacketReceiver::TakeEarly(uint32_t index, PacketDescriptor& packet)
{
    PacketQueuePair& pair = m_core.pairs[index];
    if (m_parameters.recovery == PacketRecovery::SELECTIVE)
    {
        Reply(index, packet, Kind::NACK);
        return;
    }
    if (m_parameters.isReordered && !packet.Is(PacketDescriptor::TRIMMED))
    {
        // The missing packet may still be on its way.
        if (packet.Is(PacketDescriptor::ASKS))
        {
            Reply(index, packet, Kind::ACK);
        }
        return;
    }
    if (!pair.hasAsked)
    {
        pair.hasAsked = true;
        Reply(index, packet, Kind::NACK);
    }
}

void
PacketReceiver::Deliver(uint32_t index)
{
    PacketQueuePair& pair = m_core.pairs[index];
    while (pair.receiving != PACKET_NONE && pair.expected >= pair.receivingEnd)
    {
        const PacketMessageRecord& record = m_core.messages[pair.receiving];
        const PacketMessage message{
            pair.source, pair.destination, record.bytes, record.owner, record.token, pair.priority};
        const int64_t sent = record.sent;
        pair.receiving = record.next;
        if (pair.receiving != PACKET_NONE)
        {
            pair.receivingEnd = m_core.messages[pair.receiving].end;
        }
        --m_core.outstanding;
        ++m_core.counters.messages;
        m_core.counters.bytes += message.bytes;
        m_core.traces.m_delivered(message,
                                  TimeStep(static_cast<uint64_t>(PacketTransportCore::Now() - sent)));
        if (m_core.client != nullptr)
        {
            m_core.client->Delivered(message);
        }
    }
}

void
PacketReceiver::Reply(uint32_t index, PacketDescriptor& cause, Kind kind)
{
    PacketQueuePair& pair = m_core.pairs[index];
    const uint32_t packet =
        m_core.MakePacket(index, false, kind, m_parameters.ackSize, PacketTransportCore::Now());
    PacketDescriptor& descriptor = m_core.context.packets[packet];
    descriptor.sequence = pair.expected;
    descriptor.subject =
        m_parameters.rttEstimation ? cause.subject : static_cast<uint32_t>(cause.sequence - pair.expected);
    if (m_parameters.IsPulled())
    {
        descriptor.marks = m_core.congestion->GetNote(index);
    }
    else
    {
        descriptor.marks =
            static_cast<uint16_t>(std::min<uint32_t>(pair.marked, std::numeric_limits<uint16_t>::max()));
        pair.marked -= descriptor.marks;
    }
    descriptor.flags = static_cast<uint8_t>(cause.flags & PacketDescriptor::TRIMMED);
    descriptor.telemetry = cause.telemetry;
    cause.telemetry = PACKET_NONE;
    m_core.fabric.GetNode(pair.destination).Forward(packet);
}

} // namespace ns3
