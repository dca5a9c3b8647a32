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
[[nodiscard]] bool fail_from_start(const std::vector<FailureParameters>& failures);

/// What failures leave of a schedule: at the start, and in states without paths from each later time on.
/// Precondition: they are right. O(racks · superslices · uplinks) time and memory for each time.
struct DegradedSchedule {
    RotorSchedule schedule;
    std::vector<RotorState> failing;
};
[[nodiscard]] DegradedSchedule degrade(const RotorSchedule& whole,
                                       const std::vector<FailureParameters>& failures);

}  // namespace astrolabe::network::rotor
