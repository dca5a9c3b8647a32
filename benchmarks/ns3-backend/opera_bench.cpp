// SPDX-License-Identifier: GPL-2.0-only
/// Cost of Opera packet by packet: the shuffles of the paper's artefact, 108 racks of six hosts at 10 Gb/s,
/// every host to all hosts of other racks, as in rotor_bench for the slot engine.
///
/// `packets/s` and `hops/s` count data packets; `events/s` is ns-3's. Peak memory is that of the process, so
/// run one benchmark at a time to read it.
#include "opera/opera_packet_backend.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <rotor_fabric.hpp>
#include <rotor_traffic.hpp>
#include <sys/resource.h>

namespace {

using namespace astrolabe;
using namespace astrolabe::network;
using namespace astrolabe::network::rotor;

double peak_memory() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

void shuffle(benchmark::State& state, Bytes size) {
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(drawn_rotor_network(108, 6, 10_Gbps, 5));
    const std::vector<HostPair> pairs = pairs_where(648, [](auto i, auto j) { return i / 6 != j / 6; });
    for (auto _ : state) {
        astrolabe::ns3::OperaPacketBackend backend(fabric);
        RotorTraffic traffic(backend, pairs, size);
        backend.run();
        if (backend.outstanding_messages() > 0) {
            state.SkipWithError("the shuffle did not finish");
            return;
        }
        const auto milliseconds = [&](double part) { return to_seconds(traffic.percentile(part)) * 1e3; };
        state.counters["p50_ms"] = milliseconds(0.50);
        state.counters["p99_ms"] = milliseconds(0.99);
        state.counters["max_ms"] = milliseconds(1.00);
        const NetworkStatistics statistics = backend.statistics();
        const auto rate = [](std::uint64_t count) {
            return benchmark::Counter(static_cast<double>(count),
                                      benchmark::Counter::kIsIterationInvariantRate);
        };
        state.counters["packets/s"] = rate(statistics.packets);
        state.counters["hops/s"] = rate(statistics.packet_hops);
        state.counters["events/s"] = rate(statistics.events);
        state.counters["packets"] = static_cast<double>(statistics.packets);
        state.counters["returned"] = static_cast<double>(backend.returned_packets());
        state.counters["peak_MB"] = peak_memory() / 1e6;
    }
}
BENCHMARK_CAPTURE(shuffle, bytes_1000, 1_KB)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shuffle, bytes_10000, 10_KB)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shuffle, bytes_100000, 100_KB)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
