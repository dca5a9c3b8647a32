/// What links that come and go allow, whatever the routing.
///
/// Model. Bytes that leave a place (route_load.hpp) do so over the links from it to other places, while those
/// are there. With C_l the rate of link l and up_l(t) its time up in [0, t],
///     Σ bytes ≤ Σ_l C_l · up_l(T)
/// for every place, and the same for what enters it; T is at least where the right side reaches the left one.
/// Over whole periods of a rotor network, with u uplinks of rate B that are dark for r of every g superslices
/// T' and idle in one matching of N, this is
///     T ≥ bytes / (u · B/8 · (1 - r/(g T')) · (N - 1)/N).
/// Low-latency messages of rotor networks may wait at a switch until their circuit is gone, and the slot
/// engine has it carry them then (slot_low_latency.hpp): where any can be one uplinks count as always up.
///
/// Source: the cut condition of flows; for Opera, Mellette and others, NSDI 2020, section 3.
#pragma once

#include "routing_bound.hpp"

namespace astrolabe::experiment {

/// Latency is left out. O(Σ intervals of circuits).
[[nodiscard]] Time circuit_bound(const TotalLoad& total, const network::Fabric& fabric);

}  // namespace astrolabe::experiment
