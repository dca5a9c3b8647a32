// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_options.hpp"

#include "opera/opera_packet_backend.hpp"

#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {

PacketOptions legacy_dctcp() {
    constexpr std::int64_t kSegment = 8936;
    constexpr std::int64_t kPacket = kSegment + 64;
    PacketOptions options;
    options.preset = PacketPreset::kLegacyDctcp;
    options.mtu = Bytes(kSegment);
    options.header = Bytes(64);
    options.ack_size = Bytes(64);
    options.window = Bytes(10'000 * kSegment);
    options.ack_every = 1;
    options.connections = PacketConnections::kPerMessage;
    options.handshake = true;
    options.host_queue = PacketHostQueue::kFifo;
    options.timeout = Time(10'000'000'000);
    options.min_timeout = Time(10'000'000'000);
    options.max_backoff = 1 << 30;
    options.rtt_estimation = true;
    options.congestion_control = PacketCongestion::kDctcp;
    options.initial_window = 100;
    options.slow_start_threshold = 10'000;
    options.gain = 1.0 / 16;
    options.ecn_threshold = Bytes(50 * kPacket);
    return options;
}

std::vector<ParameterProblem> problems(const PacketOptions& options) {
    std::vector<ParameterProblem> found = transport_problems(options);
    for (ParameterProblem& problem : port_problems(options, options.largest_packet())) {
        found.push_back(std::move(problem));
    }
    return found;
}

std::optional<std::string> refusal(const network::Fabric& fabric, const PacketOptions& options) {
    if (fabric.rotors() != nullptr) {
        return opera_refusal(fabric, options);
    }
    if (fabric.reconfiguration() != nullptr) {
        return "its circuits move with the demand, and the packet engine has no controller that moves them: "
               "use the fluid engine, or a network without reconfiguration";
    }
    if (!fabric.is_static()) {
        return "its links come and go with time, and the packet engine runs on static fabrics only";
    }
    if (options.congestion_control == PacketCongestion::kHpcc &&
        (options.flowlet_gap > Time(0) ||
         fabric.routing().load_balancing() != network::LoadBalancing::kFlowHash)) {
        return "hpcc compares what the same links noted on two packets of a pair, and its packets take "
               "several "
               "ways: choose another congestion_control, or routes by flow hash";
    }
    return port_refusal(fabric, options, options.largest_packet());
}

}  // namespace astrolabe::ns3
