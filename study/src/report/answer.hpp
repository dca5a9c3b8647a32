/// The answer of a study in words and numbers, which opens its report: what wins where, by how much, why, at
/// what price, what would change it, and what was not simulated.
#pragma once

#include "verdict.hpp"

namespace astrolabe::study {

/// Keys are described in docs/report.md. The rows are all of the study, also those that failed.
[[nodiscard]] nlohmann::ordered_json answer_of(const StudyAxes& axes, const Contest& contest,
                                               const PriceOf& price, const std::vector<StudyRow>& rows);

/// A row for each setting and budget: the winner, the next best, and the margin. Drawn is the map without a
/// budget, the page has the others.
[[nodiscard]] Drawn winner_figure(const StudyAxes& axes, const Contest& contest, const PriceOf& price);

/// US dollars a host, ascending, from each of which on another contender wins in some setting than with less.
/// Rounded up to four digits, to two where there are many; without that from which on it is as without a
/// budget. O(prices · points · log points).
[[nodiscard]] std::vector<double> budgets_of(const StudyAxes& axes, const Contest& contest,
                                             const PriceOf& price);

}  // namespace astrolabe::study
