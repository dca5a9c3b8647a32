#include "commands.hpp"
#include "console.hpp"
#include "progress.hpp"
#include "thread_arguments.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/choice/slow_methods.hpp>
#include <astrolabe/experiment/explain/network_description.hpp>
#include <astrolabe/experiment/records/recorder.hpp>
#include <astrolabe/experiment/results/jobs_results.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/engine_cost.hpp>
#include <astrolabe/experiment/run/limited_run.hpp>
#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/study/file/study.hpp>
#include <astrolabe/study/sweep/result_store.hpp>
#include <astrolabe/study/sweep/stored_point.hpp>
#include <astrolabe/system/program/characterisation.hpp>
#include <astrolabe/workload/traces/foreign_traces.hpp>

namespace astrolabe::cli {
namespace {

struct RunArguments {
    std::string file;
    experiment::LoadOptions load;
    std::optional<std::size_t> point;  ///< of a study whose results are in the folder `file`
    std::string study;                 ///< where the folder has several
    std::string out;
    std::string plan_out;  ///< of validate: a file for the sharding plan; empty: none
    std::string within;    ///< a time; empty: however long it takes
    experiment::RecorderOptions records;
    bool why = false;
    bool json = false;
    std::size_t threads = processors();
    std::string progress = "auto";
};

int report_stall(const experiment::Experiment& loaded, const experiment::Run& run) {
    print_failure(fmt::format("astrolabe: '{}' stalled after {} simulated\n{}\n", loaded.name,
                              readable(run.execution.total), run.execution.stall));
    return kSimulationFailed;
}

/// As a shell takes it for one word.
std::string as_word(const std::string& text) {
    if (text.find_first_of(" \t\n\"'\\$&|;<>()[]{}*?!#~`") == std::string::npos) {
        return text;
    }
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

/// "  try          astrolabe what-if FILE": what to ask about this run.
std::string next_command(const RunArguments& arguments) {
    std::string words = as_word(called_as()) + " what-if " + as_word(arguments.file);
    for (const std::string& assignment : arguments.load.overrides) {
        words += " --set " + as_word(assignment);
    }
    if (arguments.load.seed) {
        words += fmt::format(" --seed {}", *arguments.load.seed);
    }
    return fmt::format("  {:<12} {}\n", "try", words);
}

/// For who has no use for a longer run (what-if): {at_least_s} of one that takes longer than `most`, else the
/// summary.
int run_limited(const experiment::Experiment& loaded, const std::string& most) {
    const Parsed<Time> limit = parse_time(most);
    if (const auto* failure = std::get_if<ParseFailure>(&limit)) {
        print_failure(fmt::format("astrolabe: --within: {}\n  hint: {}\n", failure->message, failure->hint));
        return kWrongUsage;
    }
    const std::variant<experiment::Run, Time> ended =
        experiment::run_within(loaded, std::get<Time>(limit), true);
    if (const auto* least = std::get_if<Time>(&ended)) {
        print_out(nlohmann::ordered_json{{"at_least_s", to_seconds(*least)}}.dump(2) + "\n");
        return kDone;
    }
    const auto& run = std::get<experiment::Run>(ended);
    if (!run.execution.finished) {
        return report_stall(loaded, run);
    }
    print_out(experiment::summary_json(loaded, run).dump(2) + "\n");
    return kDone;
}

/// Whether an option asks for a record of what happens.
bool records_anything(const experiment::RecorderOptions& records) {
    return records.flows || records.timeline || !records.throughput.empty() ||
           !records.packet_trace.empty() || !records.queue_series.empty();
}

ProgressReport progress_of(const RunArguments& arguments, const experiment::Experiment& loaded) {
    const bool iterates = loaded.jobs == nullptr && loaded.flows == nullptr;
    const experiment::Progress nothing{.iterations = iterates ? loaded.program.iterations : 0};
    return {arguments.progress, "run", loaded.name, experiment::progress_json(nothing, 0)};
}

int run_several_jobs(const RunArguments& arguments, const experiment::Experiment& loaded,
                     ProgressReport& progress) {
    if (!arguments.within.empty() || arguments.why || records_anything(arguments.records)) {
        return report_several_jobs(
            arguments.file,
            "--within, --why and records of messages, packets, links and time are of one job");
    }
    std::optional<experiment::OutputFolder> folder;
    if (!open_output(arguments.out, folder)) {
        return kSimulationFailed;
    }
    const experiment::JobsRun run = experiment::run_jobs(loaded, progress.observer());
    progress.clear();
    if (!run.finished) {
        print_failure(fmt::format("astrolabe: '{}' stalled after {} simulated\n{}\n", loaded.name,
                                  readable(run.total), run.stall));
        return kSimulationFailed;
    }
    // Before anything is printed: a pager takes no more than a page until somebody reads on.
    const Diagnostics errors = folder ? experiment::write_jobs_results(*folder, loaded, run) : Diagnostics{};
    print_out(arguments.json ? experiment::jobs_summary_json(loaded, run).dump(2) + "\n"
                             : experiment::jobs_text_summary(loaded, run));
    if (!errors.empty()) {
        print_diagnostics(errors);
        return kSimulationFailed;
    }
    return kDone;
}

/// What is to be run: a file, or a point of a study again.
Result<experiment::Experiment> load_for_run(const RunArguments& arguments,
                                            const experiment::Components& components) {
    if (arguments.point) {
        return study::load_stored_point(arguments.file, arguments.study, *arguments.point, arguments.load,
                                        components);
    }
    std::error_code unknown;  // then loading says why
    if (std::filesystem::exists(std::filesystem::path(arguments.file) / study::kStoreName, unknown)) {
        return Diagnostic{"run.point",
                          {},
                          fmt::format("'{}' has the results of a study, not an experiment", arguments.file),
                          "--point N runs one of its points again",
                          {}};
    }
    return experiment::load_experiment(arguments.file, arguments.load, components);
}

/// What `steady_state` leaves out cannot be recorded.
int report_unsteady(const experiment::SteadyState& section) {
    return report_invalid(
        {{"run.steady-state",
          section.where,
          "--why and records of messages, packets, links and time are of every iteration, and "
          "'steady_state' leaves some out",
          "leave out steady_state, or simulate fewer iterations without it",
          {}}});
}

int run_one_job(const RunArguments& arguments, const experiment::Experiment& loaded,
                const experiment::Components& components, ProgressReport& progress) {
    if (loaded.steady_state && (arguments.why || records_anything(arguments.records))) {
        return report_unsteady(*loaded.steady_state);
    }
    std::error_code none;
    if (std::filesystem::equivalent(arguments.file, arguments.records.packet_trace, none)) {
        print_failure(fmt::format(
            "astrolabe: --packet-trace would replace the experiment '{}'\n  hint: name another file\n",
            arguments.file));
        return kWrongUsage;
    }
    // Before the run: a folder that cannot be written should not cost an hour of simulation.
    std::optional<experiment::OutputFolder> folder;
    if (!open_output(arguments.out, folder)) {
        return kSimulationFailed;
    }
    Result<std::unique_ptr<experiment::Recorder>> opened =
        experiment::Recorder::open(arguments.records, loaded, folder ? &*folder : nullptr);
    if (!opened) {
        return report_unusable(opened.error());
    }
    experiment::Recorder& recorder = **opened;
    experiment::RunObservers observers = recorder.observers();
    observers.threads = arguments.threads;
    observers.causes = arguments.why ? experiment::Causes::kAlways : experiment::Causes::kWhereCheap;
    observers.folding_lost = [&progress](const experiment::LostFolding& lost) {
        progress.clear();
        print_warning(
            fmt::format("astrolabe: folding is lost at {}: {}\n"
                        "  the run begins again with all {} ranks instead of {}\n",
                        readable(lost.at), lost.reason, lost.ranks, lost.simulated_ranks));
    };
    experiment::Run run = experiment::run_experiment(loaded, progress.observer(), observers);
    progress.clear();
    recorder.sum_up(run);
    if (!run.execution.finished) {
        return report_stall(loaded, run);
    }
    run.slow = experiment::slow_methods(loaded, components);
    run.slow_window = experiment::slow_window(loaded, run.execution.total, components);
    run.ignored = experiment::ignored_terms(loaded, components);
    // Before anything is printed, as above.
    Diagnostics errors = recorder.finish(run);
    if (folder) {  // a record that could not be written is no reason to lose the results
        for (Diagnostic& error : experiment::write_results(*folder, loaded, run)) {
            errors.push_back(std::move(error));
        }
    }
    print_out(arguments.json ? experiment::summary_json(loaded, run).dump(2) + "\n"
                             : experiment::text_summary(loaded, run) +
                                   (run.flows || arguments.point ? "" : next_command(arguments)));
    if (recorder.late_events() > 0) {
        print_warning(fmt::format("astrolabe: {} packet events were reported too late to be put in order\n",
                                  recorder.late_events()));
    }
    if (const std::optional<Time> longer = recorder.longer_throughput_intervals()) {
        print_warning(fmt::format(
            "astrolabe: the run is so long that throughput.csv and carried.csv have intervals of {}\n",
            to_string(*longer)));
    }
    if (!recorder.left_out().empty()) {
        print_warning(fmt::format("astrolabe: {} does not show {}\n", arguments.records.timeline_file(),
                                  fmt::join(recorder.left_out(), "; ")));
    }
    if (!errors.empty()) {
        print_diagnostics(errors);
        return kSimulationFailed;
    }
    return kDone;
}

int run_command(const RunArguments& arguments, const experiment::Components& components) {
    Result<experiment::Experiment> loaded = load_for_run(arguments, components);
    if (!loaded) {
        return report_invalid(loaded.error());
    }
    if (!arguments.within.empty() && loaded->jobs == nullptr) {
        return run_limited(*loaded, arguments.within);
    }
    ProgressReport progress = progress_of(arguments, *loaded);
    const int exit_code = loaded->jobs != nullptr ? run_several_jobs(arguments, *loaded, progress)
                                                  : run_one_job(arguments, *loaded, components, progress);
    progress.end(exit_code);
    return exit_code;
}

void add_record_options(CLI::App& command, experiment::RecorderOptions& records) {
    command
        .add_flag("--flows", records.flows,
                  "write flows.csv, a row for every message, and sum up their times in summary.json")
        ->needs("--out");
    command
        .add_option("--throughput", records.throughput,
                    "write throughput.csv and carried.csv: what links carried and what arrived, in every "
                    "interval of this length: 1ms")
        ->type_name("INTERVAL")
        ->needs("--out");
    CLI::Option* trace = command.add_option(
        "--packet-trace", records.packet_trace,
        "pcapng file of every packet's headers on every link, for Wireshark (backend packet)");
    command
        .add_option("--trace-links", records.trace_links,
                    "links in the packet trace: a regular expression for names such as 'host 3 -> leaf 0'")
        ->needs(trace);
    command
        .add_option(
            "--queue-series", records.queue_series,
            "write queues.csv, what waits in every queue, sampled at this interval: 10us (backend packet)")
        ->type_name("INTERVAL")
        ->needs("--out");
    CLI::Option* timeline =
        command
            .add_flag("--timeline", records.timeline,
                      "write timeline.json.gz, what happened when on ranks, links and circuits, for Perfetto")
            ->needs("--out");
    command
        .add_flag("--plain-timeline", records.plain_timeline,
                  "write timeline.json instead, which is not packed")
        ->needs(timeline);
    command
        .add_option(
            "--timeline-size", records.timeline_size,
            "of the timeline at most, before it is packed; ranks, links and samples that have no room "
            "are left out")
        ->type_name("SIZE")
        ->capture_default_str()
        ->needs(timeline);
}

int write_plan(const experiment::Experiment& loaded, const std::string& path) {
    const nlohmann::ordered_json plan = loaded.job.torchrec_plan(loaded.cluster.device, loaded.cluster.ranks);
    if (plan.is_null()) {
        print_failure(
            "astrolabe: --plan-out: this workload places no embedding tables\n"
            "  hint: choose workload.sharding.plan: planner, round_robin or explicit of a dlrm workload\n");
        return kWrongUsage;
    }
    Result<experiment::OutputFile> file = experiment::OutputFile::create(path);
    if (!file) {
        print_diagnostics(file.error());
        return kWrongUsage;
    }
    file->append(plan.dump(2) + "\n");
    if (const std::optional<Diagnostic> error = file->finish()) {
        print_diagnostics({*error});
        return kWrongUsage;
    }
    return kDone;
}

/// A trace of another program: what it holds, or all that is wrong with it.
int validate_trace(const RunArguments& arguments) {
    if (!arguments.load.overrides.empty() || arguments.load.seed || !arguments.plan_out.empty()) {
        print_failure(fmt::format(
            "astrolabe: --set, --seed and --plan-out are about an experiment, and '{}' is a trace\n",
            arguments.file));
        return kWrongUsage;
    }
    const Result<workload::ForeignTraces> traces = workload::describe_foreign_traces(arguments.file);
    if (!traces) {
        return report_invalid(traces.error());
    }
    if (arguments.json) {
        nlohmann::ordered_json facts{{"format", traces->format}};
        for (const auto& [name, value] : traces->facts) {
            facts["facts"][name] = value;
        }
        facts["notes"] = traces->notes;
        print_out(facts.dump(2) + "\n");
        return kDone;
    }
    std::size_t width = std::string_view("format").size();
    for (const auto& [name, value] : traces->facts) {
        width = std::max(width, name.size());
    }
    std::string text = fmt::format("{:<{}}  {}\n", "format", width, traces->help);
    for (const auto& [name, value] : traces->facts) {
        text += fmt::format("{:<{}}  {}\n", name, width, value);
    }
    for (const std::string& note : traces->notes) {
        text += fmt::format("{:<{}}  {}\n", "note", width, note);
    }
    print_out(text);
    return kDone;
}

/// "31 MB peak memory (24 to 38 MB)".
std::string predicted_memory(const experiment::Prediction& cost) {
    const auto text = [](double bytes) {
        constexpr double kMostReadable = 9e18;
        return readable(Bytes(static_cast<std::int64_t>(std::min(bytes, kMostReadable))));
    };
    return fmt::format("{} peak memory ({} to {})", text(cost.memory_bytes), text(cost.minimum_memory_bytes),
                       text(cost.maximum_memory_bytes));
}

/// Minimum and maximum, or null where the prediction has none.
nlohmann::ordered_json events_between(const experiment::Prediction& cost) {
    if (!cost.events_between) {
        return nullptr;
    }
    return {cost.events_between->first, cost.events_between->second};
}

nlohmann::ordered_json prediction_json(const experiment::Prediction& cost) {
    nlohmann::ordered_json json{
        {"events", cost.events},
        {"events_between", events_between(cost)},
        {"peak_rss_bytes", cost.memory_bytes},
        {"peak_rss_bytes_between", {cost.minimum_memory_bytes, cost.maximum_memory_bytes}},
        {"wall_s", cost.wall_seconds},
        {"simulated_ranks", cost.simulated_ranks}};
    if (!cost.folding_refusal.empty()) {
        json["not_folded"] = cost.folding_refusal;
    }
    return json;
}

/// The jobs resolved, with their hosts and lower bounds.
int validate_several_jobs(const RunArguments& arguments, const experiment::Experiment& loaded) {
    if (!arguments.plan_out.empty()) {
        return report_several_jobs(arguments.file, "--plan-out writes the plan of one job");
    }
    const experiment::JobSet& set = *loaded.jobs;
    const experiment::Prediction cost = experiment::predict(loaded);
    if (arguments.json) {
        nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
        for (const experiment::JobOnNetwork& job : set.jobs) {
            jobs.push_back({{"name", job.name}, {"kind", job.kind}, {"ranks", job.experiment.cluster.ranks}});
        }
        const nlohmann::ordered_json facts{{"name", loaded.name},
                                           {"ranks", set.ranks},
                                           {"hosts", set.hosts},
                                           {"jobs", std::move(jobs)},
                                           {"prediction", prediction_json(cost)}};
        print_out(facts.dump(2) + "\n");
        return kDone;
    }
    std::string text = to_yaml(loaded.resolved);
    text += fmt::format("# jobs: {} with {} ranks on {} hosts, {}\n", set.jobs.size(), set.ranks, set.hosts,
                        set.shares_network() ? "on one network" : "each on a network of its own");
    for (const experiment::JobOnNetwork& job : set.jobs) {
        const experiment::Bounds bounds = experiment::certified_bounds(job.experiment);
        text += fmt::format("# job {}: {} ranks, {} operations, lower bound {} over {} iterations ({})\n",
                            job.name, job.experiment.cluster.ranks, job.experiment.program.operations.size(),
                            readable(bounds.value()), job.experiment.program.iterations, bounds.binding());
    }
    text += fmt::format("# prediction: {:.3g} events, {}, {:.3g} s on this machine\n", cost.events,
                        predicted_memory(cost), cost.wall_seconds);
    print_out(text);
    return kDone;
}

int validate_command(const RunArguments& arguments, const experiment::Components& components) {
    if (workload::is_foreign_trace(arguments.file)) {
        return validate_trace(arguments);
    }
    if (!arguments.load.seed && study::is_study(arguments.file)) {
        return validate_study(arguments.file, arguments.load.overrides, arguments.json, components);
    }
    Result<experiment::Experiment> loaded =
        experiment::load_experiment(arguments.file, arguments.load, components);
    if (!loaded) {
        return report_invalid(loaded.error());
    }
    if (loaded->jobs != nullptr) {
        return validate_several_jobs(arguments, *loaded);
    }
    if (!arguments.plan_out.empty()) {
        if (const int failed = write_plan(*loaded, arguments.plan_out); failed != kDone) {
            return failed;
        }
    }
    const experiment::Prediction cost = experiment::predict(*loaded);
    const std::vector<experiment::SlowMethod> slow =
        experiment::slow_methods(*loaded, components, experiment::SlowMethodsCost::kTenths);
    if (arguments.json) {
        nlohmann::ordered_json facts{{"name", loaded->name},
                                     {"ranks", loaded->cluster.ranks},
                                     {"hosts", loaded->fabric->host_count()},
                                     {"prediction", prediction_json(cost)}};
        if (const auto suggestion = experiment::cheaper_engine(*loaded, cost, components)) {
            facts["cheaper_engine"] = experiment::engine_suggestion_json(*suggestion);
        }
        if (const auto ignored = experiment::ignored_terms(*loaded, components); !ignored.empty()) {
            facts["left_out"] = experiment::engine_terms_json(ignored);
        }
        if (loaded->network_is_built_for_job) {
            network::Description description = experiment::describe_for_job(*loaded);
            facts[description.key] = std::move(description.json);
        }
        if (workload::SourceCounts counts =
                loaded->job.source_counts(loaded->cluster.device, loaded->cluster.ranks);
            !counts.key.empty()) {
            facts[counts.key] = std::move(counts.json);
        }
        if (!slow.empty()) {
            facts["slow_methods"] = experiment::slow_json(slow);
        }
        print_out(facts.dump(2) + "\n");
        return kDone;
    }
    std::string text = to_yaml(loaded->resolved);
    const auto fact = [&text](const std::string& name, const std::string& value) {
        text += fmt::format("# {}: {}\n", name, value);
    };
    fact("ranks", fmt::format("{} on {} hosts", loaded->cluster.ranks, loaded->fabric->host_count()));
    fact("fabric",
         fmt::format("{} nodes, {} links", loaded->fabric->node_count(), loaded->fabric->link_count()));
    if (loaded->network_is_built_for_job) {
        const network::Description description = experiment::describe_for_job(*loaded);
        for (const auto& [name, value] : description.facts) {
            fact(fmt::format("{}, {}", description.key, name), value);
        }
    }
    for (const auto& [name, value] : loaded->job.facts(loaded->cluster.device, loaded->cluster.ranks)) {
        fact(name, value);
    }
    if (const workload::SourceCounts counts =
            loaded->job.source_counts(loaded->cluster.device, loaded->cluster.ranks);
        !counts.key.empty()) {
        fact(counts.key, counts.text);
    }
    for (const experiment::SlowMethod& one : slow) {
        fact("slow", experiment::slow_text(one));
    }
    const system::SystemOptions& options = loaded->cluster.options;
    const experiment::Bounds bounds = experiment::certified_bounds(*loaded);
    fact("lower bound",
         fmt::format("compute {}, ports {}, links {}, any routing {}, dependencies {}, over {} iterations",
                     readable(bounds.compute), readable(bounds.ports),
                     bounds.links ? readable(*bounds.links) : "unknown",
                     bounds.any_routing ? readable(bounds.any_routing->least) : "unknown",
                     readable(bounds.dependencies), loaded->program.iterations));
    fact("prediction",
         fmt::format("{:.3g} events, {}, {:.3g} s on this machine, {} of {} ranks simulated", cost.events,
                     predicted_memory(cost), cost.wall_seconds, cost.simulated_ranks, loaded->cluster.ranks));
    if (!cost.folding_refusal.empty()) {
        fact("not folded", "every rank is simulated by itself: " + cost.folding_refusal);
    }
    if (const auto suggestion = experiment::cheaper_engine(*loaded, cost, components)) {
        fact("cheaper engine", experiment::engine_suggestion_text(*suggestion));
    }
    for (const experiment::EngineTerm& term : experiment::ignored_terms(*loaded, components)) {
        fact("left out", experiment::engine_term_text(term));
    }
    const system::ProgramTraffic traffic(loaded->program, options);
    fact("cost",
         fmt::format("{} operations on {} ranks, {} messages, {} sent", loaded->program.operations.size(),
                     loaded->cluster.ranks, traffic.messages(), readable(traffic.bytes())));
    print_out(text);
    return kDone;
}

void add_experiment_options(CLI::App& command, RunArguments& arguments) {
    command.add_option("EXPERIMENT", arguments.file, "experiment file")->required();
    add_repeatable_option(command, "--set", arguments.load.overrides,
                          "change a value: --set cluster.ranks=16 (repeatable)");
    command.add_option("--seed", arguments.load.seed, "of all random choices; wins over the file's")
        ->check(seed_range());
}

}  // namespace

CLI::Range seed_range() {
    return {std::uint64_t{0}, std::uint64_t{std::numeric_limits<std::int64_t>::max()}};
}

CLI::Option* add_repeatable_option(CLI::App& command, const char* name, std::vector<std::string>& values,
                                   const char* help, const char* type) {
    return command.add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_run_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<RunArguments>();
    CLI::App* command =
        app.add_subcommand("run", "run an experiment and say how long an iteration takes, and why");
    add_experiment_options(*command, *arguments);
    CLI::Option* point =
        command
            ->add_option("--point", arguments->point,
                         "EXPERIMENT is a folder that `sweep` wrote: run this point of its study again")
            ->type_name("N");
    command->add_option("--study", arguments->study, "which, if that folder has several")->needs(point);
    command->add_option(
        "--out", arguments->out,
        "folder for summary.json, resolved.yaml, operations.csv, links.csv, traffic_matrix.csv and "
        "traffic_by_switch.csv; of servers also traffic_by_server.csv");
    add_record_options(*command, arguments->records);
    command->add_flag(
        "--why", arguments->why,
        "follow the causes of all that happens however long that takes, to say what binds the run");
    CLI::Option* json =
        command->add_flag("--json", arguments->json, "print summary.json on stdout instead of the text");
    command
        ->add_option("--within", arguments->within,
                     "end as soon as the run surely takes longer, with {at_least_s} instead of a summary: 2s")
        ->type_name("TIME")
        ->needs(json)
        ->excludes("--out");
    add_threads_option(*command, arguments->threads);
    add_progress_option(*command, arguments->progress);
    command->footer(
        "example: astrolabe run examples/quickstart/experiment.yaml --set workload.batch.global=4096 --out "
        "out/q");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = run_command(*arguments, components); });
}

void add_validate_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand(
        "validate",
        "check an experiment or a study, print it resolved, with its size; or check a trace "
        "of another program, print what it holds");
    add_experiment_options(*command, *arguments);
    command->add_flag("--json", arguments->json, "print its size and predicted cost as JSON instead");
    command
        ->add_option("--plan-out", arguments->plan_out,
                     "write where the embedding tables are, as a sharding plan of TorchRec in JSON")
        ->type_name("FILE.json");
    command->footer("example: astrolabe validate examples/quickstart/experiment.yaml");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = validate_command(*arguments, components); });
}

}  // namespace astrolabe::cli
