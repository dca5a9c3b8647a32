/// Ranks that compute more slowly than their device for a time.
///
/// Model. A compute operation of duration d that starts on a rank at s ends at the first e with
///
///     ∫_s^e v(t) dt >= d,
///
/// v(t) being the rank's speed, the smallest of those given for t and 1 where none is. An operation that is
/// in flight when the speed changes goes on at the new speed. What happens behind collectives (additions,
/// copies) keeps its pace.
///
/// Arithmetic: speeds are whole billionths and times whole picoseconds, so that e is exact and rounded up
/// once: a rank at 0.5 takes twice as long to the picosecond.
///
/// Complexity: an operation O(log changes + changes while it runs).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/ids.hpp>

namespace astrolabe::system {

/// Of a rank: from `from` on, before `until`; Time::max(): for ever. `from` < `until`.
struct SlowRank {
    RankId rank;
    Time from;
    Time until = Time::max();
    double speed = 1;  ///< 0 to 1, in billionths; 0: it stands still
};

class ComputeSpeeds {
public:
    explicit ComputeSpeeds(const std::vector<SlowRank>& slow);

    /// From `start` to the end of an operation; Time::max(): it never ends, or after the end of time.
    [[nodiscard]] Time duration(RankId rank, Time start, Time duration) const;

private:
    struct Change {
        Time at;
        std::int64_t billionths;  ///< of the speed from then on
    };

    std::map<RankId, std::vector<Change>> changes_;  ///< by time
};

}  // namespace astrolabe::system
