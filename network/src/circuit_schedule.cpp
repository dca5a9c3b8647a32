#include <algorithm>
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
        std::sort(interval.links.begin(), interval.links.end());
        interval.links.erase(std::unique(interval.links.begin(), interval.links.end()), interval.links.end());
        for (const LinkId link : interval.links) {
            ASTROLABE_ASSERT(link.index() < link_count, "a circuit is a link of the fabric");
            is_circuit_[link] = 1;
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

}  // namespace astrolabe::network
