/// The section `scaled`: what it changes, in closed forms, and what it refuses.
#include "small_experiment.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/network_description.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::experiment {
namespace {

using testing::load_small;

class ScaledTest : public ::testing::Test {
protected:
    /// One ring all-reduce of 4 MB over 4 ranks on one switch: 6 steps of 1 MB, each 80 us at 100 Gb/s and
    /// two cables of 500 ns.
    experiment::Run ring(std::vector<std::string> overrides = {}) {
        overrides.insert(overrides.begin(), "workload={kind: collective, collective: all_reduce, size: 4MB}");
        Result<Experiment> loaded = load_small(components_, std::move(overrides));
        EXPECT_TRUE(loaded) << render(loaded.error());
        return loaded ? run_experiment(*loaded, {}) : experiment::Run{};
    }
    Time ring_time(std::vector<std::string> overrides = {}) {
        return ring(std::move(overrides)).execution.total;
    }
    Time compute_time(std::vector<std::string> overrides) {
        const Result<Experiment> loaded = load_small(components_, std::move(overrides));
        EXPECT_TRUE(loaded) << render(loaded.error());
        const experiment::Run run = run_experiment(*loaded, {});
        return run.execution.ranks.front().compute;
    }
    Diagnostic first_error(const std::vector<std::string>& overrides) {
        const Result<Experiment> result = load_small(components_, overrides);
        return result ? Diagnostic{} : result.error().front();
    }
    static void expect_near(Time measured, Time expected) {
        // The fluid engine may end a message early by 2^-36 of its duration.
        EXPECT_NEAR(static_cast<double>(measured.count()), static_cast<double>(expected.count()), 10.0);
    }
    Components components_ = builtin_components();
};

TEST_F(ScaledTest, ARingOnOneSwitchHalvesButForItsLatency) {
    expect_near(ring_time(), 6 * (80_us + 1_us));
    expect_near(ring_time({"scaled.links.host-switch=2"}), 6 * (40_us + 1_us));
    expect_near(ring_time({"scaled.links.host-switch=0.5"}), 6 * (160_us + 1_us));
    expect_near(ring_time({"scaled.latency=0"}), 6 * 80_us);
    expect_near(ring_time({"scaled.latency=3"}), 6 * (80_us + 3_us));
    // 1 MB at 1 Pb/s takes 8 ns.
    expect_near(ring_time({"scaled.links.host-switch=inf"}), 6 * (8_ns + 1_us));
}

TEST_F(ScaledTest, DescribedNetworksAreScaledToo) {
    const testing::TemporaryFolder folder;
    const auto rate = [&](const std::string& scaled) {
        const auto file = folder.write("described.yaml", testing::kSmallExperiment + scaled);
        const Result<DescribedNetwork> described = load_network(file.string(), components_);
        EXPECT_TRUE(described) << render(described.error());
        return described ? described->fabric->link(network::LinkId(0)).rate : Bandwidth(0);
    };
    EXPECT_EQ(rate(""), 100_Gbps);
    EXPECT_EQ(rate("scaled: {links: {host-switch: 2}}\n"), 200_Gbps);
}

TEST_F(ScaledTest, ALinkTwiceAsFastIsTheSameWhoeverSaysSo) {
    EXPECT_EQ(ring({"scaled.links.host-switch=2"}).fingerprint,
              ring({"network.link.rate=200Gbps"}).fingerprint);
    EXPECT_EQ(ring({"scaled.latency=2"}).fingerprint, ring({"network.link.latency=1us"}).fingerprint);
    EXPECT_EQ(ring({"scaled={}"}).fingerprint, ring().fingerprint);
    EXPECT_NE(ring({"scaled.latency=2"}).fingerprint, ring().fingerprint);
}

TEST_F(ScaledTest, EveryEngineRunsTheScaledNetwork) {
    std::vector<std::string> backends{"congestion_free"};
#ifdef ASTROLABE_WITH_NS3
    backends.insert(backends.end(), {"packet", "tcp"});
#endif
    for (const std::string& name : backends) {
        const std::string backend = "backend.kind=" + name;
        EXPECT_EQ(ring({backend, "scaled.links.host-switch=2", "scaled.latency=0.5"}).fingerprint,
                  ring({backend, "network.link={rate: 200Gbps, latency: 250ns}"}).fingerprint)
            << name;
    }
}

TEST_F(ScaledTest, ComputationTakesItsShareOfTheTime) {
    const Time before = compute_time({});
    ASSERT_GT(before, Time(0));
    // Every computation is rounded to a picosecond.
    EXPECT_NEAR(static_cast<double>(compute_time({"scaled.compute=2"}).count()),
                static_cast<double>(before.count()) / 2, 100.0);
    EXPECT_EQ(compute_time({"scaled.compute=inf"}), Time(0));
}

TEST_F(ScaledTest, EndPointsTakeTheirShareOfTheTime) {
    // Each of 6 messages is copied in for 10 us; 3 are added up: 1 MB, three times over memory, at 3 GB/s.
    const std::vector<std::string> given{"cluster.injection_latency=10us",
                                         "cluster.end_point.reduction_bandwidth=3GB/s"};
    const auto with = [&](const std::string& factor) {
        std::vector<std::string> all = given;
        all.push_back("scaled.end_points=" + factor);
        return ring_time(all);
    };
    const Time free = ring_time();
    const Time costs = with("1") - free;
    EXPECT_GT(costs, 60_us);
    expect_near(with("2") - free, Time(costs.count() / 2));
    expect_near(with("inf"), free);
}

TEST_F(ScaledTest, IsInTheResolvedExperimentAndNowhereElse) {
    const Result<Experiment> plain = load_small(components_);
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->resolved.find("scaled"), nullptr);
    const Result<Experiment> scaled =
        load_small(components_, {"scaled={links: {host-switch: inf}, latency: 0}"});
    ASSERT_TRUE(scaled) << render(scaled.error());
    EXPECT_EQ(scaled->resolved.find_path("scaled.links.host-switch")->text, "inf");
    EXPECT_EQ(scaled->resolved.find_path("scaled.latency")->text, "0");
    EXPECT_EQ(scaled->resolved.find_path("network.link.rate")->text, "100Gbps");
    const Result<Experiment> again =
        read_experiment(scaled->resolved, {}, "again", std::nullopt, components_);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(again->fabric->link(network::LinkId(0)).rate, scaled->fabric->link(network::LinkId(0)).rate);
}

TEST_F(ScaledTest, CircuitsOfRotorsAreDownForLess) {
    const std::string opera = "network={kind: opera, racks: 4, uplinks: 4, hosts_per_rack: 1}";
    const Result<Experiment> loaded = load_small(components_, {opera, "scaled.reconfiguration=0.1"});
    ASSERT_TRUE(loaded) << render(loaded.error());
    // Four superslices a cycle, each dark for 1 us instead of 10 us.
    const Result<Experiment> plain = load_small(components_, {opera});
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->fabric->circuits().period() - loaded->fabric->circuits().period(), 4 * 9_us);
    ASSERT_NE(loaded->cluster.options.circuit_windows, nullptr);
    EXPECT_EQ(loaded->cluster.options.circuit_windows->period(), loaded->fabric->circuits().period());
}

TEST_F(ScaledTest, ANetworkFoundForTheJobKeepsItsTopology) {
    const std::string network = "network={kind: topoopt, degree: 2}";
    const Result<Experiment> plain = load_small(components_, {network});
    const Result<Experiment> scaled = load_small(components_, {network, "scaled.links.host-host=3"});
    ASSERT_TRUE(plain) << render(plain.error());
    ASSERT_TRUE(scaled) << render(scaled.error());
    ASSERT_EQ(scaled->fabric->link_count(), plain->fabric->link_count());
    for (network::LinkId link; link.index() < plain->fabric->link_count(); ++link) {
        EXPECT_EQ(scaled->fabric->target(link), plain->fabric->target(link));
        EXPECT_EQ(scaled->fabric->link(link).rate, 3 * plain->fabric->link(link).rate);
    }
}

TEST_F(ScaledTest, WhatTheExperimentDoesNotHaveIsRefusedAtItsKey) {
    const Diagnostic unknown = first_error({"scaled.links.host-leaf=2"});
    EXPECT_EQ(unknown.code, "config.inconsistent");
    EXPECT_NE(unknown.message.find("it has host-switch"), std::string::npos) << unknown.message;
    EXPECT_EQ(unknown.where.source->name, "--set");
    EXPECT_NE(first_error({"scaled.reconfiguration=0.1"}).message.find("no circuits that go down"),
              std::string::npos);
    EXPECT_EQ(first_error({"scaled.links.host-switch=0"}).code, "config.range");
    EXPECT_EQ(first_error({"scaled.compute=0"}).code, "config.range");
    EXPECT_EQ(first_error({"scaled.latency=inf"}).code, "config.value");
    EXPECT_EQ(first_error({"scaled.latency=-1"}).code, "config.range");
    EXPECT_EQ(first_error({"scaled.compute=fast"}).code, "config.value");
    EXPECT_EQ(first_error({"scaled.links=2"}).code, "config.type");
    EXPECT_EQ(first_error({"scaled.computes=2"}).code, "config.unknown-key");
}

}  // namespace
}  // namespace astrolabe::experiment
