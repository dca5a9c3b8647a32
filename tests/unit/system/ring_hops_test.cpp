#include "system/src/executor/ring_hops.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::system::detail {
namespace {

using network::Forwarder;
using network::HostId;

std::vector<HostId> hosts(std::size_t first, std::size_t count) {
    std::vector<HostId> all;
    for (std::size_t host = first; host < first + count; ++host) {
        all.emplace_back(host);
    }
    return all;
}

TEST(RingHops, EachGoesOnOverTheNextOfItsRing) {
    // Of 5 hosts at strides 1 and 2: 10 hops, and from i to j what comes goes on by as much again.
    const std::vector<HostId> all = hosts(4, 5);
    RingHops rings;
    ASSERT_TRUE(rings.add({all.data(), 5, 1}));
    ASSERT_TRUE(rings.add({all.data(), 5, 2}));
    ASSERT_EQ(rings.hops().size(), 10U);
    for (const Forwarder::Hop& hop : rings.hops()) {
        const std::size_t stride = (hop.destination.index() + 5 - hop.source.index()) % 5;
        const Forwarder::Hop& next = rings.hops()[hop.next];
        EXPECT_EQ(next.source, hop.destination);
        EXPECT_EQ((next.destination.index() + 5 - next.source.index()) % 5, stride);
    }
    EXPECT_TRUE(rings.contains({all.data(), 5, 2}));
    EXPECT_FALSE(rings.contains({all.data(), 5, 3}));
    EXPECT_FALSE(rings.contains({all.data(), 4, 2}));
    rings.clear();
    EXPECT_TRUE(rings.hops().empty());
    EXPECT_FALSE(rings.contains({all.data(), 5, 2}));
}

TEST(RingHops, TheSameHopsAreNamedOnce) {
    // The same hosts in a list of its own, as another group of the same ranks has them.
    const std::vector<HostId> one = hosts(0, 4);
    const std::vector<HostId> other = hosts(0, 4);
    RingHops rings;
    EXPECT_TRUE(rings.add({one.data(), 4, 1}));
    EXPECT_TRUE(rings.add({other.data(), 4, 1}));
    EXPECT_EQ(rings.hops().size(), 4U);
}

TEST(RingHops, ARingOfHalfOfTheHostsWouldLeaveThatOfAllWhereItTurns) {
    // Both send from 0 to 1, from where one goes on to 2 and the other back to 0.
    const std::vector<HostId> all = hosts(0, 4);
    RingHops rings;
    EXPECT_TRUE(rings.add({all.data(), 4, 1}));
    EXPECT_FALSE(rings.add({all.data(), 2, 1}));
}

TEST(RingHops, AHostIsOnSixteenRings) {
    // 37 is prime, so each stride makes one ring of all.
    const std::vector<HostId> all = hosts(0, 37);
    RingHops rings;
    for (Position stride = 1; stride <= 16; ++stride) {
        EXPECT_TRUE(rings.add({all.data(), 37, stride}));
    }
    EXPECT_EQ(rings.hops().size(), 16U * 37U);
    EXPECT_FALSE(rings.add({all.data(), 37, 17}));
}

}  // namespace
}  // namespace astrolabe::system::detail
