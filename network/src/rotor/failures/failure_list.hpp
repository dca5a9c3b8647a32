/// Failures of a rotor network as parameters list them.
#pragma once

#include "../../topologies/checks.hpp"
#include "../opera.hpp"

#include <vector>

namespace astrolabe::network::rotor {

/// Times are in order, and no more fails altogether than there is.
void check_failures(detail::ParameterCheck& check, const std::vector<FailureParameters>& failures,
                    std::int64_t racks, std::int64_t uplinks);

/// Does anything fail at 0?
[[nodiscard]] bool fail_from_start(const OperaParameters& parameters);

/// At most so many times at which something fails: a state of 512 racks takes 3 MB, and as much again for its
/// paths.
inline constexpr std::size_t kMostFailureTimes = 100;

/// What failures leave of a schedule, those that are drawn and those by name: at the start, and in states
/// without paths from each later time on. What is drawn does not depend on the names.
/// Precondition: they are right. O(racks · superslices · uplinks) time and memory for each time.
struct DegradedSchedule {
    RotorSchedule schedule;
    std::vector<RotorState> failing;
};
[[nodiscard]] DegradedSchedule degrade(const RotorSchedule& whole, const OperaParameters& parameters);

}  // namespace astrolabe::network::rotor
