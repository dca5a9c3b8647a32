#include "network/src/topologies/flat.hpp"

#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/lower_bound.hpp>

namespace astrolabe::experiment {
namespace {

using namespace literals;

std::shared_ptr<const network::Fabric> flat(std::int64_t hosts) {
    network::FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    return network::build_flat(parameters);
}

system::Program collective(system::CollectiveKind kind, std::size_t ranks, Bytes size) {
    system::Program program;
    program.ranks = ranks;
    program.iterations = 1;
    const auto world = program.partitions.push_back(system::Partition::world(ranks));
    system::Operation operation;
    operation.name = "x";
    operation.work = system::CollectiveOperation{.kind = kind, .partition = world, .size = size};
    program.operations.push_back(operation);
    return program;
}

TEST(LowerBound, OfOneCollectiveIsItsBytesThroughAPortAndOneLatency) {
    // 8 ranks, 8 MB per rank, 0.08 ns/B, α = 2·500 ns.
    // all_reduce: 2·7/8·8 MB = 14 MB -> 1120 us; reduce_scatter, all_to_all: 7 MB -> 560 us; all_gather: 7·8
    // MB -> 4480 us.
    using Kind = system::CollectiveKind;
    EXPECT_EQ(lower_bound(collective(Kind::kAllReduce, 8, 8_MB), {}, *flat(8)).communication, 1121_us);
    EXPECT_EQ(lower_bound(collective(Kind::kReduceScatter, 8, 8_MB), {}, *flat(8)).communication, 561_us);
    EXPECT_EQ(lower_bound(collective(Kind::kAllToAll, 8, 8_MB), {}, *flat(8)).communication, 561_us);
    EXPECT_EQ(lower_bound(collective(Kind::kAllGather, 8, 8_MB), {}, *flat(8)).communication, 4481_us);
}

TEST(LowerBound, NothingToSendNeedsNoTime) {
    using Kind = system::CollectiveKind;
    EXPECT_EQ(lower_bound(collective(Kind::kAllReduce, 1, 8_MB), {}, *flat(8)).communication, 0_ps);
    EXPECT_EQ(lower_bound(collective(Kind::kAllReduce, 8, 0_B), {}, *flat(8)).communication, 0_ps);
}

TEST(LowerBound, OnlyTheRanksHostsCount) {
    EXPECT_EQ(
        lower_bound(collective(system::CollectiveKind::kAllReduce, 8, 8_MB), {}, *flat(64)).communication,
        1121_us);
}

TEST(LowerBound, SumsOfRatesAndBytesNeedMoreThan64Bits) {
    // 16 384 hosts of 1 Pb/s are 1.6e19 bit/s. 16 MiB of all_reduce: 2·16 383/16 384·16 MiB·8/1e15 s = 268
    // 419.07… ns·1e-3, that is 268.4 ns a port, and 1 us of latency.
    network::FlatParameters parameters;
    parameters.hosts = 16'384;
    parameters.link = {Bandwidth(1'000'000'000'000'000), 500_ns};
    const Bound bound = lower_bound(collective(system::CollectiveKind::kAllReduce, 16'384, 16_MiB), {},
                                    *network::build_flat(parameters));
    EXPECT_EQ(bound.communication, 1_us + Time(268'419));
    // 1 EiB on 8 ranks at 100 Gb/s: 14/8·2^60·0.08 ns = 1.6e17 ns is beyond 106 days: saturated, not wrapped.
    const system::Program huge =
        collective(system::CollectiveKind::kAllReduce, 8, Bytes(std::int64_t{1} << 60));
    EXPECT_EQ(lower_bound(huge, {}, *flat(8)).communication, Time::max());
}

TEST(TrafficProblem, RefusesWhatByteCountsCannotHold) {
    system::SystemOptions options;
    const auto refused = [&options](Bytes size) {
        return traffic_problem(collective(system::CollectiveKind::kAllReduce, 8, size), options).has_value();
    };
    EXPECT_FALSE(refused(Bytes(std::int64_t{1} << 40)));
    // All-reduce over 8 ranks counts at most (log2 8 + 1 + 3)·N·S: 7·8·2^62/56 = 2^62.
    const std::int64_t limit = (std::int64_t{1} << 62) / 56 + 1;
    EXPECT_TRUE(refused(Bytes(limit)));
    EXPECT_FALSE(refused(Bytes(limit - 1)));
    // Three dimensions add three foldings each: (4 + 9)·8·S.
    EXPECT_FALSE(refused(Bytes(limit / 13 * 7 + 7)));
    options.dimensions = system::Shape({2, 2, 2});
    EXPECT_TRUE(refused(Bytes(limit / 13 * 7 + 7)));
}

TEST(LowerBound, OfRootedCollectivesIsTheRootsPort) {
    // 8 MB at 0.08 ns/B are 640 us; the aggregate, 7·8 MB over 8 ports, is only 560 us.
    using Kind = system::CollectiveKind;
    EXPECT_EQ(lower_bound(collective(Kind::kBroadcast, 8, 8_MB), {}, *flat(8)).communication, 641_us);
    EXPECT_EQ(lower_bound(collective(Kind::kReduce, 8, 8_MB), {}, *flat(8)).communication, 641_us);
    EXPECT_EQ(lower_bound(collective(Kind::kPointToPoint, 2, 8_MB), {}, *flat(8)).communication, 641_us);
}

TEST(LowerBound, OfAnUnevenAllToAllIsTheFullestPort) {
    system::Program program = collective(system::CollectiveKind::kAllToAll, 4, 8_MB);
    auto& work = std::get<system::CollectiveOperation>(program.operations[system::OperationId(0)].work);
    // Rank 0 has 2 MB for each of four, the others 1 MB: 3·2 MB = 6 MB leave rank 0 -> 480 us; every port
    // takes in at most 2 + 1 + 1 MB; all ports together (6 + 9)/4 MB.
    work.pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(
        1, system::PairSizes::by_source({2_MB, 1_MB, 1_MB, 1_MB}));
    EXPECT_EQ(lower_bound(program, {}, *flat(4)).communication, 481_us);
    // The same by destination: 6 MB enter rank 0.
    work.pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(
        1, system::PairSizes::by_destination({2_MB, 1_MB, 1_MB, 1_MB}));
    EXPECT_EQ(lower_bound(program, {}, *flat(4)).communication, 481_us);
}

TEST(LowerBound, LeavesRoomForBlocksThatDifferByAByteInEveryChunk) {
    // 7 B over 4 ranks in 7 chunks of 1 B: every chunk's one byte is rank 0's block, so rank 0 need send
    // nothing of it. The bound is that of all ports, 3·7 B over four: 21·8/4e11 s = 420 ps.
    system::SystemOptions options;
    options.minimum_chunk = 1_B;
    options.collectives[static_cast<std::size_t>(system::CollectiveKind::kReduceScatter)].chunks = 7;
    const system::Program program = collective(system::CollectiveKind::kReduceScatter, 4, 7_B);
    EXPECT_EQ(lower_bound(program, options, *flat(4)).communication, 1_us + Time(420));
}

TEST(LowerBound, ComputeIsThatOfTheBusiestRank) {
    system::Program program;
    program.ranks = 2;
    program.iterations = 1;
    for (int i = 0; i < 2; ++i) {
        system::Operation operation;
        operation.name = std::to_string(i);
        operation.work = system::ComputeOperation{system::PerRank<Time>(std::vector<Time>{3_us, 5_us})};
        program.operations.push_back(operation);
    }
    EXPECT_EQ(lower_bound(program, {}, *flat(2)).compute, 10_us);
    EXPECT_EQ(lower_bound(program, {}, *flat(2)).value(), 10_us);
}

}  // namespace
}  // namespace astrolabe::experiment
