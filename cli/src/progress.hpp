/// How far a command is, on standard error: `--progress auto|text|plain|json|none`.
///
///     auto    as text on a terminal, nothing elsewhere
///     text    a line on a terminal that is kept up to date, elsewhere a line every ten seconds
///     plain   a line every ten seconds
///     json    an object a line, twice a second: docs/tools.md has the fields. The first is written when the
///             files have been read, the last when all else has been written, and says how it ended.
#pragma once

#include "console.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/run/progress.hpp>

namespace astrolabe::cli {

/// `--progress`
void add_progress_option(CLI::App& command, std::string& mode);

class ProgressReport {
public:
    /// `mode` is one of the above; `command` and `name`, that of the experiment or study, are in every
    /// object, and `fields` in the first.
    ProgressReport(const std::string& mode, std::string command, std::string name,
                   nlohmann::ordered_json fields);
    /// Ends as failed what has not ended.
    ~ProgressReport();
    ProgressReport(const ProgressReport&) = delete;
    ProgressReport& operator=(const ProgressReport&) = delete;

    /// Whether anything will be shown.
    [[nodiscard]] bool is_wanted() const { return form_ != Form::kNone; }
    /// What is called now is shown if it is time. Fields stay as they were last given.
    void show(const std::function<std::string()>& text,
              const std::function<nlohmann::ordered_json()>& fields);
    /// Of a command that makes runs in processes: so many of `all` have ended, the last is called `last`.
    void show_runs(std::size_t ended, std::size_t all, const std::string& last);
    /// Of a run, or of the part `number`, from 1, of several; empty when no progress is wanted.
    [[nodiscard]] experiment::ProgressObserver observer(std::size_t number = 1);
    /// The line on a terminal is gone: before results are printed.
    void clear();
    /// As exit codes have it.
    void end(int exit_code);

private:
    using Clock = std::chrono::steady_clock;
    enum class Form : std::uint8_t { kNone, kTerminal, kPlain, kJson };

    [[nodiscard]] static Form form_of(const std::string& mode);
    [[nodiscard]] double seconds() const;
    /// The object of a state, as a line.
    [[nodiscard]] std::string line(const char* state) const;

    Form form_;
    std::string command_;
    std::string name_;
    nlohmann::ordered_json fields_;
    Clock::time_point start_ = Clock::now();
    double seconds_ = 0;  // of wall, when the fields were given
    Clock::time_point shown_at_ = start_;
    bool has_line_ = false;  // on the terminal
    bool has_ended_ = false;
    // Of the run that is shown last, for its present rate.
    std::size_t simulation_ = 0;
    std::uint64_t events_ = 0;
    double events_at_ = 0;
};

}  // namespace astrolabe::cli
