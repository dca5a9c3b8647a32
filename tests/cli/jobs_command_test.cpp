// Several jobs on one network, from the command line.

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <process.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kProgram = ASTROLABE_PROGRAM;

// Two leaves of four hosts with one uplink of a host's rate; each job has two hosts on each leaf, so one flow
// of a ring crosses each way: alone 6 steps of 2 MB at 100 Gb/s, 160 us each, together twice that.
const std::string kJobs = R"(schema: astrolabe/1
jobs:
  slowdown: true
  list:
    - {name: first, workload: {kind: collective, collective: all_reduce, size: 8MB}, hosts: [0, 1, 4, 5]}
    - {name: second, workload: {kind: collective, collective: all_reduce, size: 8MB}, hosts: [2, 3, 6, 7]}
cluster:
  device: {kind: roofline, peak: 1TFLOPS}
  collectives: {all_reduce: {algorithm: ring, chunks: 1}}
network: {kind: leaf_spine, hosts: 8, hosts_per_leaf: 4, spines: 1, link: {rate: 100Gbps, latency: 0}, uplink: {rate: 100Gbps, latency: 0}}
backend: {kind: fluid}
)";

TEST(JobsCommand, TableAndJsonAndFilesSayTheSame) {
    const TemporaryFolder folder;
    const std::string file = folder.write("jobs.yaml", kJobs).string();
    const std::string out = (folder.path() / "out").string();
    const ProcessResult json = run_program(kProgram, {"run", file, "--json", "--out", out});
    ASSERT_EQ(json.exit_code, 0) << json.err;
    const Json summary = Json::parse(json.out);
    EXPECT_NEAR(summary["makespan_s"].get<double>(), 1.92e-3, 1e-12);
    Json kept = Json::parse(read_file(std::filesystem::path(out) / "summary.json"));
    EXPECT_TRUE(kept["files"].contains("jobs/first/operations.csv")) << kept["files"];
    kept.erase("files");
    EXPECT_EQ(summary, kept);
    for (const char* job : {"first", "second"}) {
        const Json own = Json::parse(read_file(std::filesystem::path(out) / "jobs" / job / "summary.json"));
        EXPECT_NEAR(own["total_time_s"].get<double>(), 1.92e-3, 1e-12) << job;
    }
    const ProcessResult text = run_program(kProgram, {"run", file});
    EXPECT_NE(text.out.find("makespan     1.92 ms"), std::string::npos) << text.out;
    // Alone 960 us: a slowdown of 2 of each.
    EXPECT_NE(text.out.find("960 us"), std::string::npos) << text.out;
    // What was resolved runs the same.
    const ProcessResult again = run_program(kProgram, {"run", out + "/resolved.yaml", "--json"});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(Json::parse(again.out)["fingerprint"], summary["fingerprint"]);
}

TEST(JobsCommand, CommandsThatAreAboutOneJobSaySo) {
    const TemporaryFolder folder;
    const std::string file = folder.write("jobs.yaml", kJobs).string();
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"what-if", file},
          {"export", file, "--format", "alltoallv"},
          {"export", file, "--format", "chakra", "--out", (folder.path() / "traces").string()},
          {"run", file, "--timeline", "--out", (folder.path() / "timeline").string()}}) {
        const ProcessResult refused = run_program(kProgram, arguments);
        EXPECT_EQ(refused.exit_code, 3) << arguments[0] << refused.err;
        EXPECT_NE(refused.err.find("has several jobs"), std::string::npos) << refused.err;
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "traces"));
}

TEST(JobsCommand, WhatIsWrongIsNamedWithItsPlace) {
    const TemporaryFolder folder;
    const auto error_of = [&](const std::string& from, const std::string& to) {
        std::string text = kJobs;
        text.replace(text.find(from), from.size(), to);
        const ProcessResult refused =
            run_program(kProgram, {"validate", folder.write("jobs.yaml", text).string()});
        EXPECT_EQ(refused.exit_code, 3) << refused.out;
        return refused.err;
    };
    EXPECT_NE(error_of("name: second", "name: first").find("jobs.yaml:6:"), std::string::npos);
    EXPECT_NE(error_of("hosts: [2, 3, 6, 7]", "hosts: [2, 3, 5, 7]").find("jobs.yaml:"), std::string::npos);
    EXPECT_NE(error_of("hosts: [2, 3, 6, 7]", "ranks: 5").find("jobs.yaml:"), std::string::npos);
    EXPECT_NE(error_of("slowdown: true", "slowdwon: true").find("slowdown"), std::string::npos);
    EXPECT_NE(error_of("kind: collective, ", "").find("kind"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::testing
