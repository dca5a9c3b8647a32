/// `astrolabe compare`, as a user meets it.
#include "process.hpp"

#include <filesystem>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kQuickstart = ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml";

ProcessResult compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    return run_program(ASTROLABE_PROGRAM, arguments);
}

Json run_summary(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", kQuickstart, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
}

TEST(Compare, RunsAreThoseOfTheRunCommandAndRatiosAreToTheFirst) {
    const ProcessResult result =
        compare({kQuickstart, "--backends", "fluid,congestion_free", "--set", "cluster.ranks=8", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json comparison = Json::parse(result.out);
    EXPECT_EQ(comparison["reference"], "fluid");
    ASSERT_EQ(comparison["runs"].size(), 2u);
    for (Json run : comparison["runs"]) {
        const std::string backend = run["label"].get<std::string>();
        Json alone = run_summary({"--set", "cluster.ranks=8", "--set", "backend.kind=" + backend});
        const double wall = run["summary"]["engine"]["wall_s"].get<double>();
        EXPECT_GT(wall, 0.0);
        run["summary"].erase("engine");
        alone.erase("engine");
        EXPECT_EQ(run["summary"], alone) << backend;
        EXPECT_EQ(run["exit_code"], 0);
        EXPECT_TRUE(run["error"].is_null());
    }
    const Json& first = comparison["runs"][0];
    const Json& second = comparison["runs"][1];
    EXPECT_EQ(first["ratios"]["mean_iteration_time"], 1.0);
    EXPECT_EQ(second["ratios"]["mean_iteration_time"].get<double>(),
              second["summary"]["mean_iteration_time_s"].get<double>() /
                  first["summary"]["mean_iteration_time_s"].get<double>());
    EXPECT_EQ(second["ratios"]["compute"], 1.0);
    EXPECT_EQ(second["ratios"]["traffic"], 1.0);
}

TEST(Compare, NamesAlgorithmsThatAreSlowAsValidateDoes) {
    // On 5 us a link, a ring of 16 ranks takes 30 steps of two links where direct takes 2.
    const std::vector<std::string> ring{"--set", "network.link.latency=5us", "--set",
                                        "cluster.collectives.all_reduce={algorithm: ring, chunks: 1}"};
    std::vector<std::string> words{kQuickstart, "--change",
                                   "cluster.collectives.all_reduce.algorithm=direct"};
    words.insert(words.end(), ring.begin(), ring.end());
    const ProcessResult compared = compare(words);
    ASSERT_EQ(compared.exit_code, 0) << compared.err;
    EXPECT_NE(compared.out.find("\nexperiment: all_reduce of "), std::string::npos) << compared.out;
    EXPECT_NE(compared.out.find(" by ring takes "), std::string::npos) << compared.out;
    EXPECT_EQ(compared.out.find(" by direct takes "), std::string::npos) << compared.out;
    words = {"validate", kQuickstart};
    words.insert(words.end(), ring.begin(), ring.end());
    const ProcessResult validated = run_program(ASTROLABE_PROGRAM, words);
    EXPECT_NE(validated.out.find("\n# slow: all_reduce of "), std::string::npos) << validated.out;
    words.emplace_back("--json");
    const Json facts = Json::parse(run_program(ASTROLABE_PROGRAM, words).out);
    EXPECT_EQ(facts.at("slow_methods").at(0).at("named").at("algorithm"), "ring");
    EXPECT_GT(facts.at("slow_methods").at(0).at("factor"), 2.0);
}

TEST(Compare, NamesTheTermThatEnginesDifferBy) {
    const TemporaryFolder folder;
    // Three ranks send 8 MB into one port: 1920 us and 1 us of latency where they share it, 641 us where they
    // do not.
    const auto file = folder.write(
        "incast.yaml",
        "schema: astrolabe/1\nworkload: {kind: collective, collective: reduce, size: 8MB}\n"
        "cluster: {ranks: 4, device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}, "
        "collectives: {reduce: {algorithm: direct, chunks: 1}}}\n"
        "network: {kind: flat, hosts: 4, link: {rate: 100Gbps, latency: 500ns}}\nbackend: {kind: fluid}\n");
    const ProcessResult text = compare({file.string(), "--backends", "congestion_free,fluid"});
    ASSERT_EQ(text.exit_code, 0) << text.err;
    EXPECT_NE(
        text.out.find("fluid against congestion_free: +199.7 % of an iteration. Estimated: sharing +199.7 %"),
        std::string::npos)
        << text.out;
    const ProcessResult json = compare({file.string(), "--backends", "congestion_free,fluid", "--json"});
    const Json runs = Json::parse(json.out)["runs"];
    EXPECT_TRUE(runs[0]["difference"].is_null());
    EXPECT_EQ(runs[1]["difference"]["against"], "congestion_free");
    EXPECT_EQ(runs[1]["difference"]["terms"][0]["name"], "sharing");
    EXPECT_NEAR(runs[1]["difference"]["not_explained"].get<double>(), 0, 0.01);
    // The engine says so by itself, before and after the run.
    for (const char* command : {"run", "validate"}) {
        const ProcessResult said =
            run_program(ASTROLABE_PROGRAM, {command, file.string(), "--set", "backend.kind=congestion_free"});
        EXPECT_NE(said.out.find("sharing: fluid takes 199.7 % longer"), std::string::npos) << said.out;
    }
}

TEST(Compare, FilesOfOneNameAreToldApartByTheirFolders) {
    const TemporaryFolder folder;
    std::vector<std::string> files;
    for (const char* name : {"slow", "fast"}) {
        std::filesystem::create_directory(folder.path() / name);
        const std::string rate = name == std::string("slow") ? "50Gbps" : "200Gbps";
        files.push_back(folder
                            .write(std::string(name) + "/experiment.yaml",
                                   "schema: astrolabe/1\ninclude: " + kQuickstart +
                                       "\nnetwork: {kind: flat, hosts: 16, link: {rate: " + rate +
                                       ", latency: 500ns}}\n")
                            .string());
    }
    const ProcessResult result = compare({files[0], files[1], "-j", "2"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    // Columns are as wide as a fingerprint.
    EXPECT_NE(result.out.find("slow-experiment   fast-experiment\n"), std::string::npos) << result.out;
    for (const char* row : {"iteration ", "lower bound ", "exposed ", "drain ", "messages ", "packets ",
                            "drops ", "events ", "wall time ", "fingerprint "}) {
        EXPECT_NE(result.out.find(std::string("\n") + row), std::string::npos) << row << "\n" << result.out;
    }
    EXPECT_EQ(result.out.find("same work"), std::string::npos);
}

TEST(Compare, SaysWhereTheRunsDoNotDoTheSameWork) {
    const TemporaryFolder folder;
    const std::string longer =
        folder
            .write("longer.yaml", "schema: astrolabe/1\ninclude: " + kQuickstart +
                                      "\nseed: 2\ncluster: {ranks: 8, device: {kind: "
                                      "roofline, peak: 15TFLOPS, memory_bandwidth: 900GB/s}}\n")
            .string();
    const ProcessResult result = compare({kQuickstart, longer, kQuickstart});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("do not do the same work: they differ in ranks, traffic."), std::string::npos)
        << result.out;
    EXPECT_NE(result.out.find(
                  "Equal fingerprints, so the same run: quickstart-experiment, quickstart-experiment-2."),
              std::string::npos)
        << result.out;
}

TEST(Compare, AFailedRunKeepsItsColumnAndLosesNoOther) {
    const TemporaryFolder folder;
    const std::string broken = folder.write("broken.yaml", "schema: astrolabe/2\n").string();
    const std::string out = (folder.path() / "out").string();
    const ProcessResult result = compare({broken, kQuickstart, "--out", out});
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_NE(result.err.find(broken + ":1:9: error[config.schema]"), std::string::npos) << result.err;
    EXPECT_NE(result.out.find("outcome"), std::string::npos);
    EXPECT_NE(result.out.find("refused"), std::string::npos);
    EXPECT_NE(result.out.find("broken: error[config.schema]: schema is 'astrolabe/2'"), std::string::npos)
        << result.out;
    EXPECT_NE(result.out.find("over experiment"), std::string::npos)
        << "ratios are to the first that finished";
    const Json comparison = Json::parse(read_file(out + "/compare.json"));
    EXPECT_EQ(comparison["reference"], "experiment");
    EXPECT_EQ(comparison["runs"][0]["exit_code"], 3);
    EXPECT_TRUE(comparison["runs"][0]["summary"].is_null());
    const Json kept = Json::parse(read_file(out + "/experiment/summary.json"));
    EXPECT_EQ(kept["fingerprint"], comparison["runs"][1]["summary"]["fingerprint"]);
    EXPECT_FALSE(std::filesystem::exists(out + "/broken"));
    EXPECT_EQ(compare({broken, broken}).exit_code, 3);
}

TEST(Compare, WrongUsageIsNamed) {
    EXPECT_EQ(compare({}).exit_code, 2);
    const ProcessResult alone = compare({kQuickstart});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_NE(alone.err.find("nothing to be compared with"), std::string::npos) << alone.err;
    const ProcessResult unknown = compare({kQuickstart, "--backends", "fluid,pakcet"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_NE(unknown.err.find("'pakcet' is not a backend"), std::string::npos) << unknown.err;
    EXPECT_EQ(compare({kQuickstart, "--backends", "fluid,fluid"}).exit_code, 2);
    EXPECT_EQ(compare({kQuickstart, kQuickstart, "-j", "0"}).exit_code, 2);
}

TEST(Compare, CtrlCEndsWith130AndTakesTheRunsAlong) {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string();
    // Half a minute long if nobody interrupts it. The run is found among the processes by its option --out=,
    // which the other command lines do not spell so.
    const std::string is_running = "grep -qsa -e '--out[=]" + out + "/fluid' /proc/[0-9]*/cmdline";
    const ProcessResult result = run_shell(
        quoted(ASTROLABE_PROGRAM) + " compare " + quoted(kQuickstart) +
        " --backends fluid,congestion_free --set workload.iterations=2000 --out " + quoted(out) +
        " & until [ -d " + quoted(out + "/fluid") +
        " ]; do sleep 0.05; done; kill -INT $!; wait $!; code=$?; " + "for i in 1 2 3 4 5 6 7 8 9 10; do " +
        is_running + " || exit $code; sleep 0.2; done; exit 99");
    EXPECT_EQ(result.exit_code, 130) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(std::filesystem::is_empty(out + "/fluid"));
}

#ifdef ASTROLABE_WITH_NS3
TEST(Compare, ThreeRungsOfTheQuickstart) {
    const ProcessResult result =
        compare({kQuickstart, "--backends", "fluid,packet,tcp", "--set", "workload.iterations=1", "-j", "2"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("Links carry payload on fluid, and headers beside it on packet and tcp"),
              std::string::npos)
        << result.out;
}

// Rotors and cables chosen for the job: all three engines run them, and what circuits that move with the
// demand lack on tcp is said in its column.
TEST(Compare, ThreeRungsOverCircuits) {
    const auto compared = [](const std::string& network) {
        return compare({kQuickstart, "--backends", "fluid,packet,tcp", "--set", "cluster.ranks=8", "--set",
                        "workload={kind: collective, collective: all_to_all, size: 500KB}", "--set",
                        "network=" + network, "--json"});
    };
    for (const char* const network :
         {"{kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 1}", "{kind: topoopt, degree: 3}"}) {
        const ProcessResult result = compared(network);
        ASSERT_EQ(result.exit_code, 0) << result.err;
        const Json runs = Json::parse(result.out)["runs"];
        ASSERT_EQ(runs.size(), 3u);
        for (const Json& run : runs) {
            EXPECT_EQ(run["summary"]["network"]["bytes_delivered"],
                      runs[0]["summary"]["network"]["bytes_delivered"]);
            EXPECT_GE(run["summary"]["total_time_s"].get<double>(),
                      run["summary"]["lower_bound_s"].get<double>());
        }
    }
    const ProcessResult moving =
        compare({kQuickstart, "--backends", "fluid,tcp", "--set", "workload.iterations=1", "--set",
                 "network={kind: topoopt, degree: 4, medium: circuit_switch, reconfiguration: {}}"});
    EXPECT_EQ(moving.exit_code, 4);
    EXPECT_NE(moving.out.find("has no controller that moves them: use the fluid engine"), std::string::npos)
        << moving.out;
}

// Each column is what `run` gives with that file as its backend, and is named by it; against fluid, an engine
// of another kind, the differences are explained, and not among settings of one engine.
TEST(Compare, SettingsOfOneBackendStandSideBySide) {
    const std::string presets = ASTROLABE_SOURCE_DIR "/inputs/backends/";
    const std::vector<std::string> words{kQuickstart,
                                         "--backends",
                                         "fluid," + presets + "hpcc.yaml," + presets + "roce-dcqcn-pfc.yaml",
                                         "--set",
                                         "workload.iterations=1",
                                         "-j",
                                         "2"};
    std::vector<std::string> as_json = words;
    as_json.emplace_back("--json");
    const ProcessResult result = compare(as_json);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json runs = Json::parse(result.out)["runs"];
    ASSERT_EQ(runs.size(), 3u);
    EXPECT_EQ(runs[0]["backend"], "fluid");
    for (std::size_t i = 1; i < 3; ++i) {
        const std::string name = i == 1 ? "hpcc" : "roce-dcqcn-pfc";
        EXPECT_EQ(runs[i]["label"], name);
        EXPECT_EQ(runs[i]["backend"], presets + name + ".yaml");
        EXPECT_EQ(runs[i]["summary"]["backend_kind"], "packet");
        EXPECT_EQ(runs[i]["difference"]["against"], "fluid");
        EXPECT_EQ(runs[i]["summary"]["fingerprint"],
                  run_summary({"--set", "workload.iterations=1", "--set",
                               "backend=" + presets + name + ".yaml"})["fingerprint"]);
    }
    EXPECT_NE(runs[1]["summary"]["fingerprint"], runs[2]["summary"]["fingerprint"]);
    const ProcessResult text = compare(words);
    EXPECT_NE(text.out.find("  roce-dcqcn-pfc\n"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("\nlongest queue "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("hpcc against fluid"), std::string::npos)
        << text.out;  // 9 %; the other within 3 %
    EXPECT_EQ(text.out.find("roce-dcqcn-pfc against hpcc"), std::string::npos) << text.out;
    const ProcessResult nowhere = compare({kQuickstart, "--backends", "fluid,inputs/backends/hpc.yaml"});
    EXPECT_EQ(nowhere.exit_code, 2);
    EXPECT_NE(nowhere.err.find("'inputs/backends/hpc.yaml' is not a file"), std::string::npos) << nowhere.err;
}

TEST(Compare, ABackendThatRefusesTheFabricSaysWhyInItsColumn) {
    // The TCP engine's frames need room for one datagram in every buffer.
    const ProcessResult result = compare({kQuickstart, "--backends", "fluid,tcp", "--set",
                                          "network.switch_buffer=2KB", "--set", "workload.iterations=1"});
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_NE(result.out.find("tcp: error[config.backend]: backend 'tcp' cannot run this network"),
              std::string::npos)
        << result.out;
}
#endif

TEST(Compare, FlowsAreComparedByTheirTimes) {
    const std::string flows = ASTROLABE_SOURCE_DIR "/examples/flows/experiment.yaml";
    const std::vector<std::string> twice{flows, "--set", "workload.duration=200us", "--change",
                                         "network.load_balancing=spray"};
    std::vector<std::string> as_json = twice;
    as_json.emplace_back("--json");
    const ProcessResult result = compare(as_json);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json comparison = Json::parse(result.out);
    const Json& runs = comparison["runs"];
    ASSERT_EQ(runs.size(), 2u);
    for (const auto& [key, quantity, value] :
         {std::tuple{"flow_time_p99", "time_s", "p99"}, std::tuple{"slowdown_mean", "slowdown", "mean"}}) {
        EXPECT_EQ(runs[1]["ratios"][key].get<double>(),
                  runs[1]["summary"]["flows"]["all"][quantity][value].get<double>() /
                      runs[0]["summary"]["flows"]["all"][quantity][value].get<double>());
    }
    // The two choices of a route by hash and by packets differ, and none has an iteration.
    EXPECT_LT(runs[1]["ratios"]["slowdown_mean"].get<double>(), 1);
    const ProcessResult text = compare(twice);
    EXPECT_NE(text.out.find("\ncompletion p99 "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("\nslowdown mean "), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("\niteration "), std::string::npos) << text.out;
}

}  // namespace
}  // namespace astrolabe::testing
