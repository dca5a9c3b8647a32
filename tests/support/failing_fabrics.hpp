/// Fabrics of which cables fail, by the names of the nodes at their ends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/failures/failure_timeline.hpp>

namespace astrolabe::network {

inline LinkId link_between(const Fabric& fabric, const std::string& source, const std::string& target) {
    std::optional<LinkId> found;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        if (fabric.node(fabric.source(link)).name == source &&
            fabric.node(fabric.target(link)).name == target) {
            found = found ? found : link;
        }
    }
    ASTROLABE_ASSERT(found.has_value(), "the fabric has the link");
    return *found;
}

/// Both directions of a cable.
inline std::vector<LinkFailure> cable_failure(const Fabric& fabric, LinkId link, Time from, Time until,
                                              double factor = 0) {
    std::vector<LinkFailure> failures{{link, from, until, factor}};
    if (const auto reverse = fabric.link(link).reverse) {
        failures.push_back({*reverse, from, until, factor});
    }
    return failures;
}

inline std::shared_ptr<const Fabric> failing(const std::shared_ptr<const Fabric>& fabric,
                                             std::vector<LinkFailure> failures, Time detection) {
    return fabric->with_failures(std::make_shared<const FailureTimeline>(std::move(failures), detection));
}

}  // namespace astrolabe::network
