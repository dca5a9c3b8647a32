// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_packet_backend.hpp"

#include <initializer_list>
#include <utility>

#include <astrolabe/network/rotor/bulk_service.hpp>

namespace astrolabe::ns3 {

namespace {

/// A key and whether it was given another value than its default.
using Keys = std::initializer_list<std::pair<const char*, bool>>;

std::optional<std::string> first_given(Keys keys, const char* reason) {
    for (const auto& [key, is_given] : keys) {
        if (is_given) {
            return "on rotor switches '" + std::string(key) + "' has no meaning: " + reason +
                   "; leave it out (timeout, max_backoff and retry_limit, of low-latency messages, remain)";
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> opera_refusal(const network::Fabric& fabric, const PacketOptions& options) {
    const PacketOptions plain;
    const auto differs = [&](auto member) { return options.*member != plain.*member; };
    using P = PacketOptions;
    if (auto refusal = first_given({{"preset", differs(&P::preset)},
                                    {"mtu", differs(&P::mtu)},
                                    {"header", differs(&P::header)},
                                    {"ack_size", differs(&P::ack_size)}},
                                   "packets are those of the network, bulk.payload and bulk.header")) {
        return refusal;
    }
    if (auto refusal =
            first_given({{"window", differs(&P::window)},
                         {"ack_every", differs(&P::ack_every)},
                         {"connections", differs(&P::connections)},
                         {"handshake", differs(&P::handshake)},
                         {"host_queue", differs(&P::host_queue)},
                         {"recovery", differs(&P::recovery)},
                         {"reorder_tolerance", differs(&P::reorder_tolerance)},
                         {"rtt_estimation", differs(&P::rtt_estimation)},
                         {"min_timeout", differs(&P::min_timeout)},
                         {"congestion_control", differs(&P::congestion_control)},
                         {"initial_window", differs(&P::initial_window)},
                         {"slow_start_threshold", differs(&P::slow_start_threshold)},
                         {"gain", differs(&P::gain)},
                         {"dcqcn", differs(&P::dcqcn)},
                         {"hpcc", differs(&P::hpcc)},
                         {"ndp", differs(&P::ndp)}},
                        "bulk messages leave as RotorLB grants, and low-latency ones by NDP with the "
                        "network's low_latency.window")) {
        return refusal;
    }
    if (auto refusal = first_given({{"switching", differs(&P::switching)},
                                    {"buffer_sharing", differs(&P::buffer_sharing)},
                                    {"dynamic_share", differs(&P::dynamic_share)},
                                    {"ecn_threshold", differs(&P::ecn_threshold)},
                                    {"ecn_max_threshold", differs(&P::ecn_max_threshold)},
                                    {"ecn_probability", differs(&P::ecn_probability)},
                                    {"flow_control", differs(&P::flow_control)},
                                    {"pause_threshold", differs(&P::pause_threshold)},
                                    {"credit_room", differs(&P::credit_room)},
                                    {"traffic_classes", differs(&P::traffic_classes)},
                                    {"service", differs(&P::service)},
                                    {"weights", differs(&P::weights)},
                                    {"trim_threshold", differs(&P::trim_threshold)},
                                    {"flowlet_gap", differs(&P::flowlet_gap)}},
                                   "switches store and forward, with the network's queue and trimming")) {
        return refusal;
    }
    if (auto refusal =
            first_given({{"loss_rate", differs(&P::loss_rate)}},
                        "bulk packets are not acknowledged, so that what a link loses would never arrive")) {
        return refusal;
    }
    const network::rotor::RotorNetwork& network = *fabric.rotors();
    if (network.schedule.uplinks() > 0xffff) {
        return "it has more than 65 535 rotors";
    }
    return network::rotor::service_refusal(network);
}

}  // namespace astrolabe::ns3
