#include "process.hpp"
#include "trace.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kQuickstart = ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml";

ProcessResult astrolabe(const std::vector<std::string>& arguments) {
    return run_program(ASTROLABE_PROGRAM, arguments);
}

TEST(RunTimeline, IsWrittenOnRequest) {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const ProcessResult alone = astrolabe({"run", kQuickstart, "--timeline"});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_NE(alone.err.find("--timeline requires --out"), std::string::npos) << alone.err;
    EXPECT_EQ(astrolabe({"run", kQuickstart, "--out", out, "--timeline-size", "1MB"}).exit_code, 2);
    const ProcessResult tiny =
        astrolabe({"run", kQuickstart, "--timeline", "--timeline-size", "1kB", "--out", out});
    EXPECT_EQ(tiny.exit_code, 3);
    EXPECT_NE(tiny.err.find("--timeline-size:1:1: error[record.size]: a timeline of one rank may take"),
              std::string::npos)
        << tiny.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    const ProcessResult result =
        astrolabe({"run", kQuickstart, "--timeline", "--timeline-size", "600kB", "--out", out, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err.rfind("astrolabe: timeline.json.gz does not show ", 0), 0U) << result.err;
    const std::string text = read_gzipped(folder.path() / "timeline.json.gz");
    EXPECT_LE(text.size(), 600'000U);
    const Trace trace = TraceReader(text).read();
    const Json summary = Json::parse(result.out);
    EXPECT_EQ(trace.facts["fingerprint"], summary["fingerprint"]);
    EXPECT_EQ(summary["fingerprint"],
              Json::parse(astrolabe({"run", kQuickstart, "--json"}).out)["fingerprint"]);
    // All ranks compute as long, so the mean is what each does.
    Time compute;
    for (const TraceSlice& slice : trace.slices.at({"rank 0 of 16", "compute"})) {
        compute += slice.to - slice.from;
    }
    EXPECT_EQ(to_seconds(compute), summary["compute_s"].get<double>());
}

TEST(RunTimeline, IsTheSamePackedAndPlain) {
    const TemporaryFolder folder;
    const auto write = [&](const std::string& name, std::vector<std::string> options) {
        const std::filesystem::path out = folder.path() / name;
        options.insert(options.begin(),
                       {"run", kQuickstart, "--timeline", "--timeline-size", "2MB", "--out"});
        options.insert(options.begin() + 6, out.string());
        EXPECT_EQ(astrolabe(options).exit_code, 0);
        return out;
    };
    const std::filesystem::path packed = write("packed", {}) / "timeline.json.gz";
    const std::filesystem::path plain = write("plain", {"--plain-timeline"}) / "timeline.json";
    EXPECT_EQ(read_gzipped(packed), read_file(plain));
    EXPECT_LT(5 * std::filesystem::file_size(packed), std::filesystem::file_size(plain));
    // RFC 1952: the magic number and deflate, no name, no comment, and no time.
    const std::string bytes = read_file(packed);
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00", 8));
    EXPECT_EQ(bytes, read_file(write("again", {}) / "timeline.json.gz"));
    // In one folder the later one is alone.
    write("plain", {});
    EXPECT_FALSE(std::filesystem::exists(plain));
    EXPECT_EQ(bytes, read_file(plain.string() + ".gz"));
    EXPECT_EQ(astrolabe({"run", kQuickstart, "--plain-timeline", "--out", folder.path().string()}).exit_code,
              2);
}

TEST(RunTimeline, ThatCannotBeWrittenIsOneClearError) {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    // What results take fits in 32 KiB each; the timeline does not, packed as it is.
    const ProcessResult full =
        run_shell("ulimit -f 64; trap '' XFSZ; " + quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) +
                  " --timeline --timeline-size 2MB --out " + quoted(out));
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_NE(
        full.err.find("error[output.write]: cannot write '" + out + "/timeline.json.gz': File too large"),
        std::string::npos)
        << full.err;
    EXPECT_EQ(full.err.find("error["), full.err.rfind("error["));
    EXPECT_EQ(full.err.find("does not show"), std::string::npos) << "there is none";
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "summary.json"));
    for (const auto& entry : std::filesystem::directory_iterator(out)) {
        EXPECT_NE(entry.path().filename(), "timeline.json.gz");
        EXPECT_NE(entry.path().filename().string().front(), '.') << entry.path() << " is a partial file";
    }
    // A folder of its name: found before the run, so that nothing is said of it.
    std::filesystem::create_directory(folder.path() / "timeline.json.gz");
    const ProcessResult taken = astrolabe({"run", kQuickstart, "--timeline", "--out", out});
    EXPECT_EQ(taken.exit_code, 1);
    EXPECT_EQ(taken.out, "");
    EXPECT_NE(taken.err.find("timeline.json.gz': Is a directory"), std::string::npos) << taken.err;
}

TEST(RunTimeline, OnADiskThatItFillsLeavesRoomForTheResults) {
    const TemporaryFolder folder;
    const std::string disk = quoted(folder.path().string());
    // 5 MB of timeline on a disk of 3 MB, which others of the machine do not see.
    const ProcessResult result =
        run_shell("unshare -rm sh -c " + quoted("mount -t tmpfs -o size=3m none " + disk + " || exit 77; " +
                                                quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) +
                                                " --timeline --plain-timeline --out " + disk +
                                                " >/dev/null; code=$?; ls -A " + disk + "; exit $code"));
    if (result.exit_code == 77 || result.err.rfind("unshare:", 0) == 0) {
        GTEST_SKIP() << "no file systems of one's own here: " << result.err;
    }
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("timeline.json': No space left on device"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("error["), result.err.rfind("error[")) << result.err;
    EXPECT_EQ(result.out,
              "critical_path.csv\nlinks.csv\noperations.csv\nresolved.yaml\nsummary.json\n"
              "traffic_by_switch.csv\ntraffic_matrix.csv\n");
}

}  // namespace
}  // namespace astrolabe::testing
