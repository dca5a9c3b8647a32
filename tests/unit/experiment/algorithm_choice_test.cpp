// Algorithms and chunks that are chosen for the network.

#include "choice_networks.hpp"
#include "collective_time.hpp"
#include "small_experiment.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/choice/slow_methods.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/collective_run.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::experiment {
namespace {

using testing::choice_networks;
using testing::ChoiceNetwork;
using testing::load_choice;
using testing::load_small;

const std::string kOpen = "cluster.collectives={}";

class AlgorithmChoiceTest : public ::testing::Test {
protected:
    Experiment small(std::vector<std::string> overrides) {
        Result<Experiment> result = load_small(components_, std::move(overrides));
        EXPECT_TRUE(result) << render(result.error());
        return *std::move(result);
    }
    std::string first_error(std::vector<std::string> overrides) {
        const Result<Experiment> result = load_small(components_, std::move(overrides));
        return result ? "" : render({result.error().front()});
    }

    Components components_ = builtin_components();
};

Time time_of(const std::string& network, const std::string& kind, const std::string& algorithm,
             const std::string& size, std::optional<std::uint32_t> chunks = std::nullopt) {
    CollectiveRequest request;
    request.kind = kind;
    request.algorithm = algorithm;
    request.sizes = {size};
    request.network = network;
    request.chunks = chunks;
    return testing::run_collective(request).run.execution.total;
}

TEST_F(AlgorithmChoiceTest, AreWithinFivePercentOfTheBestPlanForTheWholeJob) {
    for (const ChoiceNetwork& network : choice_networks()) {
        const auto best = testing::exhaustive_choice(components_, network, 2048, {1});
        const double chosen = testing::choice_seconds(components_, network, 2048, "{}");
        EXPECT_GE(best.plans, 54U);
        EXPECT_LE(chosen, 1.05 * best.seconds) << network.name << ": " << best.collectives;
    }
}

TEST_F(AlgorithmChoiceTest, ACollectiveAloneTakesTheFastestAlgorithm) {
    // Two per cent are no difference (kAlike).
    const std::vector<std::pair<std::string, std::string>> networks{
        {testing::flat_network(8), ""},
        {"{kind: leaf_spine, hosts: 16, hosts_per_leaf: 4, spines: 1, oversubscription: 4}", ""},
        {"{kind: torus, sizes: [4, 4]}", ""},
        {ASTROLABE_SOURCE_DIR "/inputs/networks/opera-study-16.yaml", "rotor_direct"}};
    for (const auto& [network, circuits] : networks) {
        for (const char* size : {"2KiB", "256KiB", "16MiB"}) {
            std::vector<std::string> algorithms{"bidirectional_ring", "direct",        "double_binary_tree",
                                                "halving_doubling",   "ring",          "recursive_doubling",
                                                "multi_ring",         "barrier_direct"};
            if (!circuits.empty()) {
                algorithms.push_back(circuits);
            }
            Time best = Time::max();
            for (const std::string& algorithm : algorithms) {
                best = std::min(best, time_of(network, "all_reduce", algorithm, size));
            }
            EXPECT_LE(to_seconds(time_of(network, "all_reduce", "auto", size)), 1.02 * to_seconds(best))
                << network << ", " << size;
        }
    }
}

TEST_F(AlgorithmChoiceTest, TreesGetChunksUnasked) {
    // One chunk of S = 16 MiB goes up and down 3 levels of 8 ranks, each tree alone: more than 2 · 3 ·
    // S/(12.5 GB/s) for the one tree it takes. In 64 chunks both trees carry half, and 2S/(12.5 GB/s) is the
    // bound of ports.
    const std::string network = testing::flat_network(8);
    const Time one = time_of(network, "all_reduce", "double_binary_tree", "16MiB", 1);
    const Time open = time_of(network, "all_reduce", "double_binary_tree", "16MiB");
    EXPECT_GT(to_seconds(one), 2 * to_seconds(open));
    EXPECT_LT(to_seconds(open), 1.25 * 2 * 16 * 1024 * 1024 / 12.5e9);
    // A ring fills its links by itself: 2 · 7/8 · S/(12.5 GB/s), and 14 latencies of 1 us.
    CollectiveRequest request;
    request.kind = "all_reduce";
    request.algorithm = "ring";
    request.sizes = {"16MiB"};
    request.network = network;
    const CollectivePoint ring = testing::run_collective(request);
    EXPECT_TRUE(ring.choices.empty());
    EXPECT_EQ(ring.run.execution.total, time_of(network, "all_reduce", "ring", "16MiB", 1));
}

TEST_F(AlgorithmChoiceTest, WhatTheFileNamesStays) {
    const Experiment named = small({});
    EXPECT_TRUE(named.choices.empty());
    for (const system::Operation& operation : named.program.operations) {
        EXPECT_TRUE(operation.is_compute() || operation.collective().method == nullptr);
    }
    EXPECT_FALSE(summary_json(named, run_experiment(named, {})).contains("choices"));
    // Named chunks of an open algorithm.
    const Experiment chunks =
        small({"cluster.collectives={all_reduce: {chunks: 3}, all_to_all: {algorithm: direct}}"});
    ASSERT_FALSE(chunks.choices.empty());
    for (const MethodChoice& choice : chunks.choices) {
        EXPECT_EQ(choice.collective, "all_reduce");
        EXPECT_EQ(choice.chosen.method.chunks, 3U);
    }
}

TEST_F(AlgorithmChoiceTest, EveryOperationIsCountedOnce) {
    const Experiment open = small({kOpen});
    std::uint64_t collectives = 0;
    for (const system::Operation& operation : open.program.operations) {
        collectives += operation.is_compute() ? 0U : 1U;
        EXPECT_TRUE(operation.is_compute() || operation.collective().method != nullptr);
    }
    std::uint64_t counted = 0;
    for (const MethodChoice& choice : open.choices) {
        counted += choice.operations;
        ASSERT_TRUE(choice.chosen.time && choice.runner_up) << choice.operation;
        EXPECT_NE(choice.runner_up->method.name(), choice.chosen.method.name());
        // Others in flight at the same time may make it worth up to 10 %.
        EXPECT_GE(choice.margin().value_or(1), 1 / 1.1 - 1 - 1e-12);
    }
    EXPECT_EQ(counted, collectives);
}

TEST_F(AlgorithmChoiceTest, IsTheSameAgainAndFoundOnce) {
    const Experiment first = small({kOpen});
    const auto choices = choices_json(first.choices);
    const Components others = builtin_components();
    EXPECT_EQ(choices_json(load_small(others, {kOpen})->choices), choices);
    EXPECT_EQ(choices_json(read_choices(write_choices(first.choices))), choices);
    EXPECT_TRUE(read_choices(write_choices({})).empty());
    // With the same components it comes from what is known, even if that is another one.
    MethodChoice planted = first.choices.front();
    planted.chosen.method.keys.set("algorithm", ConfigNode::scalar("bidirectional_ring"));
    components_.choices->add(planted);
    EXPECT_EQ(small({kOpen}).choices.front().chosen.method.name(), "bidirectional_ring");
}

TEST_F(AlgorithmChoiceTest, AResolvedFileHoldsItAndGivesTheSameRun) {
    for (const ChoiceNetwork& network : choice_networks()) {
        const Result<Experiment> loaded = load_choice(components_, network, 256, "{}");
        ASSERT_TRUE(loaded) << render(loaded.error());
        const testing::TemporaryFolder folder;
        const Components others = builtin_components();
        const Result<Experiment> again =
            load_experiment(folder.write("resolved.yaml", to_yaml(loaded->resolved)), {}, others);
        ASSERT_TRUE(again) << network.name << render(again.error());
        EXPECT_EQ(choices_json(again->choices), choices_json(loaded->choices)) << network.name;
        EXPECT_EQ(to_yaml(again->resolved), to_yaml(loaded->resolved)) << network.name;
        EXPECT_EQ(run_experiment(*again, {}).fingerprint, run_experiment(*loaded, {}).fingerprint)
            << network.name;
    }
}

TEST_F(AlgorithmChoiceTest, ARecordIsTakenOverWhileItFits) {
    Experiment open = small({kOpen});
    ConfigNode* choices = open.resolved.find("cluster")->find("choices");
    ConfigNode& first = choices->is_sequence() ? choices->items.front() : *choices;
    first.find("method")->set("algorithm", ConfigNode::scalar("bidirectional_ring"));
    const testing::TemporaryFolder folder;
    const auto file = folder.write("resolved.yaml", to_yaml(open.resolved));
    const auto name_with = [&](std::vector<std::string> overrides) {
        const Components others = builtin_components();
        const Result<Experiment> loaded = load_experiment(file, {std::move(overrides), {}}, others);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return loaded->choices.front().chosen.method.name();
    };
    EXPECT_EQ(name_with({}), "bidirectional_ring");
    // On another network it is found anew.
    EXPECT_EQ(name_with({"network.link.rate=200Gbps"}),
              small({kOpen, "network.link.rate=200Gbps"}).choices.front().chosen.method.name());
}

TEST_F(AlgorithmChoiceTest, OnOperaWhatWaitsForItsCircuitIsChosen) {
    const ChoiceNetwork opera = choice_networks()[3];
    const Result<Experiment> open = load_choice(components_, opera, 2048, "{}");
    ASSERT_TRUE(open) << render(open.error());
    for (const MethodChoice& choice : open->choices) {
        if (choice.collective == "all_to_all") {
            EXPECT_EQ(choice.chosen.method.name(), "rotor_direct");
        }
    }
    EXPECT_TRUE(slow_methods(*open, components_).empty());  // nothing is named
}

TEST_F(AlgorithmChoiceTest, ASlowAlgorithmThatIsNamedIsReported) {
    const ChoiceNetwork opera = choice_networks()[3];
    const Result<Experiment> ring = load_choice(
        components_, opera, 2048,
        "{all_reduce: {algorithm: ring, chunks: 1}, all_to_all: {algorithm: rotor_direct, chunks: 1}}");
    ASSERT_TRUE(ring) << render(ring.error());
    const std::vector<SlowMethod> slow = slow_methods(*ring, components_);
    ASSERT_EQ(slow.size(), 1U);
    EXPECT_EQ(slow[0].collective, "all_reduce");
    EXPECT_EQ(slow[0].named.name(), "ring");
    EXPECT_GT(slow[0].factor(), 2);
    experiment::Run run = run_experiment(*ring, {});
    run.slow = slow;
    EXPECT_EQ(summary_json(*ring, run).at("slow_methods").at(0).at("named").at("algorithm"), "ring");
    EXPECT_NE(text_summary(*ring, run).find("times as long as by"), std::string::npos);
    // One that is as good as any is not.
    const Result<Experiment> good = load_choice(components_, opera, 2048,
                                                "{all_reduce: {algorithm: rotor_direct, chunks: 1}, "
                                                "all_to_all: {algorithm: rotor_direct, chunks: 1}}");
    EXPECT_TRUE(slow_methods(*good, components_).empty());
}

TEST_F(AlgorithmChoiceTest, NetworksThatAreOfferedAreComparedForTheJob) {
    const std::vector<std::string> best{kOpen, "cluster.ranks=8",
                                        "network={kind: topoopt, degree: 4, link: {rate: 100Gbps}}"};
    const Experiment first = small(best);
    ASSERT_TRUE(first.job_choices.network);
    const JobChoice& choice = *first.job_choices.network;
    ASSERT_TRUE(choice.time);
    // The job has the two iterations that are tried.
    const experiment::Run run = run_experiment(first, {});
    EXPECT_EQ(run.execution.total, *choice.time);
    EXPECT_EQ(summary_json(first, run).at("network_choice").at("taken"), choice.taken);
    EXPECT_NE(text_summary(first, run).find(fmt::format("network {} for the job", choice.taken)),
              std::string::npos);

    // The resolved file holds it, and another network there chooses again.
    const testing::TemporaryFolder folder;
    const auto file = folder.write("resolved.yaml", to_yaml(first.resolved));
    const auto again = [&](const std::vector<std::string>& overrides) {
        const Components others = builtin_components();
        Result<Experiment> loaded = load_experiment(file, {overrides, {}}, others);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return *std::move(loaded);
    };
    const Experiment same = again({});
    EXPECT_EQ(to_yaml(same.resolved), to_yaml(first.resolved));
    EXPECT_EQ(run_experiment(same, {}).fingerprint, run.fingerprint);
    EXPECT_EQ(read_job_choice(write_job_choice(choice)).runner_up_time, choice.runner_up_time);
    const Experiment wider = again({"network.degree=6"});
    EXPECT_NE(wider.job_choices.network->key, choice.key);
    // A record with the key of this experiment is taken over, whatever it took.
    JobChoice planted = choice;
    planted.taken = choice.taken == 1 ? 2 : 1;
    components_.choices->add_for_job(planted);
    EXPECT_EQ(small(best).job_choices.network->taken, planted.taken);
    // A job that is scaled keeps the network that the job as it is was given.
    const Experiment scaled = again({"scaled.latency=0", "scaled.compute=2"});
    EXPECT_EQ(scaled.job_choices.network->key, choice.key);
    EXPECT_EQ(scaled.job_choices.network->taken, choice.taken);
    EXPECT_EQ(scaled.fabric->family().job_rings(), first.fabric->family().job_rings());
}

TEST_F(AlgorithmChoiceTest, TheWindowThatIsLeftOpenIsTheFastestForTheJob) {
    const std::string collectives =
        "cluster.collectives={all_reduce: {algorithm: halving_doubling, chunks: 64}}";
    const Experiment open = small({collectives, "cluster.active_chunks=auto"});
    ASSERT_TRUE(open.job_choices.window && open.job_choices.window->time);
    std::optional<Time> best;
    for (const char* window : {"4", "16", "64", "256", "1024"}) {
        const Experiment named = small({collectives, fmt::format("cluster.active_chunks={}", window)});
        EXPECT_FALSE(named.job_choices.window);
        const Time time = run_experiment(named, {}).execution.total;
        best = best ? std::min(*best, time) : time;
    }
    const experiment::Run run = run_experiment(open, {});
    EXPECT_EQ(run.execution.total, *best);
    EXPECT_EQ(*open.job_choices.window->time, *best);
    EXPECT_EQ(open.cluster.options.active_chunks, open.job_choices.window->taken);
    EXPECT_EQ(summary_json(open, run).at("window_choice").at("taken"), open.job_choices.window->taken);

    const testing::TemporaryFolder folder;
    const auto file = folder.write("resolved.yaml", to_yaml(open.resolved));
    const Components others = builtin_components();
    const Result<Experiment> again = load_experiment(file, {}, others);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(to_yaml(again->resolved), to_yaml(open.resolved));
    EXPECT_EQ(run_experiment(*again, {}).fingerprint, run.fingerprint);
    EXPECT_NE(first_error({"cluster.active_chunks=many"}).find("'active_chunks'"), std::string::npos);
}

TEST_F(AlgorithmChoiceTest, SlowAlgorithmsAreLookedForOnce) {
    const ChoiceNetwork opera = choice_networks()[3];
    const std::string collectives =
        "{all_reduce: {algorithm: ring, chunks: 1}, all_to_all: {algorithm: rotor_direct, chunks: 1}}";
    const Result<Experiment> ring = load_choice(components_, opera, 2048, collectives);
    ASSERT_TRUE(ring) << render(ring.error());
    const std::vector<SlowMethod> found = slow_methods(*ring, components_, SlowMethodsCost::kTenths);
    ASSERT_EQ(found.size(), 1U);
    // Another process is told, and finds the same without a simulation: of what was planted, too.
    const Components others = builtin_components();
    read_slow_methods(write_slow_methods(components_), others);
    EXPECT_EQ(slow_json(slow_methods(*ring, others, SlowMethodsCost::kTenths)), slow_json(found));
    auto known = others.choices->slow();
    ASSERT_EQ(known.size(), 2U);  // one for each kind
    for (auto& [key, slow] : known) {
        others.choices->add_slow(key, std::nullopt);
    }
    EXPECT_TRUE(slow_methods(*ring, others, SlowMethodsCost::kTenths).empty());
    EXPECT_EQ(slow_text(slow_json(found).front()), slow_text(found.front()));
}

TEST_F(AlgorithmChoiceTest, TheSummaryNamesIt) {
    const Experiment open = small({kOpen});
    const experiment::Run run = run_experiment(open, {});
    const nlohmann::ordered_json summary = summary_json(open, run);
    ASSERT_EQ(summary.at("choices").size(), open.choices.size());
    EXPECT_EQ(summary.at("choices").at(0).at("method").at("algorithm"), open.choices[0].chosen.method.name());
    EXPECT_NE(text_summary(open, run).find("\n  chosen "), std::string::npos);
    EXPECT_NE(run.fingerprint, run_experiment(small({}), {}).fingerprint);
}

TEST_F(AlgorithmChoiceTest, ReadsAutoAndNothingBesideIt) {
    EXPECT_TRUE(load_small(components_, {"cluster.collectives.all_reduce={algorithm: auto, chunks: auto}"}));
    EXPECT_NE(first_error({"cluster.collectives.all_reduce={algorithm: auto, rings: 2}"}).find("'rings'"),
              std::string::npos);
    EXPECT_NE(
        first_error({"cluster.collectives.all_reduce={algorithm: ring, chunks: many}"}).find("'chunks'"),
        std::string::npos);
    // Keys of the algorithm that was named go with it.
    EXPECT_TRUE(load_small(components_, {"cluster.collectives.all_reduce={algorithm: multi_ring, rings: 2}",
                                         "cluster.collectives.all_reduce.algorithm=auto"}));
    EXPECT_NE(first_error(
                  {"cluster.choices={key: a, operation: b, operations: 1, collective: all_reduce, size: 1B, "
                   "ranks: 2, groups: 1, method: ring}"})
                  .find("config.choice"),
              std::string::npos);
}

}  // namespace
}  // namespace astrolabe::experiment
