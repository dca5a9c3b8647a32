/// Cost of a rotor network before anything runs on it: checking its parameters, which draws the matchings,
/// and building its fabric from them. Arguments: racks, uplinks.
#include "network/src/rotor/opera.hpp"

#include <cstdint>

#include <benchmark/benchmark.h>

namespace {

using namespace astrolabe::network::rotor;

OperaParameters parameters_of(const benchmark::State& state) {
    OperaParameters parameters;
    parameters.racks = state.range(0);
    parameters.uplinks = state.range(1);
    parameters.hosts_per_rack = 8;
    return parameters;
}

void check(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(validation_errors(parameters_of(state)));
    }
}

void build(benchmark::State& state) {
    const OperaParameters parameters = parameters_of(state);
    benchmark::DoNotOptimize(validation_errors(parameters));
    for (auto _ : state) {
        benchmark::DoNotOptimize(build_opera(parameters));
    }
}

BENCHMARK(check)->Args({128, 8})->Args({512, 16})->Args({512, 64})->Unit(benchmark::kMillisecond);
BENCHMARK(build)->Args({128, 8})->Args({512, 16})->Args({512, 64})->Unit(benchmark::kMillisecond);

}  // namespace
