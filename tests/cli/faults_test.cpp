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

    /// A command, and what leaves the folder that it begins in.
    struct Command {
        std::vector<std::string> words;
        std::function<void()> prepare = [] {};
    };

    [[nodiscard]] Command run_into_new_folder() const {
        return {{"run", kExample, "--set", "cluster.ranks=4", "--flows", "--timeline", "--out", out()}};
    }
    [[nodiscard]] Command run_into_folder_of_another() const {
        return {{"run", kExample, "--set", "cluster.ranks=4", "--out", out()}, [out = out()] {
                    ASSERT_EQ(
                        with_fault("", {"run", kExample, "--flows", "--throughput", "1ms", "--out", out})
                            .exit_code,
                        0);
                }};
    }
    [[nodiscard]] Command sweep() const {
        const std::string study = folder_
                                      .write("study.yaml", R"(schema: astrolabe/1
name: sizes
base: )" + kExample + "\nvary: {workload.batch.global: [512, 1024], cluster.scheduling: [fifo, lifo]}\n")
                                      .string();
        return {{"sweep", study, "-j", "2", "--resume", "--out", out()}};
    }
    [[nodiscard]] Command search() const {
        return {{"optimize", kSearch, "--set", "optimize.budget.evaluations=20", "-j", "1", "--out", out()}};
    }

    /// Of the command undisturbed, calls that change files.
    [[nodiscard]] long calls_of(const Command& command) const {
        fs::remove_all(out());
        command.prepare();
        const std::string counted = (folder_.path() / "count").string();
        const ProcessResult first = with_fault("count:" + counted, command.words);
        EXPECT_EQ(first.exit_code, 0) << first.err;
        return first.exit_code == 0 ? std::stol(read_file(counted)) : 0;
    }

    /// Faults at points of a command.
    void expect_the_same(const Command& command, const std::function<Content(const std::string&)>& content) {
        const std::vector<std::string>& words = command.words;
        const auto begin = [&] {
            fs::remove_all(out());
            command.prepare();
        };
        const long calls = calls_of(command);
        ASSERT_GT(calls, 10) << "calls are counted";
        const Content expected = content(out());
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
    expect_the_same(run_into_new_folder(), files_of);
}

TEST_F(Faults, OfARunIntoTheFolderOfAnother) {
    expect_the_same(run_into_folder_of_another(), files_of);
}

TEST_F(Faults, OfASweep) {
    expect_the_same(sweep(), store_of);
}

TEST_F(Faults, OfASearch) {
    expect_the_same(search(), files_of);
}

#ifdef ASTROLABE_EVERY_POINT
class FaultsOfReports : public Faults {
protected:
    void SetUp() override {
        if (run_shell("node --version").exit_code != 0) {
            GTEST_SKIP() << "there is no node";
        }
        const std::string study = folder_
                                      .write("two.yaml", R"(schema: astrolabe/1
name: two
base: )" + kExample + "\nvary: {workload.batch.global: [512, 1024]}\nreport: [iteration_time]\n")
                                      .string();
        results_ = (folder_.path() / "results").string();
        ASSERT_EQ(with_fault("", {"sweep", study, "--out", results_}).exit_code, 0);
        if (with_fault("", {"report", results_}).exit_code != 0) {
            GTEST_SKIP() << "the charts' library is not to be had";
        }
    }
    [[nodiscard]] Command report() const { return {{"report", results_, "--pdf", "none", "--out", out()}}; }

    std::string results_;
};

TEST_F(FaultsOfReports, OfAReport) {
    expect_the_same(report(), files_of);
}

// The tests above kill before and after each of these calls, in processes of their own.
TEST_F(FaultsOfReports, OfAllCommandsAreFiveHundredKills) {
    long calls = 0;
    for (const Command& command :
         {run_into_new_folder(), run_into_folder_of_another(), sweep(), search(), report()}) {
        calls += calls_of(command);
    }
    EXPECT_GE(2 * calls, 500) << "of all commands together";
}
#endif

}  // namespace
}  // namespace astrolabe::testing
