/// A rate that repeats: what a connection gets where circuits come and go.
///
/// Model. Time is cut in periods of length P. At offset φ of every period the rate is x(φ), constant on
/// *segments* and 0 between them. With A(φ) = ∫_0^φ x and W = A(P), what is served between s and t, and when
/// an amount w has been served from s on, have closed forms:
///
///     served(s, t)  = A(t mod P) - A(s mod P) + (⌊t/P⌋ - ⌊s/P⌋)·W
///     completion:     a = A(s mod P) + w,  q = ⌈a/W⌉ - 1,  t = (⌊s/P⌋ + q)·P + A⁻¹(a - q·W)
///
/// A⁻¹ taking the earliest offset. So a transfer that takes 300,000 periods costs what one of a single period
/// does: periods in which nothing else happens are skipped, not run through.
///
/// Arithmetic. Amounts are counted in bit/s·ps. Where all rates are whole numbers of bit/s and w is a whole
/// number of bytes, `completion` is exact (128-bit integers), rounded up to a picosecond. Otherwise doubles,
/// under the rule of fluid_backend.hpp: what exceeds a picosecond by less than 2^-36 of the time since s, and
/// by less than 1/4 ps, counts as that picosecond.
///
/// Complexity: O(log segments) for doubles, O(segments) for integers, whatever the number of periods.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network {

class PeriodicRate {
public:
    /// Never serves anything.
    PeriodicRate() = default;
    explicit PeriodicRate(Time period)
        : period_(period) {}

    /// Appends a segment behind all others, 0 <= begin < end <= period. A rate of 0 adds none; one equal to
    /// that of a segment it continues extends it.
    void append(Time begin, Time end, double rate);

    [[nodiscard]] bool is_zero() const { return segments_.empty(); }
    [[nodiscard]] double rate_at(Time time) const;
    /// The first time from `from` on at which the rate is not 0; Time::max() if there is none. O(segments).
    [[nodiscard]] Time next_service(Time from) const;
    /// Bytes between two times, from <= to.
    [[nodiscard]] double served(Time from, Time to) const;
    /// Parts of segments between two times, at most.
    [[nodiscard]] std::int64_t segments_between(Time from, Time to) const {
        return is_zero() ? 0
                         : (to / period_ - from / period_ + 1) * static_cast<std::int64_t>(segments_.size());
    }
    /// Calls visit(begin, end, bytes) for each of them, in order of time.
    template <class Visitor>
    void for_each_segment(Time from, Time to, Visitor&& visit) const;
    /// When `work` > 0 bytes have been served from `from` on; Time::max() if never, or not before it.
    [[nodiscard]] Time completion(Time from, double work) const;

    friend bool operator==(const PeriodicRate&, const PeriodicRate&) = default;

private:
    struct Segment {
        Time begin;
        Time end;
        double rate = 0.0;
        double before = 0.0;  ///< served in the segments before it

        friend bool operator==(const Segment&, const Segment&) = default;
    };

    [[nodiscard]] double amount(const Segment& segment) const;
    /// A(φ), for doubles and for integers.
    [[nodiscard]] double served_until(Time offset) const;
    [[nodiscard]] Time completion_in_doubles(Time from, double work) const;
    [[nodiscard]] Time completion_in_integers(Time from, std::int64_t work) const;

    Time period_;
    std::vector<Segment> segments_;
    double per_period_ = 0.0;  ///< W
    bool is_whole_ = true;     ///< all rates are whole numbers of bit/s
};

template <class Visitor>
void PeriodicRate::for_each_segment(Time from, Time to, Visitor&& visit) const {
    if (is_zero()) {
        return;
    }
    constexpr double kPerByte = 8.0 * static_cast<double>(kPicosecondsPerSecond);
    for (Time start = from - from % period_; start < to;) {
        for (const Segment& segment : segments_) {
            // Offsets, so that nothing is added beyond the end of time.
            const Time begin = std::max(segment.begin, from - start);
            const Time end = std::min(segment.end, to - start);
            if (begin < end) {
                visit(start + begin, start + end,
                      segment.rate * static_cast<double>((end - begin).count()) / kPerByte);
            }
        }
        if (period_ >= to - start) {
            return;
        }
        start = start + period_;
    }
}

}  // namespace astrolabe::network
