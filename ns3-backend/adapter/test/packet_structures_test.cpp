// SPDX-License-Identifier: GPL-2.0-only
/// The books the transport keeps: queue pairs by their ends, sets of packets, what is lost.
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>
#include <ns3/make-event.h>
#include <ns3/packet-event-scheduler.h>
#include <ns3/packet-pair-table.h>
#include <ns3/packet-rtt.h>
#include <ns3/packet-scoreboard.h>
#include <ns3/packet-sets.h>
#include <ns3/packet-timers.h>
#include <ns3/packets-in-flight.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::ns3 {
namespace {

namespace sim = ::ns3;

int pick(int low, int end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, end));
}

// As a sorted set of (time, number), whatever the width of buckets has become: many events at one time, some
// now, some soon, some so late that no ring spans them, taken out of order at times, in phases in which the
// pace changes a thousandfold and in which nearly all are gone.
RC_GTEST_PROP(PacketEventSchedulerProperty, KeepsTheOrderOfTimeAndNumber, ()) {
    const auto scheduler = sim::CreateObject<sim::PacketEventScheduler>();
    const auto event = sim::Ptr<sim::EventImpl>(sim::MakeEvent([] {}), false);
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> expected;  // to the context
    std::uint64_t now = 0;
    std::uint32_t number = 0;
    const auto insert = [&](std::uint64_t time) {
        const std::uint32_t context = number % 7;
        scheduler->Insert({sim::PeekPointer(event), {time, number, context}});
        expected[{time, number++}] = context;
    };
    for (int phase = 0; phase < 6; ++phase) {
        const int pending = pick(1, phase % 2 == 0 ? 2000 : 20);
        const auto pace = std::uint64_t{1} << pick(0, 24);
        const int ties = pick(1, 50);
        for (int step = 0; step < 6000; ++step) {
            RC_ASSERT(scheduler->IsEmpty() == expected.empty());
            if (static_cast<int>(expected.size()) < pending) {
                const int kind = pick(0, 100);
                const std::uint64_t far = kind < 2 ? 1'000'000 : kind < 6 ? 0 : 1;
                const std::uint64_t delay = far * pace * static_cast<std::uint64_t>(pick(0, 1000));
                for (int tie = pick(0, 50) == 0 ? ties : 1; tie > 0; --tie) {
                    insert(now + delay);
                }
                continue;
            }
            if (pick(0, 200) == 0) {  // another than the next
                auto other = expected.begin();
                std::advance(other, pick(0, static_cast<int>(expected.size())));
                scheduler->Remove({sim::PeekPointer(event), {other->first.first, other->first.second, 0}});
                expected.erase(other);
                continue;
            }
            const auto first = expected.begin();
            const sim::Scheduler::Event peeked = scheduler->PeekNext();
            const sim::Scheduler::Event next = scheduler->RemoveNext();
            RC_ASSERT(peeked.key.m_uid == first->first.second);
            RC_ASSERT(next.key.m_ts == first->first.first);
            RC_ASSERT(next.key.m_uid == first->first.second);
            RC_ASSERT(next.key.m_context == first->second);
            RC_ASSERT(next.impl == sim::PeekPointer(event));
            now = next.key.m_ts;
            expected.erase(first);
        }
    }
    while (!expected.empty()) {
        RC_ASSERT(scheduler->RemoveNext().key.m_uid == expected.begin()->first.second);
        expected.erase(expected.begin());
    }
    RC_ASSERT(scheduler->IsEmpty());
}

// As a queue, beyond the packets that the object itself has room for and back.
RC_GTEST_PROP(PacketsInFlightProperty, AreAQueue, ()) {
    sim::PacketsInFlight packets;
    std::deque<std::pair<std::uint32_t, std::int64_t>> expected;
    std::int64_t arrival = 0;
    for (std::uint32_t step = 0; step < 2000; ++step) {
        RC_ASSERT(packets.IsEmpty() == expected.empty());
        const int most = step % 400 < 200 ? 4 : 40;
        if (expected.empty() || (static_cast<int>(expected.size()) < most && pick(0, 2) == 0)) {
            arrival += pick(0, 3);
            packets.Append(step, arrival);
            expected.emplace_back(step, arrival);
            continue;
        }
        RC_ASSERT(packets.GetFirst() == expected.front().first);
        RC_ASSERT(packets.GetFirstArrival() == expected.front().second);
        RC_ASSERT(packets.TakeFirst() == expected.front().first);
        expected.pop_front();
    }
}

// As std::map, over keys that collide often and a table that grows.
RC_GTEST_PROP(PacketPairTableProperty, IsAMap, ()) {
    sim::PacketPairTable table;
    std::map<std::uint64_t, std::uint32_t> expected;
    const int hosts = pick(2, 60);
    for (int step = 0; step < 3000; ++step) {
        const std::uint64_t key = sim::PacketPairTable::KeyOf(static_cast<std::uint32_t>(pick(0, hosts)),
                                                              static_cast<std::uint32_t>(pick(0, hosts)),
                                                              static_cast<std::uint8_t>(pick(0, 2)));
        const auto found = expected.find(key);
        RC_ASSERT(table.Find(key) == (found == expected.end() ? sim::PACKET_NONE : found->second));
        if (found == expected.end()) {
            table.Insert(key, static_cast<std::uint32_t>(step));
            expected[key] = static_cast<std::uint32_t>(step);
        } else if (pick(0, 2) == 0) {
            table.Erase(key);
            expected.erase(found);
        }
    }
    for (const auto& [key, number] : expected) {
        RC_ASSERT(table.Find(key) == number);
    }
}

// As std::set, over a window that moves on; two sets beside each other do not touch.
RC_GTEST_PROP(PacketSetsProperty, AreSets, ()) {
    const int span = pick(1, 300);
    sim::PacketSets sets(static_cast<std::uint32_t>(span));
    const std::uint32_t one = sets.Allocate();
    const std::uint32_t other = sets.Allocate();
    sets.Add(other, 5);
    std::set<std::uint64_t> expected;
    std::uint64_t from = 0;
    for (int step = 0; step < 1000; ++step) {
        const std::uint64_t packet = from + static_cast<std::uint64_t>(pick(0, span));
        if (pick(0, 3) > 0) {
            RC_ASSERT(sets.Add(one, packet) == expected.insert(packet).second);
        } else {
            RC_ASSERT(sets.Remove(one, packet) == (expected.erase(packet) > 0));
        }
        const std::uint64_t end = from + static_cast<std::uint64_t>(span);
        const auto first = expected.lower_bound(packet);
        RC_ASSERT(sets.FindFirst(one, packet, end) == (first == expected.end() ? end : *first));
        RC_ASSERT(sets.GetCount(one) == expected.size());
        if (pick(0, 3) == 0) {
            sets.Remove(one, from);
            expected.erase(from++);
        }
    }
    RC_ASSERT(sets.GetCount(other) == 1U);
}

// As a sorted list, ties in the order of setting, whatever share of the timers is set out of order.
RC_GTEST_PROP(PacketTimersProperty, AreInOrder, ()) {
    sim::PacketTimers timers;
    std::set<std::pair<std::int64_t, std::uint64_t>> expected;
    std::int64_t now = 0;
    for (std::uint64_t token = 0; token < 500; ++token) {
        const std::int64_t when = now + pick(0, 2) * 100 + pick(0, 50);
        timers.Set(when, token);
        expected.insert({when, token});
        while (!timers.IsEmpty() && pick(0, 3) > 0) {
            const sim::PacketTimers::Timer first = timers.TakeFirst();
            RC_ASSERT(std::make_pair(first.when, first.token) == *expected.begin());
            expected.erase(expected.begin());
            now = first.when;
        }
    }
    RC_ASSERT(timers.IsEmpty() == expected.empty());
}

// Packets 0 to 9 are in flight, and one is held lost when it has been overtaken by 3. 4 arrives: 0 and 1 are
// lost, since 1 + 3 <= 4, and 2 and 3 may still come.
TEST(PacketScoreboard, HoldsOvertakenPacketsLost) {
    sim::PacketScoreboards boards(16);
    sim::PacketQueuePair pair;
    pair.nextPacket = 10;
    EXPECT_TRUE(boards.SetArrived(pair, 4, 3));
    EXPECT_FALSE(boards.SetArrived(pair, 4, 3));
    EXPECT_EQ(boards.TakeFirstLost(pair), 0U);
    EXPECT_EQ(boards.TakeFirstLost(pair), 1U);
    EXPECT_FALSE(pair.hasLost);
    // 7 arrives: 2 and 3 are lost too, 4 is not, and 0 and 1 left again after 7.
    EXPECT_TRUE(boards.SetArrived(pair, 7, 3));
    EXPECT_EQ(boards.TakeFirstLost(pair), 2U);
    EXPECT_EQ(boards.GetFirstLost(pair), 3U);
    // The timeout: all but 4 and 7 are lost, 8 of 10.
    EXPECT_EQ(boards.SetAllLost(pair), 8U);
    // 0 to 5 are acknowledged: 6, 8 and 9 remain.
    pair.acknowledged = 6;
    boards.Acknowledge(pair, 0);
    EXPECT_EQ(boards.TakeFirstLost(pair), 6U);
    EXPECT_EQ(boards.TakeFirstLost(pair), 8U);
    EXPECT_EQ(boards.TakeFirstLost(pair), 9U);
    // Nothing is kept of a pair that has everything behind it.
    pair.acknowledged = 10;
    boards.Acknowledge(pair, 6);
    EXPECT_EQ(pair.scoreboard, sim::PACKET_NONE);
}

// 0, 2 and 4 are sent again when 5 has come. 2 arrives: 0 left before it and is lost again. 4 stays open
// until 6 arrives, which is new: it had not left when 0 was last sent again.
TEST(PacketScoreboard, HoldsWhatIsLostAgainLost) {
    sim::PacketScoreboards boards(16);
    sim::PacketQueuePair pair;
    pair.nextPacket = 6;
    for (const std::uint64_t packet : {1U, 3U, 5U}) {
        boards.SetArrived(pair, packet, 1);
    }
    EXPECT_EQ(boards.TakeFirstLost(pair), 0U);
    EXPECT_EQ(boards.TakeFirstLost(pair), 2U);
    EXPECT_EQ(boards.TakeFirstLost(pair), 4U);
    EXPECT_TRUE(boards.SetArrived(pair, 2, 1));
    EXPECT_EQ(boards.TakeFirstLost(pair), 0U);
    EXPECT_FALSE(pair.hasLost);
    pair.nextPacket = 8;
    EXPECT_TRUE(boards.SetArrived(pair, 6, 1));
    EXPECT_EQ(boards.TakeFirstLost(pair), 0U);
    EXPECT_EQ(boards.TakeFirstLost(pair), 4U);
    EXPECT_FALSE(pair.hasLost);
    // 7 left before these two did.
    EXPECT_FALSE(boards.SetArrived(pair, 7, 1));
}

// A window of data counts as one episode, until all that was in flight when it began is acknowledged.
TEST(PacketScoreboard, ALossEpisodeIsAWindow) {
    sim::PacketScoreboards boards(16);
    sim::PacketQueuePair pair;
    pair.nextPacket = 10;
    EXPECT_TRUE(boards.StartsEpisode(pair));
    EXPECT_FALSE(boards.StartsEpisode(pair));
    pair.acknowledged = 9;
    pair.nextPacket = 16;
    EXPECT_FALSE(boards.StartsEpisode(pair));
    pair.acknowledged = 10;
    EXPECT_TRUE(boards.StartsEpisode(pair));
}

// R = 8 us: SRTT 8, RTTVAR 4, so 8 + 16 = 24 us. Then R = 16 us: RTTVAR 3/4·4 + 1/4·8 = 5, SRTT 7/8·8 +
// 1/8·16 = 9, so 9 + 20 = 29 us.
TEST(PacketRtt, FollowsRfc6298) {
    constexpr std::int64_t kMicrosecond = 1'000'000;
    sim::PacketRtt rtt;
    EXPECT_EQ(rtt.GetTimeout(10'000 * kMicrosecond, kMicrosecond), 10'000 * kMicrosecond);
    rtt.Add(8 * kMicrosecond);
    EXPECT_EQ(rtt.GetTimeout(10'000 * kMicrosecond, kMicrosecond), 24 * kMicrosecond);
    rtt.Add(16 * kMicrosecond);
    EXPECT_EQ(rtt.GetTimeout(10'000 * kMicrosecond, kMicrosecond), 29 * kMicrosecond);
    EXPECT_EQ(rtt.GetTimeout(10'000 * kMicrosecond, 50 * kMicrosecond), 50 * kMicrosecond);
}

// A stamp has 32 bits of 2^14 ps: the difference is right to 16.4 ns, also when the stamp has run over since.
TEST(PacketRtt, StampsRunOver) {
    constexpr std::int64_t kRange = std::int64_t{1} << 46;
    for (const std::int64_t when : {std::int64_t{0}, kRange - 1'000'000, 5 * kRange - 3}) {
        const std::int64_t since = sim::PacketRtt::Since(sim::PacketRtt::StampOf(when), when + 123'456'789);
        EXPECT_LE(std::abs(since - 123'456'789), 1 << 14);
    }
}

}  // namespace
}  // namespace astrolabe::ns3
