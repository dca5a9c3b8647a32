// SPDX-License-Identifier: GPL-2.0-only
/// The options of the transport in the terms of the ns-3 model.
#pragma once

#include "packet-transport-parameters.h"

#include <astrolabe/ns3/packet_transport_options.hpp>

namespace astrolabe::ns3 {

/// `is_lossy`: packets may get lost. `is_reordered`: those of a pair may overtake one another.
[[nodiscard]] ::ns3::PacketTransportParameters transport_parameters(const PacketTransportOptions& options,
                                                                    bool is_lossy, bool is_reordered);

}  // namespace astrolabe::ns3
