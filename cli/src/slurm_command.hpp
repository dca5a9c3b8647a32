/// `sweep --launcher slurm`: submitting, waiting, and what its tasks do.
#pragma once

#include "sweep_arguments.hpp"

namespace astrolabe::cli {

/// Submits, and waits if that is wanted.
[[nodiscard]] int slurm_sweep(const SweepArguments& arguments, const study::Study& study,
                              const experiment::Components& components, study::ResultStore& store,
                              const std::filesystem::path& folder, const study::SweepOptions& options);

/// A task of an array.
[[nodiscard]] int slurm_task(const SweepArguments& arguments, const study::Study& study,
                             const experiment::Components& components, const std::filesystem::path& folder,
                             study::SweepOptions options);

/// `--status`: the table, and arrays that may bring what is missing. `store` may be none.
[[nodiscard]] int print_status(const SweepArguments& arguments, const study::Study& study,
                               const study::ResultStore* store, const std::filesystem::path& folder,
                               const std::vector<study::StudyRow>& rows);

/// Says that arrays may compute what is about to be computed here.
void note_arrays(const study::Study& study, const study::ResultStore& store,
                 const std::filesystem::path& folder);

}  // namespace astrolabe::cli
