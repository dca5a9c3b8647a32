// SPDX-License-Identifier: GPL-2.0-only
#include "packet-sender.h"

#include <algorithm>

namespace ns3
{

namespace
{

using Kind = PacketDescriptor::Kind;

uint64_t
PacketsOf(uint64_t bytes, uint32_t mtu)
{
    return std::max<uint64_t>(1, (bytes + mtu - 1) / mtu);
}

} // namespace

PacketSender::PacketSender(PacketTransportCore& core)
    : m_core(core),
      m_parameters(core.parameters),
      m_usesTelemetry(m_parameters.congestionControl->Has(PacketControlKind::USES_TELEMETRY)),
      m_scoreboards(core.parameters.GetWindowPackets())
{
}

uint32_t
PacketSender::Open(const PacketMessage& message)
{
    const uint32_t index = m_core.pairs.Allocate();
    PacketQueuePair& pair = m_core.pairs[index];
    const uint32_t incarnation = pair.incarnation;
    pair = PacketQueuePair();
    pair.incarnation = incarnation;
    pair.source = message.source;
    pair.destination = message.destination;
    pair.priority = message.priority;
    ++m_pairCount;
    m_pairEnd = std::max(m_pairEnd, index + 1);
    if (m_parameters.rttEstimation)
    {
        m_rtt.resize(std::max<std::size_t>(m_rtt.size(), m_pairEnd));
        m_rtt[index] = PacketRtt();
    }
    m_core.congestion->Start(index, pair, GetLinkRates(index));
    if (m_parameters.handshake)
    {
        pair.end = 1;
        pair.allowed = 1;
    }
    return index;
}

PacketLinkRates
PacketSender::GetLinkRates(uint32_t index) const
{
    if (!m_parameters.congestionControl->Has(PacketControlKind::USES_RATES))
    {
        return {0, 0};
    }
    const PacketQueuePair& pair = m_core.pairs[index];
    const auto rateOf = [&](uint32_t source, uint32_t destination) -> uint64_t {
        PacketDescriptor first{};
        first.source = source;
        first.destination = destination;
        first.queuePair = index;
        first.incarnation = pair.incarnation;
        first.arrival = PacketTransportCore::Now();
        const PacketPort* port = m_core.router.Route(source, first);
        return port == nullptr ? 1 : port->GetBitsPerSecond(); // a pair without a path never sends
    };
    const uint64_t out = rateOf(pair.source, pair.destination);
    return {out, rateOf(pair.destination, pair.source)};
}

void
PacketSender::Release(uint32_t index)
{
    PacketQueuePair& pair = m_core.pairs[index];
    if (m_parameters.connections == PacketConnections::PER_PAIR)
    {
        m_table.Erase(PacketPairTable::KeyOf(pair.source, pair.destination, pair.priority));
    }
    m_core.congestion->End(index);
    ++pair.incarnation;
    --m_pairCount;
    m_core.pairs.Free(index);
}

void
PacketSender::Send(const PacketMessage& message)
{
    uint32_t index = PACKET_NONE;
    if (m_parameters.connections == PacketConnections::PER_MESSAGE)
    {
        index = Open(message);
    }
    else
    {
        const uint64_t key = PacketPairTable::KeyOf(message.source, message.destination, message.priority);
        index = m_table.Find(key);
        if (index == PACKET_NONE)
        {
            index = Open(message);
            m_table.Insert(key, index);
        }
    }
    PacketQueuePair& pair = m_core.pairs[index];
    Settle(pair);
    if (!pair.hasLost && pair.nextPacket == pair.end)
    {
        m_core.congestion->Resume(index, pair);
    }
    const uint32_t number = m_core.messages.Allocate();
    PacketMessageRecord& own = m_core.messages[number];
    own.bytes = message.bytes;
    own.owner = message.owner;
    own.token = message.token;
    own.order = m_nextOrder++;
    own.sent = PacketTransportCore::Now();
    own.next = PACKET_NONE;
    pair.end += PacketsOf(message.bytes, m_parameters.mtu);
    own.end = pair.end;
    if (pair.oldest == PACKET_NONE)
    {
        pair.oldest = number;
    }
    else
    {
        m_core.messages[pair.newest].next = number;
    }
    pair.newest = number;
    if (pair.sending == PACKET_NONE)
    {
        pair.sending = number;
        pair.messageEnd = own.end;
    }
    if (pair.receiving == PACKET_NONE)
    {
        pair.receiving = number;
        pair.receivingEnd = own.end;
    }
    ++m_core.outstanding;
    m_core.traces.m_sent(message);
    GoOn(index);
}

void
PacketSender::Settle(const PacketQueuePair& pair) const
{
    if (pair.isOffered)
    {
        m_core.fabric.GetNode(pair.source).Settle(PacketTransportCore::Now());
    }
}

bool
PacketSender::HasWindow(const PacketQueuePair& pair) const
{
    return pair.holds == 0 && pair.nextPacket < pair.end &&
           pair.nextPacket - pair.acknowledged < pair.allowed;
}

bool
PacketSender::CanSend(const PacketQueuePair& pair) const
{
    if (pair.holds != 0)
    {
        return false;
    }
    if (pair.hasLost)
    {
        return m_scoreboards.GetFirstLost(pair) - pair.acknowledged < pair.allowed;
    }
    // A window that shrank below what is in flight, of which nothing asks for an answer, allows one more
    // packet that does ask: without it no answer would ever come.
    const bool isUnanswered = pair.unasked > 0 && pair.unasked == pair.nextPacket - pair.acknowledged;
    return HasWindow(pair) || (isUnanswered && pair.nextPacket < pair.end);
}

void
PacketSender::GoOn(uint32_t index)
{
    PacketQueuePair& pair = m_core.pairs[index];
    if (pair.isOffered || !CanSend(pair))
    {
        return;
    }
    const int64_t now = PacketTransportCore::Now();
    if (m_parameters.hostQueue == PacketHostQueue::FIFO)
    {
        while (CanSend(pair))
        {
            m_core.fabric.GetNode(pair.source).Forward(Make(index, now));
        }
        return;
    }
    PacketDescriptor first{};
    first.source = pair.source;
    first.destination = pair.destination;
    first.queuePair = index;
    first.incarnation = pair.incarnation;
    first.sequence = pair.nextPacket;
    first.priority = pair.priority & 7;
    first.kind = Kind::DATA;
    first.arrival = now;
    PacketPort* port = m_core.router.Route(pair.source, first);
    if (port == nullptr)
    {
        return; // nowhere to go: the messages wait for ever
    }
    pair.isOffered = true;
    port->Offer(uint64_t{pair.incarnation} << 32 | index,
                pair.priority,
                std::max(now, m_core.congestion->GetReadyTime(index)));
}

void
PacketSender::NoteRoutes()
{
    m_core.fabric.ForgetRoutes();
    std::vector<uint64_t> offers;
    for (uint32_t node = 0; node < m_core.fabric.GetNodeCount(); ++node)
    {
        const std::vector<PacketPort*>& ports = m_core.fabric.GetNode(node).GetPorts();
        if (ports.size() < 2)
        {
            continue;
        }
        for (PacketPort* port : ports)
        {
            const std::vector<uint64_t> withdrawn = port->WithdrawOffers();
            offers.insert(offers.end(), withdrawn.begin(), withdrawn.end());
        }
    }
    for (const uint64_t offer : offers)
    {
        const auto index = static_cast<uint32_t>(offer);
        if (m_core.pairs[index].incarnation == offer >> 32)
        {
            m_core.pairs[index].isOffered = false;
            GoOn(index);
        }
    }
}

uint32_t
PacketSender::PayloadOf(const PacketQueuePair& pair, uint32_t message, uint64_t packet) const
{
    const PacketMessageRecord& record = m_core.messages[message];
    if (packet + 1 < record.end)
    {
        return m_parameters.handshake && packet == 0 ? 0 : m_parameters.mtu;
    }
    NS_ASSERT_MSG(packet < pair.end, "a packet is of a message");
    return static_cast<uint32_t>(record.bytes -
                                 (PacketsOf(record.bytes, m_parameters.mtu) - 1) * m_parameters.mtu);
}

uint32_t
PacketSender::Make(uint32_t index, int64_t when)
{
    PacketQueuePair& pair = m_core.pairs[index];
    const uint32_t packet = m_core.MakePacket(index, true, Kind::DATA, m_parameters.header, when);
    PacketDescriptor& descriptor = m_core.context.packets[packet];
    bool isAgain = pair.hasLost;
    bool asks = true;
    if (pair.hasLost)
    {
        descriptor.sequence = m_scoreboards.TakeFirstLost(pair);
        uint32_t message = pair.oldest;
        while (descriptor.sequence >= m_core.messages[message].end)
        {
            message = m_core.messages[message].next;
        }
        descriptor.bytes += PayloadOf(pair, message, descriptor.sequence);
    }
    else
    {
        descriptor.sequence = pair.nextPacket++;
        while (descriptor.sequence >= pair.messageEnd)
        {
            pair.sending = m_core.messages[pair.sending].next;
            pair.messageEnd = m_core.messages[pair.sending].end;
        }
        const bool isLast = descriptor.sequence + 1 == pair.messageEnd;
        const bool isPlain = !isLast && descriptor.sequence > 0;
        descriptor.bytes += isPlain ? m_parameters.mtu : PayloadOf(pair, pair.sending, descriptor.sequence);
        isAgain = pair.again > 0;
        pair.again -= isAgain ? 1 : 0;
        ++pair.unasked;
        asks = isLast || !HasWindow(pair) || pair.unasked >= pair.askAfter;
    }
    if (asks)
    {
        pair.unasked = 0;
        descriptor.flags |= PacketDescriptor::ASKS;
        if (m_usesTelemetry)
        {
            descriptor.telemetry = m_core.context.telemetry.Allocate();
            m_core.context.telemetry[descriptor.telemetry].hops = 0;
        }
    }
    ++m_core.counters.packets;
    if (isAgain)
    {
        descriptor.flags |= PacketDescriptor::AGAIN;
        ++m_core.counters.retransmissions;
        m_core.traces.m_retransmission(pair.source, pair.destination, descriptor.sequence);
    }
    if (m_parameters.rttEstimation)
    {
        descriptor.subject = PacketRtt::StampOf(when);
    }
    if (m_core.hasTimers)
    {
        if (descriptor.sequence == pair.acknowledged)
        {
            pair.deadline = when + GetTimeout(index);
        }
        StartTimer(index);
    }
    return packet;
}

int64_t
PacketSender::TakePacket(uint64_t offer, int64_t when, uint32_t& packet)
{
    const auto index = static_cast<uint32_t>(offer);
    PacketQueuePair& pair = m_core.pairs[index];
    if (pair.incarnation != offer >> 32)
    {
        return PacketSource::NEVER;
    }
    if (!CanSend(pair))
    {
        pair.isOffered = false; // acknowledged since it was sent again
        return PacketSource::NEVER;
    }
    packet = Make(index, when);
    const uint32_t bytes = m_core.context.packets[packet].bytes;
    const int64_t ready = m_core.congestion->Sent(index, pair, bytes, when);
    pair.isOffered = CanSend(pair);
    return pair.isOffered ? ready : PacketSource::NEVER;
}

} // namespace ns3
