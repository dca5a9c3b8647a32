#include "commands.hpp"
#include "console.hpp"
#include "progress.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/study/reproduce/reproduce.hpp>

namespace astrolabe::cli {
namespace {

struct ReproduceArguments {
    std::string study;  ///< name or file; empty: list them
    std::string folder = "reproduce";
    study::ReproduceOptions options;
    bool quick = false;
    bool recorded = false;
    bool record = false;
    bool markdown = false;
    bool json = false;
    std::string progress = "auto";
};

int list_published_studies(const ReproduceArguments& arguments) {
    const std::vector<std::filesystem::path> files = study::published_studies_in(arguments.folder);
    if (files.empty()) {
        print_failure(
            fmt::format("astrolabe: there are no studies in '{}'\n  hint: --folder names where they "
                        "are: reproduce/ of the repository\n",
                        arguments.folder));
        return kInvalidInput;
    }
    auto rows = nlohmann::ordered_json::array();
    std::string text;
    for (const std::filesystem::path& file : files) {
        const Result<study::PublishedStudy> loaded = study::load_published_study(file);
        if (!loaded) {
            return report_invalid(loaded.error());
        }
        rows.push_back({{"study", loaded->name},
                        {"title", loaded->title},
                        {"source", loaded->source},
                        {"values", loaded->values.size()},
                        {"tables", loaded->tables()}});
        text += fmt::format("{:<16} {} ({} values)\n{:<16} {}\n", loaded->name, loaded->title,
                            loaded->values.size(), "", loaded->source);
    }
    print_out(arguments.json ? rows.dump(2) + "\n" : text);
    return kDone;
}

/// A file, or a name in the folder of studies.
std::optional<std::filesystem::path> file_of_study(const ReproduceArguments& arguments) {
    std::error_code none;
    const std::filesystem::path given(arguments.study);
    const std::filesystem::path named = std::filesystem::path(arguments.folder) / (arguments.study + ".yaml");
    for (const std::filesystem::path& file : {given, named}) {
        if (std::filesystem::is_regular_file(file, none)) {
            return file;
        }
    }
    std::vector<std::string> names;
    for (const std::filesystem::path& file : study::published_studies_in(arguments.folder)) {
        names.push_back(file.stem().string());
    }
    const std::string hint =
        names.empty() ? fmt::format("there are none in '{}'; --folder names where they are", arguments.folder)
                      : suggest(arguments.study, names);
    print_failure(
        fmt::format("astrolabe: there is no published study '{}'\n  hint: {}\n", arguments.study, hint));
    return std::nullopt;
}

int write_record(const study::PublishedStudy& study, const study::Reproduction& result) {
    const std::filesystem::path file = study.record();
    // Until it is written: another process may record another table meanwhile.
    const Result<experiment::OutputFolder> folder =
        experiment::OutputFolder::open_beside_run(file.parent_path());
    if (!folder) {
        return report_unusable(folder.error());
    }
    Result<std::optional<study::ReproductionRecord>> read = study::read_record(study);
    if (!read) {
        return report_invalid(read.error());
    }
    study::ReproductionRecord record = read->value_or(study::ReproductionRecord{});
    study::update(record, study, result);
    if (const std::optional<Diagnostic> error =
            folder->write(file.filename().string(), study::record_json(study, record).dump(2) + "\n")) {
        return report_unusable({*error});
    }
    return kDone;
}

int exit_code_of_values(const study::PublishedStudy& study, const study::Reproduction& result) {
    int code = kDone;
    std::set<std::string> reasons;  // of several values from one run, once
    for (const study::ReproducedValue& one : result.values) {
        const study::PublishedValue& value = study.values[one.value];
        if (!one.measured) {
            if (reasons.insert(one.reason).second) {
                print_warning(fmt::format("astrolabe: no '{}': {}\n", value.name, one.reason));
            }
            code = kSomeFailed;
        } else if (one.error_has_grown(study)) {
            print_warning(
                fmt::format("astrolabe: the error of '{}' has grown from {:+.2f} % to {:+.2f} %, by "
                            "more than {:.2f} %\n",
                            value.name, 100 * value.published.error(*one.recorded), 100 * *one.error(study),
                            100 * value.margin));
            code = kSomeFailed;
        }
    }
    return code;
}

int reproduce(ReproduceArguments& arguments, const study::PublishedStudy& study, ProgressReport& progress) {
    arguments.options.observer = [&](std::size_t ended, std::size_t all, const std::string& name) {
        progress.show_runs(ended, all, name);
    };
    const Result<study::Reproduction> result = study::reproduce(study, arguments.options);
    progress.clear();
    if (!result) {
        print_diagnostics(result.error());
        return result.error().front().code == "published.record" ? kInvalidInput : kSimulationFailed;
    }
    const int code = arguments.record ? write_record(study, *result) : exit_code_of_values(study, *result);
    print_out(arguments.json       ? study::reproduction_json(study, *result).dump(2) + "\n"
              : arguments.markdown ? study::reproduction_markdown(study, *result)
                                   : study::reproduction_text(study, *result));
    return code;
}

int reproduce_command(ReproduceArguments arguments) {
    if (arguments.study.empty()) {
        return list_published_studies(arguments);
    }
    const std::optional<std::filesystem::path> file = file_of_study(arguments);
    if (!file) {
        return kInvalidInput;
    }
    const Result<study::PublishedStudy> loaded = study::load_published_study(*file);
    if (!loaded) {
        return report_invalid(loaded.error());
    }
    const std::vector<std::string> tables = loaded->tables();
    study::ReproduceOptions& options = arguments.options;
    if (!options.table.empty() && std::find(tables.begin(), tables.end(), options.table) == tables.end()) {
        print_failure(fmt::format("astrolabe: --table: '{}' has no table '{}'\n  hint: {}\n", loaded->name,
                                  options.table, suggest(options.table, tables)));
        return kWrongUsage;
    }
    if (options.calibrate && !loaded->calibration) {
        print_failure(fmt::format(
            "astrolabe: --calibrate: no constant of '{}' is fitted\n  hint: leave it out\n", loaded->name));
        return kWrongUsage;
    }
    using Source = study::ReproduceOptions::Source;
    options.source = arguments.recorded ? Source::kRecord
                     : arguments.quick  ? Source::kShortRuns
                                        : Source::kRuns;
    ProgressReport progress(arguments.progress, "reproduce", loaded->name,
                            {{"runs_done", 0}, {"runs", nullptr}, {"last", nullptr}});
    const int exit_code = reproduce(arguments, *loaded, progress);
    progress.end(exit_code);
    return exit_code;
}

}  // namespace

void add_reproduce_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<ReproduceArguments>();
    CLI::App* command =
        app.add_subcommand("reproduce", "run a published study and put what is measured beside its values");
    command->add_option("STUDY", arguments->study,
                        "name of a study in the folder, or a file of one; none: list them");
    command->add_option("--folder", arguments->folder, "where the studies are")->capture_default_str();
    command->add_option("--table", arguments->options.table, "only this table of the study");
    CLI::Option* quick = command->add_flag("--quick", arguments->quick,
                                           "take values of long runs from the record, and run the others");
    CLI::Option* recorded =
        command->add_flag("--recorded", arguments->recorded, "run nothing: print what is recorded")
            ->excludes(quick);
    command
        ->add_flag("--calibrate", arguments->options.calibrate,
                   "fit the study's constant to its one value, and print what each value makes of 1 % more")
        ->excludes(recorded);
    command
        ->add_flag("--record", arguments->record,
                   "write what is measured into the record, expected/STUDY.json beside the study")
        ->excludes(recorded);
    command->add_option("-j,--jobs", arguments->options.jobs, "runs at a time; each takes its own memory")
        ->check(CLI::Range(1U, 1024U))
        ->capture_default_str();
    CLI::Option* json = command->add_flag("--json", arguments->json, "print the values as JSON instead");
    command->add_flag("--markdown", arguments->markdown, "print the tables as pages have them")
        ->excludes(json);
    add_progress_option(*command, arguments->progress);
    command->footer(
        "exit code 4: an error has grown by more than its margin since it was recorded, or a run failed\n"
        "example: astrolabe reproduce euromlsys2024 --quick\n"
        "         astrolabe reproduce euromlsys2024 --calibrate");
    command->callback([arguments, &exit_code] { exit_code = reproduce_command(*arguments); });
}

}  // namespace astrolabe::cli
