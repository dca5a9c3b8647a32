#include "commands.hpp"
#include "console.hpp"

#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/flow_table.hpp>
#include <astrolabe/experiment/results.hpp>
#include <astrolabe/experiment/run.hpp>
#include <astrolabe/system/characterisation.hpp>

namespace astrolabe::cli {
namespace {

struct RunArguments {
    std::string file;
    experiment::LoadOptions load;
    std::string out;
    bool flows = false;
    bool json = false;
    std::string progress = "auto";
};

int run_command(const RunArguments& arguments, const experiment::Components& components) {
    Result<experiment::Experiment> loaded =
        experiment::load_experiment(arguments.file, arguments.load, components);
    if (!loaded) {
        return report_invalid(loaded.error());
    }
    std::optional<experiment::OutputFolder> folder;
    if (!arguments.out.empty()) {
        // Before the run: a folder that cannot be written should not cost an hour of simulation.
        Result<experiment::OutputFolder> opened = experiment::OutputFolder::open(arguments.out);
        if (!opened) {
            print_error(render(opened.error()));
            return kSimulationFailed;
        }
        folder = *std::move(opened);
    }
    std::optional<experiment::FlowTable> flows;
    experiment::NetworkObservers observers;
    if (arguments.flows) {
        Result<experiment::OutputFile> file = folder->create("flows.csv");
        if (!file) {
            print_error(render(file.error()));
            return kSimulationFailed;
        }
        observers.messages = &flows.emplace(*loaded, *std::move(file));
    }
    experiment::Run run;
    {
        ProgressLine line(progress_mode(arguments.progress), loaded->name);
        run = experiment::run_experiment(*loaded, line.observer(), observers);
    }
    if (flows) {
        run.message_times = flows->times();
    }
    if (!run.execution.finished) {
        print_error(fmt::format("astrolabe: '{}' stalled after {} simulated\n{}\n", loaded->name,
                                readable(run.execution.total), run.execution.stall));
        return kSimulationFailed;
    }
    print_out(arguments.json ? experiment::summary_json(*loaded, run).dump(2) + "\n"
                             : experiment::text_summary(*loaded, run));
    if (folder) {
        Diagnostics errors = experiment::write_results(*folder, *loaded, run);
        if (flows) {
            if (std::optional<Diagnostic> error = flows->finish()) {
                errors.push_back(*std::move(error));
            }
        }
        if (!errors.empty()) {
            print_error(render(errors));
            return kSimulationFailed;
        }
    }
    return kDone;
}

int validate_command(const RunArguments& arguments, const experiment::Components& components) {
    Result<experiment::Experiment> loaded =
        experiment::load_experiment(arguments.file, arguments.load, components);
    if (!loaded) {
        return report_invalid(loaded.error());
    }
    std::string text = to_yaml(loaded->resolved);
    const auto fact = [&text](const std::string& name, const std::string& value) {
        text += fmt::format("# {}: {}\n", name, value);
    };
    fact("ranks", fmt::format("{} on {} hosts", loaded->cluster.ranks, loaded->fabric->host_count()));
    fact("fabric",
         fmt::format("{} nodes, {} links", loaded->fabric->node_count(), loaded->fabric->link_count()));
    for (const auto& [name, value] : loaded->job.facts(loaded->cluster.device, loaded->cluster.ranks)) {
        fact(name, value);
    }
    const system::SystemOptions& options = loaded->cluster.options;
    const experiment::Bound bound = experiment::lower_bound(loaded->program, options, *loaded->fabric);
    fact("lower bound",
         fmt::format("compute {}, communication {}, over {} iterations", readable(bound.compute),
                     readable(bound.communication), loaded->program.iterations));
    const system::ProgramTraffic traffic(loaded->program, options);
    fact("cost",
         fmt::format("{} operations on {} ranks, {} messages, {} sent", loaded->program.operations.size(),
                     loaded->cluster.ranks, traffic.messages(), readable(traffic.bytes())));
    print_out(text);
    return kDone;
}

void add_experiment_options(CLI::App& command, RunArguments& arguments) {
    command.add_option("EXPERIMENT", arguments.file, "experiment file")->required();
    command
        .add_option("--set", arguments.load.overrides, "change a value: --set cluster.ranks=16 (repeatable)")
        ->type_name("PATH=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command.add_option("--seed", arguments.load.seed, "of all random choices; wins over the file's")
        ->check(seed_range());
}

}  // namespace

CLI::Range seed_range() {
    return {std::uint64_t{0}, std::uint64_t{std::numeric_limits<std::int64_t>::max()}};
}

void add_progress_option(CLI::App& command, std::string& mode) {
    command.add_option("--progress", mode, "auto: a line on a terminal, plain lines elsewhere")
        ->check(CLI::IsMember({"auto", "plain", "none"}))
        ->capture_default_str();
}

void add_run_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<RunArguments>();
    CLI::App* command =
        app.add_subcommand("run", "run an experiment and say how long an iteration takes, and why");
    add_experiment_options(*command, *arguments);
    command->add_option(
        "--out", arguments->out,
        "folder for summary.json, resolved.yaml, operations.csv, links.csv and traffic_matrix.csv");
    command
        ->add_flag("--flows", arguments->flows,
                   "write flows.csv, a row for every message, and sum up their times in summary.json")
        ->needs("--out");
    command->add_flag("--json", arguments->json, "print summary.json on stdout instead of the text");
    add_progress_option(*command, arguments->progress);
    command->footer(
        "example: astrolabe run examples/quickstart/experiment.yaml --set workload.batch.global=4096 --out "
        "out/q");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = run_command(*arguments, components); });
}

void add_validate_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<RunArguments>();
    CLI::App* command =
        app.add_subcommand("validate", "check an experiment; print it resolved, with its size");
    add_experiment_options(*command, *arguments);
    command->footer("example: astrolabe validate examples/quickstart/experiment.yaml");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = validate_command(*arguments, components); });
}

}  // namespace astrolabe::cli
