/// What a run with `steady_state` left out (docs/models/steady-state.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <astrolabe/core/units.hpp>

namespace astrolabe::experiment {

struct SkippedIterations {
    enum class How : std::uint8_t {
        kNone,      ///< every iteration was simulated: `reason` says why
        kExact,     ///< the state was that of an earlier iteration
        kButOrder,  ///< likewise, but for the order of computations that end at one instant
        kMeasured   ///< as many iterations as the window has took as long, within the tolerance
    };

    How how = How::kNone;
    int iterations = 0;  ///< of the run
    int skipped = 0;     ///< of these
    int period = 0;      ///< iterations that repeat
    Time period_time{};  ///< what they take
    double tolerance = 0;
    Time shortest{};  ///< of the iterations of the window; kMeasured
    Time longest{};   ///< likewise
    std::string reason;

    [[nodiscard]] int simulated() const { return iterations - skipped; }
    /// (longest - shortest) / shortest.
    [[nodiscard]] double spread() const {
        return how == How::kMeasured ? to_seconds(longest - shortest) / to_seconds(shortest) : 0.0;
    }
    /// By how much a run of `total` may be longer or shorter, as a part of it, if no iteration that was left
    /// out takes longer or shorter than those of the window. Nobody knows whether that is so. 0 where it is
    /// exact.
    [[nodiscard]] double error_if_so(Time total) const {
        if (how != How::kMeasured) {
            return 0.0;
        }
        const double mean = to_seconds(period_time) / period;
        const double most = std::max(to_seconds(longest) - mean, mean - to_seconds(shortest));
        return std::max(most, 0.0) * skipped / to_seconds(total);
    }
};

}  // namespace astrolabe::experiment
