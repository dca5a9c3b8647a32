/// The calendar of arrivals against a plain sorted list.
#include "random_seed.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <random_rotors.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/containers/calendar_queue.hpp>

namespace astrolabe::network::rotor {
namespace {

TEST(CalendarQueue, EventsOfOneTimeLeaveInTheOrderPushedWhereverTheyWaited) {
    CalendarQueue<int> queue(Time(10), 2);
    queue.push(Time(35), 1);  // beyond both buckets
    queue.push(Time(5), 2);   // today
    EXPECT_EQ(queue.next_time(), Time(5));
    EXPECT_EQ(queue.pop(), 2);
    queue.push(Time(15), 3);  // tomorrow
    EXPECT_EQ(queue.next_time(), Time(15));
    EXPECT_EQ(queue.pop(), 3);
    queue.push(Time(35), 4);  // now the bucket after tomorrow
    queue.push(Time(15), 5);  // the bucket that is open
    EXPECT_EQ(queue.size(), 3U);
    std::vector<int> order;
    while (!queue.empty()) {
        static_cast<void>(queue.next_time());
        order.push_back(queue.pop());
    }
    EXPECT_EQ(order, (std::vector<int>{5, 1, 4}));
    EXPECT_EQ(queue.next_time(), Time::max());
}

RC_GTEST_PROP(CalendarQueueProperty, LeavesInTheOrderOfTimeAndThenOfPushing, ()) {
    Random random(random_seed());
    CalendarQueue<int> queue(Time(random(1, 20)), static_cast<std::uint64_t>(random(1, 8)));
    std::vector<std::pair<Time, int>> expected;  // sorted
    Time now;
    for (int number = 0; number < 300; ++number) {
        if (random(0, 2) > 0 || expected.empty()) {
            const Time time = now + Time(random(0, 3) == 0 ? random(0, 400) : random(0, 30));
            queue.push(time, number);
            const auto later = std::upper_bound(expected.begin(), expected.end(), std::pair(time, number));
            expected.insert(later, {time, number});
        } else {
            RC_ASSERT(queue.next_time() == expected.front().first);
            now = expected.front().first;
            RC_ASSERT(queue.pop() == expected.front().second);
            expected.erase(expected.begin());
        }
        RC_ASSERT(queue.size() == expected.size());
        std::size_t seen = 0;
        queue.for_each([&](int) { ++seen; });
        RC_ASSERT(seen == expected.size());
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
