/// Who wins where, by how much, why and at what price.
#include "answer_words.hpp"

#include "answer_phrases.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <astrolabe/experiment/results/figures.hpp>

namespace astrolabe::study {
namespace {

using experiment::readable_seconds;

/// "batch 1024 to 4096 and tables 64"; empty of a box of all values.
std::string box_words(const StudyAxes& axes, const Contest& contest, const Box& box) {
    std::vector<std::string> conditions;
    for (std::size_t c = 0; c < box.values.size(); ++c) {
        const Dimension& dimension = circumstance(axes, contest, c);
        const std::vector<std::size_t>& values = box.values[c];
        if (values.size() == dimension.values.size()) {
            continue;
        }
        std::string text = label_of(dimension) + " ";
        const bool is_interval =
            dimension.is_numeric() && values.back() - values.front() + 1 == values.size();
        if (is_interval && values.size() > 2) {
            text += value_words(dimension, values.front()) + " to " + value_words(dimension, values.back());
        } else {
            std::vector<std::string> names;
            for (const std::size_t value : values) {
                names.push_back(value_words(dimension, value));
            }
            text += listed(names, " or ");
        }
        conditions.push_back(std::move(text));
    }
    return listed(conditions, " with ");
}

std::string where_words(const StudyAxes& axes, const Contest& contest, const WinnerRegion& region) {
    constexpr std::size_t kMostBoxes = 3;
    if (region.boxes.size() == 1) {
        if (const std::string all = box_words(axes, contest, region.boxes[0]); all.empty()) {
            return region.settings.size() == 1 ? "" : "everywhere";
        }
    }
    std::vector<std::string> boxes;
    std::set<const Setting*> told;
    for (std::size_t i = 0; i < std::min(kMostBoxes, region.boxes.size()); ++i) {
        boxes.push_back(box_words(axes, contest, region.boxes[i]));
        for (const Setting* setting : region.settings) {
            bool is_in = true;
            for (std::size_t c = 0; c < setting->at.size(); ++c) {
                const std::vector<std::size_t>& values = region.boxes[i].values[c];
                is_in = is_in && std::binary_search(values.begin(), values.end(), setting->at[c]);
            }
            if (is_in) {
                told.insert(setting);
            }
        }
    }
    if (const std::size_t rest = region.settings.size() - told.size(); rest > 0) {
        boxes.push_back("in " + counted(rest, "other setting"));
    }
    return fmt::format("for {}", fmt::join(boxes, "; for "));
}

/// Settings by the part of time that a rule names in them.
using ByPart = std::map<std::string, Extent>;

const ByPart::value_type& most_frequent(const ByPart& parts) {
    return *std::max_element(parts.begin(), parts.end(),
                             [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
}

/// What has most of the winner's time.
std::string bound_words(const std::vector<const Setting*>& settings) {
    ByPart bounds;
    std::set<std::string> of_path;
    for (const Setting* setting : settings) {
        if (const std::optional<TimeShare> bound = bound_of(*setting->winner().row)) {
            bounds[bound->part].add(bound->share);
            if (bound->is_of_path) {
                of_path.insert(bound->part);
            }
        }
    }
    if (bounds.empty()) {
        return "";
    }
    const auto& [part, shares] = most_frequent(bounds);
    return fmt::format(" What bounds it: {}, {} % of {}{}.", part, extent_words(shares, percents),
                       of_path.contains(part) ? "the critical path" : "an iteration, mean over ranks",
                       part_words(shares.count, settings.size()));
}

/// What the next best loses its time to.
std::string loss_words(const std::vector<const Setting*>& settings) {
    ByPart losses;
    for (const Setting* setting : settings) {
        const std::vector<TimeDifference> all = losses_of(*setting);
        if (!all.empty() && setting->certainty() != Certainty::kTie && all.front().seconds > 0) {
            losses[all.front().part].add(all.front().seconds);
        }
    }
    if (losses.empty()) {
        return "";
    }
    const auto& [part, seconds] = most_frequent(losses);
    return fmt::format(" The next best loses most to {}: {} an iteration more{}.", part,
                       extent_words(seconds, readable_seconds), part_words(seconds.count, settings.size()));
}

std::string cost_words(const std::vector<const Setting*>& settings) {
    Extent own;
    Extent next;
    for (const Setting* setting : settings) {
        if (setting->winner().cost) {
            own.add(*setting->winner().cost);
        }
        if (setting->contenders.size() > 1 && setting->contenders[1].cost) {
            next.add(*setting->contenders[1].cost);
        }
    }
    if (own.count == 0) {
        return " Its network has no price.";
    }
    std::string text = fmt::format(" Its network costs {} a host", extent_words(own, dollars));
    if (next.count > 0) {
        text += fmt::format(", that of the next best {}", extent_words(next, dollars));
    }
    return text + ".";
}

std::size_t count_of(const std::vector<Setting>& settings, Certainty certainty) {
    return static_cast<std::size_t>(std::count_if(
        settings.begin(), settings.end(), [&](const Setting& one) { return one.certainty() == certainty; }));
}

/// How far the winners of several settings are certain.
std::string doubt_words(const std::vector<Setting>& settings) {
    std::string text;
    const auto add = [&](Certainty certainty, const std::string& what) {
        if (const std::size_t count = count_of(settings, certainty); count > 0) {
            text += fmt::format(" In {} of {} settings {}.", count, settings.size(), what);
        }
    };
    add(Certainty::kTie, fmt::format("the first two are within {:.0f} %, a tie", 100 * kTieMargin));
    add(Certainty::kSeeds, "the seeds leave open which of the first two is faster");
    add(Certainty::kClose,
        fmt::format("the margin is below {:.0f} %, as much as engines differ by", 100 * kCloseMargin));
    add(Certainty::kAlone, "there is nothing to compare with");
    return text;
}

Extent margins_of(const std::vector<const Setting*>& settings) {
    Extent margins;
    for (const Setting* setting : settings) {
        if (setting->contenders.size() > 1) {
            margins.add(setting->margin());
        }
    }
    return margins;
}

std::string choices_words(const StudyAxes& axes, const Contest& contest) {
    std::vector<std::string> labels;
    for (const std::size_t dimension : contest.choices) {
        labels.push_back(label_of(axes.dimensions[dimension]));
    }
    return labels.empty() ? "" : fmt::format(", each with its best {}", listed(labels));
}

std::string single_headline(const StudyAxes& axes, const Contest& contest, const Setting& setting) {
    const std::string noun = label_of(axes.dimensions[*contest.contested]);
    const Contender& first = setting.winner();
    const std::string name = name_of(axes, contest, first.value);
    const std::string time = readable_seconds(first.time.mean());
    if (setting.contenders.size() < 2) {
        return fmt::format("Only {} was run: {} an iteration.", name, time);
    }
    const Contender& second = setting.contenders[1];
    const std::string next = name_of(axes, contest, second.value);
    switch (setting.certainty()) {
        case Certainty::kTie:
            return fmt::format("{} and {} tie as the fastest {}: {} and {} an iteration{}.", name, next, noun,
                               time, readable_seconds(second.time.mean()), choices_words(axes, contest));
        case Certainty::kSeeds:
            return fmt::format(
                "The seeds leave open whether {} or {} is faster: {} and {} an iteration, on average{}.",
                name, next, time, readable_seconds(second.time.mean()), choices_words(axes, contest));
        default:
            break;
    }
    Extent margin;
    margin.add(setting.margin());
    return fmt::format(
        "{} is the fastest {}: {} an iteration{}. The next best, {}, takes {}{}.", name, noun, time,
        choices_words(axes, contest), next, longer_words(margin),
        setting.certainty() == Certainty::kClose ? ", which is no more than engines differ by" : "");
}

/// Who is next best, the most frequent first.
std::vector<std::string> next_names(const StudyAxes& axes, const Contest& contest,
                                    const std::vector<const Setting*>& settings) {
    constexpr std::size_t kMostNames = 3;
    std::map<std::size_t, std::size_t> counts;
    for (const Setting* setting : settings) {
        if (setting->contenders.size() > 1) {
            ++counts[setting->contenders[1].value];
        }
    }
    std::vector<std::pair<std::size_t, std::size_t>> order(counts.begin(), counts.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(kMostNames, order.size()); ++i) {
        names.push_back(name_of(axes, contest, order[i].first));
    }
    if (order.size() > kMostNames) {
        names.push_back(fmt::format("{} others", order.size() - kMostNames));
    }
    return names;
}

}  // namespace

std::string headline_words(const StudyAxes& axes, const Contest& contest,
                           const std::vector<WinnerRegion>& regions, const std::vector<Setting>& settings) {
    if (settings.empty()) {
        return "No contender is so cheap.";
    }
    if (settings.size() == 1) {
        return single_headline(axes, contest, settings.front());
    }
    const std::string noun = label_of(axes.dimensions[*contest.contested]);
    std::vector<const Setting*> all;
    for (const Setting& setting : settings) {
        all.push_back(&setting);
    }
    std::string text;
    if (count_of(settings, Certainty::kAlone) == settings.size()) {
        return fmt::format("Nothing competes: each of {} settings has one {} alone.", settings.size(), noun);
    }
    if (regions.size() == 1) {
        const Extent margins = margins_of(all);
        text = fmt::format(
            "{} is the fastest {} in all {} settings{}{}.", name_of(axes, contest, regions[0].value), noun,
            settings.size(), choices_words(axes, contest),
            margins.count > 0 ? fmt::format(": the next best takes {}", longer_words(margins)) : "");
    } else {
        std::vector<std::string> shares;
        for (const WinnerRegion& region : regions) {
            shares.push_back(
                fmt::format("{} in {}", name_of(axes, contest, region.value), region.settings.size()));
        }
        text = fmt::format("No {} is fastest everywhere{}: of {} settings, {}.", noun,
                           choices_words(axes, contest), settings.size(), listed(shares));
    }
    return text + doubt_words(settings);
}

std::string region_words(const StudyAxes& axes, const Contest& contest, const WinnerRegion& region) {
    const Extent margins = margins_of(region.settings);
    const std::vector<std::string> next = next_names(axes, contest, region.settings);
    const std::string where = where_words(axes, contest, region);
    std::string text = fmt::format("{} is fastest{}{}", name_of(axes, contest, region.value),
                                   where.empty() ? "" : " ", where);
    if (next.empty()) {
        text += ", where nothing else was run.";
    } else if (margins.greatest <= kTieMargin) {
        text +=
            fmt::format(": the next best, {}, is within {:.0f} %.", listed(next, " or "), 100 * kTieMargin);
    } else {
        text += fmt::format(": the next best, {}, takes {}.", listed(next, " or "), longer_words(margins));
    }
    return text + bound_words(region.settings) + loss_words(region.settings) + cost_words(region.settings);
}

std::string survey_words(const StudyAxes& axes, const std::vector<Setting>& settings) {
    const auto slower = [](const Setting& a, const Setting& b) {
        return a.winner().time.mean() < b.winner().time.mean();
    };
    const auto [least, most] = std::minmax_element(settings.begin(), settings.end(), slower);
    Contest all;
    for (std::size_t i = 0; i < axes.dimensions.size(); ++i) {
        all.circumstances.push_back(i);
    }
    const std::string fastest = readable_seconds(least->winner().time.mean());
    if (settings.size() == 1) {
        return fmt::format("One setting was run: {} an iteration.", fastest);
    }
    return fmt::format("Nothing competes in this study. An iteration takes from {} ({}) to {} ({}).", fastest,
                       setting_words(axes, all, *least), readable_seconds(most->winner().time.mean()),
                       setting_words(axes, all, *most));
}

}  // namespace astrolabe::study
