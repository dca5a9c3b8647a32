// The exchange of every rank with every other, for the algorithms that differ in how much of it is in flight
// at once.
#pragma once

#include <limits>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system::detail {

inline constexpr Position kNoWindow = std::numeric_limits<Position>::max();

/// At most `window` >= 1 sends of a rank are in flight at any time: the k-th send waits until the
/// (k - window)-th has been delivered, as if the window were so many lanes.
[[nodiscard]] CollectiveSchedule direct_exchange(CollectiveKind kind, Position ranks,
                                                 Position window = kNoWindow);

/// An all_reduce whose halves are stages.
[[nodiscard]] CollectiveSchedule staged_direct_all_reduce(Position ranks);

}  // namespace astrolabe::system::detail
