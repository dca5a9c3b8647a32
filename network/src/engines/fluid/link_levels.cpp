#include "link_levels.hpp"

#include "max_min_arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// A link is queued earlier than its key by this part, as others that come before it may still lower that.
constexpr double kEarlier = 1.0 / 16384;

}  // namespace

void LinkLevels::touch(std::uint32_t link) {
    if (!links_[link].is_touched) {
        links_[link].is_touched = true;
        touched_.push_back(link);
    }
}

void LinkLevels::swap_places(std::uint32_t link, std::uint32_t one, std::uint32_t other) {
    if (one != other) {
        std::vector<Crossing>& crossings = crossings_[link];
        std::swap(crossings[one], crossings[other]);
        legs_[crossings[one].leg].place = one;
        legs_[crossings[other].leg].place = other;
    }
}

void LinkLevels::set_own(std::uint32_t link, std::uint32_t flow, const Leg& leg) {
    swap_places(link, leg.place, links_[link].own_count++);
    links_[link].own.add(leg.load);
    others_[link].unheard_to = -kInfinity;
    if (!own_loads_[link].empty()) {
        for (const Leg& other : legs_of(flow)) {
            if (other.link != link) {
                own_loads_[link].add(other.link, other.load);
            }
        }
    }
}

void LinkLevels::drop_own(std::uint32_t link, std::uint32_t flow, const Leg& leg) {
    Link& state = links_[link];
    swap_places(link, leg.place, --state.own_count);
    state.own.add(-leg.load);
    if (state.own_count == 0) {
        state.own = {};
    }
    if (own_loads_[link].empty()) {
        return;
    }
    if (state.own_count < kManyOwn / 2) {
        own_loads_[link].clear();
        return;
    }
    for (const Leg& other : legs_of(flow)) {
        if (other.link != link) {
            own_loads_[link].take(other.link, other.load);
        }
    }
}

void LinkLevels::set_bottleneck(std::uint32_t flow, std::uint32_t link) {
    const bool was_limited = std::exchange(bottlenecks_[flow], link) != kNone;
    const std::span<const Leg> legs = legs_of(flow);
    if (!is_pair(flow)) {
        for (const Leg& leg : legs) {
            crossings_[leg.link][leg.place].link = link;
        }
    } else if (was_limited != (link != kNone)) {
        for (std::size_t i = 0; i < 2; ++i) {
            crossings_[legs[i].link][legs[i].place].link = link == kNone ? kNone : legs[1 - i].link;
        }
    }
}

void LinkLevels::set_free(std::uint32_t link, double load) {
    links_[link].free.add(load);
    ++links_[link].free_count;
    others_[link].unheard_to = -kInfinity;
}

void LinkLevels::drop_free(std::uint32_t link, double load) {
    Link& state = links_[link];
    state.free.add(-load);
    if (--state.free_count == 0) {
        state.free = {};
    }
}

void LinkLevels::note(std::uint32_t link) {
    Link& state = links_[link];
    if (state.noted_in != update_) {
        state.noted_in = update_;
        state.level_before = levels_[link];
        state.was_empty = state.own_count == 0;
        noted_.push_back(link);
    }
}

void LinkLevels::note_move(std::uint32_t flow) {
    if (moved_in_[flow] != update_) {
        moved_in_[flow] = update_;
        moved_.push_back({flow, bottlenecks_[flow]});
    }
}

double LinkLevels::left_of(std::uint32_t link) const {
    const ExactSum& held = others_[link].held;
    return (links_[link].capacity - held.most) - held.rest;
}

double LinkLevels::filled_at(std::uint32_t link) const {
    // Rounding can leave a full link a trifle below zero.
    return std::max(left_of(link), 0.0) / links_[link].weight();
}

LinkLevels::LinkLevels(std::vector<double> capacities, double slack)
    : slack_(slack),
      links_(capacities.size()),
      levels_(capacities.size()),
      others_(capacities.size()),
      kept_(slack > 0.0 ? capacities.size() : 0),
      crossings_(capacities.size()),
      own_loads_(capacities.size()),
      queue_(capacities.size()) {
    ASTROLABE_ASSERT(slack >= 0.0 && slack < 1.0, "slack is a part of a level");
    for (std::size_t i = 0; i < capacities.size(); ++i) {
        links_[i].capacity = capacities[i];
    }
}

void LinkLevels::add_flow(std::span<const ClassLeg> route) {
    for (const ClassLeg& leg : route) {
        legs_.push_back({leg.load, leg.link_class, kNone});
        links_[leg.link_class].has_parts = links_[leg.link_class].has_parts || leg.load != 1.0;
    }
    first_legs_.push_back(static_cast<std::uint32_t>(legs_.size()));
    bottlenecks_.push_back(kNone);
    moved_in_.push_back(0);
}

void LinkLevels::reserve(std::size_t flows, std::size_t legs) {
    first_legs_.reserve(flows + 1);
    bottlenecks_.reserve(flows);
    moved_in_.reserve(flows);
    legs_.reserve(legs);
}

void LinkLevels::start(std::uint32_t flow) {
    const std::uint32_t first = first_legs_[flow];
    ASTROLABE_ASSERT(first < first_legs_[flow + 1], "a flow that uses no link has no rate");
    ASTROLABE_ASSERT(legs_[first].place == kNone, "only an idle flow starts");
    for (Leg& leg : legs_of(flow)) {
        std::vector<Crossing>& crossings = crossings_[leg.link];
        leg.place = static_cast<std::uint32_t>(crossings.size());
        crossings.push_back({flow, static_cast<std::uint32_t>(&leg - legs_.data()), kNone});
        touch(leg.link);
    }
    ++active_;
    started_.push_back(flow);
}

void LinkLevels::stop(std::uint32_t flow) {
    const std::uint32_t first = first_legs_[flow];
    ASTROLABE_ASSERT(legs_[first].place != kNone, "only an active flow stops");
    const std::uint32_t bottleneck = std::exchange(bottlenecks_[flow], kNone);
    const double rate = bottleneck == kNone ? 0.0 : levels_[bottleneck];
    for (Leg& leg : legs_of(flow)) {
        const std::uint32_t link = leg.link;
        std::vector<Crossing>& crossings = crossings_[link];
        if (link == bottleneck) {
            drop_own(link, flow, leg);
        } else {
            others_[link].held.add_product(-leg.load, rate);
        }
        swap_places(link, leg.place, static_cast<std::uint32_t>(crossings.size() - 1));
        crossings.pop_back();
        leg.place = kNone;
        if (links_[link].own_count > 0) {
            touch(link);
        }
    }
    --active_;
}

double LinkLevels::load(std::uint32_t link) const {
    double sum = 0.0;
    for (const Crossing& crossing : crossings_[link]) {
        sum += legs_[crossing.leg].load * rate(crossing.flow);
    }
    return sum;
}

bool LinkLevels::is_alone(std::uint32_t flow) const {
    for (const Leg& leg : legs_of(flow)) {
        if (crossings_[leg.link].size() > 1) {
            return false;
        }
    }
    return true;
}

LinkLevels::Limit LinkLevels::limit_alone(std::uint32_t flow) const {
    Limit limit{kNone, kInfinity};
    for (const Leg& leg : legs_of(flow)) {
        const double level = links_[leg.link].capacity / leg.load;
        if (level < limit.level) {
            limit = {leg.link, level};
        }
    }
    return limit;
}

void LinkLevels::serve_alone(std::uint32_t flow) {
    const auto [bottleneck, level] = limit_alone(flow);
    for (const Leg& leg : legs_of(flow)) {
        Others& others = others_[leg.link];
        others.held = {};
        others.most_held = 0.0;
        if (leg.link == bottleneck) {
            note(bottleneck);
            set_own(bottleneck, flow, leg);
        } else {
            others.hold(leg.load, level);
        }
    }
    levels_[bottleneck] = level;
    set_bottleneck(flow, bottleneck);
    ++counters_.alone;
}

double LinkLevels::key_of(std::uint32_t index) const {
    const Link& link = links_[index];
    const double left = left_of(index);
    if (link.own_count == 0 && link.free_count == 0) {
        // Those that others limit may together be more than it has: it takes over those with most.
        return left >= -kSameLevel * link.capacity ? kInfinity : 0.0;
    }
    if (link.own_count == 0) {
        return filled_at(index);
    }
    // Divided only where it is to be queued.
    const double filled = levels_[index] * link.weight();
    if (std::max(left, 0.0) < filled * (1.0 - kSameLevel)) {
        return filled_at(index);
    }
    const bool stays = link.free_count == 0 && left <= filled * (1.0 + kSameLevel + slack_) &&
                       others_[index].most_held <= levels_[index] * (1.0 + kSameLevel);
    return stays ? kInfinity : levels_[index];
}

void LinkLevels::push(std::uint32_t link, double key) {
    links_[link].queued = key;
    queue_.set(link, key);
    hear_of(link, false);
}

void LinkLevels::hear_of(std::uint32_t index, bool keeps) {
    const Link& link = links_[index];
    const double weight = link.weight();
    others_[index].unheard_to =
        weight > 0.0 ? link.capacity - link.queued * weight : link.capacity * (1.0 + kSameLevel);
    if (slack_ == 0.0) {
        return;
    }
    kept_[index] = {-kInfinity, kInfinity};
    if (keeps && weight > 0.0) {
        const double filled = levels_[index] * weight;
        others_[index].unheard_to = link.capacity - filled * (1.0 - kSameLevel);
        kept_[index] = {link.capacity - filled * (1.0 + kSameLevel + slack_),
                        levels_[index] * (1.0 + kSameLevel)};
    }
}

void LinkLevels::queue_touched() {
    for (const std::uint32_t link : touched_) {
        links_[link].is_touched = false;
        const double key = key_of(link);
        if (key < links_[link].queued) {
            push(link, key * (1.0 - kEarlier));
        } else {
            hear_of(link, key == kInfinity && links_[link].queued == kInfinity);
        }
    }
    touched_.clear();
}

double LinkLevels::fair_level(std::uint32_t index) {
    Link& link = links_[index];
    const bool is_shared = link.own_count + link.free_count > 0;
    double fair = is_shared ? filled_at(index) : 0.0;
    Others& others = others_[index];
    if (others.most_held <= fair * (1.0 + kSameLevel)) {
        return fair;  // nobody has more
    }
    // Whoever has more takes part, those with most first, until what comes of it is as much as the others
    // have. Loads lie anywhere in memory and are read of these alone.
    above_.clear();
    double most_held = 0.0;
    const std::vector<Crossing>& crossings = crossings_[index];
    for (std::size_t i = link.own_count; i < crossings.size(); ++i) {
        const std::uint32_t bottleneck = crossings[i].link;
        if (bottleneck == kNone) {
            continue;
        }
        const double level = levels_[bottleneck];
        most_held = std::max(most_held, level);
        if (level > fair * (1.0 + kSameLevel)) {
            above_.push_back({level, crossings[i].leg});
        }
    }
    others.most_held = most_held;
    ExactSum left{link.capacity, 0.0};
    left.add(-others.held.most);
    left.add(-others.held.rest);
    ExactSum share = link.own;
    share.add(link.free.most);
    share.add(link.free.rest);
    const auto has_less = [](const Held& a, const Held& b) { return a.level < b.level; };
    std::make_heap(above_.begin(), above_.end(), has_less);
    for (auto end = above_.end(); end != above_.begin() && above_.front().level > fair * (1.0 + kSameLevel);
         --end) {
        const Held most = above_.front();
        std::pop_heap(above_.begin(), end, has_less);
        const double load = link.has_parts ? legs_[most.leg].load : 1.0;
        left.add_product(load, most.level);
        share.add(load);
        fair = std::max(left.value(), 0.0) / share.value();
    }
    return fair;
}

void LinkLevels::settle(std::uint32_t index, double key) {
    Link& link = links_[index];
    const double fair = fair_level(index);
    const bool has_level = link.own_count > 0;
    const double before = levels_[index];
    const bool falls = has_level && fair < before * (1.0 - kSameLevel);
    const bool rises = has_level && fair > before * (1.0 + kSameLevel + slack_);
    double level = has_level && !falls ? before : fair;
    if (level > key * (1.0 + kSameLevel)) {
        push(index, level);
        return;
    }
    if (rises && link.free_count == 0 && !is_of_update(link.raised_at)) {
        raised_at_ = link.raised_at = ++clock_;
        give_level(index, fair * (1.0 - slack_ / 2));
    } else if (rises && link.released_at < raised_at_) {
        release(index);
    } else if (!has_level || falls || link.free_count > 0 ||
               others_[index].most_held > level * (1.0 + kSameLevel)) {
        // One that rounding put next to the last counts as the last, and one next to that of before as that.
        if (!has_level || falls) {
            level *= 1.0 - slack_ / 2;
            if (std::abs(level - last_level_) <= kSameLevel * last_level_) {
                level = last_level_;
            }
            if (link.noted_in == update_ && !link.was_empty &&
                std::abs(level - link.level_before) <= kSameLevel * link.level_before) {
                level = link.level_before;
            }
            last_level_ = level;
        }
        give_level(index, level);
    }
}

void LinkLevels::sum_up_own(std::uint32_t index) {
    Link& link = links_[index];
    OwnLoads& loads = own_loads_[index];
    std::size_t legs = 0;
    for (const Crossing& crossing : std::span(crossings_[index]).first(link.own_count)) {
        for (const Leg& leg : legs_of(crossing.flow)) {
            if (leg.link != index) {
                loads.add(leg.link, leg.load);
                ++legs;
            }
        }
    }
    if (2 * loads.size() > legs) {
        loads.clear();
        link.summed_from = 2 * link.own_count;
    }
}

void LinkLevels::change_own(std::uint32_t index, double level) {
    const double before = levels_[index];
    const double more = level - before;
    // The difference of two doubles is exact where neither is more than twice the other (Sterbenz).
    const bool is_exact = before <= 2.0 * level && level <= 2.0 * before;
    const auto hold = [&](std::uint32_t link, double load) {
        Others& others = others_[link];
        if (is_exact) {
            others.held.add_product(load, more);
        } else {
            others.held.add_product(load, level);
            others.held.add_product(-load, before);
        }
        others.most_held = std::max(others.most_held, level);
        if (!is_unheard(link, level)) {
            touch(link);
        }
    };
    const std::span<const Crossing> own = std::span(crossings_[index]).first(links_[index].own_count);
    counters_.freed += own.size();
    levels_[index] = level;
    if (own.size() >= links_[index].summed_from && own.front().link == index && own_loads_[index].empty()) {
        sum_up_own(index);
    }
    if (!own_loads_[index].empty()) {
        own_loads_[index].for_each([&](std::uint32_t link, const ExactSum& load) {
            hold(link, load.most);
            if (load.rest != 0.0) {
                others_[link].held.add(load.rest * more);
            }
        });
        return;
    }
    for (const Crossing& crossing : own) {
        if (crossing.link != index) {
            hold(crossing.link, 1.0);
            continue;
        }
        for (const Leg& leg : legs_of(crossing.flow)) {
            if (leg.link != index) {
                hold(leg.link, leg.load);
            }
        }
    }
}

void LinkLevels::give_level(std::uint32_t index, double level) {
    note(index);
    ++counters_.fillings;
    Link& link = links_[index];
    const std::vector<Crossing>& crossings = crossings_[index];
    const std::size_t own_count = link.own_count;
    if (own_count > 0 && level != levels_[index]) {
        change_own(index, level);
    }
    levels_[index] = level;
    const double larger = level * (1.0 + kSameLevel);
    Others& others = others_[index];
    const bool takes_over = others.most_held > larger;
    for (std::size_t i = own_count; i < crossings.size() && (takes_over || link.free_count > 0); ++i) {
        const Crossing crossing = crossings[i];
        const std::uint32_t flow = crossing.flow;
        const std::uint32_t bottleneck = crossing.link;
        const double had = bottleneck == kNone ? 0.0 : levels_[bottleneck];
        if (bottleneck != kNone && had <= larger) {
            continue;
        }
        if (bottleneck == kNone) {
            drop_free(index, legs_[crossing.leg].load);
        } else {
            note_move(flow);
            others.held.add_product(-legs_[crossing.leg].load, had);
        }
        set_own(index, flow, legs_[crossing.leg]);
        set_bottleneck(flow, index);
        ++counters_.freed;
        for (const Leg& leg : legs_of(flow)) {
            const std::uint32_t other = leg.link;
            if (other == index) {
                continue;
            }
            if (bottleneck == kNone) {
                drop_free(other, leg.load);
            } else if (other == bottleneck) {
                drop_own(other, flow, leg);
            } else {
                others_[other].held.add_product(-leg.load, had);
            }
            others_[other].hold(leg.load, level);
            touch(other);
        }
    }
    others.most_held = std::min(others.most_held, larger);
    if (takes_over) {
        touch(index);
    }
}

void LinkLevels::release(std::uint32_t index) {
    note(index);
    Link& link = links_[index];
    link.released_at = ++clock_;
    const double level = levels_[index];
    const auto takes_over = [&](std::uint32_t other) {
        const Link& state = links_[other];
        return other != index && state.own_count > 0 && !is_of_update(state.released_at) &&
               levels_[other] <= level * (1.0 + kCriterion);
    };
    for (std::size_t i = link.own_count; i-- > 0;) {
        const Crossing crossing = crossings_[index][i];
        const std::uint32_t flow = crossing.flow;
        note_move(flow);
        drop_own(index, flow, legs_[crossing.leg]);
        std::uint32_t next = kNone;
        for (const Leg& leg : legs_of(flow)) {
            if (takes_over(leg.link)) {
                next = leg.link;
                break;
            }
        }
        set_bottleneck(flow, next);
        for (const Leg& leg : legs_of(flow)) {
            const std::uint32_t other = leg.link;
            const double load = leg.load;
            touch(other);
            if (other != index) {
                others_[other].held.add_product(-load, level);
            }
            if (next == kNone) {
                set_free(other, load);
            } else if (other == next) {
                set_own(other, flow, leg);
            } else {
                others_[other].hold(load, levels_[next]);
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
        }
        ++update_;
    }
    began_at_ = raised_at_ = ++clock_;
    ++counters_.updates;
    last_level_ = 0.0;
    std::size_t together = 0;
    for (const std::uint32_t flow : started_) {
        // One that stopped and started again is listed twice.
        const std::uint32_t first = first_legs_[flow];
        if (legs_[first].place == kNone || moved_in_[flow] == update_) {
            continue;
        }
        note_move(flow);
        if (is_alone(flow)) {
            serve_alone(flow);
            continue;
        }
        ++together;
        for (const Leg& leg : legs_of(flow)) {
            set_free(leg.link, leg.load);
        }
    }
    started_.clear();
    counters_.whole_network += together > 0 && together == active_ ? 1 : 0;
    queue_touched();
    while (queue_.least() < kInfinity) {
        const std::uint32_t lowest = queue_.first_least();
        const double queued = links_[lowest].queued;
        const double key = key_of(lowest);
        push(lowest, kInfinity);
        const bool is_due = key <= queued * (1.0 + kSameLevel) || key < queue_.least();
        if (is_due) {
            settle(lowest, std::max(key, queued));
            queue_touched();
        } else if (key < kInfinity) {
            push(lowest, key);
        }
    }
    collect();
}

void LinkLevels::collect() {
    for (const std::uint32_t link : noted_) {
        const Link& state = links_[link];
        if (state.own_count > 0 && (state.was_empty || levels_[link] != state.level_before)) {
            changed_.push_back(link);
        }
    }
    noted_.clear();
    std::erase_if(moved_, [this](const Moved& moved) { return moved.from == bottlenecks_[moved.flow]; });
}

}  // namespace astrolabe::network
