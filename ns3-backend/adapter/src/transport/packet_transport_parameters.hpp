// SPDX-License-Identifier: GPL-2.0-only
/// The options of the transport in the terms of the ns-3 model.
#pragma once

#include "transport/packet_transport_options.hpp"

#include <ns3/packet-transport-parameters.h>

namespace astrolabe::ns3 {

/// `is_lossy`: packets may get lost. `is_reordered`: those of a pair may overtake one another.
[[nodiscard]] ::ns3::PacketTransportParameters transport_parameters(const PacketTransportOptions& options,
                                                                    bool is_lossy, bool is_reordered);

}  // namespace astrolabe::ns3
