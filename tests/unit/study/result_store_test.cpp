/// The store of studies: result_store.hpp.
#include "process.hpp"
#include "stored_results.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

StudyRecord study_of(std::vector<std::string> keys) {
    StudyRecord study{"s", {"bars"}, {}};
    for (std::string& key : keys) {
        study.points.push_back(
            {study.points.size() + 1, {{"cluster.ranks", 4}}, std::move(key), 1.5, std::nullopt});
    }
    return study;
}

class ResultStoreTest : public ::testing::Test {
protected:
    [[nodiscard]] ResultStore open() {
        Result<ResultStore> store = ResultStore::open(folder_.path());
        EXPECT_TRUE(store) << render(store.error());
        return *std::move(store);
    }

    testing::TemporaryFolder folder_;
};

TEST_F(ResultStoreTest, GivesBackWhatWasPut) {
    ResultStore store = open();
    ASSERT_FALSE(store.put(study_of({"a", "b", "c"})));
    ASSERT_FALSE(store.put(done("a")));
    ASSERT_FALSE(store.put(failed("b", "it stalled")));
    const ResultStore reader = *ResultStore::open_to_read(folder_.path());
    EXPECT_EQ(reader.studies(), std::vector<std::string>{"s"});
    EXPECT_EQ(reader.report_of("s"), std::vector<std::string>{"bars"});
    const std::vector<StudyRow> rows = reader.rows("s");
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].point.number, 1u);
    EXPECT_EQ(rows[0].point.parameters["cluster.ranks"], 4);
    EXPECT_EQ(rows[0].point.predicted_wall_seconds, 1.5);
    EXPECT_EQ(rows[0].point.predicted_memory_bytes, std::nullopt);
    EXPECT_EQ(rows[0].result.status, PointStatus::kDone);
    EXPECT_EQ(rows[0].result.summary, done("a").summary);
    EXPECT_EQ(rows[0].result.fingerprint, "fa");
    EXPECT_EQ(rows[0].result.wall_seconds, 0.25);
    EXPECT_EQ(rows[0].result.peak_rss_bytes, 1'000'000u);
    EXPECT_EQ(rows[1].result.status, PointStatus::kFailed);
    EXPECT_EQ(rows[1].result.error, "it stalled");
    EXPECT_TRUE(rows[1].result.summary.is_null());
    EXPECT_EQ(rows[2].result.status, PointStatus::kMissing);
    EXPECT_EQ(reader.status("a"), PointStatus::kDone);
    EXPECT_EQ(reader.status("nothing"), PointStatus::kMissing);
    EXPECT_TRUE(reader.rows("another").empty());
}

TEST_F(ResultStoreTest, AResultTakesThePlaceOfAFailureOnly) {
    ResultStore store = open();
    ASSERT_FALSE(store.put(failed("a", "killed")));
    ASSERT_FALSE(store.put(failed("a", "killed again")));
    EXPECT_EQ(store.result("a")->error, "killed again");
    ASSERT_FALSE(store.put(done("a")));
    EXPECT_EQ(store.result("a")->error, "");
    ASSERT_FALSE(store.put(failed("a", "too late")));
    EXPECT_EQ(store.status("a"), PointStatus::kDone);
}

TEST_F(ResultStoreTest, AStudyThatShrankKeepsItsResults) {
    ResultStore store = open();
    ASSERT_FALSE(store.put(study_of({"a", "b", "c"})));
    ASSERT_FALSE(store.put(done("c")));
    StudyRecord shorter = study_of({"c"});
    shorter.points[0].predicted_wall_seconds.reset();
    ASSERT_FALSE(store.put(shorter));
    ASSERT_EQ(store.rows("s").size(), 1u);
    EXPECT_EQ(store.rows("s")[0].result.status, PointStatus::kDone);
    // The prediction was that of another experiment.
    EXPECT_EQ(store.rows("s")[0].point.predicted_wall_seconds, std::nullopt);
}

TEST_F(ResultStoreTest, RemembersWhatAnExperimentIs) {
    ResultStore store = open();
    const std::vector<std::pair<std::string, Resolution>> known{{"w", {"a", 2.0, 3e6}}, {"v", {"a", {}, {}}}};
    ASSERT_FALSE(store.remember(known));
    EXPECT_EQ(store.resolution("w")->key, "a");
    EXPECT_EQ(store.resolution("w")->predicted_memory_bytes, 3e6);
    EXPECT_EQ(store.resolution("v")->predicted_wall_seconds, std::nullopt);
    EXPECT_FALSE(store.resolution("u"));
}

TEST_F(ResultStoreTest, TakesNamesThatAreNoNamesAndBytesThatAreNoText) {
    ResultStore store = open();
    StudyRecord study = study_of({"a"});
    study.name = "'; DROP TABLE results; --<script>";
    study.points[0].parameters = {{"x", std::string("\xff\xfe") + std::string(10'000, '"')}};
    ASSERT_FALSE(store.put(study));
    EXPECT_EQ(store.studies(), std::vector<std::string>{study.name});
    EXPECT_EQ(store.rows(study.name)[0].point.parameters["x"].get<std::string>().size(), 10'006u);
}

TEST_F(ResultStoreTest, ProcessesWriteSideBySide) {
    constexpr int kEach = 50;
    { const ResultStore made = open(); }
    std::vector<pid_t> writers;
    for (const char* prefix : {"x", "y", "z"}) {
        writers.push_back(::fork());
        if (writers.back() == 0) {
            bool is_right = true;
            {
                ResultStore store = open();
                for (int i = 0; i < kEach; ++i) {
                    is_right = !store.put(done(prefix + std::to_string(i))) && is_right;
                }
            }
            ::_exit(is_right ? 0 : 1);
        }
    }
    for (const pid_t writer : writers) {
        int status = 0;
        ASSERT_EQ(::waitpid(writer, &status, 0), writer);
        EXPECT_EQ(status, 0);
    }
    const ResultStore store = open();
    for (const char* prefix : {"x", "y", "z"}) {
        for (int i = 0; i < kEach; ++i) {
            EXPECT_EQ(store.status(prefix + std::to_string(i)), PointStatus::kDone);
        }
    }
}

// A new file is switched to WAL by whoever comes first, where SQLite does not wait.
TEST_F(ResultStoreTest, ProcessesOpenANewStoreAtATime) {
    constexpr int kRounds = 40;
    constexpr int kProcesses = 6;
    for (int round = 0; round < kRounds; ++round) {
        const std::filesystem::path folder = folder_.path() / std::to_string(round);
        std::vector<pid_t> children;
        for (int i = 0; i < kProcesses; ++i) {
            children.push_back(::fork());
            if (children.back() == 0) {
                bool is_good = true;
                for (int time = 0; time < 3 && is_good; ++time) {
                    Result<ResultStore> store = ResultStore::open(folder);
                    is_good = store && !store->put(done(std::to_string(i)));
                }
                ::_exit(is_good ? 0 : 1);
            }
        }
        for (const pid_t child : children) {
            int status = -1;
            ASSERT_EQ(::waitpid(child, &status, 0), child);
            EXPECT_EQ(status, 0);
        }
        const ResultStore reader = *ResultStore::open_to_read(folder);
        for (int i = 0; i < kProcesses; ++i) {
            EXPECT_TRUE(reader.result(std::to_string(i))) << i;
        }
    }
}

TEST_F(ResultStoreTest, FoldersAndFilesThatAreNoStoreAreRefused) {
    const Result<ResultStore> nowhere = ResultStore::open("/proc/nothing");
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().front().code, "output.write");
    EXPECT_FALSE(ResultStore::open_to_read(folder_.path()));
    folder_.write(std::string(kStoreName), std::string(5000, 'x'));
    const Result<ResultStore> text = ResultStore::open(folder_.path());
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().front().code, "store.failed");
    EXPECT_NE(text.error().front().message.find("not a database"), std::string::npos);
}

TEST(ScalarKeys, AreNamedByTheirPath) {
    const Json summary{{"schema", "astrolabe/1"},
                       {"ranks", 4},
                       {"iteration_time_s", {1, 2}},  // a list
                       {"exposed_s", {{"all_reduce", 0.5}}}};
    EXPECT_EQ(scalar_keys(summary), Json({{"ranks", 4}, {"exposed_s.all_reduce", 0.5}}));
    EXPECT_EQ(scalar_keys(Json()), Json::object());
}

TEST_F(ResultStoreTest, KeepsDetailsBesideResults) {
    ResultStore store = open();
    StoredResult result = done("a");
    result.details = {{"ranks", "{\"rows\":[]}"}, {"links", "{}"}};
    ASSERT_FALSE(store.put(result));
    EXPECT_EQ(store.detail("a", "ranks"), "{\"rows\":[]}");
    EXPECT_EQ(store.detail("a", "gantt"), "");
    EXPECT_EQ(store.detail("b", "ranks"), "");
    EXPECT_TRUE(store.has_details("a", {}));
    EXPECT_TRUE(store.has_details("a", {"ranks", "links"}));
    EXPECT_FALSE(store.has_details("a", {"ranks", "gantt"}));
    // Of a result that is there already, what is new is put.
    result.details = {{"gantt", "{}"}};
    ASSERT_FALSE(store.put(result));
    EXPECT_TRUE(store.has_details("a", {"ranks", "links", "gantt"}));
}

}  // namespace
}  // namespace astrolabe::study
