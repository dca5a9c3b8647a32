/// Cost of the slot engine: the shuffles of the Opera paper's artefact, 108 racks of six hosts at 10 Gb/s,
/// every host to all hosts of other racks, and a message now and then on a network that idles.
///
/// Counters: simulated_ms, and packets granted per second of wall time; peak memory is that of the process,
/// so run one benchmark at a time to read it.
#include "network/src/engines/slots/slot_engine.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <rotor_fabric.hpp>
#include <rotor_traffic.hpp>

namespace {

using namespace astrolabe;
using namespace astrolabe::network;
using namespace astrolabe::network::rotor;

void shuffle(benchmark::State& state, Bytes size) {
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(drawn_rotor_network(108, 6, 10_Gbps, 5));
    const std::vector<HostPair> pairs = pairs_where(648, [](auto i, auto j) { return i / 6 != j / 6; });
    for (auto _ : state) {
        SlotEngine engine(fabric);
        RotorTraffic traffic(engine, pairs, size);
        engine.run();
        const auto milliseconds = [&](double part) { return to_seconds(traffic.percentile(part)) * 1e3; };
        state.counters["p50_ms"] = milliseconds(0.50);
        state.counters["p99_ms"] = milliseconds(0.99);
        state.counters["max_ms"] = milliseconds(1.00);
        const SlotCounters& counters = engine.counters();
        state.counters["relayed"] = static_cast<double>(counters.first_hops) /
                                    static_cast<double>(counters.first_hops + counters.direct);
        state.counters["packets_per_s"] = benchmark::Counter(static_cast<double>(engine.statistics().packets),
                                                             benchmark::Counter::kIsIterationInvariantRate);
    }
}
BENCHMARK_CAPTURE(shuffle, bytes_10000, 10_KB)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shuffle, bytes_100000, 100_KB)->Iterations(1)->Unit(benchmark::kMillisecond);

/// 1,024 hosts at 100 Gb/s, one message per pair: as a step of a collective.
void all_to_all(benchmark::State& state) {
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(drawn_rotor_network(128, 8, 100_Gbps, 5));
    const std::vector<HostPair> pairs = pairs_where(1024, [](auto, auto) { return true; });
    for (auto _ : state) {
        SlotEngine engine(fabric);
        RotorTraffic traffic(engine, pairs, Bytes(state.range(0)));
        engine.run();
        state.counters["simulated_ms"] = to_seconds(engine.now()) * 1e3;
        state.counters["packets_per_s"] = benchmark::Counter(static_cast<double>(engine.statistics().packets),
                                                             benchmark::Counter::kIsIterationInvariantRate);
    }
}
BENCHMARK(all_to_all)->Arg(44'494)->Arg(327'680)->Iterations(1)->Unit(benchmark::kMillisecond);

/// A packet every simulated second for an hour.
class Seldom final : public NotificationHandler {
public:
    explicit Seldom(SlotEngine& engine)
        : engine_(engine) {
        engine.schedule(1_s, *this, 0);
    }
    void notify(std::uint64_t token) override {
        if (token < 3600) {
            engine_.send({HostId(0), HostId(500), 1_KB, this, 3600});
            engine_.schedule(1_s, *this, token + 1);
        }
    }

private:
    SlotEngine& engine_;
};

void idle(benchmark::State& state) {
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(drawn_rotor_network(108, 6, 10_Gbps, 5));
    for (auto _ : state) {
        SlotEngine engine(fabric);
        Seldom seldom(engine);
        engine.run();
        state.counters["simulated_s"] = to_seconds(engine.now());
        state.counters["installations"] = static_cast<double>(engine.counters().installations);
    }
}
BENCHMARK(idle)->Unit(benchmark::kMillisecond);

}  // namespace
