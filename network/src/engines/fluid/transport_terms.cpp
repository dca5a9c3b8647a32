#include "transport_terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace astrolabe::network {

namespace {

/// Picoseconds that a byte takes at 1 bit/s.
constexpr double kBytePace = 8.0 * static_cast<double>(kPicosecondsPerSecond);
/// Of what is added to the time of a message; longer delays mean nothing in a simulation of at most 106 days.
constexpr double kLongestDelay = 0x1p61;

double to_double(Bytes bytes) {
    return static_cast<double>(bytes.count());
}

double to_double(Time time) {
    return static_cast<double>(time.count());
}

Time rounded(double picoseconds) {
    return Time(std::llround(std::clamp(picoseconds, 0.0, kLongestDelay)));
}

}  // namespace

ValidationErrors validation_errors(const TransportTerms& terms) {
    ValidationErrors problems;
    if (terms.window && !terms.latency) {
        problems.push_back({"window", "a window limits the rate by the round-trip time, and latency is off",
                            "leave out window, or latency: false"});
    }
    if (terms.slow_start) {
        if (!terms.latency) {
            problems.push_back({"slow_start", "slow start waits for round trips, and latency is off",
                                "leave out slow_start, or latency: false"});
        }
        if (terms.window && terms.slow_start->initial_window >= *terms.window) {
            problems.push_back(
                {"slow_start.initial_window",
                 fmt::format("an initial window of {} bytes never grows to the window, {} bytes",
                             terms.slow_start->initial_window.count(), terms.window->count()),
                 "give less than window, or leave out slow_start"});
        }
    }
    if (terms.incast && !terms.window) {
        problems.push_back({"incast", "what many senders put into a buffer follows from their window",
                            "give window as well"});
    }
    return problems;
}

PathTerms::PathTerms(const TransportTerms& terms, const TermPath& path)
    : terms_(terms),
      latency_(terms.latency ? path.forward : Time(0)),
      round_trip_(terms.latency ? path.forward + path.back : Time(0)),
      cap_(std::numeric_limits<double>::infinity()) {
    const double slowest = kBytePace / static_cast<double>(path.slowest.count());
    // Of a full packet: bytes on the wire for each of its payload.
    double expansion = 1.0;
    if (terms.framing) {
        const Framing& framing = *terms.framing;
        const double packet = to_double(framing.mtu + framing.header);
        expansion = packet / to_double(framing.mtu);
        round_trip_ += rounded(packet * slowest);
        if (framing.switching == Switching::kStoreAndForward) {
            extra_pace_ = std::max(path.serialisation - slowest, 0.0);
        }
    }
    pace_ = slowest * expansion;
    held_ = to_double(round_trip_) / pace_;
    if (terms.window && round_trip_ > Time(0)) {
        cap_ = to_double(*terms.window) * expansion * kBytePace / to_double(round_trip_);
        pace_ = std::max(pace_, to_double(round_trip_) / to_double(*terms.window));
    }
    pipe_ = to_double(round_trip_) / pace_;
}

Bytes PathTerms::wire(Bytes size) const {
    if (!terms_.framing) {
        return size;
    }
    const Framing& framing = *terms_.framing;
    const std::int64_t packets = size.count() / framing.mtu.count() + (size % framing.mtu > Bytes(0) ? 1 : 0);
    const detail::Int128 wire = size.count() + detail::Int128{packets} * framing.header.count();
    // More than that takes longer than simulated time.
    return Bytes(static_cast<std::int64_t>(std::min<detail::Int128>(wire, Bytes::max().count())));
}

Time PathTerms::delivery_delay(Bytes size) const {
    if (extra_pace_ == 0.0 || size == Bytes(0)) {
        return latency_;
    }
    const Framing& framing = *terms_.framing;
    return latency_ + rounded(to_double(std::min(size, framing.mtu) + framing.header) * extra_pace_);
}

Time PathTerms::slow_start_delay(Bytes size) const {
    if (!terms_.slow_start) {
        return Time(0);
    }
    double window = to_double(terms_.slow_start->initial_window);
    double delay = 0.0;
    for (double sent = window; window < pipe_ && sent < to_double(size); sent += window) {
        delay += to_double(round_trip_) - window * pace_;
        window *= 2.0;
    }
    return rounded(delay);
}

Time PathTerms::incast_delay(std::uint64_t n) const {
    if (!terms_.incast) {
        return Time(0);
    }
    const double under_way = static_cast<double>(n) * to_double(*terms_.window);
    return under_way > to_double(terms_.incast->buffer) + held_ ? terms_.incast->timeout : Time(0);
}

}  // namespace astrolabe::network
