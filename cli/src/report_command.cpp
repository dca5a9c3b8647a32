#include "commands.hpp"
#include "console.hpp"

#include <csignal>
#include <memory>

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <astrolabe/study/report/report.hpp>

namespace astrolabe::cli {
namespace {

struct ReportArguments {
    std::string folder;
    std::string out;
    std::string pdf = "figures";
    study::ReportOptions options;
    bool answer = false;
    bool open = false;
};

/// In the user's browser, which is left to itself.
void open_page(const std::filesystem::path& page) {
    std::string program = "xdg-open";
    std::string file = page.string();
    char* words[] = {program.data(), file.data(), nullptr};
    pid_t process = 0;
    sigset_t pipes;  // which this program ignores
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigdefault(&attributes, &pipes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (::posix_spawnp(&process, "xdg-open", nullptr, &attributes, words, environ) != 0) {
        print_warning(fmt::format("astrolabe: there is no 'xdg-open' to open '{}' with\n", file));
    }
    ::posix_spawnattr_destroy(&attributes);
}

bool is_about_options(const Diagnostic& error) {
    return error.code == "report.baseline" || error.code == "report.contest" || error.code == "report.study";
}

/// 2: the command line names what is not there; 3: so does the folder; 1: it is there and gives no report.
int refuse(const Diagnostics& errors) {
    print_diagnostics(errors);
    return is_about_options(errors.front())         ? kWrongUsage
           : errors.front().code == "report.folder" ? kInvalidInput
                                                    : kSimulationFailed;
}

int report_command(ReportArguments arguments, const experiment::Components& components) {
    arguments.options.pictures.pdf = arguments.pdf == "all"    ? study::PdfPictures::kAll
                                     : arguments.pdf == "none" ? study::PdfPictures::kNone
                                                               : study::PdfPictures::kFigures;
    const Result<study::StudyReport> report =
        study::read_report(arguments.folder, arguments.options, components);
    if (!report) {
        return refuse(report.error());
    }
    if (arguments.answer) {
        print_out(study::answer_text(*report));
        return kDone;
    }
    const std::filesystem::path out(arguments.out.empty() ? arguments.folder + "/report" : arguments.out);
    if (const Diagnostics errors = study::write_report(*report, out); !errors.empty()) {
        return refuse(errors);
    }
    for (const auto& [figure, why] : report->omitted) {
        print_warning(fmt::format("astrolabe: not drawn: {}, for {}\n", figure, why));
    }
    const std::filesystem::path page = out / "index.html";
    print_out(page.string() + "\n");
    if (arguments.open) {
        open_page(page);
    }
    return kDone;
}

}  // namespace

void add_report_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<ReportArguments>();
    CLI::App* command = app.add_subcommand(
        "report",
        "figures of a study's results: one page that needs no network, SVG pictures and CSV tables");
    command->add_option("DIR", arguments->folder, "folder that `sweep`, or `run --out`, wrote")->required();
    command->add_option("--out", arguments->out, "folder of the report (default: DIR/report)");
    command->add_option("--study", arguments->options.study, "which, if the folder has several");
    command->add_option("--baseline", arguments->options.baseline,
                        "of speed-ups: a value, or PATH=VALUE (default: the first network)");
    command->add_option("--contest", arguments->options.contest,
                        "the parameter whose values compete (default: the network, where it varies)");
    command->add_flag("--answer", arguments->answer, "print the answer in words; write nothing");
    command
        ->add_option("--columns", arguments->options.pictures.columns,
                     "pictures for a paper, without a heading: 1 (3.5 inches wide) or 2 (7.16 inches)")
        ->check(CLI::IsMember({1, 2}));
    command
        ->add_option(
            "--pdf", arguments->pdf,
            "pictures that are written as PDF too: of figures (default), all (of points as well), none")
        ->check(CLI::IsMember({"figures", "all", "none"}));
    command->add_flag("--open", arguments->open, "open the page in the browser");
    command->footer("example: astrolabe report out/codesign-tables --baseline leaf_spine");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = report_command(*arguments, components); });
}

}  // namespace astrolabe::cli
