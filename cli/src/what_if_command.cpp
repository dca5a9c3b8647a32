#include "change_arguments.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "progress.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/study/what_if/what_if.hpp>

namespace astrolabe::cli {
namespace {

struct WhatIfArguments {
    std::string file;
    experiment::LoadOptions load;
    std::vector<std::string> changes;
    std::vector<std::string> only;
    std::string costs;  ///< price list to read; empty: that built in
    std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
    bool json = false;
    std::string progress = "auto";
};

int check_groups(const std::vector<std::string>& only) {
    const std::vector<std::string>& known = study::change_groups();
    for (const std::string& name : only) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            print_failure(fmt::format("astrolabe: --only: '{}' is no kind of change\n  hint: {}\n", name,
                                      suggest(name, known)));
            return kWrongUsage;
        }
    }
    return kDone;
}

/// Those that suggest themselves, but for kinds that nobody asked for, and the user's own.
std::vector<study::Change> wanted_changes(const WhatIfArguments& arguments,
                                          const experiment::Experiment& experiment,
                                          const experiment::Components& components) {
    std::vector<study::Change> changes;
    for (const std::string& given : arguments.changes) {
        study::Change& change = changes.emplace_back();
        change.name = given;
        change.overrides = split_change(given);
        change.has_price = true;
    }
    // With changes of one's own and no kinds, these are what is asked for.
    if (arguments.only.empty() && !changes.empty()) {
        return changes;
    }
    for (study::Change& change : study::possible_changes(experiment, components)) {
        if (arguments.only.empty() ||
            std::find(arguments.only.begin(), arguments.only.end(), change.group) != arguments.only.end()) {
            changes.push_back(std::move(change));
        }
    }
    return changes;
}

/// Some runs went wrong, as opposed to: cannot be made.
bool has_failed(const study::WhatIf& result) {
    return std::any_of(result.runs.begin(), result.runs.end(), [](const study::ChangedRun& run) {
        return !run.finished() && !run.is_slower && !run.is_unsupported();
    });
}

int what_if_command(const WhatIfArguments& arguments, const experiment::Components& components) {
    for (const int usage : {check_changes(arguments.changes), check_groups(arguments.only)}) {
        if (usage != kDone) {
            return usage;
        }
    }
    const Result<experiment::Experiment> loaded =
        experiment::load_experiment(arguments.file, arguments.load, components);
    if (!loaded) {
        return report_invalid(loaded.error());
    }
    if (loaded->jobs != nullptr) {
        return report_several_jobs(arguments.file, "what-if explains the iteration of one job");
    }
    if (loaded->flows != nullptr) {
        return report_invalid(
            {{"what-if.flows",
              {},
              fmt::format("the workload of '{}' is flows: there is no iteration to be shorter, and at a load "
                          "faster links bring more flows",
                          arguments.file),
              "astrolabe compare FILE --change network.spines=4 puts a change beside it; a study with vary: "
              "{workload.load: [0.1, 0.3]} shows what a network carries",
              {}}});
    }
    Result<experiment::PriceFile> prices =
        arguments.costs.empty() ? experiment::default_prices() : experiment::load_prices(arguments.costs);
    if (!prices) {
        return report_invalid(prices.error());
    }
    study::WhatIfRequest request;
    request.file = arguments.file;
    request.load = arguments.load;
    request.changes = wanted_changes(arguments, *loaded, components);
    request.jobs = arguments.jobs;
    request.prices = *std::move(prices);
    ProgressReport progress(arguments.progress, "what-if", loaded->name,
                            {{"runs_done", 0}, {"runs", nullptr}, {"last", nullptr}});
    request.observer = [&](std::size_t ended, std::size_t all, const std::string& name) {
        progress.show_runs(ended, all, name);
    };
    const std::variant<study::WhatIf, study::FailedBase> found = study::what_if(request, *loaded, components);
    progress.clear();
    if (const auto* failed = std::get_if<study::FailedBase>(&found)) {
        print_failure(failed->error);
        // Codes beyond those of the program are of a run that was killed or could not be started.
        const int exit_code = failed->exit_code > kSomeFailed ? int{kSimulationFailed} : failed->exit_code;
        progress.end(exit_code);
        return exit_code;
    }
    const auto& result = std::get<study::WhatIf>(found);
    print_out(arguments.json ? study::what_if_json(result).dump(2) + "\n" : study::what_if_text(result));
    const int exit_code = has_failed(result) ? kSomeFailed : kDone;
    progress.end(exit_code);
    return exit_code;
}

}  // namespace

void add_what_if_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<WhatIfArguments>();
    CLI::App* command = app.add_subcommand(
        "what-if",
        "run an experiment with every resource and choice changed by itself: what would save most");
    command->add_option("EXPERIMENT", arguments->file, "experiment file")->required();
    add_change_option(*command, arguments->changes,
                      "a change of your own instead: --change scaled.latency=0 (repeatable); with commas, "
                      "changes that are made together");
    command
        ->add_option("--only", arguments->only,
                     "kinds of changes to make: --only links,compute; beside your own")
        ->delimiter(',');
    add_repeatable_option(*command, "--set", arguments->load.overrides,
                          "change a value in every run: --set cluster.ranks=16 (repeatable)");
    command->add_option("--seed", arguments->load.seed, "of all random choices; wins over the file's")
        ->check(seed_range());
    command
        ->add_option("-j,--jobs", arguments->jobs,
                     "runs at a time; each takes its own memory (default: as many as processors)")
        ->check(CLI::Range(1U, 1024U));
    command->add_option("--costs", arguments->costs,
                        "price list that networks are bought from; unset: that built in, "
                        "inputs/costs/default.yaml");
    command->add_flag("--json", arguments->json, "print the rows as JSON instead of the table");
    add_progress_option(*command, arguments->progress);
    command->footer(
        "example: astrolabe what-if examples/quickstart/experiment.yaml\n"
        "         astrolabe what-if examples/quickstart/experiment.yaml --change network.link.rate=400Gbps");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = what_if_command(*arguments, components); });
}

}  // namespace astrolabe::cli
