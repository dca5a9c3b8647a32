/// Results: the summary as JSON, tables as CSV, and some lines of text.
///
/// Per-rank quantities (compute, exposed, drain) are means over the ranks, so that
///     compute_s + Σ exposed_s + drain_s = total_time_s
/// holds for the means as it does, exactly and asserted, on every rank.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::experiment {

/// The program's version, as `--version` and summary.json give it.
[[nodiscard]] std::string_view program_version();

/// summary.json (docs/results.md, "summary.json").
[[nodiscard]] nlohmann::ordered_json summary_json(const Experiment& experiment, const Run& run);
/// Its `bounds` object: of an iteration.
[[nodiscard]] nlohmann::ordered_json bounds_json(const Run& run);
/// The `network` and `engine` objects of summary.json.
[[nodiscard]] nlohmann::ordered_json network_json(const Run& run);
[[nodiscard]] nlohmann::ordered_json engine_json(const EngineFacts& engine);
/// Its objects `collectives`.
[[nodiscard]] nlohmann::ordered_json collectives_json(const Experiment& experiment, const Run& run);

/// operations.csv: one row per operation, times in seconds over all ranks.
[[nodiscard]] std::string operations_csv(const Experiment& experiment, const Run& run);

/// Ranks of the largest traffic matrix that is written.
inline constexpr std::size_t kMostMatrixRanks = 4096;

/// traffic_matrix.csv: a row (source, destination, bytes) for every pair of ranks that send.
[[nodiscard]] std::string traffic_matrix_csv(const system::TrafficMatrix& matrix);
/// traffic_by_switch.csv: the same between the switches that the ranks' hosts hang on (network::place_of), by
/// name; with a row of what stays on a switch.
[[nodiscard]] std::string traffic_by_switch_csv(const Experiment& experiment,
                                                const system::TrafficMatrix& matrix);
/// traffic_by_server.csv: the same between servers, by number; with a row of what stays in a server.
/// Precondition: the network has servers.
[[nodiscard]] std::string traffic_by_server_csv(const Experiment& experiment,
                                                const system::TrafficMatrix& matrix);

/// critical_path.csv: a row for every segment, which tile the run, and resource that held it up; without
/// causes one row for each.
[[nodiscard]] std::string critical_path_csv(const Experiment& experiment, const Run& run);

/// links.csv: a row for every link, what it carried and what its queue went through.
[[nodiscard]] std::string links_csv(const Experiment& experiment, const Run& run);

/// How long, where the time went, what bounds it.
[[nodiscard]] std::string text_summary(const Experiment& experiment, const Run& run);

/// summary.json, resolved.yaml, operations.csv, critical_path.csv, links.csv and, up to kMostMatrixRanks,
/// traffic_matrix.csv, traffic_by_switch.csv and, of a network of servers, traffic_by_server.csv.
[[nodiscard]] Diagnostics write_results(const OutputFolder& folder, const Experiment& experiment,
                                        const Run& run);

}  // namespace astrolabe::experiment
