// How exact the doubles of max_min_solver.hpp are taken to be.
#pragma once

namespace astrolabe::network {

constexpr double kSameLevel = 1e-12;
constexpr double kCriterion = 1e-11;

}  // namespace astrolabe::network
