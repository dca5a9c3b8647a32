/// What fails in a network, and when: links that are down or slow from a time until another, and when routes
/// know of it.
///
/// Model. A link of rate C has the rate f(t)·C, with f(t) the smallest factor of the failures that hold at t
/// and 1 where none does; f = 0 means that it is down and carries nothing. Whoever makes routes learns the
/// state of the links at t from t + D on, D being the time of detection; what fails at 0 failed before
/// anything started and is known then. A link that is slow but not down is used like any other.
///
///     0      t1           t1 + D            t2            t2 + D
///     |  up  |    down    |      down       |     up      |  up
///     |  routes lead through it    |  routes lead around it    |  routes lead through it
///
/// A switch or a host fails as all its cables do. One direction of a cable may fail alone.
///
/// Limits. Memory of a switch that fails is not lost beyond what its ports hold; capacity and latency of what
/// is up do not change. Detection takes the same time everywhere, and routes change everywhere at once.
///
/// Complexity: O(f log f) to build for f failures of links, of which 16 bytes a change stay.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

/// Of one link: from `from` on, before `until`; Time::max(): for ever. `from` < `until`.
struct LinkFailure {
    LinkId link;
    Time from;
    Time until = Time::max();
    double factor = 0;  ///< of its rate, at least 0 and below 1; 0: it is down
};

class FailureTimeline {
public:
    /// From `at` on.
    struct RateChange {
        Time at;
        LinkId link;
        double factor = 1;
    };
    struct RouteChange {
        Time at;
        LinkId link;
        bool is_down = false;  ///< as routes know
    };

    FailureTimeline(std::vector<LinkFailure> failures, Time detection);

    /// What happens to links, by time and then by link; every entry changes something.
    [[nodiscard]] std::span<const RateChange> rate_changes() const { return rate_changes_; }
    /// What those who make routes learn, by time and then by link.
    [[nodiscard]] std::span<const RouteChange> route_changes() const { return route_changes_; }
    [[nodiscard]] Time detection() const { return detection_; }

private:
    void change_rates(std::span<const LinkFailure> of_link);
    void change_routes(std::span<const RateChange> of_link);

    std::vector<RateChange> rate_changes_;
    std::vector<RouteChange> route_changes_;
    Time detection_;
};

}  // namespace astrolabe::network
