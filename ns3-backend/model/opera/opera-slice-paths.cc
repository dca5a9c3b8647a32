// SPDX-License-Identifier: GPL-2.0-only
#include "opera-slice-paths.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{

using astrolabe::network::rotor::RackGraph;

OperaSlicePaths::OperaSlicePaths(const OperaSchedule& schedule, std::size_t most, uint64_t seed)
    : m_schedule(schedule),
      m_most(most),
      m_seed(seed),
      m_random(seed, "opera path")
{
    NS_ABORT_MSG_IF(most == 0, "0 paths for a pair of racks, expected 1 or more");
    constexpr std::size_t MOST_BYTES = std::size_t{64} << 20;
    const std::size_t racks = schedule.GetRacks();
    const std::size_t bytes = racks * (racks * sizeof(uint16_t) + schedule.GetRotors() * sizeof(uint32_t));
    m_capacity = std::max<std::size_t>(1, MOST_BYTES / bytes);
}

bool
OperaSlicePaths::Find(uint64_t superslice, uint32_t from, uint32_t to, std::vector<uint16_t>& uplinks)
{
    m_found.clear();
    const auto inCycle = static_cast<uint32_t>(superslice % m_schedule.GetSuperslices());
    astrolabe::network::rotor::list_shortest_paths(
        GetSlice(superslice), from, to, m_most, m_seed, inCycle, m_found);
    if (m_found.size() == 0)
    {
        return false;
    }
    const auto chosen = m_found[m_random.below(static_cast<uint32_t>(m_found.size()))];
    uplinks.assign(chosen.begin(), chosen.end());
    return true;
}

const OperaSlicePaths::Slice&
OperaSlicePaths::GetSlice(uint64_t superslice)
{
    const int64_t begin = static_cast<int64_t>(superslice) * m_schedule.GetLength();
    const std::size_t state = m_schedule.GetState(begin);
    if (state != m_state)
    {
        m_slices.clear();
        m_state = state;
    }
    const auto inCycle = static_cast<uint32_t>(superslice % m_schedule.GetSuperslices());
    const auto known = m_slices.find(inCycle);
    if (known != m_slices.end())
    {
        return known->second;
    }
    if (m_slices.size() >= m_capacity)
    {
        m_slices.erase(m_slices.begin());
    }
    return m_slices.emplace(inCycle, MakeSlice(m_schedule, superslice)).first->second;
}

OperaSlicePaths::Slice
OperaSlicePaths::MakeSlice(const OperaSchedule& schedule, uint64_t superslice)
{
    const uint32_t racks = schedule.GetRacks();
    const uint32_t rotors = schedule.GetRotors();
    const int64_t begin = static_cast<int64_t>(superslice) * schedule.GetLength();
    std::vector<uint32_t> neighbours(std::size_t{racks} * rotors);
    for (uint32_t rack = 0; rack < racks; ++rack)
    {
        for (uint32_t rotor = 0; rotor < rotors; ++rotor)
        {
            const uint32_t matching = schedule.GetMatchingIndex(rotor, superslice);
            const bool isLeaving = schedule.IsInstalled(rotor, superslice + 1);
            neighbours[std::size_t{rack} * rotors + rotor] =
                isLeaving ? rack : schedule.GetPeer(rotor, matching, rack, begin);
        }
    }
    const RackGraph graph(racks, rotors, std::move(neighbours));
    return {graph, graph.distances()};
}

uint32_t
OperaSlicePaths::GetMostHops(const OperaSchedule& schedule)
{
    uint32_t most = 0;
    for (uint32_t superslice = 0; superslice < schedule.GetSuperslices(); ++superslice)
    {
        const Slice slice = MakeSlice(schedule, superslice);
        const uint16_t hops = *std::max_element(slice.hops.begin(), slice.hops.end());
        if (hops == RackGraph::kUnreachable)
        {
            return 0;
        }
        most = std::max<uint32_t>(most, hops);
    }
    return most;
}

} // namespace ns3
