// SPDX-License-Identifier: GPL-2.0-only
/// What can be chosen about the packet backend, and whether a choice can be run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ns3/packet-fabric-parameters.h>
#include <ns3/packet-transport-parameters.h>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::ns3 {

enum class PacketPreset : std::uint8_t { kNone, kLegacyDctcp };

struct PacketOptions {
    PacketPreset preset = PacketPreset::kNone;  ///< where the other values come from

    ::ns3::PacketTransportParameters transport;
    ::ns3::PacketFabricParameters ports;
    std::vector<std::uint32_t> weights;  ///< of the classes, lowest first; service: weighted only
    Time flowlet_gap;      ///< a pause of a pair after which a switch chooses its way anew; 0: never
    double loss_rate = 0;  ///< of packets on every link, at random

    /// On the wire.
    [[nodiscard]] Bytes largest_packet() const {
        return Bytes(std::max(transport.header + transport.mtu, transport.ackSize));
    }
};

/// The transport of the DLRM study on Opera (docs/theory/opera-dlrm-study.md, "Networks compared"): DCTCP
/// over TCP with a SYN, an initial window of 100 segments of 8936 B with 64 B of headers, marks above 50
/// packets, timeouts from 10 ms on that double without bound, a connection for each message, and one queue in
/// each host in which timeouts run. Its switches have 10 000 packets (90 MB) a port, which is the network's
/// to say; its collectives' flows start with a timeout of 1 ms, which is `timeout: 1ms` for a run of those
/// alone.
[[nodiscard]] PacketOptions legacy_dctcp();

[[nodiscard]] ValidationErrors validation_errors(const PacketOptions& options);

/// Why the packet backend cannot run `fabric`, or nothing.
[[nodiscard]] std::optional<std::string> unsupported(const network::Fabric& fabric,
                                                     const PacketOptions& options);

}  // namespace astrolabe::ns3
