#include "system/src/collectives/hierarchical.hpp"

#include <memory>
#include <numeric>

#include <algorithms.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::system {
namespace {

using namespace literals;

struct Setting {
    Program program;
    SystemOptions options;

    [[nodiscard]] ProgramTraffic traffic() const { return {program, options}; }
};

void add_collective(Setting& setting, CollectiveOperation work) {
    Operation operation;
    operation.name = std::to_string(setting.program.operations.size());
    operation.work = std::move(work);
    setting.program.operations.push_back(std::move(operation));
}

/// One collective of all ranks.
Setting one(CollectiveKind kind, std::shared_ptr<const CollectiveAlgorithm> algorithm, std::size_t ranks,
            Bytes size, std::uint32_t chunks = 1) {
    Setting setting;
    setting.program.ranks = ranks;
    setting.program.iterations = 1;
    const PartitionId world = setting.program.partitions.push_back(Partition::world(ranks));
    setting.options.minimum_chunk = 1_B;
    setting.options.collectives[static_cast<std::size_t>(kind)] = {std::move(algorithm), chunks};
    add_collective(setting, {.kind = kind, .partition = world, .size = size});
    return setting;
}

constexpr OperationId kFirst{0};

TEST(Characterisation, ARingAllReduceSendsItsBytesToTheNeighbourOnly) {
    // 8 ranks, 64 KiB in two chunks: 2·7 messages of 32 KiB/8 = 4 KiB per rank and chunk.
    const Setting setting = one(CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 8, 64_KiB, 2);
    const OperationTraffic traffic = setting.traffic().of(kFirst);
    EXPECT_EQ(traffic.chunks, 2u);
    ASSERT_EQ(traffic.stages.size(), 1u);
    EXPECT_EQ(traffic.messages(), 8u * 2 * 14);
    EXPECT_EQ(traffic.stages[0].sizes[13], 8u * 2 * 14);  // [13]: 4096 to 8191 bytes
    const TrafficMatrix matrix = traffic_matrix(setting.program, setting.options);
    for (std::size_t source = 0; source < 8; ++source) {
        for (std::size_t destination = 0; destination < 8; ++destination) {
            const bool is_neighbour = destination == (source + 1) % 8;
            EXPECT_EQ(matrix(source, destination), is_neighbour ? 2 * 14 * 4_KiB : 0_B);
        }
    }
}

TEST(Characterisation, ADirectAllToAllSendsAsMuchToEveryOther) {
    // 10 B over 4 ranks: blocks of 3, 3, 2 and 2 B for ranks 0 to 3.
    const Setting setting = one(CollectiveKind::kAllToAll, testing::algorithm_of("direct"), 4, 10_B);
    const TrafficMatrix matrix = traffic_matrix(setting.program, setting.options);
    for (std::size_t source = 0; source < 4; ++source) {
        for (std::size_t destination = 0; destination < 4; ++destination) {
            const Bytes block = destination < 2 ? 3_B : 2_B;
            EXPECT_EQ(matrix(source, destination), source == destination ? 0_B : block);
        }
    }
    // Histogram: 2 and 3 B both have two binary digits.
    EXPECT_EQ(setting.traffic().of(kFirst).stages[0].sizes[2], 12u);
}

TEST(Characterisation, StagesCarryWhatTheirDimensionsDo) {
    // 16 x 8 ranks, 128 KiB, ring inside both dimensions (docs/theory/collectives-and-costs.md, "Hierarchical
    // phases"), per rank:
    //   reduce_scatter in dimension 0: 15/16·S = 120 KiB, all_gather the same;
    //   all_reduce of S/16 in dimension 1: 2·7/8·8 KiB = 14 KiB.
    HierarchicalOptions inner;
    inner.per_dimension = {testing::algorithm_of("ring")};
    Setting setting = one(CollectiveKind::kAllReduce, make_hierarchical(inner), 128, 128_KiB);
    setting.options.dimensions = Shape({16, 8});
    const ProgramTraffic counts = setting.traffic();
    const OperationTraffic& traffic = counts.of(kFirst);
    ASSERT_EQ(traffic.stages.size(), 3u);
    const auto stage = [&](std::size_t index) { return traffic.stages[index].stage; };
    EXPECT_EQ(stage(0), (Stage{0, CollectiveKind::kReduceScatter}));
    EXPECT_EQ(stage(1), (Stage{1, CollectiveKind::kAllReduce}));
    EXPECT_EQ(stage(2), (Stage{0, CollectiveKind::kAllGather}));
    EXPECT_EQ(traffic.stages[0].bytes, 128 * 120_KiB);
    EXPECT_EQ(traffic.stages[1].bytes, 128 * 14_KiB);
    EXPECT_EQ(traffic.stages[2].bytes, 128 * 120_KiB);
}

TEST(Characterisation, GroupsOfAPartitionSendAmongThemselves) {
    // Two groups of two, interleaved: 0 and 2, 1 and 3; each rank sends half of its 8 B to the other.
    Setting setting = one(CollectiveKind::kAllToAll, testing::algorithm_of("direct"), 4, 8_B);
    setting.program.partitions[PartitionId(0)] = {.name = "pairs",
                                                  .groups = {{RankId(0), RankId(2)}, {RankId(1), RankId(3)}}};
    const TrafficMatrix matrix = traffic_matrix(setting.program, setting.options);
    EXPECT_EQ(matrix(0, 2), 4_B);
    EXPECT_EQ(matrix(3, 1), 4_B);
    EXPECT_EQ(matrix.total(), 16_B);
}

TEST(Characterisation, ComputeAndWhatMovesNothingCountsNothing) {
    Setting setting = one(CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 1, 8_B);
    Operation compute;
    compute.name = "compute";
    compute.work = ComputeOperation{1_us};
    const OperationId last = setting.program.operations.push_back(compute);
    const ProgramTraffic counts = setting.traffic();
    EXPECT_EQ(counts.bytes(), 0_B);
    EXPECT_EQ(counts.messages(), 0u);
    EXPECT_EQ(counts.of(kFirst).chunks, 0u);
    EXPECT_TRUE(counts.of(last).stages.empty());
}

TEST(Characterisation, OperationsThatMoveTheSameCountEach) {
    Setting setting = one(CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 4, 64_B);
    for (int i = 0; i < 2; ++i) {
        add_collective(setting, setting.program.operations[kFirst].collective());
    }
    // Three times 2·3·64 B over all ranks.
    EXPECT_EQ(setting.traffic().bytes(), 3 * 2 * 3 * 64_B);
    EXPECT_EQ(traffic_matrix(setting.program, setting.options).total(), 3 * 2 * 3 * 64_B);
}

RC_GTEST_PROP(Characterisation, MatrixRanksAndStagesAddUpToTheSameBytes, ()) {
    const auto algorithms = testing::builtin_algorithms();
    const auto& entry = algorithms[*rc::gen::inRange<std::size_t>(0, algorithms.size())];
    const auto kind = static_cast<CollectiveKind>(*rc::gen::inRange<std::size_t>(0, kCollectiveKinds));
    const auto ranks = *rc::gen::inRange<Position>(2, 12);
    RC_PRE(!entry.algorithm->unsupported(kind, ranks));
    const Setting setting = one(kind, entry.algorithm, ranks, Bytes(*rc::gen::inRange(1, 5000)),
                                *rc::gen::inRange<std::uint32_t>(1, 6));
    const ProgramTraffic counts = setting.traffic();
    const TrafficMatrix matrix = traffic_matrix(setting.program, setting.options);
    const std::vector<Bytes> sent = counts.sent_by_rank();
    RC_ASSERT(matrix.total() == counts.bytes());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        RC_ASSERT(matrix.sent(rank) == sent[rank]);
        RC_ASSERT(matrix(rank, rank) == 0_B);
    }
    for (const StageTraffic& stage : counts.of(kFirst).stages) {
        const auto sizes = std::accumulate(stage.sizes.begin(), stage.sizes.end(), std::uint64_t{0});
        RC_ASSERT(sizes == stage.messages);
    }
}

RC_GTEST_PROP(Characterisation, ADirectUnevenAllToAllSendsExactlyTheMatrixOfItsSizes, ()) {
    const auto ranks = *rc::gen::inRange<std::size_t>(2, 9);
    std::vector<Bytes> bytes;
    for (std::size_t pair = 0; pair < ranks * ranks; ++pair) {
        bytes.emplace_back(*rc::gen::inRange(0, 40));
    }
    const PairSizes pairs = PairSizes::of_pairs(ranks, bytes);
    RC_PRE(pairs.largest_held() > 0_B);
    Setting setting = one(CollectiveKind::kAllToAll, testing::algorithm_of("direct"), ranks,
                          pairs.largest_held(), *rc::gen::inRange<std::uint32_t>(1, 7));
    std::get<CollectiveOperation>(setting.program.operations[kFirst].work).pair_sizes =
        std::make_shared<const std::vector<PairSizes>>(1, pairs);
    const TrafficMatrix matrix = traffic_matrix(setting.program, setting.options);
    for (std::size_t source = 0; source < ranks; ++source) {
        for (std::size_t destination = 0; destination < ranks; ++destination) {
            const Bytes own = source == destination ? 0_B : pairs(source, destination);
            RC_ASSERT(matrix(source, destination) == own);
        }
    }
    RC_ASSERT(setting.traffic().bytes() == pairs.crossing());
}

}  // namespace
}  // namespace astrolabe::system
