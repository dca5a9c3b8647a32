// SPDX-License-Identifier: GPL-2.0-only
#include "opera-channel.h"

#include "opera-fabric.h"
#include "opera-net-device.h"

#include "ns3/abort.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(OperaChannel);

TypeId
OperaChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::OperaChannel")
                            .SetParent<Channel>()
                            .SetGroupName("Astrolabe")
                            .AddConstructor<OperaChannel>()
                            .AddAttribute("Delay",
                                          "From a device to another, one way.",
                                          TimeValue(Time(0)),
                                          MakeTimeAccessor(&OperaChannel::m_delay),
                                          MakeTimeChecker(Time(0)));
    return tid;
}

OperaChannel::OperaChannel() = default;

OperaChannel::~OperaChannel() = default;

void
OperaChannel::SetRotor(Ptr<OperaFabric> fabric, uint32_t rotor)
{
    m_fabric = fabric;
    m_rotor = rotor;
}

std::size_t
OperaChannel::Attach(Ptr<OperaNetDevice> device)
{
    NS_ABORT_MSG_IF(m_rotor == CABLE && m_devices.size() == 2, "a cable has two ends");
    m_devices.push_back(device);
    return m_devices.size() - 1;
}

void
OperaChannel::Transmit(Ptr<OperaFrame> frame, std::size_t from, Time txTime)
{
    const Time when = Simulator::Now() + txTime + m_delay;
    const std::size_t to = m_rotor == CABLE
                               ? 1 - from
                               : m_fabric->GetPeer(m_rotor, static_cast<uint32_t>(from), when.GetTimeStep());
    // Should the circuit fail before, only the context of the event is another's.
    Simulator::ScheduleWithContext(
        m_devices[to]->GetNode()->GetId(), txTime + m_delay, &OperaChannel::Arrive, this, frame, from);
}

void
OperaChannel::Arrive(Ptr<OperaFrame> frame, std::size_t from)
{
    if (m_rotor == CABLE)
    {
        m_devices[1 - from]->Receive(frame);
        return;
    }
    const auto rack = static_cast<uint32_t>(from);
    const uint32_t to = m_fabric->GetPeer(m_rotor, rack, Simulator::Now().GetTimeStep());
    const bool isGone = to == rack || m_fabric->IsDark(m_rotor);
    if (frame->isBulk && (isGone || to != m_fabric->GetLayout().GetRackOf(frame->heading)))
    {
        m_fabric->TakeBack(frame);
    }
    else if (isGone)
    {
        m_devices[from]->NoteLost(frame);
        m_fabric->CountLost(frame);
    }
    else
    {
        m_fabric->NoteCrossed(m_rotor, rack, *frame);
        m_devices[to]->Receive(frame);
    }
}

std::size_t
OperaChannel::GetNDevices() const
{
    return m_devices.size();
}

Ptr<NetDevice>
OperaChannel::GetDevice(std::size_t i) const
{
    return m_devices[i];
}

void
OperaChannel::DoDispose()
{
    m_devices.clear();
    m_fabric = nullptr;
    Channel::DoDispose();
}

} // namespace ns3
