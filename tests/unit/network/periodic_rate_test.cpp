/// Closed forms of a repeating rate against arithmetic by hand and against walking from segment to segment.
#include "network/src/engines/fluid/periodic_rate.hpp"

#include "random_seed.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network {
namespace {

constexpr double kGbps = 1e9;

/// 8 Gb/s, a byte in 1 ns, for 10 of 100 ns; then 4 Gb/s for 20 of them.
PeriodicRate two_segments() {
    PeriodicRate rate(100_ns);
    rate.append(30_ns, 40_ns, 8 * kGbps);
    rate.append(60_ns, 80_ns, 4 * kGbps);
    return rate;
}

TEST(PeriodicRate, ServesNothingBetweenSegments) {
    const PeriodicRate rate = two_segments();
    // 10 bytes in each segment.
    EXPECT_EQ(rate.served(0_ns, 30_ns), 0.0);
    EXPECT_EQ(rate.served(0_ns, 35_ns), 5.0);
    EXPECT_EQ(rate.served(0_ns, 60_ns), 10.0);
    EXPECT_EQ(rate.served(0_ns, 70_ns), 15.0);
    EXPECT_EQ(rate.served(35_ns, 170_ns), 5.0 + 10.0 + 10.0 + 5.0);
    EXPECT_EQ(rate.rate_at(135_ns), 8 * kGbps);
    EXPECT_EQ(rate.rate_at(140_ns), 0.0);
}

TEST(PeriodicRate, CompletesAtTheEarliestTime) {
    const PeriodicRate rate = two_segments();
    EXPECT_EQ(rate.completion(0_ns, 5.0), 35_ns);
    EXPECT_EQ(rate.completion(0_ns, 10.0), 40_ns);  // not when the next segment begins
    EXPECT_EQ(rate.completion(0_ns, 11.0), 62_ns);
    EXPECT_EQ(rate.completion(0_ns, 20.0), 80_ns);  // not in the next period
    EXPECT_EQ(rate.completion(0_ns, 21.0), 131_ns);
    EXPECT_EQ(rate.completion(38_ns, 2.0), 40_ns);
    EXPECT_EQ(rate.completion(38_ns, 12.0), 80_ns);
    EXPECT_EQ(rate.completion(90_ns, 1.0), 131_ns);
}

TEST(PeriodicRate, IsExactOverAnyNumberOfPeriods) {
    const PeriodicRate rate = two_segments();
    // 20 bytes a period of 100 ns: 2·10^13 + 3 bytes end 3 ns into the first segment of period 10^12.
    EXPECT_EQ(rate.completion(0_ns, 2e13 + 3.0), Time(100'000'000'000'000'000) + 33_ns);
    EXPECT_EQ(rate.completion(0_ns, 2e13), Time(100'000'000'000'000'000) - 20_ns);
    // 3 Gb/s all the time: a byte takes 2666 2/3 ps, and 3·10^9 bytes exactly 8 s.
    PeriodicRate always(7_ns);
    always.append(0_ns, 3_ns, 3 * kGbps);
    always.append(3_ns, 7_ns, 3 * kGbps);
    EXPECT_EQ(always.completion(0_ns, 1.0), Time(2667));
    EXPECT_EQ(always.completion(1_ns, 3e9), 8 * 1'000'000'000_ns + 1_ns);
}

TEST(PeriodicRate, ThatIsZeroNeverCompletes) {
    PeriodicRate rate(10_ns);
    rate.append(0_ns, 10_ns, 0.0);
    EXPECT_TRUE(rate.is_zero());
    EXPECT_EQ(rate.completion(0_ns, 1.0), Time::max());
    EXPECT_EQ(PeriodicRate().completion(5_ns, 1.0), Time::max());
}

TEST(PeriodicRate, BeyondTheEndOfTimeNeverCompletes) {
    PeriodicRate rate(1'000'000_ns);
    rate.append(0_ns, Time(1), 1.0);
    EXPECT_EQ(rate.completion(0_ns, 1.0), Time::max());
    PeriodicRate fraction(1'000'000_ns);
    fraction.append(0_ns, Time(1), 0.5);
    EXPECT_EQ(fraction.completion(0_ns, 1.0), Time::max());
}

TEST(PeriodicRate, RefusesSegmentsOutOfOrder) {
    PeriodicRate rate = two_segments();
    EXPECT_THROW(rate.append(70_ns, 90_ns, 1.0), std::logic_error);
    EXPECT_THROW(rate.append(90_ns, 101_ns, 1.0), std::logic_error);
}

/// Walks from segment to segment, in doubles.
double walk(const std::vector<double>& rates, Time step, Time from, double work) {
    const Time period = static_cast<std::int64_t>(rates.size()) * step;
    double left = work * 8e12;
    for (Time at = from;;) {
        const Time offset = at % period;
        const auto index = static_cast<std::size_t>(offset / step);
        const double room = static_cast<double>((step - offset % step).count());
        if (left <= room * rates[index]) {
            return static_cast<double>(at.count()) + (left > 0 ? left / rates[index] : 0.0);
        }
        left -= room * rates[index];
        at += step - offset % step;
    }
}

RC_GTEST_PROP(PeriodicRateProperty, AgreesWithAWalk, ()) {
    std::mt19937_64 random(random_seed());
    const auto pick = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    const Time step(pick(1, 1'000'000));
    const bool is_whole = pick(0, 1) == 0;
    std::vector<double> rates(static_cast<std::size_t>(pick(1, 9)));
    PeriodicRate periodic(static_cast<std::int64_t>(rates.size()) * step);
    for (std::size_t i = 0; i < rates.size(); ++i) {
        rates[i] = pick(0, 2) == 0 ? 0.0 : static_cast<double>(pick(1, 400)) * (is_whole ? 1e9 : 1e9 / 3);
        const Time begin = static_cast<std::int64_t>(i) * step;
        periodic.append(begin, begin + step, rates[i]);
    }
    RC_PRE(!periodic.is_zero());
    const Time from(pick(0, 5'000'000));
    const double work = static_cast<double>(pick(1, 20'000)) / (is_whole ? 1.0 : 7.0);
    const double expected = walk(rates, step, from, work);
    const Time found = periodic.completion(from, work);
    RC_ASSERT(static_cast<double>(found.count()) >= expected - 0.26);
    RC_ASSERT(static_cast<double>(found.count()) <= expected + 1.001);
    // What is served by then is the work, up to one picosecond's worth at the greatest rate.
    const double served = periodic.served(from, found);
    RC_ASSERT(served >= work - 0.26 * 400e9 / 8e12);
    RC_ASSERT(served <= work + 1.001 * 400e9 / 8e12);
}

}  // namespace
}  // namespace astrolabe::network
