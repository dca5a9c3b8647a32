#include "console.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <astrolabe/core/limits.hpp>

namespace astrolabe::cli {
namespace {

bool g_lost_output = false;
volatile std::sig_atomic_t g_interrupted = 0;
// The one that is in use does not change, so that a signal finds it whole.
std::array<std::string, 2> g_last_words;
volatile std::sig_atomic_t g_used_words = 0;
DiagnosticForm g_diagnostic_form = DiagnosticForm::kText;

nlohmann::ordered_json place_json(const SourceRange& where) {
    nlohmann::ordered_json place = nlohmann::ordered_json::object();
    if (where.source) {
        place["file"] = where.source->name;
        if (where.line > 0) {
            place["line"] = where.line;
            place["column"] = where.column;
        }
    }
    return place;
}

void print_json_line(const nlohmann::ordered_json& line) {
    print_error(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

/// What `text` says as `severity`: without the name of the program in front, and with its hint apart.
void print_message(const char* severity, std::string text) {
    if (g_diagnostic_form == DiagnosticForm::kText) {
        print_error(text);
        return;
    }
    constexpr std::string_view kProgram = "astrolabe: ";
    constexpr std::string_view kWarning = "warning: ";
    constexpr std::string_view kHint = "\n  hint: ";
    if (text.starts_with(kProgram)) {
        text.erase(0, kProgram.size());
    }
    if (const std::size_t word = text.find(kWarning); word < text.find('\n')) {
        text.erase(word, kWarning.size());
    }
    text.erase(text.find_last_not_of('\n') + 1);
    std::string hint;
    if (const std::size_t place = text.rfind(kHint); place != std::string::npos) {
        hint = text.substr(place + kHint.size());
        text.erase(place);
    }
    print_json_line({{"severity", severity},
                     {"code", "command"},
                     {"message", std::move(text)},
                     {"hint", std::move(hint)},
                     {"notes", nlohmann::ordered_json::array()}});
}

extern "C" void end_interrupted(int signal) {
    constexpr char kMessage[] =
        "\nastrolabe: interrupted; results are written when a run ends, so one that had not has none\n";
    // Only async-signal-safe calls here; whether the message gets out changes nothing.
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
    const std::string& words = g_last_words[static_cast<std::size_t>(g_used_words)];
    written = ::write(STDERR_FILENO, words.data(), words.size());
    ::_exit(128 + signal);
}

extern "C" void note_interrupted(int) {
    g_interrupted = 1;
}

}  // namespace

void install_interrupt_handler() {
    struct sigaction action {};
    action.sa_handler = end_interrupted;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

void outlive_readers() {
    std::signal(SIGPIPE, SIG_IGN);
}

void set_last_words(std::string text) {
    const int unused = 1 - g_used_words;
    g_last_words[static_cast<std::size_t>(unused)] = std::move(text);
    g_used_words = unused;
}

void print_last_words(const std::string& text) {
    sigset_t interrupts;
    sigset_t before;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTERM);
    sigprocmask(SIG_BLOCK, &interrupts, &before);
    set_last_words({});
    print_error(text);
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

void only_note_interrupts() {
    struct sigaction action {};
    action.sa_handler = note_interrupted;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool was_interrupted() {
    return g_interrupted != 0;
}

bool output_was_lost() {
    return g_lost_output;
}

void print_out(const std::string& text) {
    errno = 0;
    const bool is_written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    // A reader that has seen enough, as head, has closed the pipe; and who interrupts the program while it
    // waits for a pager wants no more of it.
    g_lost_output = g_lost_output || (!is_written && errno != EPIPE && errno != EINTR);
}

void print_error(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
}

void set_diagnostic_form(DiagnosticForm form) {
    g_diagnostic_form = form;
}

void print_failure(const std::string& text) {
    print_message("error", text);
}

void print_warning(const std::string& text) {
    print_message("warning", text);
}

void print_diagnostics(const Diagnostics& diagnostics) {
    if (g_diagnostic_form == DiagnosticForm::kText) {
        print_error(render(diagnostics));
        return;
    }
    const std::size_t shown = std::min(diagnostics.size(), limits::kErrorsShown);
    for (const Diagnostic& diagnostic : std::span(diagnostics).first(shown)) {
        nlohmann::ordered_json line{{"severity", "error"}, {"code", diagnostic.code}};
        line.update(place_json(diagnostic.where));
        if (diagnostic.where.line > 0) {
            line["length"] = diagnostic.where.length;
        }
        line["message"] = diagnostic.message;
        line["hint"] = diagnostic.hint;
        line["notes"] = nlohmann::ordered_json::array();
        for (const auto& [where, message] : diagnostic.notes) {
            nlohmann::ordered_json note = place_json(where);
            note["message"] = message;
            line["notes"].push_back(std::move(note));
        }
        print_json_line(line);
    }
    if (shown < diagnostics.size()) {
        print_failure(fmt::format("{} more errors, which are not shown, {} in all",
                                  diagnostics.size() - shown, diagnostics.size()));
    }
}

int report_invalid(const Diagnostics& diagnostics) {
    print_diagnostics(diagnostics);
    if (g_diagnostic_form == DiagnosticForm::kJson) {
        return kInvalidInput;
    }
    print_error(fmt::format("{} error{}\n", diagnostics.size(), diagnostics.size() == 1 ? "" : "s"));
    return kInvalidInput;
}

int report_unusable(const Diagnostics& diagnostics) {
    const std::string& code = diagnostics.front().code;
    if (!code.starts_with("output.") && !code.starts_with("store.") && !code.starts_with("slurm.")) {
        return report_invalid(diagnostics);
    }
    print_diagnostics(diagnostics);
    return kSimulationFailed;
}

std::string called_as() {
    const char* name = std::getenv("ASTROLABE_CALLED_AS");
    return name != nullptr && *name != '\0' ? name : "astrolabe";
}

int report_several_jobs(const std::string& file, const std::string& reason) {
    return report_invalid({{"config.jobs",
                            {},
                            fmt::format("'{}' has several jobs, and {}", file, reason),
                            "ask of a file with one of them as its 'workload'",
                            {}}});
}

bool open_output(const std::string& path, std::optional<experiment::OutputFolder>& folder, Output output) {
    if (path.empty()) {
        return true;
    }
    Result<experiment::OutputFolder> opened = output == Output::kRun
                                                  ? experiment::OutputFolder::open_for_run(path)
                                                  : experiment::OutputFolder::open_beside_run(path);
    if (!opened) {
        print_diagnostics(opened.error());
        return false;
    }
    if (const std::string warning = opened->warning(); !warning.empty()) {
        print_warning(fmt::format("astrolabe: {}\n", warning));
    }
    folder = *std::move(opened);
    return true;
}

}  // namespace astrolabe::cli
