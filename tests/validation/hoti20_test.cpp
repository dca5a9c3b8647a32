/// The HOTI 2020 DLRM on Flat100G and Flat800G, fluid engine: what follows from docs/theory/hoti20-study.md,
/// "Lower bounds".
#include "collective_time.hpp"

#include <cstdio>

#include <example_run.hpp>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

struct Outcome {
    double total_us;
    double compute_us;
    double exposed_us;
    double forward_exchange_us;  ///< exposed wait for the forward all-to-all
    double bound_us;             ///< whatever algorithm and dependencies
};

Outcome run_hoti20(const std::string& rate, int iterations, const std::string& chunks = "32") {
    const experiment::Run run =
        run_example("dlrm-flat/experiment.yaml",
                    {"backend={kind: fluid}", "network.link.rate=" + rate,
                     "workload.iterations=" + std::to_string(iterations),
                     "cluster.collectives.all_reduce.chunks=" + chunks, "cluster.injection_latency=0"});
    const system::RankRecord& rank = run.execution.ranks.front();
    Outcome outcome{};
    outcome.total_us = to_nanoseconds(run.execution.total) / 1000;
    outcome.compute_us = to_nanoseconds(rank.compute) / 1000;
    outcome.bound_us = to_nanoseconds(std::max(run.bounds.compute, run.bounds.ports)) / 1000;
    for (const auto& [cause, time] : rank.exposed) {
        outcome.exposed_us += to_nanoseconds(time) / 1000;
        if (cause == "Embedding.forward.all_to_all") {
            outcome.forward_exchange_us += to_nanoseconds(time) / 1000;
        }
    }
    std::printf(
        "%s, %d iterations: total %.1f us, compute %.1f, exposed %.1f (forward all-to-all %.2f), bound "
        "%.1f\n",
        rate.c_str(), iterations, outcome.total_us, outcome.compute_us, outcome.exposed_us,
        outcome.forward_exchange_us, outcome.bound_us);
    return outcome;
}

TEST(Hoti20, ComputeIsTheStudysAndDoesNotDependOnTheNetwork) {
    const Outcome slow = run_hoti20("100Gbps", 1);
    const Outcome fast = run_hoti20("800Gbps", 1);
    EXPECT_DOUBLE_EQ(slow.compute_us, fast.compute_us);
    // MLP 2728.080 us (three passes of 909.360) and the embedding: lookup 279.620 + update 559.240 us
    // (docs/theory/hoti20-study.md, "Model" and "Embedding and interaction").
    EXPECT_NEAR(slow.compute_us, 2728.080 + 279.620 + 559.240, 0.01);
}

TEST(Hoti20, TheForwardAllToAllHidesAt800ButNotAt100) {
    // 127/128 · 4 194 304 B take 332.92 us at 100 Gb/s and 41.62 us at 800 Gb/s, plus 1 us of latency; the
    // bottom MLP is 118.559 us long. Nothing else is on the network in the first forward pass. Eight chunks
    // of 524 288 B are whole multiples of 128, so no rounding enters.
    EXPECT_NEAR(run_hoti20("100Gbps", 1).forward_exchange_us, 332.923 + 1.0 - 118.559, 0.01);
    EXPECT_EQ(run_hoti20("800Gbps", 1).forward_exchange_us, 0.0);
}

TEST(Hoti20, CommunicationBindsAt100AndNotAt800) {
    const Outcome slow = run_hoti20("100Gbps", 2);
    const Outcome fast = run_hoti20("800Gbps", 2);
    // All-reduce over compute is 6.25 at 100 Gb/s and 0.78 at 800 Gb/s: the lower bound is the network's in
    // the first case and the compute's in the second, and the exposed share falls.
    EXPECT_GT(slow.bound_us, 2 * 16'917.29);  // 2(N-1)/N·S·β an iteration
    EXPECT_DOUBLE_EQ(fast.bound_us, fast.compute_us);
    EXPECT_GT(slow.exposed_us / slow.total_us, fast.exposed_us / fast.total_us);
    EXPECT_LT(fast.total_us, slow.total_us);
    // Eight times the rate cannot be more than eight times as fast.
    EXPECT_GT(8 * fast.total_us, slow.total_us);
}

}  // namespace
}  // namespace astrolabe::testing
