// SPDX-License-Identifier: GPL-2.0-only
/// Packet-hops per second of the packet backend, and against the TCP backend on the same work in the same
/// run.
///
/// `hops/s` counts data packets only; `events/s` also acknowledgements. `packets_vs_tcp` is the ratio of data
/// packets per second of processor time.
#include "fabrics.hpp"
#include "network/src/topologies/fat_tree.hpp"
#include "packet/packet_backend.hpp"
#include "tcp/tcp_backend.hpp"

#include <chrono>
#include <ctime>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

namespace {

using namespace astrolabe;
using network::HostId;

void report(benchmark::State& state, const network::NetworkStatistics& total) {
    const auto rate = [](std::uint64_t count) {
        return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
    };
    state.counters["packets/s"] = rate(total.packets);
    state.counters["hops/s"] = rate(total.packet_hops);
    state.counters["events/s"] = rate(total.events);
    state.counters["hops"] =
        benchmark::Counter(static_cast<double>(total.packet_hops), benchmark::Counter::kAvgIterations);
    state.counters["drops"] = static_cast<double>(total.drops);
}

void add(network::NetworkStatistics& total, const network::NetworkStatistics& run) {
    total.messages += run.messages;
    total.packets += run.packets;
    total.packet_hops += run.packet_hops;
    total.events += run.events;
    total.drops += run.drops;
}

astrolabe::ns3::PacketOptions shared_memory() {
    astrolabe::ns3::PacketOptions options;
    options.ports.bufferSharing = ::ns3::PacketBuffers::SHARED;
    return options;
}

/// Arguments: hosts, tiers, bytes per pair.
void all_to_all(benchmark::State& state) {
    const auto hosts = static_cast<int>(state.range(0));
    const auto fabric = state.range(1) == 1 ? benchmarks::one_switch(hosts) : benchmarks::two_tiers(hosts);
    benchmarks::Ignore ignore;
    network::NetworkStatistics total;
    for (auto _ : state) {
        astrolabe::ns3::PacketBackend backend(fabric, shared_memory());
        benchmarks::send_all_to_all(backend, hosts, Bytes(state.range(2)), ignore);
        backend.run();
        if (backend.outstanding_messages() > 0) {
            state.SkipWithError("the all-to-all did not finish");
            return;
        }
        add(total, backend.statistics());
    }
    report(state, total);
}

BENCHMARK(all_to_all)
    ->ArgNames({"hosts", "tiers", "bytes"})
    ->Args({16, 1, 1'048'576})
    ->Args({128, 1, 262'144})
    ->Args({128, 2, 262'144})
    ->Unit(benchmark::kMillisecond);

/// A ring all-reduce by hand: 2(N-1) rounds, in each of which a host sends to the next what came last.
class Ring final : public network::NotificationHandler {
public:
    Ring(network::NetworkBackend& backend, int hosts, Bytes block)
        : backend_(backend),
          hosts_(hosts),
          block_(block) {}

    void start() {
        for (int host = 0; host < hosts_; ++host) {
            send(host, 2 * (hosts_ - 1));
        }
    }
    void notify(std::uint64_t token) override {
        const int rounds = static_cast<int>(token >> 32) - 1;
        if (rounds > 0) {
            send(static_cast<int>(token & 0xffffffff), rounds);
        }
    }

private:
    void send(int host, int rounds) {
        const int next = (host + 1) % hosts_;
        backend_.send({HostId(host), HostId(next), block_, this,
                       static_cast<std::uint64_t>(rounds) << 32 | static_cast<std::uint64_t>(next)});
    }

    network::NetworkBackend& backend_;
    int hosts_;
    Bytes block_;
};

/// 16 MB over the hosts of a k-ary fat-tree, MTU 4000.
void ring_all_reduce(benchmark::State& state) {
    network::FatTreeParameters tree;
    tree.k = state.range(0);
    const auto fabric = build_fat_tree(tree);
    const auto hosts = static_cast<int>(fabric->host_count());
    network::NetworkStatistics total;
    Time simulated;
    for (auto _ : state) {
        astrolabe::ns3::PacketOptions options;
        options.transport.mtu = 4000;
        astrolabe::ns3::PacketBackend backend(fabric, options);
        Ring ring(backend, hosts, Bytes(16'000'000 / hosts));
        ring.start();
        backend.run();
        simulated = backend.now();
        add(total, backend.statistics());
    }
    report(state, total);
    state.counters["simulated_ms"] = to_seconds(simulated) * 1e3;
}

BENCHMARK(ring_all_reduce)->ArgName("k")->Arg(4)->Arg(8)->Unit(benchmark::kMillisecond);

/// The most memory the process has had, bytes.
double peak_memory() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

/// A k-ary fat-tree at once: every host sends `bytes` to the one half the hosts on (all: 0), or to every
/// other (1). `bytes_per_flow` is the memory that comes on top of the network's over the messages, which are
/// all alive at first.
void fat_tree(benchmark::State& state) {
    network::FatTreeParameters tree;
    tree.k = state.range(0);
    const auto fabric = build_fat_tree(tree);
    const auto hosts = static_cast<int>(fabric->host_count());
    benchmarks::Ignore ignore;
    network::NetworkStatistics total;
    double before = 0;
    for (auto _ : state) {
        astrolabe::ns3::PacketBackend backend(fabric, {});
        before = peak_memory();
        if (state.range(1) == 1) {
            benchmarks::send_all_to_all(backend, hosts, Bytes(state.range(2)), ignore);
        } else {
            for (int host = 0; host < hosts; ++host) {
                backend.send(
                    {HostId(host), HostId((host + hosts / 2) % hosts), Bytes(state.range(2)), &ignore, 0});
            }
        }
        backend.run();
        if (backend.outstanding_messages() > 0) {
            state.SkipWithError("the messages did not arrive");
            return;
        }
        add(total, backend.statistics());
    }
    report(state, total);
    state.counters["bytes_per_flow"] = (peak_memory() - before) / static_cast<double>(total.messages);
    state.counters["peak_MB"] = peak_memory() / 1e6;
}

BENCHMARK(fat_tree)
    ->ArgNames({"k", "all_to_all", "bytes"})
    ->Args({8, 0, 16'777'216})
    ->Args({8, 1, 65'536})
    ->Args({8, 1, 131'072})
    ->Args({16, 1, 4'096})
    ->Args({16, 0, 16'777'216})
    ->Args({16, 1, 65'536})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

double seconds_of_threads(const std::shared_ptr<const network::Fabric>& fabric, std::size_t threads,
                          Bytes size) {
    astrolabe::ns3::PacketBackend backend(fabric, {});
    static_cast<void>(backend.use_threads(threads));
    benchmarks::Ignore ignore;
    const auto before = std::chrono::steady_clock::now();
    benchmarks::send_all_to_all(backend, static_cast<int>(fabric->host_count()), size, ignore);
    backend.run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

/// An all-to-all over a k-ary fat-tree by one thread and then by several: `speed_up` is the ratio of times.
void threads(benchmark::State& state) {
    network::FatTreeParameters tree;
    tree.k = state.range(0);
    const std::shared_ptr<const network::Fabric> fabric = build_fat_tree(tree);
    const auto several = static_cast<std::size_t>(state.range(1));
    double speed_up = 0;
    for (auto _ : state) {
        const double alone = seconds_of_threads(fabric, 1, Bytes(state.range(2)));
        const double together = seconds_of_threads(fabric, several, Bytes(state.range(2)));
        state.SetIterationTime(together);
        speed_up = alone / together;
    }
    state.counters["speed_up"] = speed_up;
}

BENCHMARK(threads)
    ->ArgNames({"k", "threads", "bytes"})
    ->Args({4, 2, 65'536})
    ->Args({8, 2, 65'536})
    ->Args({16, 2, 4'096})
    ->Args({16, 2, 16'384})
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);

double processor_seconds(network::NetworkBackend& backend, int hosts, Bytes size,
                         benchmarks::Ignore& ignore) {
    const std::clock_t before = std::clock();
    benchmarks::send_all_to_all(backend, hosts, size, ignore);
    backend.run();
    return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

/// The same all-to-all on both, with packets of the same payload. Arguments: hosts, tiers, bytes per pair.
void against_tcp(benchmark::State& state) {
    const auto hosts = static_cast<int>(state.range(0));
    const auto fabric = state.range(1) == 1 ? benchmarks::one_switch(hosts) : benchmarks::two_tiers(hosts);
    const Bytes size(state.range(2));
    benchmarks::Ignore ignore;
    double ratio = 0;
    for (auto _ : state) {
        double packet_rate = 0;
        {
            astrolabe::ns3::PacketOptions options = shared_memory();
            options.transport.mtu = 1460;
            astrolabe::ns3::PacketBackend backend(fabric, options);
            const double seconds = processor_seconds(backend, hosts, size, ignore);
            packet_rate = static_cast<double>(backend.statistics().packets) / seconds;
        }
        astrolabe::ns3::TcpOptions options;
        options.buffer_sharing = astrolabe::ns3::BufferSharing::kShared;
        astrolabe::ns3::TcpBackend backend(fabric, options);
        const double seconds = processor_seconds(backend, hosts, size, ignore);
        ratio = packet_rate * seconds / static_cast<double>(backend.statistics().packets);
    }
    state.counters["packets_vs_tcp"] = ratio;
}

BENCHMARK(against_tcp)
    ->ArgNames({"hosts", "tiers", "bytes"})
    ->Args({16, 1, 262'144})
    ->Args({128, 2, 16'384})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
