// SPDX-License-Identifier: GPL-2.0-only
/// What can be chosen about the packet backend, and whether a choice can be run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/parameter_problem.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/ns3/packet_port_options.hpp>

namespace astrolabe::ns3 {

enum class PacketCongestion : std::uint8_t { kNone, kDctcp };

struct PacketOptions : PacketPortOptions {
    Bytes mtu = Bytes(4096);          ///< payload of a full packet
    /// Of a data packet on the wire: Ethernet with preamble, gap and check sum 38, IPv4 20, UDP 8, BTH 12,
    /// ICRC 4.
    Bytes header = Bytes(82);
    Bytes ack_size = Bytes(84);       ///< of an acknowledgement: the smallest Ethernet frame, preamble and gap
    Bytes window = Bytes(500'000);    ///< most payload of a pair that is not acknowledged
    std::uint32_t ack_every = 16;     ///< packets per acknowledgement
    PacketCongestion congestion_control = PacketCongestion::kNone;
    std::uint32_t initial_window = 16;     ///< packets; kDctcp only
    Time timeout = Time(1'000'000'000);  ///< without an acknowledgement before packets are sent again

    /// On the wire.
    [[nodiscard]] Bytes largest_packet() const { return std::max(header + mtu, ack_size); }
};

[[nodiscard]] std::vector<ParameterProblem> problems(const PacketOptions& options);

/// Why the packet backend cannot run `fabric`, or nothing.
[[nodiscard]] std::optional<std::string> refusal(const network::Fabric& fabric, const PacketOptions& options);

}  // namespace astrolabe::ns3
