// SPDX-License-Identifier: GPL-2.0-only
/// Data packets per second of the TCP backend: an all-to-all, started at once, on one switch and on two
/// tiers.
#include "fabrics.hpp"
#include "tcp/tcp_backend.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace astrolabe;

/// Arguments: hosts, tiers, mtu, bytes per pair.
void all_to_all(benchmark::State& state) {
    const auto hosts = static_cast<int>(state.range(0));
    const auto fabric = state.range(1) == 1 ? benchmarks::one_switch(hosts) : benchmarks::two_tiers(hosts);
    astrolabe::ns3::TcpOptions options;
    options.mtu = Bytes(state.range(2));
    options.buffer_sharing = astrolabe::ns3::BufferSharing::kShared;
    benchmarks::Ignore ignore;
    network::NetworkStatistics total;
    Time simulated;
    for (auto _ : state) {
        astrolabe::ns3::TcpBackend backend(fabric, options);
        benchmarks::send_all_to_all(backend, hosts, Bytes(state.range(3)), ignore);
        backend.run();
        if (backend.outstanding_messages() > 0) {
            state.SkipWithError("the all-to-all did not finish");
            return;
        }
        const auto run = backend.statistics();
        total.packets += run.packets;
        total.packet_hops += run.packet_hops;
        total.events += run.events;
        total.drops += run.drops;
        total.timeouts += run.timeouts;
        simulated += backend.now();
    }
    const auto rate = [](std::uint64_t count) {
        return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
    };
    state.counters["packets/s"] = rate(total.packets);
    state.counters["hops/s"] = rate(total.packet_hops);
    state.counters["events/s"] = rate(total.events);
    state.counters["packets"] =
        benchmark::Counter(static_cast<double>(total.packets), benchmark::Counter::kAvgIterations);
    state.counters["drops"] = static_cast<double>(total.drops);
    state.counters["timeouts"] = static_cast<double>(total.timeouts);
    state.counters["simulated_ms"] =
        benchmark::Counter(to_seconds(simulated) * 1e3, benchmark::Counter::kAvgIterations);
}

BENCHMARK(all_to_all)
    ->ArgNames({"hosts", "tiers", "mtu", "bytes"})
    ->Args({16, 1, 1500, 262'144})
    ->Args({16, 1, 9000, 1'048'576})
    ->Args({128, 1, 1500, 16'384})
    ->Args({128, 1, 9000, 65'536})
    ->Args({128, 2, 9000, 65'536})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
