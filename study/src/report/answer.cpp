#include "answer.hpp"

#include "answer_phrases.hpp"
#include "answer_words.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<double>& number) {
    return number ? Json(*number) : Json();
}

/// What a contender runs with, where it could have run with something else.
Json choices_json(const StudyAxes& axes, const Contest& contest, const Contender& contender) {
    Json json = Json::object();
    for (const std::size_t dimension : contest.choices) {
        json[axes.dimensions[dimension].name] = axes.dimensions[dimension].values[contender.at[dimension]];
    }
    return json;
}

Json bound_json(const StudyRow& row) {
    const std::optional<TimeShare> bound = bound_of(row);
    return bound ? Json{{"part", bound->part}, {"share", bound->share}, {"of_path", bound->is_of_path}}
                 : Json();
}

Json because_json(const Setting& setting) {
    Json list = Json::array();
    for (const TimeDifference& loss : losses_of(setting)) {
        list.push_back({{"part", loss.part}, {"extra_s", loss.seconds}});
    }
    return list;
}

Json turn_json(const std::optional<Turn>& turn) {
    return turn ? Json{{"resource", turn->resource}, {"factor", turn->factor}} : Json();
}

Json contender_json(const StudyAxes& axes, const Contest& contest, const Contender& contender) {
    const std::string name =
        contest.contested ? axes.dimensions[*contest.contested].values[contender.value] : "";
    return {{"name", name},
            {"iteration_time_s", contender.time.mean()},
            {"least_s", contender.time.least},
            {"greatest_s", contender.time.greatest},
            {"seeds", contender.time.count},
            {"usd_per_host", number_or_null(contender.cost)},
            {"with", choices_json(axes, contest, contender)},
            {"point", contender.row->point.number},
            {"bound", bound_json(*contender.row)}};
}

Json at_json(const StudyAxes& axes, const Contest& contest, const Setting& setting) {
    Json at = Json::object();
    for (std::size_t c = 0; c < contest.circumstances.size(); ++c) {
        const Dimension& dimension = axes.dimensions[contest.circumstances[c]];
        at[dimension.name] = dimension.values[setting.at[c]];
    }
    return at;
}

Json setting_json(const StudyAxes& axes, const Contest& contest, const Setting& setting) {
    Json contenders = Json::array();
    for (const Contender& contender : setting.contenders) {
        contenders.push_back(contender_json(axes, contest, contender));
    }
    const Contender* cheaper = setting.as_good_for_less();
    return {{"at", at_json(axes, contest, setting)},
            {"certainty", to_string(setting.certainty())},
            {"margin", setting.margin()},
            {"contenders", std::move(contenders)},
            {"as_good_for_less",
             cheaper == nullptr ? Json() : Json(axes.dimensions[*contest.contested].values[cheaper->value])},
            {"because", because_json(setting)},
            {"catches_up", turn_json(catches_up(setting))},
            {"falls_behind", turn_json(falls_behind(setting))}};
}

Json crossover_json(const StudyAxes& axes, const Contest& contest, const Crossover& crossover) {
    const Dimension& dimension = axes.dimensions[contest.circumstances[crossover.circumstance]];
    const std::vector<std::string>& names = axes.dimensions[*contest.contested].values;
    Json elsewhere = at_json(axes, contest, *crossover.before);
    elsewhere.erase(dimension.name);
    return {{"parameter", dimension.name},
            {"at", std::move(elsewhere)},
            {"below", dimension.values[crossover.before->at[crossover.circumstance]]},
            {"above", dimension.values[crossover.after->at[crossover.circumstance]]},
            {"winner_below", names[crossover.before->winner().value]},
            {"winner_above", names[crossover.after->winner().value]},
            {"margin_below", crossover.before->margin()},
            {"margin_above", crossover.after->margin()},
            {"estimate", number_or_null(crossover.estimate)}};
}

/// Regions of the winners, the one of most settings first.
std::vector<WinnerRegion> regions_of(const StudyAxes& axes, const Contest& contest,
                                     const std::vector<Setting>& settings) {
    std::map<std::size_t, WinnerRegion> by_winner;
    for (const Setting& setting : settings) {
        WinnerRegion& region = by_winner[setting.winner().value];
        region.value = setting.winner().value;
        region.settings.push_back(&setting);
    }
    std::vector<WinnerRegion> regions;
    for (auto& [value, region] : by_winner) {
        region.boxes = boxes_of(axes, contest, settings, value);
        regions.push_back(std::move(region));
    }
    std::stable_sort(regions.begin(), regions.end(), [](const WinnerRegion& a, const WinnerRegion& b) {
        return a.settings.size() > b.settings.size();
    });
    return regions;
}

Json region_json(const StudyAxes& axes, const Contest& contest, const WinnerRegion& region) {
    Json boxes = Json::array();
    for (const Box& box : region.boxes) {
        Json values = Json::object();
        for (std::size_t c = 0; c < contest.circumstances.size(); ++c) {
            const Dimension& dimension = axes.dimensions[contest.circumstances[c]];
            for (const std::size_t value : box.values[c]) {
                values[dimension.name].push_back(dimension.values[value]);
            }
        }
        boxes.push_back({{"values", std::move(values)}, {"settings", box.settings}});
    }
    return {{"winner", axes.dimensions[*contest.contested].values[region.value]},
            {"settings", region.settings.size()},
            {"boxes", std::move(boxes)},
            {"text", region_words(axes, contest, region)}};
}

/// What is said where contenders may cost so much a host, or anything.
Json verdict_json(const StudyAxes& axes, const Contest& contest, const PriceOf& price,
                  std::optional<double> at_most) {
    const std::vector<Setting> settings = settings_of(axes, contest, price, at_most);
    const std::vector<WinnerRegion> regions = regions_of(axes, contest, settings);
    const std::vector<Crossover> crossovers = crossovers_of(axes, contest, settings);
    Json json{{"at_most_usd_per_host", number_or_null(at_most)},
              {"headline", headline_words(axes, contest, regions, settings)},
              {"regions", Json::array()},
              {"crossovers", Json::array()},
              {"would_change", would_change_words(axes, contest, regions, crossovers)},
              {"settings", Json::array()}};
    for (const WinnerRegion& region : regions) {
        json["regions"].push_back(region_json(axes, contest, region));
    }
    for (const Crossover& crossover : crossovers) {
        json["crossovers"].push_back(crossover_json(axes, contest, crossover));
    }
    for (const Setting& setting : settings) {
        json["settings"].push_back(setting_json(axes, contest, setting));
    }
    return json;
}

/// Of a study in which nothing competes.
Json survey_json(const StudyAxes& axes, const std::vector<Setting>& settings) {
    return {{"at_most_usd_per_host", Json()}, {"headline", survey_words(axes, settings)},
            {"regions", Json::array()},       {"crossovers", Json::array()},
            {"would_change", Json::array()},  {"settings", Json::array()}};
}

std::vector<std::string> names_of(const StudyAxes& axes, const std::vector<std::size_t>& dimensions) {
    std::vector<std::string> names;
    for (const std::size_t dimension : dimensions) {
        names.push_back(axes.dimensions[dimension].name);
    }
    return names;
}

/// Of all contenders, rounded up to so many digits, so that a budget of the price buys what has it.
std::set<double> prices_of(const std::vector<Setting>& settings, int digits) {
    std::set<double> prices;
    for (const Setting& setting : settings) {
        for (const Contender& contender : setting.contenders) {
            if (contender.cost && *contender.cost > 0) {
                const double step = std::pow(10, std::floor(std::log10(*contender.cost)) - digits);
                prices.insert(std::ceil(*contender.cost / step) * step);
            }
        }
    }
    return prices;
}

}  // namespace

std::vector<double> budgets_of(const StudyAxes& axes, const Contest& contest, const PriceOf& price) {
    std::set<double> prices = prices_of(settings_of(axes, contest, price), 3);
    if (constexpr std::size_t kManyPrices = 64; prices.size() > kManyPrices) {
        prices = prices_of(settings_of(axes, contest, price), 1);
    }
    const auto winners_of = [&](std::optional<double> at_most) {
        std::map<std::vector<std::size_t>, std::size_t> winners;
        for (const Setting& setting : settings_of(axes, contest, price, at_most)) {
            winners[setting.at] = setting.winner().value;
        }
        return winners;
    };
    std::vector<double> budgets;
    std::map<std::vector<std::size_t>, std::size_t> known;
    for (const double at_most : prices) {
        if (auto winners = winners_of(at_most); winners != known) {
            budgets.push_back(at_most);
            known = std::move(winners);
        }
    }
    if (!budgets.empty() && known == winners_of({})) {
        budgets.pop_back();
    }
    return budgets;
}

Json answer_of(const StudyAxes& axes, const Contest& contest, const PriceOf& price,
               const std::vector<StudyRow>& rows) {
    Json json{{"schema", "astrolabe/1"},
              {"contested", contest.contested ? Json(axes.dimensions[*contest.contested].name) : Json()},
              {"choices", names_of(axes, contest.choices)},
              {"circumstances", names_of(axes, contest.circumstances)},
              {"tie_margin", kTieMargin},
              {"close_margin", kCloseMargin},
              {"verdicts", Json::array()}};
    const std::vector<Setting> settings = settings_of(axes, contest, price);
    if (settings.empty()) {
        return {};
    }
    if (contest.contested) {
        json["verdicts"].push_back(verdict_json(axes, contest, price, {}));
        for (const double at_most : budgets_of(axes, contest, price)) {
            json["verdicts"].push_back(verdict_json(axes, contest, price, at_most));
        }
    } else {
        json["verdicts"].push_back(survey_json(axes, settings));
    }
    json["limits"] = limits_words(axes, contest, settings, rows);
    return json;
}

std::string answer_text(const StudyReport& report) {
    if (report.answer.is_null()) {
        return "";
    }
    std::string text;
    for (const Json& verdict : report.answer["verdicts"]) {
        const Json& at_most = verdict["at_most_usd_per_host"];
        text += at_most.is_null()
                    ? ""
                    : fmt::format("\nOn a budget of {} a host: ", dollars(at_most.get<double>()));
        text += verdict["headline"].get<std::string>() + "\n";
        if (!at_most.is_null()) {
            continue;
        }
        for (const Json& region : verdict["regions"]) {
            text += "- " + region["text"].get<std::string>() + "\n";
        }
        if (!verdict["would_change"].empty()) {
            text += "\nWhat would change it:\n";
        }
        for (const Json& change : verdict["would_change"]) {
            text += "- " + change.get<std::string>() + "\n";
        }
    }
    text += "\nWhat was not simulated, and how sure this is:\n";
    for (const Json& limit : report.answer["limits"]) {
        text += "- " + limit.get<std::string>() + "\n";
    }
    return text;
}

Drawn winner_figure(const StudyAxes& axes, const Contest& contest, const PriceOf& price) {
    if (!contest.contested) {
        return Omission{"nothing competes in this study"};
    }
    if (contest.circumstances.empty()) {
        return Omission{"nothing varies but what is compared"};
    }
    Figure figure;
    figure.columns = names_of(axes, contest.circumstances);
    figure.columns.insert(figure.columns.end(),
                          {"at_most_usd_per_host", "winner", "iteration_time_s", "runner_up",
                           "runner_up_iteration_time_s", "margin", "certainty", "point"});
    const std::vector<std::string>& names = axes.dimensions[*contest.contested].values;
    std::vector<std::optional<double>> budgets{std::nullopt};
    for (const double at_most : budgets_of(axes, contest, price)) {
        budgets.emplace_back(at_most);
    }
    for (const std::optional<double>& at_most : budgets) {
        for (const Setting& setting : settings_of(axes, contest, price, at_most)) {
            std::vector<Json> row;
            for (std::size_t c = 0; c < contest.circumstances.size(); ++c) {
                row.emplace_back(axes.dimensions[contest.circumstances[c]].values[setting.at[c]]);
            }
            const bool is_alone = setting.contenders.size() < 2;
            row.insert(row.end(),
                       {number_or_null(at_most), names[setting.winner().value], setting.winner().time.mean(),
                        is_alone ? Json() : Json(names[setting.contenders[1].value]),
                        is_alone ? Json() : Json(setting.contenders[1].time.mean()),
                        is_alone ? Json() : Json(setting.margin()), to_string(setting.certainty()),
                        setting.winner().row->point.number});
            figure.rows.push_back(std::move(row));
        }
    }
    // Across goes the circumstance of numbers with the most values, up the next.
    std::vector<std::size_t> order(contest.circumstances.size());
    for (std::size_t c = 0; c < order.size(); ++c) {
        order[c] = c;
    }
    const auto dimension_at = [&](std::size_t c) -> const Dimension& {
        return axes.dimensions[contest.circumstances[c]];
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(dimension_at(a).is_numeric(), dimension_at(a).values.size()) >
               std::pair(dimension_at(b).is_numeric(), dimension_at(b).values.size());
    });
    const std::size_t first = contest.circumstances.size();
    figure.title = fmt::format("Which {} is fastest where?", label_of(axes.dimensions[*contest.contested]));
    figure.note =
        "The colour is the fastest, the number how much longer the next best takes; lines part winners. "
        "Dashed "
        "cells are ties and what the seeds leave open.";
    figure.chart = {{"form", "winner"},
                    {"x", order[0]},
                    {"y", order.size() > 1 ? Json(order[1]) : Json()},
                    {"panels", order.size() > 2 ? std::vector<std::size_t>(order.begin() + 2, order.end())
                                                : std::vector<std::size_t>()},
                    {"at_most", first},
                    {"winner", first + 1},
                    {"value", first + 2},
                    {"runner_up", first + 3},
                    {"runner_up_value", first + 4},
                    {"margin", first + 5},
                    {"certainty", first + 6},
                    {"point", first + 7},
                    {"contested", axes.dimensions[*contest.contested].name}};
    return figure;
}

}  // namespace astrolabe::study
