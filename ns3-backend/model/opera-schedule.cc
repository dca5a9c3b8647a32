// SPDX-License-Identifier: GPL-2.0-only
#include "opera-schedule.h"

#include "ns3/abort.h"

namespace ns3
{

OperaSchedule::OperaSchedule(std::vector<std::vector<Matching>> matchings, uint32_t groups, Timing timing)
{
    NS_ABORT_MSG_IF(matchings.empty() || matchings.front().empty() || matchings.front().front().empty(),
                    "there are a rotor, a matching and a rack");
    m_rotors = static_cast<uint32_t>(matchings.size());
    m_perRotor = static_cast<uint32_t>(matchings.front().size());
    m_racks = static_cast<uint32_t>(matchings.front().front().size());
    NS_ABORT_MSG_IF(groups == 0 || m_rotors % groups != 0, "the groups have as many rotors each");
    m_residence = m_rotors / groups;
    m_superslice = timing.eps + timing.del + timing.r;
    m_carries = timing.eps + timing.del;
    m_eps = timing.eps;
    NS_ABORT_MSG_IF(timing.eps < 0 || timing.del < 0 || timing.r < 0 || m_superslice == 0,
                    "a superslice takes some time");
    for (const std::vector<Matching>& rotor : matchings)
    {
        NS_ABORT_MSG_IF(rotor.size() != m_perRotor, "rotors have as many matchings each");
        for (const Matching& matching : rotor)
        {
            NS_ABORT_MSG_IF(matching.size() != m_racks, "a matching is of all racks");
            for (uint32_t rack = 0; rack < m_racks; ++rack)
            {
                NS_ABORT_MSG_IF(matching[rack] >= m_racks || matching[matching[rack]] != rack,
                                "the circuits of rack " << rack << " lead there and back");
            }
            m_peers.insert(m_peers.end(), matching.begin(), matching.end());
        }
    }
}

std::vector<std::vector<OperaSchedule::Matching>>
OperaSchedule::MakeCyclicMatchings(uint32_t racks, uint32_t rotors)
{
    NS_ABORT_MSG_IF(rotors == 0 || racks == 0 || racks % rotors != 0, "rotors have as many matchings each");
    std::vector<std::vector<Matching>> matchings(rotors);
    for (uint32_t m = 0; m < racks; ++m)
    {
        Matching& matching = matchings[m / (racks / rotors)].emplace_back();
        for (uint32_t rack = 0; rack < racks; ++rack)
        {
            matching.push_back((m + racks - rack) % racks);
        }
    }
    return matchings;
}

uint32_t
OperaSchedule::GetRacks() const
{
    return m_racks;
}

uint32_t
OperaSchedule::GetRotors() const
{
    return m_rotors;
}

uint32_t
OperaSchedule::GetMatchingsPerRotor() const
{
    return m_perRotor;
}

uint32_t
OperaSchedule::GetResidence() const
{
    return m_residence;
}

int64_t
OperaSchedule::GetLength() const
{
    return m_superslice;
}

uint32_t
OperaSchedule::GetSuperslices() const
{
    return m_residence * m_perRotor;
}

int64_t
OperaSchedule::GetBulkSlot() const
{
    return m_superslice * (m_residence - 1) + m_eps;
}

} // namespace ns3
