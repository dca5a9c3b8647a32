#include <algorithm>
#include <cmath>
#include <cstdint>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/records/interval_sums.hpp>

namespace astrolabe::experiment {
namespace {

using Amount = IntervalSums::Amount;

/// ⌊amount · part / whole⌋, 0 <= part <= whole, without a product that does not fit.
Amount part_of(Amount amount, Time part, Time whole) {
    const Amount quotient = amount / whole.count();
    const Amount rest = amount % whole.count();
    return quotient * part.count() + rest * part.count() / whole.count();
}

}  // namespace

Amount IntervalSums::units(double bytes) {
    constexpr double kFast = 0x1p62;  // conversions to 64 bits are
    const double units = std::floor(bytes * kUnits + 0.5);
    return units < kFast ? static_cast<std::int64_t>(units) : static_cast<Amount>(units);
}

void IntervalSums::add(Time interval, Time from, Time to, Amount amount) {
    ASTROLABE_ASSERT(Time(0) <= from && from <= to && amount >= 0, "a piece has a length and an amount");
    if (amount == 0) {
        return;
    }
    total_ += amount;
    const Time last_instant = std::max(Time(0), to - Time(1));
    const auto last = static_cast<std::size_t>(last_instant / interval);
    const std::size_t first = from >= interval * last ? last : static_cast<std::size_t>(from / interval);
    if (cells_.size() <= last) {
        cells_.resize(last + 1);
    }
    if (first == last) {
        cells_[first].part += amount;
        return;
    }
    const Time length = to - from;
    const Amount begin = part_of(amount, interval - from % interval, length);
    const Amount middle = part_of(amount, interval, length);
    cells_[first].part += begin;
    cells_[first + 1].step += middle;
    cells_[last].step -= middle;
    cells_[last].part += amount - begin - middle * static_cast<Amount>(last - first - 1);
}

void IntervalSums::merge_pairs() {
    const std::vector<Amount> before = values();
    cells_.assign((before.size() + 1) / 2, {});
    for (std::size_t i = 0; i < before.size(); ++i) {
        cells_[i / 2].part += before[i];
    }
}

std::vector<Amount> IntervalSums::values() const {
    std::vector<Amount> values;
    values.reserve(cells_.size());
    Amount whole = 0;
    for (const Cell& cell : cells_) {
        whole += cell.step;
        values.push_back(whole + cell.part);
    }
    return values;
}

}  // namespace astrolabe::experiment
