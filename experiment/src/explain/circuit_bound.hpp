/// What links that come and go allow, whatever the routing.
///
/// Model. Bytes that leave a place (route_load.hpp) do so over the links from it to other places, while those
/// are there. With C_l the rate of link l and up_l(t) its time up in [0, t],
///     Σ bytes ≤ Σ_l C_l · up_l(T)
/// for every place, and the same for what enters it; T is at least where the right side reaches the left one.
/// Over whole periods of u links of rate B that are each up for a share s of the time, this is
///     T ≥ bytes / (u · B/8 · s).
/// Where messages may wait inside the network until their circuit is gone, ports count as always up
/// (NetworkFamily::rate_of_place).
///
/// Source: the cut condition of flows.
#pragma once

#include "routing_bound.hpp"

namespace astrolabe::experiment {

/// Latency is left out. O(Σ intervals of circuits).
[[nodiscard]] Time circuit_bound(const TotalLoad& total, const network::Fabric& fabric);

}  // namespace astrolabe::experiment
