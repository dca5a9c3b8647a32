/// What the command line of `sweep` says of Slurm.
#pragma once

#include "sweep_arguments.hpp"

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <astrolabe/study/slurm/slurm.hpp>

namespace astrolabe::cli {

void add_slurm_options(CLI::App& command, SlurmArguments& arguments);

/// kWrongUsage and what is wrong with options of a launcher, or kDone.
[[nodiscard]] int check_launcher(const SweepArguments& arguments);

/// The study's section with what the command line, which has been checked, changes.
[[nodiscard]] study::SlurmOptions slurm_options(const SweepArguments& arguments, const study::Study& study);

/// "2:7"
[[nodiscard]] std::optional<study::TaskName> parse_task(const std::string& text);

}  // namespace astrolabe::cli
