#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/workload/dlrm/table_values.hpp>

namespace astrolabe::workload {
namespace {

using Values = std::vector<std::int64_t>;
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

std::int64_t sum_of(const Values& values) {
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

std::vector<std::string> keys_of(const TableValues& values, std::int64_t count) {
    std::vector<std::string> keys;
    for (const ValidationError& problem : values.validation_errors("rows", count, kLargest)) {
        EXPECT_FALSE(problem.message.empty());
        keys.push_back(problem.key);
    }
    return keys;
}
using Keys = std::vector<std::string>;

TEST(TableValues, OneNumberAListOrARange) {
    EXPECT_EQ(TableValues(7).values(3, "rows"), (Values{7, 7, 7}));
    EXPECT_EQ(TableValues(Values{3, 1, 2}).values(3, "rows"), (Values{3, 1, 2}));
    const TableValues range(ValueRange{.from = 4, .to = 11, .step = 3});
    EXPECT_EQ(range.values(3, "rows"), (Values{4, 7, 10}));
    EXPECT_EQ(keys_of(range, 3), Keys{});
}

TEST(TableValues, AsManyValuesAsTables) {
    EXPECT_EQ(keys_of(TableValues(Values{1, 2}), 3), Keys{"rows"});
    EXPECT_EQ(keys_of(TableValues(ValueRange{.from = 1, .to = 4}), 3), Keys{"rows"});
    EXPECT_EQ(keys_of(TableValues(Values{1, 0}), 2), Keys{"rows.1"});
}

/// The distribution is the definition of splitmix64 and of the header's formula, so its values are known
/// without the program: uniform over 1 … 2^k takes the upper k bits of each random number.
TEST(TableValues, UniformTakesTheUpperBitsOfSplitmix) {
    const TableValues values(ValueDistribution{.min = 1, .max = std::int64_t{1} << 32, .seed = 5});
    const Values drawn = values.values(3, "");
    std::uint64_t state = 5U ^ 0xcbf29ce484222325U;  // FNV-1a of nothing
    for (const std::int64_t value : drawn) {
        state += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        EXPECT_EQ(value, 1 + static_cast<std::int64_t>((z ^ (z >> 31U)) >> 32U));
    }
}

TEST(TableValues, LogUniformHasAsMuchInEveryOctave) {
    const TableValues values(
        ValueDistribution{.shape = DistributionShape::kLogUniform, .min = 1, .max = 1023, .seed = 3});
    const Values drawn = values.values(10'000, "rows");
    // 10 octaves, 1 to 1, 2 to 3, …, 512 to 1023: each has a tenth, 1000 ± 5·sqrt(1000·0.9) = ± 150.
    for (int octave = 0; octave < 10; ++octave) {
        const auto inside = std::count_if(drawn.begin(), drawn.end(),
                                          [octave](std::int64_t value) { return (value >> octave) == 1; });
        EXPECT_NEAR(static_cast<double>(inside), 1000.0, 150.0) << "octave " << octave;
    }
}

TEST(TableValues, NormalLiesAroundItsMean) {
    const TableValues values(ValueDistribution{
        .shape = DistributionShape::kNormal, .min = 1, .max = 2'000'000, .deviation = 100'000, .seed = 3});
    const Values drawn = values.values(10'000, "rows");
    // Middle of min and max; the mean of 10,000 strays by 100,000/100, five of them are 5000.
    EXPECT_NEAR(static_cast<double>(sum_of(drawn)) / 10'000, 1'000'000.5, 5000.0);
    const auto within = std::count_if(
        drawn.begin(), drawn.end(), [](std::int64_t value) { return value > 900'000 && value <= 1'100'000; });
    EXPECT_NEAR(static_cast<double>(within), 6827.0, 250.0);  // ± one deviation
}

TEST(TableValues, ZipfFallsWithThePowerOfTheRank) {
    const TableValues values(ValueDistribution{
        .shape = DistributionShape::kZipf, .min = 10, .max = 1 << 20, .exponent = 1.0, .seed = 3});
    Values drawn = values.values(64, "rows");
    EXPECT_FALSE(std::is_sorted(drawn.begin(), drawn.end(), std::greater<>()));  // the seed shuffles
    std::sort(drawn.begin(), drawn.end(), std::greater<>());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const double expected = static_cast<double>(1 << 20) / static_cast<double>(i + 1);
        EXPECT_NEAR(static_cast<double>(drawn[i]), expected, 1.0) << i;
    }
}

TEST(TableValues, StreamsAndSeedsDiffer) {
    const ValueDistribution one{.min = 1, .max = 1'000'000, .seed = 1};
    ValueDistribution two = one;
    two.seed = 2;
    EXPECT_EQ(TableValues(one).values(8, "rows"), TableValues(one).values(8, "rows"));
    EXPECT_NE(TableValues(one).values(8, "rows"), TableValues(one).values(8, "pooling"));
    EXPECT_NE(TableValues(one).values(8, "rows"), TableValues(two).values(8, "rows"));
}

TEST(TableValues, DistributionsThatCannotBe) {
    EXPECT_EQ(keys_of(TableValues(ValueDistribution{.min = 5, .max = 4}), 3), Keys{"rows.max"});
    EXPECT_EQ(keys_of(TableValues(ValueDistribution{.min = 5, .max = 7, .multiple_of = 4}), 3),
              Keys{"rows.multiple_of"});
    EXPECT_EQ(keys_of(TableValues(ValueDistribution{.min = 5, .max = 7, .mean = 8}), 3), Keys{"rows.mean"});
    // Three multiples of 4 have no sum of 22.
    EXPECT_EQ(keys_of(TableValues(ValueDistribution{.min = 4, .max = 8, .sum = 22, .multiple_of = 4}), 3),
              Keys{"rows.sum"});
    EXPECT_EQ(keys_of(TableValues(ValueDistribution{.min = 4, .max = 8, .mean = 5, .sum = 15}), 3),
              Keys{"rows.sum"});
    EXPECT_EQ(keys_of(TableValues(ValueDistribution{.shape = DistributionShape::kNormal, .max = 8}), 3),
              Keys{"rows.deviation"});
    EXPECT_EQ(keys_of(TableValues(ValueDistribution{.max = 8, .exponent = 1.0}), 3), Keys{"rows.exponent"});
    EXPECT_EQ(keys_of(TableValues(ValueDistribution{.max = 8}), kMaxDifferentTables + 1), Keys{"rows"});
}

/// Of the whole interval from the first case on.
std::int64_t number(std::int64_t from, std::int64_t end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, end));
}

/// Whatever is drawn lies in the interval, on the grid, and has the sum that was asked for.
RC_GTEST_PROP(TableValuesProperty, KeepIntervalGridAndSum, ()) {
    ValueDistribution d;
    d.shape = *rc::gen::element(DistributionShape::kUniform, DistributionShape::kLogUniform,
                                DistributionShape::kNormal, DistributionShape::kZipf);
    d.multiple_of = number(1, 9);
    const std::int64_t low = number(1, 1000);
    const std::int64_t high = low + number(0, 100'000'000);
    d.min = low * d.multiple_of;
    d.max = high * d.multiple_of;
    d.seed = *rc::gen::arbitrary<std::int64_t>();
    if (d.shape == DistributionShape::kNormal) {
        d.deviation = number(0, d.max);
    }
    if (d.shape == DistributionShape::kZipf) {
        d.exponent = static_cast<double>(number(1, 3000)) / 1000;
    }
    const auto count = number(1, 200);
    const bool steered = *rc::gen::arbitrary<bool>();
    if (steered) {
        d.sum = d.multiple_of * number(low * count, high * count + 1);
    }
    const TableValues values(d);
    RC_ASSERT(values.validation_errors("rows", count, kLargest).empty());
    const Values drawn = values.values(count, "rows");
    RC_ASSERT(static_cast<std::int64_t>(drawn.size()) == count);
    for (const std::int64_t value : drawn) {
        RC_ASSERT(value >= d.min && value <= d.max && value % d.multiple_of == 0);
    }
    RC_ASSERT(!steered || sum_of(drawn) == *d.sum);
}

}  // namespace
}  // namespace astrolabe::workload
