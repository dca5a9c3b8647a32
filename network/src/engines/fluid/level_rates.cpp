#include "level_rates.hpp"

#include "leg_bytes.hpp"
#include "max_min_arithmetic.hpp"
#include "rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/sort/spreadsort/integer_sort.hpp>

namespace astrolabe::network {

namespace {

/// Stale entries of a heap that are not worth looking for.
constexpr std::size_t kStaleEndings = 16;

/// Up to here an end is one whatever the latency of its connection.
constexpr Time kFarEnd(std::int64_t{1} << 62);

/// The largest double below 2^63.
constexpr double kMostBytes = 0x1.fffffffffffffp62;

}  // namespace

void LevelRates::Virtual::advance(double bytes) {
    const double floor = std::floor(bytes);
    if (__builtin_add_overflow(whole, static_cast<std::int64_t>(std::min(floor, kMostBytes)), &whole)) {
        whole = std::numeric_limits<std::int64_t>::max();
    }
    part += bytes - floor;
    if (part >= 1.0 && whole < std::numeric_limits<std::int64_t>::max()) {
        ++whole;
        part -= 1.0;
    }
}

void LevelRates::Virtual::advance(Bytes bytes) {
    if (__builtin_add_overflow(whole, bytes.count(), &whole)) {
        whole = std::numeric_limits<std::int64_t>::max();
    }
}

double LevelRates::Virtual::since(const Virtual& earlier) const {
    return static_cast<double>(whole - earlier.whole) + (part - earlier.part);
}

LevelRates::Virtual LevelRates::at(const Clock& clock, Time now) const {
    Virtual time = clock.at;
    time.advance(served_at(clock.rate, now - clock.since));
    return time;
}

FlowRates::Service LevelRates::service(std::uint32_t index, const Clock& clock) const {
    const Connection& connection = connections_[index];
    const Course& course = courses_[index];
    if (course.changes == clock.changes) {
        return {connection.since, connection.work, clock.rate,
                is_whole(clock.rate) && is_whole(connection.work)};
    }
    return service(clock, course.end);
}

FlowRates::Service LevelRates::service(const Clock& clock, const Virtual& end) {
    const double work = std::max(0.0, end.since(clock.at));
    return {clock.since, work, clock.rate, is_whole(clock.rate) && is_whole(work)};
}

bool LevelRates::is_stale(const Ending& ending, std::uint32_t link) const {
    const Course& course = courses_[ending.connection];
    return course.planned != link || course.end != ending.at;
}

void LevelRates::look_at(std::uint32_t link) {
    clocks_[link].is_first_known = false;
    look_at_first(link);
}

void LevelRates::look_at_first(std::uint32_t link) {
    if (!clocks_[link].is_pending) {
        clocks_[link].is_pending = true;
        pending_.push_back(link);
        forget_next_end();
    }
}

void LevelRates::pop(Clock& clock) {
    std::pop_heap(clock.endings.begin(), clock.endings.end(), ends_later);
    clock.endings.pop_back();
}

LevelRates::LevelRates(const LinkClasses& classes, std::vector<Connection>& connections,
                       const ConnectionBytes& bytes, double slack)
    : FixedRouteRates(classes, nullptr, connections, bytes),
      levels_(capacities(classes), slack),
      clocks_(classes.size()),
      ends_(classes.size()) {
    levels_.reserve(connections.capacity(), connections.capacity() * kLegsExpected);
    courses_.reserve(connections.capacity());
}

void LevelRates::add_flow(std::span<const ClassLeg> route, const MaxMinSolver::Terms& /*terms*/) {
    levels_.add_flow(route);
    courses_.emplace_back();
}

double LevelRates::rate_of(std::uint32_t connection) const {
    const std::uint32_t link = levels_.bottleneck(connection);
    return link == LinkLevels::kNone ? 0.0 : clocks_[link].rate;
}

Time LevelRates::completion(std::uint32_t index) const {
    const std::uint32_t link = levels_.bottleneck(index);
    return link == LinkLevels::kNone ? Time::max()
                                     : end_of(service(index, clocks_[link]), connections_[index].latency);
}

double LevelRates::work_left(std::uint32_t index, Time now) const {
    const std::uint32_t link = levels_.bottleneck(index);
    if (link == LinkLevels::kNone) {
        return connections_[index].work;
    }
    const Service serving = service(index, clocks_[link]);
    return std::max(0.0, serving.work - served_at(serving.rate, now - serving.since));
}

Time LevelRates::end_on(Clock& clock, const Ending& ending) const {
    const Ending& known = clock.known;
    if (clock.known_end == Time() || known.connection != ending.connection || known.at != ending.at) {
        clock.known = ending;
        clock.known_end = end_of(service(ending.connection, clock), connections_[ending.connection].latency);
    }
    return clock.known_end;
}

std::optional<Time> LevelRates::first_end(Clock& clock) const {
    if (!clock.is_first_known || clock.rate <= 0.0) {
        return std::nullopt;
    }
    const Ending& first = clock.endings.front();
    const Time end = end_of(service(clock, first.at), Time(0));
    if (end > kFarEnd) {
        return std::nullopt;
    }
    clock.known = first;
    clock.known_end = end;
    return end;
}

void LevelRates::push(std::uint32_t connection, std::uint32_t link) {
    Clock& clock = clocks_[link];
    const Ending ending{courses_[connection].end, connection};
    // Before it is planned: virtual time that has come to its end is the same for one message and the next.
    const bool has_place = !clock.endings.empty() && is_stale(clock.endings.front(), link);
    if (clock.known.connection == connection) {
        clock.known_end = Time();
    }
    courses_[connection].planned = link;
    look_at(link);
    if (has_place) {
        replace_first(clock, ending);
        return;
    }
    clock.endings.push_back(ending);
    if (clock.endings.size() > 2 * levels_.limited(link) + kStaleEndings) {
        drop_stale(link);
    } else {
        std::push_heap(clock.endings.begin(), clock.endings.end(), ends_later);
    }
}

void LevelRates::replace_first(Clock& clock, const Ending& ending) {
    std::vector<Ending>& endings = clock.endings;
    std::size_t place = 0;
    for (std::size_t below = 1; below < endings.size(); below = 2 * place + 1) {
        below += below + 1 < endings.size() && ends_later(endings[below], endings[below + 1]) ? 1 : 0;
        if (!ends_later(ending, endings[below])) {
            break;
        }
        endings[place] = endings[below];
        place = below;
    }
    endings[place] = ending;
}

void LevelRates::drop_stale(std::uint32_t link) {
    std::vector<Ending>& endings = clocks_[link].endings;
    std::erase_if(endings, [&](const Ending& ending) { return is_stale(ending, link); });
    std::make_heap(endings.begin(), endings.end(), ends_later);
}

double LevelRates::leave(const LinkLevels::Moved& moved, Time now) {
    Connection& connection = connections_[moved.flow];
    if (moved.from == LinkLevels::kNone) {
        connection.since = now;
        return connection.work;
    }
    const Clock& from = clocks_[moved.from];
    const Service serving = service(moved.flow, from);
    const double left = std::max(0.0, serving.work - served_at(serving.rate, now - serving.since));
    const double rate = snapped(levels_.rate(moved.flow));
    const bool is_same = std::abs(rate - serving.rate) <= kSameLevel * serving.rate;
    connection.since = is_same ? serving.since : now;
    connection.work = is_same ? serving.work : left;
    return left;
}

std::span<const std::uint32_t> LevelRates::update(Time now) {
    levels_.update();
    left_.clear();
    for (const LinkLevels::Moved& moved : levels_.moved()) {
        left_.push_back(leave(moved, now));
    }
    for (const std::uint32_t link : levels_.changed()) {
        Clock& clock = clocks_[link];
        clock.at = at(clock, now);
        clock.since = now;
        clock.rate = snapped(levels_.level(link));
        clock.known_end = Time();
        ++clock.changes;
        look_at_first(link);
    }
    for (std::size_t i = 0; i < left_.size(); ++i) {
        const LinkLevels::Moved& moved = levels_.moved()[i];
        const std::uint32_t link = levels_.bottleneck(moved.flow);
        Course& course = courses_[moved.flow];
        course.end = at(clocks_[link], now);
        course.end.advance(left_[i]);
        course.changes = clocks_[link].changes;
        if (moved.from != LinkLevels::kNone) {
            clocks_[moved.from].known_end = Time();
            look_at(moved.from);
        }
        if (moved.from == LinkLevels::kNone || course.planned != kNoLink) {
            push(moved.flow, link);
        }
    }
    return {};
}

void LevelRates::resume(std::uint32_t index, Time now) {
    const std::uint32_t link = levels_.bottleneck(index);
    Course& course = courses_[index];
    course.end = at(clocks_[link], now);
    course.end.advance(connections_[index].work);
    course.changes = clocks_[link].changes;
    push(index, link);
}

void LevelRates::extend(std::uint32_t index, double work) {
    courses_[index].end.advance(work);
    push(index, levels_.bottleneck(index));
}

Time LevelRates::find_next_end(Time now) {
    for (const std::uint32_t link : pending_) {
        Clock& clock = clocks_[link];
        clock.is_pending = false;
        if (const auto end = first_end(clock)) {
            ends_.set(link, std::max(*end, now).count());
            continue;
        }
        while (!clock.endings.empty() && is_stale(clock.endings.front(), link)) {
            pop(clock);
        }
        if (clock.endings.empty()) {
            ends_.set(link, Time::max().count());
            continue;
        }
        ends_.set(link, std::max(end_on(clock, clock.endings.front()), now).count());
        clock.is_first_known = true;
    }
    pending_.clear();
    return Time(ends_.least());
}

std::span<const std::uint32_t> LevelRates::take_ends(Time now) {
    taken_.clear();
    ends_.for_each_least([&](std::uint32_t link) {
        Clock& clock = clocks_[link];
        const std::vector<Ending>& endings = clock.endings;
        look_at(link);
        while (!endings.empty()) {
            const Ending first = endings.front();
            if (!is_stale(first, link)) {
                if (end_on(clock, first) > now) {
                    return;
                }
                courses_[first.connection].planned = kNoLink;
                taken_.push_back(first.connection);
            }
            // If the next one comes later, the place is kept for what the connection serves next.
            const std::size_t next = endings.size() > 2 && ends_later(endings[1], endings[2]) ? 2 : 1;
            if (next >= endings.size() ||
                (!is_stale(endings[next], link) && end_on(clock, endings[next]) > now)) {
                return;
            }
            pop(clock);
        }
    });
    if (taken_.size() > 1) {
        // A million end at once in collectives.
        boost::sort::spreadsort::integer_sort(taken_.begin(), taken_.end());
    }
    return taken_;
}

bool LevelRates::share_no_link(std::span<const std::uint32_t> connections) {
    crossed_in_.resize(clocks_.size());
    ++question_;
    bool is_shared = false;
    for (const std::uint32_t connection : connections) {
        levels_.for_each_leg(connection, [&](std::uint32_t link, double /*load*/) {
            is_shared = is_shared || crossed_in_[link] == question_;
            crossed_in_[link] = question_;
        });
    }
    return !is_shared;
}

LevelRates::Ahead LevelRates::go_ahead(std::uint32_t index) const {
    Ahead ahead;
    ahead.connection = index;
    ahead.limit = levels_.limit_alone(index);
    ahead.rate = snapped(ahead.limit.level);
    ahead.last_end = Time(-1);
    ahead.link = levels_.bottleneck(index);
    ahead.was_active = ahead.link != LinkLevels::kNone;
    if (ahead.was_active) {
        const Clock& clock = clocks_[ahead.link];
        ahead.service = service(index, clock);
        ahead.end = courses_[index].end;
        ahead.is_on_clock = courses_[index].changes != clock.changes;
        ahead.pace = pace_at(ahead.service.rate);
        ahead.last_end = end_of(ahead.service, connections_[index].latency);
    }
    return ahead;
}

Time LevelRates::serve_ahead(Ahead& ahead, Bytes size, Time sent) {
    const auto work = static_cast<double>(size.count());
    if (sent < ahead.last_end) {
        ahead.end.advance(size);
        ahead.service.work = ahead.is_on_clock ? std::max(0.0, ahead.end.since(clocks_[ahead.link].at))
                                               : ahead.service.work + work;
    } else {
        if (sent > ahead.last_end) {
            // As `update` does for one that has come to a link without others.
            ahead.link = ahead.limit.link;
            ahead.has_restarted = true;
            Clock& clock = clocks_[ahead.link];
            clock.at = at(clock, sent);
            clock.since = sent;
            clock.rate = ahead.rate;
            clock.known_end = Time();
            ++clock.changes;
            ahead.pace = pace_at(ahead.rate);
        }
        ahead.end = at(clocks_[ahead.link], sent);
        ahead.end.advance(size);
        ahead.is_on_clock = false;
        ahead.service = {sent, work, clocks_[ahead.link].rate, false};
    }
    ahead.service.whole = is_whole(ahead.service.rate) && is_whole(ahead.service.work);
    ahead.last_end = end_of(ahead.service, ahead.pace, connections_[ahead.connection].latency);
    return ahead.last_end;
}

void LevelRates::catch_up(std::span<const Ahead> connections) {
    for (const Ahead& ahead : connections) {
        const bool goes_on = ahead.serves && !ahead.has_restarted;
        if (ahead.was_active) {
            look_at(levels_.bottleneck(ahead.connection));
            courses_[ahead.connection].planned = kNoLink;
            if (!goes_on) {
                levels_.stop(ahead.connection);
            }
        }
        if (ahead.serves && !goes_on) {
            levels_.start(ahead.connection);
        }
    }
    levels_.update();
    for (const Ahead& ahead : connections) {
        if (!ahead.serves) {
            continue;
        }
        Course& course = courses_[ahead.connection];
        course.end = ahead.end;
        course.end.whole -= ahead.behind.count();
        if (!ahead.is_on_clock) {
            Connection& connection = connections_[ahead.connection];
            connection.since = ahead.service.since;
            connection.work = ahead.service.work - static_cast<double>(ahead.behind.count());
            course.changes = clocks_[ahead.link].changes;
        }
        push(ahead.connection, ahead.link);
    }
}

std::optional<LinkId> LevelRates::bottleneck(std::uint32_t connection) const {
    const std::uint32_t link = levels_.bottleneck(connection);
    return link == LinkLevels::kNone ? std::nullopt : std::optional(classes_.example(link));
}

void LevelRates::for_each_link(std::uint32_t connection, const LinkVisitor& visit) const {
    levels_.for_each_leg(connection, [&](std::uint32_t link_class, double load) {
        visit(classes_.example(link_class), load);
    });
}

void LevelRates::report(NetworkStatistics& statistics, Time /*now*/) const {
    report_legs(statistics, [this](std::uint32_t connection, LegBytes& carried) {
        levels_.for_each_leg(connection, carried);
    });
}

}  // namespace astrolabe::network
