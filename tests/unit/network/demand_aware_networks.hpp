/// Networks whose circuits move with the demand.
#pragma once

#include "network/src/demand_aware_circuits.hpp"
#include "network/src/topoopt/topoopt.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

namespace astrolabe::network::topoopt {

/// One-way rings of the first strides at first, on planes of separate fibres: links of 100 Gb/s and 1 us.
/// Asked every 50 ms, dark for 10 ms, hosts do not forward.
inline TopoOptParameters on_circuit_switches(std::int64_t degree) {
    TopoOptParameters parameters;
    parameters.degree = degree;
    parameters.mode = Mode::kPaper;
    parameters.wiring = Wiring::kSeparateFibres;
    parameters.link = {100_Gbps, 1_us};
    parameters.medium = Medium::kCircuitSwitch;
    parameters.reconfiguration = DemandAwareParameters{.forwarding = false};
    return parameters;
}

inline std::shared_ptr<const Fabric> built(const TopoOptParameters& parameters, const Demand& demand) {
    auto found = build_topoopt(parameters, demand);
    if (auto* problems = std::get_if<ValidationErrors>(&found)) {
        ADD_FAILURE() << problems->front().key << ": " << problems->front().message;
        return nullptr;
    }
    return std::get<NetworksForJob>(std::move(found)).front();
}

/// For a job that sends nothing: all interfaces go to rings.
inline std::shared_ptr<const Fabric> built(const TopoOptParameters& parameters, std::uint32_t servers) {
    return built(parameters, Demand{.servers = servers, .groups = {}, .point_to_point = {}});
}

inline WaitingPair waits(int source, int destination, Bytes bytes) {
    return {HostId(source), HostId(destination), bytes};
}

/// Links from one host to another.
inline std::size_t circuits(const Fabric& fabric, int from, int to) {
    std::size_t count = 0;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        count += fabric.source(link) == NodeId(from) && fabric.target(link) == NodeId(to) ? 1 : 0;
    }
    return count;
}

}  // namespace astrolabe::network::topoopt
