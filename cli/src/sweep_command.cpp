#include "commands.hpp"
#include "console.hpp"
#include "sweep_arguments.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/study/report/live_report.hpp>
#include <astrolabe/study/report/report.hpp>
#include <astrolabe/study/sweep/spool.hpp>
#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::cli {
namespace {

std::size_t processors() {
    return std::max(1U, std::thread::hardware_concurrency());
}

/// "2/8"
bool parse_shard(const std::string& text, study::SweepOptions& options) {
    const char* end = text.data() + text.size();
    const auto [slash, first] = std::from_chars(text.data(), end, options.shard);
    if (first != std::errc() || slash == end || *slash != '/') {
        return false;
    }
    const auto [last, second] = std::from_chars(slash + 1, end, options.shards);
    return second == std::errc() && last == end && options.shard >= 1 && options.shard <= options.shards;
}

/// 2 and what is wrong with the command line, or 0.
int read_options(const SweepArguments& arguments, study::SweepOptions& options) {
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
    options.jobs = arguments.jobs > 0 ? arguments.jobs : processors();
    options.tries_failed_again = arguments.resume;
    if (arguments.report && (arguments.status || arguments.is_for_slurm() || arguments.slurm.task)) {
        return wrong_usage("--report follows a sweep that this command runs itself",
                           "`astrolabe report DIR` draws what there is by now");
    }
    return check_launcher(arguments);
}

/// out/NAME, whatever the name has in it.
std::filesystem::path folder_of(const SweepArguments& arguments, const study::Study& study) {
    if (!arguments.out.empty()) {
        return arguments.out;
    }
    std::string name = study.name.substr(0, 100);
    std::replace_if(
        name.begin(), name.end(),
        [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; }, '_');
    return std::filesystem::path("out") / (name.find_first_not_of('.') == std::string::npos ? "study" : name);
}

/// Takes in what tasks on Slurm left. What cannot be written, or be read, is said: it stays where it is.
void merge_for_status(const std::filesystem::path& folder) {
    const std::size_t waiting = study::spooled_results(folder);
    if (waiting == 0) {
        return;
    }
    Result<study::ResultStore> store = study::ResultStore::open(folder);
    const Result<std::size_t> merged =
        store ? study::merge_spool(folder, *store) : Result<std::size_t>(store.error());
    if (!merged) {
        print_warning(fmt::format("astrolabe: {} results of tasks cannot be taken in now\n{}", waiting,
                                  render(merged.error())));
    }
}

int status_command(const SweepArguments& arguments, const study::Study& study,
                   const std::filesystem::path& folder) {
    merge_for_status(folder);
    std::optional<study::ResultStore> store;
    std::error_code unknown;  // then opening says why
    if (std::filesystem::exists(folder / study::kStoreName, unknown) || unknown) {
        Result<study::ResultStore> opened = study::ResultStore::open_to_read(folder);
        if (!opened) {
            print_diagnostics(opened.error());
            return kSimulationFailed;
        }
        store.emplace(*std::move(opened));
    }
    const study::ResultStore* known = store ? &*store : nullptr;
    return print_status(arguments, study, known, folder, study::sweep_status(study, known));
}

/// The page of `--report`, while a sweep runs and when it has ended.
class SweepReport {
public:
    SweepReport(study::LiveReport live, const study::Study& study, const std::filesystem::path& folder,
                const experiment::Components& components)
        : live_(std::move(live)),
          study_(study),
          folder_(folder),
          components_(components) {
        print_error(fmt::format("astrolabe: the report is '{}'\n", live_.page().string()));
    }

    void update(const study::SweepProgress& progress) {
        last_ = progress;
        live_.update(progress);
    }

    /// Of a sweep that did not reach its end.
    void stop(const char* why) {
        last_.running = 0;
        live_.stop(last_, why);
        note_failure();
    }

    /// Draws the whole report, with pictures and tables, of so many points that have finished. Gives kDone,
    /// or what went wrong.
    int finish(std::size_t done) {
        if (done == 0) {
            stop("ended");
            return kDone;
        }
        const Result<study::StudyReport> report =
            study::read_report(folder_, {.study = study_.name, .baseline = {}}, components_);
        const Diagnostics errors =
            report ? study::write_report(*report, live_.page().parent_path()) : report.error();
        if (!errors.empty() && errors.front().code == "output.in-use") {
            // All points have their results; whoever draws there may have fewer of them.
            print_warning(
                "astrolabe: the report is drawn by another process; `astrolabe report` draws it again\n" +
                render(errors));
        } else if (!errors.empty()) {
            print_diagnostics(errors);
            return kSimulationFailed;
        }
        note_failure();
        return kDone;
    }

private:
    void note_failure() const {
        if (live_.failure()) {
            print_warning("astrolabe: the page was not kept up to date while the sweep ran\n" +
                          live_.failure()->render());
        }
    }

    study::LiveReport live_;
    const study::Study& study_;
    const std::filesystem::path& folder_;
    const experiment::Components& components_;
    study::SweepProgress last_{};
};

int local_sweep(const SweepArguments& arguments, const study::Study& study,
                const experiment::Components& components, study::ResultStore& store,
                const std::filesystem::path& folder, const study::SweepOptions& options,
                ProgressReport& progress) {
    note_arrays(study, store, folder);
    std::optional<SweepReport> report;
    if (arguments.report) {
        Result<study::LiveReport> live =
            study::LiveReport::open(folder, folder / "report", study.name, components);
        if (!live) {
            print_diagnostics(live.error());
            return kSimulationFailed;
        }
        report.emplace(*std::move(live), study, folder, components);
    }
    const Result<study::SweepOutcome> swept =
        with_progress(progress, options, [&](study::SweepOptions observed) {
            if (report) {
                observed.observer = [&report, show = observed.observer](const study::SweepProgress& now) {
                    show(now);
                    report->update(now);
                };
            }
            return study::run_sweep(study, components, store, folder, observed);
        });
    if (!swept) {
        if (report) {
            report->stop("ended by an error");
        }
        return report_unusable(swept.error());
    }
    const study::SweepProgress last{.points = swept->points, .done = swept->done, .failed = swept->failed};
    progress.show([&] { return progress_text(last); }, [&] { return progress_fields(last); });
    progress.clear();
    if (swept->interrupted) {
        if (report) {
            report->stop("interrupted");
        }
        const std::vector<study::StudyRow> rows = study::sweep_status(study, &store);
        const auto is_there = [](const study::StudyRow& row) {
            return row.result.status != study::PointStatus::kMissing;
        };
        print_failure(
            fmt::format("astrolabe: interrupted; {} of {} points are in '{}', and the same command goes on\n",
                        std::count_if(rows.begin(), rows.end(), is_there), rows.size(),
                        (folder / study::kStoreName).string()));
        return kInterrupted;
    }
    const int reported = report ? report->finish(swept->done) : kDone;
    print_rows(study, store.rows(study.name), arguments.json);
    const int failures = report_failures(swept->failed, swept->points);
    return failures != kDone ? failures : reported;
}

int sweep_into(const SweepArguments& arguments, const study::Study& study,
               const experiment::Components& components, const std::filesystem::path& folder,
               const study::SweepOptions& options, ProgressReport& progress) {
    Result<study::ResultStore> store = study::ResultStore::open(folder);
    if (!store) {
        print_diagnostics(store.error());
        return kSimulationFailed;
    }
    if (const Result<std::size_t> merged = study::merge_spool(folder, *store); !merged) {
        return report_unusable(merged.error());
    }
    return (arguments.is_for_slurm() ? slurm_sweep : local_sweep)(arguments, study, components, *store,
                                                                  folder, options, progress);
}

int sweep_command(const SweepArguments& arguments, const experiment::Components& components) {
    study::SweepOptions options;
    if (const int usage = read_options(arguments, options); usage != kDone) {
        return usage;
    }
    const Result<study::Study> study = study::load_study(arguments.file, arguments.overrides);
    if (!study) {
        return report_invalid(study.error());
    }
    const std::filesystem::path folder = folder_of(arguments, *study);
    if (arguments.status) {
        return status_command(arguments, *study, folder);
    }
    only_note_interrupts();
    options.stop = was_interrupted;
    if (arguments.slurm.task) {
        return slurm_task(arguments, *study, components, folder, options);
    }
    ProgressReport progress(arguments.progress, "sweep", study->name,
                            {{"points", study->points.size()},
                             {"points_to_read", nullptr},
                             {"points_read", 0},
                             {"points_done", 0},
                             {"points_failed", 0},
                             {"points_running", 0},
                             {"time_left_s", nullptr}});
    const int exit_code = sweep_into(arguments, *study, components, folder, options, progress);
    progress.end(exit_code);
    return exit_code;
}

}  // namespace

std::string progress_text(const study::SweepProgress& progress) {
    return fmt::format("{} of {} points, {} failed, {} running, {:.0f} s gone, {:.0f} s left",
                       progress.done + progress.failed, progress.points, progress.failed, progress.running,
                       progress.wall_seconds, progress.left_seconds);
}

std::string progress_text(const study::PlanProgress& progress) {
    return fmt::format("{} of {} points read", progress.read, progress.points);
}

nlohmann::ordered_json progress_fields(const study::SweepProgress& progress) {
    return {{"points", progress.points},
            {"points_done", progress.done},
            {"points_failed", progress.failed},
            {"points_running", progress.running},
            {"time_left_s", progress.left_seconds}};
}

nlohmann::ordered_json progress_fields(const study::PlanProgress& progress) {
    return {{"points_to_read", progress.points}, {"points_read", progress.read}};
}

int wrong_usage(const std::string& message, const std::string& hint) {
    print_failure(fmt::format("astrolabe: {}\n  hint: {}\n", message, hint));
    return kWrongUsage;
}

/// Bytes of a file that are no text come out as U+FFFD.
void print_json(const nlohmann::ordered_json& json) {
    print_out(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void print_rows(const study::Study& study, const std::vector<study::StudyRow>& rows, bool json) {
    if (json) {
        print_json(study::study_json(study.name, rows));
    } else {
        print_out(study::study_text(study.name, rows));
    }
}

int report_failures(std::size_t failed, std::size_t points) {
    if (failed == 0) {
        return kDone;
    }
    print_failure(fmt::format("astrolabe: {} of {} points failed\n  hint: --resume tries them again\n",
                              failed, points));
    return kSomeFailed;
}

int validate_study(const std::string& file, const std::vector<std::string>& overrides, bool json,
                   const experiment::Components& components) {
    const Result<study::Study> study = study::load_study(file, overrides);
    if (!study) {
        return report_invalid(study.error());
    }
    const Result<study::StudyPlan> plan =
        study::plan_study(*study, components, nullptr,
                          {.jobs = processors(),
                           .wants_cost = [](const study::StudyPoint&) { return true; },
                           .stop = [] { return false; },
                           .observer = {}});
    if (!plan) {
        return report_unusable(plan.error());
    }
    for (const auto& [place, why] : plan->crashes) {
        print_failure(fmt::format("astrolabe: point {} {}\n", study->points[place].number, why));
    }
    if (!plan->crashes.empty()) {
        return kSimulationFailed;
    }
    if (json) {
        print_json(study::plan_json(*study, *plan));
    } else {
        print_out(study::plan_text(*study, *plan));
    }
    return kDone;
}

void add_sweep_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<SweepArguments>();
    CLI::App* command =
        app.add_subcommand("sweep", "run all points of a study that have no result yet, and table them");
    command->add_option("STUDY", arguments->file, "study file: an experiment and what varies in it")
        ->required();
    add_repeatable_option(*command, "--set", arguments->overrides,
                          "change a value: --set base.cluster.ranks=16, --set repeat=3 (repeatable)");
    command
        ->add_option("-j,--jobs", arguments->jobs,
                     "points at a time, each in a process of its own; changes no result (default: as many as "
                     "processors; on Slurm, in a task: slurm.jobs of the study, 1)")
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
    command->add_flag("--status", arguments->status, "only report what is done, failed and missing");
    command->add_flag("--report", arguments->report,
                      "draw the report into DIR/report: its page follows the sweep while it runs");
    command->add_flag("--json", arguments->json, "print the table as JSON");
    command
        ->add_option(
            "--launcher", arguments->launcher,
            "local: this machine; slurm: an array of tasks, which this command submits (default: local)")
        ->check(CLI::IsMember({"local", "slurm"}));
    add_slurm_options(*command, arguments->slurm);
    add_progress_option(*command, arguments->progress);
    command->footer("example: astrolabe sweep examples/codesign-tables/study.yaml --out out/tables");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = sweep_command(*arguments, components); });
}

}  // namespace astrolabe::cli
