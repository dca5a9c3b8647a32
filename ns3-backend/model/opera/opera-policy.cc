// SPDX-License-Identifier: GPL-2.0-only
#include "opera-policy.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cstddef>

namespace ns3
{

OperaEvenPolicy::OperaEvenPolicy(uint32_t racks, uint32_t hostsPerRack, uint32_t packets)
    : m_hostsPerRack(hostsPerRack),
      m_most(packets / hostsPerRack),
      m_waiting(std::size_t{racks} * hostsPerRack)
{
    NS_ABORT_MSG_IF(m_most == 0, "a slot has room for a packet of each pair of hosts");
}

void
OperaEvenPolicy::Add(uint32_t host, uint32_t destination, uint64_t packets, bool isRelayed)
{
    NS_ABORT_MSG_IF(isRelayed, "nothing is relayed");
    m_waiting[host].resize(m_waiting.size());
    m_waiting[host][destination] += packets;
    m_sum += packets;
}

void
OperaEvenPolicy::Share(uint32_t x, uint32_t y, std::vector<OperaGrant>& grants)
{
    ShareOneWay(x, y, grants);
    if (x != y)
    {
        ShareOneWay(y, x, grants);
    }
}

void
OperaEvenPolicy::ShareOneWay(uint32_t x, uint32_t y, std::vector<OperaGrant>& grants)
{
    for (uint32_t from = x * m_hostsPerRack; from < (x + 1) * m_hostsPerRack; ++from)
    {
        if (m_waiting[from].empty())
        {
            continue;
        }
        for (uint32_t to = y * m_hostsPerRack; to < (y + 1) * m_hostsPerRack; ++to)
        {
            uint64_t& waiting = m_waiting[from][to];
            const auto packets = static_cast<uint32_t>(std::min<uint64_t>(waiting, m_most));
            if (packets > 0)
            {
                grants.push_back({from, to, to, packets, false});
                waiting -= packets;
                m_sum -= packets;
            }
        }
    }
}

void
OperaEvenPolicy::SetState(std::size_t /* state */)
{
}

uint64_t
OperaEvenPolicy::GetWaiting() const
{
    return m_sum;
}

} // namespace ns3
