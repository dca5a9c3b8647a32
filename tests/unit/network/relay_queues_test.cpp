/// Rows of relayed packets: what lands, what is taken, and with which packet a message's last one goes.
#include <gtest/gtest.h>

#include <astrolabe/network/opera/relay_queues.hpp>

namespace astrolabe::network::opera {
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
    EXPECT_FALSE(relays.land(4, relayed));
    EXPECT_TRUE(relays.land(5, relayed));
    EXPECT_EQ(relayed(1, 3), 2U);
    EXPECT_TRUE(relays.land(6, relayed));
    EXPECT_EQ(relayed(1, 3), 5U);
    EXPECT_FALSE(relays.any_under_way());

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

TEST(RelayQueues, PacketsWhoseRowIsNotThereYetCanBeTaken) {
    RelayQueues relays(4, 3);
    PacketCounts relayed(4, 1);
    const std::uint32_t queue = relays.open(HostId(2), HostId(0));
    relays.travel(queue, Segment(4), 0);
    relays.travel(queue, Segment(7, 1, 5, false), 1);
    EXPECT_TRUE(relays.land(0, relayed));
    EXPECT_EQ(relays.take(queue, 3).packets(), 3U);
    EXPECT_TRUE(relays.land(1, relayed));
    // 4 - 3 packets and the last one are one row.
    EXPECT_EQ(relays.take(queue, 9).packets(), 2U);
}

}  // namespace
}  // namespace astrolabe::network::opera
