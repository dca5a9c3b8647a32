/// Rows of relayed packets: what lands, what is taken, and with which packet a message's last one goes.
#include "network/src/engines/slots/relay_queues.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network::rotor {
namespace {

TEST(RelayQueues, TheLastPacketOfAMessageGoesWithTheEndOfItsRow) {
    // Four racks of one host. Host 1 relays for host 3: of flight 7 two packets land in superslice 5 and one
    // in 6, of flight 8 two in 6, ahead of that one. So the queue is 7 7 8 8 7 with rows of 4 and 1.
    RelayQueues relays(4, 3);
    PacketCounts relayed(4, 1);
    const std::uint32_t queue = relays.open(HostId(1), HostId(3));
    EXPECT_EQ(relays.queue(HostId(1), HostId(3)), queue);
    relays.travel(queue, Segment(2), 5);
    relays.travel(queue, Segment(8, 2, 2, true), 6);
    relays.travel(queue, Segment(7, 1, 3, false), 6);
    EXPECT_FALSE(relays.arrive(4, relayed));
    EXPECT_TRUE(relays.arrive(5, relayed));
    EXPECT_EQ(relayed(1, 3), 2U);
    EXPECT_TRUE(relays.arrive(6, relayed));
    EXPECT_EQ(relayed(1, 3), 5U);
    EXPECT_FALSE(relays.any_in_flight());

    const Segment some = relays.take(queue, 3);
    EXPECT_FALSE(some.has_flight());
    EXPECT_EQ(some.packets(), 3U);
    const Segment ended = relays.take(queue, 9);
    EXPECT_EQ(ended.flight(), 8U);
    EXPECT_EQ(ended.packets(), 1U);
    EXPECT_EQ(ended.own(), 2U);
    EXPECT_TRUE(ended.ends());
    const Segment last = relays.take(queue, 9);
    EXPECT_EQ(last.flight(), 7U);
    EXPECT_EQ(last.packets(), 1U);
    EXPECT_EQ(last.own(), 3U);
    EXPECT_FALSE(last.ends());
}

/// What leaves a queue packet by packet: the flight of those that end a row, else none.
std::vector<std::uint32_t> flights_of(RelayQueues& relays, std::uint32_t queue, std::uint64_t packets) {
    std::vector<std::uint32_t> flights;
    while (flights.size() < packets) {
        const Segment segment = relays.take(queue, 2);
        flights.resize(flights.size() + segment.packets(), 0);
        flights.back() = segment.has_flight() ? segment.flight() : 0;
    }
    return flights;
}

TEST(RelayQueues, QueuesWithACounterAndWithoutHoldTheSame) {
    // 5,000 queues, of which the last have no counters, and what goes to queue 7 goes to 4,900 too.
    constexpr std::uint32_t kHosts = 100;
    constexpr std::uint32_t kCounted = 7;
    constexpr std::uint32_t kOther = 4'900;
    RelayQueues relays(kHosts, 3);
    PacketCounts relayed(kHosts, 1);
    for (std::uint32_t number = 0; number < 5'000; ++number) {
        ASSERT_EQ(relays.open(HostId(number / kHosts), HostId(number % kHosts)), number);
    }
    const std::vector<std::uint32_t> counts{0, 3, 3, 7};
    const auto send = [&](std::uint32_t flight, std::uint64_t superslice) {
        for (const std::uint32_t queue : {kCounted, kOther}) {
            relays.travel(queue, Segment(1), superslice + 1);
            relays.travel(queue, flight, 5, counts, superslice);      // three then two, in 1 and 3
            relays.travel(queue, flight + 1, 7, counts, superslice);  // three then four
            relays.travel(queue, Segment(flight + 2, 2, 2, true), superslice + 3);
            relays.travel(queue, Segment(4), superslice + 3);
        }
    };
    send(10, 0);
    EXPECT_TRUE(relays.arrive(1, relayed));
    send(20, 2);
    EXPECT_EQ(relayed(0, kCounted), 7U);
    EXPECT_EQ(relayed(kOther / kHosts, 0), 7U);
    relays.postpone(6);  // what was for 3 and 5 is for 9 and 11
    EXPECT_TRUE(relays.arrive(9, relayed));
    EXPECT_TRUE(relays.any_in_flight());
    EXPECT_TRUE(relays.arrive(11, relayed));
    EXPECT_FALSE(relays.any_in_flight());
    // 7; 2 + 4 + 2 + 4 and 7; 2 + 4 + 2 + 4.
    EXPECT_EQ(relayed(0, kCounted), 38U);
    EXPECT_EQ(relayed(kOther / kHosts, 0), 38U);
    const std::vector<std::uint32_t> flights = flights_of(relays, kCounted, 38);
    EXPECT_EQ(flights_of(relays, kOther, 38), flights);
    EXPECT_EQ(flights[8], 10U);  // the ninth, after 7, ends the two of the first
    EXPECT_EQ(flights[12], 11U);
    EXPECT_EQ(flights[14], 12U);
    EXPECT_EQ(flights[27], 20U);  // after 4 and 1 + 3 + 3
    EXPECT_EQ(flights[37], 0U);
}

TEST(RelayQueues, PacketsWhoseRowIsNotThereYetCanBeTaken) {
    RelayQueues relays(4, 3);
    PacketCounts relayed(4, 1);
    const std::uint32_t queue = relays.open(HostId(2), HostId(0));
    relays.travel(queue, Segment(4), 0);
    relays.travel(queue, Segment(7, 1, 5, false), 1);
    EXPECT_TRUE(relays.arrive(0, relayed));
    EXPECT_EQ(relays.take(queue, 3).packets(), 3U);
    EXPECT_TRUE(relays.arrive(1, relayed));
    // 4 - 3 packets and the last one are one row.
    EXPECT_EQ(relays.take(queue, 9).packets(), 2U);
}

}  // namespace
}  // namespace astrolabe::network::rotor
