/// A matching of greatest weight, by LEMON.
///
/// LEMON 1.3.1 does not compile as C++20, so this header and its source are C++17 and use nothing of
/// astrolabe.
#pragma once

#include <cstdint>
#include <vector>

namespace astrolabe::network::topoopt::detail {

struct WeightedPair {
    std::uint32_t a;
    std::uint32_t b;
    std::int64_t weight;  ///< > 0, below 2^61
};

/// By node: whom it is matched with, or itself. Each pair at most once in `pairs`.
std::vector<std::uint32_t> heaviest_matching(std::uint32_t nodes, const std::vector<WeightedPair>& pairs);

}  // namespace astrolabe::network::topoopt::detail
