/// A small complete experiment as text, and ways to load it changed, for tests above the layers.
#pragma once

#include "process.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::testing {

inline const char* const kSmallExperiment = R"(schema: astrolabe/1
workload:
  kind: dlrm
  model:
    dense_features: 16
    bottom_mlp: [32, 8]
    top_mlp: [32, 1]
    tables: {count: 4, rows: 100, dimension: 8, pooling: 2}
  batch: {global: 64}
  dense_feature_gradient: true
  iterations: 2
cluster:
  ranks: 4
  device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}
  collectives:
    all_reduce: {algorithm: ring, chunks: 1}
    reduce_scatter: {algorithm: ring, chunks: 1}
    all_gather: {algorithm: ring, chunks: 1}
    all_to_all: {algorithm: direct, chunks: 1}
network:
  kind: flat
  hosts: 4
  link: {rate: 100Gbps, latency: 500ns}
backend: {kind: fluid}
)";

inline Result<experiment::Experiment> load_small(const experiment::Components& components,
                                                 std::vector<std::string> overrides = {}) {
    const TemporaryFolder folder;
    const auto file = folder.write("small.yaml", kSmallExperiment);
    return experiment::load_experiment(file, {std::move(overrides), std::nullopt}, components);
}

/// Moves the weight gradients to a stream of their own: each starts when the computation before it has ended,
/// beside what comes after it, and an iteration waits for the last of the iteration before.
inline void compute_weight_gradients_aside(experiment::Experiment& experiment) {
    experiment.program.streams = {"compute", "side"};
    std::optional<system::OperationId> before;
    std::optional<system::OperationId> last_aside;
    int iteration = 0;
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        system::Operation& operation = experiment.program.operations[id];
        if (!operation.is_compute()) {
            continue;
        }
        if (operation.name.find("weight_gradient") != std::string::npos) {
            std::get<system::ComputeOperation>(operation.work).stream = 1;
            operation.dependencies.push_back(before.value());
            last_aside = id;
            continue;
        }
        if (operation.iteration > iteration) {
            iteration = operation.iteration;
            operation.dependencies.push_back(last_aside.value());
        }
        before = id;
    }
}

}  // namespace astrolabe::testing
