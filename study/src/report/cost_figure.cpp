/// Time against the price of the network.
#include "study_figures.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/experiment/file/equal_cost.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;
using Cost = std::variant<double, std::string>;

std::string first_message(const Diagnostics& errors) {
    return errors.front().message;
}

Cost total_of(const Result<network::NetworkCost>& cost) {
    return cost ? Cost(cost->total()) : Cost(first_message(cost.error()));
}

/// Of a network by itself; none of one that is built for a job.
std::optional<Cost> cost_alone(const ConfigNode& section, const experiment::Components& components,
                               const experiment::PriceFile& prices) {
    ReadContext context;
    const auto configured = experiment::read_network(section, components, context);
    if (!configured) {
        return first_message(context.errors());
    }
    const network::FabricMaker maker = configured->make();
    if (maker.needs_job()) {
        return std::nullopt;
    }
    return total_of(experiment::network_cost(*maker(1), experiment::wiring_of(configured->resolved), prices));
}

Cost cost_for_job(ConfigNode root, const experiment::Components& components,
                  const experiment::PriceFile& prices) {
    const Result<experiment::Experiment> experiment =
        experiment::read_experiment(std::move(root), {}, "", {}, components);
    return experiment ? total_of(experiment::network_cost(*experiment, prices))
                      : Cost(first_message(experiment.error()));
}

struct KnownCosts {
    std::map<std::string, std::optional<Cost>> alone;  ///< by network
    std::map<std::string, Cost> for_jobs;              ///< by experiment, where the network has none alone
};

struct Offer {
    std::vector<std::size_t> at;
    double cost;
    double time;
    bool is_on_front = false;
};

/// Marks offers that nothing in the same panel beats: none costs no more, takes no longer, and is better in
/// one. O(n log n): by rising cost, those that are faster than all that are cheaper, and none as dear is
/// faster.
void mark_front(std::vector<Offer>& offers, const std::vector<std::size_t>& panels) {
    std::map<std::vector<std::size_t>, std::vector<Offer*>> by_panel;
    for (Offer& offer : offers) {
        std::vector<std::size_t> panel;
        for (const std::size_t dimension : panels) {
            panel.push_back(offer.at[dimension]);
        }
        by_panel[panel].push_back(&offer);
    }
    for (auto& [unused, panel] : by_panel) {
        std::sort(panel.begin(), panel.end(), [](const Offer* a, const Offer* b) {
            return std::pair(a->cost, a->time) < std::pair(b->cost, b->time);
        });
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t first = 0; first < panel.size();) {
            const Offer& fastest = *panel[first];
            for (; first < panel.size() && panel[first]->cost == fastest.cost; ++first) {
                panel[first]->is_on_front = panel[first]->time == fastest.time && fastest.time < best;
            }
            best = std::min(best, fastest.time);
        }
    }
}

}  // namespace

CostOf network_costs(const experiment::Components& components) {
    const auto known = std::make_shared<KnownCosts>();
    return [known, &components, prices = experiment::default_prices()](const std::string& resolved) -> Cost {
        Result<ConfigNode> root = parse_config(resolved, "resolved experiment");
        const ConfigNode* section = root ? root->find("network") : nullptr;
        if (section == nullptr) {
            return "its resolved experiment is not in the results";
        }
        const auto [network, is_new] = known->alone.try_emplace(to_yaml(*section));
        if (is_new) {
            network->second = cost_alone(*section, components, prices);
        }
        if (network->second) {
            return *network->second;
        }
        const auto [experiment, is_new_job] = known->for_jobs.try_emplace(resolved);
        if (is_new_job) {
            experiment->second = cost_for_job(*std::move(root), components, prices);
        }
        return experiment->second;
    };
}

Drawn pareto_figure(const StudyAxes& axes, const CostOf& cost) {
    std::vector<std::size_t> panels;
    std::vector<std::size_t> networks;
    for (std::size_t i = 0; i < axes.dimensions.size(); ++i) {
        (is_of_network(axes.dimensions[i].name) ? networks : panels).push_back(i);
    }
    if (networks.empty()) {
        return Omission{"the network is the same in all points"};
    }
    std::map<std::vector<std::size_t>, Sample> costs;
    std::set<std::string> reasons;
    for (const Place& place : axes.places) {
        const Cost of_point = cost(place.row->result.resolved);
        if (const auto* dollars = std::get_if<double>(&of_point)) {
            costs[place.at].add(*dollars);
        } else {
            reasons.insert(std::get<std::string>(of_point));
        }
    }
    std::vector<Offer> offers;
    for (const auto& [at, time] : samples_of(axes, mean_iteration_time)) {
        if (const auto found = costs.find(at); found != costs.end()) {
            offers.push_back({at, found->second.mean(), time.mean(), false});
        }
    }
    if (offers.empty()) {
        return Omission{reasons.empty() ? "no point has finished"
                                        : "no network has a cost: " + *reasons.begin()};
    }
    mark_front(offers, panels);
    Figure figure;
    figure.title = "Time against the price of the network";
    figure.note =
        "Networks at the prices that the program has built in (docs/models/cost.md). Outlined, "
        "and connected by a line, are those that no other network of the panel beats in both.";
    for (const std::string& reason : reasons) {
        figure.note += " Left out, for want of a price: " + reason + ".";
    }
    figure.columns = axes.names();
    figure.columns.insert(figure.columns.end(), {"network_cost_usd", "iteration_time_s", "on_front"});
    const std::size_t first = axes.dimensions.size();
    const bool in_colour = axes.series && std::count(networks.begin(), networks.end(), *axes.series) > 0;
    figure.chart = {{"form", "pareto"},
                    {"x", first},
                    {"value", first + 1},
                    {"front", first + 2},
                    {"series", in_colour ? *axes.series : networks.front()},
                    {"panels", panels},
                    {"axis", {{"title", "iteration time"}, {"unit", "s"}, {"log", true}}}};
    for (const Offer& offer : offers) {
        std::vector<Json> row = axes.labels(offer.at);
        row.emplace_back(offer.cost);
        row.emplace_back(offer.time);
        row.emplace_back(offer.is_on_front ? 1 : 0);
        figure.rows.push_back(std::move(row));
    }
    return figure;
}

}  // namespace astrolabe::study
