#include "process.hpp"
#include "small_experiment.hpp"

#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/records/flow_table.hpp>
#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::experiment {
namespace {

class ResultsTest : public ::testing::Test {
protected:
    Components components_ = builtin_components();
    Experiment experiment_ = *testing::load_small(components_);
};

TEST_F(ResultsTest, IterationTimesSumToTheTotal) {
    const auto run = run_experiment(experiment_, {});
    ASSERT_TRUE(run.execution.finished);
    ASSERT_EQ(run.iteration_times.size(), 2u);
    EXPECT_EQ(run.iteration_times[0] + run.iteration_times[1], run.execution.total);
}

TEST_F(ResultsTest, AccountsOfSeveralStreamsAreNamed) {
    EXPECT_FALSE(summary_json(experiment_, run_experiment(experiment_, {})).contains("streams"));
    testing::compute_weight_gradients_aside(experiment_);
    const auto run = run_experiment(experiment_, {});
    const auto summary = summary_json(experiment_, run);
    ASSERT_EQ(summary.at("streams").size(), 2u);
    for (const char* name : {"compute", "side"}) {
        const auto& stream = summary.at("streams").at(name);
        double sum = stream.at("compute_s").get<double>() + stream.at("drain_s").get<double>();
        for (const auto& [cause, seconds] : stream.at("exposed_s").items()) {
            sum += seconds.get<double>();
        }
        EXPECT_NEAR(sum, to_seconds(run.execution.total), 1e-15) << name;
    }
    EXPECT_EQ(summary.at("streams").at("compute").at("compute_s"), summary.at("compute_s"));
    EXPECT_NE(text_summary(experiment_, run).find("\n  side         "), std::string::npos);
    const std::string operations = operations_csv(experiment_, run);
    EXPECT_NE(operations.find("Top_0.weight_gradient,Top_0,side,"), std::string::npos) << operations;
}

TEST_F(ResultsTest, TheFingerprintFollowsTheTrajectoryAndNothingElse) {
    const std::string print = run_experiment(experiment_, {}).fingerprint;
    EXPECT_EQ(run_experiment(experiment_, {}).fingerprint, print);
    Experiment renamed = experiment_;
    renamed.name = "other";
    EXPECT_EQ(run_experiment(renamed, {}).fingerprint, print);
    const Experiment slower = *testing::load_small(components_, {"network.link.latency=501ns"});
    EXPECT_NE(run_experiment(slower, {}).fingerprint, print);
}

TEST_F(ResultsTest, OperationsHaveOneRowEachWithEveryColumn) {
    const auto run = run_experiment(experiment_, {});
    std::istringstream lines(operations_csv(experiment_, run));
    std::string line;
    std::getline(lines, line);
    const auto columns = std::count(line.begin(), line.end(), ',');
    std::size_t rows = 0;
    while (std::getline(lines, line)) {
        ++rows;
        EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns) << line;
    }
    EXPECT_EQ(rows, experiment_.program.operations.size());
}

TEST_F(ResultsTest, TrafficByKindIsWhatTheNetworkDelivered) {
    const auto run = run_experiment(experiment_, {});
    Bytes sum;
    for (const Bytes bytes : run.traffic) {
        sum += bytes;
    }
    EXPECT_EQ(sum, run.network.bytes_delivered);
    // Weights 16·32 + 32·8 + 18·32 + 32·1 = 1376 of 2 B (dot of 5 vectors: 10 pairs + 8 dense = 18 inputs to
    // Top_0), ring all-reduce 2(N-1)S over 2 iterations: 2 · 6 · 2752 = 33 024 B.
    EXPECT_EQ(run.traffic[0], Bytes(33'024));
    // 16 samples · 4 tables · 8 · 2 B = 1024 B a rank, 3/4 of it leaves, both ways, 4 ranks, 2 iterations: 12
    // 288 B.
    EXPECT_EQ(run.traffic[3], Bytes(12'288));
}

TEST(OutputFolderTest, FilesAreReplacedWhole) {
    const testing::TemporaryFolder folder;
    const Result<OutputFolder> out = OutputFolder::open(folder.path() / "a" / "b");
    ASSERT_TRUE(out);
    EXPECT_FALSE(out->write("x", "first"));
    EXPECT_FALSE(out->write("x", "second, longer"));
    EXPECT_EQ(testing::read_file(folder.path() / "a" / "b" / "x"), "second, longer");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() / "a" / "b"), {}), 1);
}

TEST(OutputFolderTest, WhatAKilledProcessOfTheSameNumberLeftIsReplaced) {
    const testing::TemporaryFolder folder;
    const Result<OutputFolder> out = OutputFolder::open(folder.path());
    ASSERT_TRUE(out);
    folder.write(fmt::format(".x-{}", ::getpid()), "half");
    EXPECT_FALSE(out->write("x", "whole"));
    EXPECT_EQ(testing::read_file(folder.path() / "x"), "whole");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(OutputFolderTest, AFolderThatCannotBeMadeSaysWhy) {
    const testing::TemporaryFolder folder;
    folder.write("file", "");
    const Result<OutputFolder> out = OutputFolder::open(folder.path() / "file" / "x");
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().front().code, "output.write");
    EXPECT_FALSE(out.error().front().hint.empty());
}

/// Fields of the rows of a table, without the heading; no field of these tables is quoted.
std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line);
    std::vector<std::vector<std::string>> rows;
    while (std::getline(lines, line)) {
        std::istringstream fields(line);
        rows.emplace_back();
        for (std::string field; std::getline(fields, field, ',');) {
            rows.back().push_back(field);
        }
    }
    return rows;
}

TEST_F(ResultsTest, LinksHaveOneRowEachAndTheBusiestIsThatOfTheSummary) {
    const auto run = run_experiment(experiment_, {});
    const auto rows = rows_of(links_csv(experiment_, run));
    ASSERT_EQ(rows.size(), experiment_.fabric->link_count());
    double busiest = 0;
    std::int64_t bytes = 0;
    for (const auto& row : rows) {
        ASSERT_EQ(row.size(), 14u);
        busiest = std::max(busiest, std::stod(row[6]));
        bytes += std::stoll(row[5]);
    }
    EXPECT_EQ(busiest, run.utilization.max);
    EXPECT_EQ(rows[0][1], "host 0");
    EXPECT_EQ(rows[0][2], "switch");
    // Every byte crosses two links.
    EXPECT_EQ(Bytes(bytes), run.network.bytes_delivered * 2);
}

TEST_F(ResultsTest, FlowsHaveOneRowForEveryMessageAndNoneBeatsItsIdeal) {
    const testing::TemporaryFolder folder;
    Result<OutputFile> file = OutputFile::create(folder.path() / "flows.csv");
    ASSERT_TRUE(file);
    FlowTable flows(experiment_, *std::move(file));
    const auto run = run_experiment(experiment_, {}, {.messages = &flows});
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "flows.csv")) << "it is not whole yet";
    ASSERT_FALSE(flows.finish());
    EXPECT_EQ(run.fingerprint, run_experiment(experiment_, {}).fingerprint) << "observing changes nothing";
    const auto rows = rows_of(testing::read_file(folder.path() / "flows.csv"));
    EXPECT_EQ(rows.size(), run.network.messages);
    EXPECT_EQ(flows.times().count(), run.network.messages);
    std::int64_t bytes = 0;
    double last = 0;
    for (const auto& row : rows) {
        ASSERT_EQ(row.size(), 11u);
        bytes += std::stoll(row[2]);
        EXPECT_GE(std::stod(row[7]), last) << "in order of delivery";
        last = std::stod(row[7]);
        EXPECT_NEAR(std::stod(row[7]) - std::stod(row[6]), std::stod(row[8]), 1e-15);
        // Six digits; the fluid engine may end a message early by 2^-36 of its duration.
        EXPECT_GE(std::stod(row[10]), 1.0 - 1e-6);
    }
    EXPECT_EQ(Bytes(bytes), run.network.bytes_delivered);
}

TEST_F(ResultsTest, TheIdealTimeIsLatencyAndTheBytesAtTheSlowestLink) {
    // 4 hosts, two per leaf, one spine: 50 Gb/s inside, 100 Gb/s at the hosts; 4 links of 500 ns.
    const Experiment thin = *testing::load_small(
        components_,
        {"network={kind: leaf_spine, hosts: 4, hosts_per_leaf: 2, spines: 1, link: {rate: 100Gbps, "
         "latency: 500ns}, oversubscription: 4}"});
    const testing::TemporaryFolder folder;
    FlowTable flows(thin, *OutputFile::create(folder.path() / "flows.csv"));
    const auto pass = [&](int source, int destination) {
        flows.message({network::HostId(source), network::HostId(destination), Bytes(1000), Time(0),
                       Time(10'000'000), 0, 0});
    };
    pass(0, 1);
    pass(0, 3);
    ASSERT_FALSE(flows.finish());
    const auto rows = rows_of(testing::read_file(folder.path() / "flows.csv"));
    // In the leaf: 2·500 ns + 8000 b/100 Gb/s = 1.08 us; 10 us are 9.259 26 times that.
    EXPECT_EQ(rows[0][9], "0.000001080000");
    EXPECT_EQ(rows[0][10], "9.25926");
    // Across: 4·500 ns + 8000 b/(2·100/4 Gb/s) = 2.16 us.
    EXPECT_EQ(rows[1][9], "0.000002160000");
}

}  // namespace
}  // namespace astrolabe::experiment
