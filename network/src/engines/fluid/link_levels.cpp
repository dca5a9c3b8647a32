#include "link_levels.hpp"

#include "max_min_arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

LinkLevels::LinkLevels(std::vector<double> capacities, double slack)
    : slack_(slack),
      links_(capacities.size()),
      crossings_(capacities.size()) {
    ASTROLABE_ASSERT(slack >= 0.0 && slack < 1.0, "slack is a part of a level");
    for (std::size_t i = 0; i < capacities.size(); ++i) {
        links_[i].capacity = capacities[i];
    }
}

void LinkLevels::add_flow(std::span<const ClassLeg> route) {
    for (const ClassLeg& leg : route) {
        leg_links_.push_back(leg.link_class);
        leg_loads_.push_back(leg.load);
        leg_places_.push_back(kNone);
    }
    first_legs_.push_back(static_cast<std::uint32_t>(leg_links_.size()));
    bottlenecks_.push_back(kNone);
    moved_in_.push_back(0);
}

void LinkLevels::reserve(std::size_t flows, std::size_t legs) {
    first_legs_.reserve(flows + 1);
    bottlenecks_.reserve(flows);
    moved_in_.reserve(flows);
    leg_links_.reserve(legs);
    leg_loads_.reserve(legs);
    leg_places_.reserve(legs);
}

void LinkLevels::start(std::uint32_t flow) {
    const std::uint32_t first = first_legs_[flow];
    ASTROLABE_ASSERT(first < first_legs_[flow + 1], "a flow that uses no link has no rate");
    ASTROLABE_ASSERT(leg_places_[first] == kNone, "only an idle flow starts");
    for (std::uint32_t leg = first; leg < first_legs_[flow + 1]; ++leg) {
        std::vector<Crossing>& crossings = crossings_[leg_links_[leg]];
        leg_places_[leg] = static_cast<std::uint32_t>(crossings.size());
        crossings.push_back({flow, leg});
        touch(leg_links_[leg]);
    }
    ++active_;
    started_.push_back(flow);
}

void LinkLevels::stop(std::uint32_t flow) {
    const std::uint32_t first = first_legs_[flow];
    ASTROLABE_ASSERT(leg_places_[first] != kNone, "only an active flow stops");
    const std::uint32_t bottleneck = std::exchange(bottlenecks_[flow], kNone);
    const double rate = bottleneck == kNone ? 0.0 : links_[bottleneck].level;
    for (std::uint32_t leg = first; leg < first_legs_[flow + 1]; ++leg) {
        const std::uint32_t link = leg_links_[leg];
        std::vector<Crossing>& crossings = crossings_[link];
        if (link == bottleneck) {
            drop_own(link, leg);
        } else {
            links_[link].held.add(-leg_loads_[leg] * rate);
        }
        swap_places(link, leg_places_[leg], static_cast<std::uint32_t>(crossings.size() - 1));
        crossings.pop_back();
        leg_places_[leg] = kNone;
        if (links_[link].own_count > 0) {
            touch(link);
        }
    }
    --active_;
}

double LinkLevels::load(std::uint32_t link) const {
    double sum = 0.0;
    for (const Crossing& crossing : crossings_[link]) {
        sum += leg_loads_[crossing.leg] * rate(crossing.flow);
    }
    return sum;
}

bool LinkLevels::is_alone(std::uint32_t flow) const {
    for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
        if (crossings_[leg_links_[leg]].size() > 1) {
            return false;
        }
    }
    return true;
}

void LinkLevels::serve_alone(std::uint32_t flow) {
    double level = kInfinity;
    std::uint32_t bottleneck = kNone;
    for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
        const double candidate = links_[leg_links_[leg]].capacity / leg_loads_[leg];
        if (candidate < level) {
            level = candidate;
            bottleneck = leg_links_[leg];
        }
    }
    for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
        Link& link = links_[leg_links_[leg]];
        link.held = {};
        if (leg_links_[leg] == bottleneck) {
            note(bottleneck);
            set_own(bottleneck, leg);
        } else {
            link.held.most = leg_loads_[leg] * level;
        }
    }
    links_[bottleneck].level = level;
    bottlenecks_[flow] = bottleneck;
    ++counters_.alone;
}

double LinkLevels::key_of(const Link& link) const {
    if (link.own_count == 0 && link.free_count == 0) {
        // Those that others limit may together be more than it has: it takes over those with most.
        const bool has_room = left_of(link) >= -kSameLevel * link.capacity;
        return has_room ? kInfinity : 0.0;
    }
    if (link.own_count == 0) {
        return filled_at(link);
    }
    const double filled = filled_at(link);
    if (filled < link.level * (1.0 - kSameLevel)) {
        return filled;
    }
    const bool stays = link.free_count == 0 && filled <= link.level * (1.0 + kSameLevel + slack_);
    return stays ? kInfinity : link.level;
}

void LinkLevels::push(std::uint32_t link, double key) {
    links_[link].queued = key;
    queue_.push_back({key, link});
    std::push_heap(queue_.begin(), queue_.end(), comes_later);
}

void LinkLevels::queue_touched() {
    for (const std::uint32_t link : touched_) {
        links_[link].is_touched = false;
        const double key = key_of(links_[link]);
        if (key < links_[link].queued) {
            push(link, key);
        }
    }
    touched_.clear();
}

double LinkLevels::fair_level(std::uint32_t index) {
    const Link& link = links_[index];
    const bool is_shared = link.own_count + link.free_count > 0;
    double fair = is_shared ? filled_at(link) : 0.0;
    const std::vector<Crossing>& crossings = crossings_[index];
    if (link.own_count + link.free_count == crossings.size() ||
        (link.own_count > 0 && fair >= link.level * (1.0 - kSameLevel))) {
        return fair;  // nobody has more
    }
    // Whoever has more takes part, but for those that then have less.
    above_.clear();
    double left = left_of(link);
    double share = link.own.value() + link.free;
    for (std::size_t i = link.own_count; i < crossings.size(); ++i) {
        const std::uint32_t bottleneck = bottlenecks_[crossings[i].flow];
        if (bottleneck != kNone && links_[bottleneck].level > fair * (1.0 + kSameLevel)) {
            above_.push_back({links_[bottleneck].level, leg_loads_[crossings[i].leg]});
            left += above_.back().load * above_.back().level;
            share += above_.back().load;
        }
    }
    if (above_.empty()) {
        return fair;
    }
    std::sort(above_.begin(), above_.end(), [](const Share& a, const Share& b) { return a.level < b.level; });
    fair = std::max(left, 0.0) / share;
    for (const Share& above : above_) {
        if (above.level > fair * (1.0 + kSameLevel)) {
            break;
        }
        left -= above.load * above.level;
        share -= above.load;
        fair = std::max(left, 0.0) / share;
    }
    return fair;
}

void LinkLevels::settle(std::uint32_t index, double key) {
    Link& link = links_[index];
    const double fair = fair_level(index);
    const bool has_level = link.own_count > 0;
    const bool falls = has_level && fair < link.level * (1.0 - kSameLevel);
    const bool rises = has_level && fair > link.level * (1.0 + kSameLevel + slack_);
    double level = has_level && !falls ? link.level : fair;
    if (level > key * (1.0 + kSameLevel)) {
        push(index, level);
        return;
    }
    if (rises) {
        if (!raise(index, fair)) {
            release(index);
        }
    } else if (!has_level || falls || link.free_count > 0) {
        // Levels never fall while filling; one that rounding put next to the last counts as the last, and
        // one next to that of before as that.
        if (!has_level || falls) {
            level = level > last_level_ * (1.0 + kSameLevel) ? level : last_level_;
            if (link.noted_in == update_ && !link.was_empty &&
                std::abs(level - link.level_before) <= kSameLevel * link.level_before) {
                level = link.level_before;
            }
            last_level_ = std::max(last_level_, level);
        }
        give_level(index, level);
    }
}

void LinkLevels::change_own(std::uint32_t index, double level) {
    const double before = links_[index].level;
    const std::vector<Crossing>& crossings = crossings_[index];
    const std::size_t own_count = links_[index].own_count;
    for (std::size_t i = 0; i < own_count; ++i) {
        const std::uint32_t flow = crossings[i].flow;
        for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
            const std::uint32_t other = leg_links_[leg];
            if (other != index) {
                links_[other].held.add(-leg_loads_[leg] * before);
                links_[other].held.add(leg_loads_[leg] * level);
                touch(other);
            }
        }
    }
    counters_.freed += own_count;
    links_[index].level = level;
}

void LinkLevels::give_level(std::uint32_t index, double level) {
    note(index);
    ++counters_.fillings;
    Link& link = links_[index];
    const std::vector<Crossing>& crossings = crossings_[index];
    const bool takes_over = link.own_count == 0 || level < link.level;
    const std::size_t own_count = link.own_count;
    if (own_count > 0 && level != link.level) {
        change_own(index, level);
    }
    link.level = level;
    const double larger = level * (1.0 + kSameLevel);
    for (std::size_t i = own_count; i < crossings.size() && (takes_over || link.free_count > 0); ++i) {
        const Crossing crossing = crossings[i];
        const std::uint32_t flow = crossing.flow;
        const std::uint32_t bottleneck = bottlenecks_[flow];
        const double had = bottleneck == kNone ? 0.0 : links_[bottleneck].level;
        if (bottleneck == index || (bottleneck != kNone && had <= larger)) {
            continue;
        }
        if (bottleneck == kNone) {
            drop_free(index, leg_loads_[crossing.leg]);
        } else {
            note_move(flow);
            link.held.add(-leg_loads_[crossing.leg] * had);
        }
        set_own(index, crossing.leg);
        bottlenecks_[flow] = index;
        ++counters_.freed;
        for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
            const std::uint32_t other = leg_links_[leg];
            if (other == index) {
                continue;
            }
            if (bottleneck == kNone) {
                drop_free(other, leg_loads_[leg]);
            } else if (other == bottleneck) {
                drop_own(other, leg);
            } else {
                links_[other].held.add(-leg_loads_[leg] * had);
            }
            links_[other].held.add(leg_loads_[leg] * level);
            touch(other);
        }
    }
}

bool LinkLevels::raise(std::uint32_t index, double level) {
    Link& link = links_[index];
    if (link.free_count > 0 || link.raised_in == update_) {
        return false;
    }
    const double before = link.level;
    const std::vector<Crossing>& crossings = crossings_[index];
    for (std::size_t i = 0; i < link.own_count; ++i) {
        const std::uint32_t flow = crossings[i].flow;
        for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
            const std::uint32_t other = leg_links_[leg];
            if (other != index && (links_[other].own_count > 0 || links_[other].free_count > 0 ||
                                   left_of(links_[other]) < leg_loads_[leg] * (level - before))) {
                return false;
            }
        }
    }
    note(index);
    link.raised_in = update_;
    ++counters_.fillings;
    change_own(index, level);
    for (std::size_t i = 0; i < link.own_count; ++i) {
        // Several of its flows may have crossed one other link and left it too little together.
        const std::uint32_t flow = crossings[i].flow;
        for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
            const std::uint32_t other = leg_links_[leg];
            if (other != index && left_of(links_[other]) < -links_[other].capacity * kSameLevel) {
                change_own(index, before);
                return false;
            }
        }
    }
    return true;
}

void LinkLevels::release(std::uint32_t index) {
    note(index);
    Link& link = links_[index];
    link.released_in = update_;
    const double level = link.level;
    const auto takes_over = [&](std::uint32_t other) {
        const Link& state = links_[other];
        return other != index && state.own_count > 0 && state.released_in != update_ &&
               state.level <= level * (1.0 + kCriterion);
    };
    for (std::size_t i = link.own_count; i-- > 0;) {
        const Crossing crossing = crossings_[index][i];
        const std::uint32_t flow = crossing.flow;
        note_move(flow);
        drop_own(index, crossing.leg);
        std::uint32_t next = kNone;
        for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1] && next == kNone; ++leg) {
            next = takes_over(leg_links_[leg]) ? leg_links_[leg] : kNone;
        }
        bottlenecks_[flow] = next;
        for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
            const std::uint32_t other = leg_links_[leg];
            const double load = leg_loads_[leg];
            if (other != index) {
                links_[other].held.add(-load * level);
            }
            if (next == kNone) {
                set_free(other, load);
                touch(other);
            } else if (other == next) {
                set_own(other, leg);
            } else {
                links_[other].held.add(load * links_[next].level);
            }
        }
    }
    touch(index);
}

void LinkLevels::update() {
    changed_.clear();
    moved_.clear();
    if (touched_.empty()) {
        return;
    }
    if (++update_ == 0) {
        std::fill(moved_in_.begin(), moved_in_.end(), 0);
        for (Link& link : links_) {
            link.noted_in = 0;
            link.released_in = 0;
            link.raised_in = 0;
        }
        ++update_;
    }
    ++counters_.updates;
    last_level_ = 0.0;
    std::size_t together = 0;
    for (const std::uint32_t flow : started_) {
        // One that stopped and started again is listed twice.
        const std::uint32_t first = first_legs_[flow];
        if (leg_places_[first] == kNone || moved_in_[flow] == update_) {
            continue;
        }
        note_move(flow);
        if (is_alone(flow)) {
            serve_alone(flow);
            continue;
        }
        ++together;
        for (std::uint32_t leg = first; leg < first_legs_[flow + 1]; ++leg) {
            set_free(leg_links_[leg], leg_loads_[leg]);
        }
    }
    started_.clear();
    counters_.whole_network += together > 0 && together == active_ ? 1 : 0;
    queue_touched();
    while (!queue_.empty()) {
        const Key lowest = queue_.front();
        std::pop_heap(queue_.begin(), queue_.end(), comes_later);
        queue_.pop_back();
        Link& link = links_[lowest.link];
        if (link.queued != lowest.level) {
            continue;
        }
        link.queued = kInfinity;
        const double key = key_of(link);
        if (key == kInfinity) {
            continue;
        }
        if (key > lowest.level * (1.0 + kSameLevel)) {
            push(lowest.link, key);
            continue;
        }
        settle(lowest.link, lowest.level);
        queue_touched();
    }
    collect();
}

void LinkLevels::collect() {
    for (const std::uint32_t link : noted_) {
        const Link& state = links_[link];
        if (state.own_count > 0 && (state.was_empty || state.level != state.level_before)) {
            changed_.push_back(link);
        }
    }
    noted_.clear();
    std::erase_if(moved_, [this](const Moved& moved) { return moved.from == bottlenecks_[moved.flow]; });
}

}  // namespace astrolabe::network
