/// What a demand costs a fabric under its routing: the bandwidth tax and the busiest link.
///
/// Model. A byte that crosses h links takes h bytes of the network's capacity:
///
///     tax = Σ bytes · links crossed / Σ bytes,
///
/// on a network without switches 1 where all traffic is between neighbours. No routing by these routes moves
/// the demand faster than the busiest link carries its load, max_l load(l) / rate(l).
///
/// Source: TopoOpt (NSDI 2023), section 2, "bandwidth tax".
#pragma once

#include <cstddef>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

/// Bytes from a host to another.
struct PairTraffic {
    HostId source;
    HostId destination;
    double bytes = 0;
};

struct RouteReport {
    double bytes = 0;         ///< of the demand, that of pairs without a route left out here and below
    double tax = 0;           ///< 0 where there is none
    double mean_hops = 0;     ///< links crossed, over the pairs of the demand whatever they ask for
    std::size_t longest = 0;  ///< links of the longest route
    LinkId busiest;           ///< the first of those with the most load for their rate
    double busiest_load = 0;  ///< bytes
    double mean_load = 0;     ///< bytes, over all links
    Time least_time;          ///< what the busiest link takes, rounded up to 1 ps
    std::size_t pairs_without_route = 0;

    /// Of the busiest link over the mean; 1 where nothing is sent.
    [[nodiscard]] double imbalance() const { return mean_load > 0 ? busiest_load / mean_load : 1.0; }
};

/// Sources differ from destinations; with spraying a route leads there. O(Σ links of routes) but with
/// spraying, see route_load.hpp.
[[nodiscard]] RouteReport report_routes(const Fabric& fabric, const std::vector<PairTraffic>& demand);

/// The same amount from every host to every other.
[[nodiscard]] RouteReport report_uniform_routes(const Fabric& fabric, double bytes_per_pair);

}  // namespace astrolabe::network
