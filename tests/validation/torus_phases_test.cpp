/// Hierarchical collectives on a 4 x 4 x 4 torus with the fluid engine, against the phase times of
/// docs/theory/collectives-and-costs.md, "Torus of three dimensions": S = 64 MiB, 0.5 us a link, 200, 100 and
/// 100 GB/s a link in dimensions 0, 1 and 2, rings in one direction, one chunk.
///
/// A ring phase over n = 4 ranks of m bytes takes 3·(α + (m/4)/rate) for a reduce_scatter or an all_gather
/// whose result has m bytes, and twice that for an all_reduce. At 200 GB/s a byte takes 5 ps, at 100 GB/s 10.
///     dimension 0, m = 64 MiB   3·(500 000 + 2^24 · 5) ps  = 253 158 240 ps
///     dimension 1, m = 16 MiB   3·(500 000 + 2^22 · 10) ps = 127 329 120 ps
/// No phase meets another: ranks keep step, and every message crosses one link that no other uses.
/// The two all_reduces of that table are in executor_stages_test.cpp.
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/torus.hpp"
#include "system/src/collectives/hierarchical.hpp"
#include "system/src/program/traffic.hpp"

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using namespace literals;
using system::CollectiveKind;
using system::HierarchicalOptimisation;
using system::OperationId;
using system::Position;
using system::Shape;

constexpr std::size_t kRanks = 64;
constexpr Bytes kSize = 64_MiB;

struct Outcome {
    Time time;
    Bytes sent_by_each;
};

std::shared_ptr<const system::CollectiveAlgorithm> hierarchical(HierarchicalOptimisation optimisation) {
    return system::make_hierarchical({.optimisation = optimisation, .per_dimension = {algorithm_of("ring")}});
}

/// One collective over all ranks of the torus, links of 200, 100 and 100 GB/s.
Outcome run(CollectiveKind kind, HierarchicalOptimisation optimisation, Bytes size, std::uint32_t chunks) {
    network::TorusParameters torus;
    torus.sizes = {4, 4, 4};
    torus.link = {.rate = {1600_Gbps, 800_Gbps, 800_Gbps}, .latency = {500_ns}};
    network::FluidBackend backend(build_torus(torus));

    system::Program program;
    program.ranks = kRanks;
    program.iterations = 1;
    program.partitions.push_back(system::Partition::world(kRanks));
    program.operations.push_back(
        {.name = "alone", .layer = "alone", .work = system::CollectiveOperation{.kind = kind, .size = size}});

    system::SystemOptions options;
    options.dimensions = Shape({4, 4, 4});
    options.collectives[static_cast<std::size_t>(kind)] = {hierarchical(optimisation), chunks};
    std::vector<network::HostId> placement;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
        placement.emplace_back(rank);
    }
    system::Executor executor(program, options, backend, placement);
    const system::ExecutionReport report = executor.run();
    EXPECT_TRUE(report.finished) << report.stall;
    return {report.total, report.operations[OperationId(0)].bytes_sent / kRanks};
}

TEST(Torus4x4x4, ReduceScatterAndAllGatherMirrorEachOther) {
    // Dimension 2 of a reduce_scatter: 3·(500 000 + 2^20 · 10) ps = 32 957 280 ps.
    const Time expected = Time(253'158'240) + Time(127'329'120) + Time(32'957'280);
    EXPECT_EQ(
        run(CollectiveKind::kReduceScatter, HierarchicalOptimisation::kLocalBandwidthAware, kSize, 1).time,
        expected);
    // A rank contributes S/64 to a result of S.
    EXPECT_EQ(
        run(CollectiveKind::kAllGather, HierarchicalOptimisation::kLocalBandwidthAware, kSize / kRanks, 1)
            .time,
        expected);
}

TEST(Torus4x4x4, ChunksPipelineThroughTheDimensions) {
    // Four chunks of 16 MiB. A dimension hosts its reduce_scatter and its all_gather, so the most loaded one
    // is dimension 0, whose links carry 2·3 messages of 2^22 B a chunk at 5 ps a byte.
    const Time one =
        run(CollectiveKind::kAllReduce, HierarchicalOptimisation::kLocalBandwidthAware, kSize / 4, 1).time;
    const Outcome four =
        run(CollectiveKind::kAllReduce, HierarchicalOptimisation::kLocalBandwidthAware, kSize, 4);
    EXPECT_GE(four.time, one);
    // Links are shared fairly while a dimension holds several chunks, so latencies of one chunk hide behind
    // the bytes of another: the bytes alone bound the load from below.
    EXPECT_GE(four.time, 4 * Time(6 * ((std::int64_t{1} << 22) * 5)));
    EXPECT_LT(four.time, 4 * one);
    EXPECT_EQ(four.sent_by_each, 132'120'576_B);
}

TEST(Torus4x4x4, LocalBandwidthAwareIsNeverSlowerThanBaselineWhereBandwidthBinds) {
    for (const Bytes size : {1_MiB, 16_MiB, 64_MiB, 256_MiB}) {
        for (const std::uint32_t chunks : {1U, 4U, 16U}) {
            const auto time = [&](HierarchicalOptimisation optimisation) {
                return run(CollectiveKind::kAllReduce, optimisation, size, chunks).time;
            };
            EXPECT_LE(time(HierarchicalOptimisation::kLocalBandwidthAware),
                      time(HierarchicalOptimisation::kBaseline))
                << size.count() << " bytes in " << chunks << " chunks";
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
