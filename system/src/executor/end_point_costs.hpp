/// What a message costs where it leaves and where it arrives, as arithmetic (docs/models/end-points.md).
///
/// With d the injection latency, m the bytes of a message and B the reduction bandwidth:
///
///                                kPerMessage              kAstraSim1
///     a rank starts a chunk      -                        d
///     a message leaves           d                        -
///     a message has arrived      p if it is added         d, and p more if it is added
///     p                          3m / B, up to the ps     3·⌊m / B⌋, the quotient in whole ns
///
/// Three because both summands are read and the sum is written. Without a reduction bandwidth p is 0. Times
/// are at most Time::max().
#pragma once

#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

/// Of the message that asks a sender for its data: 8192 B (docs/theory/collectives-and-costs.md, "End
/// points").
inline constexpr Bytes kRequestSize = Bytes(8192);

class EndPointCosts {
public:
    explicit EndPointCosts(const EndPoint& end_point)
        : end_point_(end_point) {
        const ValidationErrors found = validation_errors(end_point);
        ASTROLABE_ASSERT(found.empty(), found.front().key + ": " + found.front().message);
    }

    /// Of every message, before it enters the network.
    [[nodiscard]] Time copy() const { return is_astra_sim() ? Time(0) : end_point_.injection_latency; }
    [[nodiscard]] bool copies_serially() const { return end_point_.copy_engine == CopyEngine::kSerial; }

    /// When a rank starts a chunk, before it sends or receives anything.
    [[nodiscard]] Time start() const { return is_astra_sim() ? end_point_.injection_latency : Time(0); }

    /// Whether `reception` is ever more than 0.
    [[nodiscard]] bool has_receptions() const {
        return start() > Time(0) || end_point_.reduction_bandwidth.has_value();
    }
    /// Of a message that has arrived, before it counts as received.
    [[nodiscard]] Time reception(Bytes size, bool is_reduction) const {
        const Time addition = is_reduction && end_point_.reduction_bandwidth ? reduction(size) : Time(0);
        return addition < Time::max() - start() ? start() + addition : Time::max();
    }

    [[nodiscard]] bool has_rendezvous() const { return end_point_.rendezvous_threshold.has_value(); }
    [[nodiscard]] bool needs_request(Bytes size) const {
        return has_rendezvous() && size >= *end_point_.rendezvous_threshold;
    }

private:
    static constexpr std::int64_t kAccesses = 3;

    [[nodiscard]] bool is_astra_sim() const { return end_point_.timing == EndPointTiming::kAstraSim1; }
    [[nodiscard]] Time reduction(Bytes size) const {
        constexpr std::int64_t kPicosecondsPerNanosecond = 1'000;
        using astrolabe::detail::Int128;
        const std::int64_t rate = end_point_.reduction_bandwidth->count();
        const Int128 work = static_cast<Int128>(size.count()) * (8 * kPicosecondsPerSecond);
        const Int128 time = is_astra_sim() ? work / (rate * Int128{kPicosecondsPerNanosecond}) * kAccesses *
                                                 kPicosecondsPerNanosecond
                                           : (work * kAccesses + (rate - 1)) / rate;
        return time < Time::max().count() ? Time(static_cast<std::int64_t>(time)) : Time::max();
    }

    EndPoint end_point_;
};

}  // namespace astrolabe::system::detail
