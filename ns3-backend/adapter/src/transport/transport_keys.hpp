// SPDX-License-Identifier: GPL-2.0-only
/// The keys of the packet backend's transport and of its congestion controls. The module declares them, with
/// their defaults, ranges and help (ns3-backend/model/transport/packet-transport-parameters.h); here they
/// become keys of a schema.
#pragma once

#include "packet/packet_options.hpp"

#include <vector>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::ns3 {

void add_transport_keys(Schema<PacketOptions>& schema);

/// What does not go together.
[[nodiscard]] ValidationErrors transport_errors(const ::ns3::PacketTransportParameters& transport);

}  // namespace astrolabe::ns3
