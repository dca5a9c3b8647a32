// SPDX-License-Identifier: GPL-2.0-only
#include "packet-port.h"

#include "packet-node.h"
#include "packet-regions.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/nstime.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{

PacketPort::PacketPort(
    PacketContext& context, PacketNode& from, PacketNode& to, uint64_t bitsPerSecond, int64_t latency)
    : m_isUp(true),
      m_isAdvancing(false),
      m_ownIsNext(false),
      m_isHosts(false),
      m_isWeighted(false),
      m_cutsThrough(false),
      m_hasLater(false),
      m_isDetached(false),
      m_isCut(false),
      m_isListed(false),
      m_to(to),
      m_latency(latency),
      m_queue(context, static_cast<uint32_t>(context.ports.size())),
      m_from(from),
      m_bitsPerSecond(bitsPerSecond)
{
    NS_ASSERT_MSG(bitsPerSecond > 0 && latency >= 0, "a link carries something, and not into the past");
    FindPerByte();
    context.ports.push_back(this);
    from.AddPort(this);
}

PacketPort::~PacketPort() = default;

void
PacketPort::Detach()
{
    m_isDetached = true;
}

bool
PacketPort::IsWatched() const
{
    return GetContext().hasFlowControl && m_from.IsWatched();
}

void
PacketPort::ForgetRoutes()
{
    m_inFlight.ForEach([this](uint32_t packet) { GetContext().packets[packet].next = PACKET_NONE; });
}

void
PacketPort::SetSharedBuffer(PacketSharedBuffer* memory)
{
    m_queue.SetSharedBuffer(memory);
    memory->AddPort(this);
}

void
PacketPort::SetSource(PacketSource* source)
{
    m_source = source;
    m_isHosts = true;
    m_hostScheduler = std::make_unique<PacketHostScheduler>();
}

void
PacketPort::SetCutThrough(uint32_t header)
{
    m_header = header;
    m_cutsThrough = header > 0;
    m_headerSerialization = ComputeSerialization(header);
}

void
PacketPort::SetWeights(const std::array<uint32_t, PACKET_PRIORITIES>& weights, uint32_t largest)
{
    m_scheduler.SetWeights(weights, largest);
    m_isWeighted = true;
}

void
PacketPort::SetFlowControl(const PacketFlowControl::Parameters& parameters, PacketPort& reverse)
{
    m_flowControl = std::make_unique<PacketFlowControl>(parameters, *this, reverse);
    GetContext().hasFlowControl = true;
}

uint32_t
PacketPort::GetWaitingPriorities() const
{
    return GetLanes() & (PacketQueue::BitOf(CONTROL) - 1);
}

void
PacketPort::Refuse(uint32_t packet, int64_t now)
{
    const PacketDescriptor& descriptor = GetContext().packets[packet];
    if (GetContext().returnsHeaders && descriptor.Is(PacketDescriptor::TRIMMED) &&
        descriptor.kind == PacketDescriptor::Kind::DATA && !descriptor.Is(PacketDescriptor::RETURNED))
    {
        Return(packet, now);
        return;
    }
    Lose(packet, now);
}

void
PacketPort::Lose(uint32_t packet, int64_t now)
{
    const PacketDescriptor& descriptor = GetContext().packets[packet];
    if (PacketFlowControl* before = PacketFlowControl::Before(GetContext(), descriptor))
    {
        before->Release(descriptor.priority, descriptor.bytes, now, false);
    }
    m_queue.CountDrop();
    GetContext().Drop(GetNumber(), packet, now);
}

void
PacketPort::Return(uint32_t packet, int64_t now)
{
    PacketDescriptor& descriptor = GetContext().packets[packet];
    if (descriptor.Is(PacketDescriptor::ROUTED))
    {
        GetContext().EndPath(descriptor);
    }
    ++GetContext().returns;
    std::swap(descriptor.source, descriptor.destination);
    descriptor.flags |= PacketDescriptor::RETURNED;
    descriptor.arrival = now;
    descriptor.tail = now;
    descriptor.ingress = PACKET_NONE;
    m_from.Forward(packet);
}

void
PacketPort::Enqueue(uint32_t packet)
{
    const PacketDescriptor& descriptor = GetContext().packets[packet];
    const int64_t now = descriptor.arrival;
    Advance(now);
    if (m_freeAt <= now && m_isUp)
    {
        // Idle: where nothing waits for the same the packet does not either.
        const uint8_t lane = PacketQueue::LaneOf(descriptor);
        const PacketFlowControl* control = GetControl();
        const bool isOpen =
            control == nullptr || lane == CONTROL ||
            (control->UsesCredits() ? control->GetCreditTime(lane, descriptor.bytes, now) <= now
                                    : (control->GetOpenPriorities() & PacketQueue::BitOf(lane)) != 0);
        if (isOpen && (m_queue.GetLanes() & PacketQueue::BitOf(lane)) == 0)
        {
            if (PacketFlowControl* before = PacketFlowControl::Before(GetContext(), descriptor))
            {
                before->Release(descriptor.priority, descriptor.bytes, now, false);
            }
            Transmit(packet, now, now);
            return;
        }
    }
    if (!m_isUp)
    {
        Lose(packet, now);
        return;
    }
    if (!m_queue.Admit(packet, now))
    {
        Refuse(packet, now);
        return;
    }
    if (PacketFlowControl* before = PacketFlowControl::Before(GetContext(), descriptor))
    {
        if (!before->Hold(descriptor.priority, descriptor.bytes, now))
        {
            Refuse(packet, now);
            return;
        }
    }
    m_queue.Wait(packet, now);
    if (m_inFlight.IsEmpty() || IsWatched())
    {
        Advance(now);
        Wake(now);
    }
}

void
PacketPort::Offer(uint64_t offer, uint8_t priority, int64_t from)
{
    NS_ASSERT_MSG(m_isHosts && priority < PACKET_PRIORITIES, "a host offers data of a priority");
    const int64_t now = Simulator::Now().GetTimeStep();
    Advance(now);
    m_hostScheduler->Add(offer, priority, from, now);
    Advance(now);
    Wake(now);
}

void
PacketPort::Advance(int64_t now)
{
    if (m_isAdvancing || !m_isUp)
    {
        return; // what it waits for is being found out
    }
    m_isAdvancing = true;
    while (m_freeAt <= now)
    {
        int64_t start = m_freeAt;
        const uint32_t packet = Next(start, now);
        if (packet == PACKET_NONE)
        {
            break;
        }
        // A pause that went before it while it was being chosen.
        Transmit(packet, std::max(start, m_freeAt), now);
    }
    m_isAdvancing = false;
}

void
PacketPort::FindPerByte()
{
    m_perByte =
        BIT_PICOSECONDS % m_bitsPerSecond == 0 ? static_cast<int64_t>(BIT_PICOSECONDS / m_bitsPerSecond) : 0;
}

int64_t
PacketPort::Serialization(uint32_t bytes)
{
    if (m_perByte > 0)
    {
        return m_perByte * bytes;
    }
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
    const auto product = static_cast<unsigned __int128>(bytes) * BIT_PICOSECONDS;
    return static_cast<int64_t>((product + m_bitsPerSecond - 1) / m_bitsPerSecond);
}

void
PacketPort::Note(PacketDescriptor& packet, int64_t start)
{
    PacketTelemetry& telemetry = GetContext().telemetry[packet.telemetry];
    if (telemetry.hops < PacketTelemetry::MOST_HOPS)
    {
        telemetry.hop[telemetry.hops++] = {
            start, m_queue.GetWaitingBytes(), m_queue.GetCarriedBytes(), m_bitsPerSecond};
    }
}

void
PacketPort::Transmit(uint32_t packet, int64_t start, int64_t now)
{
    PacketDescriptor& descriptor = GetContext().packets[packet];
    const uint32_t bytes = descriptor.bytes;
    m_freeAt = std::max(start + Serialization(bytes), descriptor.tail);
    descriptor.tail = m_freeAt + m_latency;
    descriptor.arrival =
        m_cutsThrough && m_header < bytes ? start + m_headerSerialization + m_latency : descriptor.tail;
    descriptor.ingress = GetNumber();
    descriptor.next = PACKET_NONE;
    NS_ABORT_MSG_IF(descriptor.arrival < now, "a packet arrives before its port found out that it left");
    if (descriptor.IsData())
    {
        if (descriptor.HasTelemetry())
        {
            Note(descriptor, start);
        }
        if (GetControl() != nullptr && m_flowControl->UsesCredits())
        {
            m_flowControl->TakeCredits(descriptor.priority, bytes, start);
        }
        m_queue.CountData();
        if (m_isWeighted)
        {
            m_scheduler.Charge(descriptor.priority, bytes);
        }
    }
    m_queue.CountCarried(bytes);
    GetContext().traces.started(GetNumber(), descriptor, start);
    if (GetContext().faults != nullptr)
    {
        const int64_t by = GetContext().faults->InjectFault(*this, descriptor, start);
        if (by != 0)
        {
            Delay(packet, by, now);
            return;
        }
    }
    const bool isFirst = m_inFlight.IsEmpty();
    m_inFlight.Append(packet, descriptor.arrival);
    if (m_isCut && !m_isListed)
    {
        m_isListed = true;
        GetContext().regions->List(m_region, *this);
    }
    if (isFirst)
    {
        Wake(now);
    }
}

void
PacketPort::Delay(uint32_t packet, int64_t by, int64_t now)
{
    PacketDescriptor& descriptor = GetContext().packets[packet];
    if (by == PacketFaults::LOST)
    {
        // Flow control, which counts the room at the far end, is notified that this packet takes none.
        if (GetControl() != nullptr && descriptor.IsData())
        {
            m_flowControl->Release(descriptor.priority, descriptor.bytes, descriptor.arrival, false);
        }
        m_queue.CountDrop();
        GetContext().Drop(GetNumber(), packet, descriptor.arrival);
    }
    else
    {
        descriptor.arrival += by;
        descriptor.tail += by;
        const int64_t delay = descriptor.arrival - now;
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(delay)), &PacketNode::Receive, &m_to, packet);
    }
    Wake(now);
}

int64_t
PacketPort::GetNextTime() const
{
    const int64_t arrival = m_inFlight.IsEmpty() ? NEVER : m_inFlight.GetFirstArrival();
    if ((arrival != NEVER && !IsWatched()) || !m_isUp)
    {
        return arrival;
    }
    // Whether it has to watch for credits is decided when it is free.
    const bool decides = IsShortOfCredits(m_freeAt) && !m_flowControl->IsStarved();
    const int64_t start = decides || GetOpenLanes(m_freeAt) != 0 ? m_freeAt : GetLaterStart(m_freeAt);
    return std::min(arrival, start);
}

void
PacketPort::Wake(int64_t now)
{
    const int64_t next = GetNextTime();
    if (next == NEVER || next >= m_pendingAt)
    {
        return;
    }
    if (m_pendingAt != NEVER)
    {
        m_pendingLater = m_pendingAt;
        m_hasLater = true;
    }
    m_pendingAt = std::max(now, next);
    if (GetContext().regions != nullptr)
    {
        GetContext().regions->Schedule(m_region, m_pendingAt, GetNumber(), *this);
        return;
    }
    // The port is the event, and none needs an identifier: that saves ns-3 making one.
    Ref();
    Simulator::GetImplementation()->ScheduleWithContext(
        Simulator::NO_CONTEXT, TimeStep(static_cast<uint64_t>(m_pendingAt - now)), this);
}

void
PacketPort::Notify()
{
    if (!m_isDetached)
    {
        Act(Simulator::Now().GetTimeStep());
    }
}

void
PacketPort::SetRegion(uint8_t region, bool isCut)
{
    m_region = region;
    m_isCut = isCut;
}

void
PacketPort::Act(int64_t now)
{
    if (m_pendingAt == now)
    {
        m_pendingAt = m_hasLater ? m_pendingLater : NEVER;
        m_hasLater = false;
    }
    uint32_t packet = PACKET_NONE;
    PacketPort* next = nullptr;
    if (!m_inFlight.IsEmpty() && m_inFlight.GetFirstArrival() == now)
    {
        packet = m_inFlight.TakeFirst();
    }
    if (m_isCut && packet != PACKET_NONE)
    {
        GetContext().regions->CountCut(m_region);
        packet = PACKET_NONE; // it was handed over
    }
    if (packet != PACKET_NONE)
    {
        // What comes of it here takes long enough for the next port to be there then.
        next = m_to.FindNext(GetContext().packets[packet]);
        if (next != nullptr)
        {
            next->FetchLines();
        }
    }
    Advance(now);
    if (next != nullptr)
    {
        next->FetchWaiting(GetContext().packets[packet]);
    }
    Wake(now);
    if (packet != PACKET_NONE)
    {
        GetContext().traces.arrived(GetNumber(), GetContext().packets[packet], now);
        if (next != nullptr)
        {
            next->Enqueue(packet);
        }
        else
        {
            m_to.Receive(packet);
        }
    }
}

void
PacketPort::NotePause(uint8_t priority, bool pause, int64_t now)
{
    GetContext().traces.paused(GetNumber(), priority, pause, now);
    if (!pause)
    {
        m_freeAt = std::max(m_freeAt, now);
        Advance(now);
        Wake(now);
    }
}

int64_t
PacketPort::SendControlFrame(uint32_t bytes, int64_t now)
{
    if (!m_isUp)
    {
        return now + m_latency;
    }
    Advance(now);
    const int64_t start = std::max(m_freeAt, now);
    m_freeAt = start + ComputeSerialization(bytes);
    m_queue.CountCarried(bytes);
    GetContext().traces.frame(GetNumber(), bytes, start, m_freeAt);
    Wake(now);
    return m_freeAt + m_latency;
}

void
PacketPort::SetUp(bool isUp)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    Advance(now);
    m_isUp = isUp;
    if (isUp)
    {
        m_freeAt = std::max(m_freeAt, now);
        Advance(now);
        Wake(now);
        return;
    }
    while (!m_inFlight.IsEmpty())
    {
        Delay(m_inFlight.TakeFirst(), PacketFaults::LOST, now);
    }
    Flush(now);
}

void
PacketPort::Flush(int64_t now)
{
    for (uint8_t lane = 0; lane <= CONTROL; ++lane)
    {
        while ((m_queue.GetLanes() & PacketQueue::BitOf(lane)) != 0)
        {
            const uint32_t packet = m_queue.Remove(lane, now);
            m_queue.CountDrop();
            GetContext().Drop(GetNumber(), packet, now);
        }
    }
}

void
PacketPort::SetBitsPerSecond(uint64_t bitsPerSecond)
{
    NS_ASSERT_MSG(bitsPerSecond > 0, "a link that carries nothing is down");
    Advance(Simulator::Now().GetTimeStep());
    m_bitsPerSecond = bitsPerSecond;
    FindPerByte();
    m_lastBytes = 0;
    m_lastSerialization = 0;
    m_headerSerialization = ComputeSerialization(m_header);
}

std::vector<uint64_t>
PacketPort::WithdrawOffers()
{
    if (!m_isHosts)
    {
        return {};
    }
    Advance(Simulator::Now().GetTimeStep());
    return m_hostScheduler->TakeAll();
}

} // namespace ns3
