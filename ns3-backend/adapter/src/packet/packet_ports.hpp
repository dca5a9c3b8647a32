// SPDX-License-Identifier: GPL-2.0-only
/// What can be chosen about the ports of the packet backend: switching, memory, marks, flow control,
/// priorities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ns3/packet-fabric-parameters.h>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::ns3 {

struct PacketPortOptions {
    ::ns3::PacketFabricParameters ports;  ///< what the module declares
    std::vector<std::uint32_t> weights;   ///< of the classes, lowest first; service: weighted only
    Time flowlet_gap;      ///< a pause of a pair after which a switch chooses its way anew; 0: never
    double loss_rate = 0;  ///< of packets on every link, at random
};

/// `largest` packet on the wire.
[[nodiscard]] ValidationErrors port_errors(const PacketPortOptions& options, Bytes largest);

/// Why ports cannot carry packets of up to `largest` on `fabric`, or nothing.
[[nodiscard]] std::optional<std::string> ports_unsupported(const network::Fabric& fabric,
                                                           const PacketPortOptions& options, Bytes largest);

}  // namespace astrolabe::ns3
