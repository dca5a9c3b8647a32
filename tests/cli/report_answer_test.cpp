/// The answers of the studies of the examples against an independent count, from what is recorded of them:
/// nothing is simulated here.
#include "recorded_study.hpp"
#include "report_folder.hpp"

#include <astrolabe/core/config/config.hpp>

namespace astrolabe::testing {
namespace {

class ReportAnswer : public Report {
protected:
    /// A store with the recorded points, and the report of it.
    [[nodiscard]] std::string report_of(const std::string& file, bool with_prices) const {
        const RecordedStudy recorded(file);
        const Result<study::Study> study = study::load_study(recorded.path(), {});
        EXPECT_TRUE(study);
        study::StudyRecord record{study->name, {"iteration_time"}, {}};
        const std::string folder = out("store");
        Result<study::ResultStore> store = study::ResultStore::open(folder);
        EXPECT_TRUE(store);
        for (std::size_t i = 0; i < study->points.size(); ++i) {
            const auto& row = recorded.rows()[i];
            study::StoredResult result;
            result.key = "k" + std::to_string(i);
            result.status = study::PointStatus::kDone;
            result.fingerprint = row["fingerprint"];
            result.summary = {{"mean_iteration_time_s", row["mean_iteration_time_s"]},
                              {"hosts", 64},
                              {"backend_kind", "fluid"}};
            if (with_prices) {
                result.resolved = to_yaml(study::tree_of(*study, study->points[i]));
            }
            record.points.push_back({i + 1, study->points[i].parameters, result.key, {}, {}});
            EXPECT_FALSE(store->put(result));
        }
        EXPECT_FALSE(store->put(record));
        const ProcessResult drawn = report({folder});
        EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
        return folder + "/report";
    }
};

// Six models, three batches, three scales; the fat-tree with two algorithms, the others with one, and not all
// of them everywhere.
TEST_F(ReportAnswer, OfTheOperaStudyIsThatOfAnIndependentCount) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const std::string folder = report_of("opera-dlrm/study", false);
    const ProcessResult check = check_answer(folder);
    EXPECT_EQ(check.exit_code, 0) << check.err;
    const auto answer = Json::parse(read_file(folder + "/answer.json"));
    EXPECT_EQ(answer["contested"], "network");
    EXPECT_EQ(answer["choices"], (Json{"cluster.collectives.all_reduce"}));
    EXPECT_EQ(answer["circumstances"], (Json{"workload.model", "workload.batch", "cluster.ranks"}));
}

TEST_F(ReportAnswer, OfSevenNetworksIsThatOfAnIndependentCount) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const std::string folder = report_of("gpu-servers/study", true);
    const ProcessResult check = check_answer(folder);
    EXPECT_EQ(check.exit_code, 0) << check.err;
    const auto answer = Json::parse(read_file(folder + "/answer.json"));
    // Of the README's table: rails with and without full bisection tie, and a quarter of the spines is
    // cheaper; TopoOpt is the cheapest of all.
    const auto& setting = answer["verdicts"][0]["settings"][0];
    EXPECT_EQ(setting["certainty"], "tie");
    EXPECT_EQ(setting["as_good_for_less"], "rails_4");
    EXPECT_EQ(answer["verdicts"][1]["settings"][0]["contenders"][0]["name"], "topoopt");
    EXPECT_NEAR(answer["verdicts"][1]["at_most_usd_per_host"].get<double>(), 2303, 1);
}

}  // namespace
}  // namespace astrolabe::testing
