#include "commands.hpp"
#include "console.hpp"

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

std::string progress_text(const std::string& name, const study::SearchProgress& progress) {
    return fmt::format("{}: {} of {} evaluations, best {:.6g} s, base {:.6g} s, {:.0f} s gone", name,
                       progress.evaluations, progress.all_evaluations, progress.best_seconds,
                       progress.base_seconds, progress.wall_seconds);
}

int exit_code_of(const study::Optimization& found) {
    for (const std::string& failure : found.failures) {
        print_error(fmt::format("astrolabe: {}; its plans up to there count\n", failure));
    }
    if (found.interrupted) {
        print_error("astrolabe: interrupted; this is the best plan so far\n");
        return kInterrupted;
    }
    return found.failures.empty() ? kDone : kSimulationFailed;
}

int optimize_command(const OptimizeArguments& arguments, const experiment::Components& components) {
    const Result<study::SearchStudy> study =
        study::load_search_study(arguments.file, arguments.load, components);
    if (!study) {
        return report_invalid(study.error());
    }
    std::optional<experiment::OutputFolder> folder;
    if (!open_output(arguments.out, folder)) {
        return kSimulationFailed;
    }
    study::OptimizeOptions options{
        .jobs = arguments.jobs, .begun = only_note_interrupts, .stop = was_interrupted};
    std::optional<Result<study::Optimization>> found;
    {
        ProgressLine line(progress_mode(arguments.progress), study->name);
        options.observer = [&](const study::SearchProgress& progress) {
            line.show(progress.wall_seconds, [&] { return progress_text(study->name, progress); });
        };
        found = study::optimize(*study, components, options);
    }
    if (!*found) {
        print_error(render(found->error()));
        return kSimulationFailed;
    }
    const study::Optimization& result = **found;
    print_out(arguments.json ? study::optimization_json(*study, result).dump(2) + "\n"
                             : study::optimization_text(*study, result));
    if (folder) {
        if (const Diagnostics errors = study::write_optimization(*folder, *study, result); !errors.empty()) {
            print_error(render(errors));
            return kSimulationFailed;
        }
    }
    return exit_code_of(result);
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
