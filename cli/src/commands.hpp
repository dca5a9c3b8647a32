/// The subcommands. Each adds itself to the argument parser and sets `exit_code` when it was the one asked
/// for.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::cli {

void add_run_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_validate_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_compare_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_what_if_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_optimize_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_sweep_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_report_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_calibrate_command(CLI::App& app, int& exit_code);
void add_convert_command(CLI::App& app, int& exit_code);
void add_export_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_collective_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_reproduce_command(CLI::App& app, int& exit_code);
void add_list_command(CLI::App& app, const experiment::Components& components, int& exit_code);
void add_completion_command(CLI::App& app, int& exit_code);
void add_describe_command(CLI::App& app, const experiment::Components& components, int& exit_code);

/// `validate` of a study: its points and what they will cost.
[[nodiscard]] int validate_study(const std::string& file, const std::vector<std::string>& overrides,
                                 bool json, const experiment::Components& components);

/// The values of `seed` in a file: what a run takes, its resolved.yaml can say.
[[nodiscard]] CLI::Range seed_range();

/// An option that may be given several times, each time with one value; gives it.
CLI::Option* add_repeatable_option(CLI::App& command, const char* name, std::vector<std::string>& values,
                                   const char* help, const char* type = "PATH=VALUE");

}  // namespace astrolabe::cli
