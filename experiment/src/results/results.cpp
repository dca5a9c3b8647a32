#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/results/run_files.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::experiment {

Diagnostics write_results(const OutputFolder& folder, const Experiment& experiment, const Run& run) {
    const std::string resolved =
        fmt::format("# resolved by astrolabe {}, fingerprint {}\n{}", program_version(), run.fingerprint,
                    to_yaml(experiment.resolved));
    Diagnostics errors;
    std::vector<std::pair<std::string, std::string>> files{
        {"resolved.yaml", resolved},
        {"operations.csv", operations_csv(experiment, run)},
        {"critical_path.csv", critical_path_csv(experiment, run)},
        {"links.csv", links_csv(experiment, run)}};
    if (experiment.cluster.ranks <= kMostMatrixRanks) {
        const system::TrafficMatrix matrix =
            system::traffic_matrix(experiment.program, experiment.cluster.options);
        files.emplace_back("traffic_matrix.csv", traffic_matrix_csv(matrix));
        files.emplace_back("traffic_by_switch.csv", traffic_by_switch_csv(experiment, matrix));
        if (experiment.fabric->family().servers() != nullptr) {
            files.emplace_back("traffic_by_server.csv", traffic_by_server_csv(experiment, matrix));
        }
    }
    for (const auto& [name, content] : files) {
        if (std::optional<Diagnostic> error = folder.write(name, content)) {
            errors.push_back(std::move(*error));
        }
    }
    if (errors.empty()) {
        if (std::optional<Diagnostic> error = write_summary(folder, summary_json(experiment, run))) {
            errors.push_back(std::move(*error));
        }
    }
    return errors;
}

}  // namespace astrolabe::experiment
