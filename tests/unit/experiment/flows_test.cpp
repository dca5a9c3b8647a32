// Workloads of flows, and flows beside a job, from the file to the result.
#include "small_experiment.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/records/recorder.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/workload/flows/flows.hpp>

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
    const experiment::Run run = this->run(
        "flows: [{source: 0, destination: 1, bytes: 1MB}, {source: 2, destination: 3, bytes: 1MB, "
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
    const experiment::Run run = this->run(
        "flows: [{source: 0, destination: 2, bytes: 1MB}, {source: 1, destination: 2, bytes: 1MB}]");
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
    EXPECT_EQ(run_file("list.cm",
                       "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1000000\n"
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
    EXPECT_TRUE(names(error, "c.cm:2:1")) << error;
    EXPECT_TRUE(names(error, "says Connections 2, there are 1")) << error;
    error = file_error("m.cm", "# of one host\nConnections 1\n0->1 id 1 start 0 size 10\n");
    EXPECT_TRUE(names(error, "m.cm:1:1") && names(error, "'Nodes' is missing")) << error;
    // Two flows that start one another never do.
    error = file_error("d.cm",
                       "Nodes 4\nConnections 2\nTriggers 2\n"
                       "0->1 id 1 trigger 2 size 10 send_done_trigger 1\n"
                       "1->2 id 2 trigger 1 size 10 send_done_trigger 2\n"
                       "trigger id 1 oneshot\ntrigger id 2 oneshot\n");
    EXPECT_TRUE(names(error, "d.cm")) << error;
    error = file_error("e.csv", "source,destination,bytes,start\n0,1,5,0s \xFF\n");
    EXPECT_TRUE(names(error, "e.csv:2:10")) << error;
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
    const double mean =
        static_cast<double>(run.flows->started_bytes.count()) / static_cast<double>(run.flows->started);
    EXPECT_NEAR(mean, 5'000, 100);
}

TEST_F(FlowsTest, WhatIsUnfinishedAtTheLimitIsNamed) {
    const experiment::Run run = this->run(
        "flows: [{source: 0, destination: 1, bytes: 1MB}, {source: 2, destination: 3, bytes: "
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

TEST_F(FlowsTest, PublishedSizesHaveTheirMeans) {
    using workload::PublishedSizes;
    // Σ s (p - p before): 180 · 0.085 + 250 · 0.055 + 560 · 0.19 + 900 · 0.14 + 1,100 · 0.08 + 1,870 · 0.1 +
    // 3,160 · 0.05 + 10,000 · 0.1 = 1,694.45 of 80 % of the flows, 100,001 · 0.074 + 400,000 · 0.026 +
    // 1,850,000 · 0.05 + 10,000,000 · 0.02 = 310,300.074 of 17 %, and 7,550,000 of the largest 3 %.
    const workload::SizeDistribution sizes = workload::published_sizes(PublishedSizes::kDataMining);
    EXPECT_NEAR(sizes.mean_below(Bytes(10'001)), 1'694.45, 1e-6);
    EXPECT_NEAR(sizes.mean_below(Bytes(15'000'000)), 1'694.45 + 310'300.074, 1e-3);
    EXPECT_NEAR(sizes.mean(), 1'694.45 + 310'300.074 + 7'550'000, 1e-3);
    EXPECT_DOUBLE_EQ(sizes.share_below(Bytes(15'000'000)), 0.97);
    EXPECT_DOUBLE_EQ(sizes.share_below(Bytes(100)), 0);
    EXPECT_EQ(workload::published_sizes(PublishedSizes::kWebSearch).largest(), Bytes(28'589'215));
    EXPECT_EQ(workload::published_sizes(PublishedSizes::kHadoop).largest(), Bytes(223'092'956));
}

TEST_F(FlowsTest, SizesThatDoNotEndAtOneAreRefusedAtTheirLine) {
    for (const auto& [text, line, message] :
         {std::tuple{"bytes,probability\n1000,0\n2000,0.5\n", 3, "the probabilities end at 0.5, not at 1"},
          std::tuple{"0,0.5\n2000,1\n", 2, "flows of no bytes"},
          std::tuple{"# none\n", 0, "no size is in it"}}) {
        const auto sizes = workload::SizeDistribution::read(text, "sizes.csv");
        ASSERT_FALSE(sizes) << text;
        EXPECT_EQ(sizes.error().front().where.line, line) << text;
        EXPECT_NE(sizes.error().front().message.find(message), std::string::npos);
    }
}

TEST_F(FlowsTest, WhatIsBelowASizeIsSentAsIfTheRestWere) {
    const std::string drawn = "pattern: uniform, load: 0.2, duration: 20ms, size_classes: [15MB], ";
    // Of the same flows those below 15 MB: all of the first class, one by one at the same times.
    const experiment::Run all = run(drawn + "time_limit: 20s, sizes: {distribution: web_search}");
    const experiment::Run small = run(drawn + "sizes: {distribution: web_search, below: 15MB}");
    EXPECT_GT(all.flows->started, small.flows->started);
    EXPECT_EQ(small.flows->started, all.flows->classes.front().flows);
    EXPECT_EQ(small.flows->started_bytes, all.flows->classes.front().bytes);
    // A flow has 1,876,739 bytes on average, so that 50 GB/s · 0.2 are 5,328 a second and 107 in 20 ms; 98.52
    // % are below. A Poisson count is within 5 standard deviations, 52.
    EXPECT_NEAR(static_cast<double>(small.flows->started), 0.9852 * 106.6, 52);
    const std::string none = error_of(drawn + "sizes: {distribution: web_search, below: 4KB}");
    EXPECT_NE(none.find("below"), std::string::npos) << none;
    const std::string two = error_of(drawn + "sizes: {distribution: web_search, fixed: 4KB}");
    EXPECT_NE(two.find("distribution"), std::string::npos) << two;
    const std::string misspelt = error_of(drawn + "sizes: {distribution: websearch}");
    EXPECT_NE(misspelt.find("web_search"), std::string::npos) << misspelt;
}

TEST_F(FlowsTest, FlowsNeedNoDevice) {
    const std::string flows = "flows: [{source: 0, destination: 1, bytes: 1MB}]";
    const experiment::Run without = run(flows, {"cluster={ranks: 4}"});
    EXPECT_EQ(without.fingerprint, run(flows).fingerprint);
    // What computes does, and so does a job beside flows.
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"background={" + flows + "}"}}) {
        std::vector<std::string> overrides{"workload={kind: collective, collective: all_reduce, size: 1MB}",
                                           "cluster={ranks: 4}"};
        overrides.insert(overrides.end(), more.begin(), more.end());
        const Result<Experiment> refused = load_small(components_, overrides);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().front().code, "config.missing-key");
        EXPECT_EQ(refused.error().front().message, "'cluster' needs 'device'");
    }
}

TEST_F(FlowsTest, AFlowOverSplitPathsIsNoFasterThanAlone) {
    // Shares of four shortest paths add up to 1 + 2^-52, and whole bits a second of that are one too few: the
    // ideal time is a picosecond too long, which is no defect. 1,100 bytes at 10 Gb/s and 4 · 500 ns.
    const experiment::Run run =
        this->run("flows: [{source: 602, destination: 555, bytes: 1100B}]",
                  {"cluster={ranks: 650}",
                   "network={kind: expander, racks: 130, uplinks: 7, hosts_per_rack: 5, "
                   "link: {rate: 10Gbps, latency: 0}, uplink: {latency: 500ns}, draws: 10, seed: 1, "
                   "load_balancing: spray}"});
    EXPECT_EQ(run.execution.total, Time(2'880'000));
    EXPECT_DOUBLE_EQ(run.flows->all.slowdown.max, 1);
}

TEST_F(FlowsTest, WhatALimitCutsOffIsInTheRecordOfLinksAsFarAsItCame) {
    // Of 2 MB at 12.5 GB/s 1.25 MB have left after 100 us, and are counted where they arrive, up to 101 us.
    const Result<Experiment> loaded = load(
        "flows: [{source: 0, destination: 1, bytes: 1MB}, {source: 2, destination: 3, bytes: 2MB}], "
        "time_limit: 100us");
    ASSERT_TRUE(loaded) << render(loaded.error());
    OutputFolder folder = *OutputFolder::open(folder_.path() / "out");
    RecorderOptions options;
    options.throughput = "20us";
    Result<std::unique_ptr<Recorder>> recorder = Recorder::open(options, *loaded, &folder);
    ASSERT_TRUE(recorder) << render(recorder.error());
    const experiment::Run run = run_experiment(*loaded, {}, (*recorder)->observers());
    ASSERT_TRUE((*recorder)->finish(run).empty());
    std::istringstream table(testing::read_file((folder_.path() / "out" / "throughput.csv").string()));
    std::string line;
    std::getline(table, line);
    EXPECT_EQ(line, "from_s,to_s,payload_bytes,wire_bytes,share,delivered_bytes,completed_bytes");
    std::int64_t delivered = 0;
    std::int64_t completed = 0;
    while (std::getline(table, line)) {
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');) {
            cells.push_back(cell);
        }
        delivered += std::stoll(cells.at(5));
        completed += std::stoll(cells.at(6));
    }
    EXPECT_NEAR(static_cast<double>(delivered), 1e6 + 1.25e6, 2);
    EXPECT_EQ(completed, 1'000'000);
}

TEST_F(FlowsTest, ResolvedFilesRepeatTheRun) {
    const Result<Experiment> loaded =
        load("pattern: uniform, sizes: {fixed: 10KB}, load: 0.2, duration: 1ms");
    ASSERT_TRUE(loaded) << render(loaded.error());
    const auto again = folder_.write("resolved.yaml", to_yaml(loaded->resolved));
    const Result<Experiment> resolved = load_experiment(again, {}, components_);
    ASSERT_TRUE(resolved) << render(resolved.error());
    EXPECT_EQ(run_experiment(*resolved, {}).fingerprint, run_experiment(*loaded, {}).fingerprint);
}

}  // namespace
}  // namespace astrolabe::experiment
