/// Sums of times that end at Time::max() instead of overflowing.
#pragma once

#include <astrolabe/core/units.hpp>

namespace astrolabe::experiment {

/// `by` must not be negative.
[[nodiscard]] inline Time later(Time time, Time by) {
    return time > Time::max() - by ? Time::max() : time + by;
}

}  // namespace astrolabe::experiment
