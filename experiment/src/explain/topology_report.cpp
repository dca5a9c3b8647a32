#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/explain/topology_report.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::experiment {

namespace {

using network::HostId;
using network::topoopt::GroupRings;
using network::topoopt::MatchingRound;
using network::topoopt::Topology;

std::string wiring_name(const Topology& topology) {
    return ValueTraits<network::topoopt::Wiring>::format(topology.wiring);
}

std::string rings_text(const GroupRings& rings) {
    return rings.strides.empty()
               ? fmt::format("none for groups of {}", rings.members)
               : fmt::format("strides {} for groups of {}", fmt::join(rings.strides, ", "), rings.members);
}

std::vector<std::string> matchings_text(const Topology& topology) {
    std::vector<std::string> rounds;
    for (const MatchingRound& round : topology.matchings) {
        rounds.push_back(fmt::format("{} pairs that ask for {:.4g} B", round.pairs.size(), round.weight));
    }
    return rounds;
}

}  // namespace

TopologyReport report_topology(const Experiment& experiment) {
    ASTROLABE_ASSERT(experiment.topology != nullptr, "the network was built for a job");
    const network::Fabric& fabric = *experiment.fabric;
    const system::TrafficMatrix traffic =
        system::traffic_matrix(experiment.program, experiment.cluster.options);
    std::vector<network::PairTraffic> demand;
    for (std::size_t source = 0; source < traffic.ranks(); ++source) {
        for (std::size_t destination = 0; destination < traffic.ranks(); ++destination) {
            if (source != destination) {
                demand.push_back({HostId(source), HostId(destination),
                                  static_cast<double>(traffic(source, destination).count())});
            }
        }
    }
    const network::RouteReport routes = network::report_routes(fabric, demand);
    return {.topology = experiment.topology,
            .routes = routes,
            .busiest_ends = {fabric.node(fabric.source(routes.busiest)).name,
                             fabric.node(fabric.target(routes.busiest)).name},
            .reconfiguration = fabric.reconfiguration()};
}

nlohmann::ordered_json to_json(const TopologyReport& report) {
    const Topology& topology = *report.topology;
    auto rings = nlohmann::ordered_json::array();
    for (const GroupRings& group : topology.rings) {
        rings.push_back({{"members", group.members}, {"strides", group.strides}});
    }
    auto matchings = nlohmann::ordered_json::array();
    for (const MatchingRound& round : topology.matchings) {
        matchings.push_back({{"weight_bytes", round.weight}, {"pairs", round.pairs}});
    }
    nlohmann::ordered_json json{{"degree", topology.degree},
                                {"all_reduce_degree", topology.split.all_reduce},
                                {"point_to_point_degree", topology.split.point_to_point},
                                {"wiring", wiring_name(topology)},
                                {"rings_go_both_ways", topology.full_duplex_rings},
                                {"rings", std::move(rings)},
                                {"matchings", std::move(matchings)},
                                {"diameter", report.routes.longest},
                                {"mean_hops", report.routes.mean_hops},
                                {"bandwidth_tax", report.routes.tax},
                                {"busiest_link",
                                 {{"source", report.busiest_ends.first},
                                  {"target", report.busiest_ends.second},
                                  {"load_bytes", report.routes.busiest_load},
                                  {"over_mean", report.routes.imbalance()}}}};
    if (report.reconfiguration != nullptr) {
        json["reconfiguration"] = {{"every_s", to_seconds(report.reconfiguration->every())},
                                   {"delay_s", to_seconds(report.reconfiguration->delay())},
                                   {"pairs_without_route", report.routes.pairs_without_route}};
    }
    return json;
}

std::vector<std::pair<std::string, std::string>> facts(const TopologyReport& report) {
    const Topology& topology = *report.topology;
    std::vector<std::string> rings;
    for (const GroupRings& group : topology.rings) {
        rings.push_back(rings_text(group));
    }
    std::vector<std::pair<std::string, std::string>> lines{
        {"degree", fmt::format("{}, of which {} for all-reduces and {} for the rest", topology.degree,
                               topology.split.all_reduce, topology.split.point_to_point)},
        {"wiring", wiring_name(topology)},
        {"rings",
         fmt::format("{}{}", fmt::join(rings, "; "), topology.full_duplex_rings ? ", both ways round" : "")}};
    if (!topology.matchings.empty()) {
        lines.emplace_back("matchings", fmt::format("{}", fmt::join(matchings_text(topology), "; ")));
    }
    lines.emplace_back(
        "hops", fmt::format("mean {:.4f}, at most {}", report.routes.mean_hops, report.routes.longest));
    lines.emplace_back("bandwidth tax",
                       fmt::format("{:.4f} (links that a byte of the job crosses)", report.routes.tax));
    lines.emplace_back("busiest link", fmt::format("{} -> {}: {:.6g} B, {:.3f} of the mean",
                                                   report.busiest_ends.first, report.busiest_ends.second,
                                                   report.routes.busiest_load, report.routes.imbalance()));
    if (report.reconfiguration != nullptr) {
        lines.emplace_back("reconfiguration",
                           fmt::format("every {}, dark for {}; what is above is the first wiring",
                                       to_string(report.reconfiguration->every()),
                                       to_string(report.reconfiguration->delay())));
    }
    if (report.routes.pairs_without_route > 0) {
        lines.emplace_back("without a circuit",
                           fmt::format("{} pairs, which wait for one and are in no figure above",
                                       report.routes.pairs_without_route));
    }
    return lines;
}

}  // namespace astrolabe::experiment
