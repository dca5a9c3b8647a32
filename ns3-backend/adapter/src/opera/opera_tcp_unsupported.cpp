// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_tcp_network.hpp"
#include "tcp/attributes.hpp"

#include <astrolabe/network/rotor/bulk_service.hpp>

namespace astrolabe::ns3 {

namespace {

constexpr Bytes kFrameOverhead{::ns3::OperaFrame::OVERHEAD};
/// What timers of TCP can wait for, with room for other waits (tcp_options.cpp has the same for links).
constexpr Time kLongestCycle{6 * kPicosecondsPerSecond};

/// Keys that mean nothing on rotor switches and have another value than their default.
std::optional<std::string> key_without_meaning(const TcpOptions& options) {
    const TcpOptions usual;
    if (options.mtu != usual.mtu) {
        return "on rotor switches 'mtu' has no meaning: frames have the size of the network's packets, "
               "bulk.payload and bulk.header; leave it out";
    }
    if (options.buffer_sharing != usual.buffer_sharing) {
        return "on rotor switches 'buffer_sharing' has no meaning: a port has a queue of its own, "
               "low_latency.queue; leave it out";
    }
    for (const auto& [name, value] : options.attributes) {
        if (name.starts_with("ns3::Fabric") || name.starts_with("ns3::PointToPoint")) {
            return "on rotor switches '" + name +
                   "' has no meaning: hosts and switches have devices with the two services of rotor "
                   "networks; "
                   "leave it out";
        }
    }
    return std::nullopt;
}

}  // namespace

TcpOptions on_rotors(const TcpOptions& options, const network::Fabric& fabric) {
    const network::rotor::RotorNetwork& network = *network::rotor::rotors_of(fabric);
    TcpOptions own = options;
    own.mtu = network.bulk.payload + network.bulk.header - kFrameOverhead;
    return own;
}

std::optional<std::string> opera_tcp_unsupported(const network::Fabric& fabric, const TcpOptions& options) {
    if (auto reason = key_without_meaning(options)) {
        return reason;
    }
    const network::rotor::RotorNetwork& network = *network::rotor::rotors_of(fabric);
    const TcpOptions own = on_rotors(options, fabric);
    const Bytes packet = own.mtu + kFrameOverhead;
    if (const std::vector<OptionProblem> found = validation_errors(own); !found.empty()) {
        return "its packets of " + to_string(packet) +
               " (bulk.payload and bulk.header) are frames around "
               "datagrams of " +
               to_string(own.mtu) + ", and " + found.front().key + ": " + found.front().message;
    }
    if (auto reason = hosts_unsupported(fabric, packet)) {
        return reason;
    }
    if (network.schedule.uplinks() > 0xffff) {
        return "it has more than 65 535 rotors";
    }
    const Time cycle = network.schedule.timing().superslice() * network.schedule.superslices();
    if (cycle > kLongestCycle) {
        return "a packet may wait for its circuit for a cycle of " + to_string(cycle) + ", more than the " +
               to_string(kLongestCycle) + " that the timers of TCP can wait for";
    }
    const Bytes room = packet * network.low_latency.queue;
    if (uses_ecn(own) && room < own.ecn_threshold + packet) {
        return "a port has room for " + to_string(room) +
               " (low_latency.queue), and packets are marked when "
               "more than " +
               to_string(own.ecn_threshold) +
               " wait: they would be dropped before; lower "
               "ecn_threshold, or make low_latency.queue longer";
    }
    return network::rotor::service_unsupported(network);
}

}  // namespace astrolabe::ns3
