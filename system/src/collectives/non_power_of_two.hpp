// How an algorithm for powers of two supports any number of ranks
// (docs/theory/collectives-and-costs.md, "Algorithms").
//
// The first P = 2^⌊log2 N⌋ ranks, the core, run the algorithm. Each of the r = N - P extra ranks has a
// partner in the core, to which it sends its data before the first step and from which it receives its
// result after the last one. N = 6: P = 4, and the extra ranks 4 and 5 have the partners 0 and 1. That adds,
// contention-free, 2(α + Sβ) to an all_reduce over P ranks.
#pragma once

#include <bit>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system {

struct PowerOfTwoSplit {
    Position core;    ///< P
    Position extras;  ///< r < P

    explicit PowerOfTwoSplit(Position ranks)
        : core(std::bit_floor(ranks)),
          extras(ranks - core) {}

    [[nodiscard]] bool has_extras() const { return extras > 0; }
    [[nodiscard]] bool has_extra(Position core_rank) const { return core_rank < extras; }
    [[nodiscard]] Position extra_of(Position core_rank) const { return core + core_rank; }
    [[nodiscard]] Position partner_of(Position extra) const { return extra - core; }
};

}  // namespace astrolabe::system
