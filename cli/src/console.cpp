#include "console.hpp"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace astrolabe::cli {
namespace {

bool g_lost_output = false;
volatile std::sig_atomic_t g_interrupted = 0;
DiagnosticForm g_diagnostic_form = DiagnosticForm::kText;

nlohmann::ordered_json place_json(const SourceRange& where) {
    nlohmann::ordered_json place;
    if (where.source) {
        place["file"] = where.source->name;
        if (where.line > 0) {
            place["line"] = where.line;
            place["column"] = where.column;
        }
    }
    return place;
}

void print_diagnostics(const Diagnostics& diagnostics) {
    if (g_diagnostic_form == DiagnosticForm::kText) {
        print_error(render(diagnostics));
        return;
    }
    for (const Diagnostic& diagnostic : diagnostics) {
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
        print_error(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    }
}

extern "C" void end_interrupted(int signal) {
    constexpr char kMessage[] =
        "\nastrolabe: interrupted; results are written when a run ends, so one that had not has none\n";
    // Only async-signal-safe calls here; whether the message gets out changes nothing.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
    ::_exit(128 + signal);
}

extern "C" void note_interrupted(int) {
    g_interrupted = 1;
}

std::string progress_text(const std::string& label, const experiment::Progress& progress) {
    const double fraction = progress.total_operations > 0
                                ? static_cast<double>(progress.finished_operations) /
                                      static_cast<double>(progress.total_operations)
                                : 0.0;
    const double rate =
        progress.wall_seconds > 0 ? static_cast<double>(progress.events) / progress.wall_seconds : 0.0;
    std::string left = "?";
    if (fraction > 0.02) {
        left = fmt::format("{:.0f} s", progress.wall_seconds * (1 - fraction) / fraction);
    }
    return fmt::format("{}: {} simulated, {:.1f} % of operations, {:.3g} events/s, {:.0f} s gone, {} left{}",
                       label, readable(progress.simulated), 100 * fraction, rate, progress.wall_seconds, left,
                       progress.jobs.empty() ? "" : " (" + progress.jobs + ")");
}

}  // namespace

ProgressMode progress_mode(const std::string& name) {
    return name == "none"    ? ProgressMode::kNone
           : name == "plain" ? ProgressMode::kPlain
                             : ProgressMode::kAuto;
}

bool tells_progress(ProgressMode mode) {
    return mode == ProgressMode::kPlain || (mode == ProgressMode::kAuto && ::isatty(STDERR_FILENO) == 1);
}

void install_interrupt_handler() {
    struct sigaction action {};
    action.sa_handler = end_interrupted;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
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
    g_lost_output = std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
                    std::fflush(stdout) != 0 || g_lost_output;
}

void print_error(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
}

void set_diagnostic_form(DiagnosticForm form) {
    g_diagnostic_form = form;
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

int report_several_jobs(const std::string& file, const std::string& reason) {
    return report_invalid({{"config.jobs",
                            {},
                            fmt::format("'{}' has several jobs, and {}", file, reason),
                            "ask of a file with one of them as its 'workload'",
                            {}}});
}

bool open_output(const std::string& path, std::optional<experiment::OutputFolder>& folder) {
    if (path.empty()) {
        return true;
    }
    Result<experiment::OutputFolder> opened = experiment::OutputFolder::open(path);
    if (!opened) {
        print_diagnostics(opened.error());
        return false;
    }
    folder = *std::move(opened);
    return true;
}

ProgressLine::ProgressLine(ProgressMode mode, std::string label)
    : label_(std::move(label)),
      wanted_(mode != ProgressMode::kNone),
      terminal_(mode == ProgressMode::kAuto && ::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    if (shown_ && terminal_) {
        print_error("\r\033[K");
    }
}

experiment::ProgressObserver ProgressLine::observer() {
    if (!wanted_) {
        return {};
    }
    return [this](const experiment::Progress& progress) {
        show(progress.wall_seconds, [&] { return progress_text(label_, progress); });
    };
}

void ProgressLine::show(double wall_seconds, const std::function<std::string()>& text) {
    constexpr double kTerminalInterval = 0.2;
    constexpr double kPlainInterval = 10.0;
    if (!wanted_ || wall_seconds - last_ < (terminal_ ? kTerminalInterval : kPlainInterval)) {
        return;
    }
    last_ = wall_seconds;
    if (terminal_) {
        print_error("\r" + text() + "\033[K");
        shown_ = true;
    } else {
        print_error(text() + "\n");
    }
}

}  // namespace astrolabe::cli
