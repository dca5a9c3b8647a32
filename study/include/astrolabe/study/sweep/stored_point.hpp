/// A point of a study as an experiment again, from what the store has of it: `run DIR --point N`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::study {

/// The study that is meant of those in a store, whose names are given: the only one where `wanted` is empty.
/// Errors: none there, several and none wanted, or none of that name.
[[nodiscard]] Result<std::string> choose_study(const std::vector<std::string>& studies,
                                               const std::string& wanted,
                                               const std::filesystem::path& folder);

/// The experiment of a point that has finished, from its resolved form: running it gives the fingerprint of
/// the stored result. `options` change it after that. `study` may be empty where the folder has one only.
/// Errors: no store or study, no such point, one without a result, and what reading an experiment reports.
[[nodiscard]] Result<experiment::Experiment> load_stored_point(const std::filesystem::path& folder,
                                                               const std::string& study, std::size_t number,
                                                               const experiment::LoadOptions& options,
                                                               const experiment::Components& components);

}  // namespace astrolabe::study
