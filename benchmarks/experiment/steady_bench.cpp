/// Packet runs of 50 iterations in full and with `steady_state`, which should cost what 3 or 4 of them do.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <astrolabe/experiment/run/run.hpp>

namespace {

using namespace astrolabe;

/// DLRM on one switch.
std::string experiment_of(std::int64_t ranks) {
    return fmt::format(R"(schema: astrolabe/1
workload:
  kind: dlrm
  model:
    dense_features: 16
    bottom_mlp: [128, 16]
    top_mlp: [128, 1]
    tables: {{count: {0}, rows: 100, dimension: 16, pooling: 2}}
  batch: {{local: 64}}
  iterations: 50
cluster:
  ranks: {0}
  device: {{kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}}
  collectives: {{all_reduce: {{algorithm: ring, chunks: 1}}, all_to_all: {{algorithm: direct, chunks: 1}}}}
network: {{kind: flat, hosts: {0}, link: {{rate: 100Gbps, latency: 500ns}}}}
backend: {{kind: packet}}
)",
                       ranks);
}

void run(benchmark::State& state, const std::vector<std::string>& overrides) {
    const experiment::Components components = experiment::builtin_components();
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("steady-bench-{}.yaml", state.range(0));
    std::ofstream(file) << experiment_of(state.range(0));
    const auto loaded = experiment::load_experiment(file, {overrides, std::nullopt}, components);
    std::filesystem::remove(file);
    if (!loaded) {
        state.SkipWithError("the experiment is wrong");
        return;
    }
    double events = 0;
    for (auto _ : state) {
        const experiment::Run done =
            experiment::run_experiment(*loaded, {}, {.causes = experiment::Causes::kNever});
        events = static_cast<double>(done.engine.events);
    }
    state.counters["events"] = events;
}

void full(benchmark::State& state) {
    run(state, {});
}
void steady(benchmark::State& state) {
    run(state, {"steady_state={tolerance: 0.5 %}"});
}

BENCHMARK(full)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(steady)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
