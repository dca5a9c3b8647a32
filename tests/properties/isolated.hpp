/// Calls a function in a process of its own, so that an abort, an endless loop or a memory that never ends is
/// an answer like any other.
#pragma once

#include <functional>
#include <string>

namespace astrolabe::testing {

struct Isolated {
    bool returned = false;
    std::string text;  ///< what the function returned; else how the process ended
};

/// At most `processor_seconds` of processor time and 4 GiB of memory.
[[nodiscard]] Isolated call_isolated(const std::function<std::string()>& function,
                                     unsigned processor_seconds);

}  // namespace astrolabe::testing
