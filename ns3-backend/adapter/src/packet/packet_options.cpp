// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_options.hpp"

#include "opera/opera_packet_backend.hpp"
#include "packet/packet_ports.hpp"
#include "transport/transport_keys.hpp"

#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

PacketOptions legacy_dctcp() {
    constexpr std::uint32_t kSegment = 8936;
    constexpr std::uint32_t kHeader = 64;
    PacketOptions options;
    options.preset = PacketPreset::kLegacyDctcp;
    options.ports.ecnThreshold = 50 * (kSegment + kHeader);
    sim::PacketTransportParameters& transport = options.transport;
    transport.mtu = kSegment;
    transport.header = kHeader;
    transport.ackSize = kHeader;
    transport.window = 10'000 * kSegment;
    transport.ackEvery = 1;
    transport.connections = sim::PacketConnections::PER_MESSAGE;
    transport.handshake = true;
    transport.hostQueue = sim::PacketHostQueue::FIFO;
    transport.timeout = 10'000'000'000;
    transport.minTimeout = 10'000'000'000;
    transport.maxBackoff = 1 << 30;
    transport.rttEstimation = true;
    transport.congestionControl = &sim::PacketDctcp::KIND;
    auto& dctcp = transport.Get<sim::PacketDctcpParameters>();
    dctcp.initialWindow = 100;
    dctcp.slowStartThreshold = 10'000;
    dctcp.gain = 1.0 / 16;
    return options;
}

ValidationErrors validation_errors(const PacketOptions& options) {
    ValidationErrors found = transport_errors(options.transport);
    for (ValidationError& problem : port_errors(options)) {
        found.push_back(std::move(problem));
    }
    return found;
}

std::optional<std::string> unsupported(const network::Fabric& fabric, const PacketOptions& options) {
    if (network::rotor::rotors_of(fabric) != nullptr) {
        return opera_unsupported(fabric, options);
    }
    if (fabric.demand_aware_circuits() != nullptr) {
        return "its circuits move with the demand, and the packet engine has no controller that moves them: "
               "use the fluid engine, or a network without reconfiguration";
    }
    if (!fabric.is_static()) {
        return "its links come and go with time, and the packet engine runs on static fabrics only";
    }
    if (options.transport.congestionControl->Has(sim::PacketControlKind::USES_TELEMETRY) &&
        (options.flowlet_gap > Time(0) ||
         fabric.routing().load_balancing() != network::LoadBalancing::kFlowHash)) {
        return std::string(options.transport.congestionControl->name) +
               " compares what the same links noted on two packets of a pair, and its packets take several "
               "ways: choose another congestion_control, or routes by flow hash";
    }
    if (options.transport.congestionControl->Has(sim::PacketControlKind::USES_TELEMETRY) &&
        fabric.failures() != nullptr) {
        return std::string(options.transport.congestionControl->name) +
               " compares what the same links noted on two packets of a pair, and routes change where links "
               "fail: choose another congestion_control";
    }
    return ports_unsupported(fabric, options);
}

}  // namespace astrolabe::ns3
