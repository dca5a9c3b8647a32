/// Mean, maximum and quantiles of many durations in fixed memory (57 KiB).
///
/// Durations of 2^e to 2^(e+1) ps are counted in 128 equal bins, those below 256 ps each by itself. A
/// quantile is the middle of the bin that holds it, so it is within 2^-8 = 0.4 % of the true one. Mean and
/// maximum are exact. Adding takes constant time.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe {

class TimeHistogram {
public:
    TimeHistogram()
        : bins_(kBins) {}

    /// `duration` >= 0
    void add(Time duration) {
        ASTROLABE_ASSERT(duration >= Time(0), "a duration is not negative");
        ++bins_[bin_of(static_cast<std::uint64_t>(duration.count()))];
        ++count_;
        sum_ += duration.count();
        max_ = std::max(max_, duration);
    }

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] Time max() const { return max_; }
    /// 0 of none.
    [[nodiscard]] double mean_seconds() const {
        return count_ == 0 ? 0.0
                           : static_cast<double>(sum_) / static_cast<double>(count_) /
                                 static_cast<double>(kPicosecondsPerSecond);
    }
    /// The smallest duration that at least `share` of all, 0 < share <= 1, do not exceed; 0 of none.
    [[nodiscard]] Time quantile(double share) const {
        const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
        std::uint64_t counted = 0;
        for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
            counted += bins_[bin];
            if (counted > 0 && counted >= rank) {
                return std::min(middle_of(bin), max_);
            }
        }
        return Time(0);
    }

private:
    static constexpr unsigned kBits = 7;  // of a duration, after the first, that select its bin
    static constexpr std::uint64_t kPerPower = std::uint64_t{1} << kBits;
    static constexpr std::size_t kBins = (63 - kBits + 1) * kPerPower;

    static std::size_t bin_of(std::uint64_t picoseconds) {
        const auto width = static_cast<unsigned>(std::bit_width(picoseconds));
        const unsigned shift = width > kBits + 1 ? width - kBits - 1 : 0;
        return shift * kPerPower + (picoseconds >> shift);
    }
    static Time middle_of(std::size_t bin) {
        const std::size_t shift = bin < 2 * kPerPower ? 0 : bin / kPerPower - 1;
        const std::uint64_t smallest = (bin - shift * kPerPower) << shift;
        return Time(static_cast<std::int64_t>(smallest + (std::uint64_t{1} << shift) / 2));
    }

    std::vector<std::uint64_t> bins_;
    std::uint64_t count_ = 0;
    detail::Int128 sum_ = 0;
    Time max_{};
};

}  // namespace astrolabe
