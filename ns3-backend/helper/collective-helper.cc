// SPDX-License-Identifier: GPL-2.0-only
#include "collective-helper.h"

#include "ns3/abort.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"

#include <cstdint>
#include <utility>

namespace ns3
{

CollectiveHelper::CollectiveHelper(CollectivePlan plan)
    : m_plan(std::make_shared<const CollectivePlan>(std::move(plan)))
{
    m_factory.SetTypeId(CollectiveApplication::GetTypeId());
}

void
CollectiveHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

ApplicationContainer
CollectiveHelper::Install(const NodeContainer& nodes, const std::vector<Ipv4Address>& addresses)
{
    NS_ABORT_MSG_IF(nodes.GetN() != m_plan->GetRanks(),
                    "CollectiveHelper: " << nodes.GetN() << " nodes for " << m_plan->GetRanks() << " ranks");
    m_group = Create<CollectiveGroup>(m_plan, addresses);
    ApplicationContainer applications;
    for (uint32_t rank = 0; rank < nodes.GetN(); ++rank)
    {
        const Ptr<CollectiveApplication> application = m_factory.Create<CollectiveApplication>();
        application->SetGroup(m_group, rank);
        nodes.Get(rank)->AddApplication(application);
        applications.Add(application);
    }
    return applications;
}

ApplicationContainer
CollectiveHelper::Install(const NodeContainer& nodes)
{
    std::vector<Ipv4Address> addresses;
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        const Ptr<Ipv4> ipv4 = nodes.Get(i)->GetObject<Ipv4>();
        NS_ABORT_MSG_IF(!ipv4 || ipv4->GetNInterfaces() < 2 || ipv4->GetNAddresses(1) == 0,
                        "CollectiveHelper: node " << i
                                                  << " has no address: install the stack and assign them");
        addresses.push_back(ipv4->GetAddress(1, 0).GetLocal());
    }
    return Install(nodes, addresses);
}

} // namespace ns3
