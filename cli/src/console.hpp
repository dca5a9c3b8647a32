/// What the program says to people: exit codes and errors. Results go to stdout, everything else to
/// stderr.
#pragma once

#include <optional>
#include <string>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::cli {

enum ExitCode : int {
    kDone = 0,
    kSimulationFailed = 1,
    kWrongUsage = 2,
    kInvalidInput = 3,
    kSomeFailed = 4,  ///< of several runs; the others have results
    kInterrupted = 130
};

/// Ends the process with code 130 (143) on Ctrl-C (SIGTERM) with one line on stderr. Result files are renamed
/// into place whole, so there is nothing to clean up.
void install_interrupt_handler();
/// From now on nothing but its own output is lost where a reader of it, as head, ends first.
void outlive_readers();
/// What the process writes last, behind that line, where it is ended so; empty: nothing.
void set_last_words(std::string text);
/// Writes `text` to standard error and has no last words any more, uninterrupted.
void print_last_words(const std::string& text);
/// From now on Ctrl-C and SIGTERM only make `was_interrupted` true: for a command with something to save.
void only_note_interrupts();
[[nodiscard]] bool was_interrupted();

void print_out(const std::string& text);
/// Whether something could not be written to standard output that was to be read: a full disk, say.
[[nodiscard]] bool output_was_lost();
/// To standard error as it is: progress, and what is no diagnostic.
void print_error(const std::string& text);
enum class DiagnosticForm { kText, kJson };
/// How all that is wrong is printed; kText unless set.
void set_diagnostic_form(DiagnosticForm form);
/// What is wrong with a command or a run and has no place in a file, "astrolabe: MESSAGE\n  hint: HINT\n"; or
/// as an object a line: {"severity": "error", "code": "command", "message", "hint", "notes": []}.
void print_failure(const std::string& text);
/// The same of what does not keep the command from its result: "severity": "warning".
void print_warning(const std::string& text);
/// Renders all diagnostics, or prints an object a line: {"severity", "code", "file", "line", "column",
/// "length", "message", "hint", "notes": [{"file", "line", "column", "message"}, …]}.
void print_diagnostics(const Diagnostics& diagnostics);
/// The same, with their number at the end of a text. Gives kInvalidInput.
int report_invalid(const Diagnostics& diagnostics);
/// The same; but files that cannot be written, or Slurm's refusal, as the first error reports, are a
/// failure of the run.
int report_unusable(const Diagnostics& diagnostics);

/// How the program was called, for commands to copy: "./astrolabe" by the script of the repository, which
/// says so in ASTROLABE_CALLED_AS; else "astrolabe".
[[nodiscard]] std::string called_as();

/// That a file with several jobs has no answer to what was asked; gives kInvalidInput.
int report_several_jobs(const std::string& file, const std::string& reason);

/// What a command writes into its folder.
enum class Output : std::uint8_t { kRun, kNoRun };

/// Opens the folder that `--out` names, for a run that replaces the one before or for files beside it;
/// nothing if `path` is empty. False, with the reason on stderr, if it cannot be written to.
[[nodiscard]] bool open_output(const std::string& path, std::optional<experiment::OutputFolder>& folder,
                               Output output = Output::kRun);

}  // namespace astrolabe::cli
