/// What the page of a report has beside its figures (study/page/): parameters that it filters by, and what
/// the run of every point was like.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

/// Of every parameter and derived value {name, values, at}: its values as texts in the order in which they
/// first occur, as figures have them, and by point the place of its value, -1 where it has none.
[[nodiscard]] nlohmann::ordered_json parameters_json(const std::vector<StudyRow>& rows);

/// By point what its summary says of the run, null of one that has not finished:
///
///     n, i, k     iterations, and the times of the first and every k-th of them, in seconds
///     t, c, d     seconds of the whole run; of them computing and final communication tail, mean over ranks
///     w, r        waiting by cause, the longest [cause, seconds], and seconds of all others
///     p           the critical path by resource, [resource, share]
///     o           its longest operations, [operation, resource, share]
///     f           whether causes were followed through the network for it
///     l           the busiest link, [source, destination, utilization]
///     b           the binding one of the lower bounds
///     s           of a run of flows, in place of all but `l`: flows started and delivered, mean and 99th
///                 percentile of their times in seconds, and of their slowdowns
///
/// What a summary does not have is left out.
[[nodiscard]] nlohmann::ordered_json runs_json(const std::vector<StudyRow>& rows);

}  // namespace astrolabe::study
