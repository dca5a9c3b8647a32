/// Results of several jobs on one network (docs/results.md, "Several jobs").
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/run/jobs_run.hpp>

namespace astrolabe::experiment {

/// Iteration times in rising order: the least of which `share` of all are no longer (nearest rank).
/// Precondition: there are some.
[[nodiscard]] Time percentile(std::vector<Time> times, double share);

/// summary.json. Scalars that a run of one job has, too, have the same keys.
[[nodiscard]] nlohmann::ordered_json jobs_summary_json(const Experiment& experiment, const JobsRun& run);

/// How long each job took, and how that compares with being alone.
[[nodiscard]] std::string jobs_text_summary(const Experiment& experiment, const JobsRun& run);

/// jobs.csv: a row for every job.
[[nodiscard]] std::string jobs_csv(const Experiment& experiment, const JobsRun& run);
/// iterations.csv: a row for every iteration that counts.
[[nodiscard]] std::string job_iterations_csv(const Experiment& experiment, const JobsRun& run);
/// interference.csv: a row for every ordered pair of jobs that meet.
[[nodiscard]] std::string interference_csv(const Experiment& experiment, const JobsRun& run);

/// summary.json, resolved.yaml, jobs.csv, iterations.csv, interference.csv, of a network that is shared
/// links.csv, and in a folder for each job what its first run is known by: summary.json, operations.csv and
/// critical_path.csv.
[[nodiscard]] Diagnostics write_jobs_results(const OutputFolder& folder, const Experiment& experiment,
                                             const JobsRun& run);

}  // namespace astrolabe::experiment
