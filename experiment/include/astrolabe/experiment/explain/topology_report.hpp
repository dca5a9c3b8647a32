/// What was chosen for the job of an experiment whose network is built for it, and what the job makes of it.
///
/// Definitions (TopoOpt, NSDI 2023, section 2). The bandwidth tax is the number of links that a byte crosses,
///     Σ bytes · hops / Σ bytes
/// over all that the program sends, along the routes of the network; a byte that is split over routes counts
/// the mean. Mean hops are those of uniform traffic: the same tax where every server sends as much to every
/// other. The load of a link is what it carries of the program's bytes; no run is faster than the busiest
/// link takes for its load.
///
/// Complexity: O(n² · links of a route) for n servers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/analysis/route_report.hpp>
#include <astrolabe/network/reconfiguration.hpp>
#include <astrolabe/network/topoopt/topology_finder.hpp>

namespace astrolabe::experiment {

struct TopologyReport {
    std::shared_ptr<const network::topoopt::Topology> topology;
    network::RouteReport routes;                       ///< between all pairs, with what the job sends
    std::pair<std::string, std::string> busiest_ends;  ///< names of the busiest link's source and target
    /// Who moves circuits, of which all other figures are those at first; null: nobody.
    std::shared_ptr<const network::Reconfiguration> reconfiguration;
};

/// Precondition: experiment.topology is not null.
[[nodiscard]] TopologyReport report_topology(const Experiment& experiment);

/// Keys: degree, all_reduce_degree, point_to_point_degree, wiring, rings_go_both_ways, rings: [{members,
/// strides}], matchings: [{weight_bytes, pairs}], diameter, mean_hops, bandwidth_tax, busiest_link: {source,
/// target, load_bytes, over_mean}; where circuits move, reconfiguration: {every_s, delay_s,
/// pairs_without_route}, the latter at first.
[[nodiscard]] nlohmann::ordered_json to_json(const TopologyReport& report);

/// A name and a value for people, line by line.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts(const TopologyReport& report);

}  // namespace astrolabe::experiment
