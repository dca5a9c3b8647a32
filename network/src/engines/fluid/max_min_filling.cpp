// The water-filling of max_min_solver.hpp.
#include "max_min_arithmetic.hpp"
#include "max_min_solver.hpp"

#include <algorithm>

namespace astrolabe::network {

namespace {

/// So many additions to a load err by less than 10^-12 of the capacity.
constexpr std::uint32_t kAdditions = 4096;

/// Rounding can leave a full link a trifle below zero.
double level_of(double residual, double free_share) {
    return std::max(residual, 0.0) / free_share;
}

/// Levels never fall while filling; one that rounding put next to the last counts as the last.
double next_level(double candidate, double last) {
    return candidate > last * (1.0 + kSameLevel) ? candidate : last;
}

}  // namespace

void MaxMinSolver::fill() {
    ++filling_number_;
    ++counters_.fillings;
    fixed_count_ = 0;
    list_links();
    for (const std::uint32_t link : listed_) {
        hold(link);
    }
    std::sort(caps_.begin(), caps_.end(), [](const Level& a, const Level& b) {
        return a.level < b.level || (a.level == b.level && a.index < b.index);
    });
    next_cap_ = 0;
    if (listed_.size() <= kScanLimit) {
        fill_by_scan();
    } else {
        fill_by_heap();
    }
    for (const std::uint32_t link : listed_) {
        links_[link].load = links_[link].capacity - links_[link].residual;
    }
}

void MaxMinSolver::list_links() {
    listed_.clear();
    caps_.clear();
    for (const Freed& freed : freed_) {
        Flow& flow = flows_[freed.flow];
        set_bottleneck(flow, kNone);
        const Terms& terms = terms_[flow.terms];
        if (terms.cap != kInfinity) {
            caps_.push_back({terms.cap / terms.weight, freed.flow});
        }
        for (const std::uint32_t lane : lanes_of(flow)) {
            LinkState& link = links_[lanes_[lane].link];
            if (link.listed_in != filling_number_) {
                link.listed_in = filling_number_;
                listed_.push_back(lanes_[lane].link);
                link.free_load = 0.0;
                link.free_share = 0.0;
                link.free_count = 0;
            }
            link.free_load += lanes_[lane].load * flow.rate;
            link.free_share += lanes_[lane].load * terms.weight;
            ++link.free_count;
        }
    }
}

void MaxMinSolver::hold(std::uint32_t index) {
    LinkState& link = links_[index];
    link.residual = link.capacity;
    link.fill_level = kInfinity;
    tidy(index);
    if (link.free_count == link.active) {
        link.largest = 0.0;
        link.smallest_held = kInfinity;
        link.additions = 0;
        link.is_summed = true;
        link.is_loose = false;
        return;
    }
    link.additions += link.free_count;
    if (link.additions > std::max(kAdditions, link.active)) {
        sum_up(index);
    } else {
        link.residual -= link.load - link.free_load;
        link.is_summed = false;
    }
    link.smallest_held = link.bottlenecked > 0 ? link.lowest : kInfinity;
    link.is_loose = link.is_loose || link.bottlenecked == 0;
}

double MaxMinSolver::filled_at(std::uint32_t index) const {
    const LinkState& link = links_[index];
    if (link.is_summed) {
        return level_of(link.residual, link.free_share);
    }
    // Every addition to a sum of at most the capacity errs by at most half a unit in its last place.
    const double additions = static_cast<double>(link.additions) + static_cast<double>(link.active);
    return level_of(link.residual - link.capacity * 0x1p-52 * additions, link.free_share);
}

void MaxMinSolver::sum_up(std::uint32_t index) {
    LinkState& link = links_[index];
    double held = 0.0;
    fixed_.clear();
    for_each_crossing(index, [&](std::uint32_t, const Flow& flow, double load) {
        if (flow.freed_in != update_) {
            held += load * flow.rate;
        } else if (flow.bottleneck != kNone) {
            fixed_.push_back({flow.fixed_as, load * flow.rate});
        }
    });
    std::sort(fixed_.begin(), fixed_.end(), [](const Fixed& a, const Fixed& b) { return a.order < b.order; });
    link.residual = link.capacity - held;
    for (const Fixed& fixed : fixed_) {
        link.residual -= fixed.load;
    }
    link.additions = link.free_count;
    link.is_summed = true;
}

bool MaxMinSolver::fix_at_cap(double level) {
    while (next_cap_ < caps_.size() && caps_[next_cap_].level <= level) {
        const Level& cap = caps_[next_cap_++];
        Flow& flow = flows_[cap.index];
        if (flow.bottleneck == kNone) {
            fix(flow, cap.level, terms_[flow.terms].cap, kAtCap);
            return true;
        }
    }
    return false;
}

void MaxMinSolver::fill_by_scan() {
    filling_ = listed_;
    double level = 0.0;
    for (;;) {
        double lowest = kInfinity;
        std::uint32_t first = kNone;
        for (std::size_t i = 0; i < filling_.size();) {
            const LinkState& state = links_[filling_[i]];
            if (state.free_count == 0) {
                filling_[i] = filling_.back();
                filling_.pop_back();
                continue;
            }
            const double candidate = filled_at(filling_[i]);
            if (candidate < lowest) {
                lowest = candidate;
                first = filling_[i];
            }
            ++i;
        }
        if (first == kNone) {
            return;
        }
        if (!links_[first].is_summed) {
            sum_up(first);
            continue;
        }
        if (!fix_at_cap(lowest)) {
            level = next_level(lowest, level);
            fix_on_link(first, level);
        }
    }
}

void MaxMinSolver::fill_by_heap() {
    const auto later = [](const Level& a, const Level& b) {
        return a.level > b.level || (a.level == b.level && a.index > b.index);
    };
    heap_.clear();
    for (const std::uint32_t link : listed_) {
        heap_.push_back({filled_at(link), link});
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
    double level = 0.0;
    while (!heap_.empty()) {
        const Level lowest = heap_.front();
        const LinkState& state = links_[lowest.index];
        const bool is_filling = state.free_count > 0;
        if (is_filling && !state.is_summed) {
            sum_up(lowest.index);
            std::pop_heap(heap_.begin(), heap_.end(), later);
            heap_.back().level = filled_at(lowest.index);
            std::push_heap(heap_.begin(), heap_.end(), later);
            continue;
        }
        const double candidate = is_filling ? level_of(state.residual, state.free_share) : 0.0;
        const bool has_risen = candidate > lowest.level * (1.0 + kSameLevel);
        if (is_filling && !has_risen && fix_at_cap(candidate)) {
            continue;
        }
        std::pop_heap(heap_.begin(), heap_.end(), later);
        if (is_filling && has_risen) {
            heap_.back().level = candidate;
            std::push_heap(heap_.begin(), heap_.end(), later);
            continue;
        }
        heap_.pop_back();
        if (is_filling) {
            level = next_level(candidate, level);
            fix_on_link(lowest.index, level);
        }
    }
}

void MaxMinSolver::fix_on_link(std::uint32_t link, double level) {
    links_[link].fill_level = level;
    if (level >= links_[link].largest) {
        links_[link].is_loose = false;
    }
    for_each_crossing(link, [&](std::uint32_t index, const Flow& flow, double) {
        if (flow.freed_in == update_ && flow.bottleneck == kNone) {
            fix(flows_[index], level, weight_of(flow) * level, link);
        }
    });
    links_[link].lowest = std::min(links_[link].lowest, level);
}

void MaxMinSolver::fix(Flow& flow, double level, double rate, std::uint32_t bottleneck) {
    flow.rate = rate;
    flow.fixed_as = fixed_count_++;
    set_bottleneck(flow, bottleneck);
    const double weight = weight_of(flow);
    for (const std::uint32_t lane : lanes_of(flow)) {
        LinkState& link = links_[lanes_[lane].link];
        link.residual -= lanes_[lane].load * rate;
        link.free_share -= lanes_[lane].load * weight;
        link.largest = std::max(link.largest, level);
        --link.free_count;
    }
}

bool MaxMinSolver::enlarge() {
    const std::size_t before = freed_.size();
    for (const std::uint32_t index : listed_) {
        const LinkState& link = links_[index];
        const auto threshold_of = [&link] { return link.largest * (1.0 - kCriterion); };
        const auto is_fair = [&] {
            const bool is_bottleneck = is_full(link) && link.smallest_held >= threshold_of();
            return link.fill_level >= threshold_of() && (is_bottleneck || link.smallest_held == kInfinity);
        };
        if (is_fair()) {
            continue;
        }
        measure_levels(index);
        if (is_fair()) {
            continue;
        }
        const double threshold = threshold_of();
        for_each_crossing(index, [&](std::uint32_t number, const Flow& flow, double) {
            const double weight = weight_of(flow);
            const bool lost_bottleneck =
                flow.bottleneck == index && (!is_full(link) || flow.rate < weight * threshold);
            const bool takes_too_much = flow.rate > weight * link.fill_level * (1.0 + kCriterion);
            if (lost_bottleneck || takes_too_much) {
                free(number);
            }
        });
    }
    return freed_.size() > before;
}

}  // namespace astrolabe::network
