// SPDX-License-Identifier: GPL-2.0-only
/// The keys of the packet backend.
#pragma once

#include "packet/packet_options.hpp"

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::ns3 {

/// Of its ports alone.
void add_port_keys(Schema<PacketOptions>& schema);

[[nodiscard]] Schema<PacketOptions> packet_schema();

}  // namespace astrolabe::ns3
