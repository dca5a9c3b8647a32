/// `astrolabe what-if` and changes of `compare`, as a user meets them.
#include "process.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kQuickstart = ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml";

ProcessResult what_if(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "what-if");
    return run_program(ASTROLABE_PROGRAM, arguments);
}

Json run_summary(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", kQuickstart, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
}

/// The lines behind a command on a page, to the end of the block.
std::vector<std::string> lines_behind(const std::string& page, const std::string& command) {
    std::istringstream text(page);
    std::vector<std::string> lines;
    bool is_there = false;
    for (std::string line; std::getline(text, line);) {
        if (is_there && (line == "```" || line.starts_with("$ "))) {
            break;
        }
        if (is_there && line != "…") {
            lines.push_back(line);
        }
        is_there = is_there || line == command;
    }
    return lines;
}

TEST(WhatIf, TheReadmePrintsTheRowsOfTheQuickstart) {
    const ProcessResult result = what_if({kQuickstart, "-j", "2", "--progress", "none"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::vector<std::string> expected =
        lines_behind(read_file(ASTROLABE_SOURCE_DIR "/README.md"),
                     "$ ./astrolabe what-if examples/quickstart/experiment.yaml");
    ASSERT_GE(expected.size(), 10u);
    std::string head;
    for (const std::string& line : expected) {
        head += line + "\n";
    }
    EXPECT_EQ(result.out.substr(0, head.size()), head);
    EXPECT_EQ(result.err, "");
}

TEST(WhatIf, EveryRowIsTheRunWithThatChange) {
    const ProcessResult result = what_if(
        {kQuickstart, "--json", "--only", "links,latency", "--set", "cluster.ranks=8", "--seed", "3"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json table = Json::parse(result.out);
    const Json base = run_summary({"--set", "cluster.ranks=8", "--seed", "3"});
    EXPECT_EQ(table["fingerprint"], base["fingerprint"]);
    EXPECT_EQ(table["iteration_s"], base["mean_iteration_time_s"]);
    ASSERT_EQ(table["changes"].size(), 4u);
    double last = 1;
    for (const Json& row : table["changes"]) {
        ASSERT_EQ(row["outcome"], "done") << row;
        const Json alone = run_summary(
            {"--set", "cluster.ranks=8", "--seed", "3", "--set", row["set"][0].get<std::string>()});
        EXPECT_EQ(row["fingerprint"], alone["fingerprint"]) << row;
        EXPECT_EQ(row["iteration_s"], alone["mean_iteration_time_s"]) << row;
        const double saved = row["saved_share"].get<double>();
        EXPECT_DOUBLE_EQ(saved, 1 - row["iteration_s"].get<double>() / table["iteration_s"].get<double>());
        EXPECT_LE(saved, last) << "sorted by what is saved";
        last = saved;
    }
}

TEST(WhatIf, OwnChangesAreTriedInsteadAndCommasJoinThem) {
    const ProcessResult result =
        what_if({kQuickstart, "--json", "--change", "scaled.latency=0,scaled.compute=2", "--change",
                 "network={kind: leaf_spine, hosts: 16, hosts_per_leaf: 4, spines: 2}", "--change",
                 "network.hosts=8"});
    ASSERT_EQ(result.exit_code, 0) << "a change that cannot be made is no error\n" << result.err;
    const Json table = Json::parse(result.out);
    ASSERT_EQ(table["changes"].size(), 3u);
    EXPECT_EQ(table["changes"][0]["set"], Json({"scaled.latency=0", "scaled.compute=2"}));
    EXPECT_EQ(table["changes"][0]["fingerprint"],
              run_summary({"--set", "scaled.latency=0", "--set", "scaled.compute=2"})["fingerprint"]);
    EXPECT_EQ(table["changes"][1]["group"], "own");
    EXPECT_GT(table["changes"][1]["extra_usd"].get<double>(), 0) << "16 hosts on 6 switches instead of one";
    EXPECT_EQ(table["changes"][2]["outcome"], "unsupported");
    EXPECT_EQ(table["changes"][2]["reason"], "cluster has 16 ranks but network provides 8 hosts");
}

TEST(WhatIf, WhatIsMuchSlowerIsEnded) {
    // A tenth of the rate: the run is bound by its links for most of its time, and takes far more than twice.
    const ProcessResult result = what_if({kQuickstart, "--change", "scaled.links.host-switch=0.1"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("  slower scaled.links.host-switch=0.1: more than 2 times the time\n"),
              std::string::npos)
        << result.out;
}

TEST(WhatIf, MistakesAreToldBeforeAnythingRuns) {
    const ProcessResult group = what_if({kQuickstart, "--only", "latnecy"});
    EXPECT_EQ(group.exit_code, 2);
    EXPECT_NE(group.err.find("did you mean 'latency'?"), std::string::npos) << group.err;
    const ProcessResult change = what_if({kQuickstart, "--change", "scaled.latency"});
    EXPECT_EQ(change.exit_code, 2);
    EXPECT_NE(change.err.find("'scaled.latency' is not PATH=VALUE"), std::string::npos) << change.err;
    EXPECT_EQ(what_if({kQuickstart, "--change", "a=1", "--change", "a=1"}).exit_code, 2);
    EXPECT_EQ(what_if({}).exit_code, 2);
    EXPECT_EQ(what_if({"/nowhere.yaml"}).exit_code, 3);
    const ProcessResult invalid = what_if({kQuickstart, "--set", "scaled.links.host-leaf=2"});
    EXPECT_EQ(invalid.exit_code, 3);
    EXPECT_NE(invalid.err.find("it has host-switch"), std::string::npos) << invalid.err;
    EXPECT_EQ(what_if({kQuickstart, "--costs", "/nowhere.yaml"}).exit_code, 3);
}

TEST(WhatIf, CtrlCEndsItAndItsRuns) {
    const auto start = std::chrono::steady_clock::now();
    // Each run would take minutes.
    // A process that has ended may wait for init to take note of it.
    const ProcessResult result = run_shell(quoted(ASTROLABE_PROGRAM) + " what-if " + quoted(kQuickstart) +
                                           " --set workload.iterations=5000 & id=$!; sleep 1; "
                                           "children=$(pgrep -P $id); kill -INT $id; wait $id; "
                                           "code=$?; sleep 0.5; for child in $children; do ps -o stat= -p "
                                           "$child | grep -v Z; done; echo code $code");
    EXPECT_EQ(result.out, "code 130\n") << result.err;
    EXPECT_NE(result.err.find("interrupted"), std::string::npos) << result.err;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

TEST(WhatIf, ABaseThatIsKilledIsAFailureThatSaysSo) {
    // The first child is the run as it is, which would take minutes.
    const ProcessResult result =
        run_shell(quoted(ASTROLABE_PROGRAM) + " what-if " + quoted(kQuickstart) +
                  " --set workload.iterations=5000 --progress none & id=$!; for i in $(seq 600); do "
                  "child=$(cat /proc/$id/task/$id/children); test -n \"$child\" && break; sleep 0.1; done; "
                  "kill -KILL $child; wait $id");
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_NE(result.err.find("astrolabe: the run as it is was killed by signal 9\n"), std::string::npos)
        << result.err;
}

TEST(WhatIf, RunNamesTheCommandThatAsksAboutIt) {
    const ProcessResult result = run_program(
        ASTROLABE_PROGRAM, {"run", kQuickstart, "--set", "network={kind: flat, hosts: 16}", "--seed", "2"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string last = "\n  try          astrolabe what-if " + kQuickstart +
                             " --set 'network={kind: flat, hosts: 16}' --seed 2\n";
    EXPECT_TRUE(result.out.ends_with(last)) << result.out;
    const ProcessResult json = run_program(ASTROLABE_PROGRAM, {"run", kQuickstart, "--json"});
    EXPECT_EQ(json.out.find("what-if"), std::string::npos);
}

TEST(CompareChanges, AreColumnsBehindTheFileAsItIs) {
    const ProcessResult result = run_program(
        ASTROLABE_PROGRAM, {"compare", kQuickstart, "--change", "scaled.latency=0,scaled.compute=2",
                            "--change", "scaled.links.host-switch=2", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json runs = Json::parse(result.out)["runs"];
    ASSERT_EQ(runs.size(), 3u);
    EXPECT_EQ(runs[0]["label"], "experiment");
    EXPECT_TRUE(runs[0]["change"].is_null());
    EXPECT_EQ(runs[1]["label"], "scaled.latency=0,scaled.compute=2");
    EXPECT_EQ(runs[1]["summary"]["fingerprint"],
              run_summary({"--set", "scaled.latency=0", "--set", "scaled.compute=2"})["fingerprint"]);
    EXPECT_EQ(runs[2]["change"], "scaled.links.host-switch=2");
}

TEST(CompareChanges, AreMadeToEveryFile) {
    const TemporaryFolder folder;
    const std::string other =
        folder.write("other.yaml", "schema: astrolabe/1\ninclude: " + kQuickstart + "\nseed: 2\n").string();
    const ProcessResult result =
        run_program(ASTROLABE_PROGRAM, {"compare", kQuickstart, other, "--change", "cluster.ranks=8", "--out",
                                        (folder.path() / "out").string()});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const char* label : {"experiment", "experiment cluster.ranks=8", "other", "other cluster.ranks=8"}) {
        EXPECT_TRUE(std::filesystem::exists(folder.path() / "out" / label / "summary.json")) << label;
    }
    EXPECT_EQ(run_program(ASTROLABE_PROGRAM, {"compare", kQuickstart, "--change", "ranks"}).exit_code, 2);
}

TEST(WhatIf, FlowsHaveNoIterationToBeShorter) {
    const ProcessResult refused = what_if({ASTROLABE_SOURCE_DIR "/examples/flows/experiment.yaml"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("error[what-if.flows]"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("examples/flows/experiment.yaml"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace astrolabe::testing
