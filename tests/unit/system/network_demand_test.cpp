#include "program_builder.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/program/characterisation.hpp>
#include <astrolabe/system/program/network_demand.hpp>

namespace astrolabe::system {
namespace {

using namespace literals;
using network::Demand;
using network::Server;
using testing::ProgramBuilder;
using Servers = std::vector<Server>;

std::uint64_t count(Bytes bytes) {
    return static_cast<std::uint64_t>(bytes.count());
}

/// Rings of the network for what they serve, direct for all else.
SystemOptions on_rings_of_network() {
    SystemOptions options = testing::options_with(testing::algorithm_of("direct"), 1, 64);
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
        options.collectives[static_cast<std::size_t>(kind)] = {
            testing::algorithm_of("multi_ring, strides: network"), 4};
    }
    return options;
}

Partition every_other(std::size_t ranks) {
    Partition partition{.name = "every other", .groups = {{}, {}}};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        partition.groups[rank % 2].emplace_back(rank);
    }
    return partition;
}

TEST(NetworkDemand, RingsAndPairsAreKeptApart) {
    ProgramBuilder builder(8);
    const PartitionId halves = builder.program().partitions.push_back(every_other(8));
    builder.collective("dense", {.kind = CollectiveKind::kAllReduce, .size = 64_KiB});
    builder.collective("bias", {.kind = CollectiveKind::kAllReduce, .size = 8_KiB});
    builder.compute("think", Time(1));
    builder.collective("shards", {.kind = CollectiveKind::kAllGather, .partition = halves, .size = 1_KiB});
    builder.collective("tables", {.kind = CollectiveKind::kAllToAll, .size = 32_KiB});
    const Demand demand = network_demand(builder.program(), on_rings_of_network());
    EXPECT_EQ(demand.servers, 8U);
    ASSERT_EQ(demand.groups.size(), 3U);
    EXPECT_EQ(demand.groups[0].members, (Servers{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(demand.groups[0].bytes, 72U * 1024);
    EXPECT_EQ(demand.groups[0].operations, 2U);
    EXPECT_EQ(demand.groups[1].operations, 1U);
    EXPECT_EQ(demand.exchanges, 1U);
    // An all_gather of 1 KiB over 4 sends 12 KiB on a ring, an all_reduce of 2 KiB 2 · 3 · 2 KiB.
    EXPECT_EQ(demand.groups[1].members, (Servers{0, 2, 4, 6}));
    EXPECT_EQ(demand.groups[2].members, (Servers{1, 3, 5, 7}));
    EXPECT_EQ(demand.groups[1].bytes, 2U * 1024);
    EXPECT_EQ(demand.groups[2].bytes, 2U * 1024);
    for (Server source = 0; source < 8; ++source) {
        for (Server destination = 0; destination < 8; ++destination) {
            EXPECT_EQ(demand.point_to_point.at(source, destination), source == destination ? 0U : 4096U);
        }
    }
}

TEST(NetworkDemand, WhatDoesNotRunOnRingsOfTheNetworkGoesBetweenPairs) {
    ProgramBuilder builder(4);
    builder.collective("dense", {.kind = CollectiveKind::kAllReduce, .size = 4_KiB});
    SystemOptions options = testing::options_with(testing::algorithm_of("multi_ring, strides: [3]"), 1, 64);
    const Demand demand = network_demand(builder.program(), options);
    EXPECT_TRUE(demand.groups.empty());
    for (Server source = 0; source < 4; ++source) {
        for (Server destination = 0; destination < 4; ++destination) {
            // 6 rounds of S/4 to the rank three ahead.
            EXPECT_EQ(demand.point_to_point.at(source, destination),
                      destination == (source + 3) % 4 ? 6U * 1024 : 0U);
        }
    }
}

TEST(NetworkDemand, RingsOfGroupsThatAreNotRegularGoRoundInTheirOrder) {
    // Neighbours 0 and 1, 2 and 3: two of four servers would have to be two apart.
    ProgramBuilder builder(4);
    Partition neighbours{.name = "neighbours", .groups = {{RankId(0), RankId(1)}, {RankId(2), RankId(3)}}};
    const PartitionId pairs = builder.program().partitions.push_back(std::move(neighbours));
    builder.collective("dense", {.kind = CollectiveKind::kAllReduce, .partition = pairs, .size = 4_KiB});
    const Demand demand = network_demand(builder.program(), on_rings_of_network());
    EXPECT_TRUE(demand.groups.empty());
    // 2 rounds of S/2.
    EXPECT_EQ(demand.point_to_point.at(0, 1), 4096U);
    EXPECT_EQ(demand.point_to_point.at(3, 2), 4096U);
    EXPECT_EQ(demand.point_to_point.total(), 4U * 4096);
}

TEST(NetworkDemand, OfGroupsOfOneIsNothing) {
    ProgramBuilder builder(2);
    Partition alone{.name = "alone", .groups = {{RankId(0)}, {RankId(1)}}};
    const PartitionId each = builder.program().partitions.push_back(std::move(alone));
    builder.collective("own", {.kind = CollectiveKind::kAllReduce, .partition = each, .size = 4_KiB});
    const Demand demand = network_demand(builder.program(), on_rings_of_network());
    EXPECT_TRUE(demand.groups.empty());
    EXPECT_EQ(demand.point_to_point.total(), 0U);
}

TEST(NetworkDemand, OfAnUnevenAllToAllAreItsPairs) {
    ProgramBuilder builder(3);
    const PairSizes sizes = PairSizes::of_pairs(3, {1_B, 2_B, 3_B, 4_B, 5_B, 6_B, 7_B, 8_B, 0_B});
    CollectiveOperation exchange{.kind = CollectiveKind::kAllToAll, .size = sizes.largest_held()};
    exchange.pair_sizes = std::make_shared<const std::vector<PairSizes>>(1, sizes);
    builder.collective("tables", exchange);
    const Demand demand = network_demand(builder.program(), on_rings_of_network());
    for (Server source = 0; source < 3; ++source) {
        for (Server destination = 0; destination < 3; ++destination) {
            EXPECT_EQ(demand.point_to_point.at(source, destination),
                      source == destination ? 0U : count(sizes(source, destination)));
        }
    }
    EXPECT_EQ(demand.point_to_point.total(), count(sizes.crossing()));
}

RC_GTEST_PROP(NetworkDemandProperty, IsWhatTheProgramSends, ()) {
    const std::size_t ranks = 2 * *rc::gen::inRange<std::size_t>(1, 7);
    ProgramBuilder builder(ranks);
    const PartitionId halves = builder.program().partitions.push_back(every_other(ranks));
    bool is_symmetric = true;
    for (int i = 0; i < *rc::gen::inRange(1, 6); ++i) {
        const auto kind = *rc::gen::element(CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                            CollectiveKind::kAllGather, CollectiveKind::kAllToAll,
                                            CollectiveKind::kBroadcast);
        // Blocks that are a byte longer for some make an all_to_all uneven.
        const auto size = *rc::gen::inRange<std::int64_t>(0, 5000);
        is_symmetric = is_symmetric && (kind != CollectiveKind::kBroadcast || size == 0) &&
                       (kind != CollectiveKind::kAllToAll || size % static_cast<std::int64_t>(ranks) == 0);
        builder.collective(std::to_string(i),
                           {.kind = kind,
                            .partition = *rc::gen::arbitrary<bool>() ? halves : PartitionId(0),
                            .size = Bytes(size)});
    }
    const SystemOptions options = on_rings_of_network();
    const Demand demand = network_demand(builder.program(), options);
    std::uint64_t total = demand.point_to_point.total();
    std::uint64_t rounding = 0;  // of a group's bytes to a multiple of 2(k-1)
    for (const network::AllReduceGroup& group : demand.groups) {
        const std::uint64_t rounds = 2 * (group.members.size() - 1);
        total += rounds * group.bytes;
        rounding += rounds - 1;
    }
    const std::uint64_t sent = count(ProgramTraffic(builder.program(), options).bytes());
    RC_ASSERT(total <= sent);
    RC_ASSERT(total + rounding >= sent);
    if (is_symmetric) {
        for (Server source = 0; source < ranks; ++source) {
            for (Server destination = 0; destination < source; ++destination) {
                RC_ASSERT(demand.point_to_point.at(source, destination) ==
                          demand.point_to_point.at(destination, source));
            }
        }
    }
}

}  // namespace
}  // namespace astrolabe::system
