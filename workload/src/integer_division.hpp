/// Division of counts.
#pragma once

#include <cstdint>

namespace astrolabe::workload {

/// ⌈a / b⌉ for a >= 0, b > 0.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return a / b + (a % b == 0 ? 0 : 1);
}

}  // namespace astrolabe::workload
