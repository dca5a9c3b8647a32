// SPDX-License-Identifier: GPL-2.0-only
#include "opera-rotor-lb-policy.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3
{

using astrolabe::network::rotor::Grant;
using astrolabe::network::rotor::Remainders;
using astrolabe::network::rotor::RotorLbOptions;

OperaRotorLbPolicy::OperaRotorLbPolicy(const OperaSchedule& schedule,
                                       uint32_t hostsPerRack,
                                       uint32_t packets,
                                       const Options& options,
                                       uint64_t seed)
    : m_schedule(schedule),
      m_own(schedule.GetRacks(), hostsPerRack),
      m_relayed(schedule.GetRacks(), hostsPerRack),
      m_rotorLb(RotorLbOptions{schedule.GetRacks(),
                               hostsPerRack,
                               packets,
                               options.twoHops,
                               options.intraRackDirect,
                               options.roundRobin ? Remainders::kRoundRobin : Remainders::kAtRandom,
                               GetConnected(0)},
                seed)
{
    NS_ABORT_MSG_IF(packets == 0 || (options.twoHops && packets < hostsPerRack),
                    "a circuit takes " << packets << " packets of a host, expected "
                                       << (options.twoHops ? hostsPerRack : 1)
                                       << " or more, one for each host of a rack where packets are relayed: "
                                          "make superslices longer, links faster or frames smaller");
}

void
OperaRotorLbPolicy::Add(uint32_t host, uint32_t destination, uint64_t packets, bool isRelayed)
{
    (isRelayed ? m_relayed : m_own).add(host, destination, packets);
}

void
OperaRotorLbPolicy::Share(uint32_t x, uint32_t y, std::vector<OperaGrant>& grants)
{
    const uint64_t superslice = m_schedule.GetSuperslice(Simulator::Now().GetTimeStep());
    const uint64_t cycle = m_schedule.GetSuperslices();
    // A pair of racks that is connected once a cycle has the next index each time.
    m_rotorLb.set_index(superslice / cycle + superslice % cycle);
    m_shared.clear();
    m_rotorLb.share(x, y, m_own, m_relayed, m_shared);
    for (const Grant& grant : m_shared)
    {
        grants.push_back(
            {grant.from, grant.to, grant.destination, grant.packets, grant.kind == Grant::Kind::kSecondHop});
    }
}

void
OperaRotorLbPolicy::SetState(std::size_t state)
{
    m_rotorLb.set_connected(GetConnected(state));
}

uint64_t
OperaRotorLbPolicy::GetWaiting() const
{
    return m_own.total() + m_relayed.total();
}

std::vector<uint8_t>
OperaRotorLbPolicy::GetConnected(std::size_t state) const
{
    const std::size_t racks = m_schedule.GetRacks();
    std::vector<uint8_t> connected(racks * racks);
    std::size_t pairs = 0;
    const auto connect = [&](std::size_t from, std::size_t to) {
        pairs += connected[from * racks + to] == 0 ? 1 : 0;
        connected[from * racks + to] = 1;
    };
    const int64_t when = m_schedule.GetStart(state);
    for (uint32_t rack = 0; rack < racks; ++rack)
    {
        connect(rack, rack);
        for (uint32_t rotor = 0; rotor < m_schedule.GetRotors(); ++rotor)
        {
            for (uint32_t matching = 0; matching < m_schedule.GetMatchingsPerRotor(); ++matching)
            {
                connect(rack, m_schedule.GetPeer(rotor, matching, rack, when));
            }
        }
    }
    return pairs == connected.size() ? std::vector<uint8_t>() : connected;
}

} // namespace ns3
