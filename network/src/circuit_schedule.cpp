#include <algorithm>
#include <numeric>
#include <utility>

#include <astrolabe/network/circuit_schedule.hpp>

namespace astrolabe::network {

CircuitSchedule::CircuitSchedule(std::size_t link_count, std::vector<CircuitInterval<LinkId>> intervals)
    : intervals_(std::move(intervals)),
      is_circuit_(link_count, 0) {
    ends_.reserve(intervals_.size());
    for (CircuitInterval<LinkId>& interval : intervals_) {
        ASTROLABE_ASSERT(interval.duration > Time(0), "an interval of a circuit schedule lasts");
        period_ += interval.duration;
        ends_.push_back(period_);
        if (!std::is_sorted(interval.links.begin(), interval.links.end())) {
            std::sort(interval.links.begin(), interval.links.end());
        }
        interval.links.erase(std::unique(interval.links.begin(), interval.links.end()), interval.links.end());
        for (const LinkId link : interval.links) {
            ASTROLABE_ASSERT(link.index() < link_count, "a circuit is a link of the fabric");
            is_circuit_[link] = 1;
        }
    }
    first_of_.assign(link_count + 1, 0);
    for (const CircuitInterval<LinkId>& interval : intervals_) {
        for (const LinkId link : interval.links) {
            ++first_of_[LinkId(link.index() + 1)];
        }
    }
    std::partial_sum(first_of_.begin(), first_of_.end(), first_of_.begin());
    intervals_of_.resize(first_of_[LinkId(link_count)]);
    IndexedVector<LinkId, std::uint32_t> next = first_of_;
    for (std::uint32_t i = 0; i < intervals_.size(); ++i) {
        for (const LinkId link : intervals_[i].links) {
            intervals_of_[next[link]++] = i;
        }
    }
}

CircuitSchedule::Position CircuitSchedule::at(Time time) const {
    ASTROLABE_ASSERT(time >= Time(0), "time starts at 0");
    if (is_static()) {
        return {0, Time::max()};
    }
    const Time phase = time % period_;
    const auto interval = std::upper_bound(ends_.begin(), ends_.end(), phase);
    return {static_cast<std::size_t>(interval - ends_.begin()), time - phase + *interval};
}

bool CircuitSchedule::exists(LinkId link, std::size_t interval) const {
    if (!is_circuit(link)) {
        return true;
    }
    const std::vector<LinkId>& links = intervals_[interval].links;
    return std::binary_search(links.begin(), links.end(), link);
}

CircuitSchedule::Presence CircuitSchedule::next_presence(LinkId link, Time time) const {
    if (!is_circuit(link)) {
        return {Time(0), Time::max()};
    }
    const std::span<const std::uint32_t> intervals = intervals_of(link);
    if (intervals.size() == intervals_.size()) {
        return {Time(0), Time::max()};
    }
    const Time phase = time % period_;
    const auto found = std::partition_point(intervals.begin(), intervals.end(),
                                            [&](std::uint32_t interval) { return end(interval) <= phase; });
    // Counts on through the periods: index i + n is interval i one period later.
    const auto count = static_cast<std::int64_t>(intervals.size());
    const auto at = [&](std::int64_t index) {
        const std::int64_t periods = index >= 0 ? index / count : -1;
        return std::pair(intervals[static_cast<std::size_t>(index - periods * count)],
                         time - phase + periods * period_);
    };
    const auto follows = [&](std::int64_t index) {
        const auto [one, of_one] = at(index);
        const auto [next, of_next] = at(index + 1);
        return of_one + end(one) == of_next + begin(next);
    };
    const std::int64_t first = found - intervals.begin();
    std::int64_t from = first;
    while (from > -count && follows(from - 1)) {
        --from;
    }
    std::int64_t to = first;
    while (follows(to)) {
        ++to;
    }
    const auto [begin_interval, begin_period] = at(from);
    const auto [end_interval, end_period] = at(to);
    return {std::max(begin_period + begin(begin_interval), Time(0)), end_period + end(end_interval)};
}

}  // namespace astrolabe::network
