#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <astrolabe/workload/dlrm/lookup_traits.hpp>

namespace astrolabe::workload {

namespace {

/// base^exponent by squaring.
double power(double base, std::int64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) {
            result *= base;
        }
        base *= base;
    }
    return result;
}

/// e^-x for x >= 0, to a relative error of about 10^-6.
double decay(double x) {
    constexpr std::int64_t kSteps = std::int64_t{1} << 32;
    return x >= 700 ? 0.0 : power(1 - x / static_cast<double>(kSteps), kSteps);
}

/// The probability that a row met k times in the whole batch is met in s of it; k need not be whole.
double met(double k, double s) {
    if (s > 1) {
        return (1 - decay(s * k)) / (1 - decay(k));
    }
    const auto whole = static_cast<std::int64_t>(k);
    const double low = 1 - power(1 - s, whole);
    const double high = 1 - power(1 - s, whole + 1);
    return low + (high - low) * (k - static_cast<double>(whole));
}

/// Mean times that rows of class c are met: from both shares, as far as they agree with the class.
double times_met(const ReuseHistogram& histogram, std::size_t c) {
    const double high = power(2, static_cast<std::int64_t>(c));
    const double low = c < 2 ? high : high / 2 + 1;
    const double rows = histogram.rows[c];
    const double mean = rows > 0 ? histogram.lookups_per_row * histogram.lookups[c] / rows : 0.75 * high;
    return std::clamp(mean, low, high);
}

/// Rows of class c for each lookup of the batch, from the share that is published with more digits: the
/// larger.
double rows_a_lookup(const ReuseHistogram& histogram, std::size_t c) {
    const double rows = histogram.rows[c];
    const double lookups = histogram.lookups[c];
    return rows >= lookups ? rows / histogram.lookups_per_row : lookups / times_met(histogram, c);
}

void check_shares(ValidationErrors& found, const std::string& key, const std::vector<double>& shares) {
    constexpr double kTolerance = 0.02;  // of shares published with three digits
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    require(found, std::all_of(shares.begin(), shares.end(), [](double share) { return share >= 0; }), key,
            "a share cannot be negative");
    require(found, std::abs(sum - 1) <= kTolerance, key,
            fmt::format("the shares of all classes sum to {}, expected 1", sum),
            "class c counts rows that are met more than 2^(c-1) and up to 2^c times");
}

}  // namespace

double ReuseHistogram::unique_share(std::int64_t samples) const {
    const double s = static_cast<double>(samples) / static_cast<double>(batch);
    double all = 0;
    double found = 0;
    for (std::size_t c = 0; c < lookups.size(); ++c) {
        const double rows_of_class = rows_a_lookup(*this, c);
        all += rows_of_class;
        found += rows_of_class * met(times_met(*this, c), s);
    }
    return found / all / lookups_per_row / s;
}

ValidationErrors validation_errors(const ReuseHistogram& histogram) {
    ValidationErrors found;
    require(found, histogram.batch >= 1, "batch",
            fmt::format("the histogram counts at least one sample, got {}", histogram.batch));
    require(found, histogram.lookups_per_row >= 1, "lookups_per_row",
            fmt::format("a row that is met is met at least once, got {}", histogram.lookups_per_row));
    require(found, !histogram.rows.empty() && histogram.rows.size() <= 63, "rows",
            fmt::format("a histogram has 1 to 63 classes, got {}", histogram.rows.size()));
    require(
        found, histogram.rows.size() == histogram.lookups.size(), "lookups",
        fmt::format("{} classes of lookups, but {} of rows", histogram.lookups.size(), histogram.rows.size()),
        "give both shares of every class");
    if (found.empty()) {
        check_shares(found, "rows", histogram.rows);
        check_shares(found, "lookups", histogram.lookups);
    }
    return found;
}

std::int64_t unique_rows(const LookupTraits& traits, std::int64_t rows, std::int64_t lookups,
                         std::int64_t samples) {
    const std::int64_t most = std::min(rows, lookups);
    if (most <= 1 || samples < 1) {
        return std::max<std::int64_t>(most, 0);
    }
    double unique = 0;
    if (traits.unique_share) {
        unique = *traits.unique_share * static_cast<double>(lookups);
    } else if (traits.reuse) {
        unique = traits.reuse->unique_share(samples) * static_cast<double>(lookups);
    } else {
        const auto all = static_cast<double>(rows);
        unique = all * (1 - power(1 - 1 / all, lookups));
    }
    constexpr double kExact = 1 - 1e-9;  // an error of rounding makes no further row
    return std::clamp(static_cast<std::int64_t>(std::ceil(unique * kExact)), std::int64_t{1}, most);
}

}  // namespace astrolabe::workload
