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
    m_delays = {fromFirst, fromSecond};
}

bool
FabricChannel::TransmitStart(Ptr<const Packet> p, Ptr<PointToPointNetDevice> src, Time txTime)
{
    const uint32_t direction = PeekPointer(src) == PeekPointer(GetSource(0)) ? 0 : 1;
    const Ptr<PointToPointNetDevice> destination = GetDestination(direction);
    Simulator::ScheduleWithContext(destination->GetNode()->GetId(),
                                   txTime + m_delays[direction],
                                   &PointToPointNetDevice::Receive,
                                   destination,
                                   p->Copy());
    return true;
}

} // namespace ns3
