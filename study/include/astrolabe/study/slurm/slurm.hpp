/// A study on Slurm: an array of tasks, each with a share of the points that have no result.
///
/// Submitting plans the study where it is asked for, and divides the points so that predicted times are even:
/// longest first, each to the share that has least by then. Then
///
///     largest load − smallest load <= the longest point,
///
/// for when the largest share took its last point it was the smallest. A submission is a folder `slurm/N` of
/// the folder of results:
///
///     shares.json  what each task computes: numbers and keys of points, and what they are predicted to take
///     batch.sh     what sbatch was given
///     job.json     the array's id, once Slurm has taken it; a submission without it has not been made
///     task-I.log   what task I said
///
/// A task reads its share from there, never the store, and leaves results in the spool (spool.hpp). A point
/// whose experiment is another than the one submitted ends it with an error: the rest of its share stays
/// open.
///
/// Whether a task still has its points is Slurm's to say: squeue is asked for arrays that have points that
/// are open (`open_keys` of sweep.hpp). Points of tasks that wait or run are not submitted again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/study/slurm/slurm_options.hpp>
#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::study {

inline constexpr const char* kSlurmFolder = "slurm";  ///< in the folder of results

/// Places of `costs` in at most `shares` >= 1 shares, none empty: the largest first, ties in order. Where
/// costs are zero their number counts. O(n (log n + shares)).
[[nodiscard]] std::vector<std::vector<std::size_t>> divide(std::span<const double> costs, std::size_t shares);

/// What a task runs: a program, where, and its words.
struct TaskCommand {
    std::filesystem::path directory;  ///< that relative paths among the words mean
    std::vector<std::string> words;   ///< without those that name the task
};

/// Options of sbatch for an array of a study.
[[nodiscard]] std::vector<std::string> batch_options(const std::string& study, const SlurmOptions& options,
                                                     std::size_t tasks);

/// The batch script of submission `number`; any path may be in it.
[[nodiscard]] std::string batch_script(const std::vector<std::string>& options, const TaskCommand& command,
                                       std::size_t number);

/// A task of a submission, as --task names it.
struct TaskName {
    std::size_t submission = 0;
    std::size_t task = 0;  ///< from 1
};

struct SharePoint {
    std::size_t number = 0;
    Resolution resolution;
};

/// A submission that was made.
struct SlurmArray {
    std::size_t number = 0;
    std::string job;                              ///< as sbatch printed it: "17", or "17;cluster"
    std::vector<std::vector<SharePoint>> shares;  ///< by task
};

/// Submissions of a folder in their order. Errors: records that cannot be read.
[[nodiscard]] Result<std::vector<SlurmArray>> slurm_arrays(const std::filesystem::path& folder);

enum class TaskState : std::uint8_t { kEnded, kPending, kRunning };

/// What squeue says of the tasks of an array. An array that Slurm does not know any more has ended. Errors:
/// Slurm cannot be asked.
[[nodiscard]] Result<std::vector<TaskState>> ask_slurm(const SlurmArray& array);

/// An array that has open points.
struct ArrayStatus {
    std::string job;
    std::size_t number = 0;           ///< of the submission
    std::size_t open = 0;             ///< points, in all its tasks
    std::size_t held = 0;             ///< of them, those of tasks that wait or run
    std::set<std::string> held_keys;  ///< of these
    std::size_t pending = 0;
    std::size_t running = 0;
    std::size_t ended = 0;
    std::optional<Diagnostic> unknown;  ///< why Slurm could not be asked; nothing is counted but `open` then
};

/// Arrays of a folder that have points with some of the keys, which are `open`; unless it `asks` squeue, only
/// those are counted.
[[nodiscard]] Result<std::vector<ArrayStatus>> slurm_status(const std::filesystem::path& folder,
                                                            const std::set<std::string>& open,
                                                            bool asks = true);
[[nodiscard]] nlohmann::ordered_json slurm_json(const std::vector<ArrayStatus>& arrays);
/// A line for each.
[[nodiscard]] std::string slurm_text(const std::vector<ArrayStatus>& arrays);

struct SlurmOutcome {
    std::string job;  ///< empty: there was nothing to submit
    std::size_t tasks = 0;
    std::size_t submitted = 0;  ///< points
    std::size_t held = 0;       ///< open points that other arrays have
    bool interrupted = false;
};

/// Submits what is open (with `tries_failed_again` also what failed) and has no task of an earlier array.
/// Errors: those of `run_sweep`; Slurm cannot be asked about an earlier array, or refuses this one; another
/// process submits from the folder.
[[nodiscard]] Result<SlurmOutcome> submit_sweep(const Study& study, const experiment::Components& components,
                                                ResultStore& store, const std::filesystem::path& folder,
                                                const SlurmOptions& slurm, const TaskCommand& command,
                                                const SweepOptions& options);

/// In a task: computes its share into the spool. Errors: there is no such task, a point has changed, or the
/// spool cannot be written.
[[nodiscard]] Result<SweepOutcome> run_slurm_task(const Study& study,
                                                  const experiment::Components& components,
                                                  const std::filesystem::path& folder, TaskName task,
                                                  const SweepOptions& options);

struct SlurmWait {
    std::function<bool()> stop;  ///< asked ten times a second
    /// Told now and then: all points, and what Slurm last said of arrays.
    std::function<void(const std::vector<StudyRow>&, const std::vector<ArrayStatus>&)> observer;
};

/// Merges results until no point of a study is open, or no task of an array is left that could bring the
/// others. Squeue is asked after a second, then less and less often, twice a minute in the end; while it
/// cannot be asked the wait goes on. False: it was stopped.
[[nodiscard]] Result<bool> wait_for_slurm(const Study& study, ResultStore& store,
                                          const std::filesystem::path& folder, const SlurmWait& wait);

}  // namespace astrolabe::study
