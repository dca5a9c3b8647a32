// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-host-queue.h"

#include "ns3/boolean.h"
#include "ns3/ipv4-address.h"

#include <array>

namespace ns3
{

namespace
{

constexpr std::size_t FRAME_DESTINATION_AT = 2 + 16; // behind the PPP header

uint32_t
DestinationOf(const Ptr<const Packet>& frame)
{
    std::array<uint8_t, FRAME_DESTINATION_AT + 4> headers{};
    frame->CopyData(headers.data(), headers.size());
    return Ipv4Address::Deserialize(&headers[FRAME_DESTINATION_AT]).Get();
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(FabricHostQueue);

TypeId
FabricHostQueue::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricHostQueue")
            .SetParent<FabricQueue>()
            .SetGroupName("Astrolabe")
            .AddConstructor<FabricHostQueue>()
            .AddAttribute("HeadersFirst",
                          "Frames without TCP payload leave before all others.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FabricHostQueue::m_headersFirst),
                          MakeBooleanChecker())
            .AddAttribute("DestinationsInTurn",
                          "Data leaves a frame at a time from each destination, not in the order it came.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FabricHostQueue::m_destinationsInTurn),
                          MakeBooleanChecker());
    return tid;
}

bool
FabricHostQueue::Enqueue(Ptr<Packet> packet)
{
    Iterator place;
    if (!Admit(packet, place))
    {
        return false;
    }
    if (m_headersFirst && !HasTcpPayload(packet))
    {
        m_headersOnly.push_back(place);
        return true;
    }
    Line& line = m_byDestination[m_destinationsInTurn ? DestinationOf(packet) : 0];
    if (line.empty())
    {
        m_turns.push_back(&line);
    }
    line.push_back(place);
    return true;
}

FabricHostQueue::ConstIterator
FabricHostQueue::Take()
{
    if (!m_headersOnly.empty())
    {
        const Iterator place = m_headersOnly.front();
        m_headersOnly.pop_front();
        return place;
    }
    if (m_turns.empty())
    {
        return GetContainer().end();
    }
    Line* const line = m_turns.front();
    m_turns.pop_front();
    const Iterator place = line->front();
    line->pop_front();
    if (!line->empty())
    {
        m_turns.push_back(line);
    }
    return place;
}

Ptr<Packet>
FabricHostQueue::Dequeue()
{
    return Release(Take());
}

Ptr<Packet>
FabricHostQueue::Remove()
{
    return Discard(Take());
}

Ptr<const Packet>
FabricHostQueue::Peek() const
{
    if (!m_headersOnly.empty())
    {
        return *m_headersOnly.front();
    }
    return m_turns.empty() ? nullptr : *m_turns.front()->front();
}

} // namespace ns3
