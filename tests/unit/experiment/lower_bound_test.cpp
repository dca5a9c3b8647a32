#include <gtest/gtest.h>

#include <astrolabe/experiment/lower_bound.hpp>
#include <astrolabe/network/topologies/flat.hpp>

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
    EXPECT_EQ(lower_bound(collective(Kind::kAllReduce, 8, 8_MB), *flat(8)).communication, 1121_us);
    EXPECT_EQ(lower_bound(collective(Kind::kReduceScatter, 8, 8_MB), *flat(8)).communication, 561_us);
    EXPECT_EQ(lower_bound(collective(Kind::kAllToAll, 8, 8_MB), *flat(8)).communication, 561_us);
    EXPECT_EQ(lower_bound(collective(Kind::kAllGather, 8, 8_MB), *flat(8)).communication, 4481_us);
}

TEST(LowerBound, NothingToSendNeedsNoTime) {
    EXPECT_EQ(lower_bound(collective(system::CollectiveKind::kAllReduce, 1, 8_MB), *flat(8)).communication,
              0_ps);
    EXPECT_EQ(lower_bound(collective(system::CollectiveKind::kAllReduce, 8, 0_B), *flat(8)).communication,
              0_ps);
}

TEST(LowerBound, OnlyTheRanksHostsCount) {
    EXPECT_EQ(lower_bound(collective(system::CollectiveKind::kAllReduce, 8, 8_MB), *flat(64)).communication,
              1121_us);
}

TEST(LowerBound, SumsOfRatesAndBytesNeedMoreThan64Bits) {
    // 16 384 hosts of 1 Pb/s are 1.6e19 bit/s. 16 MiB of all_reduce: 2·16 383/16 384·16 MiB·8/1e15 s = 268
    // 419.07… ns·1e-3, that is 268.4 ns a port, and 1 us of latency.
    network::FlatParameters parameters;
    parameters.hosts = 16'384;
    parameters.link = {Bandwidth(1'000'000'000'000'000), 500_ns};
    const Bound bound = lower_bound(collective(system::CollectiveKind::kAllReduce, 16'384, 16_MiB),
                                    *network::build_flat(parameters));
    EXPECT_EQ(bound.communication, 1_us + Time(268'419));
    // 1 EiB on 8 ranks at 100 Gb/s: 14/8·2^60·0.08 ns = 1.6e17 ns is beyond 106 days: saturated, not wrapped.
    EXPECT_EQ(
        lower_bound(collective(system::CollectiveKind::kAllReduce, 8, Bytes(std::int64_t{1} << 60)), *flat(8))
            .communication,
        Time::max());
}

TEST(TrafficProblem, RefusesWhatByteCountsCannotHold) {
    EXPECT_FALSE(
        traffic_problem(collective(system::CollectiveKind::kAllReduce, 8, Bytes(std::int64_t{1} << 40))));
    // All-reduce counts at most 4·N·S: 4·8·2^57 = 2^62.
    EXPECT_TRUE(
        traffic_problem(collective(system::CollectiveKind::kAllReduce, 8, Bytes(std::int64_t{1} << 57))));
    EXPECT_FALSE(traffic_problem(
        collective(system::CollectiveKind::kAllReduce, 8, Bytes((std::int64_t{1} << 57) - 1))));
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
    EXPECT_EQ(lower_bound(program, *flat(2)).compute, 10_us);
    EXPECT_EQ(lower_bound(program, *flat(2)).value(), 10_us);
}

}  // namespace
}  // namespace astrolabe::experiment
