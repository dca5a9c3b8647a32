/// Results: the summary as JSON, tables as CSV, ten lines for people, and files that appear whole or not at
/// all.
///
/// Per-rank quantities (compute, exposed, drain) are means over the ranks, so that
///     compute_s + Σ exposed_s + drain_s = total_time_s
/// holds for the means as it does, exactly and asserted, on every rank.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/run.hpp>

namespace astrolabe::experiment {

/// The program's version, as `--version` and summary.json give it.
[[nodiscard]] std::string_view program_version();

/// summary.json (design.md 7).
[[nodiscard]] nlohmann::ordered_json summary_json(const Experiment& experiment, const Run& run);
/// The `network` and `engine` objects of summary.json.
[[nodiscard]] nlohmann::ordered_json network_json(const Run& run);
[[nodiscard]] nlohmann::ordered_json engine_json(const EngineFacts& engine);

/// operations.csv: one row per operation, times in seconds over all ranks.
[[nodiscard]] std::string operations_csv(const Experiment& experiment, const Run& run);

/// Ranks of the largest traffic matrix that is written.
inline constexpr std::size_t kMostMatrixRanks = 4096;

/// traffic_matrix.csv: a row (source, destination, bytes) for every pair of ranks that send.
[[nodiscard]] std::string traffic_matrix_csv(const Experiment& experiment);

/// How long, where the time went, what bounds it.
[[nodiscard]] std::string text_summary(const Experiment& experiment, const Run& run);

/// A folder for results. Files are written beside their final name and renamed, so none is ever seen
/// half-written.
class OutputFolder {
public:
    /// Makes the folder if need be and tries to write in it; an error names the folder and the system's
    /// reason.
    [[nodiscard]] static Result<OutputFolder> open(const std::filesystem::path& path);

    /// Nothing, or why the file could not be written.
    [[nodiscard]] std::optional<Diagnostic> write(const std::string& name, const std::string& content) const;

private:
    explicit OutputFolder(std::filesystem::path path)
        : path_(std::move(path)) {}

    std::filesystem::path path_;
};

/// summary.json, resolved.yaml, operations.csv and, up to kMostMatrixRanks, traffic_matrix.csv.
[[nodiscard]] Diagnostics write_results(const OutputFolder& folder, const Experiment& experiment,
                                        const Run& run);

}  // namespace astrolabe::experiment
