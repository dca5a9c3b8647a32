// SPDX-License-Identifier: GPL-2.0-only
/// The failures of a fabric as events of ns-3: at each change of a link its device is notified, and at each
/// change of routes whoever routes.
///
/// Complexity: an event for each time at which something changes, and what LinksOverTime takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/failures/links_over_time.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {

class FailingLinks {
public:
    /// The link has this share of its rate from now on; 0: it is down.
    using ChangeRate = std::function<void(network::LinkId, double factor)>;
    /// Routes are these from now on, until the next call.
    using ChangeRoutes = std::function<void(const network::RoutingPolicy&)>;

    /// Makes the changes of time 0 at once, and schedules the others. Precondition: the fabric has failures;
    /// it outlives this, and this the simulation.
    FailingLinks(const network::Fabric& fabric, ChangeRate change_rate, ChangeRoutes change_routes);
    FailingLinks(const FailingLinks&) = delete;
    FailingLinks& operator=(const FailingLinks&) = delete;

    [[nodiscard]] std::string name_cut_pairs(const std::vector<network::OutstandingMessage>& messages) const {
        return links_.name_cut_pairs(messages);
    }

private:
    void advance();

    network::LinksOverTime links_;
    ChangeRate change_rate_;
    ChangeRoutes change_routes_;
};

/// Of a link of which this share is left: at least 1 bit/s.
[[nodiscard]] std::uint64_t degraded_rate(Bandwidth rate, double factor);

}  // namespace astrolabe::ns3
