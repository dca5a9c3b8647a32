/// Cost of the fluid engine: messages per second under the traffic of the usual collectives, and how it
/// compares with an engine that recomputes the whole network at every change (second argument 1), or at most
/// once in an interval (uneven_at_intervals, in ps), or leaves slack (uneven_with_slack).
///
/// Counters: messages_per_s and events_per_s of wall time; updates, rate updates per message; freed,
/// connections freed per update.
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

using namespace astrolabe;
using namespace astrolabe::network;

std::shared_ptr<const Fabric> flat(std::int64_t hosts) {
    FlatParameters parameters;
    parameters.hosts = hosts;
    return build_flat(parameters);
}

FluidOptions options(const benchmark::State& state) {
    return {state.range(1) == 0 ? MaxMinSolver::Strategy::kLocal : MaxMinSolver::Strategy::kWholeNetwork};
}

struct Totals {
    std::uint64_t messages = 0;
    std::uint64_t events = 0;
    MaxMinSolver::Counters rates;

    void add(const FluidBackend& backend) {
        messages += backend.statistics().messages;
        events += backend.events_processed();
        rates.updates += backend.rate_updates().updates;
        rates.freed += backend.rate_updates().freed;
        rates.fillings += backend.rate_updates().fillings;
    }
    void report(benchmark::State& state) const {
        using benchmark::Counter;
        state.counters["messages_per_s"] = Counter(static_cast<double>(messages), Counter::kIsRate);
        state.counters["events_per_s"] = Counter(static_cast<double>(events), Counter::kIsRate);
        state.counters["updates"] = static_cast<double>(rates.updates) / static_cast<double>(messages);
        state.counters["freed"] = static_cast<double>(rates.freed) / static_cast<double>(rates.updates);
        state.counters["fillings"] = static_cast<double>(rates.fillings) / static_cast<double>(rates.updates);
    }
};

/// Ring: every rank passes 8 KiB on as soon as it has received; all ranks in step.
class Ring final : public NotificationHandler {
public:
    Ring(FluidBackend& backend, std::uint32_t ranks, std::uint32_t steps)
        : backend_(backend),
          ranks_(ranks),
          messages_left_(std::uint64_t{ranks} * (steps - 1)) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            send(rank);
        }
    }
    void notify(std::uint64_t token) override {
        if (messages_left_ > 0) {
            --messages_left_;
            send((static_cast<std::uint32_t>(token) + 1) % ranks_);
        }
    }

private:
    void send(std::uint32_t rank) {
        backend_.send({HostId(rank), HostId((rank + 1) % ranks_), 8_KiB, this, rank});
    }

    FluidBackend& backend_;
    std::uint32_t ranks_;
    std::uint64_t messages_left_;
};

void ring_steps(benchmark::State& state) {
    const auto ranks = static_cast<std::uint32_t>(state.range(0));
    const std::shared_ptr<const Fabric> fabric = flat(ranks);
    Totals totals;
    for (auto _ : state) {
        FluidBackend backend(fabric, options(state));
        Ring ring(backend, ranks, 200);
        backend.run();
        totals.add(backend);
    }
    totals.report(state);
}
BENCHMARK(ring_steps)->Args({128, 0})->Args({128, 1})->Args({1024, 0})->Unit(benchmark::kMillisecond);

/// Double binary tree all-reduce: chunk c goes up and down tree c mod 2, `window` chunks at a time are
/// between their first send and their return to the root. Each rank handles a received message for 10 ns.
/// Trees by lowest set bit, the second one shifted by one rank.
class DoubleBinaryTree final : public NotificationHandler {
public:
    DoubleBinaryTree(FluidBackend& backend, std::uint32_t ranks, std::uint32_t chunks, std::uint32_t window)
        : backend_(backend),
          ranks_(ranks),
          chunks_(chunks),
          parent_(ranks),
          children_(ranks),
          missing_(std::size_t{ranks} * chunks),
          in_flight_(ranks, 0),
          next_chunk_(ranks, 0),
          window_(window) {
        for (std::uint32_t node = 1; node < ranks; ++node) {
            const std::uint32_t bit = node & (~node + 1);
            const std::uint32_t up = (node - bit) | (2 * bit);
            parent_[node] = up < ranks ? up : node - bit;
            children_[parent_[node]].push_back(node);
        }
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
                // Contributions of the children, and its own once the rank has started the chunk.
                missing(rank, chunk) = static_cast<std::uint8_t>(children_[node_of(rank, chunk)].size() + 1);
            }
        }
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            start_chunks(rank);
        }
    }

    void notify(std::uint64_t token) override {
        if ((token & kDelivered) != 0) {
            backend_.schedule(10_ns, *this, token & ~kDelivered);
            return;
        }
        const auto rank = static_cast<std::uint32_t>((token >> 32) & 0xffffU);
        const auto chunk = static_cast<std::uint32_t>(token);
        if ((token & kDown) != 0) {
            finish(rank, chunk);
        } else {
            contribute(rank, chunk);
        }
    }

private:
    static constexpr std::uint64_t kDelivered = std::uint64_t{1} << 63;
    static constexpr std::uint64_t kDown = std::uint64_t{1} << 62;

    [[nodiscard]] std::uint32_t node_of(std::uint32_t rank, std::uint32_t chunk) const {
        return chunk % 2 == 0 ? rank : (rank + ranks_ - 1) % ranks_;
    }
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t node, std::uint32_t chunk) const {
        return chunk % 2 == 0 ? node : (node + 1) % ranks_;
    }
    [[nodiscard]] std::uint8_t& missing(std::uint32_t rank, std::uint32_t chunk) {
        return missing_[std::size_t{rank} * chunks_ + chunk];
    }

    void start_chunks(std::uint32_t rank) {
        while (in_flight_[rank] < window_ && next_chunk_[rank] < chunks_) {
            ++in_flight_[rank];
            contribute(rank, next_chunk_[rank]++);
        }
    }
    void contribute(std::uint32_t rank, std::uint32_t chunk) {
        if (--missing(rank, chunk) > 0) {
            return;
        }
        const std::uint32_t node = node_of(rank, chunk);
        if (node == 0) {
            finish(rank, chunk);
        } else {
            send(rank, rank_of(parent_[node], chunk), chunk, 0);
        }
    }
    void finish(std::uint32_t rank, std::uint32_t chunk) {
        for (const std::uint32_t child : children_[node_of(rank, chunk)]) {
            send(rank, rank_of(child, chunk), chunk, kDown);
        }
        --in_flight_[rank];
        start_chunks(rank);
    }
    void send(std::uint32_t from, std::uint32_t to, std::uint32_t chunk, std::uint64_t direction) {
        const std::uint64_t token = kDelivered | direction | (std::uint64_t{to} << 32) | chunk;
        backend_.send({HostId(from), HostId(to), 8_KiB, this, token});
    }

    FluidBackend& backend_;
    std::uint32_t ranks_;
    std::uint32_t chunks_;
    std::vector<std::uint32_t> parent_;
    std::vector<std::vector<std::uint32_t>> children_;
    std::vector<std::uint8_t> missing_;
    std::vector<std::uint32_t> in_flight_;
    std::vector<std::uint32_t> next_chunk_;
    std::uint32_t window_;
};

void double_binary_tree(benchmark::State& state, const std::shared_ptr<const Fabric>& fabric) {
    const auto chunks = static_cast<std::uint32_t>(state.range(0));
    Totals totals;
    for (auto _ : state) {
        FluidBackend backend(fabric, options(state));
        DoubleBinaryTree tree(backend, static_cast<std::uint32_t>(fabric->host_count()), chunks, 64);
        backend.run();
        totals.add(backend);
        state.counters["simulated_us"] = to_seconds(backend.now()) * 1e6;
    }
    totals.report(state);
}
BENCHMARK_CAPTURE(double_binary_tree, flat_128, flat(128))
    ->Args({256, 0})
    ->Args({256, 1})
    ->Unit(benchmark::kMillisecond);

std::shared_ptr<const Fabric> fat_tree_8(LoadBalancing load_balancing) {
    FatTreeParameters parameters;
    parameters.k = 8;
    parameters.load_balancing = load_balancing;
    return build_fat_tree(parameters);
}
BENCHMARK_CAPTURE(double_binary_tree, fat_tree_128_hash, fat_tree_8(LoadBalancing::kFlowHash))
    ->Args({256, 0})
    ->Args({256, 1})
    ->Unit(benchmark::kMillisecond);

class Sink final : public NotificationHandler {
public:
    void notify(std::uint64_t) override {}
};

/// All pairs at once; with `spread` > 0 sizes differ by up to that many bytes, so that connections end one by
/// one.
std::vector<Message> all_pairs(std::uint32_t hosts, std::uint64_t spread, Sink& sink) {
    std::vector<Message> messages;
    std::uint64_t draw = 1;
    for (std::uint32_t i = 0; i < hosts; ++i) {
        for (std::uint32_t step = 1; step < hosts; ++step) {
            draw = draw * 6364136223846793005U + 1442695040888963407U;
            const Bytes size =
                32_KiB + Bytes(spread == 0 ? 0 : static_cast<std::int64_t>((draw >> 33) % spread));
            messages.push_back({HostId(i), HostId((i + step) % hosts), size, &sink, 0});
        }
    }
    return messages;
}

void all_to_all(benchmark::State& state, const std::shared_ptr<const Fabric>& fabric, std::uint64_t spread) {
    Sink sink;
    const std::vector<Message> messages =
        all_pairs(static_cast<std::uint32_t>(fabric->host_count()), spread, sink);
    Totals totals;
    for (auto _ : state) {
        FluidBackend backend(fabric, options(state));
        backend.send_batch(messages);
        backend.run();
        totals.add(backend);
    }
    totals.report(state);
}
BENCHMARK_CAPTURE(all_to_all, flat_equal, flat(128), 0)
    ->Args({0, 0})
    ->Args({0, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_to_all, flat_unequal, flat(32), 1 << 16)
    ->Args({0, 0})
    ->Args({0, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_to_all, fat_tree_hash, fat_tree_8(LoadBalancing::kFlowHash), 0)
    ->Args({0, 0})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_to_all, fat_tree_spray, fat_tree_8(LoadBalancing::kSpray), 0)
    ->Args({0, 0})
    ->Unit(benchmark::kMillisecond);

std::shared_ptr<const Fabric> leaf_spine_64() {
    LeafSpineParameters parameters;
    parameters.hosts = 64;
    parameters.hosts_per_leaf = 8;
    parameters.spines = 8;
    return build_leaf_spine(parameters);
}
BENCHMARK_CAPTURE(all_to_all, leaf_spine_hash_unequal, leaf_spine_64(), 1 << 16)
    ->Args({0, 0})
    ->Args({0, 1})
    ->Unit(benchmark::kMillisecond);

/// The same traffic; simulated_us shows what rates that are not exact cost.
void uneven(benchmark::State& state, const std::shared_ptr<const Fabric>& fabric,
            const FluidOptions& options) {
    Sink sink;
    const std::vector<Message> messages =
        all_pairs(static_cast<std::uint32_t>(fabric->host_count()), 1 << 16, sink);
    Totals totals;
    for (auto _ : state) {
        FluidBackend backend(fabric, options);
        backend.send_batch(messages);
        backend.run();
        totals.add(backend);
        state.counters["simulated_us"] = to_seconds(backend.now()) * 1e6;
    }
    totals.report(state);
}

/// Rates are updated at most every range(0) ps.
void uneven_at_intervals(benchmark::State& state, const std::shared_ptr<const Fabric>& fabric) {
    uneven(state, fabric, {.rate_interval = Time(state.range(0))});
}
BENCHMARK_CAPTURE(uneven_at_intervals, flat, flat(64))
    ->Arg(0)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(uneven_at_intervals, leaf_spine_hash, leaf_spine_64())
    ->Arg(0)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);

/// Links leave a part of range(0) millionths of their rate unused. Rates are kept by connection, or by link
/// where range(1) is 1: exact ones end at the same time.
void uneven_with_slack(benchmark::State& state, const std::shared_ptr<const Fabric>& fabric) {
    uneven(state, fabric,
           {.rate_slack = 1e-6 * static_cast<double>(state.range(0)),
            .rates_kept = state.range(1) == 0 ? RatesKept::kByConnection : RatesKept::kByLink});
}
BENCHMARK_CAPTURE(uneven_with_slack, flat, flat(64))
    ->Args({0, 0})
    ->Args({0, 1})
    ->Args({1'000, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(uneven_with_slack, leaf_spine_hash, leaf_spine_64())
    ->Args({0, 0})
    ->Args({0, 1})
    ->Args({1'000, 1})
    ->Unit(benchmark::kMillisecond);

/// All pairs, one at a time: every host sends to the one behind it, then, when that has arrived, to the next,
/// for range(0) steps. Every size is different, so hardly two events coincide.
class AllToAllInTurn final : public NotificationHandler {
public:
    AllToAllInTurn(FluidBackend& backend, std::uint32_t hosts, std::uint32_t steps)
        : backend_(backend),
          hosts_(hosts),
          steps_(steps) {
        for (std::uint32_t host = 0; host < hosts; ++host) {
            send(host, 1);
        }
    }
    void notify(std::uint64_t token) override {
        const auto step = static_cast<std::uint32_t>(token >> 32);
        if (step < steps_) {
            send(static_cast<std::uint32_t>(token), step + 1);
        }
    }

private:
    void send(std::uint32_t host, std::uint32_t step) {
        draw_ = draw_ * 6364136223846793005U + 1442695040888963407U;
        const Bytes size = 32_KiB + Bytes(static_cast<std::int64_t>((draw_ >> 33) % (1U << 16)));
        const std::uint64_t token = (std::uint64_t{step} << 32) | host;
        backend_.send({HostId(host), HostId((host + step) % hosts_), size, this, token});
    }

    FluidBackend& backend_;
    std::uint32_t hosts_;
    std::uint32_t steps_;
    std::uint64_t draw_ = 1;
};

void all_to_all_in_turn(benchmark::State& state) {
    constexpr std::uint32_t kHosts = 1024;
    const std::shared_ptr<const Fabric> fabric = flat(kHosts);
    Totals totals;
    for (auto _ : state) {
        FluidBackend backend(fabric, options(state));
        AllToAllInTurn traffic(backend, kHosts, static_cast<std::uint32_t>(state.range(0)));
        backend.run();
        totals.add(backend);
    }
    totals.report(state);
}
BENCHMARK(all_to_all_in_turn)->Args({8, 0})->Args({8, 1})->Iterations(1)->Unit(benchmark::kMillisecond);

class Stop final : public NotificationHandler {
public:
    explicit Stop(FluidBackend& backend)
        : backend_(backend) {}
    void notify(std::uint64_t) override { backend_.stop(); }

private:
    FluidBackend& backend_;
};

/// All 1,047,552 pairs of 1,024 hosts at once, every sender with another size, as where tables are uneven. So
/// the senders end one after another, 1,023 connections at a time. Timed are the first range(0) ends, without
/// the start, which fills the whole network either way: compare time_per_end.
void all_to_all_by_sender(benchmark::State& state) {
    constexpr std::uint32_t kHosts = 1024;
    const std::shared_ptr<const Fabric> fabric = flat(kHosts);
    const auto size_of = [](std::int64_t sender) { return 1_MiB + sender * 1_KiB; };
    Totals totals;
    for (auto _ : state) {
        state.PauseTiming();
        FluidBackend backend(fabric, options(state));
        Sink sink;
        Stop stop(backend);
        std::vector<Message> messages;
        for (std::uint32_t i = 0; i < kHosts; ++i) {
            for (std::uint32_t step = 1; step < kHosts; ++step) {
                messages.push_back({HostId(i), HostId((i + step) % kHosts), size_of(i), &sink, 0});
            }
        }
        backend.send_batch(messages);
        backend.schedule(1_ns, stop, 0);
        backend.run();
        // Every sender has its whole port, 80 ps a byte; half a step behind the last end that counts.
        backend.schedule(80_ps * (size_of(state.range(0)) - 512_B).count() * (kHosts - 1), stop, 0);
        state.ResumeTiming();
        backend.run();
        totals.add(backend);
    }
    totals.report(state);
    using benchmark::Counter;
    state.counters["time_per_end"] = Counter(static_cast<double>(state.range(0) * state.iterations()),
                                             Counter::kIsRate | Counter::kInvert);
}
BENCHMARK(all_to_all_by_sender)->Args({1000, 0})->Args({4, 1})->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
