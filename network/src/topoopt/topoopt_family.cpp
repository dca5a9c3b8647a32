#include "topoopt_family.hpp"

#include "../demand_aware_circuits.hpp"
#include "../topologies/direct_connect_schemas.hpp"
#include "finder_checks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace astrolabe::network::topoopt {

namespace {

std::string wiring_name(const Topology& topology) {
    return ValueTraits<Wiring>::format(topology.wiring);
}

std::string rings_text(const std::vector<GroupRings>& groups, bool full_duplex_rings) {
    std::vector<std::string> rings;
    for (const GroupRings& group : groups) {
        rings.push_back(group.strides.empty() ? fmt::format("none for groups of {}", group.members)
                                              : fmt::format("strides {} for groups of {}",
                                                            fmt::join(group.strides, ", "), group.members));
    }
    return fmt::format("{}{}", fmt::join(rings, "; "), full_duplex_rings ? ", both ways round" : "");
}

std::string matchings_text(const Topology& topology) {
    std::vector<std::string> rounds;
    for (const MatchingRound& round : topology.matchings) {
        rounds.push_back(fmt::format("{} pairs that ask for {:.4g} B", round.pairs.size(), round.weight));
    }
    return fmt::format("{}", fmt::join(rounds, "; "));
}

nlohmann::ordered_json rings_json(const std::vector<GroupRings>& groups) {
    auto rings = nlohmann::ordered_json::array();
    for (const GroupRings& group : groups) {
        rings.push_back({{"members", group.members}, {"strides", group.strides}});
    }
    return rings;
}

nlohmann::ordered_json designs_json(const std::vector<ScoredDesign>& designs) {
    auto array = nlohmann::ordered_json::array();
    for (const ScoredDesign& design : designs) {
        array.push_back({{"all_reduce_degree", design.split.all_reduce},
                         {"point_to_point_degree", design.split.point_to_point},
                         {"rings_go_both_ways", design.full_duplex_rings},
                         {"rings", rings_json(design.rings)},
                         {"routing", ValueTraits<DirectRouting>::format(design.routing)},
                         {"all_reduces_s", design.time.all_reduces},
                         {"point_to_point_s", design.time.point_to_point},
                         {"estimate_s", design.time.total()}});
    }
    return array;
}

/// The first of them, by their estimates.
std::string designs_table(const std::vector<ScoredDesign>& designs) {
    constexpr std::size_t kLines = 8;
    std::string text = fmt::format(
        "  {:>12}  {:>12}  {:>12}  {}\n", "estimate/ms", "all-reduces", "the rest",
        fmt::format("interfaces for each, rings, routing; {} designs, the first is built", designs.size()));
    for (std::size_t i = 0; i < std::min(designs.size(), kLines); ++i) {
        const ScoredDesign& design = designs[i];
        text += fmt::format("  {:>12.4f}  {:>12.4f}  {:>12.4f}  {} + {}, {}, {}\n", design.time.total() * 1e3,
                            design.time.all_reduces * 1e3, design.time.point_to_point * 1e3,
                            design.split.all_reduce, design.split.point_to_point,
                            rings_text(design.rings, design.full_duplex_rings),
                            ValueTraits<DirectRouting>::format(design.routing));
    }
    if (designs.size() > kLines) {
        text += fmt::format("  the slowest takes {:.4f} ms\n", designs.back().time.total() * 1e3);
    }
    return text;
}

nlohmann::ordered_json choice_json(const Topology& topology) {
    auto matchings = nlohmann::ordered_json::array();
    for (const MatchingRound& round : topology.matchings) {
        matchings.push_back({{"weight_bytes", round.weight}, {"pairs", round.pairs}});
    }
    return {{"degree", topology.degree},
            {"all_reduce_degree", topology.split.all_reduce},
            {"point_to_point_degree", topology.split.point_to_point},
            {"wiring", wiring_name(topology)},
            {"rings_go_both_ways", topology.full_duplex_rings},
            {"rings", rings_json(topology.rings)},
            {"matchings", std::move(matchings)}};
}

class TopoOptFamily final : public NetworkFamily {
public:
    TopoOptFamily(Topology topology, std::vector<ScoredDesign> designs)
        : topology_(std::move(topology)),
          designs_(std::move(designs)) {}

    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] const std::vector<ScoredDesign>& designs() const { return designs_; }

    [[nodiscard]] Description describe(const Fabric& fabric,
                                       const std::vector<PairTraffic>& job) const override {
        const RouteReport routes = report_routes(fabric, job);
        const std::string& source = fabric.node(fabric.source(routes.busiest)).name;
        const std::string& target = fabric.node(fabric.target(routes.busiest)).name;
        Description description;
        description.key = "topology";
        description.json = choice_json(topology_);
        description.json["diameter"] = routes.longest;
        description.json["mean_hops"] = routes.mean_hops;
        description.json["bandwidth_tax"] = routes.tax;
        description.json["busiest_link"] = {{"source", source},
                                            {"target", target},
                                            {"load_bytes", routes.busiest_load},
                                            {"over_mean", routes.imbalance()}};
        auto& facts = description.facts;
        facts = {
            {"degree", fmt::format("{}, of which {} for all-reduces and {} for the rest", topology_.degree,
                                   topology_.split.all_reduce, topology_.split.point_to_point)},
            {"wiring", wiring_name(topology_)},
            {"rings", rings_text(topology_.rings, topology_.full_duplex_rings)}};
        if (!topology_.matchings.empty()) {
            facts.emplace_back("matchings", matchings_text(topology_));
        }
        facts.emplace_back("hops", fmt::format("mean {:.4f}, at most {}", routes.mean_hops, routes.longest));
        facts.emplace_back("bandwidth tax",
                           fmt::format("{:.4f} (links that a byte of the job crosses)", routes.tax));
        facts.emplace_back("busiest link", fmt::format("{} -> {}: {:.6g} B, {:.3f} of the mean", source,
                                                       target, routes.busiest_load, routes.imbalance()));
        if (const auto& controller = fabric.demand_aware_circuits()) {
            description.json["reconfiguration"] = {{"every_s", to_seconds(controller->every())},
                                                   {"delay_s", to_seconds(controller->delay())},
                                                   {"pairs_without_route", routes.pairs_without_route}};
            facts.emplace_back("reconfiguration",
                               fmt::format("every {}, dark for {}; what is above is the first wiring",
                                           to_string(controller->every()), to_string(controller->delay())));
        }
        if (routes.pairs_without_route > 0) {
            facts.emplace_back("without a circuit",
                               fmt::format("{} pairs, which wait for one and are in no figure above",
                                           routes.pairs_without_route));
        }
        if (!designs_.empty()) {
            description.json["designs"] = designs_json(designs_);
            facts.emplace_back("routing", ValueTraits<DirectRouting>::format(designs_.front().routing));
            description.tables = designs_table(designs_);
        }
        return description;
    }

    [[nodiscard]] std::optional<JobRings> job_rings() const override {
        JobRings all;
        for (const GroupRings& group : topology_.rings) {
            const std::uint32_t spacing = topology_.servers / group.members;
            for (const std::uint32_t stride : group.strides) {
                std::vector<std::uint32_t>& strides = all[group.members];
                strides.push_back(stride / spacing);
                if (topology_.full_duplex_rings) {
                    strides.push_back(group.members - stride / spacing);
                }
            }
        }
        return all;
    }

private:
    Topology topology_;
    std::vector<ScoredDesign> designs_;  ///< by estimate
};

}  // namespace

std::shared_ptr<const NetworkFamily> topoopt_family(Topology topology, std::vector<ScoredDesign> designs) {
    return std::make_shared<const TopoOptFamily>(std::move(topology), std::move(designs));
}

const Topology* topology_of(const Fabric& fabric) {
    const auto* family = dynamic_cast<const TopoOptFamily*>(&fabric.family());
    return family != nullptr ? &family->topology() : nullptr;
}

std::span<const ScoredDesign> designs_of(const Fabric& fabric) {
    const auto* family = dynamic_cast<const TopoOptFamily*>(&fabric.family());
    return family != nullptr ? std::span(family->designs()) : std::span<const ScoredDesign>();
}

}  // namespace astrolabe::network::topoopt
