// What a trace costs that has a list of tasks for every rank: a Program of it, and its execution over a
// network that delivers every message after a nanosecond. Arguments: ranks, tasks of each. Counters: tasks a
// second, and bytes a task that are held at the end (graph_bytes: the lists; program_bytes: the Program;
// executor_bytes: an Executor before it runs).
//     build/different   no two ranks alike: each computes, sends to the next and receives, in an order of its
//     own build/alike       all ranks alike: one operation for a task of each run               the first,
//     carried out

#include "tests/support/algorithms.hpp"
#include "tests/support/fake_backend.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>
#include <workload/src/rank_graphs/build_program.hpp>
#include <workload/src/rank_graphs/rank_graphs.hpp>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::workload {
namespace {

/// Each task depends on the one before it and on a random earlier one.
RankGraphs lists(std::size_t ranks, std::size_t tasks, bool differ) {
    RankGraphs graphs;
    graphs.ranks.resize(ranks);
    std::vector<std::uint32_t> names;
    for (std::size_t name = 0; name < 100; ++name) {
        names.push_back(graphs.name(fmt::format("aten::operation_{}_backward", name)));
    }
    std::mt19937 random(1);
    std::vector<std::vector<std::uint32_t>> order(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        RankGraph& graph = graphs.ranks[rank];
        graph.source = "trace";
        for (std::uint32_t i = 0; i < tasks; ++i) {
            RankTask task;
            task.id = i;
            task.name = names[(i + (differ ? rank : 0)) % names.size()];
            task.duration = Time(1000 + i);
            if (i % 4 == 1) {
                task.kind = TaskKind::kSend;
                task.peer = static_cast<std::uint32_t>((rank + 1) % ranks);
                task.size = Bytes(1000);
                task.match = i / 4;
            } else if (i % 4 == 3) {
                task.kind = TaskKind::kReceive;
                task.peer = static_cast<std::uint32_t>((rank + ranks - 1) % ranks);
                task.size = Bytes(1000);
                task.match = i / 4;
            }
            std::vector<std::uint32_t> dependencies;
            if (i > 0) {
                dependencies.push_back(i - 1);
            }
            if (i > 1) {
                dependencies.push_back(static_cast<std::uint32_t>((differ ? random() : i / 2) % (i - 1)));
            }
            graph.add(task, dependencies);
        }
    }
    return graphs;
}

double held() {
    return static_cast<double>(mallinfo2().uordblks) + static_cast<double>(mallinfo2().hblkhd);
}

void count(benchmark::State& state, const char* name, double bytes) {
    state.counters[name] = bytes / static_cast<double>(state.range(0) * state.range(1));
}

void build(benchmark::State& state, bool differ) {
    const auto ranks = static_cast<std::size_t>(state.range(0));
    const auto tasks = static_cast<std::size_t>(state.range(1));
    const double before = held();
    const RankGraphs graphs = lists(ranks, tasks, differ);
    count(state, "graph_bytes", held() - before);
    for (auto _ : state) {
        const double without = held();
        const Result<system::Program> program = build_program(graphs, {});
        if (!program) {
            state.SkipWithError(program.error().front().message.c_str());
            return;
        }
        count(state, "program_bytes", held() - without);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}

void run(benchmark::State& state) {
    const auto ranks = static_cast<std::size_t>(state.range(0));
    const auto tasks = static_cast<std::size_t>(state.range(1));
    const Result<system::Program> program = build_program(lists(ranks, tasks, true), {});
    system::SystemOptions options;
    options.collectives.fill({testing::algorithm_of("direct"), 1});
    std::vector<network::HostId> hosts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        hosts.emplace_back(rank);
    }
    for (auto _ : state) {
        const double without = held();
        testing::FakeBackend backend(ranks, {.latency = Time(1000), .time_per_byte = Time(0)});
        system::Executor executor(*program, options, backend, hosts);
        count(state, "executor_bytes", held() - without);
        benchmark::DoNotOptimize(executor.run().total);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}

BENCHMARK_CAPTURE(build, different, true)
    ->Args({64, 1000})
    ->Args({1024, 1000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, alike, false)->Args({64, 1000})->Args({1024, 1000})->Unit(benchmark::kMillisecond);
BENCHMARK(run)->Args({64, 1000})->Args({1024, 1000})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace astrolabe::workload
