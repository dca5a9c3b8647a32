/// A folder that one run owns: output_folder.hpp, run_files.hpp; and texts of users in tables: csv.hpp.
#include "process.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/core/xml_text.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/results/run_files.hpp>

namespace astrolabe::experiment {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kList = ".astrolabe-run";
constexpr const char* kSets = ".astrolabe-files";

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

/// What a set had before and has no more goes when the new one is whole: no other set's, nor the user's.
TEST_F(OwnedFolder, FilesOfASetGoWithTheNextThatDoesNotHaveThem) {
    const auto write = [this](const std::string& set, const std::vector<std::string>& names, bool is_whole) {
        const Result<OutputFolder> out = OutputFolder::open_beside_run(folder_.path());
        ASSERT_TRUE(out) << render(out.error());
        out->begin_set(set);
        for (const std::string& name : names) {
            EXPECT_FALSE(out->write(name, set + " " + name));
        }
        if (is_whole) {
            EXPECT_FALSE(out->end_set());
        }
    };
    folder_.write("a.7.et", "mine");
    write("traces", {"a.0.et", "a.1.et", "a.2.et", "a.3.et", "a.4.et", "groups.json"}, true);
    write("report", {"index.html", "links.csv"}, true);
    folder_.write("a.3.et", "traces a.3.ET");  // as long as what was written, and another's
    fs::remove(path("a.4.et"));
    folder_.write("victim", "traces a.4.et");
    fs::create_symlink("victim", path("a.4.et"));
    write("report", {"index.html", "groups.json"}, true);  // which takes a name of the traces
    EXPECT_FALSE(has("links.csv"));
    EXPECT_TRUE(has("a.2.et"));
    write("traces", {"a.0.et"}, false);
    EXPECT_TRUE(has("a.1.et")) << "what is not whole removes nothing";
    write("traces", {"a.0.et"}, true);
    EXPECT_FALSE(has("a.1.et"));
    EXPECT_FALSE(has("a.2.et"));
    EXPECT_EQ(content("a.3.et"), "traces a.3.ET");
    EXPECT_TRUE(fs::is_symlink(fs::symlink_status(path("a.4.et"))));
    EXPECT_EQ(content("victim"), "traces a.4.et");
    EXPECT_EQ(content("a.7.et"), "mine");
    EXPECT_EQ(content("groups.json"), "report groups.json");
    // CRC-32 of "traces a.0.et" by another program (python3: zlib.crc32), 13 bytes.
    EXPECT_EQ(content(kSets).find("{\"set\":\"traces\",\"name\":\"a.1.et\""), std::string::npos);
    EXPECT_NE(
        content(kSets).find("{\"set\":\"traces\",\"name\":\"a.0.et\",\"bytes\":13,\"crc32\":3709281890}\n"),
        std::string::npos)
        << content(kSets);
}

TEST_F(OwnedFolder, FilesOfASetThatWasKilledGoWithTheNext) {
    in_killed_child([this] {
        const Result<OutputFolder> out = OutputFolder::open_beside_run(folder_.path());
        out->begin_set("traces");
        static_cast<void>(out->write("0.json", "[]"));
        static_cast<void>(out->write("1.json", "[]"));
        ::raise(SIGKILL);
    });
    ASSERT_TRUE(has("1.json"));
    const Result<OutputFolder> out = OutputFolder::open_beside_run(folder_.path());
    ASSERT_TRUE(out);
    out->begin_set("traces");
    EXPECT_FALSE(out->write("0.json", "[]"));
    EXPECT_FALSE(out->end_set());
    EXPECT_TRUE(has("0.json"));
    EXPECT_FALSE(has("1.json"));
}

/// Whatever a list has, it is about files of its folder that are as they were written.
TEST_F(OwnedFolder, AListOfASetReachesNoOtherFile) {
    const fs::path outside = fs::path(folder_.path().string() + "-outside");
    std::ofstream(outside) << "x";
    fs::create_directory(path("below"));
    folder_.write("below/x", "x");
    folder_.write("mine", "y");
    std::string list = "no JSON\n[1]\n" + std::string(200, '[') + "\n{\"set\": 1, \"name\": \"mine\"}\n";
    for (const std::string& name :
         {"../" + outside.filename().string(), outside.string(), std::string("below/x"), std::string("below"),
          std::string(".."), std::string("."), std::string(), std::string("mine")}) {
        // CRC-32 of "x" is 8cdc1683 (python3: zlib.crc32).
        list += Json{{"set", "traces"}, {"name", name}, {"bytes", 1}, {"crc32", 0x8cdc1683U}}.dump() + "\n";
    }
    folder_.write(kSets, list);
    const Result<OutputFolder> out = OutputFolder::open_beside_run(folder_.path());
    ASSERT_TRUE(out);
    out->begin_set("traces");
    EXPECT_FALSE(out->end_set());
    EXPECT_TRUE(fs::exists(outside));
    EXPECT_TRUE(has("below/x"));
    EXPECT_EQ(content("mine"), "y");
    EXPECT_EQ(content(kSets), "");
    fs::remove(outside);
}

/// A folder of a job is the run's: what a link leads to may be another run's, whose lock is not held.
TEST_F(OwnedFolder, NoFolderBelowIsReachedThroughALink) {
    fs::create_directories(path("other/jobs/a"));
    folder_.write("other/jobs/a/links.csv", "mine");
    const auto expect_refused = [this](const OutputFolder& out, const std::string& link) {
        const Result<OutputFolder> job = out.folder("jobs/a");
        ASSERT_FALSE(job);
        EXPECT_EQ(job.error().front().code, "output.linked-folder");
        EXPECT_NE(job.error().front().message.find(path(link).string()), std::string::npos)
            << render(job.error());
    };
    const Result<OutputFolder> out = OutputFolder::open_for_run(path("run"));
    ASSERT_TRUE(out) << render(out.error());
    fs::create_symlink("../other/jobs", path("run/jobs"));
    expect_refused(*out, "run/jobs");
    fs::remove(path("run/jobs"));
    fs::create_directory(path("run/jobs"));
    fs::create_symlink("../../other/jobs/a", path("run/jobs/a"));
    expect_refused(*out, "run/jobs/a");
    fs::remove(path("run/jobs/a"));
    // One that comes in between is found when a file is to get its name.
    const Result<OutputFolder> job = out->folder("jobs/a");
    ASSERT_TRUE(job) << render(job.error());
    EXPECT_FALSE(job->write("operations.csv", "x"));
    fs::rename(path("run/jobs"), path("aside"));
    fs::create_symlink("../other/jobs", path("run/jobs"));
    const std::optional<Diagnostic> refused = job->write("links.csv", "x");
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, "output.linked-folder");
    EXPECT_EQ(content("other/jobs/a/links.csv"), "mine");
    EXPECT_EQ(std::distance(fs::directory_iterator(path("other/jobs/a")), {}), 1);
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

TEST_F(OwnedFolder, AListThatIsLargerThanAnyRunWritesIsAnError) {
    folder_.write(kList, "");
    fs::resize_file(path(kList), limits::kFileBytes + 1);  // 64 MiB = 67,108,864 bytes, none on disk
    const OutputFolder out = own();
    const std::optional<Diagnostic> error = out.write("links.csv", "x");
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, "output.list");
    EXPECT_NE(error->message.find(".astrolabe-run' has 67108865 bytes, expected at most 67108864"),
              std::string::npos)
        << error->message;
    EXPECT_FALSE(has("links.csv"));
}

TEST_F(OwnedFolder, ARunWithASummaryThatIsTooLargeStaysAsItIs) {
    folder_.write("links.csv", "of that run");
    folder_.write("summary.json", "");
    fs::resize_file(path("summary.json"), limits::kTotalBytes + 1);  // none of it on disk
    {
        const OutputFolder out = own();
        const std::optional<Diagnostic> error = out.write("links.csv", "of this one");
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code, "output.summary");
        // 256 MiB = 268,435,456 bytes.
        EXPECT_NE(error->message.find("summary.json' has 268435457 bytes, expected at most 268435456"),
                  std::string::npos)
            << error->message;
    }
    EXPECT_EQ(content("links.csv"), "of that run");
    EXPECT_EQ(fs::file_size(path("summary.json")), limits::kTotalBytes + 1);
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
