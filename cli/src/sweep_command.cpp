#include "commands.hpp"
#include "console.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <thread>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/quantity.hpp>
#include <astrolabe/experiment/sweep.hpp>

namespace astrolabe::cli {
namespace {

std::size_t processors() {
    return std::max(1U, std::thread::hardware_concurrency());
}

struct SweepArguments {
    std::string file;
    std::vector<std::string> overrides;
    std::size_t jobs = processors();
    std::string out;
    std::string shard;
    std::string time_limit;
    std::string memory;
    bool resume = false;
    bool status = false;
    bool json = false;
    std::string progress = "auto";
};

int wrong_usage(const std::string& message, const std::string& hint) {
    print_error(fmt::format("astrolabe: {}\n  hint: {}\n", message, hint));
    return kWrongUsage;
}

/// "2/8"
bool parse_shard(const std::string& text, experiment::SweepOptions& options) {
    const char* end = text.data() + text.size();
    const auto [slash, first] = std::from_chars(text.data(), end, options.shard);
    if (first != std::errc() || slash == end || *slash != '/') {
        return false;
    }
    const auto [last, second] = std::from_chars(slash + 1, end, options.shards);
    return second == std::errc() && last == end && options.shard >= 1 && options.shard <= options.shards;
}

/// 2 and what is wrong with the command line, or 0.
int read_options(const SweepArguments& arguments, experiment::SweepOptions& options) {
    if (!arguments.shard.empty() && !parse_shard(arguments.shard, options)) {
        return wrong_usage(fmt::format("--shard: '{}' is not one of a number of shards", arguments.shard),
                           "write 1/4, 2/4, 3/4 and 4/4 for four shards");
    }
    if (!arguments.time_limit.empty()) {
        const Parsed<Time> time = parse_time(arguments.time_limit);
        if (const auto* failure = std::get_if<ParseFailure>(&time)) {
            return wrong_usage("--time-limit: " + failure->message, failure->hint);
        }
        options.time_limit = std::get<Time>(time);
        if (*options.time_limit <= Time(0)) {
            return wrong_usage("--time-limit: no point can be run in no time", "write 10min");
        }
    }
    if (!arguments.memory.empty()) {
        const Parsed<Bytes> memory = parse_bytes(arguments.memory);
        if (const auto* failure = std::get_if<ParseFailure>(&memory)) {
            return wrong_usage("--memory: " + failure->message, failure->hint);
        }
        options.memory_bytes = static_cast<double>(std::get<Bytes>(memory).count());
    }
    options.jobs = arguments.jobs;
    options.tries_failed_again = arguments.resume;
    return kDone;
}

/// out/NAME, whatever the name has in it.
std::filesystem::path folder_of(const SweepArguments& arguments, const experiment::Study& study) {
    if (!arguments.out.empty()) {
        return arguments.out;
    }
    std::string name = study.name.substr(0, 100);
    std::replace_if(
        name.begin(), name.end(),
        [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; }, '_');
    return std::filesystem::path("out") / (name.find_first_not_of('.') == std::string::npos ? "study" : name);
}

/// Bytes of a file that are no text come out as U+FFFD.
std::string dump(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print_rows(const experiment::Study& study, const std::vector<experiment::StudyRow>& rows, bool json) {
    print_out(json ? dump(experiment::study_json(study.name, rows))
                   : experiment::study_text(study.name, rows));
}

int status_command(const SweepArguments& arguments, const experiment::Study& study) {
    const std::filesystem::path folder = folder_of(arguments, study);
    std::optional<experiment::ResultStore> store;
    if (std::filesystem::exists(folder / experiment::kStoreName)) {
        Result<experiment::ResultStore> opened = experiment::ResultStore::open_to_read(folder);
        if (!opened) {
            print_error(render(opened.error()));
            return kSimulationFailed;
        }
        store.emplace(*std::move(opened));
    }
    print_rows(study, experiment::sweep_status(study, store ? &*store : nullptr), arguments.json);
    return kDone;
}

std::string progress_text(const std::string& name, const experiment::SweepProgress& progress) {
    return fmt::format("{}: {} of {} points, {} failed, {} running, {:.0f} s gone, {:.0f} s left", name,
                       progress.done + progress.failed, progress.points, progress.failed, progress.running,
                       progress.wall_seconds, progress.left_seconds);
}

int sweep_command(const SweepArguments& arguments, const experiment::Components& components) {
    experiment::SweepOptions options;
    if (const int usage = read_options(arguments, options); usage != kDone) {
        return usage;
    }
    const Result<experiment::Study> study = experiment::load_study(arguments.file, arguments.overrides);
    if (!study) {
        return report_invalid(study.error());
    }
    if (arguments.status) {
        return status_command(arguments, *study);
    }
    const std::filesystem::path folder = folder_of(arguments, *study);
    Result<experiment::ResultStore> store = experiment::ResultStore::open(folder);
    if (!store) {
        print_error(render(store.error()));
        return kSimulationFailed;
    }
    only_note_interrupts();
    options.stop = was_interrupted;
    std::optional<Result<experiment::SweepOutcome>> swept;
    {
        ProgressLine line(progress_mode(arguments.progress), study->name);
        options.observer = [&](const experiment::SweepProgress& progress) {
            line.show(progress.wall_seconds, [&] { return progress_text(study->name, progress); });
        };
        options.plan_observer = [&](const experiment::PlanProgress& progress) {
            line.show(progress.wall_seconds, [&] {
                return fmt::format("{}: {} of {} points read", study->name, progress.read, progress.points);
            });
        };
        swept = experiment::run_sweep(*study, components, *store, folder, options);
    }
    if (!*swept) {
        return report_unusable(swept->error());
    }
    const experiment::SweepOutcome& outcome = **swept;
    if (outcome.interrupted) {
        const std::vector<experiment::StudyRow> rows = experiment::sweep_status(*study, &*store);
        const auto is_there = [](const experiment::StudyRow& row) {
            return row.result.status != experiment::PointStatus::kMissing;
        };
        print_error(
            fmt::format("astrolabe: interrupted; {} of {} points are in '{}', and the same command goes on\n",
                        std::count_if(rows.begin(), rows.end(), is_there), rows.size(),
                        (folder / experiment::kStoreName).string()));
        return kInterrupted;
    }
    print_rows(*study, store->rows(study->name), arguments.json);
    if (outcome.failed > 0) {
        print_error(fmt::format("astrolabe: {} of {} points failed\n  hint: --resume tries them again\n",
                                outcome.failed, outcome.points));
        return kSomeFailed;
    }
    return kDone;
}

}  // namespace

int validate_study(const std::string& file, const std::vector<std::string>& overrides, bool json,
                   const experiment::Components& components) {
    const Result<experiment::Study> study = experiment::load_study(file, overrides);
    if (!study) {
        return report_invalid(study.error());
    }
    const Result<experiment::StudyPlan> plan =
        experiment::plan_study(*study, components, nullptr,
                               {.jobs = processors(),
                                .wants_cost = [](const experiment::StudyPoint&) { return true; },
                                .stop = [] { return false; },
                                .observer = {}});
    if (!plan) {
        return report_unusable(plan.error());
    }
    for (const auto& [place, why] : plan->crashes) {
        print_error(fmt::format("astrolabe: point {} {}\n", study->points[place].number, why));
    }
    if (!plan->crashes.empty()) {
        return kSimulationFailed;
    }
    print_out(json ? dump(experiment::plan_json(*study, *plan)) : experiment::plan_text(*study, *plan));
    return kDone;
}

void add_sweep_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<SweepArguments>();
    CLI::App* command =
        app.add_subcommand("sweep", "run all points of a study that have no result yet, and table them");
    command->add_option("STUDY", arguments->file, "study file: an experiment and what varies in it")
        ->required();
    command
        ->add_option("--set", arguments->overrides,
                     "change a value: --set base.cluster.ranks=16, --set repeat=3 (repeatable)")
        ->type_name("PATH=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        ->add_option("-j,--jobs", arguments->jobs,
                     "points at a time, each in a process of its own; changes no result (default: as many as "
                     "processors)")
        ->check(CLI::Range(1U, 1024U));
    command->add_option("--out", arguments->out,
                        "folder of results.sqlite (default: out/ and the study's name)");
    command->add_flag("--resume", arguments->resume, "try again what failed, too");
    command->add_option("--shard", arguments->shard, "only every N-th point, from the I-th on: 2/8")
        ->type_name("I/N");
    command->add_option("--time-limit", arguments->time_limit, "a point that takes longer fails: 10min")
        ->type_name("TIME");
    command->add_option("--memory", arguments->memory, "for all that runs at a time (default: what is free)")
        ->type_name("SIZE");
    command->add_flag("--status", arguments->status, "only tell what is done, failed and missing");
    command->add_flag("--json", arguments->json, "print the table as JSON");
    add_progress_option(*command, arguments->progress);
    command->footer("example: astrolabe sweep examples/codesign-tables/study.yaml --out out/tables");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = sweep_command(*arguments, components); });
}

}  // namespace astrolabe::cli
