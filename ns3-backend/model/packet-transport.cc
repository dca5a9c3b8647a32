// SPDX-License-Identifier: GPL-2.0-only
#include "packet-transport.h"

#include "ns3/assert.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

namespace
{

constexpr int64_t MOST_BACKOFF = 64;

/// Two numbers in one.
uint64_t
KeyOf(uint32_t high, uint32_t low)
{
    return uint64_t{high} << 32 | low;
}

} // namespace

PacketTransport::PacketTransport(const PacketTransportParameters& parameters,
                                 PacketFabric& fabric,
                                 PacketRouter& router,
                                 PacketTransportClient& client)
    : m_parameters(parameters),
      m_fabric(fabric),
      m_context(fabric.GetContext()),
      m_router(router),
      m_client(client),
      m_windowPackets(std::max<uint64_t>(1, parameters.window / parameters.mtu))
{
    NS_ASSERT_MSG(parameters.mtu > 0 && parameters.ackEvery > 0 && parameters.timeout > 0,
                  "packets carry something and are acknowledged some time");
}

uint32_t
PacketTransport::Find(uint32_t source, uint32_t destination, uint8_t priority)
{
    const auto [entry, isNew] = m_pairOf.try_emplace(KeyOf(source << 3 | priority, destination), 0);
    if (isNew)
    {
        if (m_freePairs.empty())
        {
            m_freePairs.push_back(static_cast<uint32_t>(m_pairs.size()));
            m_pairs.emplace_back();
        }
        entry->second = m_freePairs.back();
        m_freePairs.pop_back();
        QueuePair& pair = m_pairs[entry->second];
        const uint32_t incarnation = pair.incarnation;
        std::vector<bool> early = std::move(pair.early);
        pair = QueuePair();
        pair.incarnation = incarnation;
        pair.early = std::move(early);
        pair.source = source;
        pair.destination = destination;
        pair.priority = priority;
        pair.timeout = m_parameters.timeout;
        const bool adapts = m_parameters.congestionControl == PacketCongestionControl::DCTCP;
        pair.window = static_cast<double>(
            adapts ? std::min<uint64_t>(m_parameters.initialWindow, m_windowPackets) : m_windowPackets);
        pair.threshold = std::numeric_limits<double>::max();
        if (m_parameters.isReordered)
        {
            pair.early.assign(m_windowPackets, false);
        }
    }
    return entry->second;
}

void
PacketTransport::Release(uint32_t index)
{
    QueuePair& pair = m_pairs[index];
    m_pairOf.erase(KeyOf(pair.source << 3 | pair.priority, pair.destination));
    ++pair.incarnation;
    m_freePairs.push_back(index);
}

PacketTransport::Message&
PacketTransport::AddMessage(uint32_t& number)
{
    if (m_freeMessage == PACKET_NONE)
    {
        number = static_cast<uint32_t>(m_messages.size());
        m_messages.emplace_back();
    }
    else
    {
        number = m_freeMessage;
        m_freeMessage = m_messages[number].next;
    }
    return m_messages[number];
}

void
PacketTransport::RemoveMessage(uint32_t number)
{
    m_messages[number].next = m_freeMessage;
    m_freeMessage = number;
}

void
PacketTransport::Send(const PacketMessage& message)
{
    const uint32_t index = Find(message.source, message.destination, message.priority);
    uint32_t number = PACKET_NONE;
    Message& own = AddMessage(number);
    QueuePair& pair = m_pairs[index];
    own.message = message;
    own.order = m_nextOrder++;
    own.first = pair.end;
    own.packets = std::max<uint64_t>(1, (message.bytes + m_parameters.mtu - 1) / m_parameters.mtu);
    own.next = PACKET_NONE;
    pair.end += own.packets;
    if (pair.oldest == PACKET_NONE)
    {
        pair.oldest = number;
    }
    else
    {
        m_messages[pair.newest].next = number;
    }
    pair.newest = number;
    pair.sending = pair.sending == PACKET_NONE ? number : pair.sending;
    pair.receiving = pair.receiving == PACKET_NONE ? number : pair.receiving;
    ++m_outstanding;
    Offer(index);
}

bool
PacketTransport::CanSend(const QueuePair& pair) const
{
    const uint64_t underWay = pair.next - pair.acknowledged;
    return pair.next < pair.end && underWay < m_windowPackets && static_cast<double>(underWay) < pair.window;
}

void
PacketTransport::Open(QueuePair& pair, uint64_t acknowledged, uint64_t marked) const
{
    if (m_parameters.congestionControl == PacketCongestionControl::NONE)
    {
        return;
    }
    if (marked > 0)
    {
        pair.threshold = std::min(pair.threshold, pair.window);
    }
    const auto arrived = static_cast<double>(acknowledged);
    pair.window += pair.window < pair.threshold ? arrived : arrived / pair.window;
    pair.window = std::min(pair.window, static_cast<double>(m_windowPackets));
    pair.roundAcknowledged += acknowledged;
    pair.roundMarked += marked;
    if (pair.acknowledged < pair.roundEnd)
    {
        return;
    }
    const double share = static_cast<double>(pair.roundMarked) / static_cast<double>(pair.roundAcknowledged);
    pair.alpha += m_parameters.gain * (share - pair.alpha);
    if (pair.roundMarked > 0)
    {
        Close(pair, pair.window * (1 - pair.alpha / 2));
    }
    pair.roundEnd = pair.next;
    pair.roundAcknowledged = 0;
    pair.roundMarked = 0;
}

void
PacketTransport::Close(QueuePair& pair, double window) const
{
    if (m_parameters.congestionControl != PacketCongestionControl::NONE)
    {
        pair.window = std::max(1.0, window);
        pair.threshold = pair.window;
    }
}

void
PacketTransport::Offer(uint32_t index)
{
    QueuePair& pair = m_pairs[index];
    if (pair.isOffered || !CanSend(pair))
    {
        return;
    }
    PacketDescriptor first{};
    first.source = pair.source;
    first.destination = pair.destination;
    first.queuePair = index;
    first.sequence = pair.next;
    first.kind = PacketDescriptor::Kind::DATA;
    PacketPort* port = m_router.Route(pair.source, first);
    if (port == nullptr)
    {
        return; // nowhere to go: the messages wait for ever
    }
    pair.isOffered = true;
    port->Offer(KeyOf(pair.incarnation, index), pair.priority, Simulator::Now().GetTimeStep());
}

uint32_t
PacketTransport::PayloadOf(const Message& message, uint64_t packet) const
{
    const uint64_t before = (packet - message.first) * m_parameters.mtu;
    return static_cast<uint32_t>(std::min<uint64_t>(m_parameters.mtu, message.message.bytes - before));
}

int64_t
PacketTransport::TakePacket(uint64_t offer, int64_t when, uint32_t& packet)
{
    const auto queuePair = static_cast<uint32_t>(offer);
    QueuePair& pair = m_pairs[queuePair];
    if (pair.incarnation != offer >> 32)
    {
        return NEVER;
    }
    if (!CanSend(pair))
    {
        pair.isOffered = false; // acknowledged since it was sent again
        return NEVER;
    }
    const uint64_t sequence = pair.next++;
    while (sequence >= m_messages[pair.sending].first + m_messages[pair.sending].packets)
    {
        pair.sending = m_messages[pair.sending].next;
    }
    packet = m_context.packets.Allocate();
    PacketDescriptor& descriptor = m_context.packets[packet];
    descriptor.bytes = m_parameters.header + PayloadOf(m_messages[pair.sending], sequence);
    descriptor.source = pair.source;
    descriptor.destination = pair.destination;
    descriptor.queuePair = queuePair;
    descriptor.incarnation = pair.incarnation;
    descriptor.sequence = sequence;
    descriptor.arrival = when;
    descriptor.tail = when;
    descriptor.telemetry = PACKET_NONE;
    descriptor.ingress = PACKET_NONE;
    descriptor.subject = 0;
    descriptor.marks = 0;
    descriptor.kind = PacketDescriptor::Kind::DATA;
    descriptor.priority = pair.priority & 7;
    const Message& message = m_messages[pair.sending];
    // Half a window at most goes unasked: a window that is halved still lets the sender go on.
    const auto unasked = static_cast<double>(pair.next - pair.asked);
    const bool asks = sequence + 1 == message.first + message.packets || !CanSend(pair) ||
                      unasked >= std::min<double>(m_parameters.ackEvery, std::max(1.0, pair.window / 2));
    descriptor.flags = asks ? PacketDescriptor::ASKS : 0;
    pair.asked = asks ? pair.next : pair.asked;
    ++m_counters.packets;
    if (sequence < pair.sent)
    {
        ++m_counters.retransmissions;
    }
    pair.sent = std::max(pair.sent, sequence + 1);
    if (m_parameters.isLossy)
    {
        StartTimer(queuePair, when);
    }
    pair.isOffered = CanSend(pair);
    return pair.isOffered ? when : NEVER;
}

void
PacketTransport::Take(uint32_t packet)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    if (descriptor.incarnation == m_pairs[descriptor.queuePair].incarnation)
    {
        if (descriptor.kind == PacketDescriptor::Kind::DATA)
        {
            TakeData(packet);
        }
        else
        {
            TakeAcknowledgement(packet);
        }
    }
    m_context.Discard(packet);
}

bool
PacketTransport::Accept(QueuePair& pair, const PacketDescriptor& packet)
{
    if (packet.sequence > pair.expected && m_parameters.isReordered)
    {
        pair.early[packet.sequence % m_windowPackets] = true;
        return true;
    }
    if (packet.sequence != pair.expected)
    {
        return false;
    }
    ++pair.expected;
    pair.hasAsked = false;
    while (m_parameters.isReordered && pair.early[pair.expected % m_windowPackets])
    {
        pair.early[pair.expected % m_windowPackets] = false;
        ++pair.expected;
    }
    return true;
}

void
PacketTransport::TakeData(uint32_t packet)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    const uint32_t index = descriptor.queuePair;
    QueuePair& pair = m_pairs[index];
    const uint64_t before = pair.expected;
    if (!Accept(pair, descriptor))
    {
        if (descriptor.sequence < pair.expected)
        {
            Reply(pair, index, PacketDescriptor::Kind::ACK); // sent again: an acknowledgement was late
        }
        else if (!pair.hasAsked)
        {
            pair.hasAsked = true;
            Reply(pair, index, PacketDescriptor::Kind::NACK);
        }
        return;
    }
    const Message& receiving = m_messages[pair.receiving];
    const bool endsMessage = pair.expected >= receiving.first + receiving.packets;
    pair.echo += descriptor.Is(PacketDescriptor::MARKED) ? 1 : 0;
    // A packet that closes a gap speaks for those that came early and asked in vain.
    if (descriptor.Is(PacketDescriptor::ASKS) || endsMessage || pair.expected > before + 1)
    {
        Reply(pair, index, PacketDescriptor::Kind::ACK);
    }
    if (endsMessage)
    {
        Deliver(index);
    }
}

void
PacketTransport::Deliver(uint32_t index)
{
    // The client may send, which moves queue pairs and messages in memory.
    for (;;)
    {
        QueuePair& pair = m_pairs[index];
        if (pair.receiving == PACKET_NONE)
        {
            return;
        }
        const Message& received = m_messages[pair.receiving];
        if (pair.expected < received.first + received.packets)
        {
            return;
        }
        const PacketMessage message = received.message;
        pair.receiving = received.next;
        --m_outstanding;
        ++m_counters.messages;
        m_counters.bytes += message.bytes;
        m_client.Delivered(message);
    }
}

void
PacketTransport::Reply(QueuePair& pair, uint32_t index, PacketDescriptor::Kind kind)
{
    const uint32_t packet = m_context.packets.Allocate();
    PacketDescriptor& descriptor = m_context.packets[packet];
    descriptor.bytes = m_parameters.ackSize;
    descriptor.source = pair.destination;
    descriptor.destination = pair.source;
    descriptor.queuePair = index;
    descriptor.incarnation = pair.incarnation;
    descriptor.sequence = pair.expected;
    descriptor.arrival = Simulator::Now().GetTimeStep();
    descriptor.tail = descriptor.arrival;
    descriptor.telemetry = PACKET_NONE;
    descriptor.ingress = PACKET_NONE;
    descriptor.subject = 0;
    descriptor.marks = static_cast<uint16_t>(std::min<uint32_t>(pair.echo, std::numeric_limits<uint16_t>::max()));
    descriptor.kind = kind;
    descriptor.priority = 0;
    descriptor.flags = 0;
    pair.echo = 0;
    m_fabric.GetNode(pair.destination).Forward(packet);
}

void
PacketTransport::TakeAcknowledgement(uint32_t packet)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    const uint32_t index = descriptor.queuePair;
    QueuePair& pair = m_pairs[index];
    if (descriptor.sequence > pair.acknowledged)
    {
        const uint64_t arrived = descriptor.sequence - pair.acknowledged;
        pair.acknowledged = descriptor.sequence;
        pair.next = std::max(pair.next, pair.acknowledged);
        Open(pair, arrived, descriptor.marks);
        pair.timeout = m_parameters.timeout;
        pair.deadline = Simulator::Now().GetTimeStep() + pair.timeout;
        while (pair.oldest != PACKET_NONE &&
               pair.acknowledged >= m_messages[pair.oldest].first + m_messages[pair.oldest].packets)
        {
            const uint32_t done = pair.oldest;
            pair.oldest = m_messages[done].next;
            pair.sending = pair.sending == done ? pair.oldest : pair.sending;
            RemoveMessage(done);
        }
        if (pair.oldest == PACKET_NONE)
        {
            Release(index);
            return;
        }
    }
    if (descriptor.kind == PacketDescriptor::Kind::NACK && descriptor.sequence >= pair.acknowledged)
    {
        Close(pair, pair.window / 2);
        GoBack(pair);
    }
    Offer(index);
}

void
PacketTransport::GoBack(QueuePair& pair)
{
    pair.next = pair.acknowledged;
    pair.asked = pair.acknowledged;
    pair.sending = pair.oldest;
}

void
PacketTransport::StartTimer(uint32_t index, int64_t now)
{
    QueuePair& pair = m_pairs[index];
    if (pair.next - pair.acknowledged == 1)
    {
        pair.deadline = now + pair.timeout; // nothing else was under way
    }
    if (!pair.hasTimer)
    {
        pair.hasTimer = true;
        const int64_t delay = std::max<int64_t>(0, pair.deadline - Simulator::Now().GetTimeStep());
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(delay)),
                            &PacketTransport::CheckTimer,
                            this,
                            index,
                            pair.incarnation);
    }
}

void
PacketTransport::CheckTimer(uint32_t index, uint32_t incarnation)
{
    QueuePair& pair = m_pairs[index];
    if (pair.incarnation != incarnation)
    {
        return;
    }
    const int64_t now = Simulator::Now().GetTimeStep();
    pair.hasTimer = false;
    if (pair.next == pair.acknowledged)
    {
        return; // nothing under way: the next packet starts the timer
    }
    if (pair.deadline <= now)
    {
        ++m_counters.timeouts;
        pair.timeout = std::min(2 * pair.timeout, MOST_BACKOFF * m_parameters.timeout);
        Close(pair, 1);
        GoBack(pair);
        Offer(index);
        return;
    }
    pair.hasTimer = true;
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(pair.deadline - now)),
                        &PacketTransport::CheckTimer,
                        this,
                        index,
                        incarnation);
}

uint64_t
PacketTransport::GetOutstandingCount() const
{
    return m_outstanding;
}

std::vector<PacketTransport::Outstanding>
PacketTransport::GetOutstanding() const
{
    std::vector<Outstanding> outstanding;
    for (const auto& [key, index] : m_pairOf)
    {
        const QueuePair& pair = m_pairs[index];
        for (uint32_t number = pair.receiving; number != PACKET_NONE; number = m_messages[number].next)
        {
            const Message& message = m_messages[number];
            const uint64_t arrived = pair.expected > message.first ? pair.expected - message.first : 0;
            outstanding.push_back({message.message,
                                   message.order,
                                   message.message.bytes - arrived * m_parameters.mtu});
        }
    }
    std::sort(outstanding.begin(), outstanding.end(), [](const Outstanding& a, const Outstanding& b) {
        return a.order < b.order;
    });
    return outstanding;
}

const PacketTransport::Counters&
PacketTransport::GetCounters() const
{
    return m_counters;
}

uint64_t
PacketTransport::GetQueuePairCount() const
{
    return m_pairOf.size();
}

} // namespace ns3
