/// A folder that one run owns: output_folder.hpp, run_files.hpp; and texts of users in tables: csv.hpp.
#include "process.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/core/xml_text.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/results/run_files.hpp>

namespace astrolabe::experiment {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kList = ".astrolabe-run";

class OwnedFolder : public ::testing::Test {
protected:
    [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }
    [[nodiscard]] std::string content(const std::string& name) const {
        return testing::read_file(path(name));
    }
    [[nodiscard]] bool has(const std::string& name) const {
        return fs::exists(fs::symlink_status(path(name)));
    }
    [[nodiscard]] OutputFolder own() const {
        Result<OutputFolder> out = OutputFolder::open_for_run(folder_.path());
        EXPECT_TRUE(out) << render(out.error());
        return *std::move(out);
    }
    /// A whole run with these files.
    void run(const std::vector<std::string>& names) const {
        const OutputFolder out = own();
        for (const std::string& name : names) {
            EXPECT_FALSE(out.write(name, "of " + name));
        }
        EXPECT_FALSE(write_summary(out, {{"name", "r"}}));
    }
    /// In a child, which ends as if it was killed.
    template <class Work>
    void in_killed_child(const Work& work) const {
        const pid_t child = ::fork();
        if (child == 0) {
            work();
            ::raise(SIGKILL);
        }
        ::waitpid(child, nullptr, 0);
    }

    testing::TemporaryFolder folder_;
};

TEST_F(OwnedFolder, OfARunGivesNoFileToAReport) {
    run({"links.csv", "operations.csv"});
    const Result<OutputFolder> beside = OutputFolder::open_beside_run(folder_.path());
    ASSERT_TRUE(beside);
    EXPECT_FALSE(beside->check_names({"index.html", "traffic_matrix.csv"}));  // which this run does not have
    const std::optional<Diagnostic> refused = beside->check_names({"index.html", "links.csv"});
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, "output.of-run");
    EXPECT_NE(refused->message.find(path("links.csv").string()), std::string::npos) << refused->message;

    EXPECT_FALSE(beside->write("index.html", "page"));
    const std::optional<Diagnostic> written = beside->write("links.csv", "of a report");
    ASSERT_TRUE(written);
    EXPECT_EQ(written->code, "output.of-run");
    EXPECT_EQ(content("links.csv"), "of links.csv");
    EXPECT_EQ(content("index.html"), "page");
}

/// What an open descriptor leads to cannot be replaced by a file, and what stands there already stays.
TEST_F(OwnedFolder, FilesThatAreOpenDescriptorsAreWrittenInPlace) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe(ends), 0);
    for (const char* piece : {"one\n", "two\n"}) {
        Result<OutputFile> file = OutputFile::create(fmt::format("/dev/fd/{}", ends[1]));
        ASSERT_TRUE(file) << render(file.error());
        file->append(piece);
        EXPECT_FALSE(file->finish());
    }
    std::array<char, 16> read{};
    ASSERT_EQ(::read(ends[0], read.data(), read.size()), 8);
    EXPECT_STREQ(read.data(), "one\ntwo\n");
    ::close(ends[0]);
    ::close(ends[1]);

    const int regular = ::open(path("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(regular, 0);
    ASSERT_EQ(::write(regular, "before\n", 7), 7);
    Result<OutputFile> file = OutputFile::create(fmt::format("/proc/self/fd/{}", regular));
    ASSERT_TRUE(file) << render(file.error());
    file->append("after\n");
    EXPECT_FALSE(file->finish());
    ::close(regular);
    EXPECT_EQ(content("log"), "before\nafter\n");
}

TEST_F(OwnedFolder, NothingIsWrittenThroughALink) {
    folder_.write("victim", "mine");
    for (const std::string& name : {fmt::format(".probe-{}", ::getpid()), std::string("x"),
                                    fmt::format(".x-{}", ::getpid()), std::string("summary.json")}) {
        fs::create_symlink("victim", path(name));
    }
    {
        const OutputFolder out = own();
        EXPECT_FALSE(out.write("x", "text"));
        EXPECT_FALSE(write_summary(out, {{"name", "r"}}));
    }
    EXPECT_EQ(content("victim"), "mine");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path("x"))));
    EXPECT_EQ(content("x"), "text");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path("summary.json"))));

    // The list of what is being written is no way out either.
    fs::create_symlink("victim", path(kList));
    {
        const OutputFolder out = own();
        EXPECT_FALSE(out.write("links.csv", "text")) << "the link went, as left by a run that was killed";
    }
    EXPECT_EQ(content("victim"), "mine");
}

TEST_F(OwnedFolder, HasOneOwnerAtATimeAndSaysWhoItIs) {
    {
        const OutputFolder first = own();
        const Result<OutputFolder> second = OutputFolder::open_for_run(folder_.path());
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().front().code, "output.in-use");
        EXPECT_NE(second.error().front().message.find(fmt::format("process {}", ::getpid())),
                  std::string::npos)
            << render(second.error());
    }
    // The kernel releases what a killed process held.
    in_killed_child([&] {
        const OutputFolder held = own();
        ::raise(SIGKILL);
    });
    EXPECT_TRUE(fs::is_empty(folder_.path())) << "and nothing of it is there";
    run({});
    EXPECT_FALSE(has(kList));
}

TEST_F(OwnedFolder, ACopyInAChildDoesNotEndTheOwnership) {
    OutputFolder out = own();
    const pid_t child = ::fork();
    if (child == 0) {
        { const OutputFolder copy = std::move(out); }
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_FALSE(OutputFolder::open_for_run(folder_.path()));
    EXPECT_FALSE(out.write("links.csv", "x"));
}

TEST_F(OwnedFolder, FilesOfTheEarlierRunGoBeforeThoseOfTheNextCome) {
    run({"operations.csv", "flows.csv", "timeline.json.gz"});
    folder_.write("notes.txt", "mine");
    run({"operations.csv", "links.csv"});
    EXPECT_FALSE(has("flows.csv"));
    EXPECT_FALSE(has("timeline.json.gz"));
    EXPECT_TRUE(has("links.csv"));
    EXPECT_EQ(content("notes.txt"), "mine");
    const Json files = Json::parse(content("summary.json")).at("files");
    // CRC-32 of "of links.csv" by zlib's crc32 of another program (python3: zlib.crc32).
    EXPECT_EQ(files.dump(), Json({{"links.csv", {{"bytes", 12}, {"crc32", "131ca2eb"}}},
                                  {"operations.csv", {{"bytes", 17}, {"crc32", "f22b259c"}}}})
                                .dump());
}

TEST_F(OwnedFolder, ARunThatWritesNothingLeavesTheEarlierOneWhole) {
    run({"operations.csv", "flows.csv"});
    const std::string summary = content("summary.json");
    { const OutputFolder out = own(); }
    EXPECT_EQ(content("summary.json"), summary);
    EXPECT_TRUE(has("flows.csv"));
}

TEST_F(OwnedFolder, WhatAKilledRunLeftGoesBeforeTheNextCome) {
    run({"operations.csv", "carried.csv"});
    in_killed_child([&] {
        const OutputFolder out = own();
        static_cast<void>(out.write("flows.csv", "half"));
        const Result<OutputFolder> job = out.folder("jobs/a");
        static_cast<void>(job->write("operations.csv", "of a job"));
        ::raise(SIGKILL);
    });
    EXPECT_TRUE(has("flows.csv"));
    EXPECT_FALSE(has("summary.json")) << "nobody may take a half for a run";
    EXPECT_FALSE(has("carried.csv"));
    EXPECT_EQ(content(".astrolabe-earlier/carried.csv"), "of carried.csv") << "and the whole one is not lost";
    // One that is killed before it writes forgets nothing.
    in_killed_child([&] {
        const OutputFolder out = own();
        ::raise(SIGKILL);
    });
    { const OutputFolder out = own(); }
    EXPECT_TRUE(has(kList));
    run({"links.csv"});
    EXPECT_FALSE(has("flows.csv"));
    EXPECT_FALSE(has("carried.csv"));
    EXPECT_FALSE(has("jobs"));
    EXPECT_FALSE(has(kList));
    EXPECT_FALSE(has(".astrolabe-earlier"));
}

/// A report has names that nobody else knows, so the next one removes what is left of them: not what a
/// process that lives is about to name, nor what is called otherwise.
TEST_F(OwnedFolder, WhatAKilledReportLeftOfItsFilesGoesWithTheNext) {
    const std::string killed = fmt::format(".points.csv-{}", std::numeric_limits<pid_t>::max());
    const std::string living = fmt::format(".points.csv-{}", ::getppid());
    for (const std::string& name :
         {killed, living, std::string(".other.csv-1"), std::string(".points.csv-x")}) {
        folder_.write(name, "half");
    }
    const Result<OutputFolder> out = OutputFolder::open_beside_run(folder_.path());
    ASSERT_TRUE(out) << render(out.error());
    EXPECT_FALSE(out->write("points.csv", "all"));
    EXPECT_TRUE(fs::exists(path(killed)));
    out->mark_whole();
    EXPECT_FALSE(fs::exists(path(killed)));
    EXPECT_TRUE(fs::exists(path(living)));
    EXPECT_TRUE(fs::exists(path(".other.csv-1")));
    EXPECT_TRUE(fs::exists(path(".points.csv-x")));
    EXPECT_EQ(content("points.csv"), "all");
}

/// What shows that a folder can be written has no name, so that nothing is left wherever a process is killed.
TEST_F(OwnedFolder, OpeningLeavesNothing) {
    ASSERT_TRUE(OutputFolder::open(folder_.path()));
    EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(OwnedFolder, ARunThatDoesNotBecomeWholePutsTheEarlierOneBack) {
    run({"operations.csv", "carried.csv"});
    const std::string summary = content("summary.json");
    {
        const OutputFolder out = own();
        EXPECT_FALSE(out.write("operations.csv", "another"));
        EXPECT_FALSE(out.write("flows.csv", "more"));
        const Result<OutputFolder> job = out.folder("jobs/a");
        EXPECT_FALSE(job->write("links.csv", "of a job"));
        EXPECT_FALSE(has("summary.json"));
    }
    EXPECT_EQ(content("summary.json"), summary);
    EXPECT_EQ(content("operations.csv"), "of operations.csv");
    EXPECT_EQ(content("carried.csv"), "of carried.csv");
    EXPECT_FALSE(has("flows.csv"));
    EXPECT_FALSE(has("jobs"));
    EXPECT_FALSE(has(kList));
    EXPECT_FALSE(has(".astrolabe-earlier"));
    // Killed instead, the next run puts it back, even where that writes nothing but fails.
    in_killed_child([&] {
        const OutputFolder out = own();
        static_cast<void>(out.write("operations.csv", "another"));
        ::raise(SIGKILL);
    });
    EXPECT_FALSE(has("summary.json"));
    {
        const OutputFolder out = own();
        EXPECT_FALSE(out.write("flows.csv", "more"));
    }
    EXPECT_EQ(content("summary.json"), summary);
    EXPECT_EQ(content("operations.csv"), "of operations.csv");
    EXPECT_FALSE(has("flows.csv"));
}

TEST_F(OwnedFolder, OnlyNamesOfRunsAreRemovedWhateverASummaryLists) {
    const fs::path outside = fs::path(folder_.path().string() + "-outside");
    fs::create_directories(outside / "a");
    std::ofstream(outside / "links.csv") << "mine";
    std::ofstream(outside / "a" / "links.csv") << "mine";
    folder_.write("study.yaml", "mine");
    fs::create_symlink(outside, path("jobs"));
    Json files;
    for (const std::string& name :
         {std::string("study.yaml"), "../" + outside.filename().string() + "/links.csv",
          (outside / "links.csv").string(), std::string("jobs/a/links.csv"),
          std::string("jobs/../links.csv")}) {
        files[name] = Json::object();
    }
    folder_.write("summary.json", Json{{"files", files}}.dump());
    run({"operations.csv"});
    EXPECT_EQ(content("study.yaml"), "mine");
    EXPECT_TRUE(fs::exists(outside / "links.csv"));
    EXPECT_TRUE(fs::exists(outside / "a" / "links.csv"));
    fs::remove_all(outside);
}

TEST_F(OwnedFolder, AFolderThatVanishesIsAnError) {
    const fs::path gone = path("gone");
    const Result<OutputFolder> out = OutputFolder::open_for_run(gone);
    ASSERT_TRUE(out);
    fs::remove_all(gone);
    std::optional<Diagnostic> error = out->write("links.csv", "x");
    ASSERT_TRUE(error);
    EXPECT_NE(error->message.find(gone.string()), std::string::npos) << error->render();
    // Another one of the same name is not the same.
    const Result<OutputFolder> other = OutputFolder::open_for_run(gone);
    ASSERT_TRUE(other);
    error = out->write("links.csv", "x");
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, "output.gone");
    EXPECT_FALSE(fs::exists(gone / "links.csv"));
    EXPECT_FALSE(other->write("links.csv", "y"));
}

TEST_F(OwnedFolder, EveryChangeOfAFileIsFound) {
    run({"operations.csv"});
    const Json summary = Json::parse(content("summary.json"));
    const std::string whole = content("operations.csv");
    const auto is_refused = [&](const std::string& name, const std::optional<std::string>& text) {
        return not_of_run(summary, folder_.path(), name, text).has_value();
    };
    EXPECT_FALSE(is_refused("operations.csv", whole));
    EXPECT_TRUE(is_refused("operations.csv", std::nullopt));
    EXPECT_TRUE(is_refused("links.csv", "of another run"));
    EXPECT_FALSE(is_refused("links.csv", std::nullopt));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_TRUE(is_refused("operations.csv", whole.substr(0, size))) << size;
        for (int bit = 0; bit < 8; ++bit) {
            std::string flipped = whole;
            flipped[size] = static_cast<char>(flipped[size] ^ (1 << bit));
            EXPECT_TRUE(is_refused("operations.csv", flipped)) << size << ' ' << bit;
        }
    }
}

TEST(Csv, NoTextOfAFieldIsAFormulaAndAllComeBack) {
    // Left as they are: names, numbers, and what only holds such a letter.
    for (const char* plain : {"", "a", "a=1", "1.5", "-3", "-3.5e2", "layer.weight"}) {
        EXPECT_EQ(csv_field(plain), plain);
    }
    EXPECT_EQ(csv_field("=1+1"), "'=1+1");
    EXPECT_EQ(csv_field("@x"), "'@x");
    EXPECT_EQ(csv_field("-x"), "'-x");
    EXPECT_EQ(csv_field("\t=1"), "'\t=1");
    EXPECT_EQ(csv_field("=\"a\",b"), "\"'=\"\"a\"\",b\"");
    EXPECT_EQ(csv_field("\r=1"), "\"'\r=1\"");
    EXPECT_EQ(csv_field("'=1"), "''=1");
    EXPECT_EQ(csv_field(std::string("a\0b\x1b", 4)),
              "a\xef\xbf\xbd"
              "b\xef\xbf\xbd");
    // Unquoted, every text of up to four of these letters comes back as it was.
    const std::string letters = "'=-+@\t\"1a";
    for (int n = 0; n < 9 * 9 * 9 * 9; ++n) {
        std::string text;
        for (int rest = n; rest > 0; rest /= 9) {
            text += letters[static_cast<std::size_t>(rest % 9)];
        }
        std::string field = csv_field(text);
        if (field.starts_with('"')) {
            std::string unquoted;
            for (std::size_t i = 1; i + 1 < field.size(); ++i) {
                unquoted += field[i];
                i += field[i] == '"' ? 1 : 0;
            }
            field = unquoted;
        }
        EXPECT_EQ(text_of_csv(field), text);
    }
}

TEST(XmlText, HasOnlyWhatXmlHas) {
    EXPECT_EQ(xml_text("a <b> & \"c\""), "a &lt;b&gt; &amp; &quot;c&quot;");
    EXPECT_EQ(xml_text("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\t\n"),
              "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\t\n");
    const std::string replaced = "\xef\xbf\xbd";
    for (const char* one : {"\x01", "\x1b", "\xff", "\xc3", "\xed", "\xf5"}) {
        EXPECT_EQ(xml_text(one), replaced) << one;
    }
    EXPECT_EQ(xml_text("\xef\xbf\xbe"), replaced + replaced + replaced) << "U+FFFE, byte by byte";
    EXPECT_EQ(xml_text("\xc0\xaf"), replaced + replaced) << "an overlong /";
    EXPECT_EQ(xml_text("\xed\xa0\x80"), replaced + replaced + replaced) << "half of a surrogate pair";
}

}  // namespace
}  // namespace astrolabe::experiment
