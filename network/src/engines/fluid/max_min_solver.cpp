#include "max_min_solver.hpp"

#include "max_min_arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// One active flow in this many freed, and freeing all is cheaper than finding out which others to free.
constexpr std::size_t kWholeFraction = 8;

constexpr std::size_t kRecentTerms = 16;

}  // namespace

MaxMinSolver::MaxMinSolver(std::vector<double> capacities, Strategy strategy)
    : strategy_(strategy),
      links_(capacities.size()) {
    for (std::size_t i = 0; i < capacities.size(); ++i) {
        links_[i].capacity = capacities[i];
    }
}

std::uint32_t MaxMinSolver::lane_of(const ClassLeg& leg) {
    LinkState& link = links_[leg.link_class];
    if (link.first_lane != kNone && lanes_[link.first_lane].load == leg.load) {
        return link.first_lane;
    }
    const auto [entry, is_new] = lane_index_.try_emplace(leg, static_cast<std::uint32_t>(lanes_.size()));
    if (is_new) {
        Lane lane;
        lane.load = leg.load;
        lane.link = leg.link_class;
        lane.next = std::exchange(link.first_lane, entry->second);
        lanes_.push_back(std::move(lane));
    }
    return entry->second;
}

std::uint32_t MaxMinSolver::number_of(const Terms& terms) {
    // Kept twice where many others came between.
    for (std::size_t i = terms_.size(); i > 0 && i + kRecentTerms > terms_.size(); --i) {
        if (terms_[i - 1] == terms) {
            return static_cast<std::uint32_t>(i - 1);
        }
    }
    terms_.push_back(terms);
    return static_cast<std::uint32_t>(terms_.size() - 1);
}

MaxMinSolver::FlowId MaxMinSolver::add_flow(std::span<const ClassLeg> route, const Terms& terms) {
    ASTROLABE_ASSERT(terms.weight > 0.0 && terms.cap >= 0.0, "a flow has a weight and a cap");
    Flow flow;
    flow.first_leg = static_cast<std::uint32_t>(legs_.size());
    flow.leg_count = static_cast<std::uint32_t>(route.size());
    flow.terms = number_of(terms);
    for (const ClassLeg& leg : route) {
        legs_.push_back(lane_of(leg));
    }
    flows_.push_back(flow);
    return FlowId(flows_.size() - 1);
}

void MaxMinSolver::reserve(std::size_t flows, std::size_t legs) {
    flows_.reserve(flows);
    legs_.reserve(legs);
}

void MaxMinSolver::touch(std::uint32_t link) {
    if (!links_[link].is_dirty) {
        links_[link].is_dirty = true;
        dirty_.push_back(link);
    }
}

void MaxMinSolver::start(FlowId id) {
    Flow& flow = flows_[id.index()];
    ASTROLABE_ASSERT(flow.active_slot == kNone, "only an idle flow starts");
    ASTROLABE_ASSERT(flow.leg_count > 0, "a flow that uses no link has no rate");
    flow.active_slot = static_cast<std::uint32_t>(active_.size());
    active_.push_back(id.index());
    started_.push_back(id.index());
    for (const std::uint32_t lane : lanes_of(flow)) {
        std::vector<Crossing>& crossings = lanes_[lane].crossings;
        if (crossings.size() == crossings.capacity()) {
            strike_off_stopped(lanes_[lane]);
        }
        crossings.push_back({id.index(), flow.starts});
        LinkState& link = links_[lanes_[lane].link];
        ++link.active;
        link.gains = true;
        touch(lanes_[lane].link);
    }
}

void MaxMinSolver::stop(FlowId id) {
    Flow& flow = flows_[id.index()];
    ASTROLABE_ASSERT(flow.active_slot != kNone, "only an active flow stops");
    set_bottleneck(flow, kNone);
    ++flow.starts;
    for (const std::uint32_t number : lanes_of(flow)) {
        Lane& lane = lanes_[number];
        LinkState& link = links_[lane.link];
        --link.active;
        link.load = link.active == 0 ? 0.0 : link.load - lane.load * flow.rate;
        ++link.additions;
        if (link.bottlenecked > 0 || strategy_ == Strategy::kWholeNetwork) {
            touch(lane.link);
        }
        ++lane.stale;
        if (lane.stale == lane.crossings.size()) {
            lane.crossings.clear();
            lane.stale = 0;
        }
    }
    active_[flow.active_slot] = active_.back();
    flows_[active_.back()].active_slot = flow.active_slot;
    active_.pop_back();
    flow.active_slot = kNone;
    flow.rate = 0.0;
}

void MaxMinSolver::strike_off_stopped(Lane& lane) {
    if (2 * lane.stale > lane.crossings.size()) {
        std::erase_if(lane.crossings, [this](const Crossing& crossing) {
            return flows_[crossing.flow].starts != crossing.starts;
        });
        lane.stale = 0;
    }
}

void MaxMinSolver::tidy(std::uint32_t link) {
    for (std::uint32_t lane = links_[link].first_lane; lane != kNone; lane = lanes_[lane].next) {
        strike_off_stopped(lanes_[lane]);
    }
}

double MaxMinSolver::load(std::uint32_t link) const {
    double sum = 0.0;
    for_each_crossing(link,
                      [&sum](std::uint32_t, const Flow& flow, double load) { sum += load * flow.rate; });
    return sum;
}

bool MaxMinSolver::is_full(const LinkState& link) const {
    return link.load >= link.capacity * (1.0 - kCriterion);
}

void MaxMinSolver::set_bottleneck(Flow& flow, std::uint32_t bottleneck) {
    if (flow.bottleneck < kAtCap) {
        --links_[flow.bottleneck].bottlenecked;
    }
    flow.bottleneck = bottleneck;
    if (bottleneck < kAtCap) {
        LinkState& link = links_[bottleneck];
        if (++link.bottlenecked == 1) {
            link.lowest = std::numeric_limits<double>::infinity();
        }
    }
}

void MaxMinSolver::measure_levels(std::uint32_t index) {
    LinkState& link = links_[index];
    link.largest = 0.0;
    link.lowest = std::numeric_limits<double>::infinity();
    link.smallest_held = std::numeric_limits<double>::infinity();
    link.is_loose = false;
    for_each_crossing(index, [&](std::uint32_t, const Flow& flow, double) {
        const double level = flow.rate / weight_of(flow);
        link.largest = std::max(link.largest, level);
        if (flow.bottleneck == index) {
            link.lowest = std::min(link.lowest, level);
            if (flow.freed_in != update_) {
                link.smallest_held = std::min(link.smallest_held, level);
            }
        }
    });
}

bool MaxMinSolver::limits(std::uint32_t index, const Flow& flow) {
    const LinkState& link = links_[index];
    const auto has_largest = [&] { return flow.rate >= weight_of(flow) * link.largest * (1.0 - kCriterion); };
    if (!is_full(link)) {
        return false;
    }
    if (!has_largest() && link.is_loose) {
        measure_levels(index);
    }
    return has_largest();
}

void MaxMinSolver::free(std::uint32_t index) {
    Flow& flow = flows_[index];
    if (flow.freed_in != update_) {
        flow.freed_in = update_;
        freed_.push_back({index, flow.rate});
    }
}

void MaxMinSolver::free_all() {
    for (const std::uint32_t flow : active_) {
        free(flow);
    }
    ++counters_.whole_network;
}

bool MaxMinSolver::is_alone(const Flow& flow) const {
    const auto lanes = lanes_of(flow);
    return std::all_of(lanes.begin(), lanes.end(),
                       [this](std::uint32_t lane) { return links_[lanes_[lane].link].active == 1; });
}

bool MaxMinSolver::starts_anew() const {
    if (kWholeFraction * started_.size() <= active_.size()) {
        return false;
    }
    std::size_t together = 0;
    for (const std::uint32_t index : started_) {
        const Flow& flow = flows_[index];
        together += flow.active_slot != kNone && !is_alone(flow) ? 1 : 0;
    }
    return kWholeFraction * together > active_.size();
}

void MaxMinSolver::find_other_bottlenecks(std::uint32_t link) {
    tidy(link);
    for_each_crossing(link, [&](std::uint32_t index, const Flow& flow, double) {
        if (flow.bottleneck != link) {
            return;
        }
        for (const std::uint32_t lane : lanes_of(flow)) {
            const std::uint32_t other = lanes_[lane].link;
            if (limits(other, flow)) {
                set_bottleneck(flows_[index], other);
                links_[other].lowest = std::min(links_[other].lowest, flow.rate / weight_of(flow));
                return;
            }
        }
        free(index);
    });
}

void MaxMinSolver::free_what_changed() {
    for (const std::uint32_t link : dirty_) {
        const LinkState& state = links_[link];
        if (!state.gains && state.bottlenecked > 0) {
            find_other_bottlenecks(link);
        }
    }
    for (const std::uint32_t link : dirty_) {
        const LinkState& state = links_[link];
        if (state.gains && state.bottlenecked > 0) {
            tidy(link);
            for_each_crossing(link, [&](std::uint32_t index, const Flow& flow, double) {
                if (flow.bottleneck == link) {
                    free(index);
                }
            });
        }
    }
}

void MaxMinSolver::serve_alone(std::uint32_t index) {
    Flow& flow = flows_[index];
    const Terms& terms = terms_[flow.terms];
    double level = terms.cap / terms.weight;
    std::uint32_t bottleneck = kAtCap;
    for (const std::uint32_t lane : lanes_of(flow)) {
        const double candidate = links_[lanes_[lane].link].capacity / (lanes_[lane].load * terms.weight);
        if (candidate < level) {
            level = candidate;
            bottleneck = lanes_[lane].link;
        }
    }
    flow.rate = bottleneck == kAtCap ? terms.cap : terms.weight * level;
    set_bottleneck(flow, bottleneck);
    for (const std::uint32_t lane : lanes_of(flow)) {
        LinkState& link = links_[lanes_[lane].link];
        link.load = lanes_[lane].load * flow.rate;
        link.additions = 0;
        link.largest = level;
        link.lowest = level;
        link.is_loose = false;
    }
    ++counters_.alone;
    if (flow.rate > 0.0) {
        changed_.push_back(FlowId(index));
    }
}

void MaxMinSolver::admit_started() {
    for (const std::uint32_t index : started_) {
        const Flow& flow = flows_[index];
        // One that stopped and started again is listed twice.
        if (flow.active_slot == kNone || flow.bottleneck != kNone) {
            continue;
        }
        if (is_alone(flow)) {
            serve_alone(index);
        } else {
            free(index);
        }
    }
}

void MaxMinSolver::clear_marks() {
    for (const std::uint32_t link : dirty_) {
        LinkState& state = links_[link];
        state.is_dirty = false;
        state.gains = false;
    }
    dirty_.clear();
    started_.clear();
}

std::span<const MaxMinSolver::FlowId> MaxMinSolver::update() {
    changed_.clear();
    if (dirty_.empty()) {
        return changed_;
    }
    if (++update_ == 0) {
        for (Flow& flow : flows_) {
            flow.freed_in = 0;
        }
        ++update_;
    }
    ++counters_.updates;
    freed_.clear();
    if (strategy_ == Strategy::kLocal && !starts_anew()) {
        free_what_changed();
        admit_started();
    } else {
        free_all();
    }
    clear_marks();
    for (bool settled = freed_.empty(); !settled;) {
        if (freed_.size() < active_.size() && kWholeFraction * freed_.size() > active_.size()) {
            free_all();
        }
        fill();
        settled = freed_.size() == active_.size() || !enlarge();
    }
    collect_changes();
    return changed_;
}

void MaxMinSolver::collect_changes() {
    counters_.freed += freed_.size();
    for (const Freed& freed : freed_) {
        Flow& flow = flows_[freed.flow];
        if (flow.rate == freed.rate_before) {
            continue;
        }
        if (std::abs(flow.rate - freed.rate_before) <= kSameLevel * freed.rate_before) {
            for (const std::uint32_t lane : lanes_of(flow)) {
                LinkState& link = links_[lanes_[lane].link];
                link.load += lanes_[lane].load * (freed.rate_before - flow.rate);
                ++link.additions;
            }
            flow.rate = freed.rate_before;
        } else {
            changed_.push_back(FlowId(freed.flow));
        }
    }
}

}  // namespace astrolabe::network
