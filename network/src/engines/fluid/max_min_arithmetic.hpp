// How exact the doubles of max_min_solver.hpp are taken to be.
#pragma once

#include <limits>

namespace astrolabe::network {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSameLevel = 1e-12;
constexpr double kCriterion = 1e-11;

}  // namespace astrolabe::network
