/// How times and rates of the fluid engine, doubles inside, become whole numbers again (docs/models/fluid.md,
/// "Numbers").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace astrolabe::network {

/// Integers up to here are exact as doubles.
inline constexpr double kExactIntegers = 0x1p53;

[[nodiscard]] inline bool is_whole(double value) {
    return std::abs(value) < kExactIntegers && value == static_cast<double>(static_cast<std::int64_t>(value));
}

/// A duration so little above a picosecond counts as that picosecond. At least what a microsecond allows: the
/// work that is left for a short time errs by what was served before.
[[nodiscard]] inline double rounding_tolerance(double duration) {
    return std::clamp(duration * 0x1p-36, 0x1p-16, 0.25);
}

/// The whole number of bit/s that a rate misses by no more than sums of shares in another order may differ,
/// so that runs which add in another order compute on in the same integers; else the rate itself.
[[nodiscard]] inline double snapped(double rate) {
    const double whole = std::round(rate);
    return std::abs(rate - whole) <= rate * 0x1p-50 ? whole : rate;
}

}  // namespace astrolabe::network
