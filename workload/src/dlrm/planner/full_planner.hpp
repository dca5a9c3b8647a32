/// The full search of the planner: kind, width and place of every table together.
///
/// The options of each table and what they cost: table_options.hpp. How they are searched: search.hpp, which
/// starts also from the plans that one would write by hand, so that none of them is better by the planner's
/// own measure:
///
///     round_robin    whole tables in turn
///     by_rows        whole tables by falling size, each to the rank that holds least
///     by_lookups     whole tables by falling time of lookup and update, each to the rank that has least
///     column_wise    every table in as many columns' pieces as it can be, in turn
///     row_wise       every table over all ranks
#pragma once

#include "table_options.hpp"

#include <string>
#include <vector>

#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload::planner {

struct FullPlan {
    std::vector<TableRule> rules;  ///< one a table, in order; empty where there are errors
    PlannerReport report;
    ValidationErrors validation_errors;  ///< the memory is not enough, or times are too long
};

/// Requires a sharding without validation errors whose search is kFull.
[[nodiscard]] FullPlan plan_fully(const Sharding& sharding, const DlrmModel& model,
                                  const TrainingCosts& costs);

/// The sharding with these rules for all tables instead of the search.
[[nodiscard]] Sharding made_explicit(const Sharding& sharding, std::vector<TableRule> rules);

/// What the search is given: the options of all tables, and the plans that one would write by hand.
struct Comparison {
    std::vector<std::vector<TableOption>> options;  ///< by table
    Problem problem;
    std::vector<std::string> names;
    std::vector<Assignment> baselines;
};
[[nodiscard]] Comparison comparison(const Sharding& sharding, const DlrmModel& model,
                                    const TrainingCosts& costs);

}  // namespace astrolabe::workload::planner
