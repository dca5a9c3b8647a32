/// Ranks with devices of their own, slower ones, and jitter: what runs make of them, and what is refused.
#include "small_experiment.hpp"

#include <cmath>
#include <ctime>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/file/rank_compute.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

using namespace astrolabe::literals;
using system::RankId;
using testing::load_small;

/// Four layers of 1 and 2 ms a sample on each of the ranks, and what else the keys say.
std::string equal_layers(const std::string& keys) {
    return "workload={kind: pipeline, model: {layers: [{name: l, count: 4, forward: 1ms, backward: 2ms, "
           "parameters: 500}]}, " +
           keys + "}";
}
/// All ranks are one tensor group, whose all-reduces hold no bytes: they meet, and that takes no time.
std::string meeting_layers(std::size_t ranks, int iterations, const std::string& backward) {
    return fmt::format(
        "workload={{kind: pipeline, model: {{layers: [{{name: l, forward: 1ms, backward: {}, "
        "all_reduces: 1}}]}}, batch: 1, tensor_parallel: {}, iterations: {}}}",
        backward, ranks, iterations);
}

class RankCompute : public ::testing::Test {
protected:
    Result<Experiment> load(const std::vector<std::string>& overrides) {
        return load_small(components_, overrides);
    }
    experiment::Run run(const std::vector<std::string>& overrides) {
        const Result<Experiment> loaded = load(overrides);
        if (!loaded) {
            ADD_FAILURE() << render(loaded.error());
            return {};
        }
        return run_experiment(*loaded, {});
    }
    std::string error_of(const std::string& override, const std::string& more = "seed=1") {
        const Result<Experiment> loaded = load({override, more});
        return loaded ? "" : render(loaded.error());
    }
    void expect_error(const std::string& override, const std::string& part) {
        const std::string error = error_of(override);
        EXPECT_NE(error.find(part), std::string::npos) << override << "\n" << error;
        EXPECT_NE(error.find("^"), std::string::npos) << "a place is shown";
    }
    Components components_ = builtin_components();
};

TEST_F(RankCompute, AStragglerOfTwoTakesTwoIterationsForOne) {
    // Data parallel: f + b of four layers is 12 ms. What the slow rank computes sets when an iteration ends.
    for (const std::string backend : {"backend.kind=fluid",
#ifdef ASTROLABE_WITH_NS3
                                      "backend.kind=packet"
#endif
         }) {
        const std::string job = equal_layers("batch: 4, iterations: 2");
        const experiment::Run equal = run({job, backend});
        const experiment::Run slow = run({job, "cluster.devices=[{ranks: 2, slowdown: 2}]", backend});
        EXPECT_EQ(equal.execution.ranks[2].compute, 24_ms);
        EXPECT_EQ(slow.execution.ranks[2].compute, 48_ms);
        EXPECT_EQ(slow.execution.ranks[1].compute, 24_ms);
        EXPECT_EQ(slow.execution.ranks[2].iteration_ends[0], 24_ms);
        EXPECT_EQ(slow.iteration_times[0], 24_ms);
        EXPECT_GE(slow.bounds.value(), 48_ms);
    }
    // Where meeting takes no time, the whole run is that long, and everyone else is exposed to the delay.
    const experiment::Run met =
        run({meeting_layers(4, 3, "2ms"), "cluster.devices=[{ranks: 2, slowdown: 2}]"});
    EXPECT_EQ(met.execution.total, 2 * 3 * 3_ms);
    for (const std::size_t rank : {0U, 1U, 3U}) {
        Time exposed;
        for (const auto& [cause, time] : met.execution.ranks[rank].exposed) {
            exposed += time;
        }
        EXPECT_EQ(met.execution.ranks[rank].compute, 9_ms);
        EXPECT_EQ(exposed + met.execution.ranks[rank].drain, 9_ms);
    }
    EXPECT_EQ(met.execution.ranks[2].drain, 0_ms);
}

TEST_F(RankCompute, SlowdownsAreExactAndRoundedUpOnce) {
    const experiment::Run slow =
        run({meeting_layers(4, 1, "7ps"), "cluster.devices=[{ranks: 0-2, slowdown: 1.1}]"});
    // 1.1 ms exactly, and 7.7 ps rounded up.
    EXPECT_EQ(slow.execution.ranks[0].compute, 1'100_us + Time(8));
    EXPECT_EQ(slow.execution.ranks[3].compute, 1_ms + Time(7));
}

TEST_F(RankCompute, RanksOfAMixedClusterComputeAsOnAClusterOfTheirOwnDevice) {
    const std::string other = "{kind: roofline, peak: 500GFLOPS, memory_bandwidth: 30GB/s}";
    const auto computes = [&](const std::vector<std::string>& overrides) {
        std::vector<Time> times;
        for (const system::RankRecord& rank : run(overrides).execution.ranks) {
            times.push_back(rank.compute);
        }
        return times;
    };
    const auto base = computes({});
    const auto all_other = computes({"cluster.device=" + other});
    ASSERT_NE(base[1], all_other[1]);
    const auto mixed = computes({"cluster.devices=[{ranks: [1, 3], device: " + other + "}]"});
    EXPECT_EQ(mixed, (std::vector<Time>{base[0], all_other[1], base[2], all_other[3]}));
    // All ranks by an entry are as the cluster's device, also in their fingerprint.
    EXPECT_EQ(run({"cluster.devices=[{ranks: 0-3, device: " + other + "}]"}).fingerprint,
              run({"cluster.device=" + other}).fingerprint);
    // Both at once: twice as long as on that device.
    const experiment::Run both =
        run({equal_layers("batch: 4"), "cluster.devices={ranks: 1, slowdown: 2, device: " + other + "}"});
    EXPECT_EQ(both.execution.ranks[1].compute, 24_ms);
}

TEST_F(RankCompute, ManyEntriesOfDevicesTakeTimeForTheirRanksAlone) {
    constexpr std::size_t kRanks = 2048;
    std::string entries;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
        entries += fmt::format("{}{{ranks: {}, slowdown: {}}}", rank == 0 ? "" : ", ", rank, rank % 3 + 2);
    }
    const std::clock_t start = std::clock();
    const Result<Experiment> loaded =
        load({equal_layers("batch: 2048, iterations: 100"), "cluster.ranks=2048", "network.hosts=2048",
              "cluster.devices=[" + entries + "]"});
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    ASSERT_TRUE(loaded) << render(loaded.error());
    std::size_t computations = 0;
    for (const system::Operation& operation : loaded->program.operations) {
        if (operation.is_compute()) {
            ++computations;
            const auto& duration = operation.compute().duration;
            // Twice, three and four times as long as without entries: 2045 = 3 * 681 + 2.
            EXPECT_EQ(2 * duration[RankId(1)], 3 * duration[RankId(0)]);
            EXPECT_EQ(duration[RankId(2045)], 2 * duration[RankId(0)]);
        }
    }
    EXPECT_GE(computations, 200U);
    EXPECT_LT(taken, 5.0) << "2048 entries by all computations by 2048 ranks are 8e8 times at least";
}

TEST_F(RankCompute, EveryWorkloadThatComputesFromADeviceMayBeMixed) {
    const std::string other =
        "cluster.devices=[{ranks: 3, device: {kind: roofline, peak: 500GFLOPS, "
        "memory_bandwidth: 30GB/s}}]";
    const std::string model =
        "{dense_features: 16, bottom_mlp: [32, 8], top_mlp: [32, 1], tables: {count: 4, "
        "rows: 100, dimension: 8, pooling: 2}}";
    for (const std::string& workload :
         {"workload={kind: dlrm, model: " + model + ", batch: {global: 64}, parallelism: data}",
          "workload={kind: dlrm, model: " + model +
              ", batch: {global: 64}, training: torchrec, sharding: {plan: round_robin}}",
          std::string("workload={kind: flexflow_dlrm, batch: 64, gpus_per_node: 1, model: {tables: 4, rows: "
                      "100, dimension: 8, "
                      "bag_size: 2, bottom_mlp: [16, 8], top_mlp: [40, 1]}, embedding: {forward: 1us, "
                      "backward: 2us, samples: 64}}"),
          std::string(
              "workload={kind: pipeline, batch: 8, stages: 2, model: {layers: [{name: l, count: 4, flops: "
              "1000000, parameters: 1000, output: 1000}]}}")}) {
        const experiment::Run base = run({workload});
        const experiment::Run mixed = run({workload, other});
        EXPECT_EQ(mixed.execution.ranks[2].compute, base.execution.ranks[2].compute) << workload;
        EXPECT_GT(mixed.execution.ranks[3].compute, base.execution.ranks[3].compute) << workload;
        EXPECT_TRUE(mixed.execution.finished);
    }
}

TEST_F(RankCompute, WhatIsWrongWithDevicesIsSaidAtItsPlace) {
    expect_error("cluster.devices=[{ranks: 0-1, slowdown: 2}, {ranks: [3, 1], slowdown: 2}]",
                 "rank 1 is in entry 1 and in entry 2");
    expect_error("cluster.devices=[{ranks: 0-4, slowdown: 2}]", "rank 4 is not one of the cluster's 4");
    expect_error("cluster.devices=[{ranks: 3-2, slowdown: 2}]", "3-2 holds no rank");
    expect_error("cluster.devices=[{ranks: [], slowdown: 2}]", "'ranks' is an empty list");
    expect_error("cluster.devices=[{ranks: x, slowdown: 2}]", "'x' is no rank and no range of ranks");
    expect_error("cluster.devices=[{ranks: {a: 1}, slowdown: 2}]", "mapping is no rank");
    expect_error("cluster.devices=[{ranks: 1}]", "says nothing of how its ranks compute");
    expect_error("cluster.devices=[{slowdown: 2}]", "ranks");
    expect_error("cluster.devices=[{ranks: 1, slowdown: 0}]", "slowdown");
    expect_error("cluster.devices=[{ranks: 1, device: {kind: roofline}}]", "peak");
    expect_error("cluster.devices=[{ranks: 1, device: none.yaml}]", "none.yaml");
    // A device with a host has launches, so its program is another one.
    const std::string torchrec =
        "workload={kind: dlrm, model: {dense_features: 16, bottom_mlp: [32, 8], top_mlp: [32, 1], tables: "
        "{count: 4, rows: 100, dimension: 8, pooling: 2}}, batch: {global: 64}, training: torchrec, "
        "sharding: "
        "{plan: round_robin}}";
    const std::string error = error_of(
        "cluster.devices=[{ranks: 1, device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s, "
        "host: {forward_launch: 5us}}}]",
        torchrec);
    EXPECT_NE(error.find("differs from that for 'cluster.device' in more than times"), std::string::npos)
        << error;
}

TEST_F(RankCompute, ResolvedFilesReadBackAndOthersDoNotNameTheKeys) {
    EXPECT_EQ(to_yaml(load({})->resolved).find("jitter"), std::string::npos);
    EXPECT_EQ(to_yaml(load({})->resolved).find("devices"), std::string::npos);
    const Result<Experiment> given =
        load({"cluster.devices=[{ranks: [0-1, 3], slowdown: 1.5}]",
              "cluster.jitter={distribution: normal, variation: 0.1, seed: 3, each: iteration, added: 2us}"});
    ASSERT_TRUE(given) << render(given.error());
    const Result<Experiment> again = read_experiment(given->resolved, {}, "", std::nullopt, components_);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(to_yaml(again->resolved), to_yaml(given->resolved));
    EXPECT_EQ(run_experiment(*again, {}).fingerprint, run_experiment(*given, {}).fingerprint);
}

// A slow NIC is a host whose cables have a part of their rate.
TEST_F(RankCompute, ASlowNicIsAHostWhoseCablesAreSlow) {
    const std::string message =
        "workload={kind: messages, size: 1MB, pattern: pairs, pairs: [{from: 3, to: 0}]}";
    const auto total = [&](const std::string& failures) {
        return static_cast<double>(run({message, failures}).execution.total.count());
    };
    // 80 us and two cables of 500 ns; at half the rate 160 us.
    EXPECT_NEAR(total("seed=1"), 81e6, 10);
    EXPECT_NEAR(total("failures={events: [{host: host 3, rate: 0.5}]}"), 161e6, 10);
    EXPECT_NEAR(total("failures={events: [{host: host 2, rate: 0.5}]}"), 81e6, 10);
}

struct Moments {
    double mean = 0;
    double deviation = 0;
};
Moments moments_of(const Jitter& jitter, int draws) {
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < draws; ++i) {
        const double factor =
            static_cast<double>(jitter_factor(jitter, 7, static_cast<std::size_t>(i % 64), i / 64, "x")) /
            1e9;
        sum += factor;
        squares += (factor - 1) * (factor - 1);
    }
    return {sum / draws, std::sqrt(squares / draws)};
}

TEST(JitterFactors, HaveTheMeanAndTheDeviationThatTheyAreGiven) {
    constexpr int kDraws = 64 * 1000;
    constexpr double kVariation = 0.2;
    // The mean of n draws deviates by c/√n, their mean square by c² √((κ - 1)/n), κ being the kurtosis, and
    // its root by half of that relative to c. Six of each; the numbers are fixed, so the test cannot flicker.
    const auto check = [&](JitterDistribution distribution, double kurtosis) {
        const Moments moments = moments_of(
            {.distribution = distribution, .variation = kVariation, .added = {}, .seed = {}}, kDraws);
        EXPECT_NEAR(moments.mean, 1, 6 * kVariation / std::sqrt(kDraws));
        EXPECT_NEAR(moments.deviation, kVariation, 6 * kVariation * std::sqrt((kurtosis - 1) / kDraws) / 2);
    };
    check(JitterDistribution::kUniform, 9.0 / 5);
    check(JitterDistribution::kNormal, 3);  // truncated at five deviations
    // (ω⁴ + 2 ω³ + 3 ω² - 3), ω = 1 + c² = 1.04: 3.664.
    check(JitterDistribution::kLognormal, 3.664);
    check(JitterDistribution::kExponential, 9);
}

TEST(JitterFactors, StayWithinTheirRange) {
    for (std::size_t i = 0; i < 10'000; ++i) {
        const auto factor = [i](JitterDistribution distribution, double variation) {
            return static_cast<double>(jitter_factor(
                       {.distribution = distribution, .variation = variation, .added = {}, .seed = {}}, 1, i,
                       0, "x")) /
                   1e9;
        };
        EXPECT_NEAR(factor(JitterDistribution::kUniform, 1 / std::numbers::sqrt3), 1, 1 + 1e-9);
        EXPECT_NEAR(factor(JitterDistribution::kNormal, 1.0 / 3), 1, 1 + 1e-9);
        EXPECT_GE(factor(JitterDistribution::kExponential, 0.25), 0.75 - 1e-9);
    }
}

TEST_F(RankCompute, TheSlowestOfNExponentialsSetsThePace) {
    // 16 ranks meet after every computation of 1 ms times an exponential of mean 1. The largest of N has the
    // mean H_N = Σ 1/k and the variance Σ 1/k² (Rényi's representation: a sum of exponentials of rates k).
    constexpr int kIterations = 400;
    constexpr int kRanks = 16;
    const experiment::Run made =
        run({"cluster.ranks=16", "network.hosts=16", meeting_layers(kRanks, kIterations, "0s"),
             "cluster.jitter={distribution: exponential, variation: 1}"});
    double mean = 0;
    double variance = 0;
    for (int k = 1; k <= kRanks; ++k) {
        mean += 1.0 / k;
        variance += 1.0 / k / k;
    }
    EXPECT_NEAR(mean, 3.3807, 1e-4);
    const double measured = to_seconds(made.execution.total) * 1e3 / kIterations;
    EXPECT_NEAR(measured, mean, 5 * std::sqrt(variance / kIterations));  // 0.32 of 3.38
    // And each rank by itself has the mean 1: 5/√400.
    EXPECT_NEAR(to_seconds(made.execution.ranks[5].compute) * 1e3 / kIterations, 1, 0.25);
}

TEST_F(RankCompute, DrawsDependOnRankIterationAndOperationAlone) {
    const std::string jitter = "cluster.jitter={distribution: lognormal, variation: 0.3, seed: 9}";
    const auto program = [&](const std::vector<std::string>& overrides) {
        const Result<Experiment> loaded = load(overrides);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return loaded->program;
    };
    const auto duration = [](const system::Program& of, const std::string& name, int iteration,
                             std::size_t rank) {
        for (const system::Operation& operation : of.operations) {
            if (operation.name == name && operation.iteration == iteration) {
                return operation.compute().duration[RankId(rank)];
            }
        }
        return Time(0);
    };
    const auto job = [](int ranks, int micro_batches, int iterations) {
        return equal_layers(fmt::format("batch: {}, micro_batches: {}, iterations: {}", ranks * micro_batches,
                                        micro_batches, iterations));
    };
    const system::Program small = program({job(4, 1, 1), jitter});
    const system::Program more_ranks = program({job(8, 1, 1), jitter, "cluster.ranks=8", "network.hosts=8"});
    const system::Program more_operations = program({job(4, 3, 2), jitter});
    std::set<Time> drawn;
    for (std::size_t rank = 0; rank < 4; ++rank) {
        const Time own = duration(small, "stage0.forward.0", 0, rank);
        EXPECT_EQ(duration(more_ranks, "stage0.forward.0", 0, rank), own);
        EXPECT_EQ(duration(more_operations, "stage0.forward.0", 0, rank), own);
        drawn.insert({own, duration(more_operations, "stage0.forward.0", 1, rank),
                      duration(more_operations, "stage0.forward.1", 0, rank)});
    }
    EXPECT_EQ(drawn.size(), 12U);
    // Once for all of an iteration: forward and backward, 4 and 8 ms, times the same.
    const system::Program of_iterations =
        program({job(4, 1, 2), "cluster.jitter={distribution: lognormal, variation: 0.3, each: iteration}"});
    EXPECT_NEAR(static_cast<double>(duration(of_iterations, "stage0.backward.0", 1, 3).count()),
                2 * static_cast<double>(duration(of_iterations, "stage0.forward.0", 1, 3).count()), 2);
    // Added: at least as long, and by 5 us in the mean of 2 · 4 draws within three deviations of 5 us.
    const system::Program added =
        program({job(4, 1, 1), "cluster.jitter={distribution: exponential, variation: 1, added: 5us}"});
    for (std::size_t rank = 0; rank < 4; ++rank) {
        EXPECT_GT(duration(added, "stage0.forward.0", 0, rank), 4_ms);
        EXPECT_LT(duration(added, "stage0.forward.0", 0, rank), 4_ms + 50_us);
    }
}

TEST_F(RankCompute, JitterFollowsTheSeedUnlessItHasItsOwn) {
    const std::string own = "cluster.jitter={distribution: uniform, variation: 0.2, seed: 9}";
    const std::string seeds = "cluster.jitter={distribution: uniform, variation: 0.2}";
    EXPECT_EQ(run({own, "seed=1"}).fingerprint, run({own, "seed=2"}).fingerprint);
    EXPECT_NE(run({seeds, "seed=1"}).fingerprint, run({seeds, "seed=2"}).fingerprint);
    EXPECT_EQ(run({seeds, "seed=9"}).fingerprint, run({own, "seed=1"}).fingerprint);
    const auto streams = [&](const std::string& jitter) { return random_streams(*load({jitter})); };
    EXPECT_EQ(streams(seeds), std::vector<std::string>{"cluster.jitter.seed"});
    EXPECT_EQ(streams(own), std::vector<std::string>{});
    EXPECT_EQ(run({own}).engine.folding_refusal, "computations of every rank are drawn");
    expect_error("cluster.jitter={distribution: normal, variation: 0.5}", "expected at most 0.3333");
    expect_error("cluster.jitter={variation: 0.5}", "distribution");
    expect_error("cluster.jitter={distribution: gaussian, variation: 0.5}", "gaussian");
}

// Staleness: embedding updates that use gradients of an earlier iteration wait less.
TEST_F(RankCompute, BoundedStaleUpdatesHideTheExchangeOfGradients) {
    const std::vector<std::string> slow{"network.link.rate=1Gbps", "workload.iterations=6"};
    const auto run_with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = slow;
        all.insert(all.end(), more.begin(), more.end());
        return run(all);
    };
    const experiment::Run waits = run_with({});
    const experiment::Run bounded = run_with({"workload.embedding_update=stale", "workload.staleness=1"});
    const std::string exchange = "Embedding.input_gradient.all_to_all";
    const auto exposed = [&](const experiment::Run& made) {
        const auto found = made.execution.ranks[0].exposed.find(exchange);
        return found == made.execution.ranks[0].exposed.end() ? Time(0) : found->second;
    };
    EXPECT_EQ(bounded.execution.ranks[0].compute, waits.execution.ranks[0].compute);
    EXPECT_EQ(bounded.network.bytes_delivered, waits.network.bytes_delivered);
    EXPECT_LT(exposed(bounded), exposed(waits));
    EXPECT_LE(bounded.bounds.value(), bounded.execution.total);
    EXPECT_EQ(run_with({"workload.embedding_update=stale", "workload.staleness=0"}).execution.total,
              waits.execution.total);
}

TEST_F(RankCompute, CollectivesInFlightSlowWhatSharesTheDevice) {
    const auto program = [&](const std::string& contention) {
        const Result<Experiment> loaded = load({contention});
        EXPECT_TRUE(loaded) << render(loaded.error());
        return loaded->program;
    };
    const auto ratios = [&](const std::string& contention) {
        std::map<std::string, double> found;
        for (const system::Operation& operation : program(contention).operations) {
            if (operation.is_compute() && operation.iteration == 0) {
                const system::ComputeOperation& work = operation.compute();
                found[operation.name] = static_cast<double>((*work.contended)[RankId(0)].count()) /
                                        static_cast<double>(work.duration[RankId(0)].count());
            }
        }
        return found;
    };
    // MLP times are FLOP over the peak, lookups bytes over the memory's bandwidth; each is rounded up to a
    // picosecond of at least some thousands.
    const auto by_units = ratios("cluster.contention={compute_share: 0.2}");
    EXPECT_NEAR(by_units.at("Top_0.forward"), 1.25, 1e-3);
    EXPECT_EQ(by_units.at("Embedding.forward"), 1);
    const auto by_memory = ratios("cluster.contention={memory_bandwidth_share: 0.5}");
    EXPECT_EQ(by_memory.at("Top_0.forward"), 1);
    EXPECT_NEAR(by_memory.at("Embedding.forward"), 2, 1e-3);
    EXPECT_FALSE(program("seed=1").operations[system::OperationId(0)].compute().contended);
}

TEST_F(RankCompute, TimeSlowedIsAccountedByItself) {
    const std::string contention = "cluster.contention={compute_share: 0.5, memory_bandwidth_share: 0.5}";
    // A straggler, jitter and a mixed cluster beside it: slowdown and draws multiply both durations alike.
    const std::string others =
        "cluster.devices=[{ranks: 1, slowdown: 2}, {ranks: 2, device: {kind: roofline, "
        "peak: 2TFLOPS, memory_bandwidth: 50GB/s}}]";
    for (const std::string backend : {"backend.kind=fluid",
#ifdef ASTROLABE_WITH_NS3
                                      "backend.kind=packet"
#endif
         }) {
        const std::vector<std::string> base{others, "cluster.jitter={distribution: normal, variation: 0.1}",
                                            backend};
        std::vector<std::string> with = base;
        with.push_back(contention);
        const experiment::Run alone = run(base);
        const experiment::Run made = run(with);
        Time slowed;
        for (std::size_t rank = 0; rank < 4; ++rank) {
            const system::RankRecord& record = made.execution.ranks[rank];
            EXPECT_EQ(record.compute, alone.execution.ranks[rank].compute);
            EXPECT_EQ(alone.execution.ranks[rank].slowed, Time(0));
            EXPECT_LE(record.slowed, record.compute);  // at most twice as long
            Time sum = record.compute + record.slowed + record.drain;
            for (const auto& [cause, time] : record.exposed) {
                sum += time;
            }
            EXPECT_EQ(sum, made.execution.total);
            slowed += record.slowed;
        }
        EXPECT_GT(slowed, Time(0));
        EXPECT_GE(made.execution.total, made.bounds.value());
    }
    EXPECT_EQ(run({contention}).engine.folding_refusal, "collectives slow down what computes beside them");
}

TEST_F(RankCompute, ContentionOfNothingIsRefused) {
    expect_error("cluster.contention={}", "no share is above 0");
    expect_error("cluster.contention={compute_share: 1}", "compute_share");
    const std::string given = error_of("cluster.contention={compute_share: 0.5}", equal_layers("batch: 4"));
    EXPECT_NE(given.find("no computation takes longer"), std::string::npos) << given;
    const std::string both =
        error_of("cluster.contention={compute_share: 0.5}", "failures={events: [{rank: 1, speed: 0.5}]}");
    EXPECT_NE(both.find("one of both at a time"), std::string::npos) << both;
}

TEST(BesideCollectives, MeasuredTimesAreStretchedByTheLargerShare) {
    workload::Device device{.peak = FlopRate(1'000'000), .memory_bandwidth = Bandwidth(8000)};
    device.measured["a"] = {.forward = workload::MeasuredTime(10_us)};
    device.tables = workload::TableTimes{.samples = 1, .forward = {3_us}, .backward = {6_us}};
    const workload::Device left =
        beside_collectives(device, {.compute_share = 0.5, .memory_bandwidth_share = 0.25});
    EXPECT_EQ(left.peak, FlopRate(500'000));
    EXPECT_EQ(left.memory_bandwidth, Bandwidth(6000));
    EXPECT_EQ(left.measured.at("a").forward->at(1), 20_us);
    EXPECT_EQ(left.tables->forward.front(), 6_us);
    EXPECT_EQ(left.tables->backward.front(), 12_us);
}

TEST_F(RankCompute, WithoutDeviationNothingChanges) {
    EXPECT_EQ(run({"cluster.jitter={distribution: normal, variation: 0}"}).execution.total,
              run({}).execution.total);
}

}  // namespace
}  // namespace astrolabe::experiment
