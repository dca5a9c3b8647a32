/// What the program says to people: exit codes, errors, progress. Results go to stdout, everything else to
/// stderr.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::cli {

enum ExitCode : int {
    kDone = 0,
    kSimulationFailed = 1,
    kWrongUsage = 2,
    kInvalidInput = 3,
    kSomeFailed = 4,  ///< of several runs; the others have results
    kInterrupted = 130
};

enum class ProgressMode { kAuto, kPlain, kNone };
/// "auto", "plain" or "none".
[[nodiscard]] ProgressMode progress_mode(const std::string& name);
/// Whether a line now and then is wanted: plain ones, or there is a terminal to read them.
[[nodiscard]] bool tells_progress(ProgressMode mode);

/// Ends the process with code 130 (143) on Ctrl-C (SIGTERM) with one line on stderr. Result files are renamed
/// into place whole, so there is nothing to clean up.
void install_interrupt_handler();
/// From now on Ctrl-C and SIGTERM only make `was_interrupted` true: for a command with something to save.
void only_note_interrupts();
[[nodiscard]] bool was_interrupted();

void print_out(const std::string& text);
/// Whether something could not be written to standard output: a full disk, say.
[[nodiscard]] bool output_was_lost();
void print_error(const std::string& text);
enum class DiagnosticForm { kText, kJson };
/// How `report_invalid` and `report_unusable` print; kText unless set.
void set_diagnostic_form(DiagnosticForm form);
/// Renders all diagnostics and their number, or prints an object a line: {"severity", "code", "file", "line",
/// "column", "length", "message", "hint", "notes": [{"file", "line", "column", "message"}, …]}. Gives
/// kInvalidInput.
int report_invalid(const Diagnostics& diagnostics);
/// The same; but files that cannot be written, or Slurm's refusal, as the first error reports, are a
/// failure of the run.
int report_unusable(const Diagnostics& diagnostics);

/// That a file with several jobs has no answer to what was asked; gives kInvalidInput.
int report_several_jobs(const std::string& file, const std::string& reason);

/// Opens the folder that `--out` names; nothing if `path` is empty. False, with the reason on stderr, if it
/// cannot be written to.
[[nodiscard]] bool open_output(const std::string& path, std::optional<experiment::OutputFolder>& folder);

/// Keeps one line on a terminal up to date, or prints a plain line every ten seconds; clears up after itself.
class ProgressLine {
public:
    ProgressLine(ProgressMode mode, std::string label);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Empty when no progress is wanted.
    [[nodiscard]] experiment::ProgressObserver observer();

    /// For a command with another kind of progress.
    void show(double wall_seconds, const std::function<std::string()>& text);

private:
    std::string label_;
    bool wanted_;
    bool terminal_;
    bool shown_ = false;
    double last_ = 0;  // wall seconds of the last that was shown
};

}  // namespace astrolabe::cli
