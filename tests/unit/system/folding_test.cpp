// As few ranks as can stand for all, and why not fewer.

#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/torus.hpp"
#include "program_builder.hpp"
#include "system/src/collectives/hierarchical.hpp"

#include <memory>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/program/padding.hpp>
#include <astrolabe/system/symmetry/folding.hpp>

namespace astrolabe::testing {
namespace {

using network::Equivalence;
using system::CollectiveKind;
using system::FoldedRanks;
using system::PartitionId;
using system::PerRank;
using system::RankId;

constexpr std::size_t kRanks = 16;
constexpr network::HostLinkParameters kLink{.rate = 100_Gbps, .latency = 1_us};

std::shared_ptr<const network::Fabric> flat() {
    return network::build_flat({.hosts = kRanks, .link = kLink, .switch_buffer = {}});
}

std::shared_ptr<const network::Fabric> fat_tree(network::LoadBalancing load_balancing) {
    network::FatTreeParameters parameters;
    parameters.k = 4;
    parameters.link = kLink;
    parameters.load_balancing = load_balancing;
    return network::build_fat_tree(parameters);
}

system::CollectiveOperation collective(CollectiveKind kind, std::int64_t size) {
    return {.kind = kind, .partition = PartitionId(0), .size = Bytes(size)};
}

/// A program of one collective over all ranks.
ProgramBuilder one(CollectiveKind kind, std::int64_t size) {
    ProgramBuilder builder(kRanks);
    builder.collective("collective", collective(kind, size));
    return builder;
}

FoldedRanks fold(ProgramBuilder builder, const system::SystemOptions& options,
                 const std::shared_ptr<const network::Fabric>& fabric = flat()) {
    return fold_ranks(builder.program(), options, fabric, host_of_each_rank(kRanks));
}

system::SystemOptions ring() {
    return options_with(algorithm_of("ring"), 1, 1);
}

void expect_refused(const FoldedRanks& folded, const std::string& reason) {
    EXPECT_EQ(folded.folding.representatives, kRanks);
    EXPECT_EQ(folded.classes->flows_per_representative(), 1U);
    EXPECT_NE(folded.unsupported.find(reason), std::string::npos) << folded.unsupported;
}

TEST(FoldRanks, OneRankStandsForAllOnOneSwitch) {
    const FoldedRanks folded = fold(one(CollectiveKind::kAllReduce, 1600), ring());
    EXPECT_EQ(folded.folding.representatives, 1U);
    EXPECT_EQ(folded.classes->flows_per_representative(), kRanks);
    EXPECT_EQ(folded.unsupported, "");
}

TEST(FoldRanks, APodStandsForAFatTree) {
    const FoldedRanks folded =
        fold(one(CollectiveKind::kAllReduce, 1600), ring(), fat_tree(network::LoadBalancing::kSpray));
    EXPECT_EQ(folded.folding.representatives, 4U);
    EXPECT_EQ(folded.folding.equivalence, Equivalence::kRotation);
}

TEST(FoldRanks, AScheduleByExclusiveOrFoldsByIt) {
    const auto options = options_with(algorithm_of("recursive_doubling"), 1, 1);
    const FoldedRanks folded =
        fold(one(CollectiveKind::kAllReduce, 1600), options, fat_tree(network::LoadBalancing::kSpray));
    EXPECT_EQ(folded.folding.representatives, 1U);
    EXPECT_EQ(folded.folding.equivalence, Equivalence::kExclusiveOr);
}

TEST(FoldRanks, ARingAndAnExclusiveOrOnlyShareTheHalves) {
    // + 8 (mod 16) is xor 8.
    auto options = ring();
    options.collectives[static_cast<std::size_t>(CollectiveKind::kAllReduce)].algorithm =
        algorithm_of("recursive_doubling");
    ProgramBuilder builder = one(CollectiveKind::kAllReduce, 1600);
    builder.collective("second", collective(CollectiveKind::kAllGather, 100));
    EXPECT_EQ(fold(builder, options).folding.representatives, 8U);
}

TEST(FoldRanks, AGridFoldsAlongItsLastDimension) {
    // 4 x 4: a ring in each dimension; + 4 goes round the last one.
    auto options = options_with(system::make_hierarchical({}), 1, 1);
    options.dimensions = system::Shape({4, 4});
    EXPECT_EQ(fold(one(CollectiveKind::kAllReduce, 1600), options).folding.representatives, 4U);
}

TEST(FoldRanks, ComputeTimesMayRepeat) {
    std::vector<Time> times;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
        times.emplace_back(rank % 4 == 1 ? 2 : 1);
    }
    ProgramBuilder builder = one(CollectiveKind::kAllReduce, 1600);
    builder.compute("compute", PerRank<Time>(times));
    EXPECT_EQ(fold(builder, ring()).folding.representatives, 4U);
    times[13] = Time(3);
    ProgramBuilder broken = one(CollectiveKind::kAllReduce, 1600);
    broken.compute("compute", PerRank<Time>(times));
    expect_refused(fold(broken, ring()), "'compute' takes 2ps on rank 5 and 3ps on rank 13");
}

TEST(FoldRanks, GroupsThatChangePlacesFold) {
    // Four blocks of four ranks: rank i stands for i + 4 t, and the first block for all.
    system::Partition blocks{.name = "blocks", .groups = {}};
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
        blocks.groups.resize(rank / 4 + 1);
        blocks.groups.back().emplace_back(rank);
    }
    ProgramBuilder builder(kRanks);
    const PartitionId partition = builder.program().partitions.push_back(blocks);
    auto work = collective(CollectiveKind::kBroadcast, 1001);  // roots and sizes stay where they are
    work.partition = partition;
    builder.collective("collective", work);
    EXPECT_EQ(fold(builder, options_with(algorithm_of("direct"), 1, 1)).folding.representatives, 4U);
}

TEST(FoldRanks, WhatIsNotAlikeIsNotFolded) {
    expect_refused(fold(one(CollectiveKind::kAllReduce, 1601), ring()),
                   "a chunk of 'collective' has 1601 bytes, which do not make 16 equal blocks");
    expect_refused(fold(one(CollectiveKind::kBroadcast, 1600), ring()),
                   "one rank is the root of 'collective'");
    expect_refused(
        fold(one(CollectiveKind::kAllReduce, 1600), options_with(algorithm_of("double_binary_tree"), 1, 1)),
        "the schedule of 'collective' is not the same from every rank");
    expect_refused(fold(one(CollectiveKind::kAllReduce, 1600), options_with(algorithm_of("direct"), 1, 1),
                        fat_tree(network::LoadBalancing::kFlowHash)),
                   "is not like that from rank");

    ProgramBuilder uneven(kRanks);
    auto work = collective(CollectiveKind::kAllToAll, 0);
    std::vector<Bytes> from(kRanks, Bytes(10));
    from[3] = Bytes(11);
    work.pair_sizes =
        std::make_shared<const std::vector<system::PairSizes>>(1, system::PairSizes::by_source(from));
    work.size = Bytes(11 * kRanks);
    uneven.collective("uneven", work);
    expect_refused(fold(uneven, ring()), "ranks have unequal bytes for one another in 'uneven'");
}

TEST(FoldRanks, OptionsThatGoByTheOrderOfNotificationsAreNotFolded) {
    auto options = ring();
    options.start_order = system::StartOrder::kIndependent;
    expect_refused(fold(one(CollectiveKind::kAllReduce, 1600), options), "orders of their own");
    options = ring();
    options.active_chunks_per_dimension = 1;
    expect_refused(fold(one(CollectiveKind::kAllReduce, 1600), options), "slots in a dimension");
    options = ring();
    options.end_point = {.injection_latency = 1_us, .copy_engine = system::CopyEngine::kSerial};
    expect_refused(fold(one(CollectiveKind::kAllReduce, 1600), options), "a copy engine");
}

TEST(Padding, MakesEqualBlocks) {
    ProgramBuilder builder = one(CollectiveKind::kAllReduce, 1601);
    builder.collective("rooted", collective(CollectiveKind::kBroadcast, 1601));
    builder.collective("nothing", collective(CollectiveKind::kAllReduce, 0));
    auto options = options_with(algorithm_of("ring"), 3, 1);
    pad_collectives(builder.program(), options);
    const auto size = [&](std::size_t operation) {
        return builder.program().operations[system::OperationId(operation)].collective().size;
    };
    EXPECT_EQ(size(0), Bytes(1632));  // 34 times 3 chunks of 16 blocks
    EXPECT_EQ(size(1), Bytes(1601));
    EXPECT_EQ(size(2), Bytes(0));
    EXPECT_EQ(fold(one(CollectiveKind::kAllReduce, 1632), options).folding.representatives, 1U);
}

TEST(Padding, FollowsTheChunksOfThePaddedSize) {
    // 100 bytes in chunks of at least 100: one. Padded to 16 · 7 = 112 bytes they make two; 32 · 4 = 128.
    ProgramBuilder builder = one(CollectiveKind::kAllReduce, 100);
    auto options = options_with(algorithm_of("ring"), 8, 1);
    options.minimum_chunk = Bytes(100);
    pad_collectives(builder.program(), options);
    EXPECT_EQ(builder.program().operations[system::OperationId(0)].collective().size, Bytes(128));
}

}  // namespace
}  // namespace astrolabe::testing
