// SPDX-License-Identifier: GPL-2.0-only
#include "failing_links.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ns3/nstime.h>
#include <ns3/simulator.h>

namespace astrolabe::ns3 {

FailingLinks::FailingLinks(const network::Fabric& fabric, ChangeRate change_rate, ChangeRoutes change_routes)
    : links_(fabric),
      change_rate_(std::move(change_rate)),
      change_routes_(std::move(change_routes)) {
    advance();
}

void FailingLinks::advance() {
    const Time now(::ns3::Simulator::Now().GetTimeStep());
    if (links_.advance(now, change_rate_)) {
        change_routes_(links_.routing());
    }
    const Time next = links_.next_change();
    if (next < Time::max()) {
        ::ns3::Simulator::Schedule(::ns3::TimeStep(static_cast<std::uint64_t>((next - now).count())),
                                   &FailingLinks::advance, this);
    }
}

std::uint64_t degraded_rate(Bandwidth rate, double factor) {
    return static_cast<std::uint64_t>(
        std::max<long long>(1, std::llround(static_cast<double>(rate.count()) * factor)));
}

}  // namespace astrolabe::ns3
