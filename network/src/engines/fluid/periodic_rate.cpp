#include "periodic_rate.hpp"

#include "rounding.hpp"

#include <algorithm>
#include <cmath>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

using detail::Int128;

/// Amount of a byte, in bit/s·ps.
constexpr std::int64_t kByte = 8 * kPicosecondsPerSecond;
/// Amounts that differ by less than this share are the same: sums of some thousand segments.
constexpr double kSameAmount = 0x1p-44;

double picoseconds_of(Time time) {
    return static_cast<double>(time.count());
}

}  // namespace

double PeriodicRate::amount(const Segment& segment) const {
    return segment.rate * picoseconds_of(segment.end - segment.begin);
}

void PeriodicRate::append(Time begin, Time end, double rate) {
    ASTROLABE_ASSERT(begin >= Time(0) && begin < end && end <= period_, "a segment lies in the period");
    ASTROLABE_ASSERT(segments_.empty() || segments_.back().end <= begin, "segments are in order");
    if (rate == 0.0) {
        return;
    }
    if (!segments_.empty() && segments_.back().end == begin && segments_.back().rate == rate) {
        segments_.back().end = end;
    } else {
        segments_.push_back({begin, end, rate, per_period_});
        is_whole_ = is_whole_ && is_whole(rate);
    }
    per_period_ = segments_.back().before + amount(segments_.back());
}

double PeriodicRate::served_until(Time offset) const {
    const auto after =
        std::upper_bound(segments_.begin(), segments_.end(), offset,
                         [](Time time, const Segment& segment) { return time < segment.begin; });
    if (after == segments_.begin()) {
        return 0.0;
    }
    const Segment& segment = *(after - 1);
    return segment.before + segment.rate * picoseconds_of(std::min(offset, segment.end) - segment.begin);
}

double PeriodicRate::rate_at(Time time) const {
    const Time offset = is_zero() ? Time(0) : time % period_;
    for (const Segment& segment : segments_) {
        if (offset < segment.end) {
            return offset >= segment.begin ? segment.rate : 0.0;
        }
    }
    return 0.0;
}

Time PeriodicRate::next_service(Time from) const {
    if (is_zero()) {
        return Time::max();
    }
    const Time offset = from % period_;
    for (const Segment& segment : segments_) {
        if (offset < segment.end) {
            return from + std::max(segment.begin - offset, Time(0));
        }
    }
    const Time wait = period_ - offset + segments_.front().begin;
    return wait < Time::max() - from ? from + wait : Time::max();
}

double PeriodicRate::served(Time from, Time to) const {
    if (is_zero()) {
        return 0.0;
    }
    const auto periods = static_cast<double>(to / period_ - from / period_);
    const double served = periods * per_period_ + served_until(to % period_) - served_until(from % period_);
    return std::max(served, 0.0) / static_cast<double>(kByte);
}

Time PeriodicRate::completion(Time from, double work) const {
    if (is_zero()) {
        return Time::max();
    }
    return is_whole_ && is_whole(work) ? completion_in_integers(from, static_cast<std::int64_t>(work))
                                       : completion_in_doubles(from, work);
}

Time PeriodicRate::completion_in_integers(Time from, std::int64_t work) const {
    const Time offset = from % period_;
    const auto rate = [](const Segment& segment) { return static_cast<Int128>(segment.rate); };
    Int128 per_period = 0;
    Int128 target = static_cast<Int128>(work) * kByte;
    for (const Segment& segment : segments_) {
        per_period += rate(segment) * (segment.end - segment.begin).count();
        if (offset > segment.begin) {
            target += rate(segment) * (std::min(offset, segment.end) - segment.begin).count();
        }
    }
    const Int128 periods = (target - 1) / per_period;
    target -= periods * per_period;
    Int128 end = static_cast<Int128>((from - offset).count()) + periods * period_.count();
    for (const Segment& segment : segments_) {
        const Int128 inside = rate(segment) * (segment.end - segment.begin).count();
        if (target <= inside) {
            end += segment.begin.count() + (target + rate(segment) - 1) / rate(segment);
            break;
        }
        target -= inside;
    }
    return end < Time::max().count() ? Time(static_cast<std::int64_t>(end)) : Time::max();
}

Time PeriodicRate::completion_in_doubles(Time from, double work) const {
    const Time offset = from % period_;
    double target = served_until(offset) + work * static_cast<double>(kByte);
    const double slack = target * kSameAmount;
    double periods = std::floor(target / per_period_);
    target -= periods * per_period_;
    if (target <= slack) {
        // Done with the last bit of a period, not with the first of the next.
        periods -= 1.0;
        target += per_period_;
    }
    const auto reaches = [&](const Segment& segment) {
        return segment.before + amount(segment) < target - slack;
    };
    const auto last = std::partition_point(segments_.begin(), segments_.end(), reaches);
    const Segment& segment = last == segments_.end() ? segments_.back() : *last;
    const double inside =
        std::min((target - segment.before) / segment.rate, picoseconds_of(segment.end - segment.begin));
    const double duration = std::max(
        periods * picoseconds_of(period_) + picoseconds_of(segment.begin) + inside - picoseconds_of(offset),
        0.0);
    if (duration >= picoseconds_of(Time::max() - from) * (1.0 - 0x1p-50)) {
        return Time::max();
    }
    const double floor = std::floor(duration);
    const double tolerance = rounding_tolerance(duration);
    return from + Time(static_cast<std::int64_t>(floor) + (duration - floor > tolerance ? 1 : 0));
}

}  // namespace astrolabe::network
