#include "small_experiment.hpp"

#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {
namespace {

using testing::load_small;

class ExperimentTest : public ::testing::Test {
protected:
    std::string first_code(const std::vector<std::string>& overrides) {
        const Result<Experiment> result = load_small(components_, overrides);
        return result ? "" : result.error().front().code;
    }
    Components components_ = builtin_components();
};

TEST_F(ExperimentTest, NameDefaultsToTheFileAndSeedToOne) {
    const Result<Experiment> loaded = load_small(components_);
    ASSERT_TRUE(loaded) << render(loaded.error());
    EXPECT_EQ(loaded->name, "small");
    EXPECT_EQ(loaded->seed, 1u);
    EXPECT_EQ(loaded->cluster.ranks, 4u);
    EXPECT_EQ(loaded->fabric->host_count(), 4u);
    EXPECT_EQ(loaded->program.iterations, 2);
}

TEST_F(ExperimentTest, DefaultsAreWrittenOutInTheResolvedTree) {
    const Result<Experiment> loaded = load_small(components_);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->resolved.find_path("cluster.collectives.all_reduce.algorithm")->text, "ring");
    EXPECT_EQ(loaded->resolved.find_path("cluster.collectives.all_to_all.algorithm")->text, "direct");
    EXPECT_EQ(loaded->resolved.find_path("cluster.active_chunks")->text, "64");
    EXPECT_EQ(loaded->resolved.find_path("network.load_balancing")->text, "flow_hash");
    EXPECT_EQ(loaded->resolved.find_path("workload.batch.global")->text, "64");
    EXPECT_EQ(loaded->resolved.find_path("workload.batch.local"), nullptr);
}

TEST_F(ExperimentTest, OneCollectiveMayBeConfiguredWithoutTheOthers) {
    const Result<Experiment> loaded = load_small(
        components_, {"cluster.collectives={all_reduce: {chunks: 8}, all_to_all: {algorithm: ring}}"});
    ASSERT_TRUE(loaded) << render(loaded.error());
    EXPECT_EQ(loaded->resolved.find_path("cluster.collectives.all_reduce.algorithm")->text, "auto");
    EXPECT_EQ(loaded->resolved.find_path("cluster.collectives.all_reduce.chunks")->text, "8");
    EXPECT_EQ(loaded->resolved.find_path("cluster.collectives.all_to_all.algorithm")->text, "ring");
    EXPECT_EQ(loaded->resolved.find_path("cluster.collectives.all_gather.algorithm")->text, "auto");
}

TEST_F(ExperimentTest, RingsGetAChunkEachUnlessChunksAreGiven) {
    const std::string all_reduce = "cluster.collectives.all_reduce";
    const auto chunks = [&](const std::string& keys) {
        const Result<Experiment> loaded = load_small(components_, {all_reduce + "={" + keys + "}"});
        EXPECT_TRUE(loaded) << render(loaded.error());
        const auto kind = static_cast<std::size_t>(system::CollectiveKind::kAllReduce);
        EXPECT_EQ(loaded->resolved.find_path(all_reduce + ".chunks")->text,
                  keys.find("chunks") == std::string::npos
                      ? "auto"
                      : std::to_string(loaded->cluster.options.collectives[kind].chunks));
        return loaded->cluster.options.collectives[kind].chunks;
    };
    EXPECT_EQ(chunks("algorithm: ring"), 1U);
    EXPECT_EQ(chunks("algorithm: multi_ring"), 2U);
    EXPECT_EQ(chunks("algorithm: multi_ring, rings: 5"), 5U);
    EXPECT_EQ(chunks("algorithm: multi_ring, strides: [1, 3, 3]"), 3U);
    EXPECT_EQ(chunks("algorithm: multi_ring, strides: [1, 3, 3], chunks: 7"), 7U);
}

TEST_F(ExperimentTest, WhatOnlyShowsAcrossSectionsIsRefused) {
    EXPECT_EQ(first_code({"cluster.ranks=5"}), "config.inconsistent");  // 64 samples over 5 ranks
    EXPECT_EQ(first_code({"cluster.ranks=8"}), "config.ranks");
    EXPECT_EQ(first_code({"cluster.device={kind: roofline, memory_bandwidth: 1GB/s}"}),
              "config.inconsistent");
    EXPECT_EQ(first_code({"backend=tpc"}), "config.no-such-file");  // a text where a section stands is a path
}

TEST_F(ExperimentTest, ATrafficClassIsReadAndRefusedWhereItHasNoEffect) {
    const std::string classes =
        "cluster.collectives={all_reduce: {traffic_class: 7}, all_to_all: {chunks: 2}}";
    EXPECT_EQ(first_code({classes}), "config.traffic-class");
    EXPECT_EQ(first_code({"cluster.collectives={all_reduce: {traffic_class: 8}}"}), "config.range");
    EXPECT_EQ(first_code({"cluster.collectives={all_reduce: {traffic_class: 0}}"}), "");
    const Result<Experiment> refused = load_small(components_, {classes});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().size(), 1u);
    EXPECT_NE(refused.error().front().message.find("no effect on backend 'fluid'"), std::string::npos);
}

TEST_F(ExperimentTest, OperationsHaveTheClassOfTheFirstEntryThatFitsThem) {
    const std::string network =
        "network={kind: opera, racks: 4, uplinks: 4, hosts_per_rack: 1, low_latency: {cutoff: 1KB, classes: "
        "[2, 4]}, bulk: {classes: [3]}}";
    const std::string rules =
        "cluster.operations=[{name: Embedding.forward.*, traffic_class: 2}, {name: '*.all_to_all', "
        "traffic_class: 3}, {name: 'Top_?.*', traffic_class: 0}]";
    const Result<Experiment> loaded =
        load_small(components_, {network, rules, "cluster.collectives={all_reduce: {traffic_class: 4}}"});
    ASSERT_TRUE(loaded) << render(loaded.error());
    std::map<std::string, std::optional<int>> classes;
    for (const system::Operation& operation : loaded->program.operations) {
        if (!operation.is_compute()) {
            const auto& of_its_own = operation.collective().traffic_class;
            classes[operation.name] = of_its_own ? std::optional<int>(*of_its_own) : std::nullopt;
        }
    }
    EXPECT_EQ(classes.at("Embedding.forward.all_to_all"), 2);
    EXPECT_EQ(classes.at("Embedding.input_gradient.all_to_all"), 3);
    EXPECT_EQ(classes.at("Top_0.weight_gradient.all_reduce"), 0);
    EXPECT_EQ(classes.at("Bottom_0.weight_gradient.all_reduce"), std::nullopt) << "that of its kind";
    EXPECT_EQ(loaded->resolved.find_path("cluster.operations.1.traffic_class")->text, "3");

    EXPECT_EQ(first_code({network, "cluster.operations={name: Nothing, traffic_class: 2}"}),
              "config.operation");
    EXPECT_EQ(first_code({network, "cluster.operations={name: '*', traffic_class: 5}"}),
              "config.traffic-class");
    EXPECT_EQ(first_code({network, "cluster.operations={name: '*', traffic_class: 8}"}), "config.range");
    EXPECT_EQ(first_code({"cluster.operations={name: '*', traffic_class: 1}"}), "config.traffic-class");
    EXPECT_EQ(first_code({"cluster.operations={name: '*', traffic_class: 0}"}), "");
}

TEST_F(ExperimentTest, DimensionsThatTheRanksDoNotHaveAreRefused) {
    const auto with = [](const std::string& algorithm) {
        return "cluster.collectives={all_reduce: {algorithm: hierarchical, " + algorithm + "}}";
    };
    const std::string grid = "cluster.dimensions=[2, 2]";
    EXPECT_EQ(first_code({grid, with("dimension_algorithms: [ring, direct]")}), "");
    EXPECT_EQ(first_code({grid, with("dimension_algorithms: [ring, direct, ring]")}), "config.inconsistent");
    EXPECT_EQ(first_code({with("dimension_algorithms: [ring, direct]")}), "config.inconsistent");
    EXPECT_EQ(first_code({grid, with("order: themis, bandwidths: [1Gbps, 2Gbps, 3Gbps]")}),
              "config.inconsistent");
    const Result<Experiment> refused =
        load_small(components_, {with("dimension_algorithms: [ring, direct]")});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().front().message.find("speak of 2 dimensions, the ranks have 1"),
              std::string::npos);
}

TEST_F(ExperimentTest, ARunThatMustOutlastSimulatedTimeIsRefused) {
    // 33 024 B of all-reduce on 4 ranks take 33 024·8/4 s = 66 048 s at 1 bit/s: fine. A layer of 32 000 by
    // 32 000 weights of 2 B alone takes 2 iterations · 2·3/4 · 2.05e9 B · 8 = 4.9e10 s, and time ends
    // at 9.2e6 s.
    EXPECT_EQ(first_code({"network.link.rate=1bps"}), "");
    EXPECT_EQ(first_code({"network.link.rate=1bps", "workload.model.bottom_mlp=[32000, 8]",
                          "workload.model.top_mlp=[32000, 32000, 1]"}),
              "config.time");
}

TEST_F(ExperimentTest, LatenciesOfAPathFitSimulatedTime) {
    // Every host of a ring may be between two others. 4,611 of 1000 s are 4.611e6 s, and half of 2^63 ps is
    // 4.611 69e6 s.
    const auto ring = [](int hosts) {
        return fmt::format("network={{kind: ring, hosts: {}, link: {{rate: 100Gbps, latency: 1000s}}}}",
                           hosts);
    };
    EXPECT_EQ(first_code({ring(4'611)}), "");
    EXPECT_EQ(first_code({ring(4'612)}), "config.time");
    // Hosts on one cable are only at the ends: 1000 s to the switch and 1000 s from it.
    EXPECT_EQ(first_code({"network={kind: flat, hosts: 5000, link: {rate: 100Gbps, latency: 1000s}}"}), "");
    const Result<Experiment> refused = load_small(components_, {ring(20'000)});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().front().message.find("would take 2e+07 s, expected at most 4.61e+06 s"),
              std::string::npos)
        << render(refused.error());
}

TEST_F(ExperimentTest, SectionsMayBeFilesAndOverridesReachIntoThem) {
    const testing::TemporaryFolder folder;
    folder.write("net.yaml", "schema: astrolabe/1\nkind: flat\nhosts: 16\n");
    const Result<Experiment> loaded =
        load_small(components_, {"network=" + (folder.path() / "net.yaml").string(), "cluster.ranks=8"});
    ASSERT_TRUE(loaded) << render(loaded.error());
    EXPECT_EQ(loaded->fabric->host_count(), 16u);
    const Result<Experiment> changed =
        load_small(components_, {"network=" + (folder.path() / "net.yaml").string(), "network.hosts=32"});
    ASSERT_TRUE(changed) << render(changed.error());
    EXPECT_EQ(changed->fabric->host_count(), 32u);
    folder.write("net2.yaml", "kind: flat\nhots: 16\n");
    const Result<Experiment> bad =
        load_small(components_, {"network=" + (folder.path() / "net2.yaml").string()});
    ASSERT_FALSE(bad);
    EXPECT_NE(bad.error().back().where.to_string().find("net2.yaml:2:1"), std::string::npos)
        << render(bad.error());
}

TEST_F(ExperimentTest, ChangingAKindDropsWhatOnlyTheFormerOneHad) {
    const std::vector<std::string> to_leaf_spine{"network.kind=leaf_spine", "network.hosts_per_leaf=2",
                                                 "network.spines=2"};
    const Result<Experiment> leaf_spine = load_small(components_, to_leaf_spine);
    ASSERT_TRUE(leaf_spine) << render(leaf_spine.error());
    EXPECT_EQ(leaf_spine->fabric->host_count(), 4u);  // hosts and link stay: leaf_spine has them too
    std::vector<std::string> back = to_leaf_spine;
    back.insert(back.end(), {"network.kind=flat"});
    // What was set by hand is the user's, not the file's: it is refused, not dropped.
    EXPECT_EQ(first_code(back), "config.unknown-key");
    const testing::TemporaryFolder folder;
    std::string text = testing::kSmallExperiment;
    text.replace(text.find("kind: flat"), 10, "kind: leaf_spine\n  hosts_per_leaf: 2\n  spines: 1");
    const Result<Experiment> flat =
        load_experiment(folder.write("x.yaml", text), {{"network.kind=flat"}, std::nullopt}, components_);
    ASSERT_TRUE(flat) << render(flat.error());
    EXPECT_EQ(flat->resolved.find_path("network.spines"), nullptr);
}

TEST_F(ExperimentTest, ChangingAnAlgorithmDropsItsKeysAndKeepsTheChunks) {
    const testing::TemporaryFolder folder;
    std::string text = testing::kSmallExperiment;
    const std::string named = "{algorithm: ring, chunks: 1}";
    text.replace(text.find(named), named.size(), "{algorithm: windowed_direct, window: 2, chunks: 3}");
    const auto file = folder.write("x.yaml", text);
    const Result<Experiment> loaded = load_experiment(file, {}, components_);
    ASSERT_TRUE(loaded) << render(loaded.error());
    EXPECT_EQ(loaded->resolved.find_path("cluster.collectives.all_reduce.window")->text, "2");
    const Result<Experiment> ring =
        load_experiment(file, {{"cluster.collectives.all_reduce.algorithm=ring"}, std::nullopt}, components_);
    ASSERT_TRUE(ring) << render(ring.error());
    EXPECT_EQ(ring->resolved.find_path("cluster.collectives.all_reduce.window"), nullptr);
    EXPECT_EQ(ring->resolved.find_path("cluster.collectives.all_reduce.chunks")->text, "3");
}

TEST_F(ExperimentTest, AHierarchicalAlgorithmIsWrittenOutWithItsDimensions) {
    const Result<Experiment> loaded = load_small(
        components_,
        {"cluster.dimensions=[2, 2]",
         "cluster.collectives.all_reduce={algorithm: hierarchical, order: themis, bandwidths: [2GB/s, "
         "1GB/s], dimension_algorithms: [ring, {algorithm: windowed_direct, window: 1}]}"});
    ASSERT_TRUE(loaded) << render(loaded.error());
    EXPECT_EQ(loaded->cluster.options.dimensions, system::Shape({2, 2}));
    const ConfigNode& written = *loaded->resolved.find_path("cluster.collectives.all_reduce");
    EXPECT_EQ(written.find_path("dimension_algorithms.0")->text, "ring");
    EXPECT_EQ(written.find_path("dimension_algorithms.1.window")->text, "1");
    EXPECT_EQ(written.find_path("bandwidths.1")->text, "8Gbps");
    EXPECT_EQ(written.find("optimisation")->text, "local_bandwidth_aware");
}

TEST_F(ExperimentTest, EndPointsAndOrdersReachTheExecutor) {
    const Result<Experiment> loaded = load_small(
        components_, {"cluster.end_point={copy_engine: serial, reduction_bandwidth: 50GB/s, "
                      "rendezvous_threshold: 8KiB}",
                      "cluster.injection_latency=10ns", "cluster.active_chunks_per_dimension=3",
                      "cluster.dimension_scheduling=alternate", "cluster.start_order=independent"});
    ASSERT_TRUE(loaded) << render(loaded.error());
    const system::SystemOptions& options = loaded->cluster.options;
    EXPECT_EQ(options.end_point.injection_latency, Time(10'000));
    EXPECT_EQ(options.end_point.copy_engine, system::CopyEngine::kSerial);
    EXPECT_EQ(options.end_point.reduction_bandwidth, Bandwidth(400'000'000'000));
    EXPECT_EQ(options.end_point.rendezvous_threshold, Bytes(8192));
    EXPECT_EQ(options.end_point.timing, system::EndPointTiming::kPerMessage);
    EXPECT_EQ(options.active_chunks_per_dimension, 3u);
    EXPECT_EQ(options.stage_order, system::StageOrder::kAlternate);
    EXPECT_EQ(options.start_order, system::StartOrder::kIndependent);
    const Result<Experiment> compatible =
        load_small(components_, {"cluster.end_point={timing: astra_sim_1, reduction_bandwidth: 50GB/s}"});
    ASSERT_TRUE(compatible) << render(compatible.error());
    EXPECT_EQ(compatible->cluster.options.end_point.timing, system::EndPointTiming::kAstraSim1);
}

TEST_F(ExperimentTest, AKindAloneWhereASectionStandsIsExplained) {
    const Result<Experiment> result = load_small(components_, {"backend=fluid"});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().front().hint.find("did you mean {kind: fluid}?"), std::string::npos)
        << render(result.error());
}

TEST_F(ExperimentTest, TheSeedOfTheCommandLineWins) {
    const testing::TemporaryFolder folder;
    const auto file = folder.write("x.yaml", std::string(testing::kSmallExperiment) + "seed: 5\n");
    EXPECT_EQ(load_experiment(file, {}, components_)->seed, 5u);
    const Result<Experiment> other = load_experiment(file, {{}, 9}, components_);
    EXPECT_EQ(other->seed, 9u);
    EXPECT_EQ(other->resolved.find("seed")->text, "9");
}

TEST_F(ExperimentTest, FilesThatSectionsNameShareTheLimits) {
    const testing::TemporaryFolder folder;
    folder.write("device.yaml", "kind: roofline\n");
    Result<ConfigNode> root = parse_config(
        "cluster:\n  devices:\n    - {device: device.yaml}\n    - {device: ./device.yaml}\n    - {device: "
        "device.yaml}\n",
        (folder.path() / "x.yaml").string());
    ASSERT_TRUE(root) << render(root.error());
    // A file has three values: a key, its value and their mapping. Of five the second has the sixth.
    ReadContext context;
    context.usage().values = limits::kValues - 5;
    resolve_references(*root, context);
    ASSERT_EQ(context.error_count(), 1u) << "the third is not read: " << render(context.errors());
    const Diagnostic& error = context.errors().front();
    EXPECT_EQ(error.code, "config.limit");
    EXPECT_TRUE(error.where.to_string().ends_with("device.yaml:1:1")) << error.where.to_string();
    ASSERT_EQ(error.notes.size(), 1u);
    EXPECT_TRUE(error.notes.front().first.to_string().ends_with("x.yaml:4:16"))
        << error.notes.front().first.to_string();
    EXPECT_TRUE(root->find_path("cluster.devices.0.device.kind") != nullptr);
}

TEST_F(ExperimentTest, NamesAreSuggestedForErrorsThatAreShownAlone) {
    ConfigNode device = ConfigNode::mapping();
    device.set("kind", ConfigNode::scalar("rofline"));
    ReadContext context;
    for (std::size_t i = 0; i <= limits::kErrorsShown; ++i) {
        EXPECT_FALSE(components_.devices.read(device, context));
    }
    EXPECT_NE(context.errors()[limits::kErrorsShown - 1].hint.find("'roofline'"), std::string::npos);
    EXPECT_EQ(context.errors()[limits::kErrorsShown].hint, "");
    // Rules that fit no collective: each lists the names of all.
    std::string rules;
    for (std::size_t i = 0; i <= limits::kErrorsShown; ++i) {
        rules += fmt::format("{}{{name: none{}, traffic_class: 1}}", i == 0 ? "" : ", ", i);
    }
    const Result<Experiment> loaded = load_small(components_, {"cluster.operations=[" + rules + "]"});
    ASSERT_FALSE(loaded);
    std::size_t unused = 0;
    for (std::size_t i = 0; i < loaded.error().size(); ++i) {
        if (loaded.error()[i].code == "config.operation") {
            EXPECT_EQ(loaded.error()[i].hint.empty(), i >= limits::kErrorsShown) << i;
            ++unused;
        }
    }
    EXPECT_EQ(unused, limits::kErrorsShown + 1);
}

TEST_F(ExperimentTest, ARegistryWithOneEntryIsEnough) {
    // Nothing is registered behind the scenes: what is not in the registries cannot be named.
    Components few;
    workload::register_builtin_workloads(few.workloads);
    workload::register_builtin_devices(few.devices);
    network::register_builtin_topologies(few.networks);
    network::register_fluid_backend(few.backends);
    system::register_builtin_algorithms(few.algorithms);
    ASSERT_TRUE(load_small(few));
    const Result<Experiment> tcp = load_small(few, {"backend={kind: tcp}"});
    ASSERT_FALSE(tcp);
    EXPECT_EQ(tcp.error().front().code, "config.unknown-kind");
}

}  // namespace
}  // namespace astrolabe::experiment
