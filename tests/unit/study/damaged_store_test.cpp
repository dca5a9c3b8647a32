/// A store of results whose file is not what was written: every kind of damage is an error that names the
/// file, or makes no difference to what is read.
#include "process.hpp"
#include "stored_results.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class DamagedStore : public ::testing::Test {
protected:
    DamagedStore() {
        Result<ResultStore> store = ResultStore::open(folder_.path());
        EXPECT_TRUE(store) << render(store.error());
        StudyRecord study{"s", {"bars"}, {}};
        for (int i = 1; i <= 40; ++i) {
            const std::string key = fmt::format("key-{}", i);
            study.points.push_back({study.points.size() + 1, {{"cluster.ranks", i}}, key, 1.5, std::nullopt});
            StoredResult result = i % 10 == 0 ? failed(key, "it stalled") : done(key);
            result.details = {{"links", fmt::format("{{\"rows\":[{}]}}", i)}};
            EXPECT_FALSE(store->put(result));
        }
        EXPECT_FALSE(store->put(study));
        EXPECT_FALSE(
            store->remember(std::vector<std::pair<std::string, Resolution>>{{"w", {"a", 2.0, 3e6}}}));
        whole_ = std::get<std::string>(all(std::move(*store)));
    }

    [[nodiscard]] fs::path file() const { return folder_.path() / kStoreName; }

    /// All that a store has of results and studies, or the error of reading it.
    [[nodiscard]] static std::variant<std::string, Diagnostic> all(const ResultStore& store) {
        try {
            std::string text;
            for (const std::string& study : store.studies()) {
                text += fmt::format("{} {}\n", study, fmt::join(store.report_of(study), ","));
                for (const StudyRow& row : store.rows(study)) {
                    text += fmt::format(
                        "{} {} {} {} {} {} {} {} {}\n", row.point.number, row.point.parameters.dump(),
                        row.point.key, to_string(row.result.status), row.result.error, row.result.fingerprint,
                        row.result.summary.dump(), row.result.resolved, store.detail(row.point.key, "links"));
                }
            }
            return text;
        } catch (const StoreDamage& damage) {
            return damage.diagnostic();
        }
    }

    [[nodiscard]] std::variant<std::string, Diagnostic> read() const {
        const Result<ResultStore> store = ResultStore::open_to_read(folder_.path());
        return store ? all(*store) : std::variant<std::string, Diagnostic>(store.error().front());
    }

    /// What is read is what was put, or an error with the name of the file; false: it is an error.
    bool expect_whole_or_named(const std::string& what) const {
        const std::variant<std::string, Diagnostic> found = read();
        if (const auto* text = std::get_if<std::string>(&found)) {
            EXPECT_EQ(*text, whole_) << what;
            return true;
        }
        const auto& error = std::get<Diagnostic>(found);
        EXPECT_NE(error.message.find(file().string()), std::string::npos) << what << ": " << error.render();
        EXPECT_FALSE(error.hint.empty());
        return false;
    }

    void expect_named(const std::string& what) const { EXPECT_FALSE(expect_whole_or_named(what)) << what; }

    void change(const std::string& sql) const {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
        char* why = nullptr;
        EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &why), SQLITE_OK) << sql << why;
        sqlite3_close(database);
    }

    [[nodiscard]] std::string bytes() const { return testing::read_file(file()); }
    void put_bytes(const std::string& bytes) const {
        for (const char* beside : {"-wal", "-shm"}) {
            fs::remove(file().string() + beside);
        }
        std::ofstream(file(), std::ios::binary) << bytes;
    }

    testing::TemporaryFolder folder_;
    std::string whole_;
};

TEST_F(DamagedStore, UndamagedItIsRead) {
    EXPECT_NE(whole_.find("40"), std::string::npos);
    EXPECT_TRUE(expect_whole_or_named("nothing"));
}

TEST_F(DamagedStore, TruncatedAnywhereItIsAnError) {
    const std::string whole = bytes();
    for (std::size_t part = 0; part < 64; ++part) {
        put_bytes(whole.substr(0, whole.size() * part / 64));
        expect_named(fmt::format("{} of 64 parts", part));
    }
}

TEST_F(DamagedStore, WithAFlippedBitItIsAnErrorOrWhole) {
    const std::string whole = bytes();
    std::size_t errors = 0;
    constexpr std::size_t kStep = 41;  // prime: all parts of a page, and all bits
    for (std::size_t at = 0; at < whole.size(); at += kStep) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at / kStep % 8)));
        put_bytes(flipped);
        errors += expect_whole_or_named(fmt::format("byte {}", at)) ? 0 : 1;
    }
    EXPECT_GT(errors, whole.size() / kStep / 20) << "most of the file is in use";
}

TEST_F(DamagedStore, OfAnotherVersionOrProgramItIsAnErrorAndStays) {
    change("PRAGMA user_version = 77");
    expect_named("version");
    EXPECT_FALSE(ResultStore::open(folder_.path()));
    put_bytes("");
    change("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    expect_named("foreign");
    const Result<ResultStore> opened = ResultStore::open(folder_.path());
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().front().message.find("another program"), std::string::npos);
    change("SELECT x FROM theirs");
}

TEST_F(DamagedStore, EmptiedItIsMadeAnewToWriteAndAnErrorToRead) {
    put_bytes("");
    expect_named("emptied");
    Result<ResultStore> opened = ResultStore::open(folder_.path());
    ASSERT_TRUE(opened);
    EXPECT_FALSE(opened->put(done("a")));
    EXPECT_EQ(opened->status("a"), PointStatus::kDone);
}

TEST_F(DamagedStore, AFolderOrALinkInItsPlaceIsAnError) {
    const fs::path victim = folder_.path() / "victim";
    std::ofstream(victim).flush();
    fs::remove(file());
    fs::create_symlink(victim, file());
    const Result<ResultStore> through = ResultStore::open(folder_.path());
    ASSERT_FALSE(through);
    EXPECT_NE(through.error().front().message.find("link"), std::string::npos);
    EXPECT_EQ(fs::file_size(victim), 0U);
    fs::remove(file());
    fs::create_directory(file());
    expect_named("folder");
    EXPECT_FALSE(ResultStore::open(folder_.path()));
}

TEST_F(DamagedStore, APipeInPlaceOfOneOfItsFilesIsAnError) {
    const std::string whole = bytes();
    for (const char* beside : {"", "-journal", "-wal", "-shm"}) {
        const fs::path pipe = file().string() + beside;
        fs::remove(pipe);
        ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
        // So that whoever opens the other end does not wait.
        const int end = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
        ASSERT_GE(end, 0);
        const std::string reason = fmt::format("'{}' is no regular file", pipe.filename().string());
        const std::variant<std::string, Diagnostic> found = read();
        EXPECT_TRUE(std::holds_alternative<Diagnostic>(found)) << pipe;
        if (const auto* error = std::get_if<Diagnostic>(&found)) {
            EXPECT_NE(error->message.find(reason), std::string::npos) << error->message;
        }
        const Result<ResultStore> opened = ResultStore::open(folder_.path());
        EXPECT_FALSE(opened) << pipe;
        if (!opened) {
            EXPECT_NE(opened.error().front().message.find(reason), std::string::npos)
                << opened.error().front().message;
        }
        ::close(end);
        fs::remove(pipe);
        put_bytes(whole);
    }
    EXPECT_TRUE(expect_whole_or_named("without pipes"));
}

TEST_F(DamagedStore, MissingTablesNullsTypesAndHugeValuesAreErrors) {
    const std::string whole = bytes();
    for (const char* sql : {
             "DROP TABLE results",
             "DROP TABLE points",
             "DROP TABLE studies",
             "DROP TABLE details",
             "DROP TABLE resolutions",
             "DROP TABLE checksums",
             "DROP VIEW study_rows",
             "DROP VIEW study_rows; ALTER TABLE results DROP COLUMN resolved",
             "ALTER TABLE studies RENAME COLUMN report TO r",
             "UPDATE results SET summary = NULL",
             "UPDATE results SET fingerprint = NULL WHERE key = 'key-1'",
             "UPDATE results SET summary = '[1'",
             "UPDATE results SET summary = '7'",
             "UPDATE results SET summary = x'00ff'",
             "UPDATE results SET status = 'perhaps'",
             "UPDATE results SET resolved = 'other' WHERE key = 'key-3'",
             "UPDATE results SET peak_rss_bytes = -1",
             "UPDATE results SET peak_rss_bytes = 1e300",
             "UPDATE results SET wall_s = 'soon'",
             "UPDATE points SET number = -number",
             "UPDATE points SET number = number * 1000000000000000",
             "UPDATE points SET parameters = '3'",
             "UPDATE points SET parameters = '{'",
             "UPDATE points SET parameters = '{}' WHERE number = 2",
             "UPDATE points SET predicted_wall_s = 'x'",
             "DELETE FROM points WHERE number = 7",
             "DELETE FROM results WHERE key = 'key-7'",
             "DELETE FROM details WHERE key = 'key-7'",
             "DELETE FROM checksums WHERE key = 'key-7'",
             "UPDATE studies SET report = '{\"a\": 1}'",
             "UPDATE studies SET report = '[1]'",
             "UPDATE studies SET name = 't'",
             "UPDATE details SET content = '' WHERE key = 'key-9'",
         }) {
        put_bytes(whole);
        change(sql);
        expect_named(sql);
    }
}

/// SQLite carries out what a file defines. A view of this kind gives rows for ever, so whatever is not as
/// this program makes it is refused before anything is read.
TEST_F(DamagedStore, WhatElseItDefinesIsNotCarriedOut) {
    const std::string whole = bytes();
    const std::string endless = " AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
    const std::string columns =
        "'s' AS study, i AS number, '{}' AS parameters, 'k' AS key, 1.0 AS predicted_wall_s, "
        "1.0 AS predicted_memory_bytes, 'missing' AS status, '' AS error, '' AS fingerprint, '' AS summary, "
        "'' AS resolved, 1.0 AS wall_s, 1 AS peak_rss_bytes FROM n";
    for (const std::string& sql :
         {"DROP VIEW study_rows; CREATE VIEW study_rows" + endless + columns,
          "DROP TABLE studies; CREATE VIEW studies" + endless + "'s' || i AS name, '[]' AS report FROM n",
          std::string("CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END"),
          std::string("CREATE INDEX i ON points (length(parameters))")}) {
        put_bytes(whole);
        change(sql);
        const std::variant<std::string, Diagnostic> found = read();
        ASSERT_TRUE(std::holds_alternative<Diagnostic>(found)) << sql;
        EXPECT_EQ(std::get<Diagnostic>(found).code, "store.damaged");
        EXPECT_NE(std::get<Diagnostic>(found).message.find("is not as this program makes it"),
                  std::string::npos);
        EXPECT_FALSE(ResultStore::open(folder_.path())) << sql;
        change("PRAGMA user_version = 2; DROP TABLE checksums");  // what lacks them is summed up, to write
        EXPECT_FALSE(ResultStore::open(folder_.path())) << sql;
    }
}

/// What was parsed is copied and written with a recursion: 100 levels are the limit.
TEST_F(DamagedStore, JsonThatNestsTooDeepIsAnErrorAtItsRow) {
    const std::string whole = bytes();
    // One list more than the limit has.
    const std::string deep = std::string(limits::kNesting, '[') + std::string(limits::kNesting, ']');
    const std::vector<std::pair<std::string, std::string>> rows{
        {"UPDATE points SET parameters = '{\"a\":" + deep + "}' WHERE number = 7", "point 7 of study 's'"},
        {"UPDATE studies SET report = '[" + deep + "]'", "the report of study 's'"},
        {"UPDATE results SET summary = '{\"a\":" + deep + "}' WHERE key = 'key-7'",
         "the summary of 'key-7'"}};
    for (const auto& [sql, place] : rows) {
        put_bytes(whole);
        change(sql);
        const std::variant<std::string, Diagnostic> found = read();
        ASSERT_TRUE(std::holds_alternative<Diagnostic>(found)) << sql;
        EXPECT_NE(std::get<Diagnostic>(found).message.find(
                      place + " has more than 100 lists and objects inside each other"),
                  std::string::npos)
            << std::get<Diagnostic>(found).message;
    }
}

/// With the checksum of what is there, so that nothing but the summary is wrong.
TEST_F(DamagedStore, ASummaryThatNoTableCanBeMadeOfIsAnError) {
    StoredResult result = done("key-10");  // in place of one that failed
    result.summary = Json::object();
    ASSERT_FALSE(ResultStore::open(folder_.path())->put(result));
    const std::variant<std::string, Diagnostic> found = read();
    ASSERT_TRUE(std::holds_alternative<Diagnostic>(found));
    EXPECT_NE(std::get<Diagnostic>(found).message.find("the summary of 'key-10'"), std::string::npos);
}

TEST_F(DamagedStore, AFolderThatVanishesOrIsReplacedIsAnErrorOfTheNextChange) {
    Result<ResultStore> store = ResultStore::open(folder_.path());
    ASSERT_TRUE(store);
    ASSERT_FALSE(store->put(done("x")));
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
        fs::remove(entry.path());
    }
    for (int round = 0; round < 2; ++round) {
        const std::optional<Diagnostic> error = store->put(done("y"));
        ASSERT_TRUE(error);
        EXPECT_NE(error->message.find(file().string()), std::string::npos) << error->render();
        EXPECT_TRUE(ResultStore::open(folder_.path())) << "another one in its place";
    }
}

TEST_F(DamagedStore, OfTheEarlierLayoutItIsReadAndSummedUpWhenWritten) {
    change("DROP TABLE checksums; PRAGMA user_version = 2");
    EXPECT_TRUE(expect_whole_or_named("read"));
    {
        const Result<ResultStore> store = ResultStore::open(folder_.path());
        ASSERT_TRUE(store) << render(store.error());
    }
    EXPECT_TRUE(expect_whole_or_named("summed up"));
    change("UPDATE results SET resolved = 'other' WHERE key = 'key-3'");
    expect_named("and damaged then");
}

}  // namespace
}  // namespace astrolabe::study
