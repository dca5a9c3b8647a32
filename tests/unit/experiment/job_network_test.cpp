// Networks that are built for the job of their experiment.

#include "network/src/topoopt/topoopt_family.hpp"
#include "small_experiment.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/explain/network_description.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/collective_run.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/demand.hpp>
#include <astrolabe/system/program/network_demand.hpp>

namespace astrolabe::experiment {
namespace {

using testing::load_small;

constexpr auto kAllReduce = static_cast<std::size_t>(system::CollectiveKind::kAllReduce);

/// What the family of the network says of it and of its job.
nlohmann::ordered_json figures(const Experiment& experiment) {
    return describe_for_job(experiment).json;
}

/// As networks that are built for a job want it.
const std::string kRingsOfNetwork =
    "cluster.collectives={all_reduce: {algorithm: multi_ring, strides: network}, reduce_scatter: {algorithm: "
    "multi_ring, strides: network}, all_gather: {algorithm: multi_ring, strides: network}, all_to_all: "
    "{algorithm: direct}}";

class JobNetworkTest : public ::testing::Test {
protected:
    /// The small experiment on 16 ranks and this network, of mode paper unless it names one.
    Result<Experiment> load(const std::string& network, std::vector<std::string> overrides = {}) {
        const std::string mode = network.find("mode:") == std::string::npos ? "mode: paper, " : "";
        overrides.insert(overrides.begin(), {"cluster.ranks=16", "workload.model.tables.count=16",
                                             "network={kind: topoopt, " + mode + network + "}", kRingsOfNetwork});
        return load_small(components_, std::move(overrides));
    }
    Experiment loaded(const std::string& network, std::vector<std::string> overrides = {}) {
        Result<Experiment> result = load(network, std::move(overrides));
        EXPECT_TRUE(result) << render(result.error());
        return *std::move(result);
    }
    std::string first_error(const std::string& network, std::vector<std::string> overrides = {}) {
        const Result<Experiment> result = load(network, std::move(overrides));
        return result ? "" : render({result.error().front()});
    }

    Components components_ = builtin_components();
};

TEST_F(JobNetworkTest, IsFoundForTheProgramAndItsRingsAreThoseOfCollectives) {
    const Experiment experiment = loaded("degree: 4, mode: released");
    ASSERT_TRUE(experiment.network_is_built_for_job);
    EXPECT_EQ(experiment.fabric->host_count(), 16U);
    // The released rule of 16 servers with four interfaces: ±{1, 5}, all for all-reduces.
    ASSERT_EQ(network::topoopt::topology_of(*experiment.fabric)->rings.size(), 1U);
    EXPECT_EQ(network::topoopt::topology_of(*experiment.fabric)->rings[0].strides, (std::vector<std::uint32_t>{1, 5}));
    EXPECT_EQ(network::topoopt::topology_of(*experiment.fabric)->split.all_reduce, 4U);
    EXPECT_EQ(experiment.fabric->link_count(), 16U * 4);
    const system::CollectiveChoice& choice = experiment.cluster.options.collectives[kAllReduce];
    EXPECT_EQ(choice.chunks, 4U);
    std::vector<system::Position> strides;  // of rank 0
    for (unsigned variant = 0; variant < 4; ++variant) {
        const auto schedule =
            choice.algorithm->schedule(system::CollectiveKind::kAllReduce, system::Shape(16), variant);
        strides.push_back(schedule.resolve(0, schedule.program(0).actions[0].peer));
    }
    EXPECT_EQ(strides, (std::vector<system::Position>{1, 15, 5, 11}));
}

TEST_F(JobNetworkTest, SeparateFibresMakeRingsThatGoOneWay) {
    // The paper rule of 16 servers: as many of strides 1, 3, 5, 7 as all-reduces get interfaces, and a
    // matching for each interface left.
    const Experiment experiment = loaded("degree: 4, wiring: separate_fibres");
    const network::topoopt::Topology& topology = *network::topoopt::topology_of(*experiment.fabric);
    EXPECT_FALSE(topology.full_duplex_rings);
    EXPECT_EQ(topology.split.all_reduce + topology.split.point_to_point, 4U);
    EXPECT_EQ(topology.matchings.size(), topology.split.point_to_point);
    const std::vector<std::uint32_t>& strides = topology.rings.at(0).strides;
    ASSERT_EQ(strides.size(), topology.split.all_reduce);
    EXPECT_EQ(experiment.fabric->link_count(), 16U * 4);
    EXPECT_EQ(experiment.fabric->one_way_link_count(), 16U * strides.size());
    const system::CollectiveChoice& choice = experiment.cluster.options.collectives[kAllReduce];
    EXPECT_EQ(choice.chunks, strides.size());
    const auto schedule =
        choice.algorithm->schedule(system::CollectiveKind::kAllReduce, system::Shape(16), 0);
    EXPECT_EQ(schedule.resolve(0, schedule.program(0).actions[0].peer), strides[0]);
    for (const char* backend : {"fluid", "packet", "tcp"}) {
        const Experiment same =
            loaded("degree: 4, wiring: separate_fibres", {fmt::format("backend={{kind: {}}}", backend)});
        const experiment::Run run = run_experiment(same, {});
        EXPECT_TRUE(run.execution.finished) << run.execution.stall;
        EXPECT_GE(run.execution.total, run.bounds.value());
    }
}

TEST_F(JobNetworkTest, WhatTheFileChoosesStays) {
    const Experiment experiment =
        loaded("degree: 4, mode: released",
               {"cluster.collectives={all_reduce: {algorithm: multi_ring, strides: network, chunks: 8}, all_gather: {algorithm: bruck}}"});
    EXPECT_EQ(experiment.cluster.options.collectives[kAllReduce].chunks, 8U);
    EXPECT_EQ(experiment.cluster.algorithms[kAllReduce], "multi_ring");
    EXPECT_EQ(experiment.cluster.algorithms[static_cast<std::size_t>(system::CollectiveKind::kAllGather)],
              "bruck");
    EXPECT_EQ(experiment.resolved.find_path("cluster.collectives.all_reduce.strides")->text, "network");
}

TEST_F(JobNetworkTest, ResolvedReadsBackToTheSameNetwork) {
    const Experiment experiment = loaded("degree: 4");
    const testing::TemporaryFolder folder;
    const Result<Experiment> again =
        load_experiment(folder.write("resolved.yaml", to_yaml(experiment.resolved)), {}, components_);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(network::topoopt::topology_of(*again->fabric)->links, network::topoopt::topology_of(*experiment.fabric)->links);
    EXPECT_EQ(again->cluster.options.collectives[kAllReduce].chunks,
              experiment.cluster.options.collectives[kAllReduce].chunks);
    EXPECT_EQ(to_yaml(again->resolved), to_yaml(experiment.resolved));
}

TEST_F(JobNetworkTest, DemandIsWhatTheRunSends) {
    for (const char* network : {"degree: 4, mode: released", "degree: 4", "degree: 3"}) {
        const Experiment experiment = loaded(network);
        const network::Demand demand =
            system::network_demand(experiment.program, experiment.cluster.options);
        const experiment::Run run = run_experiment(experiment, {});
        ASSERT_TRUE(run.execution.finished) << run.execution.stall;
        const auto all_reduces = static_cast<double>(run.traffic[kAllReduce].count());
        double all = 0;
        for (const Bytes bytes : run.traffic) {
            all += static_cast<double>(bytes.count());
        }
        // The bytes of one group of 16 are rounded down to a multiple of 2 · 15.
        EXPECT_LE(network::all_reduce_traffic(demand), all_reduces);
        EXPECT_GT(network::all_reduce_traffic(demand), all_reduces - 30);
        EXPECT_EQ(static_cast<double>(demand.point_to_point.total()), all - all_reduces);
        // No run is faster than its busiest link.
        const double load = figures(experiment).at("busiest_link").at("load_bytes");
        EXPECT_GE(to_seconds(run.execution.total),
                  load / to_bytes_per_second(experiment.fabric->link(network::LinkId(0)).rate) * (1 - 1e-9));
    }
}

TEST_F(JobNetworkTest, ReportsTheBandwidthTax) {
    // Two interfaces, one ring both ways round: 2 · (1 + … + 7) + 8 = 64 hops to 15 servers.
    const nlohmann::ordered_json report = figures(loaded("degree: 2, mode: released"));
    const double mean_hops = report.at("mean_hops");
    const double tax = report.at("bandwidth_tax");
    EXPECT_EQ(report.at("diameter"), 8U);
    EXPECT_DOUBLE_EQ(mean_hops, 64.0 / 15);
    EXPECT_GT(tax, 1.0);  // all-reduces go to neighbours, the rest further
    EXPECT_LT(tax, mean_hops);
    EXPECT_GE(report.at("busiest_link").at("over_mean").get<double>(), 1.0);
    const nlohmann::ordered_json neighbours = figures(
        loaded("degree: 2, mode: released", {"cluster.collectives.all_to_all={algorithm: ring}"}));
    EXPECT_DOUBLE_EQ(neighbours.at("bandwidth_tax").get<double>(), 1.0);
}

TEST_F(JobNetworkTest, IsBuiltForASingleCollectiveToo) {
    // 30 rounds of S/(4 · 16) = 65,536 B over a link of its own: 5.24288 us and 1 us each.
    CollectiveRequest request;
    request.kind = "all_reduce";
    request.algorithm = "{algorithm: multi_ring, strides: network}";
    request.sizes = {"4MiB"};
    request.network = "{kind: topoopt, degree: 4, mode: released, link: {rate: 100Gbps, latency: 1us}}";
    EXPECT_FALSE(CollectiveRun::prepare(request, components_));  // nobody says how many ranks
    request.ranks = 16;
    const Result<CollectiveRun> prepared = CollectiveRun::prepare(request, components_);
    ASSERT_TRUE(prepared) << render(prepared.error());
    const CollectivePoint point = prepared->run(0, {});
    EXPECT_EQ(point.run.network.messages, 4U * 30 * 16);
    EXPECT_NEAR(to_seconds(point.run.execution.total), 30 * 6.24288e-6, 30e-12);
}

TEST_F(JobNetworkTest, SaysWhatMakesItImpossible) {
    EXPECT_NE(first_error("degree: 1, mode: released").find("takes two interfaces"), std::string::npos);
    EXPECT_NE(first_error("degree: 4, wiring: duplex", {"cluster.ranks=15", "workload.batch={local: 4}"})
                  .find("a ring of 15 servers cannot alternate between two planes"),
              std::string::npos);
    EXPECT_NE(
        first_error("degree: 4, perfect_matching: true", {"cluster.ranks=15", "workload.batch={local: 4}"})
            .find("15 servers have no perfect matching"),
        std::string::npos);
    EXPECT_NE(first_error("degree: 4, mode: released, perfect_matching: true").find("only mode paper"),
              std::string::npos);
}

TEST_F(JobNetworkTest, IsBuiltOnceForJobsThatPutTheSameOnIt) {
    const std::vector<std::vector<std::string>> changes{{},
                                                        {"cluster.active_chunks=2"},
                                                        {"cluster.scheduling=fifo"},
                                                        {"backend={kind: fluid, latency: false}"},
                                                        {"cluster.device.peak=20TFLOPS"}};
    const auto fingerprints = [&] {
        std::vector<std::string> all;
        for (const std::vector<std::string>& change : changes) {
            all.push_back(run_experiment(loaded("degree: 4, mode: best", change), {}).fingerprint);
        }
        return all;
    };
    const std::vector<std::string> alone = fingerprints();
    EXPECT_EQ(components_.job_networks->built(), 5U);  // nothing is kept unless it is asked for
    EXPECT_EQ(components_.job_networks->kept_bytes(), 0U);

    components_ = builtin_components();
    components_.job_networks->keep_at_most(1 << 20);
    EXPECT_EQ(fingerprints(), alone);
    EXPECT_EQ(components_.job_networks->built(), 1U);
    EXPECT_EQ(loaded("degree: 4, mode: best").fabric, loaded("degree: 4, mode: best").fabric);
    EXPECT_EQ(components_.job_networks->built(), 1U);
    // Another section, another seed, and other bytes between ranks are other networks.
    static_cast<void>(loaded("degree: 4, mode: best, link: {rate: 50Gbps}"));
    EXPECT_EQ(components_.job_networks->built(), 2U);
    static_cast<void>(loaded("degree: 4, mode: best", {"seed=2"}));
    EXPECT_EQ(components_.job_networks->built(), 3U);
    static_cast<void>(loaded("degree: 4, mode: best", {"workload.batch={local: 64}"}));
    EXPECT_EQ(components_.job_networks->built(), 4U);
}

TEST_F(JobNetworkTest, ThoseAskedForLongestAgoAreForgotten) {
    JobNetworks networks;
    const std::shared_ptr<const network::Fabric> fabric = loaded("degree: 4").fabric;
    const std::size_t bytes = 64 * 16 * 16;  // of 16 hosts
    networks.keep_at_most(3 * bytes);
    const auto ask = [&](const std::string& key, std::size_t alternatives) {
        const std::uint64_t before = networks.built();
        const JobNetworks::Built built = networks.get(
            key, [&] { return JobNetworks::Built(network::NetworksForJob(alternatives, fabric)); });
        EXPECT_EQ(std::get<network::NetworksForJob>(built).size(), alternatives);
        return networks.built() > before;
    };
    EXPECT_TRUE(ask("a", 1));
    EXPECT_TRUE(ask("b", 1));
    EXPECT_TRUE(ask("c", 1));
    EXPECT_EQ(networks.kept_bytes(), 3 * bytes);
    EXPECT_FALSE(ask("a", 1));
    EXPECT_TRUE(ask("d", 1));  // b was asked for longest ago
    EXPECT_FALSE(ask("a", 1));
    EXPECT_TRUE(ask("b", 1));  // and now c
    EXPECT_TRUE(ask("e", 2));  // two networks, for which d and a go
    EXPECT_FALSE(ask("b", 1));
    EXPECT_EQ(networks.kept_bytes(), 3 * bytes);
    EXPECT_TRUE(ask("f", 4));  // more than there is room for at all
    EXPECT_EQ(networks.kept_bytes(), 0U);
    const auto mistake = [] { return JobNetworks::Built(ValidationErrors{{"degree", "is wrong", ""}}); };
    EXPECT_TRUE(std::holds_alternative<ValidationErrors>(networks.get("g", mistake)));
    EXPECT_TRUE(std::holds_alternative<ValidationErrors>(networks.get("g", mistake)));
    EXPECT_EQ(networks.built(), 9U);  // a to f, b again, and g twice
}

const std::string kMoving = "degree: 4, medium: circuit_switch, reconfiguration: ";

TEST_F(JobNetworkTest, CircuitsMoveForWhatWaits) {
    for (const char* options :
         {"{every: 5us, delay: 1us}", "{every: 5us, delay: 0us}",
          "{every: 5us, delay: 1us, forwarding: false}", "{every: 5us, delay: 1us, dark: all}"}) {
        for (const char* wiring : {"panel", "duplex", "separate_fibres"}) {
            const Experiment experiment =
                loaded(fmt::format("{}{}, wiring: {}, link: {{rate: 1Gbps}}", kMoving, options, wiring));
            const experiment::Run run = run_experiment(experiment, {});
            ASSERT_TRUE(run.execution.finished) << run.execution.stall;
            EXPECT_GE(run.execution.total, run.bounds.value());
            EXPECT_FALSE(run.bounds.links);
            ASSERT_TRUE(run.network.reconfiguration);
            EXPECT_GT(run.network.reconfiguration->control_epochs, 0U);
            // An even all-to-all finds every wiring worth as much, but where pairs have to wait.
            if (std::string_view(options).find("false") != std::string_view::npos) {
                EXPECT_GT(run.network.reconfiguration->changes, 0U);
            }
            EXPECT_LE(run.network.reconfiguration->changes, run.network.reconfiguration->control_epochs);
            EXPECT_LE(run.network.reconfiguration->dark, run.execution.total);
            const auto moves = summary_json(experiment, run).at("network").at("reconfiguration");
            EXPECT_EQ(moves.at("changes"), run.network.reconfiguration->changes);
            EXPECT_EQ(run_experiment(experiment, {}).fingerprint, run.fingerprint);
        }
    }
}

TEST_F(JobNetworkTest, CircuitsThatAreGivenMoveToo) {
    const Result<Experiment> read = load_small(
        components_, {"cluster.ranks=16", "workload.model.tables.count=16",
                      "network={kind: direct_connect, hosts: 16, rings: [1, 5], medium: circuit_switch, "
                      "link: {rate: 1Gbps}, reconfiguration: {every: 5us, delay: 1us, forwarding: false}}"});
    ASSERT_TRUE(read) << render(read.error());
    const experiment::Run run = run_experiment(*read, {});
    ASSERT_TRUE(run.execution.finished) << run.execution.stall;
    EXPECT_GT(run.network.reconfiguration->changes, 0U);
}

TEST_F(JobNetworkTest, CircuitsThatDoNotMoveBeforeTheEndArePatched) {
    for (const char* mode : {"paper", "released"}) {
        const Experiment patched = loaded(fmt::format("degree: 4, mode: {}", mode), {"cluster.folding=off"});
        const Experiment moving =
            loaded(fmt::format("{}{{every: 100s}}, mode: {}", kMoving, mode), {"cluster.folding=off"});
        const experiment::Run expected = run_experiment(patched, {});
        const experiment::Run run = run_experiment(moving, {});
        EXPECT_EQ(run.execution.total, expected.execution.total);
        EXPECT_EQ(run.fingerprint, expected.fingerprint);
        EXPECT_EQ(run.network.reconfiguration->control_epochs, 0U);
        EXPECT_FALSE(summary_json(patched, expected).at("network").contains("reconfiguration"));
    }
}

TEST_F(JobNetworkTest, MovingCircuitsAreRefusedWhereNothingMovesThem) {
    const auto error = [&](const char* options, std::vector<std::string> overrides = {}) {
        return first_error(kMoving + options, std::move(overrides));
    };
    const auto has = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    for (const char* backend : {"packet", "tcp", "congestion_free"}) {
        has(error("{}", {fmt::format("backend={{kind: {}}}", backend)}), "use the fluid engine");
    }
    has(error("{}", {"backend={kind: fluid, window: 1MB}"}), "leave out all keys of fluid");
    has(error("{every: 0us}"), "every");
    has(error("{every: 5ms}"), "dark for 10ms, expected less than the 5ms");
    has(first_error("degree: 4, reconfiguration: {}"), "give medium: circuit_switch");
    has(error("{evry: 5ms}"), "did you mean");
}

TEST_F(JobNetworkTest, MovingCircuitsAreReported) {
    const nlohmann::ordered_json report = figures(loaded(kMoving + "{forwarding: false}"));
    EXPECT_GT(report.at("reconfiguration").at("pairs_without_route"), 0U);
    EXPECT_EQ(report.at("bandwidth_tax"), 1.0);
    EXPECT_EQ(report.at("reconfiguration").at("every_s"), 0.05);
    EXPECT_EQ(report.at("reconfiguration").at("delay_s"), 0.01);
    EXPECT_FALSE(figures(loaded("degree: 4")).contains("reconfiguration"));
}

}  // namespace
}  // namespace astrolabe::experiment
