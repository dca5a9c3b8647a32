/// `astrolabe optimize`, as a user meets it.
#include "process.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kTables = ASTROLABE_SOURCE_DIR "/examples/optimize/tables.yaml";

ProcessResult astrolabe(const std::vector<std::string>& arguments) {
    return run_program(ASTROLABE_PROGRAM, arguments);
}

Json without_engine(const std::string& text) {
    Json json = Json::parse(text);
    json.erase("engine");
    return json;
}

TEST(Optimize, ExamplesGiveTheirRecordsWhateverRunsSideBySide) {
    const std::string folder = ASTROLABE_SOURCE_DIR "/examples/optimize/";
    for (const auto& [name, jobs] : {std::pair{"tables", "1"}, {"tables", "2"}, {"networks", "1"}}) {
        const Json expected = Json::parse(read_file(folder + "expected/" + name + ".json"), nullptr, false);
        const ProcessResult result = astrolabe({"optimize", folder + name + ".yaml", "--json", "-j", jobs});
        ASSERT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(without_engine(result.out), expected) << "got:\n" << result.out;
    }
}

TEST(Optimize, WritesAnExperimentThatTakesTheReportedTime) {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string();
    const ProcessResult result =
        astrolabe({"optimize", kTables, "--set", "optimize.budget.evaluations=60", "--out", out});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const char* word : {"times as fast as the base", "lower bound", "evaluations", "best plan"}) {
        EXPECT_NE(result.out.find(word), std::string::npos) << result.out;
    }
    const Json summary = Json::parse(read_file(out + "/summary.json"));
    EXPECT_EQ(summary["evaluations"], 60);
    const ProcessResult best = astrolabe({"run", out + "/best.yaml", "--json"});
    ASSERT_EQ(best.exit_code, 0) << best.err;
    EXPECT_EQ(Json::parse(best.out)["mean_iteration_time_s"], summary["best_time_s"]);
    EXPECT_NE(read_file(out + "/trace.csv").find("chain,evaluation,move,outcome"), std::string::npos);
}

TEST(Optimize, SeedsOfTheCommandLineWin) {
    const auto search = [](const char* seed) {
        const ProcessResult result = astrolabe(
            {"optimize", kTables, "--json", "--seed", seed, "--set", "optimize.budget.evaluations=40"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return without_engine(result.out);
    };
    const Json first = search("5");
    EXPECT_EQ(first["seed"], 5);
    EXPECT_EQ(search("5"), first);
    EXPECT_NE(search("6")["remembered"], Json());
}

/// A search that would take hours. Once `begun` is true `meddle` is done; in both $search is its process.
ProcessResult meddled_search(const std::string& options, const std::string& log, const std::string& begun,
                             const std::string& meddle) {
    return run_shell(quoted(ASTROLABE_PROGRAM) + " optimize " + quoted(kTables) +
                     " --set optimize.budget.evaluations=100000000 --progress plain " + options + " 2> " +
                     quoted(log) + " & search=$!; for i in $(seq 600); do " + begun +
                     " && break; sleep 0.1; done; " + meddle + "; wait $search");
}

TEST(Optimize, InterruptedItKeepsTheBestSoFar) {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string();
    const std::string log = (folder.path() / "log").string();
    const ProcessResult result =
        meddled_search("--out " + quoted(out), log, "test -s " + quoted(log), "kill -INT $search");
    EXPECT_EQ(result.exit_code, 130) << result.out;
    EXPECT_NE(read_file(log).find("interrupted; this is the best plan so far"), std::string::npos);
    const Json summary = Json::parse(read_file(out + "/summary.json"));
    EXPECT_EQ(summary["interrupted"], true);
    EXPECT_GT(summary["evaluations"], 0);
    EXPECT_GT(summary["lower_bound_s"], 0.0);
    EXPECT_EQ(astrolabe({"validate", out + "/best.yaml"}).exit_code, 0);
}

TEST(Optimize, AChainThatIsKilledCostsItsOwnPlansOnly) {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string();
    const std::string log = (folder.path() / "log").string();
    const ProcessResult result = meddled_search(
        "-j 2 --set optimize.budget.time=3s --out " + quoted(out), log,
        "chains=$(cat /proc/$search/task/$search/children); test -n \"$chains\"", "kill -KILL ${chains%% *}");
    EXPECT_EQ(result.exit_code, 1) << result.out;
    EXPECT_NE(read_file(log).find("chain 0 was killed by signal 9"), std::string::npos) << read_file(log);
    const Json summary = Json::parse(read_file(out + "/summary.json"));
    EXPECT_EQ(summary["interrupted"], false);
    EXPECT_NE(read_file(out + "/trace.csv").find("\n1,2,"), std::string::npos);
    EXPECT_EQ(astrolabe({"validate", out + "/best.yaml"}).exit_code, 0);
}

TEST(Optimize, SearchesWhatTheNetworkLeavesOpen) {
    const std::string study = ASTROLABE_SOURCE_DIR "/examples/optimize/networks.yaml";
    const auto search = [&](const std::string& network) {
        const ProcessResult result =
            astrolabe({"optimize", study, "--json", "--set", "base.network=" + network, "--set",
                       "optimize.choices.network=[" + network + "]"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return Json::parse(result.out);
    };
    // ring, rotor_ring and the network's rings with direct and rotor_direct, and two ways to shard. A
    // fat-tree has neither circuits nor rings: of six pairs of algorithms it leaves one.
    const Json tree = search("{kind: fat_tree, k: 4, link: {rate: 100Gbps, latency: 500ns}}");
    EXPECT_EQ(tree["plans"], 12);
    EXPECT_EQ(tree["infeasible"], 10);
    // Opera has circuits: two pairs, those with the network's rings, are refused.
    const Json rotors = search(ASTROLABE_SOURCE_DIR "/inputs/networks/opera-study-16.yaml");
    EXPECT_EQ(rotors["infeasible"], 4);
    // TopoOpt's has rings and no circuits, which leaves two.
    const Json rings =
        search("{kind: topoopt, degree: 4, mode: paper, link: {rate: 100Gbps, latency: 500ns}}");
    EXPECT_EQ(rings["infeasible"], 8);
    EXPECT_TRUE(rings["optimum"]);
}

TEST(Optimize, AnswersForEachNetworkAsASearchOfItAlone) {
    const std::string study = ASTROLABE_SOURCE_DIR "/examples/optimize/networks.yaml";
    const auto search = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"optimize", study, "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProcessResult result = astrolabe(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return Json::parse(result.out);
    };
    const Json all = search({"-j", "2"});
    ASSERT_EQ(all["networks"].size(), 3U);
    const std::vector<std::string> alone{
        "{kind: fat_tree, k: 4, link: {rate: 100Gbps, latency: 500ns}}",
        ASTROLABE_SOURCE_DIR "/inputs/networks/opera-study-16.yaml",
        "{kind: topoopt, degree: 4, mode: paper, link: {rate: 100Gbps, latency: 500ns}}"};
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < alone.size(); ++i) {
        const Json& answer = all["networks"][i];
        const Json one = search(
            {"--set", "base.network=" + alone[i], "--set", "optimize.choices.network=[" + alone[i] + "]"});
        EXPECT_EQ(answer["best_time_s"], one["best_time_s"]) << alone[i];
        // The base's plan on it is the base of the search of it alone.
        EXPECT_EQ(answer["baseline_time_s"], one["base_time_s"]) << alone[i];
        EXPECT_EQ(answer["infeasible"], one["infeasible"]) << alone[i];
        EXPECT_DOUBLE_EQ(answer["baseline_over_best"],
                         answer["baseline_time_s"].get<double>() / answer["best_time_s"].get<double>());
        best = std::min(best, answer["best_time_s"].get<double>());
        bool is_beaten = false;
        for (const Json& other : all["networks"]) {
            const bool is_no_worse =
                other["best_time_s"].get<double>() <= answer["best_time_s"].get<double>() &&
                other["cost_usd"].get<double>() <= answer["cost_usd"].get<double>();
            is_beaten = is_beaten || (is_no_worse && (other["best_time_s"] != answer["best_time_s"] ||
                                                      other["cost_usd"] != answer["cost_usd"]));
        }
        EXPECT_EQ(answer["on_front"], !is_beaten);
    }
    EXPECT_EQ(all["best_time_s"], best);
    const ProcessResult text = astrolabe({"optimize", study});
    EXPECT_NE(text.out.find("opera-study-16"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("on the front of time and cost"), std::string::npos) << text.out;
}

TEST(Optimize, SaysWhenPlansAreTooManyToCount) {
    const ProcessResult text = astrolabe({"optimize", kTables, "--set", "optimize.budget.evaluations=6"});
    EXPECT_EQ(text.out.substr(0, text.out.find(' ')), "optimize-tables:");
    EXPECT_NE(text.out.find("more than 64 bits can count"), std::string::npos) << text.out;
    const ProcessResult json =
        astrolabe({"optimize", kTables, "--json", "--set", "optimize.budget.evaluations=6"});
    EXPECT_TRUE(Json::parse(json.out)["plans"].is_null());
}

TEST(Optimize, FolderThatCannotBeWrittenIsSaidBeforeTheSearch) {
    const ProcessResult result = astrolabe({"optimize", kTables, "--out", "/proc/nothing"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("output.write"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace astrolabe::testing
