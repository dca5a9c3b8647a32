/// Transfers on the fluid engine, for the closed forms of topologies.
#pragma once

#include "recorder.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/fluid/fluid_backend.hpp>

namespace astrolabe::network {

struct Transfer {
    int source;
    int destination;
    Bytes size;
};

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
