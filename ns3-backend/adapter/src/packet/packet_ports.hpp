// SPDX-License-Identifier: GPL-2.0-only
/// The ports of the packet backend: what of its options goes together, and the fabric of ports that they
/// make.
#pragma once

#include "packet/packet_options.hpp"

#include <optional>
#include <string>

#include <ns3/packet-fabric.h>

#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::ns3 {

[[nodiscard]] ValidationErrors port_errors(const PacketOptions& options);

/// Not yet installed; nodes and ports are numbered as nodes and links of `fabric`.
[[nodiscard]] ::ns3::Ptr<::ns3::PacketFabric> make_ports(const network::Fabric& fabric,
                                                         const PacketOptions& options);

/// Why ports with these options cannot carry all packets on `fabric`, or nothing. Precondition: no errors.
[[nodiscard]] std::optional<std::string> ports_unsupported(const network::Fabric& fabric,
                                                           const PacketOptions& options);

}  // namespace astrolabe::ns3
