// Ranks in the order of circuits: what the order keeps, and what it is worth on rotor switches.

#include "circuit_windows_fake.hpp"
#include "program_builder.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

#include <astrolabe/network/family.hpp>
#include <astrolabe/system/executor/circuit_order.hpp>

namespace astrolabe::testing {
namespace {

using network::CircuitWindows;
using network::HostId;
using network::PlaceId;
using system::CollectiveKind;
using system::PartitionId;
using system::RankId;

std::vector<RankId> ranks(std::size_t count) {
    std::vector<RankId> all;
    for (std::size_t rank = 0; rank < count; ++rank) {
        all.emplace_back(rank);
    }
    return all;
}

std::vector<std::uint32_t> places_in(const std::vector<RankId>& order, const CircuitWindows& turns) {
    std::vector<std::uint32_t> places;
    for (const RankId rank : order) {
        places.push_back(turns.place_of(HostId(rank.index())).index());
    }
    return places;
}

/// When what starts at the first rank at 0 has gone round.
Time time_round(const std::vector<RankId>& order, const CircuitWindows& opportunities) {
    Time time;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const PlaceId from = opportunities.place_of(HostId(order[i].index()));
        const PlaceId to = opportunities.place_of(HostId(order[(i + 1) % order.size()].index()));
        time = opportunities.next(from, to, time)->end;
    }
    return time;
}

// Of the 6 ways round four places, tried one by one.
TEST(CircuitOrder, IsTheQuickestWayRoundFourPlaces) {
    const TurnsOfPlaces turns(4, 1);
    const std::vector<RankId> found = system::circuit_order(ranks(4), turns, host_of_each_rank(4));
    EXPECT_EQ(found.front(), RankId(0));
    std::vector<RankId> order = ranks(4);
    Time best = Time::max();
    do {
        best = std::min(best, time_round(order, turns));
    } while (std::next_permutation(order.begin() + 1, order.end()));
    EXPECT_EQ(time_round(found, turns), best);
}

TEST(CircuitOrder, HostsOfAPlaceFollowOneAnotherWhereItMeetsItself) {
    const auto order = system::circuit_order(ranks(15), TurnsOfPlaces(5, 3, true), host_of_each_rank(15));
    const auto places = places_in(order, TurnsOfPlaces(5, 3));
    for (std::size_t i = 0; i < 15; ++i) {
        EXPECT_EQ(places[i], places[i / 3 * 3]);
    }
    EXPECT_EQ(std::set<RankId>(order.begin(), order.end()).size(), 15u);
}

TEST(CircuitOrder, ElseTheRingGoesRoundThePlacesAgain) {
    const auto order = system::circuit_order(ranks(15), TurnsOfPlaces(5, 3), host_of_each_rank(15));
    const auto places = places_in(order, TurnsOfPlaces(5, 3));
    EXPECT_EQ(std::set<std::uint32_t>(places.begin(), places.begin() + 5).size(), 5u);
    for (std::size_t i = 5; i < 15; ++i) {
        EXPECT_EQ(places[i], places[i - 5]);
    }
    EXPECT_EQ(std::set<RankId>(order.begin(), order.end()).size(), 15u);
}

TEST(CircuitOrder, PlacesOfUnequalGroupsAreVisitedWhileTheyHaveRanks) {
    // Ranks 0, 1, 2 are at place 0, 3 and 4 at place 1.
    const std::vector<RankId> group{RankId(0), RankId(1), RankId(2), RankId(3), RankId(4)};
    const auto order = system::circuit_order(group, TurnsOfPlaces(5, 3), host_of_each_rank(15));
    EXPECT_EQ(order, (std::vector{RankId(0), RankId(3), RankId(1), RankId(4), RankId(2)}));
}

TEST(CircuitOrder, TakesOneOrTwoRanksAsTheyAre) {
    for (const std::size_t count : {1U, 2U}) {
        EXPECT_EQ(system::circuit_order(ranks(count), TurnsOfPlaces(4, 1), host_of_each_rank(4)),
                  ranks(count));
    }
}

// A good ring of the 32 racks of the Opera study needs several cycles for the slots alone: a slot lasts 3 T +
// eps, so that a rack that was met can send on 4 T later, and 32 such steps are 4 cycles of 32 T.
TEST(CircuitOrder, ShortensTheWayRoundRacksOnRotors) {
    network::rotor::RotorNetwork network =
        network::rotor::drawn_rotor_network(32, 4, Bandwidth(100'000'000'000), 8);
    network.hosts_per_rack = 1;
    const auto opportunities =
        network::rotor::build_rotor_fabric(std::move(network))->family().circuit_windows();
    const auto order = system::circuit_order(ranks(32), *opportunities, host_of_each_rank(32));
    const Time in_order = time_round(order, *opportunities);
    const Time by_number = time_round(ranks(32), *opportunities);
    std::printf(
        "round 32 racks: %.2f cycles in the order of circuits, %.2f in that of racks\n",
        static_cast<double>(in_order.count()) / static_cast<double>(opportunities->period().count()),
        static_cast<double>(by_number.count()) / static_cast<double>(opportunities->period().count()));
    EXPECT_GE(in_order, 31 * 4 * opportunities->period() / 32);
    EXPECT_LE(in_order, by_number / 2);
}

TEST(CircuitOrder, ChangesCollectivesThatAskForIt) {
    ProgramBuilder builder(4);
    builder.collective("sum", {.kind = CollectiveKind::kAllReduce, .size = Bytes(100)});
    builder.collective("again", {.kind = CollectiveKind::kAllReduce, .size = Bytes(100)});
    builder.collective("exchange", {.kind = CollectiveKind::kAllToAll, .size = Bytes(100)});
    system::Program& program = builder.program();
    system::SystemOptions options = options_with(algorithm_of("rotor_ring"), 1, 64);
    options.collectives[static_cast<std::size_t>(CollectiveKind::kAllToAll)] = {algorithm_of("rotor_direct")};

    const auto partition_of = [&](std::size_t operation) {
        return program.operations[system::OperationId(operation)].collective().partition;
    };
    system::order_by_circuits(program, options, host_of_each_rank(4));
    EXPECT_EQ(program.partitions.size(), 1u);  // no opportunities

    options.circuit_windows = std::make_shared<TurnsOfPlaces>(4, 1);
    system::order_by_circuits(program, options, host_of_each_rank(4));
    program.check();
    ASSERT_EQ(program.partitions.size(), 2u);
    EXPECT_EQ(partition_of(0), PartitionId(1));
    EXPECT_EQ(partition_of(1), PartitionId(1));
    EXPECT_EQ(partition_of(2), PartitionId(0));
    EXPECT_EQ(program.partitions[PartitionId(1)].groups.front(),
              system::circuit_order(ranks(4), *options.circuit_windows, host_of_each_rank(4)));
}

}  // namespace
}  // namespace astrolabe::testing
