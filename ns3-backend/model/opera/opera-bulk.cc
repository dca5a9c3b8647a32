// SPDX-License-Identifier: GPL-2.0-only
#include "opera-bulk.h"

#include "ns3/packet-port.h"

#include "ns3/assert.h"

#include <algorithm>

namespace ns3
{

OperaBulk::OperaBulk(const OperaLayout& layout,
                     const OperaSchedule& schedule,
                     PacketFabric& fabric,
                     OperaBulkPolicy& policy,
                     const Parameters& parameters,
                     PacketTransportClient* client)
    : OperaBulkSlots(layout, schedule),
      m_context(fabric.GetContext()),
      m_policy(policy),
      m_parameters(parameters),
      m_client(client)
{
    for (uint32_t host = 0; host < layout.GetHosts(); ++host)
    {
        PacketPort& port = fabric.GetPort(layout.GetHostPort(host));
        const int64_t packetTime = Serialize(parameters.payload + parameters.header, port.GetBitsPerSecond());
        m_hosts.emplace_back(layout.GetTransmissionSlots(), packetTime, schedule.GetBulkSlot());
        m_hosts.back().port = &port;
    }
}

int64_t
OperaBulk::Serialize(uint64_t bytes, uint64_t bitsPerSecond)
{
    constexpr uint64_t BIT_PICOSECONDS = 8'000'000'000'000; // in a byte, at 1 bit/s
    const auto product = static_cast<unsigned __int128>(bytes) * BIT_PICOSECONDS;
    return static_cast<int64_t>((product + bitsPerSecond - 1) / bitsPerSecond);
}

uint32_t
OperaBulk::GetSlotPackets(const OperaLayout& layout,
                          const OperaSchedule& schedule,
                          uint64_t bitsPerSecond,
                          uint32_t packetBytes)
{
    const int64_t round = layout.GetTransmissionSlots() * Serialize(packetBytes, bitsPerSecond);
    return static_cast<uint32_t>(schedule.GetBulkSlot() / round);
}

uint64_t
OperaBulk::PacketsOf(uint64_t bytes) const
{
    return std::max<uint64_t>(1, bytes / m_parameters.payload + (bytes % m_parameters.payload != 0 ? 1 : 0));
}

uint32_t
OperaBulk::FindPair(uint32_t source, uint32_t destination)
{
    std::vector<uint32_t>& pairs = m_hosts[source].pairs;
    if (pairs.empty())
    {
        pairs.resize(m_hosts.size(), 0);
    }
    uint32_t& number = pairs[destination];
    if (number == 0)
    {
        Pair pair;
        pair.source = source;
        pair.destination = destination;
        m_pairs.push_back(pair);
        number = static_cast<uint32_t>(m_pairs.size());
    }
    return number - 1;
}

void
OperaBulk::Send(const PacketMessage& message)
{
    NS_ASSERT_MSG(message.source != message.destination, "a message leaves its host");
    const uint32_t index = FindPair(message.source, message.destination);
    const uint32_t number = m_messages.Allocate();
    const uint64_t packets = PacketsOf(message.bytes);
    m_messages[number] = {
        message.bytes, message.owner, message.token, m_order++, Now(), packets, packets, index, PACKET_NONE};
    Pair& pair = m_pairs[index];
    if (pair.oldest == PACKET_NONE)
    {
        pair.oldest = number;
    }
    else
    {
        m_messages[pair.newest].next = number;
    }
    pair.newest = number;
    if (pair.sending == PACKET_NONE)
    {
        pair.sending = number;
    }
    Wait(message.source, message.destination, packets, false);
}

uint32_t
OperaBulk::TakeOwn(uint32_t host, uint32_t destination)
{
    Pair& pair = m_pairs[FindPair(host, destination)];
    while (m_messages[pair.sending].toSend == 0)
    {
        pair.sending = m_messages[pair.sending].next;
        NS_ASSERT_MSG(pair.sending != PACKET_NONE, "what is granted waits");
    }
    Message& message = m_messages[pair.sending];
    const uint32_t packet = m_context.packets.Allocate();
    PacketDescriptor& descriptor = m_context.packets[packet];
    descriptor.bytes = static_cast<uint32_t>(m_parameters.payload) + m_parameters.header;
    descriptor.source = host;
    descriptor.destination = destination;
    descriptor.queuePair = pair.sending;
    descriptor.sequence = PacketsOf(message.bytes) - message.toSend--;
    descriptor.telemetry = PACKET_NONE;
    descriptor.flags = PacketDescriptor::BULK;
    descriptor.priority = 0;
    descriptor.kind = PacketDescriptor::Kind::DATA;
    return packet;
}

uint64_t
OperaBulk::BytesOfLast(uint64_t bytes) const
{
    return bytes - (PacketsOf(bytes) - 1) * m_parameters.payload;
}

uint32_t
OperaBulk::GetPayload(const PacketDescriptor& packet) const
{
    const uint64_t bytes = m_messages[packet.queuePair].bytes;
    return static_cast<uint32_t>(packet.sequence + 1 == PacketsOf(bytes) ? BytesOfLast(bytes)
                                                                         : m_parameters.payload);
}

void
OperaBulk::Take(uint32_t packet)
{
    const uint32_t number = m_context.packets[packet].queuePair;
    // One that was returned left again under the number of another: the last to arrive is the short one.
    Message& message = m_messages[number];
    traces.received(
        m_pairs[message.pair].destination,
        static_cast<uint32_t>(message.toArrive == 1 ? BytesOfLast(message.bytes) : m_parameters.payload),
        Now());
    m_context.Discard(packet);
    EndFlight();
    if (--message.toArrive == 0 && m_pairs[message.pair].oldest == number)
    {
        Deliver(message.pair);
    }
}

void
OperaBulk::Relay(uint32_t packet)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    std::vector<PacketList>& relayed = m_hosts[descriptor.heading].relayed;
    if (relayed.empty())
    {
        relayed.resize(m_hosts.size());
    }
    relayed[descriptor.destination].Append(m_context.packets, packet);
    EndFlight();
    Wait(descriptor.heading, descriptor.destination, 1, true);
}

void
OperaBulk::TakeBack(uint32_t packet)
{
    const PacketDescriptor& descriptor = m_context.packets[packet];
    const uint32_t host = descriptor.sender;
    const uint32_t destination = descriptor.destination;
    const bool isRelayed = host != descriptor.source;
    ++m_counters.returned;
    EndFlight();
    traces.returned(host, descriptor, Now());
    if (isRelayed)
    {
        m_hosts[host].relayed[destination].Prepend(m_context.packets, packet);
    }
    else
    {
        const uint32_t number = descriptor.queuePair;
        Message& message = m_messages[number];
        Pair& pair = m_pairs[message.pair];
        ++message.toSend;
        if (message.order < m_messages[pair.sending].order)
        {
            pair.sending = number;
        }
        m_context.Discard(packet);
    }
    Wait(host, destination, 1, isRelayed);
}

void
OperaBulk::Deliver(uint32_t index)
{
    while (m_pairs[index].oldest != PACKET_NONE && m_messages[m_pairs[index].oldest].toArrive == 0)
    {
        Pair& pair = m_pairs[index];
        const uint32_t number = pair.oldest;
        const Message& done = m_messages[number];
        const PacketMessage message{pair.source, pair.destination, done.bytes, done.owner, done.token, 0};
        const int64_t took = Now() - done.sent;
        pair.oldest = done.next;
        if (pair.sending == number)
        {
            pair.sending = done.next;
        }
        m_messages.Free(number);
        ++m_counters.messages;
        m_counters.bytes += message.bytes;
        traces.delivered(message, TimeStep(static_cast<uint64_t>(took)));
        if (m_client != nullptr)
        {
            m_client->Delivered(message);
        }
    }
}

std::vector<OperaBulk::Outstanding>
OperaBulk::GetOutstanding() const
{
    std::vector<Outstanding> outstanding;
    for (const Pair& pair : m_pairs)
    {
        for (uint32_t number = pair.oldest; number != PACKET_NONE; number = m_messages[number].next)
        {
            const Message& message = m_messages[number];
            const uint64_t arrived = PacketsOf(message.bytes) - message.toArrive;
            outstanding.push_back(
                {{pair.source, pair.destination, message.bytes, message.owner, message.token, 0},
                 message.order,
                 message.bytes - std::min(message.bytes, arrived * m_parameters.payload)});
        }
    }
    std::sort(outstanding.begin(), outstanding.end(), [](const Outstanding& a, const Outstanding& b) {
        return a.order < b.order;
    });
    return outstanding;
}

} // namespace ns3
