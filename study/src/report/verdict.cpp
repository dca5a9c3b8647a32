#include "verdict.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace astrolabe::study {
namespace {

using At = std::vector<std::size_t>;

/// What an engineer is free to choose for a job that is given, apart from the network.
constexpr std::array<std::string_view, 11> kChoices{
    "cluster.collectives",     "cluster.scheduling",        "cluster.dimensions",
    "cluster.placement",       "workload.placement",        "workload.sharding",
    "workload.dense_sharding", "workload.gradient_buckets", "workload.parameter_prefetch",
    "workload.schedule",       "workload.overlap"};

bool is_at_or_below(std::string_view path, std::string_view top) {
    return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '.');
}

bool is_choice(const std::string& parameter) {
    return std::any_of(kChoices.begin(), kChoices.end(),
                       [&](std::string_view top) { return is_at_or_below(parameter, top); });
}

/// The lower, the sooner a dimension is what a study compares; none: it never is.
std::optional<int> claim_of(const Dimension& dimension) {
    if (dimension.name == "network") {
        return 0;
    }
    if (is_of_network(dimension.name)) {
        return dimension.is_numeric() ? 4 : 1;
    }
    if (is_choice(dimension.name)) {
        return dimension.is_numeric() ? 3 : 2;
    }
    return std::nullopt;
}

At picked(const At& at, const std::vector<std::size_t>& dimensions) {
    At some;
    some.reserve(dimensions.size());
    for (const std::size_t dimension : dimensions) {
        some.push_back(at[dimension]);
    }
    return some;
}

bool ranges_overlap(const Sample& a, const Sample& b) {
    return std::min(a.count, b.count) > 1 && a.least <= b.greatest && b.least <= a.greatest;
}

/// Points that differ in their seed alone: their mean time, and the first of them.
std::map<At, Contender> runs_of(const StudyAxes& axes) {
    std::map<At, Contender> runs;
    for (const Place& place : axes.places) {
        if (const std::optional<double> time = mean_iteration_time(place.row->result)) {
            Contender& run = runs[place.at];
            run.time.add(*time);
            run.row = run.row == nullptr ? place.row : run.row;
        }
    }
    return runs;
}

}  // namespace

std::string_view to_string(Certainty certainty) {
    switch (certainty) {
        case Certainty::kClear:
            return "clear";
        case Certainty::kClose:
            return "close";
        case Certainty::kTie:
            return "tie";
        case Certainty::kSeeds:
            return "seeds";
        case Certainty::kAlone:
            return "alone";
    }
    invariant_failed("a certainty is one of its kind", "all have a name");
}

Contest contest_of(const StudyAxes& axes, std::optional<std::size_t> contested) {
    Contest contest{contested, {}, {}};
    if (!contested) {
        int least = std::numeric_limits<int>::max();
        for (std::size_t i = 0; i < axes.dimensions.size(); ++i) {
            if (const std::optional<int> claim = claim_of(axes.dimensions[i]); claim && *claim < least) {
                least = *claim;
                contest.contested = i;
            }
        }
    }
    for (std::size_t i = 0; i < axes.dimensions.size(); ++i) {
        const Dimension& dimension = axes.dimensions[i];
        if (i == contest.contested) {
            continue;
        }
        // Among numbers of a network the best is the largest, which is no choice.
        const bool is_free =
            is_choice(dimension.name) || (is_of_network(dimension.name) && !dimension.is_numeric());
        (contest.contested && is_free ? contest.choices : contest.circumstances).push_back(i);
    }
    return contest;
}

double Setting::margin() const {
    return contenders.size() < 2 ? 0 : contenders[1].time.mean() / contenders[0].time.mean() - 1;
}

Certainty Setting::certainty() const {
    if (contenders.size() < 2) {
        return Certainty::kAlone;
    }
    if (margin() <= kTieMargin) {
        return Certainty::kTie;
    }
    if (ranges_overlap(contenders[0].time, contenders[1].time)) {
        return Certainty::kSeeds;
    }
    return margin() <= kCloseMargin ? Certainty::kClose : Certainty::kClear;
}

const Contender* Setting::as_good_for_less() const {
    const Contender* best = &winner();
    for (const Contender& other : contenders) {
        const bool is_as_good = other.time.mean() <= winner().time.mean() * (1 + kTieMargin);
        if (is_as_good && other.cost && best->cost && *other.cost < *best->cost) {
            best = &other;
        }
    }
    return best == &winner() ? nullptr : best;
}

std::vector<Setting> settings_of(const StudyAxes& axes, const Contest& contest, const PriceOf& price,
                                 std::optional<double> at_most) {
    std::map<At, std::map<std::size_t, Contender>> settings;
    for (auto& [at, run] : runs_of(axes)) {
        run.value = contest.contested ? at[*contest.contested] : 0;
        run.at = at;
        run.cost = price(*run.row);
        if (at_most && (!run.cost || *run.cost > *at_most)) {
            continue;
        }
        const auto [best, is_new] = settings[picked(at, contest.circumstances)].try_emplace(run.value, run);
        if (!is_new && run.time.mean() < best->second.time.mean()) {
            best->second = run;
        }
    }
    std::vector<Setting> list;
    for (const auto& [at, contenders] : settings) {
        Setting setting{at, {}};
        for (const auto& [unused, contender] : contenders) {
            setting.contenders.push_back(contender);
        }
        std::stable_sort(
            setting.contenders.begin(), setting.contenders.end(),
            [](const Contender& a, const Contender& b) { return a.time.mean() < b.time.mean(); });
        list.push_back(std::move(setting));
    }
    return list;
}

}  // namespace astrolabe::study
