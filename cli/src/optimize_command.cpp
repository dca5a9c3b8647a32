#include "commands.hpp"
#include "console.hpp"
#include "progress.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/study/search/optimization.hpp>

namespace astrolabe::cli {
namespace {

struct OptimizeArguments {
    std::string file;
    experiment::LoadOptions load;
    std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
    std::string out;
    bool json = false;
    std::string progress = "auto";
};

std::string progress_text(const study::SearchProgress& progress) {
    return fmt::format("{} of {} evaluations, best {:.6g} s, base {:.6g} s, {:.0f} s gone",
                       progress.evaluations, progress.all_evaluations, progress.best_seconds,
                       progress.base_seconds, progress.wall_seconds);
}

/// At the pace so far, from one evaluation in fifty on; a budget of time may end the search sooner.
std::optional<double> time_left(const study::SearchProgress& progress, const study::SearchBudget& budget) {
    if (progress.evaluations * 50 < progress.all_evaluations || progress.evaluations == 0) {
        return std::nullopt;
    }
    const auto done = static_cast<double>(progress.evaluations);
    const double left = progress.wall_seconds * (static_cast<double>(progress.all_evaluations) - done) / done;
    return std::max(0.0,
                    budget.time ? std::min(left, to_seconds(*budget.time) - progress.wall_seconds) : left);
}

nlohmann::ordered_json progress_fields(const study::SearchProgress& progress,
                                       const study::SearchBudget& budget) {
    const std::optional<double> left = time_left(progress, budget);
    return {{"evaluations_done", progress.evaluations},
            {"evaluations", progress.all_evaluations},
            {"best_time_s", progress.best_seconds},
            {"base_time_s", progress.base_seconds},
            {"time_left_s", left ? nlohmann::ordered_json(*left) : nlohmann::ordered_json()}};
}

int exit_code_of(const study::Optimization& found) {
    for (const std::string& failure : found.failures) {
        print_warning(fmt::format("astrolabe: {}; its plans up to there count\n", failure));
    }
    if (found.interrupted) {
        print_failure("astrolabe: interrupted; this is the best plan so far\n");
        return kInterrupted;
    }
    return found.failures.empty() ? kDone : kSimulationFailed;
}

int search(const OptimizeArguments& arguments, const study::SearchStudy& study,
           const experiment::Components& components, ProgressReport& report) {
    std::optional<experiment::OutputFolder> folder;
    if (!open_output(arguments.out, folder)) {
        return kSimulationFailed;
    }
    study::OptimizeOptions options{
        .jobs = arguments.jobs, .begun = only_note_interrupts, .stop = was_interrupted};
    options.observer = [&](const study::SearchProgress& progress) {
        report.show([&] { return progress_text(progress); },
                    [&] { return progress_fields(progress, study.options.budget); });
    };
    const Result<study::Optimization> found = study::optimize(study, components, options);
    report.clear();
    if (!found) {
        print_diagnostics(found.error());
        return kSimulationFailed;
    }
    const study::Optimization& result = *found;
    // Before anything is printed, which may wait for a reader.
    const Diagnostics errors = folder ? study::write_optimization(*folder, study, result) : Diagnostics{};
    print_out(arguments.json ? study::optimization_json(study, result).dump(2) + "\n"
                             : study::optimization_text(study, result));
    if (!errors.empty()) {
        print_diagnostics(errors);
        return kSimulationFailed;
    }
    return exit_code_of(result);
}

int optimize_command(const OptimizeArguments& arguments, const experiment::Components& components) {
    const Result<study::SearchStudy> study =
        study::load_search_study(arguments.file, arguments.load, components);
    if (!study) {
        return report_invalid(study.error());
    }
    ProgressReport progress(arguments.progress, "optimize", study->name,
                            {{"evaluations_done", 0},
                             {"evaluations", nullptr},
                             {"best_time_s", nullptr},
                             {"base_time_s", nullptr},
                             {"time_left_s", nullptr}});
    const int exit_code = search(arguments, *study, components, progress);
    progress.end(exit_code);
    return exit_code;
}

}  // namespace

void add_optimize_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<OptimizeArguments>();
    CLI::App* command = app.add_subcommand(
        "optimize", "search placement, collectives and network for the shortest iteration");
    command->add_option("STUDY", arguments->file, "study file: an experiment and what may be different")
        ->required();
    add_repeatable_option(
        *command, "--set", arguments->load.overrides,
        "change a value: --set optimize.budget.evaluations=100, --set base.cluster.ranks=16 "
        "(repeatable)");
    command->add_option("--seed", arguments->load.seed, "of the search; wins over the file's")
        ->check(seed_range());
    command
        ->add_option("-j,--jobs", arguments->jobs,
                     "chains at a time, each in a process of its own; changes nothing else (default: as many "
                     "as processors)")
        ->check(CLI::Range(1U, 1024U));
    command->add_option("--out", arguments->out, "folder for best.yaml, trace.csv and summary.json");
    command->add_flag("--json", arguments->json, "print summary.json on stdout instead of the text");
    add_progress_option(*command, arguments->progress);
    command->footer("example: astrolabe optimize examples/optimize/tables.yaml --out out/best");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = optimize_command(*arguments, components); });
}

}  // namespace astrolabe::cli
