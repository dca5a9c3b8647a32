/// Results on their way to a store: spool.hpp.
#include "process.hpp"
#include "stored_results.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/study/sweep/spool.hpp>
#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::study {
namespace {

class SpoolTest : public ::testing::Test {
protected:
    SpoolTest()
        : store_(*ResultStore::open(folder_.path())) {}

    [[nodiscard]] Spool writer(const std::string& name) const { return *Spool::open(folder_.path(), name); }
    [[nodiscard]] std::size_t merge() {
        const Result<std::size_t> merged = merge_spool(folder_.path(), store_);
        EXPECT_TRUE(merged) << render(merged.error());
        return merged.value();
    }
    [[nodiscard]] std::filesystem::path file(const std::string& name) const {
        return folder_.path() / "spool" / name;
    }

    testing::TemporaryFolder folder_;
    ResultStore store_;
};

TEST_F(SpoolTest, WhatIsMergedIsWhatWasPut) {
    EXPECT_EQ(merge(), 0u);  // there is no spool yet
    const Spool spool = writer("1-1");
    ASSERT_FALSE(spool.put(done("a", 0.25)));
    ASSERT_FALSE(spool.put(failed("b", "it \"stalled\"\nat \xff")));
    EXPECT_EQ(spool.status("a"), PointStatus::kDone);
    EXPECT_EQ(spool.status("b"), PointStatus::kFailed);
    EXPECT_EQ(spool.status("c"), PointStatus::kMissing);
    EXPECT_EQ(writer("1-2").status("a"), PointStatus::kMissing);
    EXPECT_EQ(spooled_results(folder_.path()), 2u);
    EXPECT_EQ(merge(), 2u);
    EXPECT_EQ(spooled_results(folder_.path()), 0u);
    EXPECT_EQ(spool.status("a"), PointStatus::kMissing);
    const std::optional<StoredResult> a = store_.result("a");
    ASSERT_TRUE(a);
    EXPECT_EQ(a->status, PointStatus::kDone);
    EXPECT_EQ(a->fingerprint, "fa");
    EXPECT_EQ(a->summary, done("a", 0.25).summary);
    EXPECT_EQ(a->resolved, "schema: astrolabe/1\n");
    EXPECT_EQ(a->wall_seconds, 0.25);
    EXPECT_EQ(a->peak_rss_bytes, 1'000'000u);
    EXPECT_EQ(store_.result("b")->error, "it \"stalled\"\nat \xef\xbf\xbd");  // U+FFFD for what is no text
    EXPECT_EQ(store_.result("b")->wall_seconds, std::nullopt);
}

TEST_F(SpoolTest, APointThatWasComputedTwiceIsOneRow) {
    ASSERT_FALSE(writer("1-1").put(done("a", 1)));
    ASSERT_FALSE(writer("2-1").put(done("a", 2)));
    ASSERT_FALSE(writer("1-2").put(failed("b", "killed")));
    ASSERT_FALSE(writer("2-2").put(done("b", 3)));
    EXPECT_EQ(merge(), 4u);
    EXPECT_EQ(store_.result("a")->wall_seconds, 1);  // files are merged in the order of their names
    EXPECT_EQ(store_.status("b"), PointStatus::kDone);
    ASSERT_FALSE(writer("3-1").put(failed("b", "killed later")));
    EXPECT_EQ(merge(), 1u);
    EXPECT_EQ(store_.status("b"), PointStatus::kDone);
}

TEST_F(SpoolTest, WhatFiguresNeedComesAlong) {
    StoredResult result = done("a", 1);
    result.details = {{"ranks", "{\"rows\": []}"}, {"tasks", "{}"}};
    ASSERT_FALSE(writer("1-1").put(result));
    EXPECT_EQ(merge(), 1u);
    EXPECT_TRUE(store_.has_details("a", {"ranks", "tasks"}));
    EXPECT_FALSE(store_.has_details("a", {"ranks", "gantt"}));
}

TEST_F(SpoolTest, MoreThanOneChangeOfTheStoreTakes) {
    const Spool spool = writer("1-1");
    for (int i = 0; i < 300; ++i) {  // changes are of 256 results
        ASSERT_FALSE(spool.put(done(std::to_string(i), 1)));
    }
    EXPECT_EQ(merge(), 300u);
    EXPECT_EQ(store_.status("299"), PointStatus::kDone);
}

TEST_F(SpoolTest, FilesThatHoldNoResultAreSaidAndKeepNobody) {
    ASSERT_FALSE(writer("2-1").put(done("a", 1)));
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"1-1-cut.json", "{\"key\": \"a\", \"sta"},
        {"1-2-list.json", "[]"},
        {"1-3-kind.json", R"({"key": 7})"},
        {"1-4-status.json",
         R"({"key": "k", "status": "missing", "error": "", "fingerprint": "", "summary": {}, "resolved": "",
             "wall_s": null, "peak_rss_bytes": 0, "details": {}})"},
        {"1-5-summary.json",
         R"({"key": "k", "status": "done", "error": "", "fingerprint": "", "summary": null, "resolved": "",
             "wall_s": null, "peak_rss_bytes": 0, "details": {}})"}};
    for (const auto& [name, text] : wrong) {
        std::ofstream(file(name)) << text;
    }
    std::ofstream(file(".1-6-unfinished.json-17")) << "{";  // of a writer that was killed
    std::filesystem::create_directory(file("1-7-folder.json"));
    const Result<std::size_t> merged = merge_spool(folder_.path(), store_);
    ASSERT_FALSE(merged);
    ASSERT_EQ(merged.error().size(), wrong.size() + 1);
    EXPECT_NE(merged.error().back().message.find("1-7-folder.json' cannot be read"), std::string::npos);
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        EXPECT_EQ(merged.error()[i].code, "store.spool");
        EXPECT_NE(merged.error()[i].message.find(wrong[i].first), std::string::npos);
        EXPECT_TRUE(std::filesystem::exists(file(wrong[i].first)));
    }
    EXPECT_EQ(store_.status("a"), PointStatus::kDone);
}

/// What a hostile writer may put instead of a result: merged, each would make the store one that cannot be
/// read or tabled, and a result that is done stays.
TEST_F(SpoolTest, ResultsThatCouldNotBeReadBackAreRefusedAndTheOthersMerged) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {R"({"summary": {}})", "key 'mean_iteration_time_s' not found"},
        {R"({"summary": {"mean_iteration_time_s": "1"}})", "type must be number"},
        {R"({"summary": {"flows": {"started": 1}}})", "key 'delivered' not found"},
        {R"({"summary": {"mean_iteration_time_s": 1, "slow_methods": [{}]}})", "key 'collective' not found"},
        // 2^60, and 2^53 = 9007199254740992 is the most that a store gives back.
        {R"({"peak_rss_bytes": 1152921504606846976})",
         "peak_rss_bytes is 1152921504606846976, expected at most 9007199254740992"},
        {R"({"peak_rss_bytes": 9007199254740993})", "expected at most 9007199254740992"},
        {R"({"peak_rss_bytes": -1})", "-1 is no whole number"},
        {R"({"key": "s", "details": {"study": "{}"}})", "'study' is no kind of details"},
        {R"({"details": {"": "{}"}})", "'' is no kind of details"},
        {R"({"details": {"links": "7"}})", "details 'links' are no JSON object"},
    };
    const Spool spool = writer("0");
    ASSERT_FALSE(spool.put(done("k")));
    const auto whole = nlohmann::ordered_json::parse(testing::read_file(file("0-k.json")));
    std::filesystem::remove(file("0-k.json"));
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        nlohmann::ordered_json changed = whole;
        changed.update(nlohmann::ordered_json::parse(wrong[i].first));
        std::ofstream(file("1-" + std::to_string(i) + ".json")) << changed;
    }
    ASSERT_FALSE(writer("2").put(done("a")));
    ASSERT_FALSE(store_.put(StudyRecord{"s", {}, {{1, {}, "k", {}, {}}, {2, {}, "a", {}, {}}}}));
    const Result<std::size_t> merged = merge_spool(folder_.path(), store_);
    ASSERT_FALSE(merged);
    ASSERT_EQ(merged.error().size(), wrong.size());
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        const std::string& message = merged.error()[i].message;
        EXPECT_NE(message.find(file("1-" + std::to_string(i) + ".json").string()), std::string::npos);
        EXPECT_NE(message.find(wrong[i].second), std::string::npos) << message;
    }
    const std::vector<StudyRow> rows = store_.rows("s");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].result.status, PointStatus::kMissing);
    EXPECT_EQ(rows[1].result.status, PointStatus::kDone);
    EXPECT_NE(study_text("s", rows).find("s: 2 points, 1 done, 0 failed, 1 missing"), std::string::npos);
}

TEST_F(SpoolTest, FilesOfMoreBytesThanResultsHaveAreNotRead) {
    static_cast<void>(writer("1"));
    std::ofstream(file("1-large.json")).flush();
    std::filesystem::resize_file(file("1-large.json"), limits::kTotalBytes + 1);  // without a block on disk
    const Result<std::size_t> merged = merge_spool(folder_.path(), store_);
    ASSERT_FALSE(merged);
    // 256 MiB = 268,435,456 bytes.
    EXPECT_NE(
        merged.error().front().message.find("1-large.json' has 268435457 bytes, expected at most 268435456"),
        std::string::npos)
        << merged.error().front().message;
}

TEST_F(SpoolTest, FolderThatCannotBeMadeIsSaid) {
    folder_.write("spool", "a file");
    const Result<Spool> spool = Spool::open(folder_.path(), "1-1");
    ASSERT_FALSE(spool);
    EXPECT_EQ(spool.error().front().code, "output.write");
}

}  // namespace
}  // namespace astrolabe::study
