// SPDX-License-Identifier: GPL-2.0-only
/// Keys of the packet backend that would change nothing: what they are for is not chosen.
#pragma once

#include "packet/packet_options.hpp"

namespace astrolabe::ns3 {

/// One error for each key with a value other than its default (the preset's, where there is one) that has no
/// effect under the chosen congestion control, recovery, flow control and sharing of memory. Keys at their
/// defaults are no errors, so that a resolved configuration, which has them all, reads back to itself;
/// neither is what depends on the network, such as timeouts where nothing can be lost.
[[nodiscard]] ValidationErrors effect_errors(const PacketOptions& options);

}  // namespace astrolabe::ns3
