/// The bytes that the schedules of a collective send, to be compared with those of a run.
#pragma once

#include "schedule_cache.hpp"

#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system::detail {

/// Over all groups of `collective`'s partition. O(groups · chunks), and for an uneven collective the pairs
/// of ranks.
[[nodiscard]] Bytes expected_bytes(const CollectiveOperation& collective, const Program& program,
                                   const SystemOptions& options, ScheduleCache& schedules);

}  // namespace astrolabe::system::detail
