// SPDX-License-Identifier: GPL-2.0-only
/// Data packets per second of the TCP backend: an all-to-all, started at once, on one switch and on two
/// tiers.
#include <memory>

#include <benchmark/benchmark.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/ns3/tcp_backend.hpp>

namespace {

using namespace astrolabe;
using network::HostId;
using network::NodeId;

const network::LinkParameters kLink{100_Gbps, 500_ns, Bytes(0)};

std::shared_ptr<const network::Fabric> one_switch(int hosts) {
    network::FabricBuilder builder("flat");
    for (int i = 0; i < hosts; ++i) {
        builder.add_host("host");
    }
    const NodeId center = builder.add_switch("switch", 1_GB);
    for (int i = 0; i < hosts; ++i) {
        builder.connect(NodeId(i), center, kLink);
    }
    return std::move(builder).build();
}

/// Leaves of 16 hosts, as many spines as a leaf has hosts: not oversubscribed.
std::shared_ptr<const network::Fabric> two_tiers(int hosts) {
    constexpr int kLeafHosts = 16;
    network::FabricBuilder builder("leaf_spine");
    for (int i = 0; i < hosts; ++i) {
        builder.add_host("host");
    }
    std::vector<NodeId> leaves;
    for (int i = 0; i < hosts / kLeafHosts; ++i) {
        leaves.push_back(builder.add_switch("leaf", 1_GB));
    }
    for (int i = 0; i < hosts; ++i) {
        builder.connect(NodeId(i), leaves[static_cast<std::size_t>(i / kLeafHosts)], kLink);
    }
    for (int i = 0; i < kLeafHosts; ++i) {
        const NodeId spine = builder.add_switch("spine", 1_GB);
        for (const NodeId leaf : leaves) {
            builder.connect(leaf, spine, kLink);
        }
    }
    return std::move(builder).build();
}

class Ignore final : public network::NotificationHandler {
public:
    void notify(std::uint64_t) override {}
};

/// Arguments: hosts, tiers, mtu, bytes per pair.
void all_to_all(benchmark::State& state) {
    const auto hosts = static_cast<int>(state.range(0));
    const auto fabric = state.range(1) == 1 ? one_switch(hosts) : two_tiers(hosts);
    ns3::TcpOptions options;
    options.mtu = Bytes(state.range(2));
    options.buffer_sharing = ns3::BufferSharing::kShared;
    Ignore ignore;
    network::NetworkStatistics total;
    Time simulated;
    for (auto _ : state) {
        ns3::TcpBackend backend(fabric, options);
        for (int shift = 1; shift < hosts; ++shift) {
            for (int source = 0; source < hosts; ++source) {
                backend.send(
                    {HostId(source), HostId((source + shift) % hosts), Bytes(state.range(3)), &ignore, 0});
            }
        }
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
