/// Which links exist when: the time-varying half of a fabric.
///
/// Model: time is cut in periods of equal length, a period in consecutive intervals that fill it. A *circuit*
/// is a link named by at least one interval; it exists in those intervals only and carries nothing outside
/// them (a reconfiguration is an interval that does not name the links it moves). All other links exist
/// always. A schedule without circuits is static.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

template <class Link>
struct CircuitInterval {
    Time duration;            ///< > 0
    std::vector<Link> links;  ///< circuits that exist throughout the interval
};

class CircuitSchedule {
public:
    /// Static: no link ever comes or goes.
    CircuitSchedule() = default;

    /// `link_count` is that of the fabric. Durations must be positive.
    CircuitSchedule(std::size_t link_count, std::vector<CircuitInterval<LinkId>> intervals);

    [[nodiscard]] bool is_static() const { return intervals_.empty(); }
    [[nodiscard]] Time period() const { return period_; }
    [[nodiscard]] const std::vector<CircuitInterval<LinkId>>& intervals() const { return intervals_; }
    /// Does the schedule ever switch this link?
    [[nodiscard]] bool is_circuit(LinkId link) const { return !is_static() && is_circuit_[link] != 0; }

    /// Index of the interval that holds `time` (>= 0), and when that interval ends (Time::max() if static).
    /// An interval includes its begin, not its end.
    struct Position {
        std::size_t interval;
        Time end;
    };
    [[nodiscard]] Position at(Time time) const;
    /// Does the link exist during interval `interval`? O(log links of the interval).
    [[nodiscard]] bool exists(LinkId link, std::size_t interval) const;

    /// Offsets in the period at which an interval begins and ends.
    [[nodiscard]] Time begin(std::size_t interval) const {
        return interval == 0 ? Time(0) : ends_[interval - 1];
    }
    [[nodiscard]] Time end(std::size_t interval) const { return ends_[interval]; }
    /// The intervals in which a circuit exists, ascending. Precondition: is_circuit(link).
    [[nodiscard]] std::span<const std::uint32_t> intervals_of(LinkId link) const {
        return std::span(intervals_of_)
            .subspan(first_of_[link], first_of_[LinkId(link.index() + 1)] - first_of_[link]);
    }

    /// When a link is there for a while: [begin, end).
    struct Presence {
        Time begin;
        Time end;  ///< Time::max() if it stays for ever
    };
    /// The present or next presence of the link at `time`: the first whose end lies behind it. Intervals that
    /// follow one another count as one. What schedulers of circuits ask for: the next direct opportunity.
    /// O(log intervals of the link + those that follow one another).
    [[nodiscard]] Presence next_presence(LinkId link, Time time) const;

private:
    Time period_;
    std::vector<CircuitInterval<LinkId>> intervals_;  // link lists sorted
    std::vector<Time> ends_;                          // of each interval, from the start of the period
    IndexedVector<LinkId, std::uint8_t> is_circuit_;
    IndexedVector<LinkId, std::uint32_t> first_of_;  // into intervals_of_, one more than links
    std::vector<std::uint32_t> intervals_of_;
};

}  // namespace astrolabe::network
