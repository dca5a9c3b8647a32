#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/failures/failure_timeline.hpp>

namespace astrolabe::network {
namespace {

constexpr LinkId kLink{3};

std::vector<std::pair<Time, double>> rates_of(const FailureTimeline& timeline) {
    std::vector<std::pair<Time, double>> rates;
    for (const auto& change : timeline.rate_changes()) {
        rates.emplace_back(change.at, change.factor);
    }
    return rates;
}

TEST(FailureTimeline, TheSmallestFactorHolds) {
    // Half from 1 to 5 us, down from 2 to 3 us, a quarter from 4 us on.
    const FailureTimeline timeline(
        {{kLink, 1_us, 5_us, 0.5}, {kLink, 2_us, 3_us, 0.0}, {kLink, 4_us, Time::max(), 0.25}}, 0_us);
    const std::vector<std::pair<Time, double>> expected{{1_us, 0.5}, {2_us, 0.0}, {3_us, 0.5}, {4_us, 0.25}};
    EXPECT_EQ(rates_of(timeline), expected);
}

TEST(FailureTimeline, RoutesLearnOfADownLinkLaterAndOfASlowOneNever) {
    const FailureTimeline timeline({{kLink, 1_us, 2_us, 0.5}, {kLink, 4_us, 6_us, 0.0}}, 10_us);
    ASSERT_EQ(timeline.route_changes().size(), 2U);
    EXPECT_EQ(timeline.route_changes()[0].at, 14_us);  // 4 + 10
    EXPECT_TRUE(timeline.route_changes()[0].is_down);
    EXPECT_EQ(timeline.route_changes()[1].at, 16_us);  // 6 + 10
    EXPECT_FALSE(timeline.route_changes()[1].is_down);
}

TEST(FailureTimeline, WhatIsDownFromTheStartIsKnownThen) {
    const FailureTimeline timeline({{kLink, 0_us, 4_us, 0.0}}, 10_us);
    EXPECT_EQ(timeline.route_changes()[0].at, 0_us);
    EXPECT_EQ(timeline.route_changes()[1].at, 14_us);
}

TEST(FailureTimeline, FailuresThatMeetAreOne) {
    const FailureTimeline timeline({{kLink, 1_us, 2_us, 0.0}, {kLink, 2_us, 3_us, 0.0}}, 0_us);
    const std::vector<std::pair<Time, double>> expected{{1_us, 0.0}, {3_us, 1.0}};
    EXPECT_EQ(rates_of(timeline), expected);
}

TEST(FailureTimeline, ChangesAreInOrderOfTimeThenLink) {
    const FailureTimeline timeline(
        {{LinkId(2), 1_us, 9_us, 0.0}, {LinkId(1), 1_us, 5_us, 0.0}, {LinkId(0), 7_us, Time::max(), 0.0}},
        0_us);
    std::vector<std::uint32_t> links;
    for (const auto& change : timeline.rate_changes()) {
        links.push_back(change.link.index());
    }
    EXPECT_EQ(links, (std::vector<std::uint32_t>{1, 2, 1, 0, 2}));
}

}  // namespace
}  // namespace astrolabe::network
