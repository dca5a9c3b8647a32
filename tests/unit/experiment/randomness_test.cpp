/// The seed of an experiment reaches all that is random, and says what is.
#include "small_experiment.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

using Streams = std::vector<std::string>;

class Randomness : public ::testing::Test {
protected:
    /// The small experiment, with changes.
    Experiment load(std::vector<std::string> changes) {
        Result<Experiment> loaded = testing::load_small(components_, std::move(changes));
        EXPECT_TRUE(loaded) << (loaded ? "" : render(loaded.error()));
        return *std::move(loaded);
    }
    std::string fingerprint(std::vector<std::string> changes) {
        return run_experiment(load(std::move(changes)), {}).fingerprint;
    }
    /// Neighbours of all nodes, in order of links.
    static std::vector<std::size_t> graph(const Experiment& experiment) {
        std::vector<std::size_t> targets;
        const network::Fabric& fabric = *experiment.fabric;
        for (std::size_t node = 0; node < fabric.node_count(); ++node) {
            const network::NodeId at(node);
            for (std::size_t i = 0; i < fabric.out_degree(at); ++i) {
                targets.push_back(fabric.target(network::LinkId(fabric.first_link(at).index() + i)).index());
            }
            targets.push_back(fabric.node_count());
        }
        return targets;
    }

    Components components_ = builtin_components();
};

const std::string kOpera =
    "network={kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 1, link: {rate: 100Gbps}}";
const std::string kPinnedOpera =
    "network={kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 1, link: {rate: 100Gbps}, seed: 3}";
const std::string kExpander =
    "network={kind: expander, racks: 16, uplinks: 4, hosts_per_rack: 1, link: {rate: 100Gbps}}";
const std::string kDrawnTables = "workload.model.tables.pooling={distribution: uniform, min: 1, max: 100}";

TEST_F(Randomness, RepeatsOfAnOperaDifferAndASeedRepeatsItself) {
    const std::string first = fingerprint({kOpera, "seed=1"});
    EXPECT_EQ(fingerprint({kOpera}), first);  // 1 is the default
    EXPECT_NE(fingerprint({kOpera, "seed=2"}), first);
    EXPECT_EQ(fingerprint({kOpera, "seed=2"}), fingerprint({kOpera, "seed=2"}));
    EXPECT_NE(graph(load({kOpera, "seed=2"})), graph(load({kOpera, "seed=1"})));
}

TEST_F(Randomness, TheSeedOfTheCommandLineIsThatOfTheFile) {
    const testing::TemporaryFolder folder;
    const auto file = folder.write("small.yaml", testing::kSmallExperiment);
    const Result<Experiment> given = load_experiment(file, {{kOpera}, 2}, components_);
    ASSERT_TRUE(given) << render(given.error());
    EXPECT_EQ(graph(*given), graph(load({kOpera, "seed=2"})));
}

TEST_F(Randomness, ASeedOfTheNetworkPinsItsMatchings) {
    EXPECT_EQ(graph(load({kPinnedOpera, "seed=1"})), graph(load({kPinnedOpera, "seed=2"})));
    EXPECT_EQ(graph(load({kPinnedOpera, "seed=1"})), graph(load({kOpera, "seed=3"})));
}

TEST_F(Randomness, WhatOneDrawsMovesNoOther) {
    // Drawn tables beside it change no matchings, failures none either, and a pinned network no tables.
    const auto tables = [](const Experiment& experiment) {
        std::vector<Time> durations;
        for (const system::Operation& operation : experiment.program.operations) {
            for (std::size_t rank = 0; operation.is_compute() && rank < experiment.cluster.ranks; ++rank) {
                durations.push_back(operation.compute().duration[system::RankId(rank)]);
            }
        }
        return durations;
    };
    EXPECT_EQ(graph(load({kOpera, kDrawnTables, "seed=2"})), graph(load({kOpera, "seed=2"})));
    EXPECT_EQ(tables(load({kOpera, kDrawnTables, "seed=2"})),
              tables(load({kPinnedOpera, kDrawnTables, "seed=2"})));
    EXPECT_NE(tables(load({kOpera, kDrawnTables, "seed=2"})), tables(load({kOpera, kDrawnTables, "seed=1"})));
}

TEST_F(Randomness, SeedsStayOpenInTheResolvedFile) {
    const Experiment open = load({kOpera, kDrawnTables, "seed=2"});
    EXPECT_EQ(open.resolved.find_path("network.seed"), nullptr);
    EXPECT_EQ(open.resolved.find_path("workload.model.tables.0.pooling.seed"), nullptr);
    const Result<Experiment> again = read_experiment(open.resolved, {}, "", {}, components_);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(graph(*again), graph(open));
    const Result<Experiment> other = read_experiment(open.resolved, {}, "", 1, components_);
    ASSERT_TRUE(other) << render(other.error());
    EXPECT_EQ(graph(*other), graph(load({kOpera, "seed=1"})));
    const Experiment pinned = load({kPinnedOpera});
    ASSERT_NE(pinned.resolved.find_path("network.seed"), nullptr);
    EXPECT_EQ(pinned.resolved.find_path("network.seed")->text, "3");
}

TEST_F(Randomness, NamesWhatIsDrawn) {
    EXPECT_EQ(random_streams(load({})), Streams{});  // one switch, one path
    EXPECT_EQ(random_streams(load({kOpera})), (Streams{"network.seed", "network.rotor"}));
    EXPECT_EQ(random_streams(load({kPinnedOpera})), Streams{"network.rotor"});
    EXPECT_EQ(random_streams(load({kDrawnTables})), Streams{"workload.model.tables.pooling.seed"});
    const std::string tree = "network={kind: fat_tree, k: 4, load_balancing: ";
    EXPECT_EQ(random_streams(load({tree + "flow_hash}"})), Streams{"network.flow_hash"});
    EXPECT_EQ(random_streams(load({tree + "spray}"})), Streams{});
    EXPECT_EQ(random_streams(load({kExpander})), (Streams{"network.seed", "network.flow_hash"}));
    EXPECT_EQ(
        random_streams(load({"network={kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 1, link: {rate: "
                             "100Gbps}, seed: 3, failures: [{cables: 1}, {cables: 1, seed: 2}]}"})),
        (Streams{"network.failures.seed", "network.rotor"}));
}

TEST_F(Randomness, WithoutStreamsEverySeedGivesTheSame) {
    EXPECT_EQ(fingerprint({"seed=1"}), fingerprint({"seed=2"}));
}

}  // namespace
}  // namespace astrolabe::experiment
