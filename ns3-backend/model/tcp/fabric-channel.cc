// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-channel.h"

#include "ns3/simulator.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricChannel);

TypeId
FabricChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricChannel")
                            .SetParent<PointToPointChannel>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<FabricChannel>();
    return tid;
}

void
FabricChannel::SetDelays(Time fromFirst, Time fromSecond)
{
    m_directions[0].delay = fromFirst;
    m_directions[1].delay = fromSecond;
}

bool
FabricChannel::TransmitStart(Ptr<const Packet> p, Ptr<PointToPointNetDevice> src, Time txTime)
{
    const uint32_t direction = PeekPointer(src) == PeekPointer(GetSource(0)) ? 0 : 1;
    const Ptr<PointToPointNetDevice> destination = GetDestination(direction);
    Simulator::ScheduleWithContext(destination->GetNode()->GetId(),
                                   txTime + m_directions[direction].delay,
                                   &FabricChannel::Arrive,
                                   this,
                                   direction,
                                   m_directions[direction].outages,
                                   p->Copy());
    return true;
}

void
FabricChannel::Arrive(uint32_t direction, uint32_t outages, Ptr<Packet> packet)
{
    const Direction& taken = m_directions[direction];
    if (taken.isUp && taken.outages == outages)
    {
        GetDestination(direction)->Receive(packet);
    }
    else if (!taken.lost.IsNull())
    {
        taken.lost();
    }
}

FabricChannel::Direction&
FabricChannel::GetDirection(Ptr<NetDevice> source)
{
    return m_directions[PeekPointer(source) == PeekPointer(GetSource(0)) ? 0 : 1];
}

void
FabricChannel::SetUp(Ptr<NetDevice> source, bool isUp)
{
    Direction& direction = GetDirection(source);
    direction.outages += direction.isUp && !isUp ? 1 : 0;
    direction.isUp = isUp;
}

void
FabricChannel::SetLossCallback(Ptr<NetDevice> source, Callback<void> lost)
{
    GetDirection(source).lost = lost;
}

} // namespace ns3
