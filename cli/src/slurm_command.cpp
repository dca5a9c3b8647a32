#include "sweep_arguments.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/study/sweep/spool.hpp>

namespace astrolabe::cli {
namespace {

using study::ArrayStatus;
using study::points_text;
using study::StudyRow;

/// What a task runs: this program as it was called, on absolute paths.
study::TaskCommand task_command(const SweepArguments& arguments, const std::filesystem::path& folder,
                                const study::SlurmOptions& slurm) {
    const auto absolute = [](const std::filesystem::path& path) {
        return std::filesystem::absolute(path).lexically_normal().string();
    };
    std::error_code failure;
    study::TaskCommand command{
        std::filesystem::current_path(),
        {std::filesystem::read_symlink("/proc/self/exe", failure).string(), "sweep", absolute(arguments.file),
         "--out", absolute(folder), "-j", std::to_string(slurm.jobs), "--progress", "none"}};
    const auto add = [&](const char* option, const std::string& value) {
        command.words.insert(command.words.end(), {option, value});
    };
    for (const std::string& assignment : arguments.overrides) {
        add("--set", assignment);
    }
    if (!arguments.time_limit.empty()) {
        add("--time-limit", arguments.time_limit);
    }
    if (slurm.memory) {
        add("--memory", to_string(*slurm.memory));
    }
    return command;
}

/// The table with arrays beside it.
void print_all(const study::Study& study, const std::vector<StudyRow>& rows,
               const std::vector<ArrayStatus>& arrays, bool json) {
    if (!json) {
        print_rows(study, rows, false);
        print_out(study::slurm_text(arrays));
        return;
    }
    nlohmann::ordered_json table = study::study_json(study.name, rows);
    if (!arrays.empty()) {
        table["slurm"] = study::slurm_json(arrays);
    }
    print_json(table);
}

/// What was submitted, or why nothing was.
int report_submission(const SweepArguments& arguments, const study::Study& study,
                      const study::ResultStore& store, const std::filesystem::path& folder,
                      const study::SlurmOutcome& outcome) {
    if (arguments.json) {
        return print_status(arguments, study, &store, folder, store.rows(study.name));
    }
    const std::string held =
        outcome.held > 0 ? fmt::format("; {} are with earlier arrays", points_text(outcome.held)) : "";
    print_out(outcome.job.empty() ? fmt::format("{}: nothing to submit{}\n", study.name, held)
                                  : fmt::format("{}: array {} computes {} in {} task{}{}\n", study.name,
                                                outcome.job, points_text(outcome.submitted), outcome.tasks,
                                                outcome.tasks == 1 ? "" : "s", held));
    print_error(
        fmt::format("  hint: --status reports how far it is; results are in '{}'\n", folder.string()));
    return kDone;
}

/// After the last task.
int report_results(const SweepArguments& arguments, const study::Study& study,
                   const study::ResultStore& store, const std::filesystem::path& folder) {
    const std::vector<StudyRow> rows = store.rows(study.name);
    print_rows(study, rows, arguments.json);
    const std::set<std::string> open = study::open_keys(study, &store, rows);
    if (!open.empty()) {
        print_failure(fmt::format(
            "astrolabe: tasks have ended without results of {}\n  hint: the same command submits them again; "
            "'{}' has what tasks said\n",
            points_text(open.size()), (folder / study::kSlurmFolder).string()));
        return kSimulationFailed;
    }
    return report_failures(study::count_points(rows, study::PointStatus::kFailed), rows.size());
}

/// How far arrays are.
struct ArrayProgress {
    std::size_t points = 0;
    std::size_t done = 0;
    std::size_t failed = 0;
    std::size_t running = 0;  ///< tasks
    std::size_t pending = 0;
    double seconds = 0;
};

std::string progress_text(const ArrayProgress& progress) {
    return fmt::format("{} of {} points, {} failed, {} tasks running, {} waiting, {:.0f} s gone",
                       progress.done + progress.failed, progress.points, progress.failed, progress.running,
                       progress.pending, progress.seconds);
}

nlohmann::ordered_json progress_fields(const ArrayProgress& progress) {
    return {{"points", progress.points},
            {"points_done", progress.done},
            {"points_failed", progress.failed},
            {"tasks_running", progress.running},
            {"tasks_waiting", progress.pending}};
}

ArrayProgress progress_of(const std::vector<StudyRow>& rows, const std::vector<ArrayStatus>& arrays,
                          double seconds) {
    ArrayProgress progress{.points = rows.size(),
                           .done = study::count_points(rows, study::PointStatus::kDone),
                           .failed = study::count_points(rows, study::PointStatus::kFailed),
                           .seconds = seconds};
    for (const ArrayStatus& array : arrays) {
        progress.running += array.running;
        progress.pending += array.pending;
    }
    return progress;
}

int wait_command(const SweepArguments& arguments, const study::Study& study, study::ResultStore& store,
                 const std::filesystem::path& folder, ProgressReport& progress) {
    bool is_asked = true;
    const auto start = std::chrono::steady_clock::now();
    study::SlurmWait wait{was_interrupted, {}};
    wait.observer = [&](const std::vector<StudyRow>& rows, const std::vector<ArrayStatus>& arrays) {
        const auto unknown = std::find_if(arrays.begin(), arrays.end(),
                                          [](const ArrayStatus& array) { return array.unknown.has_value(); });
        if (is_asked && unknown != arrays.end()) {
            print_warning(unknown->unknown->render() + "astrolabe: waiting all the same\n");
        }
        is_asked = unknown == arrays.end();
        const ArrayProgress now = progress_of(
            rows, arrays, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        progress.show([&] { return progress_text(now); }, [&] { return progress_fields(now); });
    };
    const Result<bool> waited = study::wait_for_slurm(study, store, folder, wait);
    progress.clear();
    if (!waited) {
        return report_unusable(waited.error());
    }
    if (!*waited) {
        print_failure(
            "astrolabe: interrupted; the array goes on (scancel ends it), and --status reports how far it "
            "is\n");
        return kInterrupted;
    }
    return report_results(arguments, study, store, folder);
}

double number_in_environment(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::strtod(text, nullptr);
}

/// What Slurm gave this task where the study asked for nothing; the machine may have more.
std::optional<double> memory_from_slurm() {
    constexpr double kMebibyte = 1 << 20;
    const double node = number_in_environment("SLURM_MEM_PER_NODE");
    const double processors =
        number_in_environment("SLURM_MEM_PER_CPU") * number_in_environment("SLURM_CPUS_ON_NODE");
    const double mebibytes = node > 0 ? node : processors;
    return mebibytes > 0 ? std::optional(mebibytes * kMebibyte) : std::nullopt;
}

}  // namespace

int slurm_sweep(const SweepArguments& arguments, const study::Study& study,
                const experiment::Components& components, study::ResultStore& store,
                const std::filesystem::path& folder, const study::SweepOptions& options,
                ProgressReport& progress) {
    const study::SlurmOptions slurm = slurm_options(arguments, study);
    const Result<study::SlurmOutcome> outcome =
        with_progress(progress, options, [&](const study::SweepOptions& observed) {
            return study::submit_sweep(study, components, store, folder, slurm,
                                       task_command(arguments, folder, slurm), observed);
        });
    if (was_interrupted() || (outcome && outcome->interrupted)) {
        print_failure("astrolabe: interrupted; --status reports whether an array was submitted\n");
        return kInterrupted;
    }
    if (!outcome) {
        return report_unusable(outcome.error());
    }
    const bool is_open = !outcome->job.empty() || outcome->held > 0;
    if (is_open && !arguments.slurm.wait) {
        return report_submission(arguments, study, store, folder, *outcome);
    }
    return is_open ? wait_command(arguments, study, store, folder, progress)
                   : report_results(arguments, study, store, folder);
}

int slurm_task(const SweepArguments& arguments, const study::Study& study,
               const experiment::Components& components, const std::filesystem::path& folder,
               study::SweepOptions options) {
    if (!options.memory_bytes) {
        options.memory_bytes = memory_from_slurm();
    }
    const Result<study::SweepOutcome> outcome = study::run_slurm_task(
        study, components, folder, parse_task(arguments.slurm.task.value()).value(), options);
    if (!outcome) {
        return report_unusable(outcome.error());
    }
    print_error(fmt::format("{}: task {}{}: {}, {} done, {} failed\n", study.name, *arguments.slurm.task,
                            outcome->interrupted ? " was interrupted" : "", points_text(outcome->points),
                            outcome->done, outcome->failed));
    return outcome->interrupted ? kInterrupted : outcome->failed > 0 ? kSomeFailed : kDone;
}

int print_status(const SweepArguments& arguments, const study::Study& study, const study::ResultStore* store,
                 const std::filesystem::path& folder, const std::vector<StudyRow>& rows) {
    const Result<std::vector<ArrayStatus>> arrays =
        study::slurm_status(folder, study::open_keys(study, store, rows));
    if (!arrays) {
        print_rows(study, rows, arguments.json);
        return report_unusable(arrays.error());
    }
    print_all(study, rows, *arrays, arguments.json);
    for (const ArrayStatus& array : *arrays) {
        if (array.unknown) {
            print_warning(array.unknown->render());
        }
    }
    return kDone;
}

void note_arrays(const study::Study& study, const study::ResultStore& store,
                 const std::filesystem::path& folder) {
    std::error_code unknown;
    if (!std::filesystem::exists(folder / study::kSlurmFolder, unknown)) {
        return;
    }
    const std::set<std::string> open = study::open_keys(study, &store, study::sweep_status(study, &store));
    const Result<std::vector<ArrayStatus>> arrays = study::slurm_status(folder, open, false);
    for (const ArrayStatus& array : arrays ? *arrays : std::vector<ArrayStatus>{}) {
        print_warning(
            fmt::format("astrolabe: array {} may have {} of what is computed here now; --status asks "
                        "Slurm\n",
                        array.job, points_text(array.open)));
    }
}

}  // namespace astrolabe::cli
