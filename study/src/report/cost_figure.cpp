/// Time against the price of the network, and at equal price.
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

namespace {

/// What networks of points cost and how long they take.
struct Market {
    std::vector<std::size_t> networks;  ///< dimensions
    std::vector<std::size_t> others;
    std::vector<Offer> offers;
    std::set<std::string> reasons;  ///< why points have no price
};

Market market_of(const StudyAxes& axes, const CostOf& cost) {
    Market market;
    for (std::size_t i = 0; i < axes.dimensions.size(); ++i) {
        (is_of_network(axes.dimensions[i].name) ? market.networks : market.others).push_back(i);
    }
    if (market.networks.empty()) {
        return market;
    }
    std::map<std::vector<std::size_t>, Sample> costs;
    for (const Place& place : axes.places) {
        const Cost of_point = cost(place.row->result.resolved);
        if (const auto* dollars = std::get_if<double>(&of_point)) {
            costs[place.at].add(*dollars);
        } else {
            market.reasons.insert(std::get<std::string>(of_point));
        }
    }
    for (const auto& [at, time] : samples_of(axes, mean_iteration_time)) {
        if (const auto found = costs.find(at); found != costs.end()) {
            market.offers.push_back({at, found->second.mean(), time.mean(), false});
        }
    }
    return market;
}

std::optional<Omission> nothing_offered(const Market& market) {
    if (market.networks.empty()) {
        return Omission{"the network is the same in all points"};
    }
    if (market.offers.empty()) {
        return Omission{market.reasons.empty() ? "no point has finished"
                                               : "no network has a cost: " + *market.reasons.begin()};
    }
    return std::nullopt;
}

std::string left_out(const Market& market) {
    std::string note;
    for (const std::string& reason : market.reasons) {
        note += " Left out, for want of a price: " + reason + ".";
    }
    return note;
}

constexpr const char* kPrices = "Networks at the prices that the program has built in (docs/models/cost.md).";

/// "All cost the same" where the dearest is within a hundredth of the cheapest.
std::string equal_price_note(const std::vector<Offer>& offers) {
    const auto [least, most] = std::minmax_element(
        offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.cost < b.cost; });
    return most->cost <= 1.01 * least->cost
               ? " All cost the same within 1 %: this is a comparison at equal price."
               : "";
}

/// The dimension that colours tell apart.
std::size_t coloured(const StudyAxes& axes, const Market& market) {
    const bool is_network =
        axes.series && std::count(market.networks.begin(), market.networks.end(), *axes.series) > 0;
    return is_network ? *axes.series : market.networks.front();
}

/// What a budget buys: for each setting of the other parameters, the offers of a value of the coloured
/// dimension by rising price, those alone that are faster than all cheaper ones.
std::vector<Offer> stairs_of(const std::vector<Offer>& offers, std::size_t series,
                             const std::vector<std::size_t>& others) {
    std::vector<std::size_t> told_apart = others;
    told_apart.push_back(series);
    std::vector<Offer> stairs = offers;
    mark_front(stairs, told_apart);
    std::erase_if(stairs, [](const Offer& offer) { return !offer.is_on_front; });
    std::stable_sort(stairs.begin(), stairs.end(),
                     [](const Offer& a, const Offer& b) { return a.cost < b.cost; });
    return stairs;
}

}  // namespace

Drawn pareto_figure(const StudyAxes& axes, const CostOf& cost) {
    Market market = market_of(axes, cost);
    if (std::optional<Omission> nothing = nothing_offered(market)) {
        return *std::move(nothing);
    }
    mark_front(market.offers, market.others);
    Figure figure;
    figure.title = "What does speed cost?";
    figure.note = fmt::format(
        "{} Lines connect, for each setting of the other parameters, the networks that no other one beats in "
        "both "
        "price and time.{}{}",
        kPrices, equal_price_note(market.offers), left_out(market));
    figure.columns = axes.names();
    figure.columns.insert(figure.columns.end(), {"network_cost_usd", "iteration_time_s", "on_front"});
    const std::size_t first = axes.dimensions.size();
    figure.chart = {{"form", "pareto"},
                    {"x", first},
                    {"value", first + 1},
                    {"front", first + 2},
                    {"series", coloured(axes, market)},
                    {"groups", market.others},
                    {"axis", {{"title", "iteration time"}, {"unit", "s"}, {"log", true}}}};
    for (const Offer& offer : market.offers) {
        std::vector<Json> row = axes.labels(offer.at);
        row.insert(row.end(), {offer.cost, offer.time, offer.is_on_front ? 1 : 0});
        figure.rows.push_back(std::move(row));
    }
    return figure;
}

Drawn equal_cost_figure(const StudyAxes& axes, const CostOf& cost) {
    const Market market = market_of(axes, cost);
    if (std::optional<Omission> nothing = nothing_offered(market)) {
        return *std::move(nothing);
    }
    Figure figure;
    figure.title = "How fast can it be at equal price?";
    figure.note = fmt::format(
        "{} Each line is the least time of an iteration among the networks of its kind that cost at most the "
        "budget: "
        "where two lines are compared above one price, nothing dearer has been bought. Only networks of the "
        "study "
        "count, nothing is interpolated.{}{}",
        kPrices, equal_price_note(market.offers), left_out(market));
    figure.columns = axes.names();
    figure.columns.insert(figure.columns.end(), {"budget_usd", "least_iteration_time_s", "over_best"});
    const std::size_t series = coloured(axes, market);
    const std::vector<Offer> stairs = stairs_of(market.offers, series, market.others);
    const std::size_t first = axes.dimensions.size();
    figure.chart = {
        {"form", "budget"},        {"x", first},
        {"value", first + 1},      {"series", series},
        {"panels", market.others}, {"axis", {{"title", "iteration time"}, {"unit", "s"}, {"log", true}}}};
    for (const Offer& step : stairs) {
        const auto is_rival = [&](const Offer& other) {
            return other.cost <= step.cost &&
                   std::all_of(market.others.begin(), market.others.end(), [&](std::size_t dimension) {
                       return other.at[dimension] == step.at[dimension];
                   });
        };
        double best = step.time;
        for (const Offer& other : market.offers) {
            best = is_rival(other) ? std::min(best, other.time) : best;
        }
        std::vector<Json> row = axes.labels(step.at);
        row.insert(row.end(), {step.cost, step.time, best > 0 ? Json(step.time / best) : Json()});
        figure.rows.push_back(std::move(row));
    }
    return figure;
}

}  // namespace astrolabe::study
