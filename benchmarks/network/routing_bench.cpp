// Cost of a route on a direct-connect network, as packets ask for it: the next link at every node of the way,
// for every pair once, on N hosts in rings ±1 and ±13 with a random shortest-path tree for each source
// (TopoOpt's released routes). `links/s` counts those links. Trees are drawn before.

#include "network/src/routing/random_tree_routing.hpp"
#include "network/src/topologies/direct_connect.hpp"

#include <benchmark/benchmark.h>

namespace astrolabe::network {
namespace {

void random_trees(benchmark::State& state) {
    DirectConnectParameters parameters;
    parameters.hosts = state.range(0);
    parameters.link = {100_Gbps, 500_ns};
    parameters.rings = {1, 13};
    const auto fabric = build_direct_connect(parameters);
    const RandomTreeRouting routing(*fabric, 1);
    const auto hosts = static_cast<std::size_t>(state.range(0));
    for (std::size_t source = 0; source < hosts; ++source) {
        benchmark::DoNotOptimize(routing.route(HostId(source), HostId((source + 1) % hosts)));
    }
    std::uint64_t links = 0;
    std::uint64_t pairs = 0;
    for (auto _ : state) {
        const HostId source(pairs % hosts);
        const HostId destination((source.index() + 1 + pairs / hosts % (hosts - 1)) % hosts);
        for (NodeId at = fabric->node_of(source); at != fabric->node_of(destination); ++links) {
            at = fabric->target(routing.select(at, source, destination));
        }
        ++pairs;
    }
    state.counters["links/s"] = benchmark::Counter(static_cast<double>(links), benchmark::Counter::kIsRate);
}

BENCHMARK(random_trees)->Arg(128)->Arg(1024);

}  // namespace
}  // namespace astrolabe::network
