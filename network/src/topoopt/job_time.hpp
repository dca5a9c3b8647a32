/// What the communication of a job takes on a network, estimated without events.
///
/// Model. Traffic falls into classes: all-reduces of groups of each size, and what goes between pairs. A
/// class takes
///
///     max over links of load(l) / rate(l)  +  operations · rounds · latency of its longest route,
///
/// with load(l) on the routes of the network (analysis/route_load.hpp): no run moves the bytes of a class
/// faster than its busiest link. An all-reduce of k members on c directed rings, each way round by itself,
/// sends 2(k-1)/k · S/c from every member to the next of each ring, in 2(k-1) rounds; groups of a size
/// without a ring go round once in their own order. Traffic between pairs has one round. Classes come one
/// after another, so that the estimate is their sum.
///
/// Example. 4 servers on one ring both ways round, links of 1 GB/s and 1 us, all-reduce 6 MB: every link
/// carries 2·3/4 · 3 MB = 4.5 MB in 4.5 ms, and 6 rounds take 6 us. Server 0 sends server 1 1 MB: 1.001 ms.
///
/// With the same network the estimate is affine in the bytes: twice all bytes take twice the time at most. So
/// it is for the network that has the smallest estimate: the one that is best for half the bytes is among
/// those to choose from.
///
/// What is left out: computation and what it hides, classes at the same time (two take half of their sum at
/// least), waits of collectives for one another, several rounds of traffic between pairs. Where routes are
/// sprayed, or shares of paths are of more than kMaxRoutedPairs pairs, traffic between pairs counts as split
/// evenly over all shortest paths.
///
/// Complexity: O(Σ links of routes); with even splits O(n · links).
#pragma once

#include "topology_finder.hpp"

#include <cstddef>

#include <astrolabe/network/demand.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network::topoopt {

inline constexpr std::size_t kMaxRoutedPairs = 20'000;

/// Seconds.
struct JobTime {
    double all_reduces = 0;
    double point_to_point = 0;

    [[nodiscard]] double total() const { return all_reduces + point_to_point; }
};

/// `fabric` has the links of `topology` and routes for every pair of the demand.
[[nodiscard]] JobTime estimate_job_time(const Fabric& fabric, const Topology& topology, const Demand& demand);

}  // namespace astrolabe::network::topoopt
