/// Ranks on hosts: file/placement.hpp, and that nothing assumes rank i on host i.
#include "process.hpp"
#include "small_experiment.hpp"
#include "timeline_fixture.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

/// Two leaves of four hosts, whose uplinks carry half of what their hosts send; no latency.
const char* const kLeafSpine =
    "network={kind: leaf_spine, hosts: 8, hosts_per_leaf: 4, spines: 1, oversubscription: 2, "
    "link: {rate: 100Gbps, latency: 0ns}, uplink: {latency: 0ns}}";
const char* const kRing = "workload={kind: collective, collective: all_reduce, size: 8MB}";

std::vector<std::size_t> numbers(const std::vector<network::HostId>& hosts) {
    std::vector<std::size_t> numbers;
    for (const network::HostId host : hosts) {
        numbers.push_back(host.index());
    }
    return numbers;
}

class RankPlacementTest : public ::testing::Test {
protected:
    [[nodiscard]] Experiment load(std::vector<std::string> overrides) const {
        Result<Experiment> loaded = testing::load_small(components_, std::move(overrides));
        if (!loaded) {
            ADD_FAILURE() << render(loaded.error());
            return {};
        }
        return *std::move(loaded);
    }
    [[nodiscard]] std::vector<std::size_t> hosts(std::vector<std::string> overrides) const {
        const Experiment experiment = load(std::move(overrides));
        return numbers(experiment.placement.hosts_of(experiment.cluster.ranks));
    }
    [[nodiscard]] std::string refusal(std::vector<std::string> overrides) const {
        const Result<Experiment> loaded = testing::load_small(components_, std::move(overrides));
        return loaded ? "" : render(loaded.error());
    }
    [[nodiscard]] experiment::Run ring_run(const std::string& placement,
                                           std::vector<std::string> more = {}) const {
        std::vector<std::string> overrides{kLeafSpine, kRing, "cluster.ranks=8",
                                           "cluster.placement=" + placement};
        overrides.insert(overrides.end(), more.begin(), more.end());
        return run_experiment(load(std::move(overrides)), {});
    }

    Components components_ = builtin_components();
};

TEST_F(RankPlacementTest, OrdersAreThoseOfTheirDefinition) {
    using Hosts = std::vector<std::size_t>;
    EXPECT_EQ(hosts({kLeafSpine, "cluster.ranks=8"}), (Hosts{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(hosts({kLeafSpine, "cluster.ranks=8", "cluster.placement=round_robin"}),
              (Hosts{0, 4, 1, 5, 2, 6, 3, 7}));
    // Fewer ranks than hosts: spread over both leaves all the same.
    EXPECT_EQ(hosts({kLeafSpine, "cluster.placement=round_robin"}), (Hosts{0, 4, 1, 5}));
    EXPECT_EQ(hosts({kLeafSpine, "cluster.placement=[7, 0, 3, 4]"}), (Hosts{7, 0, 3, 4}));
    // Hosts that are joined to hosts are groups of one.
    EXPECT_EQ(hosts({"network={kind: torus, sizes: [2, 2], link: {rate: 100Gbps, latency: 0ns}}",
                     "cluster.placement=round_robin"}),
              (Hosts{0, 1, 2, 3}));
}

TEST_F(RankPlacementTest, RoundRobinSkipsFullGroups) {
    // Leaves of one, three and two hosts.
    const char* const graph =
        "network={kind: graph, link: {rate: 100Gbps, latency: 0ns}, nodes: [{name: h, count: 6}, "
        "{name: s, kind: switch, count: 3}, {name: top, kind: switch}], links: [{from: h 0, to: s 0}, "
        "{from: h 1..3, to: s 1}, {from: h 4..5, to: s 2}, {from: s, to: top}]}";
    EXPECT_EQ(hosts({graph, kRing, "cluster.ranks=6", "cluster.placement=round_robin"}),
              (std::vector<std::size_t>{0, 1, 4, 2, 5, 3}));
}

/// Two servers of four GPUs.
std::string servers(const std::string& nics) {
    return "network={kind: servers, servers: {count: 2, gpus: 4, nics: {" + nics +
           "}}, scale_out: {kind: flat}}";
}

TEST_F(RankPlacementTest, ByRailGoesFromRailToRail) {
    using Hosts = std::vector<std::size_t>;
    const auto placed = [this](const std::string& network, const std::string& placement, int ranks = 8) {
        return hosts(
            {network, kRing, "cluster.ranks=" + std::to_string(ranks), "cluster.placement=" + placement});
    };
    // A NIC each: GPU 0 of both servers is on rail 0, … as round_robin deals.
    EXPECT_EQ(placed(servers("per: gpu"), "by_rail"), (Hosts{0, 4, 1, 5, 2, 6, 3, 7}));
    EXPECT_EQ(placed(servers("per: gpu"), "by_rail"), placed(servers("per: gpu"), "round_robin"));
    // Two GPUs of a server share rail 0, and go before the other server's.
    EXPECT_EQ(placed(servers("per: pair"), "by_rail"), (Hosts{0, 1, 4, 5, 2, 3, 6, 7}));
    EXPECT_EQ(placed(servers("per: pair"), "round_robin"), (Hosts{0, 4, 1, 5, 2, 6, 3, 7}));
    EXPECT_EQ(placed(servers("per: pair"), "by_rail", 5), (Hosts{0, 1, 4, 5, 2}));
    EXPECT_EQ(placed(servers("per: server"), "by_rail"), (Hosts{0, 1, 2, 3, 4, 5, 6, 7}));
    // Several NICs of a GPU: rails 0, 2, 4, 6.
    EXPECT_EQ(placed(servers("per: gpu, count: 2"), "by_rail"), (Hosts{0, 4, 1, 5, 2, 6, 3, 7}));
    // GPUs 4 and 5 are a server of two: it is on rails 0 and 1.
    EXPECT_EQ(
        placed("network={kind: servers, servers: [{count: 1, gpus: 4}, {count: 1, gpus: 2}], scale_out: "
               "{kind: flat}}",
               "by_rail", 6),
        (Hosts{0, 4, 1, 5, 2, 3}));
    // Packages of a hierarchical network are servers.
    EXPECT_EQ(placed("network={kind: hierarchical, hosts: 8, hosts_per_package: 4}", "by_rail"),
              (Hosts{0, 4, 1, 5, 2, 6, 3, 7}));
    const std::string flat = refusal({"cluster.placement=by_rail"});
    EXPECT_NE(flat.find("network 'flat' has no servers, whose NICs make rails"), std::string::npos) << flat;
    const Experiment experiment =
        load({servers("per: pair"), kRing, "cluster.ranks=8", "cluster.placement=by_rail"});
    const auto again = read_experiment(experiment.resolved, {}, "again", std::nullopt, components_);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(again->placement.hosts_of(8), experiment.placement.hosts_of(8));
}

// Ring all-reduce of 8 MB over 8 ranks: 14 steps of 1 MB from every rank to the next, 14 MB a pair. Linear, 3
// pairs of a server stay in it and one leaves; in turns all 4 leave; by rails of two GPUs every second one.
TEST_F(RankPlacementTest, TrafficByServerIsThatOfRanksSummedUp) {
    const auto csv = [this](const std::string& placement) {
        const Experiment experiment =
            load({servers("per: pair"), kRing, "cluster.ranks=8", "cluster.placement=" + placement});
        return traffic_by_server_csv(experiment,
                                     system::traffic_matrix(experiment.program, experiment.cluster.options));
    };
    EXPECT_EQ(csv("linear"),
              "source,destination,bytes\n0,0,42000000\n0,1,14000000\n1,0,14000000\n1,1,42000000\n");
    EXPECT_EQ(csv("round_robin"), "source,destination,bytes\n0,1,56000000\n1,0,56000000\n");
    EXPECT_EQ(csv("by_rail"),
              "source,destination,bytes\n0,0,28000000\n0,1,28000000\n1,0,28000000\n1,1,28000000\n");
}

TEST_F(RankPlacementTest, RandomOnesAreInjectiveAndFollowTheirSeed) {
    std::set<std::vector<std::size_t>> drawn;
    for (const std::string seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
        const auto placed = hosts({kLeafSpine, "cluster.placement=random", "seed=" + seed});
        EXPECT_EQ(std::set<std::size_t>(placed.begin(), placed.end()).size(), 4U);
        EXPECT_LT(*std::max_element(placed.begin(), placed.end()), 8U);
        EXPECT_EQ(placed, hosts({kLeafSpine, "cluster.placement=random", "seed=" + seed}));
        EXPECT_EQ(placed, hosts({kLeafSpine, "cluster.placement=random", "cluster.placement_seed=" + seed}));
        drawn.insert(placed);
    }
    // Of 8!/4! = 1,680 placements, eight draws are all alike with a probability of 1,680^-7.
    EXPECT_GT(drawn.size(), 1U);
    const auto streams = random_streams(load({kLeafSpine, "cluster.placement=random"}));
    EXPECT_EQ(std::count(streams.begin(), streams.end(), "cluster.placement"), 1);
    const auto fixed =
        random_streams(load({kLeafSpine, "cluster.placement=random", "cluster.placement_seed=3"}));
    EXPECT_EQ(std::count(fixed.begin(), fixed.end(), "cluster.placement"), 0);
}

// Ring all-reduce of 8 MB over 8 ranks: 14 steps of 1 MB from every rank to the next. In linear order one
// flow leaves a leaf each way, and every flow has the 100 Gbps of its host: 80 us a step, 14 · 80 us. In
// turns on two leaves all four flows of a leaf leave it and share 4 · 100 / 2 Gbps: 160 us a step.
TEST_F(RankPlacementTest, ARingThatCrossesLeavesAtEveryStepTakesTwiceAsLong) {
    using namespace literals;
    for (const std::string folding : {"auto", "off"}) {
        const auto linear = ring_run("linear", {"cluster.folding=" + folding});
        const auto turns = ring_run("round_robin", {"cluster.folding=" + folding});
        EXPECT_EQ(linear.execution.total, 1120_us) << folding;
        EXPECT_EQ(turns.execution.total, 2240_us) << folding;
    }
    // A list says the same, and so do the bounds of links: 14 MB · 4 ranks over 25 GB/s.
    const auto listed = ring_run("[0, 4, 1, 5, 2, 6, 3, 7]");
    EXPECT_EQ(listed.fingerprint, ring_run("round_robin").fingerprint);
    ASSERT_TRUE(listed.bounds.links);
    EXPECT_NEAR(to_seconds(*listed.bounds.links), 2240e-6, 1e-9);
}

TEST_F(RankPlacementTest, SymmetricPlacementsFoldAndOthersSayWhyNot) {
    // Going on by one rank swaps the leaves.
    const auto turns = ring_run("round_robin");
    EXPECT_EQ(turns.engine.simulated_ranks, 1U) << turns.engine.folding_refusal;
    EXPECT_EQ(turns.fingerprint, ring_run("round_robin", {"cluster.folding=off"}).fingerprint);
    const auto mixed = ring_run("[0, 1, 2, 4, 3, 5, 6, 7]");
    EXPECT_EQ(mixed.engine.simulated_ranks, 8U);
    EXPECT_NE(mixed.engine.folding_refusal.find("is not like that from"), std::string::npos)
        << mixed.engine.folding_refusal;
}

// Every host of a flat network is like every other.
TEST_F(RankPlacementTest, OnAFlatNetworkItChangesNothing) {
    const std::string wide = "network.hosts=16";
    const Experiment in_order = load({wide});
    const auto linear = run_experiment(in_order, {});
    for (const std::string placement : {"random", "round_robin", "[15, 3, 8, 0]"}) {
        for (const std::string seed : {"1", "2", "3"}) {
            const Experiment placed = load({wide, "cluster.placement=" + placement, "seed=" + seed});
            const auto run = run_experiment(placed, {});
            EXPECT_EQ(run.execution.total, linear.execution.total) << placement;
            EXPECT_EQ(run.bounds.value(), linear.bounds.value()) << placement;
            for (std::size_t rank = 0; rank < 4; ++rank) {
                EXPECT_EQ(run.execution.ranks[rank].iteration_ends,
                          linear.execution.ranks[rank].iteration_ends);
            }
            EXPECT_EQ(predict(placed).events, predict(in_order).events);
        }
    }
}

TEST_F(RankPlacementTest, TrafficBySwitchIsThatOfRanksSummedUp) {
    for (const std::string placement : {"linear", "round_robin", "random", "[7, 0, 3, 4]"}) {
        const Experiment experiment = load({kLeafSpine, "cluster.placement=" + placement});
        const auto matrix = system::traffic_matrix(experiment.program, experiment.cluster.options);
        std::istringstream rows(traffic_by_switch_csv(experiment, matrix));
        std::string row;
        std::getline(rows, row);
        Bytes sum;
        Bytes stays;
        while (std::getline(rows, row)) {
            const std::size_t first = row.find(',');
            const std::size_t second = row.find(',', first + 1);
            const Bytes bytes(std::stoll(row.substr(second + 1)));
            sum += bytes;
            stays += row.substr(0, first) == row.substr(first + 1, second - first - 1) ? bytes : Bytes(0);
        }
        EXPECT_EQ(sum, matrix.total()) << placement;
        Bytes inside;
        for (std::size_t source = 0; source < 4; ++source) {
            for (std::size_t destination = 0; destination < 4; ++destination) {
                if (experiment.placement[source].index() / 4 ==
                    experiment.placement[destination].index() / 4) {
                    inside += matrix(source, destination);
                }
            }
        }
        EXPECT_EQ(stays, inside) << placement;
    }
}

TEST_F(RankPlacementTest, TheResolvedFileReadsBackToIt) {
    for (const std::string placement : {"linear", "round_robin", "random", "[7, 0, 3, 4]"}) {
        const Experiment experiment = load({kLeafSpine, "cluster.placement=" + placement, "seed=5"});
        const auto again = read_experiment(experiment.resolved, {}, "again", std::nullopt, components_);
        ASSERT_TRUE(again) << render(again.error());
        EXPECT_EQ(again->placement.hosts_of(4), experiment.placement.hosts_of(4));
        EXPECT_EQ(to_yaml(again->resolved), to_yaml(experiment.resolved));
    }
}

TEST_F(RankPlacementTest, WhatIsWrongIsRefusedAtItsPlace) {
    const std::string twice = refusal({"cluster.placement=[0, 1, 1, 2]"});
    EXPECT_NE(twice.find("host 1 is given to rank 1 and to rank 2"), std::string::npos) << twice;
    const std::string beyond = refusal({"cluster.placement=[0, 1, 2, 4]"});
    EXPECT_NE(beyond.find("rank 3 is placed on host 4, and the network has 4 hosts"), std::string::npos)
        << beyond;
    const std::string few = refusal({"cluster.placement=[0, 1, 2]"});
    EXPECT_NE(few.find("3 hosts are listed for 4 ranks"), std::string::npos) << few;
    const std::string misspelt = refusal({"cluster.placement=roundrobin"});
    EXPECT_NE(misspelt.find("round_robin"), std::string::npos) << misspelt;
    EXPECT_NE(refusal({"cluster.placement=[]"}).find("empty list"), std::string::npos);
    EXPECT_NE(refusal({"cluster.placement={order: linear}"}).find("found mapping"), std::string::npos);
    EXPECT_NE(refusal({"cluster.placement=[0, 1, 2, -1]"}).find("expected 0 to"), std::string::npos);
    EXPECT_NE(refusal({"cluster.placement=[0, 1, 2, 1099511627776]"}).find("expected 0 to"),
              std::string::npos);
    const std::string seed = refusal({"cluster.placement_seed=3"});
    EXPECT_NE(seed.find("nothing is drawn with this seed"), std::string::npos) << seed;
    const std::string built =
        refusal({"network={kind: topoopt, degree: 2, link: {rate: 100Gbps, latency: 1us}}",
                 "cluster.placement=random"});
    EXPECT_NE(built.find("is built around the ranks"), std::string::npos) << built;
}

class PlacedTimelineTest : public TimelineTest {};

// Hosts beyond the number of ranks have tracks and messages of their ranks.
TEST_F(PlacedTimelineTest, NamesRanks) {
    const Traced placed = trace(load({"network.hosts=16", "cluster.placement=[15, 3, 8, 0]"}));
    const Traced linear = trace(load({"network.hosts=16"}));
    EXPECT_NE(placed.text.find("rank 3 of 4"), std::string::npos);
    EXPECT_EQ(placed.text.find("\"rank 15\""), std::string::npos);
    EXPECT_NE(placed.text.find("host 15 -> switch"), std::string::npos);
    EXPECT_EQ(placed.run.execution.total, linear.run.execution.total);
}

}  // namespace
}  // namespace astrolabe::experiment
