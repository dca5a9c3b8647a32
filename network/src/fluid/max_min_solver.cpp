#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/fluid/max_min_solver.hpp>

namespace astrolabe::network {

namespace {

constexpr double kSameLevel = 1e-12;
constexpr double kCriterion = 1e-11;

/// One active flow in this many freed, and freeing all is cheaper than finding out which others to free.
constexpr std::size_t kWholeFraction = 8;

/// Rounding can leave a full link a trifle below zero.
double level_of(double residual, double free_share) {
    return std::max(residual, 0.0) / free_share;
}

/// Levels never fall while filling; one that rounding put next to the last counts as the last.
double next_level(double candidate, double last) {
    return candidate > last * (1.0 + kSameLevel) ? candidate : last;
}

}  // namespace

MaxMinSolver::MaxMinSolver(std::vector<double> capacities, Strategy strategy)
    : strategy_(strategy),
      links_(capacities.size()) {
    for (std::size_t i = 0; i < capacities.size(); ++i) {
        links_[i].capacity = capacities[i];
    }
}

MaxMinSolver::FlowId MaxMinSolver::add_flow(std::span<const ClassLeg> route) {
    ASTROLABE_ASSERT(!route.empty(), "a flow that uses no link has no rate");
    Flow flow;
    flow.first_leg = static_cast<std::uint32_t>(legs_.size());
    flow.leg_count = static_cast<std::uint32_t>(route.size());
    for (const ClassLeg& leg : route) {
        legs_.push_back({leg.load, leg.link_class, kNone});
    }
    flows_.push_back(flow);
    return FlowId(flows_.size() - 1);
}

void MaxMinSolver::touch(std::uint32_t link) {
    if (!links_[link].dirty) {
        links_[link].dirty = true;
        dirty_.push_back(link);
    }
}

void MaxMinSolver::start(FlowId id) {
    Flow& flow = flows_[id.index()];
    ASTROLABE_ASSERT(flow.active_slot == kNone, "only an idle flow starts");
    flow.active_slot = static_cast<std::uint32_t>(active_.size());
    active_.push_back(id.index());
    started_.push_back(id.index());
    for (std::uint32_t i = flow.first_leg; i < flow.first_leg + flow.leg_count; ++i) {
        std::vector<Crossing>& crossings = links_[legs_[i].link].crossings;
        legs_[i].slot = static_cast<std::uint32_t>(crossings.size());
        crossings.push_back({legs_[i].share, id.index(), i});
        touch(legs_[i].link);
    }
}

void MaxMinSolver::stop(FlowId id) {
    Flow& flow = flows_[id.index()];
    ASTROLABE_ASSERT(flow.active_slot != kNone, "only an active flow stops");
    for (std::uint32_t i = flow.first_leg; i < flow.first_leg + flow.leg_count; ++i) {
        std::vector<Crossing>& crossings = links_[legs_[i].link].crossings;
        const std::uint32_t slot = legs_[i].slot;
        crossings[slot] = crossings.back();
        legs_[crossings[slot].leg].slot = slot;
        crossings.pop_back();
        touch(legs_[i].link);
    }
    active_[flow.active_slot] = active_.back();
    flows_[active_.back()].active_slot = flow.active_slot;
    active_.pop_back();
    flow.active_slot = kNone;
    flow.rate = 0.0;
    flow.bottleneck = kNone;
}

void MaxMinSolver::set_capacity(std::uint32_t link, double capacity) {
    LinkState& state = links_[link];
    if (state.capacity != capacity) {
        state.capacity = capacity;
        state.capacity_changed = true;
        touch(link);
    }
}

double MaxMinSolver::load(std::uint32_t link) const {
    double sum = 0.0;
    for (const Crossing& crossing : links_[link].crossings) {
        sum += crossing.share * flows_[crossing.flow].rate;
    }
    return sum;
}

void MaxMinSolver::free(std::uint32_t index) {
    Flow& flow = flows_[index];
    if (flow.freed_in != update_) {
        flow.freed_in = update_;
        flow.rate_before = flow.rate;
        freed_.push_back(index);
    }
}

void MaxMinSolver::free_what_changed() {
    for (const std::uint32_t flow : started_) {
        if (flows_[flow].active_slot != kNone) {
            free(flow);
        }
    }
    started_.clear();
    for (const std::uint32_t link : dirty_) {
        LinkState& state = links_[link];
        for (const Crossing& crossing : state.crossings) {
            if (state.capacity_changed || flows_[crossing.flow].bottleneck == link) {
                free(crossing.flow);
            }
        }
        state.dirty = false;
        state.capacity_changed = false;
    }
    dirty_.clear();
}

std::span<const MaxMinSolver::FlowId> MaxMinSolver::update() {
    changed_.clear();
    if (dirty_.empty()) {
        return changed_;
    }
    ++update_;
    ++counters_.updates;
    freed_.clear();
    free_what_changed();
    if (freed_.empty()) {
        return changed_;
    }
    for (bool settled = false; !settled;) {
        const bool whole =
            strategy_ == Strategy::kWholeNetwork || kWholeFraction * freed_.size() > active_.size();
        if (whole) {
            for (const std::uint32_t flow : active_) {
                free(flow);
            }
            ++counters_.whole_network;
        }
        fill();
        settled = whole || !enlarge();
    }
    collect_changes();
    return changed_;
}

void MaxMinSolver::fill() {
    ++filling_number_;
    ++counters_.fillings;
    listed_.clear();
    for (const std::uint32_t index : freed_) {
        const Flow& flow = flows_[index];
        for (std::uint32_t i = flow.first_leg; i < flow.first_leg + flow.leg_count; ++i) {
            const std::uint32_t link = legs_[i].link;
            if (links_[link].listed_in != filling_number_) {
                links_[link].listed_in = filling_number_;
                listed_.push_back(link);
            }
        }
    }
    for (const std::uint32_t link : listed_) {
        LinkState& state = links_[link];
        double held = 0.0;
        state.free_share = 0.0;
        state.free_count = 0;
        for (const Crossing& crossing : state.crossings) {
            const Flow& flow = flows_[crossing.flow];
            if (flow.freed_in == update_) {
                state.free_share += crossing.share;
                ++state.free_count;
            } else {
                held += crossing.share * flow.rate;
            }
        }
        state.residual = state.capacity - held;
    }
    if (listed_.size() <= kScanLimit) {
        fill_by_scan();
    } else {
        fill_by_heap();
    }
}

void MaxMinSolver::fill_by_scan() {
    filling_ = listed_;
    double level = 0.0;
    for (;;) {
        double lowest = std::numeric_limits<double>::infinity();
        std::uint32_t first = kNone;
        for (std::size_t i = 0; i < filling_.size();) {
            const LinkState& state = links_[filling_[i]];
            if (state.free_count == 0) {
                filling_[i] = filling_.back();
                filling_.pop_back();
                continue;
            }
            const double candidate = level_of(state.residual, state.free_share);
            if (candidate < lowest) {
                lowest = candidate;
                first = filling_[i];
            }
            ++i;
        }
        if (first == kNone) {
            return;
        }
        level = next_level(lowest, level);
        fix(first, level);
    }
}

void MaxMinSolver::fill_by_heap() {
    const auto later = [](const Level& a, const Level& b) {
        return a.level > b.level || (a.level == b.level && a.link > b.link);
    };
    heap_.clear();
    for (const std::uint32_t link : listed_) {
        heap_.push_back({level_of(links_[link].residual, links_[link].free_share), link});
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
    double level = 0.0;
    while (!heap_.empty()) {
        const Level lowest = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
        const LinkState& state = links_[lowest.link];
        if (state.free_count == 0) {
            continue;
        }
        const double candidate = level_of(state.residual, state.free_share);
        if (candidate > lowest.level * (1.0 + kSameLevel)) {
            heap_.push_back({candidate, lowest.link});
            std::push_heap(heap_.begin(), heap_.end(), later);
            continue;
        }
        level = next_level(candidate, level);
        fix(lowest.link, level);
    }
}

void MaxMinSolver::fix(std::uint32_t link, double level) {
    for (const Crossing& crossing : links_[link].crossings) {
        Flow& flow = flows_[crossing.flow];
        if (flow.freed_in != update_ || flow.fixed_in == filling_number_) {
            continue;
        }
        flow.fixed_in = filling_number_;
        flow.rate = level;
        flow.bottleneck = link;
        for (std::uint32_t i = flow.first_leg; i < flow.first_leg + flow.leg_count; ++i) {
            LinkState& state = links_[legs_[i].link];
            state.residual -= legs_[i].share * level;
            state.free_share -= legs_[i].share;
            --state.free_count;
        }
    }
}

bool MaxMinSolver::enlarge() {
    const std::size_t before = freed_.size();
    for (const std::uint32_t link : listed_) {
        const LinkState& state = links_[link];
        double load = 0.0;
        double largest = 0.0;
        // The smallest rate among the flows that call this link their bottleneck, freed and held.
        double smallest_freed = std::numeric_limits<double>::infinity();
        double smallest_held = std::numeric_limits<double>::infinity();
        for (const Crossing& crossing : state.crossings) {
            const Flow& flow = flows_[crossing.flow];
            load += crossing.share * flow.rate;
            largest = std::max(largest, flow.rate);
            if (flow.bottleneck == link) {
                double& smallest = flow.freed_in == update_ ? smallest_freed : smallest_held;
                smallest = std::min(smallest, flow.rate);
            }
        }
        const bool saturated = load >= state.capacity * (1.0 - kCriterion);
        const double threshold = largest * (1.0 - kCriterion);
        const bool has_held = smallest_held != std::numeric_limits<double>::infinity();
        if (smallest_freed >= threshold && smallest_held >= threshold && (saturated || !has_held)) {
            continue;
        }
        for (const Crossing& crossing : state.crossings) {
            const Flow& flow = flows_[crossing.flow];
            const bool lost_bottleneck = flow.bottleneck == link && (!saturated || flow.rate < threshold);
            const bool takes_too_much = flow.rate > smallest_freed * (1.0 + kCriterion);
            if (lost_bottleneck || takes_too_much) {
                free(crossing.flow);
            }
        }
    }
    return freed_.size() > before;
}

void MaxMinSolver::collect_changes() {
    counters_.freed += freed_.size();
    for (const std::uint32_t index : freed_) {
        Flow& flow = flows_[index];
        if (std::abs(flow.rate - flow.rate_before) <= kSameLevel * flow.rate_before) {
            flow.rate = flow.rate_before;
        } else {
            changed_.push_back(FlowId(index));
        }
    }
}

}  // namespace astrolabe::network
