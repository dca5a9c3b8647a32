/// What the command line of `sweep` says, and what both launchers make of it. On Slurm: submitting, waiting,
/// and what its tasks do.
#pragma once

#include "console.hpp"
#include "progress.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <astrolabe/study/slurm/slurm.hpp>
#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::cli {

/// Texts as they were given.
struct SlurmArguments {
    std::optional<std::string> tasks;
    std::optional<std::string> partition;
    std::optional<std::string> account;
    std::optional<std::string> time;
    std::vector<std::string> sbatch;
    bool wait = false;
    std::optional<std::string> task;  ///< "2:7", in a task
};

struct SweepArguments {
    std::string file;
    std::vector<std::string> overrides;
    std::size_t jobs = 0;  ///< 0: not given
    std::string out;
    std::string shard;
    std::string time_limit;
    std::string memory;
    bool resume = false;
    bool status = false;
    bool report = false;  ///< a page while it runs, and the report at its end
    bool json = false;
    std::string progress = "auto";
    std::string launcher = "local";
    SlurmArguments slurm;

    [[nodiscard]] bool is_for_slurm() const { return launcher == "slurm"; }
};

/// Says what is wrong with a command line; gives kWrongUsage.
int wrong_usage(const std::string& message, const std::string& hint);

/// The table of a study on standard output.
void print_rows(const study::Study& study, const std::vector<study::StudyRow>& rows, bool json);
void print_json(const nlohmann::ordered_json& json);

[[nodiscard]] std::string progress_text(const study::SweepProgress& progress);
[[nodiscard]] std::string progress_text(const study::PlanProgress& progress);
[[nodiscard]] nlohmann::ordered_json progress_fields(const study::SweepProgress& progress);
[[nodiscard]] nlohmann::ordered_json progress_fields(const study::PlanProgress& progress);

/// Calls `run` with options that show progress in `report`; a line on a terminal is gone when it returns.
template <class Run>
auto with_progress(ProgressReport& report, study::SweepOptions options, const Run& run) {
    const auto show = [&](const auto& progress) {
        report.show([&] { return progress_text(progress); }, [&] { return progress_fields(progress); });
    };
    options.observer = show;
    options.plan_observer = show;
    auto result = run(options);
    report.clear();
    return result;
}

/// What a sweep that has run to its end says, and its exit code.
[[nodiscard]] int report_failures(std::size_t failed, std::size_t points);

void add_slurm_options(CLI::App& command, SlurmArguments& arguments);

/// kWrongUsage and what is wrong with options of a launcher, or kDone.
[[nodiscard]] int check_launcher(const SweepArguments& arguments);

/// The study's section with what the command line, which has been checked, changes.
[[nodiscard]] study::SlurmOptions slurm_options(const SweepArguments& arguments, const study::Study& study);

/// "2:7"
[[nodiscard]] std::optional<study::TaskName> parse_task(const std::string& text);

/// Submits, and waits if that is wanted.
[[nodiscard]] int slurm_sweep(const SweepArguments& arguments, const study::Study& study,
                              const experiment::Components& components, study::ResultStore& store,
                              const std::filesystem::path& folder, const study::SweepOptions& options,
                              ProgressReport& progress);

/// A task of an array.
[[nodiscard]] int slurm_task(const SweepArguments& arguments, const study::Study& study,
                             const experiment::Components& components, const std::filesystem::path& folder,
                             study::SweepOptions options);

/// `--status`: the table, and arrays that may bring what is missing. `store` may be none.
[[nodiscard]] int print_status(const SweepArguments& arguments, const study::Study& study,
                               const study::ResultStore* store, const std::filesystem::path& folder,
                               const std::vector<study::StudyRow>& rows);

/// Says that arrays may compute what is about to be computed here.
void note_arrays(const study::Study& study, const study::ResultStore& store,
                 const std::filesystem::path& folder);

}  // namespace astrolabe::cli
