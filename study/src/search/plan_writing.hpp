/// Plans as experiments: a plan's values put into the tree of the base.
#pragma once

#include <string>
#include <vector>

#include <astrolabe/study/search/search_space.hpp>

namespace astrolabe::study {

/// Writes the places of tables into the workload; `paths` grows by those set.
void write_tables(ConfigNode& root, const workload::MovableTables& tables, const TableMoves& moves,
                  std::vector<std::string>& paths);

/// Writes the alternatives that a plan takes. Paths lead somewhere.
void write_choices(ConfigNode& root, const std::vector<Choice>& choices, const Plan& plan,
                   std::vector<std::string>& paths);

}  // namespace astrolabe::study
