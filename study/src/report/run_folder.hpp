/// What `run --out` wrote, as a study of one point.
#pragma once

#include <filesystem>
#include <string>

#include <astrolabe/core/result.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

struct RunFolder {
    std::string name;  ///< of the experiment
    StudyRow row;
    RunDetails details;
};

[[nodiscard]] bool is_run_folder(const std::filesystem::path& folder);
/// Reads summary.json, and operations.csv, links.csv and resolved.yaml where they are there.
[[nodiscard]] Result<RunFolder> read_run_folder(const std::filesystem::path& folder);

}  // namespace astrolabe::study
