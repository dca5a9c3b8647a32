/// Step 2 of the search (search.hpp): local changes that relieve the busiest rank.
#pragma once

#include "search.hpp"

#include <cstdint>

namespace astrolabe::workload::planner {

/// Ends at a local optimum, at `lower_bound`, or after kMaxSteps. The memory stays respected.
void improve(const Problem& problem, Assignment& assignment, std::int64_t lower_bound);

}  // namespace astrolabe::workload::planner
