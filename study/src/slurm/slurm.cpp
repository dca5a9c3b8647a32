#include "../process/tool.hpp"
#include "../sweep/point_claims.hpp"
#include "../sweep/point_runner.hpp"
#include "slurm_records.hpp"

#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/study/slurm/slurm.hpp>
#include <astrolabe/study/sweep/spool.hpp>

namespace astrolabe::study {
namespace {

constexpr const char* kSubmitting = "submission to slurm";  // a claim beside those of points

/// Keys that tasks of earlier arrays still have, of those that are open.
Result<std::set<std::string>> held_keys(const std::filesystem::path& folder,
                                        const std::set<std::string>& open) {
    Result<std::vector<ArrayStatus>> arrays = slurm_status(folder, open);
    if (!arrays) {
        return arrays.error();
    }
    std::set<std::string> held;
    for (ArrayStatus& array : *arrays) {
        if (array.unknown) {
            return *std::move(array.unknown);
        }
        held.merge(array.held_keys);
    }
    return held;
}

/// Those that a task left in the spool before Slurm said that it had ended are there by now.
std::optional<Diagnostics> drop_done(const Study& study, ResultStore& store,
                                     const std::filesystem::path& folder, const SweepOptions& options,
                                     std::vector<PlannedPoint>& points) {
    const Result<std::size_t> merged = merge_spool(folder, store);
    if (!merged) {
        return merged.error();
    }
    std::erase_if(points, [&](const PlannedPoint& planned) {
        return !is_to_be_run(status_for(study, store, planned.resolution.key), options);
    });
    return std::nullopt;
}

/// Failures that are tried again: gone from the store while they are, and back if no array takes them.
class Retry {
public:
    Retry(ResultStore& store, const std::vector<PlannedPoint>& points)
        : store_(store) {
        for (const PlannedPoint& planned : points) {
            if (std::optional<StoredResult> result = store.result(planned.resolution.key)) {
                keys_.push_back(result->key);
                failures_.push_back(*std::move(result));
            }
        }
    }

    [[nodiscard]] std::optional<Diagnostic> begin() { return store_.forget_failures(keys_); }
    [[nodiscard]] std::optional<Diagnostic> undo() { return store_.put(failures_); }

private:
    ResultStore& store_;
    std::vector<std::string> keys_;
    std::vector<StoredResult> failures_;
};

SlurmArray make_array(const std::filesystem::path& folder, const std::vector<PlannedPoint>& points,
                      std::size_t tasks) {
    std::vector<double> costs;
    for (const PlannedPoint& planned : points) {
        costs.push_back(planned.resolution.predicted_wall_seconds.value_or(0));
    }
    SlurmArray array{next_submission(folder), "", {}};
    for (const std::vector<std::size_t>& share : divide(costs, tasks)) {
        std::vector<SharePoint>& written = array.shares.emplace_back();
        for (const std::size_t place : share) {
            written.push_back({points[place].point->number, points[place].resolution});
        }
    }
    return array;
}

/// What sbatch --parsable prints: an id, and perhaps a cluster.
std::optional<std::string> job_in(const std::string& text) {
    const std::string line = text.substr(0, text.find_first_of(" \n"));
    return !line.empty() && std::isdigit(static_cast<unsigned char>(line.front())) != 0 ? std::optional(line)
                                                                                        : std::nullopt;
}

/// Gives the array its id.
std::optional<Diagnostic> submit(const std::filesystem::path& folder, const std::string& study,
                                 const SlurmOptions& slurm, const TaskCommand& command, SlurmArray& array) {
    if (std::optional<Diagnostic> error = write_shares(folder, array)) {
        return error;
    }
    const std::filesystem::path files =
        std::filesystem::absolute(submission_folder(folder, array.number)).lexically_normal();
    const Result<experiment::OutputFolder> written = experiment::OutputFolder::open(files);
    if (!written) {
        return written.error().front();
    }
    const std::vector<std::string> options = batch_options(study, slurm, array.shares.size());
    if (std::optional<Diagnostic> error =
            written->write("batch.sh", batch_script(options, command, array.number))) {
        return error;
    }
    // On its command line too, where no SBATCH_… variable of the user's has more to say.
    std::vector<std::string> words{"sbatch", "--parsable", "--chdir=" + files.string()};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back((files / "batch.sh").string());
    const ToolOutcome answer = run_tool(std::move(words));
    const std::optional<std::string> job = job_in(answer.out);
    if (answer.exit_code != 0 || !job) {
        return Diagnostic{
            "slurm.submit",
            {},
            fmt::format("the array was not submitted: {}",
                        answer.exit_code != 0 ? failure_text(answer) : "sbatch printed no job id"),
            fmt::format("'{}' is what sbatch was given; --launcher local needs no Slurm",
                        (files / "batch.sh").string()),
            {}};
    }
    array.job = *job;
    std::optional<Diagnostic> error = write_job(folder, array);
    if (error) {
        error->message =
            fmt::format("array {} was submitted and cannot be noted: {}", array.job, error->message);
        error->hint = fmt::format("end it with 'scancel {}'; {}", array.job.substr(0, array.job.find(';')),
                                  error->hint);
    }
    return error;
}

/// Results go into a spool, of a task that knows nothing of others.
class SpoolSink : public PointSink {
public:
    explicit SpoolSink(Spool spool)
        : spool_(std::move(spool)) {}

    bool take(const std::string& /*key*/) override { return true; }
    void release(const std::string& /*key*/) override {}
    /// Slurm may start a task again, which had results before.
    PointStatus status(const std::string& key) override { return spool_.status(key); }
    std::optional<Diagnostic> put(const StoredResult& result) override { return spool_.put(result); }

private:
    Spool spool_;
};

}  // namespace

Result<SlurmOutcome> submit_sweep(const Study& study, const experiment::Components& components,
                                  ResultStore& store, const std::filesystem::path& folder,
                                  const SlurmOptions& slurm, const TaskCommand& command,
                                  const SweepOptions& options) {
    Result<OpenPoints> open =
        find_open_points(study, components, store, options, [](const StudyPoint&) { return true; });
    if (!open) {
        return open.error();
    }
    SlurmOutcome outcome;
    outcome.interrupted = open->outcome.interrupted;
    if (outcome.interrupted || open->points.empty()) {
        return outcome;
    }
    PointClaims claims(folder / kLockName);
    if (!claims.take(kSubmitting)) {
        return Diagnostic{"slurm.submit",
                          {},
                          fmt::format("another command submits from '{}' now", folder.string()),
                          "run this one again once it has ended",
                          {}};
    }
    std::set<std::string> missing;
    for (const PlannedPoint& planned : open->points) {
        if (status_for(study, store, planned.resolution.key) == PointStatus::kMissing) {
            missing.insert(planned.resolution.key);
        }
    }
    const Result<std::set<std::string>> held = held_keys(folder, missing);
    if (!held) {
        return held.error();
    }
    if (std::optional<Diagnostics> errors = drop_done(study, store, folder, options, open->points)) {
        return *std::move(errors);
    }
    outcome.held = std::erase_if(
        open->points, [&](const PlannedPoint& planned) { return held->count(planned.resolution.key) > 0; });
    outcome.interrupted = options.stop();
    if (outcome.interrupted || open->points.empty()) {
        return outcome;
    }
    SlurmArray array = make_array(folder, open->points, static_cast<std::size_t>(slurm.tasks));
    Retry retry(store, open->points);
    if (std::optional<Diagnostic> error = retry.begin()) {
        return *std::move(error);
    }
    if (std::optional<Diagnostic> error = submit(folder, study.name, slurm, command, array)) {
        Diagnostics errors{*std::move(error)};
        if (std::optional<Diagnostic> another = retry.undo()) {
            errors.push_back(*std::move(another));
        }
        return errors;
    }
    outcome.job = array.job;
    outcome.tasks = array.shares.size();
    outcome.submitted = open->points.size();
    return outcome;
}

Result<SweepOutcome> run_slurm_task(const Study& study, const experiment::Components& components,
                                    const std::filesystem::path& folder, TaskName task,
                                    const SweepOptions& options) {
    const Result<SlurmArray> array = read_submission(folder, task.submission);
    if (!array) {
        return array.error();
    }
    if (task.task < 1 || task.task > array->shares.size()) {
        return Diagnostic{"slurm.record",
                          {},
                          fmt::format("submission {} has {} tasks, and no task {}", task.submission,
                                      array->shares.size(), task.task),
                          "tasks are started by Slurm; cancel the array and sweep again",
                          {}};
    }
    std::vector<PlannedPoint> points;
    for (const SharePoint& point : array->shares[task.task - 1]) {
        if (point.number < 1 || point.number > study.points.size()) {
            return Diagnostic{"config.study",
                              study.where,
                              fmt::format("the study has {} points, and when it was submitted it had a point "
                                          "{}: it has changed",
                                          study.points.size(), point.number),
                              "cancel the array and sweep again",
                              {}};
        }
        points.push_back({&study.points[point.number - 1], point.resolution});
    }
    Result<Spool> spool = Spool::open(folder, fmt::format("{}-{}", task.submission, task.task));
    if (!spool) {
        return spool.error();
    }
    SpoolSink sink(*std::move(spool));
    SweepOutcome outcome;
    outcome.points = points.size();
    return run_points(study, components, std::move(points), sink, options, outcome);
}

}  // namespace astrolabe::study
