#include "progress.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace astrolabe::cli {
namespace {

/// Columns of the terminal on standard error; 0: unknown.
std::size_t terminal_columns() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// As much of UTF-8 text as fits into one line of the terminal: a longer one would scroll.
std::string fitting(std::string text, std::size_t columns) {
    if (columns == 0) {
        return text;
    }
    std::size_t used = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
        used += begins ? 1 : 0;
        if (used == columns) {
            text.resize(i);
            break;
        }
    }
    return text;
}

const char* state_of(int exit_code) {
    return exit_code == kDone ? "done" : exit_code == kInterrupted ? "interrupted" : "failed";
}

}  // namespace

void add_progress_option(CLI::App& command, std::string& mode) {
    command
        .add_option("--progress", mode,
                    "on standard error: text, kept up to date on a terminal and every ten seconds elsewhere; "
                    "auto, that on a terminal alone; plain, every ten seconds; json, an object a line for "
                    "other programs")
        ->check(CLI::IsMember({"auto", "text", "plain", "json", "none"}))
        ->capture_default_str();
}

ProgressReport::Form ProgressReport::form_of(const std::string& mode) {
    if (mode == "json") {
        return Form::kJson;
    }
    if (mode == "plain") {
        return Form::kPlain;
    }
    if (mode == "none") {
        return Form::kNone;
    }
    const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
    return is_terminal ? Form::kTerminal : mode == "text" ? Form::kPlain : Form::kNone;
}

ProgressReport::ProgressReport(const std::string& mode, std::string command, std::string name,
                               nlohmann::ordered_json fields)
    : form_(form_of(mode)),
      command_(std::move(command)),
      name_(std::move(name)),
      fields_(std::move(fields)) {
    if (form_ == Form::kJson) {
        set_last_words(line("interrupted"));
        print_error(line("running"));
    }
}

ProgressReport::~ProgressReport() {
    end(kSimulationFailed);
}

double ProgressReport::seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::string ProgressReport::line(const char* state) const {
    nlohmann::ordered_json object{
        {"state", state}, {"command", command_}, {"name", name_}, {"wall_s", seconds_}};
    object.update(fields_);
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void ProgressReport::show(const std::function<std::string()>& text,
                          const std::function<nlohmann::ordered_json()>& fields) {
    if (form_ == Form::kNone || has_ended_) {
        return;
    }
    if (form_ == Form::kJson) {
        seconds_ = seconds();
        fields_.update(fields());
        set_last_words(line("interrupted"));
    }
    constexpr std::chrono::milliseconds kOfTerminal{200};
    constexpr std::chrono::milliseconds kOfObjects{500};
    constexpr std::chrono::milliseconds kOfLines{10'000};
    const Clock::time_point now = Clock::now();
    if (now - shown_at_ < (form_ == Form::kTerminal ? kOfTerminal
                           : form_ == Form::kJson   ? kOfObjects
                                                    : kOfLines)) {
        return;
    }
    shown_at_ = now;
    if (form_ == Form::kJson) {
        print_error(line("running"));
    } else if (form_ == Form::kPlain) {
        print_error(fmt::format("{}: {}\n", name_, text()));
    } else {
        print_error("\r" + fitting(fmt::format("{}: {}", name_, text()), terminal_columns()) + "\033[K");
        has_line_ = true;
    }
}

void ProgressReport::show_runs(std::size_t ended, std::size_t all, const std::string& last) {
    show([&] { return fmt::format("{} of {} runs, the last {}", ended, all, last); },
         [&] {
             return nlohmann::ordered_json{{"runs_done", ended}, {"runs", all}, {"last", last}};
         });
}

experiment::ProgressObserver ProgressReport::observer(std::size_t number) {
    if (!is_wanted()) {
        return {};
    }
    return [this, number](experiment::Progress progress) {
        progress.simulation += number - 1;
        if (progress.simulation != simulation_) {
            simulation_ = progress.simulation;
            events_ = 0;
            events_at_ = 0;
        }
        // Between the last line and this; of a simulation that has ended, all in all.
        const bool is_whole = progress.done == 1.0;
        const double since = progress.simulation_seconds - (is_whole ? 0 : events_at_);
        const auto events = static_cast<double>(progress.events - (is_whole ? 0 : events_));
        const double rate = since > 0 ? events / since : 0;
        const Clock::time_point before = shown_at_;
        show([&] { return experiment::progress_text(progress, rate); },
             [&] { return experiment::progress_json(progress, rate); });
        if (shown_at_ != before) {
            events_ = progress.events;
            events_at_ = progress.simulation_seconds;
        }
    };
}

void ProgressReport::clear() {
    if (std::exchange(has_line_, false)) {
        print_error("\r\033[K");
    }
}

void ProgressReport::end(int exit_code) {
    clear();
    if (!std::exchange(has_ended_, true) && form_ == Form::kJson) {
        seconds_ = seconds();
        print_last_words(line(state_of(exit_code)));
    }
}

}  // namespace astrolabe::cli
