/// The study of jobs that share a cluster: what is recorded is what small points give and what its page says.
#include "recorded_study.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/results/jobs_results.hpp>
#include <astrolabe/experiment/run/jobs_run.hpp>

namespace astrolabe::testing {
namespace {

TEST(SharedCluster, SmallPointsGiveWhatIsRecorded) {
    const RecordedStudy recorded("shared-cluster/study");
    const experiment::Components components = experiment::builtin_components();
    const Result<study::Study> study = study::load_study(recorded.path(), {});
    ASSERT_TRUE(study) << render(study.error());
    ASSERT_EQ(study->points.size(), recorded.rows().size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < study->points.size(); ++i) {
        const study::StudyPoint& point = study->points[i];
        const Json& row = recorded.rows()[i];
        ASSERT_EQ(point.parameters, row["parameters"]);
        if (point.parameters["jobs.load"] != 0.2 || point.parameters["network"] == "opera") {
            continue;
        }
        const auto loaded = study::experiment_of(*study, point, components);
        ASSERT_TRUE(loaded) << render(loaded.error());
        const Json summary = experiment::jobs_summary_json(*loaded, experiment::run_jobs(*loaded, {}));
        for (const auto& [key, value] : row.items()) {
            if (key != "parameters") {
                EXPECT_EQ(summary[key], value) << key << " of " << point.parameters.dump();
            }
        }
        ++count;
    }
    EXPECT_GE(count, 3U);
}

// A row of the table for every network, with p50 and p99 at every load.
TEST(SharedCluster, ThePageHasTheRecordedTimes) {
    const RecordedStudy recorded("shared-cluster/study");
    const std::string page = read_file(recorded.path().parent_path() / "README.md");
    for (const Json& row : recorded.rows()) {
        const std::string cell =
            fmt::format("{:.0f} / {:.0f} |", row["p50_iteration_time_s"].get<double>() * 1e3,
                        row["p99_iteration_time_s"].get<double>() * 1e3);
        EXPECT_NE(page.find(cell), std::string::npos) << cell << " of " << row["parameters"].dump();
    }
}

}  // namespace
}  // namespace astrolabe::testing
