/// What a study did not simulate, and how sure its numbers are.
#include "answer_phrases.hpp"
#include "answer_words.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

/// Engines, and what runs on each leave out.
void add_engines(const StudyAxes& axes, std::vector<std::string>& words) {
    std::map<std::string, std::size_t> engines;
    for (const Place& place : axes.places) {
        ++engines[place.row->result.summary.value("backend_kind", "an engine that is not recorded")];
    }
    std::vector<std::string> names;
    for (const auto& [engine, count] : engines) {
        names.push_back(engines.size() == 1 ? engine : fmt::format("{} ({} points)", engine, count));
    }
    words.push_back(fmt::format(
        "Engine: {}.{} What an engine leaves out of a run, `astrolabe run` and `compare --backends` say.",
        listed(names),
        engines.contains("fluid") ? " Fluid runs have no queues, losses or headers, and were measured to "
                                    "differ from packets by up to 5 % "
                                    "of an iteration."
                                  : ""));
}

void add_seeds(const StudyAxes& axes, const std::vector<Setting>& settings, std::vector<std::string>& words) {
    const auto is_fixed = [](const Place& place) {
        const Json& summary = place.row->result.summary;
        return summary.contains("randomness") && summary["randomness"].empty();
    };
    if (std::all_of(axes.places.begin(), axes.places.end(), is_fixed)) {
        words.emplace_back("Nothing is drawn at random, so that other seeds would give the same.");
        return;
    }
    Extent seeds;
    Extent spread;
    for (const Setting& setting : settings) {
        for (const Contender& contender : setting.contenders) {
            seeds.add(static_cast<double>(contender.time.count));
            spread.add((contender.time.greatest - contender.time.least) / contender.time.mean());
        }
    }
    if (seeds.greatest < 2) {
        words.emplace_back(
            "One seed, though something is drawn at random: the spread is not known (`repeat:` of a study "
            "gives it).");
        return;
    }
    words.push_back(
        fmt::format("Means over {} seeds, whose times spread over up to {} % of their mean.",
                    extent_words(seeds, [](double count) { return fmt::format("{:.0f}", count); }),
                    percents(spread.greatest)));
}

void add_missing(const StudyAxes& axes, const Contest& contest, const std::vector<Setting>& settings,
                 const std::vector<StudyRow>& rows, std::vector<std::string>& words) {
    const auto count = [&](PointStatus status) {
        return static_cast<std::size_t>(std::count_if(
            rows.begin(), rows.end(), [&](const StudyRow& row) { return row.result.status == status; }));
    };
    const std::size_t failed = count(PointStatus::kFailed);
    const std::size_t missing = count(PointStatus::kMissing);
    if (failed + missing > 0) {
        words.push_back(
            fmt::format("Of {} points {} failed and {} have not been run; they may change who wins.",
                        rows.size(), failed, missing));
    }
    std::size_t all = 1;
    for (const std::size_t dimension : contest.circumstances) {
        all *= axes.dimensions[dimension].values.size();
    }
    if (settings.size() < all) {
        words.push_back(
            fmt::format("{} of {} combinations of the circumstances were run.", settings.size(), all));
    }
    if (!contest.contested) {
        return;
    }
    std::vector<std::string> absent;
    for (std::size_t value = 0; value < axes.dimensions[*contest.contested].values.size(); ++value) {
        const auto runs = static_cast<std::size_t>(
            std::count_if(settings.begin(), settings.end(), [&](const Setting& setting) {
                return std::any_of(setting.contenders.begin(), setting.contenders.end(),
                                   [&](const Contender& one) { return one.value == value; });
            }));
        if (runs < settings.size()) {
            absent.push_back(fmt::format("{} in {}", name_of(axes, contest, value), settings.size() - runs));
        }
    }
    if (!absent.empty()) {
        words.push_back(fmt::format("Not run, of {} settings: {}.", settings.size(), listed(absent)));
    }
}

}  // namespace

std::vector<std::string> limits_words(const StudyAxes& axes, const Contest& contest,
                                      const std::vector<Setting>& settings,
                                      const std::vector<StudyRow>& rows) {
    std::vector<std::string> words;
    add_engines(axes, words);
    add_seeds(axes, settings, words);
    add_missing(axes, contest, settings, rows, words);
    words.emplace_back(
        "Between simulated values winners are not known; crossings are estimates, straight on logarithmic "
        "axes.");
    const bool has_price = std::any_of(settings.begin(), settings.end(),
                                       [](const Setting& one) { return one.winner().cost.has_value(); });
    if (has_price) {
        words.emplace_back(
            "Prices are those of the network's parts in the built-in list, without servers, power or work.");
    }
    words.emplace_back(
        "What would be needed to catch up is a lower bound: behind a bottleneck stands the next one.");
    return words;
}

}  // namespace astrolabe::study
