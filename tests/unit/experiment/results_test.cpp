#include "small_experiment.hpp"

#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/results.hpp>

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

TEST(OutputFolderTest, AFolderThatCannotBeMadeSaysWhy) {
    const testing::TemporaryFolder folder;
    folder.write("file", "");
    const Result<OutputFolder> out = OutputFolder::open(folder.path() / "file" / "x");
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().front().code, "output.write");
    EXPECT_FALSE(out.error().front().hint.empty());
}

}  // namespace
}  // namespace astrolabe::experiment
