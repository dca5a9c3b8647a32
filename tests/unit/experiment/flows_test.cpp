// Workloads of flows, and flows beside a job, from the file to the result.
#include "small_experiment.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

using testing::load_small;
using testing::TemporaryFolder;

/// Four hosts on one switch: 100 Gb/s and 500 ns a cable. A byte takes 80 ps, a path 1 us.
class FlowsTest : public ::testing::Test {
protected:
    Result<Experiment> load(const std::string& flows, const std::vector<std::string>& more = {}) {
        std::vector<std::string> overrides{"workload={kind: flows, " + flows + "}"};
        overrides.insert(overrides.end(), more.begin(), more.end());
        return load_small(components_, overrides);
    }
    experiment::Run run(const std::string& flows, const std::vector<std::string>& more = {}) {
        const Result<Experiment> loaded = load(flows, more);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return run_experiment(*loaded, {});
    }
    std::string error_of(const std::string& flows, const std::vector<std::string>& more = {}) {
        const Result<Experiment> loaded = load(flows, more);
        return loaded ? "" : render(loaded.error());
    }
    /// Of a list that is a file with this text.
    std::string file_error(const std::string& name, const std::string& text) {
        return error_of("file: " + folder_.write(name, text).string());
    }
    experiment::Run run_file(const std::string& name, const std::string& text,
                             const std::vector<std::string>& more = {}) {
        return run("file: " + folder_.write(name, text).string(), more);
    }

    TemporaryFolder folder_;
    Components components_ = builtin_components();
};

TEST_F(FlowsTest, AFlowAloneTakesItsIdealTime) {
    const experiment::Run run =
        this->run("flows: [{source: 0, destination: 1, bytes: 1MB}, {source: 2, destination: 3, bytes: 1MB, "
                  "start: 7us}]");
    ASSERT_TRUE(run.execution.finished);
    ASSERT_TRUE(run.flows);
    // 1,000,000 · 80 ps + 1 us = 81 us each; the second ends at 88 us.
    EXPECT_EQ(run.execution.total, Time(88'000'000));
    EXPECT_EQ(run.flows->delivered, 2U);
    EXPECT_EQ(run.flows->delivered_bytes, Bytes(2'000'000));
    EXPECT_DOUBLE_EQ(run.flows->all.seconds.max, 81e-6);
    EXPECT_DOUBLE_EQ(run.flows->all.slowdown.max, 1.0);
}

TEST_F(FlowsTest, TwoIntoOneHostTakeTwiceAsLong) {
    const experiment::Run run =
        this->run("flows: [{source: 0, destination: 2, bytes: 1MB}, {source: 1, destination: 2, bytes: 1MB}]");
    // Each has half of the link into host 2: 160 us + 1 us. 161 / 81 = 1.98765….
    EXPECT_EQ(run.execution.total, Time(161'000'000));
    EXPECT_NEAR(run.flows->all.slowdown.mean.value, 161.0 / 81, 1e-9);
}

TEST_F(FlowsTest, ListsOfFilesSayTheSame) {
    const std::string yaml =
        "flows: [{source: 0, destination: 1, bytes: 1MB}, {source: 1, destination: 2, bytes: 64KiB, "
        "start: 1us}]";
    const std::string expected = run(yaml).flows->fingerprint;
    EXPECT_EQ(run_file("list.csv", "source,destination,bytes,start\n0,1,1000000,0s\n1,2,65536,1us\n")
                  .flows->fingerprint,
              expected);
    EXPECT_EQ(run_file("list.htsim", "0 1 1000000 0\n1 2 65536 1000\n").flows->fingerprint, expected);
    EXPECT_EQ(run_file("list.cm", "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1000000\n"
                                  "1->2 id 2 start 1000000 size 65536\n")
                  .flows->fingerprint,
              expected);
}

TEST_F(FlowsTest, TriggersStartWhatWaitsForThem) {
    const std::string head = "Nodes 4\nConnections 3\nTriggers 1\n";
    const std::string flows =
        "0->1 id 1 start 0 size 1000000 send_done_trigger 1\n2->3 id 2 start 0 size 500000 "
        "send_done_trigger 1\n1->0 id 3 trigger 1 size 1000000\n";
    // The barrier opens with the second of two flows, after 81 us; then the third takes 81 us.
    const experiment::Run barrier = run_file("b.cm", head + flows + "trigger id 1 barrier count 2\n");
    EXPECT_EQ(barrier.execution.total, Time(162'000'000));
    EXPECT_EQ(barrier.flows->delivered, 3U);
    // One shot opens with the first: 500,000 · 80 ps + 1 us = 41 us, and 122 us in all.
    const experiment::Run first = run_file("o.cm", head + flows + "trigger id 1 oneshot\n");
    EXPECT_EQ(first.execution.total, Time(122'000'000));
}

TEST_F(FlowsTest, BrokenListsAreRefusedAtTheirLine) {
    const auto names = [](const std::string& error, const std::string& part) {
        return error.find(part) != std::string::npos;
    };
    std::string error = file_error("a.csv", "source,destination,bytes,start\n0,1,-5,0s\n");
    EXPECT_TRUE(names(error, "a.csv:2")) << error;
    error = file_error("b.htsim", "0 1 100 0\n0 9 100 0\n");
    EXPECT_TRUE(names(error, "9")) << error;
    error = file_error("c.cm", "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 10\n");
    EXPECT_TRUE(names(error, "c.cm")) << error;
    // Two flows that start one another never do.
    error = file_error("d.cm", "Nodes 4\nConnections 2\nTriggers 2\n"
                               "0->1 id 1 trigger 2 size 10 send_done_trigger 1\n"
                               "1->2 id 2 trigger 1 size 10 send_done_trigger 2\n"
                               "trigger id 1 oneshot\ntrigger id 2 oneshot\n");
    EXPECT_TRUE(names(error, "d.cm")) << error;
    error = error_of("flows: [{source: 0, destination: 0, bytes: 10}]");
    EXPECT_FALSE(error.empty());
    error = error_of("flows: [{source: 0, destination: 7, bytes: 10}]");
    EXPECT_TRUE(names(error, "7")) << error;
    error = error_of("file: " + (folder_.path() / "missing.csv").string());
    EXPECT_TRUE(names(error, "missing.csv")) << error;
    error = error_of("pattern: uniform, sizes: {fixed: 1MB}, load: 0.3");
    EXPECT_TRUE(names(error, "duration")) << error;
    error = error_of("patern: uniform");
    EXPECT_TRUE(names(error, "pattern")) << error;
}

TEST_F(FlowsTest, APermutationIsARoundOfEveryHost) {
    const experiment::Run run = this->run("pattern: permutation, sizes: {fixed: 1MB}");
    // Every host sends one flow and receives one: nothing shares a link.
    EXPECT_EQ(run.flows->delivered, 4U);
    EXPECT_EQ(run.execution.total, Time(81'000'000));
    EXPECT_DOUBLE_EQ(run.flows->all.slowdown.max, 1.0);
}

TEST_F(FlowsTest, AShuffleAndAnIncastFillTheirLinks) {
    // Each of 4 hosts receives 3 MB: 240 us + 1 us.
    EXPECT_EQ(run("pattern: shuffle, sizes: {fixed: 1MB}").execution.total, Time(241'000'000));
    EXPECT_EQ(run("pattern: incast, senders: 3, sizes: {fixed: 1MB}").execution.total, Time(241'000'000));
}

TEST_F(FlowsTest, ArrivalsHaveTheLoadAndRepeatWithTheirSeed) {
    const std::string drawn = "pattern: uniform, sizes: {fixed: 10KB}, load: 0.2, duration: 20ms";
    const experiment::Run run = this->run(drawn);
    // 0.2 · 4 · 100 Gb/s / (8 · 10^4 B) = 10^6 a second, 20,000 in 20 ms; a Poisson count has the standard
    // deviation √20,000 = 141, of which 5 are allowed.
    EXPECT_NEAR(static_cast<double>(run.flows->started), 20'000, 5 * 141.5);
    EXPECT_EQ(run.flows->delivered, run.flows->started);
    EXPECT_GE(run.flows->all.slowdown.percentiles.front().value, 1.0);
    EXPECT_EQ(this->run(drawn).fingerprint, run.fingerprint);
    EXPECT_NE(this->run(drawn + ", seed: 2").fingerprint, run.fingerprint);
}

TEST_F(FlowsTest, SizesFollowTheirDistribution) {
    const std::string file = folder_.write("sizes.csv", "999,0\n1000,0.5\n9000,1\n").string();
    const experiment::Run run =
        this->run("pattern: uniform, sizes: {file: " + file + "}, load: 0.2, duration: 20ms");
    // Half have 1,000 and half 9,000 bytes, 5,000 on average: 40,000 flows, each mean within 5 standard
    // errors of 4,000 / √40,000 = 20.
    const double mean = static_cast<double>(run.flows->started_bytes.count()) /
                        static_cast<double>(run.flows->started);
    EXPECT_NEAR(mean, 5'000, 100);
}

TEST_F(FlowsTest, WhatIsUnfinishedAtTheLimitIsNamed) {
    const experiment::Run run =
        this->run("flows: [{source: 0, destination: 1, bytes: 1MB}, {source: 2, destination: 3, bytes: "
                  "2MB}], time_limit: 100us");
    EXPECT_TRUE(run.flows->is_at_limit);
    EXPECT_EQ(run.flows->started, 2U);
    EXPECT_EQ(run.flows->delivered, 1U);
    ASSERT_EQ(run.flows->unfinished.size(), 1U);
}

TEST_F(FlowsTest, BackgroundOnItsLinkHalvesTheRateOfAJob) {
    // Two ranks send each other 1 MB: 81 us. Beside 10 MB from host 2 into host 1 the message into host 1 has
    // half of its link for as long as it lasts: 160 us + 1 us. The other way round nothing is shared.
    const auto job = [&](const std::vector<std::string>& more) {
        std::vector<std::string> overrides{"workload={kind: collective, collective: all_to_all, size: 2MB}",
                                           "cluster.ranks=2"};
        overrides.insert(overrides.end(), more.begin(), more.end());
        const Result<Experiment> loaded = load_small(components_, overrides);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return run_experiment(*loaded, {});
    };
    const experiment::Run alone = job({});
    const experiment::Run beside =
        job({"background={flows: [{source: 2, destination: 1, bytes: 10MB, start: 0s}]}"});
    ASSERT_TRUE(alone.execution.finished && beside.execution.finished);
    EXPECT_EQ(alone.execution.total, Time(81'000'000));
    EXPECT_EQ(beside.execution.total, Time(161'000'000));
    EXPECT_FALSE(alone.background);
    ASSERT_TRUE(beside.background);
    // It ends with the job, under way.
    EXPECT_EQ(beside.background->started, 1U);
    EXPECT_EQ(beside.background->delivered, 0U);
    EXPECT_EQ(beside.background->unfinished.size(), 1U);
}

TEST_F(FlowsTest, ResolvedFilesRepeatTheRun) {
    const Result<Experiment> loaded = load("pattern: uniform, sizes: {fixed: 10KB}, load: 0.2, duration: 1ms");
    ASSERT_TRUE(loaded) << render(loaded.error());
    const auto again = folder_.write("resolved.yaml", to_yaml(loaded->resolved));
    const Result<Experiment> resolved = load_experiment(again, {}, components_);
    ASSERT_TRUE(resolved) << render(resolved.error());
    EXPECT_EQ(run_experiment(*resolved, {}).fingerprint, run_experiment(*loaded, {}).fingerprint);
}

}  // namespace
}  // namespace astrolabe::experiment
