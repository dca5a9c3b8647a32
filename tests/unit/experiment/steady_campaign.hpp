/// Random experiments, each run in full and with `steady_state`.
#pragma once

#include "small_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {

struct SteadyCampaign {
    std::vector<int> ranks;  ///< multiples of 4
    int iterations = 0;
    std::vector<int> kilobytes;  ///< of layers, about
};

struct SteadyOutcome {
    int exact = 0;
    int but_order = 0;
    int measured = 0;
    double worst = 0;  ///< difference of the mean iteration time, a part of it
    std::uint64_t events = 0;
    std::uint64_t whole_events = 0;
};

/// One experiment: DLRM or data-parallel training with rings, on one switch or a leaf-spine network. Ranks
/// compute so slowly that the last acknowledgement of an iteration is back before the next one sends: with
/// 500 ns a link it takes 1 to 2 us, and a layer of 8 inputs and 8 outputs of 16 samples 2 · 8 · 8 · 16 /
/// 5 GFLOPS = 0.4 us forward, those of 100 more.
inline std::vector<std::string> steady_experiment(std::mt19937_64& draw, const SteadyCampaign& campaign) {
    const auto below = [&draw](std::size_t count) { return static_cast<std::size_t>(draw() % count); };
    const int ranks = campaign.ranks[below(campaign.ranks.size())];
    const int width = campaign.kilobytes[below(campaign.kilobytes.size())];
    std::vector<std::string> set{
        fmt::format("cluster.ranks={}", ranks),
        fmt::format("workload.iterations={}", campaign.iterations),
        fmt::format("workload.batch.global={}", ranks * 16),
        fmt::format("workload.parallelism={}", below(2) == 0 ? "hybrid" : "data"),
        fmt::format("workload.model={{dense_features: 16, bottom_mlp: [{0}, 8], top_mlp: [{0}, 1], tables: "
                    "{{count: {1}, rows: 100, dimension: 8, pooling: 2}}}}",
                    width, ranks),
        fmt::format("cluster.collectives.all_reduce={{algorithm: ring, chunks: {}}}", 1 + below(2)),
        fmt::format("cluster.scheduling={}", below(2) == 0 ? "lifo" : "fifo"),
        "cluster.device={kind: roofline, peak: 5GFLOPS, memory_bandwidth: 500MB/s}"};
    if (below(3) == 0) {
        set.push_back(
            fmt::format("network={{kind: flat, hosts: {}, link: {{rate: 100Gbps, latency: 500ns}}}}", ranks));
    } else {
        set.push_back(
            fmt::format("network={{kind: leaf_spine, hosts: {}, hosts_per_leaf: 4, spines: 2, link: {{rate: "
                        "100Gbps, latency: 500ns}}, load_balancing: {}}}",
                        ranks, below(2) == 0 ? "flow_hash" : "spray"));
    }
    static const std::vector<std::string> kTransports{
        "{kind: packet}", "{kind: packet, congestion_control: dctcp, recovery: selective}",
        "{kind: packet, congestion_control: dcqcn, recovery: selective}", "{kind: fluid}"};
    set.push_back("backend=" + kTransports[below(kTransports.size())]);
    return set;
}

/// Expects what steady_state promises of each of `count`.
inline SteadyOutcome run_steady_campaign(const SteadyCampaign& campaign, int count, std::uint64_t seed) {
    const experiment::Components components = experiment::builtin_components();
    std::mt19937_64 draw(seed);
    SteadyOutcome outcome;
    for (int i = 0; i < count; ++i) {
        std::vector<std::string> set = steady_experiment(draw, campaign);
        const auto loaded = load_small(components, set);
        if (!loaded) {
            ADD_FAILURE() << render(loaded.error());
            return outcome;
        }
        const experiment::Run whole = experiment::run_experiment(*loaded, {});
        set.emplace_back("steady_state={tolerance: 0.5 %}");
        const experiment::Run some = experiment::run_experiment(*load_small(components, set), {});
        using How = experiment::SkippedIterations::How;
        const How how = some.skipped.value().how;
        outcome.exact += how == How::kExact ? 1 : 0;
        outcome.but_order += how == How::kButOrder ? 1 : 0;
        outcome.measured += how == How::kMeasured ? 1 : 0;
        outcome.events += some.engine.events;
        outcome.whole_events += whole.engine.events;
        const double difference = std::abs(
            experiment::mean_iteration_seconds(some) / experiment::mean_iteration_seconds(whole) - 1.0);
        outcome.worst = std::max(outcome.worst, difference);
        EXPECT_LT(difference, 0.01) << fmt::format("{}", fmt::join(set, " "));
        if (how == How::kExact || how == How::kNone) {
            EXPECT_EQ(some.fingerprint, whole.fingerprint) << fmt::format("{}", fmt::join(set, " "));
        }
        EXPECT_EQ(some.network.bytes_delivered, whole.network.bytes_delivered);
        EXPECT_LE(some.engine.events, whole.engine.events);
    }
    return outcome;
}

}  // namespace astrolabe::testing
