/// Running a study: every point that has no result yet, each in a process of its own.
///
/// Planning reads each point as an experiment for its key and predicted cost, in worker processes, each of
/// which reads several neighbours and builds the networks that they share once (job_networks.hpp); what is
/// remembered in the store is not read again. Running starts points longest first, as many at a time as there
/// are jobs, and only what fits: with R the running points,
///
///     predicted memory of the point <= available − Σ over R of max(0, predicted − resident now)
///
/// `available` is what machine_memory.hpp says at that moment, or what is left of a given amount. A point
/// that does not fit alone fails. A result is put in the store when its process ends: what is put is the same
/// whatever runs beside it, in however many processes, shards or sweeps.
///
/// Sweeps that share a store share its work: a point that another computes is waited for, and computed if the
/// other ends without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <astrolabe/study/file/study.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

struct PlanProgress {
    std::size_t points = 0;  ///< to be read
    std::size_t read = 0;
    double wall_seconds = 0;
};

struct SweepProgress {
    std::size_t points = 0;  ///< of this shard
    std::size_t done = 0;    ///< of them, with those that had been before
    std::size_t failed = 0;
    std::size_t running = 0;
    double left_seconds = 0;  ///< predicted, scaled by how far predictions were off so far
    double wall_seconds = 0;
};

struct SweepOptions {
    std::size_t jobs = 1;
    std::size_t shard = 1;  ///< of `shards`: points number shard, shard + shards, …
    std::size_t shards = 1;
    bool tries_failed_again = false;
    std::optional<Time> time_limit;      ///< for a point; of the wall
    std::optional<double> memory_bytes;  ///< for all that run, instead of what the machine has
    std::function<bool()> stop;          ///< asked ten times a second
    std::function<void(const SweepProgress&)> observer;
    std::function<void(const PlanProgress&)> plan_observer;
};

struct PlanOptions {
    std::size_t jobs = 1;
    std::function<bool(const StudyPoint&)> wants_cost;  ///< of which points the cost is to be predicted
    std::function<bool()> stop;                         ///< asked ten times a second
    std::function<void(const PlanProgress&)> observer;
};

/// What is known of the points of a study, in their order.
struct StudyPlan {
    std::vector<Resolution> points;
    std::map<std::size_t, std::string> crashes;  ///< places in `points` that could not be read, and why
    bool interrupted = false;                    ///< the points are not all there then
    std::uint64_t networks_built = 0;            ///< for the jobs of points; fewer where points share them
};

/// Reads points that the store (which may be null) does not remember. Errors are those of all points that
/// are no experiments, each once, at most twenty. A point whose reading crashes has a key of its own that no
/// result will have.
[[nodiscard]] Result<StudyPlan> plan_study(const Study& study, const experiment::Components& components,
                                           ResultStore* store, const PlanOptions& options);

struct SweepOutcome {
    std::size_t points = 0;  ///< of this shard
    std::size_t done = 0;
    std::size_t failed = 0;
    std::size_t computed = 0;  ///< by this sweep, failed ones too
    bool interrupted = false;
};

/// Plans and runs. Errors: points that are no experiments, or a store that takes no more; what was put stays.
[[nodiscard]] Result<SweepOutcome> run_sweep(const Study& study, const experiment::Components& components,
                                             ResultStore& store, const std::filesystem::path& folder,
                                             const SweepOptions& options);

/// Points as the store (which may be missing) knows them, nothing being read or run: in the study's order.
[[nodiscard]] std::vector<StudyRow> sweep_status(const Study& study, const ResultStore* store);
/// Keys of points that a sweep would compute: those without a result, and those that lack details which
/// figures of the study are drawn from. Points whose key is not known are not among them.
[[nodiscard]] std::set<std::string> open_keys(const Study& study, const ResultStore* store,
                                              const std::vector<StudyRow>& rows);
[[nodiscard]] std::size_t count_points(const std::vector<StudyRow>& rows, PointStatus status);
/// "1 point", "2 points"
[[nodiscard]] std::string points_text(std::size_t count);

/// `sweep --json`: a row per point with its parameters and the scalar keys of its summary.
[[nodiscard]] nlohmann::ordered_json study_json(const std::string& study, const std::vector<StudyRow>& rows);
/// A table for people.
[[nodiscard]] std::string study_text(const std::string& study, const std::vector<StudyRow>& rows);

/// What `validate` says of a study: its points with their predicted cost, and the sum.
[[nodiscard]] std::string plan_text(const Study& study, const StudyPlan& plan);
[[nodiscard]] nlohmann::ordered_json plan_json(const Study& study, const StudyPlan& plan);

}  // namespace astrolabe::study
