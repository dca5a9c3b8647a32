/// Results on their way to a store: files in `spool/` of a folder of results, one for each point.
///
/// SQLite's locks do not work on most network file systems, so processes on other machines do not write the
/// store. They leave each result as a file, which appears whole or not at all; the process that has the store
/// merges them. A point that was computed twice gives one row, that of the first result that was merged:
/// results of one key are the same but for what they cost.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

class Spool {
public:
    /// Makes the folder if need be. `writer` is the beginning of the names of its files, and of no other
    /// writer's.
    [[nodiscard]] static Result<Spool> open(const std::filesystem::path& folder, std::string writer);

    [[nodiscard]] std::optional<Diagnostic> put(const StoredResult& result) const;
    /// Of what this writer put and what is not merged yet.
    [[nodiscard]] PointStatus status(const std::string& key) const;

private:
    Spool(std::filesystem::path folder, experiment::OutputFolder files, std::string writer);
    [[nodiscard]] std::string name_of(const std::string& key) const;

    std::filesystem::path folder_;
    experiment::OutputFolder files_;
    std::string writer_;
};

/// Results that wait in a folder. O(files).
[[nodiscard]] std::size_t spooled_results(const std::filesystem::path& folder);

/// Puts what waits in a folder into its store and deletes it then: killed at any moment it loses nothing.
/// Gives the number of results. Several may merge at a time. An error names files that hold no result, which
/// stay where they are; the others have been merged.
[[nodiscard]] Result<std::size_t> merge_spool(const std::filesystem::path& folder, ResultStore& store);

}  // namespace astrolabe::study
