/// Kills and refusals at the system calls by which commands change files (fault_points.cpp): the same command
/// goes on from whatever is there then, and what it gives in the end is, byte for byte, what it gives
/// undisturbed.
#include "sweep_study.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>

#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string kExample = ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml";
const std::string kSearch = ASTROLABE_SOURCE_DIR "/examples/optimize/tables.yaml";

class Faults : public ::testing::Test {
protected:
    using Content = std::map<std::string, std::string>;

    [[nodiscard]] std::string out() const { return (folder_.path() / "out").string(); }

    /// The command with a fault; none: undisturbed.
    [[nodiscard]] static ProcessResult with_fault(const std::string& fault,
                                                  const std::vector<std::string>& words) {
        std::string line = fault.empty() ? ""
                                         : "LD_PRELOAD=" + quoted(ASTROLABE_FAULT_POINTS) +
                                               " ASTROLABE_FAULT=" + quoted(fault) + " ";
        line += quoted(ASTROLABE_PROGRAM);
        for (const std::string& word : words) {
            line += " " + quoted(word);
        }
        return run_shell(line);
    }

    /// Files of a run or a search by name, without what a machine's speed has in them.
    [[nodiscard]] static Content files_of(const std::string& folder) {
        Content files;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.is_regular_file()) {
                std::string text = read_file(entry.path());
                if (entry.path().filename() == "summary.json") {
                    Json summary = Json::parse(text);
                    for (const char* of_machine : {"engine", "wall_s", "simulated_s", "evaluations_per_s"}) {
                        summary.erase(of_machine);
                    }
                    text = summary.dump(2);
                }
                files[fs::relative(entry.path(), folder).string()] = text;
            }
        }
        return files;
    }

    /// Of a sweep: what its store says.
    [[nodiscard]] static Content store_of(const std::string& folder) {
        const auto store = study::ResultStore::open_to_read(folder);
        EXPECT_TRUE(store) << render(store.error());
        Content rows;
        for (const study::StudyRow& row : store->rows("sizes")) {
            rows[fmt::to_string(row.point.number)] =
                fmt::format("{} {} {} {} {}", row.point.parameters.dump(), to_string(row.result.status),
                            row.result.fingerprint, row.result.summary.dump(), row.result.resolved);
        }
        return rows;
    }

    /// Faults at points of a command that begins in the folder that `prepare` leaves.
    void expect_the_same(const std::vector<std::string>& words,
                         const std::function<Content(const std::string&)>& content,
                         const std::function<void()>& prepare) {
        const auto begin = [&] {
            fs::remove_all(out());
            prepare();
        };
        begin();
        const std::string counted = (folder_.path() / "count").string();
        const ProcessResult first = with_fault("count:" + counted, words);
        ASSERT_EQ(first.exit_code, 0) << first.err;
        const Content expected = content(out());
        const long calls = std::stol(read_file(counted));
        ASSERT_GT(calls, 10) << "calls are counted";
        const long step = kEveryPoint ? 1 : std::max(1L, calls / 7);
        std::size_t killed = 0;
        for (const char* kind : {"before", "after", "EIO", "ENOSPC"}) {
            for (long at = 1; at <= calls; at += step) {
                begin();
                const std::string fault = fmt::format("{}:{}", kind, at);
                const ProcessResult hit = with_fault(fault, words);
                const bool is_kill = kind[0] == 'b' || kind[0] == 'a';
                // The number of calls of a sweep varies with when its workers end.
                EXPECT_TRUE(hit.exit_code == 0 || (is_kill ? hit.exit_code == 137 : hit.exit_code == 1))
                    << fault << ": " << hit.exit_code << hit.err;
                killed += hit.exit_code == 137 ? 1 : 0;
                if (hit.exit_code == 1) {
                    EXPECT_NE(hit.err.find("error["), std::string::npos) << fault << ": " << hit.err;
                } else if (hit.exit_code == 0) {
                    Content there = content(out());
                    there.erase(".astrolabe-run");  // the last calls of all remove it, and what is aside
                    std::erase_if(there, [](const auto& file) {
                        return file.first.rfind(".astrolabe-earlier/", 0) == 0;
                    });
                    EXPECT_EQ(there, expected) << fault << ": said to be done";
                }
                const ProcessResult again = with_fault("", words);
                ASSERT_EQ(again.exit_code, 0) << fault << ": " << again.err;
                ASSERT_EQ(content(out()), expected) << fault;
            }
        }
        EXPECT_GE(killed, 10U) << "of " << calls << " calls";
        std::printf("%ld calls, %zu kills\n", calls, killed);
    }

#ifdef ASTROLABE_EVERY_POINT
    static constexpr bool kEveryPoint = true;
#else
    static constexpr bool kEveryPoint = false;
#endif
    TemporaryFolder folder_;
};

TEST_F(Faults, OfARunIntoANewFolder) {
    expect_the_same({"run", kExample, "--set", "cluster.ranks=4", "--flows", "--timeline", "--out", out()},
                    files_of, [] {});
}

TEST_F(Faults, OfARunIntoTheFolderOfAnother) {
    expect_the_same({"run", kExample, "--set", "cluster.ranks=4", "--out", out()}, files_of, [this] {
        ASSERT_EQ(
            with_fault("", {"run", kExample, "--flows", "--throughput", "1ms", "--out", out()}).exit_code, 0);
    });
}

TEST_F(Faults, OfASweep) {
    const std::string study = folder_
                                  .write("study.yaml", R"(schema: astrolabe/1
name: sizes
base: )" + kExample + "\nvary: {workload.batch.global: [512, 1024], cluster.scheduling: [fifo, lifo]}\n")
                                  .string();
    expect_the_same({"sweep", study, "-j", "2", "--resume", "--out", out()}, store_of, [] {});
}

TEST_F(Faults, OfASearch) {
    expect_the_same(
        {"optimize", kSearch, "--set", "optimize.budget.evaluations=20", "-j", "1", "--out", out()}, files_of,
        [] {});
}

#ifdef ASTROLABE_EVERY_POINT
TEST_F(Faults, OfAReport) {
    if (run_shell("node --version").exit_code != 0) {
        GTEST_SKIP() << "there is no node";
    }
    const std::string study = folder_
                                  .write("two.yaml", R"(schema: astrolabe/1
name: two
base: )" + kExample + "\nvary: {workload.batch.global: [512, 1024]}\nreport: [iteration_time]\n")
                                  .string();
    const std::string results = (folder_.path() / "results").string();
    ASSERT_EQ(with_fault("", {"sweep", study, "--out", results}).exit_code, 0);
    if (with_fault("", {"report", results}).exit_code != 0) {
        GTEST_SKIP() << "the charts' library is not to be had";
    }
    expect_the_same({"report", results, "--pdf", "none", "--out", out()}, files_of, [] {});
}
#endif

}  // namespace
}  // namespace astrolabe::testing
