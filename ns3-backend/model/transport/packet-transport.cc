// SPDX-License-Identifier: GPL-2.0-only
#include "packet-transport.h"

#include "packet-receiver.h"
#include "packet-sender.h"

#include "ns3/assert.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(PacketTransport);

TypeId
PacketTransport::GetTypeId()
{
    static TypeId tid = [] {
        TypeId made("ns3::PacketTransport");
        made.SetParent<Object>().SetGroupName("Astrolabe").AddConstructor<PacketTransport>();
        AddAttributes(made);
        AddTraceSources(made);
        return made;
    }();
    return tid;
}

PacketTransport::PacketTransport() = default;
PacketTransport::~PacketTransport() = default;

void
PacketTransport::SetParameters(const PacketTransportParameters& parameters)
{
    static_cast<PacketTransportParameters&>(*this) = parameters;
}

void
PacketTransport::Bind(PacketFabric& fabric, PacketRouter& router, PacketTransportClient* client)
{
    NS_ASSERT_MSG(m_core == nullptr, "a transport is bound once");
    NS_ASSERT_MSG(Time::GetResolution() == Time::PS, "the clock counts picoseconds");
    NS_ASSERT_MSG(hostQueue == PacketHostQueue::ON_DEMAND ||
                      congestionControl->Has(PacketControlKind::IS_WINDOWED),
                  "packets that wait in a host's port have left already for what sends by rate or pull");
    NS_ASSERT_MSG(!rttEstimation || !IsSelective(), "an acknowledgement carries a time or a packet number");
    m_core = std::make_unique<PacketTransportCore>(*this, *this, fabric, router, client);
    m_sender = std::make_unique<PacketSender>(*m_core);
    m_receiver = std::make_unique<PacketReceiver>(*m_core);
}

void
PacketTransport::DoDispose()
{
    m_receiver.reset();
    m_sender.reset();
    m_core.reset();
    Object::DoDispose();
}

void
PacketTransport::Send(const PacketMessage& message)
{
    m_sender->Send(message);
}

void
PacketTransport::NoteRoutes()
{
    m_sender->NoteRoutes();
}

void
PacketTransport::ExpectLosses()
{
    if (!m_core->hasTimers)
    {
        m_core->hasTimers = true;
        m_sender->StartTimers();
    }
}

int64_t
PacketTransport::TakePacket(uint64_t offer, int64_t when, uint32_t& packet)
{
    return m_sender->TakePacket(offer, when, packet);
}

void
PacketTransport::Fetch(uint64_t offer) const
{
    if (m_core != nullptr)
    {
        m_core->Fetch(static_cast<uint32_t>(offer));
    }
}

void
PacketTransport::FetchMore(uint64_t offer) const
{
    if (m_core != nullptr)
    {
        m_core->FetchMessage(m_core->pairs[static_cast<uint32_t>(offer)].sending);
    }
}

void
PacketTransport::FetchMore(const PacketDescriptor& packet) const
{
    if (m_core != nullptr)
    {
        const PacketQueuePair& pair = m_core->pairs[packet.queuePair];
        m_core->FetchMessage(packet.IsData() ? pair.receiving : pair.oldest);
        if (!packet.IsData() && packet.sequence >= pair.end)
        {
            m_sender->FetchEnd(pair);
        }
    }
}

void
PacketTransport::Fetch(const PacketDescriptor& packet) const
{
    if (m_core != nullptr)
    {
        m_core->Fetch(packet.queuePair);
    }
}

void
PacketTransport::Take(uint32_t packet)
{
    PacketDescriptor& descriptor = m_core->context.packets[packet];
    if (descriptor.incarnation == m_core->pairs[descriptor.queuePair].incarnation)
    {
        if (descriptor.Is(PacketDescriptor::RETURNED))
        {
            m_sender->TakeReturned(descriptor);
        }
        else if (descriptor.kind == PacketDescriptor::Kind::DATA)
        {
            m_receiver->Take(descriptor);
        }
        else
        {
            m_sender->Take(descriptor);
        }
    }
    m_core->context.Discard(packet);
}

uint64_t
PacketTransport::GetOutstandingCount() const
{
    return m_core->outstanding;
}

std::vector<PacketTransport::Outstanding>
PacketTransport::GetOutstanding() const
{
    std::vector<Outstanding> outstanding;
    for (uint32_t index = 0; index < m_sender->GetQueuePairEnd(); ++index)
    {
        const PacketQueuePair& pair = m_core->pairs[index];
        // Of a pair that has been given back nothing is being received.
        for (uint32_t number = pair.receiving; number != PACKET_NONE; number = m_core->messages[number].next)
        {
            const PacketMessageRecord& record = m_core->messages[number];
            const uint64_t packets = std::max<uint64_t>(1, (record.bytes + mtu - 1) / mtu);
            const uint64_t first = record.end - packets;
            const uint64_t arrived = pair.expected > first ? pair.expected - first : 0;
            outstanding.push_back(
                {{pair.source, pair.destination, record.bytes, record.owner, record.token, pair.priority},
                 record.order,
                 record.bytes - arrived * mtu});
        }
    }
    std::sort(outstanding.begin(), outstanding.end(), [](const Outstanding& a, const Outstanding& b) {
        return a.order < b.order;
    });
    return outstanding;
}

std::vector<std::pair<uint32_t, uint32_t>>
PacketTransport::GetGivenUp() const
{
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t index = 0; index < m_sender->GetQueuePairEnd(); ++index)
    {
        const PacketQueuePair& pair = m_core->pairs[index];
        // One that has been given back has something behind it.
        if (pair.oldest != PACKET_NONE && (pair.holds & PacketQueuePair::GIVEN_UP) != 0)
        {
            pairs.emplace_back(pair.source, pair.destination);
        }
    }
    return pairs;
}

const PacketTransport::Counters&
PacketTransport::GetCounters() const
{
    return m_core->counters;
}

uint64_t
PacketTransport::GetQueuePairCount() const
{
    return m_sender->GetQueuePairCount();
}

} // namespace ns3
