// Folding: how an algorithm for powers of two serves any number of ranks
// (docs/theory/collectives-and-costs.md, "Algorithms").
//
// The first P = 2^⌊log2 N⌋ ranks, the core, run the algorithm. Each of the r = N - P extra ranks has a
// partner in the core, to which it hands over what it holds before the first step and from which it gets its
// result after the last one.
#pragma once

#include <bit>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system::detail {

struct Folding {
    Position core;    // P
    Position extras;  // r < P

    explicit Folding(Position ranks)
        : core(std::bit_floor(ranks)),
          extras(ranks - core) {}

    [[nodiscard]] bool needed() const { return extras > 0; }
    [[nodiscard]] bool has_extra(Position core_rank) const { return core_rank < extras; }
    [[nodiscard]] Position extra_of(Position core_rank) const { return core + core_rank; }
    [[nodiscard]] Position partner_of(Position extra) const { return extra - core; }
};

}  // namespace astrolabe::system::detail
