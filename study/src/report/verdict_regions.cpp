/// Where a contender wins, and where the winner changes.
#include "verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace astrolabe::study {
namespace {

using At = std::vector<std::size_t>;

/// Grows boxes from a setting that a contender wins.
class BoxGrower {
public:
    BoxGrower(const StudyAxes& axes, const Contest& contest, const std::vector<Setting>& settings,
              std::size_t value)
        : settings_(settings),
          value_(value) {
        for (const std::size_t dimension : contest.circumstances) {
            sizes_.push_back(axes.dimensions[dimension].values.size());
            is_numeric_.push_back(axes.dimensions[dimension].is_numeric());
        }
    }

    /// In this order of the circumstances: each as far as no other contender wins in the box.
    [[nodiscard]] Box grown(const At& seed, const std::vector<std::size_t>& order) const {
        Box box;
        for (const std::size_t place : seed) {
            box.values.push_back({place});
        }
        for (const std::size_t c : order) {
            if (is_numeric_[c]) {
                grow_interval(box, c);
            } else {
                grow_set(box, c);
            }
        }
        box.settings = static_cast<std::size_t>(std::count_if(
            settings_.begin(), settings_.end(), [&](const Setting& one) { return holds(box, one.at); }));
        trim(box);
        return box;
    }

    [[nodiscard]] static bool holds(const Box& box, const At& at) {
        for (std::size_t c = 0; c < at.size(); ++c) {
            if (!std::binary_search(box.values[c].begin(), box.values[c].end(), at[c])) {
                return false;
            }
        }
        return true;
    }

private:
    /// Whether nobody else wins in the box.
    [[nodiscard]] bool is_own(const Box& box) const {
        return std::none_of(settings_.begin(), settings_.end(), [&](const Setting& one) {
            return one.winner().value != value_ && holds(box, one.at);
        });
    }

    [[nodiscard]] bool try_value(Box& box, std::size_t c, std::size_t value) const {
        std::vector<std::size_t>& values = box.values[c];
        const auto at = values.insert(std::lower_bound(values.begin(), values.end(), value), value);
        if (is_own(box)) {
            return true;
        }
        values.erase(at);
        return false;
    }

    void grow_interval(Box& box, std::size_t c) const {
        while (box.values[c].front() > 0 && try_value(box, c, box.values[c].front() - 1)) {
        }
        while (box.values[c].back() + 1 < sizes_[c] && try_value(box, c, box.values[c].back() + 1)) {
        }
    }

    void grow_set(Box& box, std::size_t c) const {
        const std::size_t seed = box.values[c].front();
        for (std::size_t value = 0; value < sizes_[c]; ++value) {
            if (value != seed) {
                static_cast<void>(try_value(box, c, value));
            }
        }
    }

    /// Takes out values at which nothing was run.
    void trim(Box& box) const {
        for (std::size_t c = 0; c < box.values.size(); ++c) {
            std::set<std::size_t> used;
            for (const Setting& setting : settings_) {
                if (holds(box, setting.at)) {
                    used.insert(setting.at[c]);
                }
            }
            box.values[c].assign(used.begin(), used.end());
        }
    }

    const std::vector<Setting>& settings_;
    std::size_t value_;
    std::vector<std::size_t> sizes_;
    std::vector<bool> is_numeric_;
};

const Contender* contender_of(const Setting& setting, std::size_t value) {
    const auto found = std::find_if(setting.contenders.begin(), setting.contenders.end(),
                                    [&](const Contender& one) { return one.value == value; });
    return found == setting.contenders.end() ? nullptr : &*found;
}

std::optional<double> crossing(const Dimension& dimension, std::size_t circumstance, const Setting& before,
                               const Setting& after) {
    const Contender* then = contender_of(after, before.winner().value);
    const Contender* earlier = contender_of(before, after.winner().value);
    if (then == nullptr || earlier == nullptr) {
        return std::nullopt;
    }
    // The first is behind from where this is zero.
    const double start = std::log(before.winner().time.mean() / earlier->time.mean());
    const double end = std::log(then->time.mean() / after.winner().time.mean());
    const double share = end > start ? -start / (end - start) : 0.5;
    const double low = dimension.numbers[before.at[circumstance]];
    const double high = dimension.numbers[after.at[circumstance]];
    return low > 0 ? low * std::pow(high / low, share) : low + share * (high - low);
}

}  // namespace

std::vector<Box> boxes_of(const StudyAxes& axes, const Contest& contest, const std::vector<Setting>& settings,
                          std::size_t value) {
    constexpr int kMostOrders = 24;
    const BoxGrower grower(axes, contest, settings, value);
    std::vector<const Setting*> left;
    for (const Setting& setting : settings) {
        if (setting.winner().value == value) {
            left.push_back(&setting);
        }
    }
    std::vector<Box> boxes;
    while (!left.empty()) {
        std::vector<std::size_t> order(contest.circumstances.size());
        std::iota(order.begin(), order.end(), 0);
        Box best;
        int tried = 0;
        do {
            Box box = grower.grown(left.front()->at, order);
            if (box.settings > best.settings) {
                best = std::move(box);
            }
        } while (++tried < kMostOrders && std::next_permutation(order.begin(), order.end()));
        std::erase_if(left, [&](const Setting* one) { return BoxGrower::holds(best, one->at); });
        boxes.push_back(std::move(best));
    }
    std::stable_sort(boxes.begin(), boxes.end(),
                     [](const Box& a, const Box& b) { return a.settings > b.settings; });
    return boxes;
}

std::vector<Crossover> crossovers_of(const StudyAxes& axes, const Contest& contest,
                                     const std::vector<Setting>& settings) {
    std::vector<Crossover> crossovers;
    for (std::size_t c = 0; c < contest.circumstances.size(); ++c) {
        const Dimension& dimension = axes.dimensions[contest.circumstances[c]];
        if (!dimension.is_numeric()) {
            continue;
        }
        std::map<At, std::vector<const Setting*>> lines;  // by all else
        for (const Setting& setting : settings) {
            At rest = setting.at;
            rest[c] = 0;
            lines[rest].push_back(&setting);
        }
        for (auto& [unused, line] : lines) {
            std::sort(line.begin(), line.end(),
                      [&](const Setting* a, const Setting* b) { return a->at[c] < b->at[c]; });
            for (std::size_t i = 1; i < line.size(); ++i) {
                const Setting& before = *line[i - 1];
                const Setting& after = *line[i];
                if (before.winner().value != after.winner().value) {
                    crossovers.push_back({c, &before, &after, crossing(dimension, c, before, after)});
                }
            }
        }
    }
    return crossovers;
}

}  // namespace astrolabe::study
