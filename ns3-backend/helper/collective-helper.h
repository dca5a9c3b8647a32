// SPDX-License-Identifier: GPL-2.0-only
#ifndef COLLECTIVE_HELPER_H
#define COLLECTIVE_HELPER_H

#include "ns3/application-container.h"
#include "ns3/attribute.h"
#include "ns3/collective-application.h"
#include "ns3/collective-plan.h"
#include "ns3/ipv4-address.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/ptr.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * Installs the ranks of a collective, one on each node.
 *
 *     CollectiveHelper helper(CollectivePlan("all_reduce", "ring", {16}, 100'000'000));
 *     ApplicationContainer ranks = helper.Install(nodes, addresses);
 *     ranks.Start(Seconds(0));
 *     Simulator::Run();
 *     helper.GetGroup()->GetFinish();
 *
 * Each Install makes a group of its own, which GetGroup returns until the next. Two collectives on the same
 * nodes at one time take different ports (SetAttribute("Port", …)).
 */
class CollectiveHelper
{
  public:
    explicit CollectiveHelper(CollectivePlan plan);

    /// Of each CollectiveApplication
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /// As many nodes as the plan has ranks, and an address of each, in the order of ranks
    ApplicationContainer Install(const NodeContainer& nodes, const std::vector<Ipv4Address>& addresses);
    /// With the first address of each node that is not the loopback's
    ApplicationContainer Install(const NodeContainer& nodes);

    const CollectivePlan& GetPlan() const
    {
        return *m_plan;
    }
    Ptr<CollectiveGroup> GetGroup() const
    {
        return m_group;
    }

  private:
    std::shared_ptr<const CollectivePlan> m_plan;
    ObjectFactory m_factory;
    Ptr<CollectiveGroup> m_group;
};

} // namespace ns3

#endif /* COLLECTIVE_HELPER_H */
