/// RotorLB, phase by phase: hand-worked installations of two racks, and what must hold of any.
///
/// Rack r has hosts r·h … r·h + h - 1. With h = 2 and slots of 10 packets a pair of hosts may exchange 5
/// relayed packets, and a host holds at most 10 for one destination.
#include "random_seed.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/rotor/rotor_lb.hpp>

namespace astrolabe::network::rotor {
namespace {

using Kind = Grant::Kind;

struct Racks {
    explicit Racks(RotorLbOptions of, std::uint64_t seed = 1)
        : options(of),
          own(of.racks, of.hosts_per_rack),
          relayed(of.racks, of.hosts_per_rack),
          lb(of, seed) {}

    const std::vector<Grant>& join(Rack x, Rack y) {
        grants.clear();
        lb.share(x, y, own, relayed, grants);
        return grants;
    }
    [[nodiscard]] std::uint32_t granted(Kind kind, std::uint32_t from, std::uint32_t to) const {
        std::uint32_t packets = 0;
        for (const Grant& grant : grants) {
            packets += grant.kind == kind && grant.from == from && grant.to == to ? grant.packets : 0;
        }
        return packets;
    }

    RotorLbOptions options;
    PacketCounts own;
    PacketCounts relayed;
    RotorLb lb;
    std::vector<Grant> grants;
};

const RotorLbOptions kTwoByFour{.racks = 4, .hosts_per_rack = 2, .slot = 10};

TEST(PacketCounts, ListsWhereSomethingWaits) {
    PacketCounts counts(4, 2);
    counts.add(0, 5, 3);
    counts.add(0, 6, 0);
    counts.add(0, 7, 1);
    counts.add(0, 5, 2);
    counts.add(3, 0, 4);
    EXPECT_EQ(counts(0, 5), 5U);
    EXPECT_EQ(counts(0, 6), 0U);
    EXPECT_EQ(counts.of_rack(0), 6U);
    EXPECT_EQ(counts.of_rack(1), 4U);
    EXPECT_EQ(counts.total(), 10U);
    counts.take(0, 5, 5);
    ASSERT_EQ(counts.destinations(0).size(), 1U);
    EXPECT_EQ(counts.destinations(0)[0], 7U);
    EXPECT_EQ(counts(0, 7), 1U);
    EXPECT_THROW(counts.take(0, 7, 2), std::logic_error);
    EXPECT_THROW(counts.take(1, 7, 1), std::logic_error);
}

TEST(RotorLb, RelayedPacketsGoFirst) {
    Racks racks(kTwoByFour);
    racks.relayed.add(0, 2, 7);
    racks.own.add(0, 2, 20);
    // 5 of 7 relayed ones; own ones take the 5 that host 0 may still send and host 2 still receive.
    EXPECT_EQ(racks.join(0, 1),
              (std::vector<Grant>{{0, 2, 2, 5, Kind::kSecondHop}, {0, 2, 2, 5, Kind::kDirect}}));
    EXPECT_EQ(racks.relayed(0, 2), 2U);
    EXPECT_EQ(racks.own(0, 2), 15U);
}

TEST(RotorLb, HostsShareTheCircuitToTheRackItLeadsTo) {
    Racks racks(kTwoByFour);
    racks.own.add(0, 2, 20);
    racks.own.add(0, 3, 2);
    // 10 over 20 and 2: 5 each, and the 3 that return.
    EXPECT_EQ(racks.join(1, 0),
              (std::vector<Grant>{{0, 2, 2, 8, Kind::kDirect}, {0, 3, 3, 2, Kind::kDirect}}));
    racks.own.add(1, 2, 20);
    // Both want host 2, which may receive 10.
    EXPECT_EQ(racks.join(0, 1),
              (std::vector<Grant>{{0, 2, 2, 5, Kind::kDirect}, {1, 2, 2, 5, Kind::kDirect}}));
}

TEST(RotorLb, BothDirectionsHaveTheirOwnCircuit) {
    Racks racks(kTwoByFour);
    racks.own.add(0, 2, 20);
    racks.own.add(2, 0, 20);
    EXPECT_EQ(racks.join(0, 1),
              (std::vector<Grant>{{0, 2, 2, 10, Kind::kDirect}, {2, 0, 0, 10, Kind::kDirect}}));
}

TEST(RotorLb, AnOfferIsSpreadOverTheHostsThatMayRelay) {
    Racks racks({.racks = 4, .hosts_per_rack = 4, .slot = 109});
    racks.own.add(0, 8, 7);
    const std::vector<Grant>& grants = racks.join(0, 1);
    // ⌈7/4⌉ = 2, ⌈5/3⌉ = 2, ⌈3/2⌉ = 2, 1.
    std::multimap<std::uint32_t, std::uint32_t> packets;
    for (const Grant& grant : grants) {
        EXPECT_EQ(grant.kind, Kind::kFirstHop);
        EXPECT_EQ(grant.destination, 8U);
        packets.emplace(grant.packets, grant.to);
    }
    EXPECT_EQ(packets.count(2), 3U);
    EXPECT_EQ(packets.count(1), 1U);
    EXPECT_EQ(racks.own.total(), 0U);
}

TEST(RotorLb, OffersTakeWhatDirectPacketsLeave) {
    Racks racks(kTwoByFour);
    racks.own.add(0, 2, 6);
    racks.own.add(0, 4, 100);
    // 6 direct; 4 of 100 are offered, 2 to each host of rack 1.
    racks.join(0, 1);
    EXPECT_EQ(racks.granted(Kind::kDirect, 0, 2), 6U);
    EXPECT_EQ(racks.granted(Kind::kFirstHop, 0, 2), 2U);
    EXPECT_EQ(racks.granted(Kind::kFirstHop, 0, 3), 2U);
    EXPECT_EQ(racks.own(0, 4), 96U);
}

TEST(RotorLb, AHostRelaysNoMoreThanItCanPassOnInTwoSlots) {
    Racks racks(kTwoByFour);
    racks.own.add(0, 4, 30);
    racks.own.add(2, 4, 8);
    racks.join(0, 1);
    // Host 0 offers 10. Host 2 has room for 2 beside 8 of its own and sees 5 at least; host 3 takes the other
    // 8, whoever goes first.
    EXPECT_EQ(racks.granted(Kind::kFirstHop, 0, 3), 8U);
    EXPECT_EQ(racks.granted(Kind::kFirstHop, 0, 2), 2U);
    // Host 0 held 30 for host 4 when the 8 of host 2 were offered: host 1 takes all.
    EXPECT_EQ(racks.granted(Kind::kFirstHop, 2, 0), 0U);
    EXPECT_EQ(racks.granted(Kind::kFirstHop, 2, 1), 8U);
}

TEST(RotorLb, OwnRackPacketsTakeTwoHops) {
    Racks racks(kTwoByFour);
    racks.own.add(0, 1, 3);
    racks.join(0, 1);
    // ⌈3/2⌉ = 2 to one, 1 to the other.
    const std::uint32_t through_2 = racks.granted(Kind::kFirstHop, 0, 2);
    const std::uint32_t through_3 = racks.granted(Kind::kFirstHop, 0, 3);
    EXPECT_EQ(through_2 + through_3, 3U);
    EXPECT_EQ(std::max(through_2, through_3), 2U);
    racks.relayed.add(2, 1, through_2);
    racks.relayed.add(3, 1, through_3);
    racks.join(0, 1);
    EXPECT_EQ(racks.granted(Kind::kSecondHop, 2, 1), through_2);
    EXPECT_EQ(racks.granted(Kind::kSecondHop, 3, 1), through_3);
    EXPECT_EQ(racks.relayed.total() + racks.own.total(), 0U);
}

TEST(RotorLb, RelaysOnlyWhereACircuitWillTakePacketsOn) {
    // Rack 1 never meets rack 2 but rack 3. Hosts 4 and 6 are of racks 2 and 3.
    RotorLbOptions options = kTwoByFour;
    options.connected = {1, 1, 1, 1,  //
                         1, 1, 0, 1,  //
                         1, 0, 1, 1,  //
                         1, 1, 1, 1};
    Racks racks(options);
    racks.own.add(0, 4, 3);
    racks.own.add(0, 6, 2);
    racks.join(0, 1);
    EXPECT_EQ(racks.own(0, 4), 3U);
    EXPECT_EQ(racks.own(0, 6), 0U);
    racks.join(0, 3);
    EXPECT_EQ(racks.own(0, 4), 0U);
}

TEST(RotorLb, OwnRackPacketsMayGoDirectInWhatIsLeft) {
    RotorLbOptions options = kTwoByFour;
    options.intra_rack_direct = true;
    Racks racks(options);
    racks.own.add(0, 1, 30);
    racks.own.add(0, 2, 6);
    racks.own.add(2, 1, 3);
    // Host 0 may send 10 - 6, and host 1 receive 10 - 3.
    EXPECT_EQ(racks.join(0, 1),
              (std::vector<Grant>{
                  {0, 2, 2, 6, Kind::kDirect}, {0, 1, 1, 4, Kind::kIntraRack}, {2, 1, 1, 3, Kind::kDirect}}));
    // An idle uplink leaves all of it.
    EXPECT_EQ(racks.join(0, 0), (std::vector<Grant>{{0, 1, 1, 10, Kind::kIntraRack}}));
    EXPECT_EQ(racks.own(0, 1), 16U);
}

TEST(RotorLb, DirectOnlyWaitsForTheCircuit) {
    RotorLbOptions options = kTwoByFour;
    options.two_hops = false;
    Racks racks(options);
    racks.own.add(0, 4, 3);
    EXPECT_TRUE(racks.join(0, 1).empty());
    EXPECT_EQ(racks.join(0, 2), (std::vector<Grant>{{0, 4, 4, 3, Kind::kDirect}}));
}

TEST(RotorLb, AnIdleUplinkGrantsNothing) {
    Racks racks(kTwoByFour);
    racks.own.add(0, 1, 3);
    racks.own.add(0, 2, 3);
    EXPECT_TRUE(racks.join(0, 0).empty());
    EXPECT_TRUE(racks.join(2, 3).empty()) << "nothing waits there";
}

/// What one installation did, against the counts before it.
void check_installation(const Racks& racks, const PacketCounts& own_before,
                        const PacketCounts& relayed_before) {
    std::map<std::uint32_t, std::uint32_t> sent;
    std::map<std::uint32_t, std::uint32_t> received;
    std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, std::uint32_t> taken;
    for (const Grant& grant : racks.grants) {
        RC_ASSERT(grant.packets > 0);
        const bool second = grant.kind == Kind::kSecondHop;
        sent[grant.from] += grant.packets;
        received[grant.to] += grant.packets;
        taken[{second, grant.from, grant.destination}] += grant.packets;
        const std::uint32_t h = racks.options.hosts_per_rack;
        const bool relays = grant.destination / h != grant.to / h;
        RC_ASSERT(relays == (grant.kind == Kind::kFirstHop));
        RC_ASSERT(relays || grant.destination == grant.to);
    }
    for (const std::map<std::uint32_t, std::uint32_t>& packets_of : {sent, received}) {
        for (const auto& [host, packets] : packets_of) {
            RC_ASSERT(packets <= racks.options.slot);
        }
    }
    for (const auto& [which, packets] : taken) {
        const auto& [second, from, destination] = which;
        const PacketCounts& before = second ? relayed_before : own_before;
        const PacketCounts& after = second ? racks.relayed : racks.own;
        RC_ASSERT(packets <= before(from, destination));
        RC_ASSERT(after(from, destination) == before(from, destination) - packets);
    }
}

/// Random queues at all hosts; every circuit in turn, relayed packets arriving before the next.
RC_GTEST_PROP(RotorLbProperty, KeepsCapsAndLosesNothing, ()) {
    std::mt19937_64 random(random_seed());
    const auto between = [&random](std::uint32_t least, std::uint32_t most) {
        return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
    };
    RotorLbOptions options{.racks = between(2, 6), .hosts_per_rack = between(1, 5)};
    options.slot = between(1, 4) * options.hosts_per_rack + between(0, 3);
    options.intra_rack_direct = between(0, 1) == 1;
    const std::uint64_t seed = random();
    Racks racks(options, seed);
    Racks same(options, seed);
    const std::uint32_t hosts = options.racks * options.hosts_per_rack;
    for (std::uint32_t draws = hosts == 1 ? 0 : between(1, 2 * hosts); draws > 0; --draws) {
        const std::uint32_t from = between(0, hosts - 1);
        const std::uint32_t to = (from + between(1, hosts - 1)) % hosts;
        const std::uint32_t packets = between(1, 3 * options.slot);
        racks.own.add(from, to, packets);
        same.own.add(from, to, packets);
    }
    std::uint64_t under_way = racks.own.total();
    for (std::uint32_t cycle = 0; under_way > 0; ++cycle) {
        RC_ASSERT(cycle < 1'000U);
        for (std::uint32_t pair = 0; pair < options.racks * options.racks; ++pair) {
            const Rack x = pair / options.racks;
            const Rack y = pair % options.racks;
            const PacketCounts own_before = racks.own;
            const PacketCounts relayed_before = racks.relayed;
            racks.join(x, y);
            RC_ASSERT(racks.grants == same.join(x, y));
            check_installation(racks, own_before, relayed_before);
            for (const Grant& grant : racks.grants) {
                if (grant.kind == Kind::kFirstHop) {
                    racks.relayed.add(grant.to, grant.destination, grant.packets);
                    same.relayed.add(grant.to, grant.destination, grant.packets);
                    RC_ASSERT(racks.relayed(grant.to, grant.destination) <=
                              2 * options.slot / options.hosts_per_rack);
                } else {
                    under_way -= grant.packets;
                }
            }
            RC_ASSERT(under_way == racks.own.total() + racks.relayed.total());
        }
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
