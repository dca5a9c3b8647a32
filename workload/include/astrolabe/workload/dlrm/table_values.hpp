/// One positive integer for each table of a group: its rows, its dimension or its pooling.
///
/// Four ways to give them:
///     same          one number for all
///     list          one number each
///     range         from, from + step, … up to `to`
///     distribution  drawn independently from a seeded distribution over the multiples of `multiple_of` in
///                   [min, max]
///
/// With u uniform in [0, 1), lo and hi the smallest and the largest multiple, both divided by `multiple_of`:
///     uniform      lo + floor(u·(hi - lo + 1))
///     log_uniform  floor(lo·((hi + 1)/lo)^u)
///     normal       round(μ + σ·z), drawn again while outside [lo, hi]; μ = `mean`, or the middle of min and
///                  max; σ = `deviation`; z = the sum of 12 uniforms - 6, whose tails end at ±6
///     zipf         the i-th largest of the group is max(lo, floor(hi / i^s)), s = `exponent`; the seed
///                  shuffles them
///
/// `mean` or `sum`, where given, hold exactly. The values drawn are moved to the sum S that was asked for in
/// rounds: in each, value v moves towards hi by (v - lo)·(hi - v)/(hi - lo), or by the same share of it
/// for all where less is missing, and towards lo likewise. Values at lo and at hi stay, so a distribution
/// keeps its ends; where nothing else can move, they move too.
///
/// The same seed gives the same values on every machine: random numbers are splitmix64 (Steele, Lea, Flood,
/// "Fast splittable pseudorandom number generators", OOPSLA 2014), logarithms and powers 32-bit fixed point,
/// computed with integers. A scaled random number is biased by less than 2^-20.
///
/// Complexity: O(count · log(max)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <astrolabe/core/validation_error.hpp>

namespace astrolabe::workload {

struct ValueRange {
    std::int64_t from = 1;
    std::int64_t to = 1;  ///< the last value is the largest that does not exceed it
    std::int64_t step = 1;
};

enum class DistributionShape : std::uint8_t { kUniform, kLogUniform, kNormal, kZipf };

struct ValueDistribution {
    DistributionShape shape = DistributionShape::kUniform;
    std::int64_t min = 1;
    std::int64_t max = 1;
    std::optional<std::int64_t> mean = std::nullopt;
    std::optional<std::int64_t> sum = std::nullopt;
    std::int64_t multiple_of = 1;
    std::optional<std::int64_t> deviation = std::nullopt;  ///< σ; kNormal only
    std::optional<double> exponent = std::nullopt;         ///< s, taken to thousandths; kZipf only
    std::int64_t seed = 1;
};

class TableValues {
public:
    TableValues(std::int64_t same = 1)  // NOLINT(google-explicit-constructor): reads as the number itself
        : form_(same) {}
    explicit TableValues(std::vector<std::int64_t> each)
        : form_(std::move(each)) {}
    explicit TableValues(ValueRange range)
        : form_(range) {}
    explicit TableValues(ValueDistribution distribution)
        : form_(distribution) {}

    using Form = std::variant<std::int64_t, std::vector<std::int64_t>, ValueRange, ValueDistribution>;
    [[nodiscard]] const Form& form() const { return form_; }
    [[nodiscard]] bool is_same() const { return std::holds_alternative<std::int64_t>(form_); }

    /// Errors of these as the values of `count` >= 1 tables, each at most `largest`. Keys: `key`
    /// itself, and below it.
    [[nodiscard]] ValidationErrors validation_errors(const std::string& key, std::int64_t count,
                                                     std::int64_t largest) const;
    /// The values, first table first; requires no validation errors. `stream` separates random numbers that
    /// are drawn with one seed for different purposes.
    [[nodiscard]] std::vector<std::int64_t> values(std::int64_t count, std::string_view stream) const;

private:
    Form form_;
};

/// Most tables of a group whose values differ.
inline constexpr std::int64_t kMaxDifferentTables = std::int64_t{1} << 16;

}  // namespace astrolabe::workload
