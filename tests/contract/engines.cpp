#include "engines.hpp"

#include <stdexcept>
#include <utility>

#include <fake_backend.hpp>
#include <fmt/format.h>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::testing {

Setting setting(const std::string& network, const std::string& backend, int ranks) {
    static const experiment::Components kComponents = experiment::builtin_components();
    const std::string text = fmt::format(
        "schema: astrolabe/1\n"
        "workload: {{kind: collective, collective: all_reduce, size: 1MB}}\n"
        "cluster: {{ranks: {}, device: {{kind: roofline}}}}\n"
        "network: {}\nbackend: {}\n",
        ranks, network, backend);
    Result<ConfigNode> root = parse_config(text, "contract");
    const Result<experiment::Experiment> read =
        experiment::read_experiment(*std::move(root), {}, "contract", {}, kComponents);
    if (!read) {
        throw std::runtime_error(render(read.error()));
    }
    return {read->fabric, read->backend};
}

namespace {

using network::Fabric;
using network::FabricBuilder;
using network::LinkParameters;
using network::NodeId;

/// 100 Gb/s and 500 ns a link: 1 us from host to host.
const char* const kStar = "{kind: flat, hosts: 4, link: {rate: 100Gbps, latency: 500ns}}";
const LinkParameters kLink{Bandwidth(100'000'000'000), Time(500'000), Bytes(0)};

/// Hosts 0 and 1 have a cable, host 2 has none.
std::shared_ptr<const Fabric> islands() {
    FabricBuilder builder("islands");
    for (const char* name : {"a", "b", "c"}) {
        builder.add_host(name);
    }
    builder.connect(NodeId(0), NodeId(1), kLink);
    return std::move(builder).build();
}

/// A star of four hosts in which the link to host 1 exists for the first half of every 20 us. The link to
/// host 3 never exists, where it is said to be `cut`.
std::shared_ptr<const Fabric> periodic_star(bool cut) {
    FabricBuilder builder("periodic star");
    std::vector<FabricBuilder::Cable> cables;
    for (int host = 0; host < 4; ++host) {
        builder.add_host(fmt::format("host {}", host));
    }
    const NodeId center = builder.add_switch("switch");
    for (int host = 0; host < 4; ++host) {
        if (!cut || host != 3) {
            cables.push_back(builder.connect(NodeId(host), center, kLink));
        }
    }
    builder.set_circuits(Time(20'000'000),
                         {{Time(10'000'000), {cables[1].backward}}, {Time(10'000'000), {}}});
    return std::move(builder).build();
}

ContractEngine with_static_network(const std::string& backend) {
    const Setting star = setting(kStar, backend);
    ContractEngine engine;
    engine.fabric = star.fabric;
    engine.make = star.make();
    engine.hosts = 4;
    engine.make_stalled = star.on(islands());
    return engine;
}

/// Eight racks of two hosts; the hosts of the trio are in different racks.
ContractEngine with_rotors(const std::string& backend) {
    const std::string keys = "racks: 8, uplinks: 4, hosts_per_rack: 2, propagation: 500ns";
    ContractEngine engine;
    const Setting racks = setting("{kind: opera, " + keys + "}", backend, 16);
    engine.fabric = racks.fabric;
    engine.make = racks.make();
    engine.hosts = 16;
    engine.trio = {0, 2, 4};
    engine.latency = Time(500'000);
    // The draw of seed 1 takes rack 7.
    engine.make_stalled = setting("{kind: opera, " + keys + ", failures: {racks: 1}}", backend, 16).make();
    engine.unreachable = 14;
    engine.stall_reason = "in a whole cycle none came that could take one";
    return engine;
}

ContractEngine fluid_on_periodic_circuits() {
    const Setting star = setting(kStar, "{kind: fluid}");
    ContractEngine engine;
    engine.fabric = periodic_star(false);
    engine.make = star.on(engine.fabric);
    engine.hosts = 4;
    engine.make_stalled = star.on(periodic_star(true));
    engine.unreachable = 3;
    return engine;
}

ContractEngine fluid_on_demand_aware_circuits() {
    ContractEngine engine;
    const Setting circuits = setting(
        "{kind: topoopt, degree: 2, mode: paper, wiring: separate_fibres, medium: circuit_switch, "
        "link: {rate: 100Gbps, latency: 1us}, "
        "reconfiguration: {every: 50us, delay: 10us, forwarding: false}}",
        "{kind: fluid}");
    engine.fabric = circuits.fabric;
    engine.make = circuits.make();
    engine.hosts = 4;
    // Circuits move to whatever waits, so no pair waits for ever: 2^60 B take longer than time instead.
    engine.make_stalled = engine.make;
    engine.unreachable = 1;
    engine.stuck_size = Bytes(std::int64_t{1} << 60);
    engine.stall_reason = network::kBeyondTime;
    return engine;
}

#ifdef ASTROLABE_WITH_NS3
ContractEngine packets() {
    ContractEngine engine = with_static_network("{kind: packet}");
    engine.empty_messages_cost = "a message without bytes is a packet, which has a header";
    return engine;
}

ContractEngine opera_packets() {
    ContractEngine engine = with_rotors("{kind: packet}");
    engine.empty_messages_cost = "a message without bytes is a packet, which waits for a circuit";
    return engine;
}

ContractEngine tcp() {
    ContractEngine engine = with_static_network("{kind: tcp}");
    engine.empty_messages_cost = "the connection is set up first, and messages have a header in the stream";
    return engine;
}

/// A ring of four hosts that forward for one another, with ways both left and right between any two.
ContractEngine tcp_on_named_paths() {
    const Setting ring = setting(
        "{kind: direct_connect, hosts: 4, rings: [1], link: {rate: 100Gbps, latency: 500ns}, "
        "routing: k_shortest, detour: 2}",
        "{kind: tcp}");
    ContractEngine engine = tcp();
    engine.fabric = ring.fabric;
    engine.make = ring.make();
    return engine;
}

ContractEngine opera_tcp() {
    ContractEngine engine = with_rotors("{kind: tcp}");
    engine.empty_messages_cost = "the connection is set up first, and the message waits for a circuit";
    engine.stall_reason = "rack 7 is disconnected";
    return engine;
}
#endif

ContractEngine fake() {
    ContractEngine engine;
    const FakeBackendOptions options{.latency = engine.latency, .time_per_byte = Time(80)};
    engine.make = [options] { return std::make_unique<FakeBackend>(4, options); };
    engine.hosts = 4;
    engine.make_stalled = [options] {
        FakeBackendOptions losing = options;
        losing.lose_message = 1;
        return std::make_unique<FakeBackend>(4, losing);
    };
    engine.no_link_counters = "it has no network";
    return engine;
}

}  // namespace

std::vector<NamedEngine> contract_engines() {
    return {
        {"Fluid", [] { return with_static_network("{kind: fluid}"); }},
        {"FluidOnPeriodicCircuits", fluid_on_periodic_circuits},
        {"FluidOnDemandAwareCircuits", fluid_on_demand_aware_circuits},
        {"Slots", [] { return with_rotors("{kind: fluid}"); }},
        {"CongestionFree", [] { return with_static_network("{kind: congestion_free}"); }},
        {kWithoutNetwork, fake},
#ifdef ASTROLABE_WITH_NS3
        {"Packet", packets},
        {"OperaPackets", opera_packets},
        {"Tcp", tcp},
        {"TcpOnNamedPaths", tcp_on_named_paths},
        {"OperaTcp", opera_tcp},
#endif
    };
}

}  // namespace astrolabe::testing
