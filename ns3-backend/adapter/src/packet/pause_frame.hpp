// SPDX-License-Identifier: GPL-2.0-only
/// The frame that pauses a traffic class (IEEE 802.1Q-2018, clause 36).
#pragma once

#include <cstdint>

namespace astrolabe::ns3 {

/// On the wire: the smallest Ethernet frame of 64 B, preamble 8 and gap 12.
inline constexpr std::uint32_t kPauseFrame = 84;

}  // namespace astrolabe::ns3
