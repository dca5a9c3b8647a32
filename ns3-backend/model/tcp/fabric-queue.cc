// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-queue.h"

#include "ns3/ipv4-header.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/ppp-header.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <limits>

namespace ns3
{

namespace
{

constexpr uint32_t PPP_BYTES = 2;
constexpr uint32_t IPV4_BYTES = 20;
constexpr uint32_t LARGEST_TCP_HEADER = 60;
constexpr uint16_t PPP_IPV4 = 0x0021;
constexpr uint32_t MOST_BYTES = std::numeric_limits<uint32_t>::max(); // the base class counts in 32 bits

} // namespace

NS_OBJECT_ENSURE_REGISTERED(FabricQueue);

TypeId
FabricQueue::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricQueue")
            .SetParent<Queue<Packet>>()
            .SetGroupName("Astrolabe")
            .AddConstructor<FabricQueue>()
            .AddAttribute("ByteLimit",
                          "Bytes that may wait in this queue; 0 means no limit of its own but 2^32 - 1.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricQueue::m_byteLimit),
                          MakeUintegerChecker<uint64_t>(0, MOST_BYTES))
            .AddAttribute("MarkThreshold",
                          "A packet that finds more bytes than this waiting is ECN-marked; 0 means never.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricQueue::m_markThreshold),
                          MakeUintegerChecker<uint64_t>())
            .AddTraceSource("Mark",
                            "A packet was given the ECN mark.",
                            MakeTraceSourceAccessor(&FabricQueue::m_markTrace),
                            "ns3::Packet::TracedCallback");
    return tid;
}

FabricQueue::FabricQueue()
{
    // The base class checks its own limit on every packet; ours is checked before it.
    SetMaxSize(QueueSize(QueueSizeUnit::BYTES, MOST_BYTES));
}

void
FabricQueue::SetSharedMemory(Ptr<SharedPacketMemory> memory)
{
    m_memory = memory;
}

void
FabricQueue::SetUp(bool isUp)
{
    m_isUp = isUp;
    while (!m_isUp && Remove())
    {
    }
}

bool
FabricQueue::Admit(Ptr<Packet> packet, Iterator& place)
{
    const uint32_t size = packet->GetSize();
    const uint64_t waiting = GetNBytes();
    const uint64_t limit = m_byteLimit > 0 ? m_byteLimit : MOST_BYTES;
    if (!m_isUp || waiting + size > limit || (m_memory && !m_memory->TryTake(size)))
    {
        ++m_counters.drops;
        DropBeforeEnqueue(packet);
        return false;
    }
    if (m_markThreshold > 0 && waiting > m_markThreshold && MarkIfCapable(packet))
    {
        ++m_counters.marks;
        m_markTrace(packet);
    }
    m_counters.peakBytes = std::max(m_counters.peakBytes, waiting + size);
    return DoEnqueue(GetContainer().end(), packet, place);
}

Ptr<Packet>
FabricQueue::Release(ConstIterator place)
{
    Ptr<Packet> packet = DoDequeue(place);
    if (packet)
    {
        const uint32_t size = packet->GetSize();
        if (m_memory)
        {
            m_memory->Release(size);
        }
        m_counters.carriedBytes += size;
        m_counters.dataPackets += HasTcpPayload(packet) ? 1 : 0;
    }
    return packet;
}

Ptr<Packet>
FabricQueue::Discard(ConstIterator place)
{
    Ptr<Packet> packet = DoRemove(place);
    if (packet)
    {
        ++m_counters.drops;
        if (m_memory)
        {
            m_memory->Release(packet->GetSize());
        }
    }
    return packet;
}

bool
FabricQueue::Enqueue(Ptr<Packet> packet)
{
    Iterator place;
    return Admit(packet, place);
}

Ptr<Packet>
FabricQueue::Dequeue()
{
    return Release(GetContainer().begin());
}

Ptr<Packet>
FabricQueue::Remove()
{
    return Discard(GetContainer().begin());
}

Ptr<const Packet>
FabricQueue::Peek() const
{
    return DoPeek(GetContainer().begin());
}

bool
FabricQueue::MarkIfCapable(const Ptr<Packet>& frame)
{
    PppHeader ppp;
    frame->RemoveHeader(ppp);
    bool marked = false;
    if (ppp.GetProtocol() == PPP_IPV4)
    {
        Ipv4Header ip;
        frame->RemoveHeader(ip);
        if (ip.GetEcn() != Ipv4Header::ECN_NotECT)
        {
            ip.SetEcn(Ipv4Header::ECN_CE);
            marked = true;
        }
        frame->AddHeader(ip);
    }
    frame->AddHeader(ppp);
    return marked;
}

bool
FabricQueue::HasTcpPayload(const Ptr<const Packet>& frame)
{
    // Only a frame that could be nothing but headers has to be inspected.
    const uint32_t size = frame->GetSize();
    if (size > PPP_BYTES + IPV4_BYTES + LARGEST_TCP_HEADER)
    {
        return true;
    }
    return GetTcpPayload(frame) > 0;
}

uint32_t
FabricQueue::GetTcpPayload(const Ptr<const Packet>& frame)
{
    constexpr uint32_t DATA_OFFSET_AT = PPP_BYTES + IPV4_BYTES + 12;
    std::array<uint8_t, DATA_OFFSET_AT + 1> headers{};
    if (frame->CopyData(headers.data(), headers.size()) < headers.size())
    {
        return 0;
    }
    const uint32_t tcpHeader = static_cast<uint32_t>(headers[DATA_OFFSET_AT] >> 4) * 4;
    const uint32_t allHeaders = PPP_BYTES + IPV4_BYTES + tcpHeader;
    return frame->GetSize() - std::min(frame->GetSize(), allHeaders);
}

} // namespace ns3
