// SPDX-License-Identifier: GPL-2.0-only
#include "opera-helper.h"

#include "ns3/abort.h"

#include <utility>

namespace ns3
{

void
OperaHelper::SetNetworkAttribute(const std::string& name, const AttributeValue& value)
{
    m_network.Set(name, value);
}

void
OperaHelper::SetTiming(Time eps, Time del, Time r)
{
    m_timing = {eps.GetPicoSeconds(), del.GetPicoSeconds(), r.GetPicoSeconds()};
}

void
OperaHelper::SetGroups(uint32_t groups)
{
    m_groups = groups;
}

void
OperaHelper::SetMatchings(std::vector<std::vector<OperaSchedule::Matching>> matchings)
{
    m_matchings = std::move(matchings);
}

OperaInstallation
OperaHelper::Create(uint32_t racks, uint32_t hostsPerRack, uint32_t rotors) const
{
    const OperaSchedule schedule(m_matchings.empty() ? OperaSchedule::MakeCyclicMatchings(racks, rotors)
                                                     : m_matchings,
                                 m_groups,
                                 m_timing);
    NS_ABORT_MSG_IF(schedule.GetRacks() != racks || schedule.GetRotors() != rotors,
                    "the matchings are of so many racks and rotors");
    OperaInstallation made;
    made.network = m_network.Create<OperaNetwork>();
    made.policy = std::make_shared<OperaEvenPolicy>(
        racks, hostsPerRack, made.network->GetSlotPackets(schedule, hostsPerRack));
    made.network->Build(schedule, hostsPerRack, made.policy.get());
    return made;
}

} // namespace ns3
