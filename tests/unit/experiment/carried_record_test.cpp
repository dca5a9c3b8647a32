#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/records/carried_record.hpp>

namespace astrolabe::experiment {
namespace {

using network::HostId;
using network::LinkId;
using network::LinkReports;
using Amount = IntervalSums::Amount;

std::vector<double> bytes_of(const std::vector<Amount>& values) {
    std::vector<double> bytes;
    for (const Amount value : values) {
        bytes.push_back(static_cast<double>(value) / IntervalSums::kUnits);
    }
    return bytes;
}

std::vector<double> wire_of(const CarriedRecord& record, std::uint32_t group, LinkReports reports) {
    std::vector<Amount> wire;
    for (const CarriedRecord::Carried& carried : record.intervals_of(group, reports)) {
        wire.push_back(carried.wire);
    }
    return bytes_of(wire);
}

TEST(IntervalSums, APieceCountsWhereItFalls) {
    IntervalSums sums;
    sums.add(Time(1000), Time(500), Time(2500), IntervalSums::units(100));  // 50 B in 1000 ps
    EXPECT_EQ(bytes_of(sums.values()), (std::vector<double>{25, 50, 25}));
    sums.add(Time(1000), Time(2000), Time(3000), IntervalSums::units(8));  // all of an interval
    EXPECT_EQ(bytes_of(sums.values()), (std::vector<double>{25, 50, 33}));
    sums.add(Time(1000), Time(1000), Time(1000), IntervalSums::units(1));  // ends with the first
    sums.add(Time(1000), Time(0), Time(0), IntervalSums::units(2));        // nothing was before
    sums.add(Time(1000), Time(1001), Time(1001), IntervalSums::units(4));
    EXPECT_EQ(bytes_of(sums.values()), (std::vector<double>{28, 54, 33}));
    sums.merge_pairs();
    EXPECT_EQ(bytes_of(sums.values()), (std::vector<double>{82, 33}));
    sums.add(Time(2000), Time(1000), Time(5000), IntervalSums::units(40));  // 10 B in 1000 ps
    EXPECT_EQ(bytes_of(sums.values()), (std::vector<double>{92, 53, 10}));
}

TEST(IntervalSums, NothingIsLostWhateverIsCut) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 50; ++round) {
        IntervalSums sums;
        Time interval(static_cast<std::int64_t>(1 + random() % 1000));
        Amount expected = 0;
        for (int piece = 0; piece < 40; ++piece) {
            const Time from(static_cast<std::int64_t>(random() % 100'000));
            const Time to = from + Time(static_cast<std::int64_t>(random() % 50'000));
            const auto amount = static_cast<Amount>(random() >> random() % 60);
            sums.add(interval, from, to, amount);
            expected += amount;
            if (random() % 10 == 0) {
                interval = interval + interval;
                sums.merge_pairs();
            }
        }
        Amount sum = 0;
        for (const Amount value : sums.values()) {
            EXPECT_GE(value, 0);
            sum += value;
        }
        EXPECT_TRUE(sum == expected && sums.total() == expected);
    }
}

TEST(IntervalSums, LargeAmountsOverLongTimesFit) {
    // 10^15 B over 100 days, in intervals of a day: a hundredth each, but for the last unit.
    const Time day(86'400 * kPicosecondsPerSecond);
    IntervalSums sums;
    sums.add(day, Time(0), day * 100, IntervalSums::units(1e15));
    const std::vector<double> bytes = bytes_of(sums.values());
    ASSERT_EQ(bytes.size(), 100U);
    for (const double value : bytes) {
        EXPECT_NEAR(value, 1e13, 1e-2);
    }
}

TEST(CarriedRecord, WhatDoesNotFitIsCarriedNextWhereServicesOverlap) {
    // 1 B in 1 ps: 1000 B in an interval. 2500 B of the first one leave until the middle of the third.
    CarriedRecord record({{0}, {1e12}}, Time(1000), 100);
    record.carried(LinkId(0), Time(0), Time(1000), {2500, 2000});
    EXPECT_EQ(wire_of(record, 0, LinkReports::kOverlapping), (std::vector<double>{1000, 1000, 500}));
    double payload = 0;
    for (const CarriedRecord::Carried& carried : record.intervals_of(0, LinkReports::kOverlapping)) {
        EXPECT_NEAR(static_cast<double>(carried.payload), 0.8 * static_cast<double>(carried.wire), 10);
        payload += static_cast<double>(carried.payload) / IntervalSums::kUnits;
    }
    EXPECT_DOUBLE_EQ(payload, 2000);
    EXPECT_THROW(static_cast<void>(record.intervals_of(0, LinkReports::kAll)), std::logic_error);
}

TEST(CarriedRecord, AFullLinkFits) {
    CarriedRecord record({{0}, {12.5e9}}, Time(1000), 100);  // 12.5 B in an interval
    record.carried(LinkId(0), Time(300), Time(80'300), {1000, 900});
    const std::vector<double> wire = wire_of(record, 0, LinkReports::kAll);
    ASSERT_EQ(wire.size(), 81U);
    EXPECT_NEAR(wire.front(), 12.5 * 0.7, 1e-8);
    EXPECT_NEAR(wire[40], 12.5, 1e-8);
    EXPECT_NEAR(wire.back(), 12.5 * 0.3, 1e-6);
}

TEST(CarriedRecord, LinksThatAreAlikeCountForEach) {
    // Links 0 and 1 are alike, and so are 2 and 3. Groups are {0, 2}, {1, 3} and {4}; a piece of link 0 is
    // one of 1.
    CarriedRecord record({{0, 1, 0, 1, 2}, {2e12, 2e12, 1e12}}, Time(1000), 100);
    const std::vector<std::uint32_t> class_of{0, 0, 1, 1, 2};
    record.links_are_alike(class_of);
    record.carried(LinkId(0), Time(0), Time(2000), {100, 80});
    record.carried(LinkId(3), Time(1000), Time(2000), {10, 10});
    record.carried(LinkId(4), Time(0), Time(1000), {7, 7});
    EXPECT_EQ(wire_of(record, 0, LinkReports::kAll), (std::vector<double>{50, 60}));
    EXPECT_EQ(wire_of(record, 1, LinkReports::kAll), (std::vector<double>{50, 60}));
    EXPECT_EQ(wire_of(record, 2, LinkReports::kAll), (std::vector<double>{7}));
    // A group of both links of a class has twice as much.
    CarriedRecord both({{0, 0}, {2e12}}, Time(1000), 100);
    both.links_are_alike(std::vector<std::uint32_t>{0, 0});
    both.carried(LinkId(1), Time(0), Time(2000), {100, 80});
    EXPECT_EQ(wire_of(both, 0, LinkReports::kAll), (std::vector<double>{100, 100}));
}

TEST(CarriedRecord, LongRunsHaveLongerIntervalsAndTheSameSums) {
    CarriedRecord record({{0}, {1e12}}, Time(1000), 4);
    record.carried(LinkId(0), Time(0), Time(1000), {100, 100});
    record.delivered(HostId(0), Time(1000), Time(1000), 100);
    record.carried(LinkId(0), Time(3000), Time(4000), {100, 100});
    EXPECT_EQ(record.interval(), Time(1000)) << "four have room";
    record.carried(LinkId(0), Time(4000), Time(4001), {1, 1});
    EXPECT_EQ(record.interval(), Time(2000));
    record.completed(Time(33'000), Bytes(100));
    EXPECT_EQ(record.interval(), Time(16'000));
    EXPECT_EQ(wire_of(record, 0, LinkReports::kAll), (std::vector<double>{201}));
    EXPECT_EQ(bytes_of(record.deliveries()), (std::vector<double>{100}));
    EXPECT_EQ(bytes_of(record.completions()), (std::vector<double>{0, 0, 100}));
    const Time longest = record.interval(Time::max());
    EXPECT_EQ(longest, record.interval());
    EXPECT_LT((Time::max() - Time(1)) / longest, 4) << "the end of time has room";
}

TEST(CarriedRecord, TotalsAreThoseOfTheNetwork) {
    CarriedRecord record({{0, 1}, {1e12, 1e12}}, Time(1000), 100);
    record.carried(LinkId(0), Time(0), Time(3000), {1000, 900});
    record.delivered(HostId(1), Time(3000), Time(3000), 900);
    network::NetworkStatistics statistics;
    statistics.links.resize(2);
    statistics.bytes_delivered = Bytes(900);
    const auto is_refused = [&] {
        try {
            record.expect_totals(statistics, LinkReports::kAll);
            return false;
        } catch (const std::logic_error&) {
            return true;
        }
    };
    EXPECT_TRUE(is_refused()) << "link 0 carried something";
    statistics.links[LinkId(0)].carried = Bytes(900);
    EXPECT_FALSE(is_refused()) << "as payload";
    statistics.links[LinkId(0)].carried = Bytes(1000);
    EXPECT_FALSE(is_refused()) << "as bytes on the wire";
    statistics.links[LinkId(0)].carried = Bytes(999);
    EXPECT_TRUE(is_refused());
    statistics.links[LinkId(0)].carried = Bytes(1000);
    statistics.links[LinkId(1)].carried = Bytes(1);
    EXPECT_TRUE(is_refused());
    statistics.links[LinkId(1)].carried = Bytes(0);
    statistics.bytes_delivered = Bytes(899);
    EXPECT_TRUE(is_refused());
}

}  // namespace
}  // namespace astrolabe::experiment
