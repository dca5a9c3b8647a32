/// Amounts over time, summed in intervals of one length from 0 on.
///
/// Model. Of an amount A of [s, t] an interval [a, b) inside it has
///
///     ⌊A · (b - s) / (t - s)⌋ - ⌊A · (a - s) / (t - s)⌋
///
/// and the last one the rest, so that nothing is lost: the intervals sum to the amounts that were added,
/// exactly. What happens at one instant counts in the interval that ends with it, or holds it. Two intervals
/// can be made one, and lose nothing either.
///
/// Units. Amounts are whole numbers, of 2^-30 bytes: an interval in the middle of a long piece is off by less
/// than one of these, and the last one by as many as the piece has intervals, 10^-4 bytes for 100,000.
///
/// Complexity: O(1) to add, however many intervals the piece has: the middle ones are kept as differences.
/// Memory: 32 bytes for each interval up to the last one that has something.
#pragma once

#include <cstddef>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::experiment {

class IntervalSums {
public:
    using Amount = detail::Int128;

    /// Of a byte.
    static constexpr double kUnits = 0x1p30;
    [[nodiscard]] static Amount units(double bytes);

    /// from <= to; `interval` is that of all calls since two intervals became one.
    void add(Time interval, Time from, Time to, Amount amount);
    /// Intervals are twice as long from now on.
    void merge_pairs();

    /// By interval; what follows is 0.
    [[nodiscard]] std::vector<Amount> values() const;
    [[nodiscard]] Amount total() const { return total_; }

private:
    struct Cell {
        Amount part = 0;  ///< of pieces that start or end in it
        Amount step = 0;  ///< more in this interval and all later ones
    };

    std::vector<Cell> cells_;
    Amount total_ = 0;
};

}  // namespace astrolabe::experiment
