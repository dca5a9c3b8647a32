#include <gtest/gtest.h>

#include <astrolabe/core/containers/time_histogram.hpp>

namespace astrolabe {
namespace {

TEST(TimeHistogram, OfNothingEverythingIsZero) {
    const TimeHistogram histogram;
    EXPECT_EQ(histogram.count(), 0u);
    EXPECT_EQ(histogram.mean_seconds(), 0.0);
    EXPECT_EQ(histogram.quantile(0.5), Time(0));
    EXPECT_EQ(histogram.max(), Time(0));
}

TEST(TimeHistogram, ShortDurationsAreExact) {
    TimeHistogram histogram;
    for (int i = 0; i < 256; ++i) {
        histogram.add(Time(i));
    }
    // The smallest that half, 128 of 256, do not exceed is the 128th: 127 ps.
    EXPECT_EQ(histogram.quantile(0.5), Time(127));
    EXPECT_EQ(histogram.quantile(1.0), Time(255));
    EXPECT_EQ(histogram.quantile(1e-9), Time(0));
    EXPECT_DOUBLE_EQ(histogram.mean_seconds(), 127.5e-12);
}

TEST(TimeHistogram, AnyDurationIsWithinOneIn256) {
    for (std::int64_t picoseconds = 1; picoseconds < std::int64_t{1} << 61;
         picoseconds += picoseconds / 8 + 1) {
        TimeHistogram histogram;
        histogram.add(Time(picoseconds));
        histogram.add(Time::max());  // else the maximum corrects the bin
        const double found = static_cast<double>(histogram.quantile(0.5).count());
        EXPECT_NEAR(found / static_cast<double>(picoseconds), 1.0, 1.0 / 256) << picoseconds;
    }
}

TEST(TimeHistogram, TheLongestDurationFits) {
    TimeHistogram histogram;
    histogram.add(Time::max());
    EXPECT_EQ(histogram.max(), Time::max());
    EXPECT_NEAR(to_seconds(histogram.quantile(0.99)) / to_seconds(Time::max()), 1.0, 1.0 / 256);
}

}  // namespace
}  // namespace astrolabe
