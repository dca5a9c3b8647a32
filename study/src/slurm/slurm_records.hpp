/// What a folder of results remembers of submissions (slurm.hpp has the names of the files).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <astrolabe/study/slurm/slurm.hpp>

namespace astrolabe::study {

/// slurm/N
[[nodiscard]] std::filesystem::path submission_folder(const std::filesystem::path& folder,
                                                      std::size_t number);
/// The number after the last one; those that were cut short lose their shares, so that an array that is not
/// recorded finds nothing to do. Only while no other process submits.
[[nodiscard]] std::size_t next_submission(const std::filesystem::path& folder);

/// Nothing, or why it could not be written.
[[nodiscard]] std::optional<Diagnostic> write_shares(const std::filesystem::path& folder,
                                                     const SlurmArray& array);
[[nodiscard]] std::optional<Diagnostic> write_job(const std::filesystem::path& folder,
                                                  const SlurmArray& array);
/// Of a submission that was made, or is being made: `job` may be empty.
[[nodiscard]] Result<SlurmArray> read_submission(const std::filesystem::path& folder, std::size_t number);

}  // namespace astrolabe::study
