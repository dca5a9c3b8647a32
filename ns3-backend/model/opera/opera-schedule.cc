// SPDX-License-Identifier: GPL-2.0-only
#include "opera-schedule.h"

#include "ns3/abort.h"

#include <utility>

namespace ns3
{

OperaSchedule::OperaSchedule(std::vector<std::vector<Matching>> matchings, uint32_t groups, Timing timing)
{
    NS_ABORT_MSG_IF(matchings.empty() || matchings.front().empty() || matchings.front().front().empty(),
                    "there are a rotor, a matching and a rack");
    m_rotors = static_cast<uint32_t>(matchings.size());
    m_perRotor = static_cast<uint32_t>(matchings.front().size());
    m_racks = static_cast<uint32_t>(matchings.front().front().size());
    NS_ABORT_MSG_IF(groups == 0 || m_rotors % groups != 0,
                    m_rotors << " rotors in " << groups
                             << " groups, expected a divisor of the rotors: groups have as many each");
    m_residence = m_rotors / groups;
    m_superslice = timing.eps + timing.del + timing.r;
    m_carries = timing.eps + timing.del;
    m_eps = timing.eps;
    NS_ABORT_MSG_IF(timing.eps < 0 || timing.del < 0 || timing.r < 0 || m_superslice == 0,
                    "a superslice takes some time");
    m_states.push_back({0, JoinMatchings(matchings)});
}

std::vector<uint32_t>
OperaSchedule::JoinMatchings(const std::vector<std::vector<Matching>>& matchings) const
{
    std::vector<uint32_t> peers;
    NS_ABORT_MSG_IF(matchings.size() != m_rotors, "every rotor has matchings");
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
            peers.insert(peers.end(), matching.begin(), matching.end());
        }
    }
    return peers;
}

void
OperaSchedule::Fail(int64_t when, const std::vector<std::vector<Matching>>& matchings)
{
    NS_ABORT_MSG_IF(m_states.empty() || when <= m_states.back().from, "failures come one after the other");
    std::vector<uint32_t> peers = JoinMatchings(matchings);
    for (std::size_t i = 0; i < peers.size(); ++i)
    {
        NS_ABORT_MSG_IF(peers[i] != i % m_racks && peers[i] != m_states.back().peers[i],
                        "a failure makes no circuits");
    }
    m_states.push_back({when, std::move(peers)});
}

std::vector<std::vector<OperaSchedule::Matching>>
OperaSchedule::GetMatchings() const
{
    std::vector<std::vector<Matching>> matchings(m_rotors);
    auto next = m_states.back().peers.begin();
    for (std::vector<Matching>& rotor : matchings)
    {
        for (uint32_t i = 0; i < m_perRotor; ++i)
        {
            rotor.emplace_back(next, next + m_racks);
            next += m_racks;
        }
    }
    return matchings;
}

void
OperaSchedule::FindState(int64_t when) const
{
    m_state = m_states.size() - 1;
    while (m_state > 0 && when < m_states[m_state].from)
    {
        --m_state;
    }
}

std::vector<std::vector<OperaSchedule::Matching>>
OperaSchedule::MakeCyclicMatchings(uint32_t racks, uint32_t rotors)
{
    NS_ABORT_MSG_IF(rotors == 0 || racks == 0 || racks % rotors != 0,
                    racks << " racks on " << rotors
                          << " rotors, expected a multiple of the rotors: they have as many matchings each");
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

} // namespace ns3
