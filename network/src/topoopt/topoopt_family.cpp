#include "topoopt_family.hpp"

#include "../demand_aware_circuits.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace astrolabe::network::topoopt {

namespace {

std::string wiring_name(const Topology& topology) {
    return ValueTraits<Wiring>::format(topology.wiring);
}

std::string rings_text(const Topology& topology) {
    std::vector<std::string> rings;
    for (const GroupRings& group : topology.rings) {
        rings.push_back(group.strides.empty() ? fmt::format("none for groups of {}", group.members)
                                              : fmt::format("strides {} for groups of {}",
                                                            fmt::join(group.strides, ", "), group.members));
    }
    return fmt::format("{}{}", fmt::join(rings, "; "), topology.full_duplex_rings ? ", both ways round" : "");
}

std::string matchings_text(const Topology& topology) {
    std::vector<std::string> rounds;
    for (const MatchingRound& round : topology.matchings) {
        rounds.push_back(fmt::format("{} pairs that ask for {:.4g} B", round.pairs.size(), round.weight));
    }
    return fmt::format("{}", fmt::join(rounds, "; "));
}

nlohmann::ordered_json choice_json(const Topology& topology) {
    auto rings = nlohmann::ordered_json::array();
    for (const GroupRings& group : topology.rings) {
        rings.push_back({{"members", group.members}, {"strides", group.strides}});
    }
    auto matchings = nlohmann::ordered_json::array();
    for (const MatchingRound& round : topology.matchings) {
        matchings.push_back({{"weight_bytes", round.weight}, {"pairs", round.pairs}});
    }
    return {{"degree", topology.degree},
            {"all_reduce_degree", topology.split.all_reduce},
            {"point_to_point_degree", topology.split.point_to_point},
            {"wiring", wiring_name(topology)},
            {"rings_go_both_ways", topology.full_duplex_rings},
            {"rings", std::move(rings)},
            {"matchings", std::move(matchings)}};
}

class TopoOptFamily final : public NetworkFamily {
public:
    explicit TopoOptFamily(Topology topology)
        : topology_(std::move(topology)) {}

    [[nodiscard]] const Topology& topology() const { return topology_; }

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
            {"rings", rings_text(topology_)}};
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
};

}  // namespace

std::shared_ptr<const NetworkFamily> topoopt_family(Topology topology) {
    return std::make_shared<const TopoOptFamily>(std::move(topology));
}

const Topology* topology_of(const Fabric& fabric) {
    const auto* family = dynamic_cast<const TopoOptFamily*>(&fabric.family());
    return family != nullptr ? &family->topology() : nullptr;
}

}  // namespace astrolabe::network::topoopt
