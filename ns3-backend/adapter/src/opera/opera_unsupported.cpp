// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_packet_backend.hpp"
#include "packet/packet_schema.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <astrolabe/network/rotor/bulk_service.hpp>

namespace astrolabe::ns3 {

namespace {

/// Why a key, given another value than its default, means nothing on rotor switches; nothing where it does.
std::optional<std::string> reason_against(const std::string& key, const Schema<PacketOptions>& port_keys) {
    constexpr std::array<std::string_view, 3> kHonoured{"timeout", "max_backoff", "retry_limit"};
    constexpr std::array<std::string_view, 4> kOfPackets{"preset", "mtu", "header", "ack_size"};
    const auto is_in = [&key](const auto& keys) {
        return std::find(keys.begin(), keys.end(), key) != keys.end();
    };
    if (is_in(kHonoured)) {
        return std::nullopt;
    }
    if (is_in(kOfPackets)) {
        return "packets are those of the network, bulk.payload and bulk.header";
    }
    if (key == "loss_rate") {
        return "bulk packets are not acknowledged, so that what a link loses would never arrive";
    }
    const auto& ports = port_keys.parameters();
    if (std::any_of(ports.begin(), ports.end(), [&](const auto& port) { return port.key == key; })) {
        return "switches store and forward, with the network's queue and trimming";
    }
    return "bulk messages leave as RotorLB grants, and low-latency ones by NDP with the network's "
           "low_latency.window";
}

}  // namespace

std::optional<std::string> opera_unsupported(const network::Fabric& fabric, const PacketOptions& options) {
    Schema<PacketOptions> port_keys("ports", "");
    add_port_keys(port_keys);
    const Schema<PacketOptions> schema = packet_schema();
    const ConfigNode usual = schema.write({});
    for (const ConfigEntry& given : schema.write(options).entries) {
        if (to_yaml(given.value) == to_yaml(*usual.find(given.key))) {
            continue;
        }
        if (const auto reason = reason_against(given.key, port_keys)) {
            return "on rotor switches '" + given.key + "' has no meaning: " + *reason +
                   "; leave it out (timeout, max_backoff and retry_limit, of low-latency messages, remain)";
        }
    }
    const network::rotor::RotorNetwork& network = *network::rotor::rotors_of(fabric);
    if (network.bulk.header < Bytes(1)) {
        return "its bulk.header is 0B, and packets that are trimmed, acknowledged or granted consist of a "
               "header: give it 1B or more";
    }
    if (network.schedule.uplinks() > 0xffff) {
        return "it has more than 65 535 rotors";
    }
    return network::rotor::service_unsupported(network);
}

}  // namespace astrolabe::ns3
