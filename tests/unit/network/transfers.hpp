/// Transfers on the fluid engine, for the closed forms of topologies.
#pragma once

#include "network/src/engines/fluid/fluid_backend.hpp"
#include "recorder.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

struct Transfer {
    int source;
    int destination;
    Bytes size;
};

/// Hosts 0, 1 and 2 on a switch, all cables 100 Gb/s; that of host 0 is a circuit, `up` and then `down`.
inline std::shared_ptr<const Fabric> star_with_a_circuit(Time up, Time down, Time latency) {
    FabricBuilder builder("test");
    for (const char* name : {"h0", "h1", "h2"}) {
        builder.add_host(name);
    }
    const NodeId hub = builder.add_switch("hub");
    const LinkParameters link{100_Gbps, latency, Bytes(0)};
    const FabricBuilder::Cable circuit = builder.connect(NodeId(0), hub, link);
    builder.connect(NodeId(1), hub, link);
    builder.connect(NodeId(2), hub, link);
    builder.set_circuits(up + down, {{up, {circuit.forward, circuit.backward}}, {down, {}}});
    return std::move(builder).build();
}

/// When each of the transfers, all started at 0, is delivered.
inline std::vector<Time> deliver_together(std::shared_ptr<const Fabric> fabric,
                                          const std::vector<Transfer>& transfers) {
    FluidBackend backend(std::move(fabric));
    Recorder recorder(backend);
    std::vector<Message> messages;
    for (const Transfer& transfer : transfers) {
        messages.push_back({HostId(transfer.source), HostId(transfer.destination), transfer.size, &recorder,
                            messages.size()});
    }
    backend.send_batch(messages);
    backend.run();
    std::vector<Time> times;
    for (std::uint64_t token = 0; token < transfers.size(); ++token) {
        times.push_back(recorder.times.at(token));
    }
    return times;
}

/// Every ordered pair of `hosts` hosts, numbered `first`, `first + stride`, …
inline std::vector<Transfer> all_pairs(int hosts, Bytes size, int first = 0, int stride = 1) {
    std::vector<Transfer> transfers;
    for (int i = 0; i < hosts; ++i) {
        for (int step = 1; step < hosts; ++step) {
            transfers.push_back({first + i * stride, first + (i + step) % hosts * stride, size});
        }
    }
    return transfers;
}

}  // namespace astrolabe::network
