#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/dlrm/table_values.hpp>

namespace astrolabe::workload {

namespace {

using detail::Int128;
using Values = std::vector<std::int64_t>;
__extension__ typedef unsigned __int128 Uint128;

class SplitMix {
public:
    explicit SplitMix(std::uint64_t seed)
        : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// Uniform in [0, n).
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>((Uint128{next()} * static_cast<std::uint64_t>(n)) >> 64U);
    }

private:
    std::uint64_t state_;
};

/// FNV-1a.
constexpr std::uint64_t hash(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325U;
    for (const char c : text) {
        h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return h;
}

// Logarithms and their fractions: 32 bits after the point.
constexpr int kFractionBits = 32;

/// log2(x), rounded down; x >= 1.
constexpr std::int64_t log2_fixed(std::uint64_t x) {
    const int whole = static_cast<int>(std::bit_width(x)) - 1;
    std::uint64_t mantissa = x << (63 - whole);  // in [1, 2), 63 bits after the point
    std::int64_t fraction = 0;
    for (int bit = 0; bit < kFractionBits; ++bit) {
        const Uint128 square = Uint128{mantissa} * mantissa;  // 126 bits after the point
        const bool reaches_two = (square >> 127U) != 0;
        mantissa = static_cast<std::uint64_t>(square >> (reaches_two ? 64U : 63U));
        fraction = 2 * fraction + (reaches_two ? 1 : 0);
    }
    return (std::int64_t{whole} << kFractionBits) + fraction;
}
static_assert(log2_fixed(1) == 0 && log2_fixed(1024) == std::int64_t{10} << kFractionBits);

constexpr std::uint64_t square_root(Uint128 x) {
    Uint128 root = 0;
    for (int bit = 63; bit >= 0; --bit) {
        const Uint128 candidate = root | (Uint128{1} << static_cast<unsigned>(bit));
        if (candidate * candidate <= x) {
            root = candidate;
        }
    }
    return static_cast<std::uint64_t>(root);
}

/// 2^(2^-k) for k = 0 … 32, 62 bits after the point.
constexpr std::array<std::uint64_t, kFractionBits + 1> roots_of_two() {
    std::array<std::uint64_t, kFractionBits + 1> roots{};
    roots[0] = std::uint64_t{1} << 63U;
    for (std::size_t k = 1; k < roots.size(); ++k) {
        roots[k] = square_root(Uint128{roots[k - 1]} << 62U);
    }
    return roots;
}

/// 2^y, 16 bits after the point, rounded down; 0 <= y < 46.
std::int64_t exp2_fixed(std::int64_t y) {
    static constexpr auto kRoots = roots_of_two();
    const auto whole = static_cast<unsigned>(y >> kFractionBits);
    std::uint64_t mantissa = std::uint64_t{1} << 62U;
    for (std::size_t k = 1; k < kRoots.size(); ++k) {
        if (((y >> (kFractionBits - k)) & 1) != 0) {
            mantissa = static_cast<std::uint64_t>((Uint128{mantissa} * kRoots[k]) >> 62U);
        }
    }
    return static_cast<std::int64_t>(mantissa >> (46U - whole));
}
constexpr int kPowerBits = 16;

struct Multiples {
    std::int64_t lo = 0;
    std::int64_t hi = 0;
};

Multiples multiples(const ValueDistribution& d) {
    return {(d.min + d.multiple_of - 1) / d.multiple_of, d.max / d.multiple_of};
}

std::optional<Int128> target_sum(const ValueDistribution& d, std::int64_t count) {
    if (d.sum) {
        return *d.sum;
    }
    return d.mean ? std::optional(static_cast<Int128>(*d.mean) * count) : std::nullopt;
}

std::int64_t log_uniform(SplitMix& random, Multiples m) {
    const std::int64_t low = log2_fixed(static_cast<std::uint64_t>(m.lo));
    const std::int64_t high = log2_fixed(static_cast<std::uint64_t>(m.hi) + 1);
    const std::int64_t power = exp2_fixed(low + random.below(high - low + 1));
    return std::clamp(power >> kPowerBits, m.lo, m.hi);
}

std::int64_t normal(SplitMix& random, Multiples m, const ValueDistribution& d) {
    const Int128 doubled_mean = d.mean ? Int128{2} * *d.mean : Int128{d.min} + d.max;
    for (int attempt = 0; attempt < 1000; ++attempt) {
        std::int64_t z = -(std::int64_t{6} << 32U);
        for (int i = 0; i < 12; ++i) {
            z += static_cast<std::int64_t>(random.next() >> 32U);
        }
        // round((μ + σ·z) / multiple_of), in units of 2^-33
        const Int128 value = (doubled_mean << 32U) + Int128{2} * *d.deviation * z;
        const Int128 unit = Int128{d.multiple_of} << 33U;
        const Int128 rounded = value < 0 ? -1 : (value + unit / 2) / unit;
        if (rounded >= m.lo && rounded <= m.hi) {
            return static_cast<std::int64_t>(rounded);
        }
    }
    return m.lo + random.below(m.hi - m.lo + 1);  // the interval is far out in a tail
}

Values zipf(SplitMix& random, Multiples m, const ValueDistribution& d, std::size_t count) {
    const auto thousandths = static_cast<std::int64_t>(std::llround(*d.exponent * 1000.0));
    const std::int64_t log_high = log2_fixed(static_cast<std::uint64_t>(m.hi));
    Values values(count, m.lo);
    for (std::size_t i = 0; i < count; ++i) {
        const Int128 fall = static_cast<Int128>(log2_fixed(i + 1)) * thousandths / 1000;
        if (fall == 0) {
            values[i] = m.hi;
        } else if (fall < log_high) {
            values[i] = std::max(m.lo, exp2_fixed(log_high - static_cast<std::int64_t>(fall)) >> kPowerBits);
        }
    }
    for (std::size_t i = count; i > 1; --i) {
        const auto other = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)));
        std::swap(values[i - 1], values[other]);
    }
    return values;
}

/// Raises values within [lo, hi] by `missing` <= Σ (hi - v) in total, as in the header.
void raise(Values& values, Multiples m, Int128 missing) {
    Values room(values.size());
    while (missing > 0) {
        const auto movable = [&](std::int64_t v) {
            return static_cast<std::int64_t>(static_cast<Int128>(v - m.lo) * (m.hi - v) / (m.hi - m.lo));
        };
        std::transform(values.begin(), values.end(), room.begin(), movable);
        Int128 total = std::accumulate(room.begin(), room.end(), Int128{0});
        if (total == 0) {
            std::transform(values.begin(), values.end(), room.begin(),
                           [&](std::int64_t v) { return m.hi - v; });
            total = std::accumulate(room.begin(), room.end(), Int128{0});
        }
        const Int128 taken = std::min(missing, total);
        Int128 seen = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Int128 before = seen * taken / total;
            seen += room[i];
            values[i] += static_cast<std::int64_t>(seen * taken / total - before);
        }
        missing -= taken;
    }
}

void move_to_sum(Values& values, Multiples m, Int128 sum) {
    const Int128 missing = sum - std::accumulate(values.begin(), values.end(), Int128{0});
    if (missing >= 0) {
        raise(values, m, missing);
        return;
    }
    const auto mirror = [&] {
        for (std::int64_t& value : values) {
            value = m.lo + m.hi - value;
        }
    };
    mirror();
    raise(values, m, -missing);
    mirror();
}

Values draw(const ValueDistribution& d, std::size_t count, std::string_view stream) {
    const Multiples m = multiples(d);
    SplitMix random(static_cast<std::uint64_t>(d.seed) ^ hash(stream));
    Values values(count);
    if (d.shape == DistributionShape::kZipf) {
        values = zipf(random, m, d, count);
    } else {
        for (std::int64_t& value : values) {
            value = d.shape == DistributionShape::kUniform      ? m.lo + random.below(m.hi - m.lo + 1)
                    : d.shape == DistributionShape::kLogUniform ? log_uniform(random, m)
                                                                : normal(random, m, d);
        }
    }
    if (const std::optional<Int128> sum = target_sum(d, static_cast<std::int64_t>(count))) {
        move_to_sum(values, m, *sum / d.multiple_of);
    }
    for (std::int64_t& value : values) {
        value *= d.multiple_of;
    }
    return values;
}

std::string out_of_range(std::int64_t value, std::int64_t largest) {
    return fmt::format("must be from 1 to {}, got {}", largest, value);
}

void check_list(ValidationErrors& found, const std::string& key, const Values& list, std::int64_t count,
                std::int64_t largest) {
    require(found, static_cast<std::int64_t>(list.size()) == count, key,
            fmt::format("the list has {} values for {} tables", list.size(), count),
            "give one value a table, or one number for all");
    for (std::size_t i = 0; i < list.size(); ++i) {
        require(found, list[i] >= 1 && list[i] <= largest, fmt::format("{}.{}", key, i),
                out_of_range(list[i], largest));
    }
}

void check_range(ValidationErrors& found, const std::string& key, ValueRange range, std::int64_t count,
                 std::int64_t largest) {
    require(found, range.from >= 1 && range.from <= largest, key + ".from",
            out_of_range(range.from, largest));
    require(found, range.to >= range.from && range.to <= largest, key + ".to",
            fmt::format("must be from {} to {}, got {}", range.from, largest, range.to));
    require(found, range.step >= 1, key + ".step", fmt::format("must be at least 1, got {}", range.step));
    if (found.empty()) {
        const std::int64_t given = (range.to - range.from) / range.step + 1;
        require(found, given == count, key,
                fmt::format("the range has {} values for {} tables", given, count),
                "change its end, its step or the count");
    }
}

void check_shape(ValidationErrors& found, const std::string& key, const ValueDistribution& d) {
    const bool is_normal = d.shape == DistributionShape::kNormal;
    const bool is_zipf = d.shape == DistributionShape::kZipf;
    require(found, d.deviation.has_value() == is_normal, key + ".deviation",
            is_normal ? "normal needs a deviation" : "only normal has a deviation");
    require(found, !d.deviation || (*d.deviation >= 0 && *d.deviation <= d.max), key + ".deviation",
            "must be from 0 to max");
    require(found, d.exponent.has_value() == is_zipf, key + ".exponent",
            is_zipf ? "zipf needs an exponent" : "only zipf has an exponent");
    require(found, !d.exponent || (*d.exponent >= 0.001 && *d.exponent <= 16), key + ".exponent",
            "must be from 0.001 to 16");
}

void check_sum(ValidationErrors& found, const std::string& key, const ValueDistribution& d,
               std::int64_t count) {
    const std::optional<Int128> sum = target_sum(d, count);
    if (!sum) {
        return;
    }
    const std::string place = key + (d.sum ? ".sum" : ".mean");
    const Multiples m = multiples(d);
    const Int128 smallest = static_cast<Int128>(m.lo) * d.multiple_of * count;
    const Int128 largest = static_cast<Int128>(m.hi) * d.multiple_of * count;
    if (*sum < smallest || *sum > largest) {
        add_error(found, place,
                  fmt::format("{} values of {} to {} have sums from {} to {}, not {}", count,
                              m.lo * d.multiple_of, m.hi * d.multiple_of, static_cast<double>(smallest),
                              static_cast<double>(largest), static_cast<double>(*sum)),
                  "move min and max, or the sum");
    } else if (*sum % d.multiple_of != 0) {
        add_error(found, place,
                  fmt::format("the sum of the {} values is not a multiple of {}", count, d.multiple_of),
                  "all values are, so their sum is; change it or multiple_of");
    }
}

void check_distribution(ValidationErrors& found, const std::string& key, const ValueDistribution& d,
                        std::int64_t count, std::int64_t largest) {
    require(found, d.min >= 1 && d.min <= largest, key + ".min", out_of_range(d.min, largest));
    require(found, d.max >= d.min && d.max <= largest, key + ".max",
            fmt::format("must be from {} to {}, got {}", d.min, largest, d.max));
    require(found, d.multiple_of >= 1 && d.multiple_of <= largest, key + ".multiple_of",
            out_of_range(d.multiple_of, largest));
    require(found, !(d.mean && d.sum), key + ".sum", "both a mean and a sum are given", "give one of them");
    check_shape(found, key, d);
    if (!found.empty()) {
        return;
    }
    const Multiples m = multiples(d);
    if (m.lo > m.hi) {
        add_error(found, key + ".multiple_of",
                  fmt::format("there is no multiple of {} from {} to {}", d.multiple_of, d.min, d.max));
        return;
    }
    check_sum(found, key, d, count);
}

}  // namespace

ValidationErrors TableValues::validation_errors(const std::string& key, std::int64_t count,
                                                std::int64_t largest) const {
    ValidationErrors found;
    if (!is_same() && count > kMaxDifferentTables) {
        return {{.key = key,
                 .message = fmt::format("{} tables are more than the {} whose values may differ", count,
                                        kMaxDifferentTables),
                 .hint = "give one number for all"}};
    }
    if (const auto* same = std::get_if<std::int64_t>(&form_)) {
        require(found, *same >= 1 && *same <= largest, key,
                fmt::format("{} {}", key, out_of_range(*same, largest)));
    } else if (const auto* list = std::get_if<Values>(&form_)) {
        check_list(found, key, *list, count, largest);
    } else if (const auto* range = std::get_if<ValueRange>(&form_)) {
        check_range(found, key, *range, count, largest);
    } else {
        check_distribution(found, key, std::get<ValueDistribution>(form_), count, largest);
    }
    return found;
}

std::vector<std::int64_t> TableValues::values(std::int64_t count, std::string_view stream) const {
    ASTROLABE_ASSERT(count >= 1, "a group has tables");
    const auto size = static_cast<std::size_t>(count);
    if (const auto* same = std::get_if<std::int64_t>(&form_)) {
        return Values(size, *same);
    }
    if (const auto* list = std::get_if<Values>(&form_)) {
        ASTROLABE_ASSERT(list->size() == size, "one value a table");
        return *list;
    }
    if (const auto* range = std::get_if<ValueRange>(&form_)) {
        Values values(size, range->from);
        for (std::size_t i = 1; i < size; ++i) {
            values[i] = values[i - 1] + range->step;
        }
        return values;
    }
    return draw(std::get<ValueDistribution>(form_), size, stream);
}

}  // namespace astrolabe::workload
