/// What networks of TopologyFinder add to their fabrics (family.hpp).
///
/// Description: key `topology` with degree, all_reduce_degree, point_to_point_degree, wiring,
/// rings_go_both_ways, rings: [{members, strides}], matchings: [{weight_bytes, pairs}], and with the routes
/// of the job (analysis/route_report.hpp): diameter, mean_hops, bandwidth_tax, busiest_link: {source, target,
/// load_bytes, over_mean}; where circuits follow the demand, reconfiguration: {every_s, delay_s,
/// pairs_without_route}, and all figures are those of the first wiring. Of mode best, designs:
/// [{all_reduce_degree, point_to_point_degree, rings_go_both_ways, rings, routing, all_reduces_s,
/// point_to_point_s, estimate_s}] by their estimates (job_time.hpp); the first is the one that is built.
///
/// The bandwidth tax is the number of links that a byte of the job crosses along the routes of the network
/// (TopoOpt, NSDI 2023, section 2); no run is faster than the busiest link takes for its load.
#pragma once

#include "best_design.hpp"
#include "topology_finder.hpp"

#include <memory>
#include <span>
#include <vector>

#include <astrolabe/network/family.hpp>

namespace astrolabe::network::topoopt {

/// `designs` are those that were compared, the chosen one first; none but of mode best.
[[nodiscard]] std::shared_ptr<const NetworkFamily> topoopt_family(Topology topology,
                                                                  std::vector<ScoredDesign> designs = {});

/// Of a fabric that TopologyFinder chose the links of, else null.
[[nodiscard]] const Topology* topology_of(const Fabric& fabric);

/// Those that were compared, that of the fabric first, then by estimate; of mode best alone.
[[nodiscard]] std::span<const ScoredDesign> designs_of(const Fabric& fabric);

}  // namespace astrolabe::network::topoopt
