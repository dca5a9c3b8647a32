#include "change_arguments.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "progress.hpp"
#include "thread_arguments.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <astrolabe/experiment/results/comparison.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/study/process/processes.hpp>

namespace astrolabe::cli {
namespace {

struct CompareArguments {
    std::vector<std::string> files;
    std::vector<std::string> backends;
    std::vector<std::string> changes;
    std::vector<std::string> overrides;
    std::optional<std::uint64_t> seed;
    std::size_t jobs = 1;
    std::string out;
    bool json = false;
    std::string progress = "auto";
};

/// Anything that cannot be the name of a kind is meant as a file.
bool is_file(const std::string& backend) {
    return backend.find_first_of("./") != std::string::npos;
}

/// What is set in the file of a run, in order.
std::vector<std::string> assignments_of(const experiment::ComparedRun& run,
                                        const CompareArguments& arguments) {
    std::vector<std::string> assignments;
    if (!run.backend.empty()) {
        assignments.push_back((is_file(run.backend) ? "backend=" : "backend.kind=") + run.backend);
    }
    assignments.insert(assignments.end(), arguments.overrides.begin(), arguments.overrides.end());
    if (!run.change.empty()) {
        const std::vector<std::string> changes = split_change(run.change);
        assignments.insert(assignments.end(), changes.begin(), changes.end());
    }
    return assignments;
}

std::vector<std::string> validate_arguments(const experiment::ComparedRun& run,
                                            const CompareArguments& arguments) {
    std::vector<std::string> words{"validate", run.file};
    for (const std::string& assignment : assignments_of(run, arguments)) {
        words.push_back("--set=" + assignment);
    }
    if (arguments.seed) {
        words.push_back("--seed=" + std::to_string(*arguments.seed));
    }
    return words;
}

/// A change may name a file.
std::string folder_of(const experiment::ComparedRun& run) {
    std::string name = run.label;
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
}

std::vector<std::string> run_arguments(const experiment::ComparedRun& run,
                                       const CompareArguments& arguments) {
    std::vector<std::string> words = validate_arguments(run, arguments);
    words.front() = "run";
    const std::size_t threads = std::max<std::size_t>(1, processors() / arguments.jobs);
    words.insert(words.end(), {"--json", "--progress=none", fmt::format("--threads={}", threads)});
    if (!arguments.out.empty()) {
        words.push_back("--out=" + (std::filesystem::path(arguments.out) / folder_of(run)).string());
    }
    return words;
}

/// 2 and what is wrong with the command line, or 0.
int check_usage(const CompareArguments& arguments, const experiment::Components& components) {
    if (arguments.files.size() < 2 && arguments.backends.size() < 2 && arguments.changes.empty()) {
        print_failure(
            "astrolabe: one run has nothing to be compared with\n"
            "  hint: name several files, several backends or files of their settings: --backends "
            "fluid,inputs/backends/hpcc.yaml, or changes: --change cluster.ranks=8\n");
        return kWrongUsage;
    }
    if (const int usage = check_changes(arguments.changes); usage != kDone) {
        return usage;
    }
    const std::vector<std::string> known = components.backends.names();
    for (const std::string& backend : arguments.backends) {
        std::error_code unknown;
        if (is_file(backend) ? !std::filesystem::is_regular_file(backend, unknown)
                             : std::find(known.begin(), known.end(), backend) == known.end()) {
            print_failure(fmt::format("astrolabe: --backends: '{}' is not {}\n  hint: {}\n", backend,
                                      is_file(backend) ? "a file" : "a backend",
                                      is_file(backend)
                                          ? "name a file with a backend section, as inputs/backends/hpcc.yaml"
                                          : suggest(backend, known)));
            return kWrongUsage;
        }
        if (std::count(arguments.backends.begin(), arguments.backends.end(), backend) > 1) {
            print_failure(fmt::format("astrolabe: --backends: '{}' is named twice\n", backend));
            return kWrongUsage;
        }
    }
    return kDone;
}

void note_failure(experiment::ComparedRun& run, const study::ProcessOutcome& outcome) {
    run.exit_code = outcome.exit_code;
    run.error = outcome.err;
    print_failure(fmt::format("astrolabe: '{}' gave no result (exit code {})\n{}", run.label,
                              outcome.exit_code, outcome.err));
}

/// All are checked before the first runs: a mistake in the last file should not show after an hour.
void run_all(std::vector<experiment::ComparedRun>& runs, const CompareArguments& arguments,
             ProgressReport& progress) {
    std::vector<std::vector<std::string>> words;
    for (const experiment::ComparedRun& run : runs) {
        words.push_back(validate_arguments(run, arguments));
    }
    std::vector<std::size_t> good;
    const auto checks = study::run_own_processes(words, arguments.jobs);
    words.clear();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (checks[i].exit_code != kDone) {
            note_failure(runs[i], checks[i]);
            continue;
        }
        good.push_back(i);
        words.push_back(run_arguments(runs[i], arguments));
    }
    std::size_t ended = 0;
    const auto observer = [&](std::size_t place, const study::ProcessOutcome& outcome) {
        experiment::ComparedRun& run = runs[good[place]];
        if (outcome.exit_code == kDone) {
            run.summary = nlohmann::ordered_json::parse(outcome.out);
        } else {
            note_failure(run, outcome);
        }
        progress.show_runs(++ended, good.size(), run.label);
    };
    static_cast<void>(study::run_own_processes(words, arguments.jobs, observer));
    progress.clear();
}

/// Says of runs on several engines what their differences come from.
void explain_engines(std::vector<experiment::ComparedRun>& runs, const CompareArguments& arguments,
                     const experiment::Components& components) {
    const auto load = [&](const experiment::ComparedRun& run) {
        return experiment::load_experiment(run.file, {assignments_of(run, arguments), arguments.seed},
                                           components);
    };
    for (experiment::ComparedRun& run : runs) {
        if (const experiment::ComparedRun* against = experiment::other_engine(runs, run)) {
            const auto own = load(*against);
            const auto other = load(run);
            if (own && other && own->fabric->is_static() && own->flows == nullptr && own->jobs == nullptr) {
                run.difference = {against->label,
                                  experiment::terms_of(*own, other->backend_kind, other->backend)};
            }
        }
    }
}

int exit_code_of(const std::vector<experiment::ComparedRun>& runs) {
    const auto count = [&runs](const auto& is_meant) {
        return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), is_meant));
    };
    const std::size_t finished = count([](const auto& run) { return run.finished(); });
    if (finished > 0) {
        return finished == runs.size() ? kDone : kSomeFailed;
    }
    const std::size_t invalid = count([](const auto& run) { return run.exit_code == kInvalidInput; });
    return invalid == runs.size() ? kInvalidInput : kSimulationFailed;
}

int compare_runs(std::vector<experiment::ComparedRun> runs, const CompareArguments& arguments,
                 const experiment::Components& components, ProgressReport& progress) {
    std::optional<experiment::OutputFolder> folder;
    if (!open_output(arguments.out, folder, Output::kNoRun)) {
        return kSimulationFailed;
    }
    run_all(runs, arguments, progress);
    explain_engines(runs, arguments, components);
    const std::string json = experiment::comparison_json(runs).dump(2) + "\n";
    // Before anything is printed, which may wait for a reader.
    const std::optional<Diagnostic> error = folder ? folder->write("compare.json", json) : std::nullopt;
    if (folder && !error) {
        folder->mark_whole();
    }
    print_out(arguments.json ? json : experiment::comparison_text(runs));
    if (error) {
        print_diagnostics({*error});
        return kSimulationFailed;
    }
    return exit_code_of(runs);
}

int compare_command(const CompareArguments& arguments, const experiment::Components& components) {
    if (const int usage = check_usage(arguments, components); usage != kDone) {
        return usage;
    }
    std::vector<experiment::ComparedRun> runs =
        experiment::runs_to_compare(arguments.files, arguments.backends, arguments.changes);
    ProgressReport progress(arguments.progress, "compare", "compare",
                            {{"runs_done", 0}, {"runs", runs.size()}, {"last", nullptr}});
    const int exit_code = compare_runs(std::move(runs), arguments, components, progress);
    progress.end(exit_code);
    return exit_code;
}

}  // namespace

void add_compare_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<CompareArguments>();
    CLI::App* command = app.add_subcommand(
        "compare", "the same question on several files, backends or changes, side by side, with ratios");
    command->add_option("EXPERIMENT", arguments->files, "experiment files")->required();
    command
        ->add_option("--backends", arguments->backends,
                     "run every file on each of these, kinds or files with a backend section: --backends "
                     "fluid,inputs/backends/hpcc.yaml")
        ->delimiter(',');
    add_change_option(*command, arguments->changes,
                      "a run more of every file, with this change: --change scaled.compute=2 (repeatable); "
                      "with commas, changes that are made together");
    add_repeatable_option(*command, "--set", arguments->overrides,
                          "change a value in every run: --set cluster.ranks=16 (repeatable)");
    command->add_option("--seed", arguments->seed, "of all random choices; wins over the files'")
        ->check(seed_range());
    command->add_option("-j,--jobs", arguments->jobs, "runs at a time; each takes its own memory")
        ->check(CLI::Range(1U, 1024U))
        ->capture_default_str();
    command->add_option("--out", arguments->out,
                        "folder for compare.json, and for the results of every run in a folder of its own");
    command->add_flag("--json", arguments->json, "print compare.json on stdout instead of the table");
    add_progress_option(*command, arguments->progress);
    command->footer(
        "example: astrolabe compare examples/quickstart/experiment.yaml --backends fluid,packet,tcp\n"
        "         astrolabe compare examples/quickstart/experiment.yaml --backends "
        "inputs/backends/hpcc.yaml,inputs/backends/roce-dcqcn-pfc.yaml");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = compare_command(*arguments, components); });
}

}  // namespace astrolabe::cli
