/// The published number of ASTRA-sim's own regression test, with its timing model.
///
/// docs/theory/collectives-and-costs.md, "Tick formula of ASTRA-sim 1.0": a ring all_reduce of S bytes over N
/// ranks in C chunks, one after another, takes
///     m = S / (C·N),  t = ⌊latency + m / B_network⌋ ns,  p = 3·⌊m / B_memory⌋ ns
///     T = C · [2(N-1)·t + (2N-1)·d + (N-1)·p]
/// for links of B_network bytes/ns, a memory of B_memory bytes/ns and d for every message processed.
#include "network/src/topologies/ring.hpp"

#include <string>

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

constexpr Bandwidth kNetworkRate = Bandwidth(50LL * (1LL << 30) * 8);  // ASTRA-sim's "50 GB/s": 2^30 each
constexpr Bandwidth kMemoryRate = Bandwidth(50LL * 1'000'000'000 * 8);

/// One all_reduce over the ranks of a ring, chunks one after another.
experiment::Experiment ring_all_reduce(std::size_t ranks, Bytes size, std::uint32_t chunks,
                                       const system::EndPoint& end_point, const std::string& backend) {
    network::RingParameters ring;
    ring.hosts = static_cast<std::int64_t>(ranks);
    ring.link = {kNetworkRate, 500_ns};

    experiment::Experiment experiment;
    experiment.fabric = network::build_ring(ring);
    ReadContext context;
    const experiment::Components components = experiment::builtin_components();
    experiment.backend =
        components.backends.read(parse_config(backend, "backend.yaml").value(), context)->make();
    experiment.cluster.ranks = ranks;
    experiment.cluster.options.active_chunks = 1;
    experiment.cluster.options.end_point = end_point;
    experiment.cluster.options.collectives.fill({algorithm_of("ring"), chunks});

    system::Program& program = experiment.program;
    program.ranks = ranks;
    program.iterations = 1;
    const system::PartitionId world = program.partitions.push_back(system::Partition::world(ranks));
    program.operations.push_back(
        {.name = "all_reduce",
         .layer = "all_reduce",
         .work = system::CollectiveOperation{
             .kind = system::CollectiveKind::kAllReduce, .partition = world, .size = size}});
    return experiment;
}

TEST(AstraSim, PublishedRingAllReduceTakes117780Nanoseconds) {
    // m = 2^20 / (4 · 8) = 32,768 B
    // t = ⌊500 + 32,768 / 53.687…⌋ = ⌊500 + 610.35⌋ = 1110,  p = 3 · ⌊32,768 / 50⌋ = 3 · 655 = 1965
    // a chunk 14 · 1110 + 15 · 10 + 7 · 1965 = 15,540 + 150 + 13,755 = 29,445;  T = 4 · 29,445
    const system::EndPoint end_point{.injection_latency = 10_ns,
                                     .reduction_bandwidth = kMemoryRate,
                                     .timing = system::EndPointTiming::kAstraSim1};
    const experiment::Run run = experiment::run_experiment(
        ring_all_reduce(8, 1_MiB, 4, end_point, "{kind: congestion_free, timing: astra_sim_1}"), {});
    ASSERT_TRUE(run.execution.finished) << run.execution.stall;
    EXPECT_EQ(run.execution.total, 117'780_ns);
    EXPECT_EQ(run.network.messages, 4U * 8 * 14);
}

TEST(AstraSim, ItsTimingIsTheFormulaForOtherSizesToo) {
    const system::EndPoint end_point{.injection_latency = 10_ns,
                                     .reduction_bandwidth = kMemoryRate,
                                     .timing = system::EndPointTiming::kAstraSim1};
    for (const std::int64_t n : {2, 3, 8, 16}) {
        for (const std::int64_t m : {1024, 4000, 32'768, 100'000}) {  // bytes of a message
            constexpr std::int64_t kChunks = 3;
            // Integer division cuts off as the formula does.
            const std::int64_t t = 500 + m * 1'000'000'000 / (50LL << 30);
            const std::int64_t p = 3 * (m / 50);
            const std::int64_t expected = kChunks * (2 * (n - 1) * t + (2 * n - 1) * 10 + (n - 1) * p);
            const experiment::Run run = experiment::run_experiment(
                ring_all_reduce(static_cast<std::size_t>(n), Bytes(m * n * kChunks), kChunks, end_point,
                                "{kind: congestion_free, timing: astra_sim_1}"),
                {});
            EXPECT_EQ(run.execution.total, Time(expected * 1000)) << "N = " << n << ", m = " << m;
        }
    }
}

TEST(AstraSim, OwnTimingOfTheSameCaseDiffersByRoundingAndByWhereTheCopyIsPaid) {
    // t = 500,000 + ⌈610,351.5625⌉ = 1,110,352 ps,  p = 3 · 32,768 / 50 = 1966.08 ns; d is paid by the 14
    // messages that a rank sends, and not at the start of a chunk:
    // T = 4 · [14 · (1,110,352 + 10,000) + 7 · 1,966,080] = 4 · (15,684,928 + 13,762,560) = 117,789,952 ps.
    const system::EndPoint end_point{.injection_latency = 10_ns, .reduction_bandwidth = kMemoryRate};
    for (const std::string backend : {"{kind: congestion_free}", "{kind: fluid}"}) {
        const experiment::Run run =
            experiment::run_experiment(ring_all_reduce(8, 1_MiB, 4, end_point, backend), {});
        EXPECT_EQ(run.execution.total, 117'789'952_ps) << backend;
    }
}

}  // namespace
}  // namespace astrolabe::testing
