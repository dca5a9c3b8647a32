/// The largest whole number whose cost is within a limit, for costs that never fall.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::experiment {

struct CostAt {
    std::int64_t number = 0;
    double cost = 0.0;
};

/// Where the limit is passed: cost(within) <= limit < cost(beyond), beyond = within + 1.
struct Crossing {
    CostAt within;
    CostAt beyond;
};

/// Bisects over `bends` first, ascending numbers between which the cost is about a straight line; then takes
/// the point where the line through both ends meets the limit, and halves after a step that left more than
/// half. `cost` maps a number to an optional cost; nothing ends the search with nothing.
/// Precondition: cost(low) <= limit < cost(high).
/// Complexity: O(log bends) costs and a few on straight lines, O(log(high - low)) at most on any others.
template <class Cost>
[[nodiscard]] std::optional<Crossing> largest_within(double limit, CostAt low, CostAt high,
                                                     std::span<const std::int64_t> bends, Cost&& cost) {
    ASTROLABE_ASSERT(low.number < high.number && low.cost <= limit && limit < high.cost,
                     "the limit is between the ends");
    bool halve = false;
    while (high.number - low.number > 1) {
        const auto first = std::upper_bound(bends.begin(), bends.end(), low.number);
        const auto last = std::lower_bound(first, bends.end(), high.number);
        const std::int64_t width = high.number - low.number;
        std::int64_t number = low.number + width / 2;
        if (first != last) {
            number = *(first + (last - first) / 2);
        } else if (!halve) {
            const double share = (limit - low.cost) / (high.cost - low.cost);
            const auto step = static_cast<std::int64_t>(share * static_cast<double>(width));
            number = low.number + std::clamp<std::int64_t>(step, 1, width - 1);
        }
        const std::optional<double> found = cost(number);
        if (!found) {
            return std::nullopt;
        }
        (*found <= limit ? low : high) = CostAt{number, *found};
        halve = !halve && high.number - low.number > width / 2;
    }
    return Crossing{low, high};
}

}  // namespace astrolabe::experiment
