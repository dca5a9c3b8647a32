// Alternatives for the job as a whole.
//
// Each is simulated for the first two iterations of the program, on the engine of trials (alone.hpp), and
// ends at twice the time of the best. The fastest is taken, of equal ones the first.
//
// Work is Σ M · min(M/steps, n(n-1)) over the collectives, messages times the pairs of the n ranks that they
// are in flight between at most; of the representatives where ranks fold. Where an alternative is of more
// than 2^27, some tenths of a second to two seconds on direct connect, nothing is simulated from there on,
// and without any simulation the first is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// The job with an alternative, ready to run; nothing where its engine does not run it.
using JobWith = std::function<std::optional<Experiment>(std::uint64_t alternative)>;

/// One of `alternatives`, of which there is one at least: what is known by this key or was recorded with it,
/// else the fastest.
[[nodiscard]] JobChoice choose_for_job(const std::string& key, const std::optional<JobChoice>& recorded,
                                       const std::vector<std::uint64_t>& alternatives,
                                       const JobWith& job_with, const Components& components);

}  // namespace astrolabe::experiment
