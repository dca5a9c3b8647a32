/// What would change the verdict of a study.
#include "answer_phrases.hpp"
#include "answer_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

/// "3,100" of a count, "3.1e+08" of what is no count.
std::string number_words(double value) {
    if (value >= 1 && value < 1e15) {
        const double rounding = std::pow(10, std::floor(std::log10(value)) - 1);
        std::string digits = fmt::format("{:.0f}", std::round(value / rounding) * rounding);
        if (value < 10) {
            return fmt::format("{:.2g}", value);
        }
        return digits;
    }
    return fmt::format("{:.2g}", value);
}

/// A crossing in the words of its ends where they are numbers alone; a share of the way between quantities.
std::string estimate_words(const Dimension& dimension, std::size_t below, std::size_t above,
                           double estimate) {
    const auto is_plain = [&](std::size_t value) {
        return std::all_of(dimension.values[value].begin(), dimension.values[value].end(),
                           [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    };
    if (is_plain(below) && is_plain(above)) {
        return fmt::format(", near {},", number_words(estimate));
    }
    const double times_below = estimate / dimension.numbers[below];
    return std::isfinite(times_below) ? fmt::format(", near {} times the former,", times(times_below)) : "";
}

/// Where among the other circumstances a winner changes.
std::string elsewhere_words(const StudyAxes& axes, const Contest& contest, const Crossover& one) {
    std::vector<std::string> rest;
    for (std::size_t c = 0; c < contest.circumstances.size(); ++c) {
        if (c != one.circumstance) {
            const Dimension& other = circumstance(axes, contest, c);
            rest.push_back(label_of(other) + " " + value_words(other, one.before->at[c]));
        }
    }
    return rest.empty() ? "" : ", at " + listed(rest);
}

void add_crossovers(const StudyAxes& axes, const Contest& contest, const std::vector<Crossover>& crossovers,
                    std::vector<std::string>& words) {
    constexpr std::size_t kMost = 6;
    // Those that are alike but for the other circumstances are told once.
    using Change = std::array<std::size_t, 5>;
    std::map<Change, std::vector<const Crossover*>> changes;
    std::vector<Change> order;
    for (const Crossover& one : crossovers) {
        const Change change{one.circumstance, one.before->at[one.circumstance],
                            one.after->at[one.circumstance], one.before->winner().value,
                            one.after->winner().value};
        if (changes[change].empty()) {
            order.push_back(change);
        }
        changes[change].push_back(&one);
    }
    for (std::size_t i = 0; i < std::min(kMost, order.size()); ++i) {
        const auto& [c, below, above, loser, winner] = order[i];
        const std::vector<const Crossover*>& alike = changes[order[i]];
        const Dimension& dimension = circumstance(axes, contest, c);
        const Crossover& first = *alike.front();
        words.push_back(fmt::format(
            "Between {} {} and {}{} {} gives way to {}{}.", label_of(dimension),
            value_words(dimension, below), value_words(dimension, above),
            alike.size() == 1 && first.estimate ? estimate_words(dimension, below, above, *first.estimate)
                                                : "",
            name_of(axes, contest, loser), name_of(axes, contest, winner),
            alike.size() == 1 ? elsewhere_words(axes, contest, first)
                              : fmt::format(", at {} combinations of the others", alike.size())));
    }
    if (order.size() > kMost) {
        words.push_back(fmt::format("{} more are in the table.", counted(order.size() - kMost, "change")));
    }
}

/// Circumstances that change no winner, all else equal.
void add_idle(const StudyAxes& axes, const Contest& contest, const std::vector<WinnerRegion>& regions,
              std::vector<std::string>& words) {
    std::map<std::vector<std::size_t>, std::size_t> winners;
    for (const WinnerRegion& region : regions) {
        for (const Setting* setting : region.settings) {
            winners[setting->at] = region.value;
        }
    }
    std::vector<std::string> idle;
    for (std::size_t c = 0; c < contest.circumstances.size(); ++c) {
        std::map<std::vector<std::size_t>, std::set<std::size_t>> lines;
        std::size_t longest = 0;
        std::map<std::vector<std::size_t>, std::size_t> lengths;
        for (const auto& [at, winner] : winners) {
            std::vector<std::size_t> rest = at;
            rest[c] = 0;
            lines[rest].insert(winner);
            longest = std::max(longest, ++lengths[rest]);
        }
        const bool changes =
            std::any_of(lines.begin(), lines.end(), [](const auto& line) { return line.second.size() > 1; });
        if (longest > 1 && !changes) {
            idle.push_back(label_of(circumstance(axes, contest, c)));
        }
    }
    if (!idle.empty()) {
        words.push_back(fmt::format("No simulated value of {} changes the winner, all else equal.",
                                    listed(idle, " or of ")));
    }
}

void add_turns(const StudyAxes& axes, const Contest& contest, const WinnerRegion& region,
               std::vector<std::string>& words) {
    struct Catch {
        std::map<std::string, Extent> by_resource;
        std::size_t none = 0;
        std::size_t all = 0;
    };
    std::map<std::size_t, Catch> by_runner_up;
    const Setting* closest = nullptr;
    std::optional<Turn> least;
    for (const Setting* setting : region.settings) {
        if (setting->contenders.size() < 2 || path_times(*setting->contenders[1].row).empty()) {
            continue;
        }
        Catch& runner_up = by_runner_up[setting->contenders[1].value];
        ++runner_up.all;
        if (const std::optional<Turn> turn = catches_up(*setting)) {
            runner_up.by_resource[turn->resource].add(turn->factor);
        } else {
            ++runner_up.none;
        }
        const std::optional<Turn> back = falls_behind(*setting);
        if (back && (!least || back->factor < least->factor)) {
            least = back;
            closest = setting;
        }
    }
    const std::string winner = name_of(axes, contest, region.value);
    for (const auto& [value, runner_up] : by_runner_up) {
        std::vector<std::string> ways;
        for (const auto& [resource, factors] : runner_up.by_resource) {
            ways.push_back(
                fmt::format("with its {} at least {} times as fast{}", resource, extent_words(factors, times),
                            factors.count < runner_up.all ? " in " + counted(factors.count, "setting") : ""));
        }
        const std::string name = name_of(axes, contest, value);
        if (ways.empty()) {
            words.push_back(fmt::format("No single resource of {}, however fast, lets it catch up with {}.",
                                        name, winner));
            continue;
        }
        words.push_back(fmt::format("{} would catch up with {} {}{}.", name, winner, listed(ways, " or "),
                                    runner_up.none > 0 ? fmt::format("; in {} no single resource suffices",
                                                                     counted(runner_up.none, "setting"))
                                                       : ""));
    }
    if (least && std::isfinite(least->factor)) {
        const std::string where = setting_words(axes, contest, *closest);
        words.push_back(fmt::format("{} loses at the latest when its {} {} {} times as slow{}.", winner,
                                    least->resource, least->resource.ends_with("s") ? "are" : "is",
                                    times(least->factor),
                                    where.empty() ? "" : " (closest at " + where + ")"));
    }
}

void add_bargains(const StudyAxes& axes, const Contest& contest, const WinnerRegion& region,
                  std::vector<std::string>& words) {
    std::map<std::size_t, std::vector<const Setting*>> bargains;
    for (const Setting* setting : region.settings) {
        if (const Contender* cheaper = setting->as_good_for_less()) {
            bargains[cheaper->value].push_back(setting);
        }
    }
    for (const auto& [value, settings] : bargains) {
        Extent less;
        Extent own;
        for (const Setting* setting : settings) {
            less.add(*setting->as_good_for_less()->cost);
            own.add(*setting->winner().cost);
        }
        words.push_back(fmt::format(
            "{} is as fast, within {:.0f} %, for {} a host instead of {}{}.", name_of(axes, contest, value),
            100 * kTieMargin, extent_words(less, dollars), extent_words(own, dollars),
            settings.size() < region.settings.size() ? " in " + counted(settings.size(), "setting") : ""));
    }
}

}  // namespace

std::vector<std::string> would_change_words(const StudyAxes& axes, const Contest& contest,
                                            const std::vector<WinnerRegion>& regions,
                                            const std::vector<Crossover>& crossovers) {
    std::vector<std::string> words;
    add_crossovers(axes, contest, crossovers, words);
    add_idle(axes, contest, regions, words);
    for (const WinnerRegion& region : regions) {
        add_bargains(axes, contest, region, words);
        add_turns(axes, contest, region, words);
    }
    return words;
}

}  // namespace astrolabe::study
