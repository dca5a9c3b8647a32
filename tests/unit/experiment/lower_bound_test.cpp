#include <gtest/gtest.h>

#include <astrolabe/experiment/run.hpp>
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
    operation.work = system::CollectiveOperation{kind, world, size, system::Priority::kDefault, Time(0)};
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
