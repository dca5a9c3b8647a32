/// What `--out` leaves in a folder that is not empty, or not alone (docs/results.md, "The folder of a run").
#include "process.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace astrolabe::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string kQuickstart = ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml";

class OutputOfRuns : public ::testing::Test {
protected:
    [[nodiscard]] std::string out(const std::string& name) const { return (folder_.path() / name).string(); }
    [[nodiscard]] ProcessResult run(const std::string& name, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"run", kQuickstart, "--out", out(name)});
        return run_program(ASTROLABE_PROGRAM, more);
    }
    [[nodiscard]] static ProcessResult report(const std::string& folder) {
        return run_program(ASTROLABE_PROGRAM, {"report", folder});
    }
    /// That a folder has one run: what the summary lists and nothing else.
    static void expect_one_run(const std::string& folder) {
        std::set<std::string> listed{"summary.json"};
        const Json summary = Json::parse(read_file(folder + "/summary.json"));
        for (const auto& [name, file] : summary.at("files").items()) {
            listed.insert(name);
            EXPECT_EQ(fs::file_size(folder + "/" + name), file.at("bytes").get<std::uintmax_t>()) << name;
        }
        std::set<std::string> there;
        for (const auto& entry : fs::directory_iterator(folder)) {
            there.insert(entry.path().filename().string());
        }
        EXPECT_EQ(there, listed);
    }

    TemporaryFolder folder_;
};

// Once the program was ended by SIGPIPE (141) before it had written a file.
TEST_F(OutputOfRuns, AReaderThatStopsReadingCostsNoResult) {
    const std::string code = out("code");
    const ProcessResult piped =
        run_shell("{ sleep 0.2; " + quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) +
                  " --json --out " + quoted(out("a")) + "; echo $? > " + quoted(code) + "; } | true");
    EXPECT_EQ(read_file(code), "0\n") << piped.err;
    EXPECT_EQ(piped.err, "");
    expect_one_run(out("a"));
    // Files in place of which there is a pipe, too.
    const ProcessResult traced = run_shell(
        "{ sleep 0.2; " + quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) +
        " --set 'backend={kind: packet}' --packet-trace /dev/stdout --trace-links '^host 0 ' --out " +
        quoted(out("b")) + "; echo $? > " + quoted(code) + "; } | true");
    EXPECT_EQ(read_file(code), "0\n") << traced.err;
}

TEST_F(OutputOfRuns, AFullDeviceIsSaid) {
    const ProcessResult full =
        run_shell(quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) + " --json > /dev/full");
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_NE(full.err.find("standard output could not be written"), std::string::npos) << full.err;
}

// A pager takes 64 KiB and no more until somebody reads on; the results are there meanwhile.
TEST_F(OutputOfRuns, ResultsAreWrittenBeforeTheyArePrinted) {
    const std::string fifo = out("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);
    const int writer = ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(writer, 0);
    const std::string block(4096, 'x');
    while (::write(writer, block.data(), block.size()) > 0) {  // until it is full
    }
    static_cast<void>(
        run_shell("timeout 20 " + quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) + " --out " +
                  quoted(out("a")) + " > " + quoted(fifo) + " & job=$!; for i in $(seq 200); do test -s " +
                  quoted(out("a/summary.json")) + " && break; sleep 0.1; done; kill $job; wait $job"));
    expect_one_run(out("a"));
    ::close(writer);
    ::close(reader);
}

// 300 letters are more than a name can have, and a link to itself leads nowhere: looking threw an exception.
TEST_F(OutputOfRuns, NamesThatCannotBeLookedUpAreNoDefects) {
    const std::string loop = out("loop");
    fs::create_symlink(loop, loop);
    for (const std::string& name : {std::string(300, 'n'), loop}) {
        const ProcessResult run = run_program(ASTROLABE_PROGRAM, {"run", name});
        EXPECT_EQ(run.exit_code, 3) << run.err;
        EXPECT_EQ(run.err.find("a defect of the program"), std::string::npos) << run.err;
        const ProcessResult compared =
            run_program(ASTROLABE_PROGRAM, {"compare", kQuickstart, "--backends", "fluid," + name + ".yaml"});
        EXPECT_EQ(compared.exit_code, 2) << compared.err;
    }
}

TEST_F(OutputOfRuns, AFolderThatIsGoneIsSaid) {
    const ProcessResult gone =
        run_shell("mkdir " + quoted(out("gone")) + " && cd " + quoted(out("gone")) + " && rmdir " +
                  quoted(out("gone")) + " && " + quoted(ASTROLABE_PROGRAM) + " run x.yaml");
    EXPECT_EQ(gone.exit_code, 2);
    EXPECT_NE(gone.err.find("the current folder"), std::string::npos) << gone.err;
    const ProcessResult asked =
        run_shell("mkdir " + quoted(out("gone")) + " && cd " + quoted(out("gone")) + " && rmdir " +
                  quoted(out("gone")) + " && " + quoted(ASTROLABE_PROGRAM) + " --version");
    EXPECT_EQ(asked.exit_code, 0) << asked.err;
}

TEST_F(OutputOfRuns, AFolderThatARunWritesIsRefusedToAnother) {
    ASSERT_EQ(run("a").exit_code, 0);
    const std::string summary = read_file(out("a/summary.json"));
    const int lock = ::open(out("a").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(lock, LOCK_EX), 0);
    const ProcessResult refused = run("a");
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_NE(refused.err.find(out("a") + "' is being written by process " + std::to_string(::getpid())),
              std::string::npos)
        << refused.err;
    EXPECT_EQ(read_file(out("a/summary.json")), summary);
    ::close(lock);
    EXPECT_EQ(run("a").exit_code, 0);
    expect_one_run(out("a"));
}

TEST_F(OutputOfRuns, OfTwoAtATimeTheFolderHasOneWhole) {
    const std::string program = quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) + " --out " +
                                quoted(out("both")) + " --set workload.batch.global=";
    const ProcessResult both =
        run_shell(program + "1024 --flows & first=$!; " + program +
                  "2048 & second=$!; wait $first; a=$?; wait $second; b=$?; [ $a = 0 ] || [ $b = 0 ]");
    EXPECT_EQ(both.exit_code, 0) << both.err;
    expect_one_run(out("both"));
    // What the files say of themselves is one run, too.
    const Json summary = Json::parse(read_file(out("both/summary.json")));
    EXPECT_NE(read_file(out("both/resolved.yaml")).find(summary.at("fingerprint").get<std::string>()),
              std::string::npos);
}

TEST_F(OutputOfRuns, RecordsOfAnEarlierRunAreGone) {
    ASSERT_EQ(run("a", {"--flows", "--timeline", "--throughput", "1ms"}).exit_code, 0);
    ASSERT_TRUE(fs::exists(out("a/flows.csv")));
    expect_one_run(out("a"));
    std::ofstream(out("a/notes.txt")) << "mine";
    ASSERT_EQ(run("a").exit_code, 0);
    for (const char* name : {"flows.csv", "timeline.json.gz", "throughput.csv", "carried.csv"}) {
        EXPECT_FALSE(fs::exists(out("a/") + name)) << name;
    }
    EXPECT_EQ(read_file(out("a/notes.txt")), "mine");
    fs::remove(out("a/notes.txt"));
    expect_one_run(out("a"));
}

TEST_F(OutputOfRuns, WhatIsNoRunLeavesTheRunInItsFolder) {
    ASSERT_EQ(run("a").exit_code, 0);
    const std::string summary = read_file(out("a/summary.json"));
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"compare", kQuickstart, "--backends", "fluid,congestion_free"},
          std::vector<std::string>{"export", kQuickstart, "--format", "text"}}) {
        std::vector<std::string> arguments = command;
        arguments.insert(arguments.end(), {"--out", out("a")});
        const ProcessResult result = run_program(ASTROLABE_PROGRAM, arguments);
        EXPECT_EQ(result.exit_code, 0) << command.front() << result.err;
        EXPECT_EQ(read_file(out("a/summary.json")), summary) << command.front();
        EXPECT_TRUE(fs::exists(out("a/operations.csv"))) << command.front();
    }
    EXPECT_TRUE(fs::exists(out("a/compare.json")));
    EXPECT_EQ(report(out("a")).exit_code, 0) << "the run is whole";
}

TEST_F(OutputOfRuns, ReportReadsNoFileThatIsNotTheRuns) {
    ASSERT_EQ(run("a").exit_code, 0);
    const std::string operations = read_file(out("a/operations.csv"));
    const auto expect_refused = [&](const std::string& name) {
        const ProcessResult refused = report(out("a"));
        EXPECT_EQ(refused.exit_code, 1) << name;
        EXPECT_NE(refused.err.find(out("a/") + name), std::string::npos) << refused.err;
        EXPECT_FALSE(fs::exists(out("a/report/index.html")));
    };
    std::ofstream(out("a/operations.csv")) << operations.substr(0, operations.size() / 2);
    expect_refused("operations.csv");
    // At the end of a line, where nothing else shows it.
    std::ofstream(out("a/operations.csv"))
        << operations.substr(0, operations.rfind('\n', operations.size() / 2) + 1);
    expect_refused("operations.csv");
    fs::remove(out("a/operations.csv"));
    expect_refused("operations.csv");
    std::ofstream(out("a/operations.csv")) << operations;
    ASSERT_EQ(run("b", {"--seed", "5"}).exit_code, 0);
    fs::copy_file(out("b/resolved.yaml"), out("a/resolved.yaml"), fs::copy_options::overwrite_existing);
    expect_refused("resolved.yaml");
}

TEST_F(OutputOfRuns, NoFileIsWrittenThroughALink) {
    const std::string victim = folder_.write("victim", "mine").string();
    fs::create_directory(out("a"));
    // The shell's process id is that of the program that takes its place.
    const ProcessResult linked = run_shell(
        "cd " + quoted(out("a")) + " && ln -s ../victim .probe-$$ && ln -s ../victim summary.json && " +
        "ln -s ../victim .summary.json-$$ && exec " + quoted(ASTROLABE_PROGRAM) + " run " +
        quoted(kQuickstart) + " --out .");
    EXPECT_EQ(linked.exit_code, 0) << linked.err;
    EXPECT_EQ(read_file(victim), "mine");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(out("a/summary.json"))));
}

}  // namespace
}  // namespace astrolabe::testing
