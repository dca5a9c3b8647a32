/// Which call each wait of a trace is for.
///
/// A wait names a sequence number, which calls of several groups may have, and at times the group, or that it
/// is for a message. It is for the latest call before it of that number, group and kind that no other wait is
/// for.
///
/// Complexity: O(calls · log calls), however many calls of one number are open.
#pragma once

#include "comm_call.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace astrolabe::workload::pytorch {

struct Waits {
    std::vector<std::optional<std::size_t>> target;  ///< by call
    std::vector<bool> is_awaited;                    ///< by call
    std::size_t before = 0;                          ///< waits for nothing in the trace
    std::size_t open = 0;                            ///< calls that no wait is for
};

[[nodiscard]] Waits waits_of(std::span<const CommCall> calls);

}  // namespace astrolabe::workload::pytorch
