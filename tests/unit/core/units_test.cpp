#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe {
namespace {

TEST(Units, SerialisationTimeIsExactWhereItDividesAndRoundsUpWhereNot) {
    // 1500 B · 8 bit / 100 Gb/s = 120 ns.
    EXPECT_EQ(1500_B / 100_Gbps, 120_ns);
    // 64 B · 8 / 400e9 = 1.28 ns = 1280 ps.
    EXPECT_EQ(64_B / 400_Gbps, 1280_ps);
    // 1 B · 8 / 3 bit/s = 2.666… s, rounded up to the next picosecond.
    EXPECT_EQ(1_B / 3_bps, Time(2'666'666'666'667));
    EXPECT_EQ(0_B / 1_bps, 0_ps);
}

TEST(Units, LargeProductsNeedMoreThan64BitsAndAreExact) {
    // 2^40 B · 8 / 100e9 bit/s = 87.960930 22208 s; the intermediate is 2^43 · 1e12 ≈ 8.8e24.
    EXPECT_EQ(Bytes(std::int64_t{1} << 40) / 100_Gbps, Time(87'960'930'222'080));
}

TEST(Units, DurationsBeyondTheRangeSaturate) {
    EXPECT_EQ(Bytes::max() / 1_bps, Time::max());
    EXPECT_EQ(saturating_sum(Time::max() - 2_ps, 1_ps), Time::max() - 1_ps);
    EXPECT_EQ(saturating_sum(Time::max() - 2_ps, 3_ps), Time::max());
    EXPECT_EQ(saturating_sum(Time::max(), Time::max()), Time::max());
}

TEST(Units, WorkOverRateIsTime) {
    // 2 · 512 · 1600 · 1024 FLOP / 60 TFLOPS = 1 677 721 600 / 60e12 s = 27 962.0266… ns, rounded up in ps.
    EXPECT_EQ(Flops(2LL * 512 * 1600 * 1024) / 60_TFLOPS, Time(27'962'027));
}

TEST(Units, TextReadsBackToTheSameCount) {
    for (const std::int64_t count : std::vector<std::int64_t>{
             0LL, 1LL, 999LL, 1000LL, 1024LL, 1500LL, 65536LL, 500'000LL, 123'456'789LL, (1LL << 40),
             (1LL << 40) + 1, 1'000'000'000'000LL, 27'962'027LL, std::numeric_limits<std::int64_t>::max()}) {
        EXPECT_EQ(std::get<Time>(parse_time(to_string(Time(count)))), Time(count)) << to_string(Time(count));
        EXPECT_EQ(std::get<Bytes>(parse_bytes(to_string(Bytes(count)))), Bytes(count))
            << to_string(Bytes(count));
        EXPECT_EQ(std::get<Bandwidth>(parse_bandwidth(to_string(Bandwidth(count)))), Bandwidth(count));
        EXPECT_EQ(std::get<Flops>(parse_flops(to_string(Flops(count)))), Flops(count));
        EXPECT_EQ(std::get<FlopRate>(parse_flop_rate(to_string(FlopRate(count)))), FlopRate(count));
    }
}

TEST(Units, TextIsTheShortest) {
    EXPECT_EQ(to_string(500_ns), "500ns");
    EXPECT_EQ(to_string(1500_ns), "1.5us");
    EXPECT_EQ(to_string(64_MiB), "64MiB");
    EXPECT_EQ(to_string(Bytes(500'000)), "500KB");
    EXPECT_EQ(to_string(100_Gbps), "100Gbps");
    EXPECT_EQ(to_string(60_TFLOPS), "60TFLOPS");
    EXPECT_EQ(to_string(Time(0)), "0ps");
    EXPECT_EQ(to_string(Time(-1500)), "-1.5ns");
    EXPECT_EQ(to_string(Time(-500)), "-500ps");
}

TEST(Units, ReadableTextHasFourDigits) {
    EXPECT_EQ(readable(Time(1'234'567'890)), "1.235 ms");
    EXPECT_EQ(readable(4'194'304_B), "4.194 MB");
    EXPECT_EQ(readable(1234_s), "1234 s");
}

}  // namespace
}  // namespace astrolabe
