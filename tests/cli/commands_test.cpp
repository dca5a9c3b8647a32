#include "process.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kQuickstart = ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml";
const std::string kPipeline = ASTROLABE_SOURCE_DIR "/examples/pipeline/experiment.yaml";
const std::string kOperaStudy = ASTROLABE_SOURCE_DIR "/examples/opera-dlrm/experiment-16.yaml";

ProcessResult astrolabe(const std::vector<std::string>& arguments) {
    return run_program(ASTROLABE_PROGRAM, arguments);
}

TEST(Usage, WrongUsageGivesTwoAndTheNearestName) {
    const ProcessResult command = astrolabe({"rnu"});
    EXPECT_EQ(command.exit_code, 2);
    EXPECT_NE(command.err.find("did you mean 'run'?"), std::string::npos) << command.err;
    const ProcessResult option = astrolabe({"run", kQuickstart, "--jsno"});
    EXPECT_EQ(option.exit_code, 2);
    EXPECT_NE(option.err.find("did you mean '--json'?"), std::string::npos) << option.err;
    EXPECT_EQ(astrolabe({}).exit_code, 2);
    EXPECT_EQ(astrolabe({"run"}).exit_code, 2);
    EXPECT_EQ(astrolabe({"describe"}).exit_code, 2);
    EXPECT_EQ(astrolabe({"describe", "flta"}).exit_code, 2);
    EXPECT_EQ(astrolabe({"list", "colours"}).exit_code, 2);
    EXPECT_EQ(astrolabe({"run", kQuickstart, "--progress", "loud"}).exit_code, 2);
}

TEST(Usage, WordsThatAreNotUtf8AreRefusedAtTheByte) {
    const ProcessResult set = astrolabe({"run", kQuickstart, "--set", "name=caf\xE9"});
    EXPECT_EQ(set.exit_code, 2);
    EXPECT_NE(set.err.find("argument 4 'name=caf?': byte 0xe9 at offset 8 is not UTF-8"), std::string::npos)
        << set.err;
    const ProcessResult json = astrolabe({"validate", "caf\xE9.yaml", "--diagnostics", "json"});
    EXPECT_EQ(json.exit_code, 2);
    EXPECT_NE(Json::parse(json.err).at("message").get<std::string>().find("byte 0xe9"), std::string::npos);
    EXPECT_EQ(astrolabe({"run", kQuickstart, "--set", "name=café"}).exit_code, 0);
}

TEST(Usage, OfManyErrorsFiftyAreShownInTextAndInJson) {
    const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "many_errors.yaml";
    {
        std::ofstream text(file);
        for (int i = 0; i < 20'000; ++i) {
            text << "key" << i << ": 1\n";
        }
    }
    const ProcessResult text = astrolabe({"validate", file.string()});
    EXPECT_EQ(text.exit_code, 3);
    EXPECT_NE(text.err.find("which are not shown"), std::string::npos);
    EXPECT_LT(std::count(text.err.begin(), text.err.end(), '\n'), 50 * 5 + 5) << "five lines an error";
    const ProcessResult json = astrolabe({"validate", file.string(), "--diagnostics", "json"});
    EXPECT_EQ(json.exit_code, 3);
    EXPECT_EQ(std::count(json.err.begin(), json.err.end(), '\n'), 51);
    std::filesystem::remove(file);
}

TEST(Usage, HelpAndVersionGiveZeroOnStdout) {
    EXPECT_EQ(astrolabe({"--version"}).out.substr(0, 10), "astrolabe ");
    for (const char* command : {"run", "validate", "collective", "list", "describe"}) {
        const ProcessResult help = astrolabe({command, "--help"});
        EXPECT_EQ(help.exit_code, 0) << command;
        EXPECT_NE(help.out.find("example: astrolabe "), std::string::npos) << command;
    }
}

TEST(Run, PrintsFourteenLinesThatSayHowLongAndWhy) {
    const ProcessResult result = astrolabe({"run", kQuickstart});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 14);
    for (const char* word : {"iteration", "steady", "lower bound", "bound by", "compute", "exposed", "drain",
                             "traffic", "ranks simulated", "not folded", "fingerprint"}) {
        EXPECT_NE(result.out.find(word), std::string::npos) << word;
    }
    EXPECT_EQ(result.err, "");
}

TEST(Run, TakesTheExperimentAsAnOptionLikeProgramsOfNs3) {
    const std::string option = "--experiment=" + kQuickstart;
    const ProcessResult as_command = astrolabe({"run", kQuickstart, "--seed", "7", "--json"});
    ASSERT_EQ(as_command.exit_code, 0) << as_command.err;
    for (const auto& words : {std::vector<std::string>{option, "--seed=7", "--json"},
                              std::vector<std::string>{"--seed=7", "--json", option}}) {
        const ProcessResult as_option = astrolabe(words);
        ASSERT_EQ(as_option.exit_code, 0) << as_option.err;
        EXPECT_EQ(Json::parse(as_option.out)["fingerprint"], Json::parse(as_command.out)["fingerprint"]);
    }
    EXPECT_EQ(astrolabe({"--experiment=/nowhere.yaml"}).exit_code, 3);
    EXPECT_EQ(astrolabe({option, "--jsno"}).exit_code, 2);
    const ProcessResult misspelt = astrolabe({"--experimnet=" + kQuickstart});
    EXPECT_EQ(misspelt.exit_code, 2);
    EXPECT_NE(misspelt.err.find("did you mean '--experiment'?"), std::string::npos) << misspelt.err;
}

TEST(Run, JsonHasEveryKeyOfTheDesignAndTheIdentityHolds) {
    const ProcessResult result = astrolabe({"run", kQuickstart, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json summary = Json::parse(result.out);
    for (const char* key : {"schema",
                            "name",
                            "version",
                            "fingerprint",
                            "seed",
                            "randomness",
                            "ranks",
                            "hosts",
                            "network_kind",
                            "backend_kind",
                            "iteration_time_s",
                            "mean_iteration_time_s",
                            "total_time_s",
                            "lower_bound_s",
                            "bounds",
                            "binding",
                            "critical_path",
                            "compute_s",
                            "exposed_s",
                            "drain_s",
                            "traffic_bytes",
                            "all_reduce_share",
                            "network",
                            "engine"}) {
        EXPECT_TRUE(summary.contains(key)) << key;
    }
    for (const char* key : {"all_reduce", "all_to_all", "all_gather", "reduce_scatter", "point_to_point"}) {
        EXPECT_TRUE(summary["traffic_bytes"].contains(key)) << key;
    }
    for (const char* key : {"messages", "bytes_delivered", "packets", "packet_hops", "drops",
                            "retransmissions", "max_link_utilization", "mean_link_utilization"}) {
        EXPECT_TRUE(summary["network"].contains(key)) << key;
    }
    for (const char* key : {"events", "wall_s", "peak_rss_bytes"}) {
        EXPECT_TRUE(summary["engine"].contains(key)) << key;
    }
    double accounted = summary["compute_s"].get<double>() + summary["drain_s"].get<double>();
    for (const auto& [cause, seconds] : summary["exposed_s"].items()) {
        EXPECT_GE(seconds.get<double>(), 0) << cause;
        accounted += seconds.get<double>();
    }
    const double total = summary["total_time_s"].get<double>();
    // Exact in picoseconds (asserted by the run itself); here only the rounding of some twenty doubles shows.
    EXPECT_NEAR(accounted, total, 1e-12 * total + 1e-15);
    double iterations = 0;
    for (const Json& time : summary["iteration_time_s"]) {
        iterations += time.get<double>();
    }
    EXPECT_NEAR(iterations, total, 1e-12 * total + 1e-15);
    EXPECT_GE(summary["mean_iteration_time_s"].get<double>(), summary["lower_bound_s"].get<double>());
    // mini16: 2 802 688 B of gradients per rank and iteration; a double binary tree moves 2(N-1)·S in all:
    // 2 iterations · 2 · 15 · 2 802 688 = 168 161 280 B. All-to-all: 2 iterations · 2 passes · 15/16 · 16
    // ranks · 262 144 B = 15 728 640 B.
    EXPECT_EQ(summary["traffic_bytes"]["all_reduce"], 168161280);
    EXPECT_EQ(summary["traffic_bytes"]["all_to_all"], 15728640);
    EXPECT_EQ(summary["network"]["bytes_delivered"], 168161280 + 15728640);
}

TEST(Run, WritesWholeFilesAndTheResolvedOneReproducesTheRun) {
    const TemporaryFolder folder;
    const std::filesystem::path out = folder.path() / "new" / "folder";
    ASSERT_EQ(
        astrolabe({"run", kQuickstart, "--set", "cluster.ranks=8", "--seed", "7", "--out", out.string()})
            .exit_code,
        0);
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(out)) {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names,
              (std::vector<std::string>{"critical_path.csv", "links.csv", "operations.csv", "resolved.yaml",
                                        "summary.json", "traffic_by_switch.csv", "traffic_matrix.csv"}));
    const Json first = Json::parse(read_file(out / "summary.json"));
    const ProcessResult again = astrolabe({"run", (out / "resolved.yaml").string(), "--json"});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    const Json second = Json::parse(again.out);
    EXPECT_EQ(first["seed"], 7);
    EXPECT_EQ(first["ranks"], 8);
    EXPECT_EQ(first["fingerprint"], second["fingerprint"]);
    EXPECT_EQ(first["name"], second["name"]);
    const std::string csv = read_file(out / "operations.csv");
    EXPECT_EQ(csv.substr(0, csv.find(',')), "iteration");
    EXPECT_NE(csv.find("Top_0.weight_gradient.all_reduce"), std::string::npos);
    for (const char* name : {"traffic_matrix.csv", "traffic_by_switch.csv"}) {
        std::istringstream matrix(read_file(out / name));
        std::string row;
        std::getline(matrix, row);
        EXPECT_EQ(row, "source,destination,bytes");
        std::int64_t bytes = 0;
        while (std::getline(matrix, row)) {
            bytes += std::stoll(row.substr(row.rfind(',') + 1));
        }
        EXPECT_EQ(first["network"]["bytes_delivered"], bytes) << name;
    }
}

TEST(Run, FlowsAreWrittenOnRequestAndSummedUp) {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const ProcessResult alone = astrolabe({"run", kQuickstart, "--flows"});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_NE(alone.err.find("--flows requires --out"), std::string::npos) << alone.err;
    const ProcessResult result = astrolabe({"run", kQuickstart, "--flows", "--out", out, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json summary = Json::parse(result.out);
    const std::string flows = read_file(folder.path() / "flows.csv");
    EXPECT_EQ(std::count(flows.begin(), flows.end(), '\n'), summary["network"]["messages"].get<int>() + 1);
    EXPECT_NE(flows.find(",Embedding.forward.all_to_all,"), std::string::npos);
    const Json& times = summary["network"]["message_time_s"];
    EXPECT_GT(times["mean"].get<double>(), 0.0);
    const std::vector<std::string> names{"p1",  "p5",  "p10", "p25",   "p50",
                                         "p75", "p90", "p99", "p99.9", "max"};
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
        EXPECT_LE(times[names[i]].get<double>(), times[names[i + 1]].get<double>()) << names[i];
    }
    const Json silent = Json::parse(astrolabe({"run", kQuickstart, "--json"}).out);
    EXPECT_FALSE(silent["network"].contains("message_time_s"));
    EXPECT_EQ(silent["fingerprint"], summary["fingerprint"]);
}

TEST(Run, ThroughputIsWrittenOnRequestAndAddsUp) {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const ProcessResult result =
        astrolabe({"run", kQuickstart, "--throughput", "100us", "--out", out, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    std::istringstream rows(read_file(folder.path() / "throughput.csv"));
    std::string row;
    std::getline(rows, row);
    EXPECT_EQ(row, "from_s,to_s,payload_bytes,wire_bytes,share,delivered_bytes,completed_bytes");
    double carried = 0;
    double delivered = 0;
    double completed = 0;
    while (std::getline(rows, row)) {
        double from = 0;
        double to = 0;
        double payload = 0;
        double wire = 0;
        double share = 0;
        double arrived = 0;
        double whole = 0;
        ASSERT_EQ(std::sscanf(row.c_str(), "%lf,%lf,%lf,%lf,%lf,%lf,%lf", &from, &to, &payload, &wire, &share,
                              &arrived, &whole),
                  7);
        EXPECT_EQ(payload, wire) << "fluid has no headers";
        EXPECT_NEAR(share, wire / (16 * 12.5e9 * (to - from)), 1e-5) << "16 hosts at 100 Gb/s";
        EXPECT_LE(share, 1.0);
        carried += payload;
        delivered += arrived;
        completed += whole;
    }
    const auto bytes = Json::parse(result.out)["network"]["bytes_delivered"].get<double>();
    EXPECT_EQ(carried, bytes) << "every message crosses one link out of a host";
    EXPECT_EQ(delivered, bytes);
    EXPECT_EQ(completed, bytes);
    EXPECT_EQ(read_file(folder.path() / "carried.csv")
                  .rfind("from_s,to_s,links,payload_bytes,wire_bytes,share\n", 0),
              0U);
    const ProcessResult fine = astrolabe({"run", kQuickstart, "--throughput", "1ns", "--out", out});
    EXPECT_NE(fine.err.find("throughput.csv and carried.csv have intervals of"), std::string::npos)
        << fine.err;
    EXPECT_EQ(astrolabe({"run", kQuickstart, "--throughput", "1ms"}).exit_code, 2);  // needs --out
    const ProcessResult none = astrolabe({"run", kQuickstart, "--throughput", "0", "--out", out});
    EXPECT_EQ(none.exit_code, 3);
    EXPECT_NE(none.err.find("'0' is no interval"), std::string::npos) << none.err;
}

TEST(Run, PacketRecordsAreRefusedWhereThereAreNoPackets) {
    const TemporaryFolder folder;
    const std::string trace = (folder.path() / "trace.pcapng").string();
    const ProcessResult fluid = astrolabe({"run", kQuickstart, "--packet-trace", trace});
    EXPECT_EQ(fluid.exit_code, 3);
    EXPECT_NE(fluid.err.find("error[record.no-packets]: backend 'fluid'"), std::string::npos) << fluid.err;
    EXPECT_EQ(astrolabe({"run", kQuickstart, "--queue-series", "10us"}).exit_code, 2);   // needs --out
    EXPECT_EQ(astrolabe({"run", kQuickstart, "--trace-links", "host 3"}).exit_code, 2);  // needs a trace
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

#ifdef ASTROLABE_WITH_NS3
TEST(Run, PacketsAndQueuesAreRecordedOnRequest) {
    const TemporaryFolder folder;
    const std::string trace = (folder.path() / "trace.pcapng").string();
    const std::vector<std::string> run{
        "run", kQuickstart, "--json", "--set", "backend.kind=packet", "--set", "workload.iterations=1"};
    std::vector<std::string> recorded = run;
    recorded.insert(recorded.end(), {"--packet-trace", trace, "--trace-links", "^host 3 -> ",
                                     "--queue-series", "10us", "--out", folder.path().string()});
    const ProcessResult result = astrolabe(recorded);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(Json::parse(result.out)["fingerprint"], Json::parse(astrolabe(run).out)["fingerprint"]);
    const std::string packets = read_file(trace);
    EXPECT_NE(packets.find("host 3 -> switch"), std::string::npos);
    EXPECT_EQ(packets.find("host 4 -> switch"), std::string::npos);
    const std::string queues = read_file(folder.path() / "queues.csv");
    EXPECT_EQ(queues.substr(0, queues.find('\n')), "time_s,link,source,destination,waiting_bytes,peak_bytes");
    EXPECT_GT(std::count(queues.begin(), queues.end(), '\n'), 1);
}
#endif

TEST(Run, AKilledRunLeavesNoPartOfItsFlows) {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string();
    // SIGKILL, which nobody can clean up after, once there are megabytes of flows.
    const ProcessResult result =
        run_shell(quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) +
                  " --set workload.iterations=2000 --flows --out " + quoted(out) + " & until [ -d " +
                  quoted(out) + " ]; do sleep 0.05; done; sleep 0.5; kill -KILL $!; wait $!");
    EXPECT_EQ(result.exit_code, 137) << result.err;
    EXPECT_TRUE(std::filesystem::is_empty(out));
}

TEST(Run, CollectivesAreCharacterisedByKindAndPhase) {
    const ProcessResult result = astrolabe({"run", kQuickstart, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json summary = Json::parse(result.out);
    ASSERT_EQ(summary["collectives"].size(), 2u);  // all_reduce and all_to_all
    std::uint64_t messages = 0;
    for (const Json& collective : summary["collectives"]) {
        EXPECT_EQ(collective["bytes"], summary["traffic_bytes"][collective["kind"].get<std::string>()]);
        std::int64_t phase_bytes = 0;
        for (const Json& phase : collective["phases"]) {
            phase_bytes += phase["bytes"].get<std::int64_t>();
            std::uint64_t in_histogram = 0;
            for (const Json& size : phase["message_sizes"]) {
                in_histogram += size["messages"].get<std::uint64_t>();
            }
            EXPECT_EQ(phase["messages"], in_histogram);
            EXPECT_GT(phase["time_s"].get<double>(), 0.0);
            EXPECT_LE(phase["time_s"].get<double>(), collective["time_s"].get<double>());
        }
        EXPECT_EQ(collective["bytes"], phase_bytes);
        EXPECT_GT(collective["share"].get<double>(), 0.0);
        EXPECT_LE(collective["share"].get<double>(), 1.0);
        messages += collective["messages"].get<std::uint64_t>();
    }
    EXPECT_EQ(summary["network"]["messages"], messages);
    // 10 layers with weights, two iterations; the all-to-all there and back, twice.
    EXPECT_EQ(summary["collectives"][0]["count"], 20);
    EXPECT_EQ(summary["collectives"][1]["count"], 4);
    // Everybody computes and exchanges the same; of two trees' 64 chunks every rank sends nearly the same.
    EXPECT_DOUBLE_EQ(summary["imbalance"]["compute"].get<double>(), 1.0);
    EXPECT_GE(summary["imbalance"]["bytes_sent"].get<double>(), 1.0);
    EXPECT_LT(summary["imbalance"]["bytes_sent"].get<double>(), 1.2);
}

TEST(Run, TheSameRunTwiceGivesTheSameBytes) {
    Json first = Json::parse(astrolabe({"run", kQuickstart, "--json"}).out);
    Json second = Json::parse(astrolabe({"run", kQuickstart, "--json"}).out);
    first.erase("engine");
    second.erase("engine");
    EXPECT_EQ(first.dump(), second.dump());
}

TEST(Run, AFolderThatCannotBeWrittenIsOneClearErrorBeforeTheRun) {
    const TemporaryFolder folder;
    const std::string file = folder.write("plain-file", "").string();
    const ProcessResult result = astrolabe({"run", kQuickstart, "--out", file + "/below"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("error[output.write]: cannot write '" + file), std::string::npos) << result.err;
}

TEST(Run, AFullDiskLeavesNoHalfWrittenFileAndLosesNoFinishedOne) {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    ASSERT_EQ(astrolabe({"run", kQuickstart, "--out", out}).exit_code, 0);
    const std::string finished = read_file(folder.path() / "operations.csv");
    // A limit on file size makes the writing of every longer file fail as a full disk does.
    const ProcessResult result =
        run_shell("ulimit -f 1; trap '' XFSZ; " + quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) +
                  " --set workload.iterations=3 --out " + quoted(out));
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_NE(result.err.find("error[output.write]"), std::string::npos) << result.err;
    EXPECT_EQ(read_file(folder.path() / "operations.csv"), finished);
    for (const auto& entry : std::filesystem::directory_iterator(out)) {
        EXPECT_NE(entry.path().filename().string().front(), '.') << entry.path() << " is a partial file";
    }
}

TEST(Run, CtrlCEndsWith130AndLeavesNothingBehind) {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string();
    // Half a minute long if nobody interrupts it; the signal comes once the run has opened its folder.
    const ProcessResult result = run_shell(
        quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) + " --set workload.iterations=2000 --out " +
        quoted(out) + " & until [ -d " + quoted(out) + " ]; do sleep 0.05; done; kill -INT $!; wait $!");
    EXPECT_EQ(result.exit_code, 130) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(std::filesystem::is_empty(out));
}

#ifdef ASTROLABE_WITH_NS3
TEST(Run, AStallSaysWhoWaitsForWhat) {
    // One try for lost segments and a switch port with room for seven frames: some connection of the
    // all-to-all dies.
    const ProcessResult result = astrolabe(
        {"run", kQuickstart, "--set", "network.switch_buffer=64KB", "--set", "workload.iterations=1", "--set",
         "backend={kind: tcp, ns3: {attributes: {'ns3::TcpSocket::DataRetries': 1, "
         "'ns3::TcpSocket::ConnCount': 1}}}"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("stalled after"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("waits for 'Embedding."), std::string::npos) << result.err;  // the operation
    EXPECT_NE(result.err.find(" from rank "), std::string::npos) << result.err;            // the peer
    EXPECT_NE(result.err.find("B left"), std::string::npos) << result.err;                 // the bytes
}
#endif

TEST(Run, ARackThatFailsEndsTheRunWithWhatItTookWithIt) {
    const TemporaryFolder folder;
    const std::string opera = folder
                                  .write("opera.yaml", R"(schema: astrolabe/1
kind: opera
racks: 16
uplinks: 4
hosts_per_rack: 2
failures: [{at: 100us, racks: 1}]
)")
                                  .string();
    std::vector<std::string> backends = {"fluid"};
#ifdef ASTROLABE_WITH_NS3
    backends.emplace_back("packet");
#endif
    for (const std::string& backend : backends) {
        const ProcessResult result =
            astrolabe({"run", kQuickstart, "--set", "network=" + opera, "--set", "backend.kind=" + backend});
        EXPECT_EQ(result.exit_code, 1) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_NE(result.err.find("stalled after"), std::string::npos) << result.err;
        EXPECT_NE(result.err.find("pairs of hosts wait for circuits"), std::string::npos) << result.err;
        EXPECT_NE(result.err.find("is disconnected since 100us"), std::string::npos) << result.err;
    }
}

#ifdef ASTROLABE_WITH_NS3
// 512 × 511 messages of a packet each: more than those whose causes are followed unasked, which takes one
// thread. All but what the run cost is the same.
TEST(Run, ThreadsChangeNoResult) {
    const auto with = [](const std::string& threads) {
        const ProcessResult result = astrolabe(
            {"collective", "--kind=all-to-all", "--algorithm=direct", "--size=2MiB", "--backend=packet",
             "--json", "--threads=" + threads,
             "--network={kind: leaf_spine, hosts: 512, hosts_per_leaf: 32, spines: 16, oversubscription: 2, "
             "link: {rate: 100Gbps, latency: 500ns}}"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return Json::parse(result.out).at(0);
    };
    Json alone = with("1");
    EXPECT_EQ(alone["engine"]["threads"], 1);
    for (const std::string threads : {"2", "3"}) {
        Json together = with(threads);
        EXPECT_EQ(together["engine"]["threads"].dump(), threads);
        EXPECT_EQ(together["engine"]["events"], alone["engine"]["events"]);
        together.erase("engine");
        Json rest = alone;
        rest.erase("engine");
        EXPECT_EQ(together, rest);
    }
    const ProcessResult none = astrolabe({"run", kQuickstart, "--threads", "0"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_NE(none.err.find("--threads"), std::string::npos) << none.err;
}
#endif

TEST(Run, OverridesReachIntoIncludedFilesAndBadOnesAreNamed) {
    const ProcessResult more =
        astrolabe({"run", kQuickstart, "--json", "--set", "workload.model.tables.count=32"});
    ASSERT_EQ(more.exit_code, 0) << more.err;
    // Twice the tables, twice the all-to-all (see above): 31 457 280 B.
    EXPECT_EQ(Json::parse(more.out)["traffic_bytes"]["all_to_all"], 31457280);
    const ProcessResult bad = astrolabe({"run", kQuickstart, "--set", "workload.modle.x=1"});
    EXPECT_EQ(bad.exit_code, 3);
    EXPECT_NE(bad.err.find("--set:1:10: error[config.unknown-key]"), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find("did you mean 'model'?"), std::string::npos) << bad.err;
}

TEST(Run, OneRankComputesAndSendsNothing) {
    const ProcessResult result = astrolabe({"run", kQuickstart, "--json", "--set", "cluster.ranks=1"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json summary = Json::parse(result.out);
    EXPECT_EQ(summary["network"]["messages"], 0);
    EXPECT_DOUBLE_EQ(summary["compute_s"].get<double>(), summary["total_time_s"].get<double>());
    EXPECT_DOUBLE_EQ(summary["lower_bound_s"].get<double>(), summary["mean_iteration_time_s"].get<double>());
}

TEST(Validate, PrintsYamlThatRunsTheSame) {
    const ProcessResult result = astrolabe({"validate", kQuickstart});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const TemporaryFolder folder;
    const std::string file = folder.write("resolved.yaml", result.out).string();
    const Json original = Json::parse(astrolabe({"run", kQuickstart, "--json"}).out);
    const Json resolved = Json::parse(astrolabe({"run", file, "--json"}).out);
    EXPECT_EQ(original["fingerprint"], resolved["fingerprint"]);
    // The messages it announces are the messages that are sent.
    EXPECT_NE(result.out.find(original["network"]["messages"].dump() + " messages"), std::string::npos)
        << result.out;
}

TEST(Validate, EveryInputFileIsGood) {
    const std::string inputs = ASTROLABE_SOURCE_DIR "/inputs/";
    int files = 0;
    std::vector<std::string> folders{"models", "clusters", "networks"};
#ifdef ASTROLABE_WITH_NS3
    folders.emplace_back("backends");
#endif
    for (const std::string& folder : folders) {
        for (const auto& entry : std::filesystem::directory_iterator(inputs + folder)) {
            ++files;
            const auto has_key = [text = read_file(entry.path())](const std::string& key) {
                return text.find("\n" + key + ":") != std::string::npos;
            };
            const bool is_flexflow = has_key("bag_size");
            const bool is_cluster = has_key("ranks") || has_key("include");
            const bool is_pipeline = has_key("layers");
            std::vector<std::string> arguments{"validate",
                                               is_flexflow   ? kOperaStudy
                                               : is_pipeline ? kPipeline
                                                             : kQuickstart,
                                               "--set"};
            if (folder == "models") {
                arguments.push_back("workload.model=" + entry.path().string());
            } else if (folder == "networks") {
                arguments.push_back("network=" + entry.path().string());
            } else if (folder == "backends") {
                arguments.push_back("backend=" + entry.path().string());
            } else if (is_cluster) {
                arguments.push_back("cluster=" + entry.path().string());
                arguments.insert(arguments.end(), {"--set", "network=" + inputs + "networks/flat100g.yaml"});
            } else {
                arguments.push_back("cluster.device=" + entry.path().string());
            }
            const ProcessResult result = astrolabe(arguments);
            EXPECT_EQ(result.exit_code, 0) << entry.path() << "\n" << result.err;
        }
    }
    EXPECT_GE(files, 15);
}

TEST(ListAndDescribe, EverythingListedIsDescribedAndEveryParameterHasHelp) {
    const ProcessResult all = astrolabe({"list"});
    ASSERT_EQ(all.exit_code, 0);
    std::istringstream lines(all.out);
    std::string line;
    int names = 0;
    while (std::getline(lines, line)) {
        if (!line.starts_with("  ")) {
            continue;
        }
        std::istringstream words(line);
        std::string name;
        std::string help;
        words >> name >> help;
        ++names;
        EXPECT_FALSE(help.empty()) << name;
        const ProcessResult described = astrolabe({"describe", name});
        EXPECT_EQ(described.exit_code, 0) << name;
        // A parameter is a line "key: type (default …)" and a line of help below it.
        EXPECT_EQ(described.out.find(")\n        \n"), std::string::npos) << described.out;
    }
    EXPECT_GE(names, 11);
}

TEST(ListAndDescribe, TheReferencePageIsFresh) {
#ifndef ASTROLABE_WITH_NS3
    GTEST_SKIP() << "the page describes the build with ns-3";
#endif
    EXPECT_EQ(astrolabe({"describe", "--markdown"}).out, read_file(ASTROLABE_SOURCE_DIR "/docs/reference.md"))
        << "write it anew: ./astrolabe describe --markdown > docs/reference.md";
}

TEST(Collective, TableAndJsonSayTheSame) {
    const std::string network = "{kind: flat, hosts: 8, link: {rate: 100Gbps, latency: 500ns}}";
    const std::vector<std::string> arguments{"collective", "--kind", "all-reduce", "--algorithm", "ring",
                                             "--size",     "16MiB",  "1KiB",       "--network",   network};
    const ProcessResult table = astrolabe(arguments);
    ASSERT_EQ(table.exit_code, 0) << table.err;
    EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'),
              5);  // a comment, two lines of heading, two rows
    std::vector<std::string> with_json = arguments;
    with_json.emplace_back("--json");
    const Json list = Json::parse(astrolabe(with_json).out);
    ASSERT_EQ(list.size(), 2u);
    // 2(N-1)(α + Sβ/N) = 14·(1 us + 16 777 216·0.08 ns/8) = 2362.810 24 us;
    // docs/theory/collectives-and-costs.md, "Worked values".
    EXPECT_NEAR(list[0]["time_s"].get<double>(), 2362.81024e-6, 1e-9);
    EXPECT_EQ(list[0]["steps"], 14);
    EXPECT_EQ(list[0]["messages"], 112);
    EXPECT_EQ(list[0]["bytes_sent_max_per_rank"], 2 * 7 * 2097152);
    for (const char* key : {"kind", "algorithm", "ranks", "size_bytes", "lower_bound_s",
                            "algorithm_bandwidth_Bps", "bus_bandwidth_Bps", "network", "engine"}) {
        EXPECT_TRUE(list[0].contains(key)) << key;
    }
    EXPECT_NE(table.out.find("2362.810240"), std::string::npos);
}

TEST(Collective, EdgesOfSizeAndRanks) {
    const std::string network = "{kind: flat, hosts: 4}";
    const auto time = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"collective", "--kind",    "all_reduce", "--algorithm",
                                           "ring",       "--network", network,      "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProcessResult result = astrolabe(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return Json::parse(result.out)[0]["time_s"].get<double>();
    };
    EXPECT_EQ(time({"--size", "0"}), 0);
    EXPECT_EQ(time({"--size", "1MiB", "--ranks", "1"}), 0);
    // 2^40 B over 4 ranks: 6·(1 us + 2^38·0.08 ns) = 131.941 401 333 12 s.
    EXPECT_NEAR(time({"--size", "1099511627776B"}), 131.94140133312, 1e-9);
    const ProcessResult many = astrolabe({"collective", "--kind", "all_reduce", "--algorithm", "ring",
                                          "--network", network, "--size", "1MiB", "--ranks", "9"});
    EXPECT_EQ(many.exit_code, 3);
    for (const char* ranks : {"0", "-1"}) {
        const ProcessResult wrong = astrolabe({"collective", "--kind", "all_reduce", "--algorithm", "ring",
                                               "--network", network, "--size", "1MiB", "--ranks", ranks});
        EXPECT_EQ(wrong.exit_code, 2) << wrong.err;
    }
    const ProcessResult bad = astrolabe({"collective", "--kind", "all-reduc", "--algorithm", "rnig",
                                         "--network", "{kind: flta}", "--size", "1"});
    EXPECT_EQ(bad.exit_code, 3);
    // All four mistakes at once.
    EXPECT_NE(bad.err.find("'all_reduce'"), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find("'ring'"), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find("'flat'"), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find("no unit"), std::string::npos) << bad.err;
}

/// The first object that `collective --json` prints for 8 hosts at 100 Gb/s, 1 us apart.
Json collective(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "collective");
    const std::string network = "{kind: flat, hosts: 8, link: {rate: 100Gbps, latency: 500ns}}";
    arguments.insert(arguments.end(), {"--network", network, "--json"});
    const ProcessResult result = astrolabe(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? Json::parse(result.out)[0] : Json::object();
}

TEST(Collective, RootedKindsCountTheRootsBytes) {
    // A direct broadcast of 8 MB sends 7·8 MB through the root's port at 0.08 ns/B: 1 + 4480 us. What the
    // root has is what nccl-tests counts, so the bandwidths are 8 MB/4481 us, with no factor.
    const Json broadcast = collective({"--kind", "broadcast", "--algorithm", "direct", "--size", "8MB"});
    EXPECT_NEAR(broadcast["time_s"].get<double>(), 4481e-6, 1e-12);
    EXPECT_EQ(broadcast["bytes_sent_max_per_rank"], 56'000'000);
    EXPECT_NEAR(broadcast["bus_bandwidth_Bps"].get<double>(), 8e6 / 4481e-6, 1);
    EXPECT_EQ(broadcast["bus_bandwidth_Bps"], broadcast["algorithm_bandwidth_Bps"]);
    // Whatever the algorithm, one copy must leave the root: 641 us. This one sends seven through its link,
    // which bounds below what doubles of bytes are rounded by, 2^-32 of 4.48 ms or 1 ps.
    EXPECT_NEAR(broadcast["bounds"]["ports_s"].get<double>(), 641e-6, 1e-12);
    EXPECT_EQ(broadcast["bounds"]["binding"], "links");
    EXPECT_NEAR(broadcast["lower_bound_s"].get<double>(), 4481e-6, 3e-12);
    // Into the root's port the same way.
    const Json reduce = collective({"--kind", "reduce", "--algorithm", "direct", "--size", "8MB"});
    EXPECT_NEAR(reduce["time_s"].get<double>(), 4481e-6, 1e-12);
    EXPECT_EQ(reduce["bytes_sent_max_per_rank"], 8'000'000);
}

TEST(Collective, PointToPointJoinsTheHalvesPairwise) {
    const Json pairs = collective({"--kind", "point-to-point", "--algorithm", "direct", "--size", "8MB"});
    EXPECT_NEAR(pairs["time_s"].get<double>(), 641e-6, 1e-12);  // 8 MB at 0.08 ns/B + 1 us, all four at once
    EXPECT_EQ(pairs["messages"], 4);
    EXPECT_EQ(pairs["ranks"], 8);
}

TEST(Collective, AlgorithmsTakeTheirKeysOnTheCommandLine) {
    // One send at a time instead of seven: 7 latencies in each of the two halves of an all-reduce.
    const std::vector<std::string> common{"--kind", "all-reduce", "--size", "8MB"};
    const auto time = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return collective(more)["time_s"].get<double>();
    };
    const double one_by_one = time({"--algorithm", "{algorithm: windowed_direct, window: 1}"});
    EXPECT_NEAR(one_by_one, 1120e-6 + 2 * 7e-6, 1e-9);
    EXPECT_EQ(time({"--algorithm", "windowed_direct", "--set", "algorithm.window=1"}), one_by_one);
    EXPECT_NEAR(time({"--algorithm", "windowed_direct"}), 1122e-6, 1e-9);
    const ProcessResult bad = astrolabe({"collective", "--kind", "all-reduce", "--algorithm",
                                         "{algorithm: windowed_direct, widnow: 1}", "--size", "8MB",
                                         "--network", "{kind: flat, hosts: 8}"});
    EXPECT_EQ(bad.exit_code, 3);
    EXPECT_NE(bad.err.find("did you mean 'window'?"), std::string::npos) << bad.err;
    const ProcessResult other =
        astrolabe({"collective", "--kind", "all-reduce", "--algorithm", "ring", "--size", "8MB", "--network",
                   "{kind: flat, hosts: 8}", "--dimensions", "4x4"});
    EXPECT_EQ(other.exit_code, 3);
    EXPECT_NE(other.err.find("--dimensions:1:1: error[collective.dimensions]"), std::string::npos)
        << other.err;
}

TEST(Collective, AnUnevenAllToAllIsAsSlowAsItsFullestRank) {
    // 8 MB over 8 ranks, R = 3: rank 0 has 3 MB for each, 7·3 MB = 21 MB leave it: 1 + 1680 us. The others
    // share (8 - 3)·8 MB: 5/7 MB for each, so 3 + 6·5/7 MB = 7.286 MB enter a port: less.
    const std::vector<std::string> arguments{"--kind", "all-to-all-v", "--algorithm",
                                             "direct", "--size",       "8MB"};
    std::vector<std::string> uneven = arguments;
    uneven.insert(uneven.end(), {"--imbalance", "3"});
    const Json three = collective(uneven);
    EXPECT_NEAR(three["lower_bound_s"].get<double>(), 1681e-6, 1e-9);
    EXPECT_GE(three["time_s"].get<double>(), three["lower_bound_s"].get<double>() * (1 - 1e-9));
    EXPECT_EQ(three["bytes_sent_max_per_rank"], 21'000'000);
    EXPECT_EQ(three["size_bytes"], 8'000'000);
    EXPECT_EQ(three["kind"], "all_to_all_v");
    // Without imbalance it is an all_to_all.
    EXPECT_EQ(collective(arguments)["time_s"],
              collective({"--kind", "all-to-all", "--algorithm", "direct", "--size", "8MB"})["time_s"]);
}

TEST(Collective, PhasesOfAHierarchicalOneTakeTurns) {
    // 4 x 2 ranks, 8 MB in one chunk, direct inside: reduce_scatter of 8 MB over 4 (6 MB, 480 us + 1),
    // all_reduce of 2 MB over 2 (2·(80 us + 1)), all_gather back (481 us): 1124 us.
    const Json phases = collective({"--kind", "all-reduce", "--algorithm",
                                    "{algorithm: hierarchical, dimension_algorithms: [direct]}", "--size",
                                    "8MB", "--dimensions", "4x2", "--chunks", "1"});
    EXPECT_NEAR(phases["time_s"].get<double>(), 1124e-6, 1e-9);
    EXPECT_EQ(phases["steps"], 4);
}

TEST(Collective, AnExperimentFileAsksForOneAsAnyWorkload) {
    // Three times the mean from the first rank: 1681 us, as above.
    const std::filesystem::path file =
        std::filesystem::path(::testing::TempDir()) / "astrolabe-collective-workload.yaml";
    std::ofstream(file) << "schema: astrolabe/1\n"
                           "workload: {kind: collective, collective: all_to_all_v, size: 8MB, imbalance: 3}\n"
                           "cluster: {ranks: 8, device: {kind: roofline}}\n"
                           "network: {kind: flat, hosts: 8, link: {rate: 100Gbps, latency: 500ns}}\n"
                           "backend: {kind: fluid}\n";
    const ProcessResult run = astrolabe({"run", file.string(), "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(Json::parse(run.out)["iteration_time_s"][0],
              collective({"--kind", "all-to-all-v", "--algorithm", "direct", "--size", "8MB", "--imbalance",
                          "3"})["time_s"]);
    // What a workload refuses is named by its keys.
    const ProcessResult pairs = astrolabe(
        {"validate", file.string(), "--set",
         "workload={kind: collective, collective: point_to_point, size: 1MB}", "--set", "cluster.ranks=7"});
    EXPECT_EQ(pairs.exit_code, 3);
    EXPECT_NE(pairs.err.find("7 ranks do not make pairs"), std::string::npos) << pairs.err;
}

TEST(Collective, WhatCannotBeMeantIsRefused) {
    const auto refused = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(),
                         {"collective", "--network", "{kind: flat, hosts: 8}", "--algorithm"});
        const ProcessResult result = astrolabe(arguments);
        EXPECT_EQ(result.exit_code, 3) << result.out;
        return result.err;
    };
    // Fewer bytes than ranks: nothing would be sent.
    for (const char* kind : {"all-to-all-v", "all-gather"}) {
        EXPECT_NE(
            refused({"direct", "--kind", kind, "--size", "7B"}).find("less than a byte for each of 8 ranks"),
            std::string::npos);
    }
    EXPECT_NE(refused({"ring", "--kind", "all-reduce", "--size", "1MB", "--injection-latency", "1001s"})
                  .find("expected 0ps to 1000s"),
              std::string::npos);
    EXPECT_NE(refused({"{algorithm: hierarchical, dimension_algorithms: [ring, ring]}", "--kind",
                       "all-reduce", "--size", "1MB"})
                  .find("speak of 2 dimensions, the ranks have 1"),
              std::string::npos);
    // 2·1/2 of 2 TB through a port of 1 Mb/s: 1.6e7 s, and time ends at 2^63 ps = 9.2e6 s.
    EXPECT_NE(refused({"ring", "--kind", "all-reduce", "--size", "2TB", "--ranks", "2", "--set",
                       "network.link.rate=1Mbps"})
                  .find("longer than simulated time can count"),
              std::string::npos);
    // 5,000 hosts in a ring with 1000 s between two: a smaller size would not help.
    EXPECT_NE(refused({"ring", "--kind", "all-reduce", "--size", "1MB", "--ranks", "2", "--set",
                       "network={kind: ring, hosts: 5000, link: {rate: 100Gbps, latency: 1000s}}"})
                  .find("error[config.time]: a path through all nodes of the network would take 5e+06 s"),
              std::string::npos);
}

TEST(Run, TheEndOfSimulatedTimeIsNamed) {
    // 14/8 of 657.12 GB at 1 Mb/s take 9.199 68e6 s. With one latency of 2000 s that is within the end of
    // time, 9.223 37e6 s, and so is the lower bound; with that of all 14 steps it is not: 9.227 68e6 s.
    const std::vector<std::string> late{"collective",
                                        "--kind",
                                        "all-reduce",
                                        "--algorithm",
                                        "ring",
                                        "--network",
                                        "{kind: flat, hosts: 8, link: {rate: 1Mbps, latency: 1000s}}",
                                        "--size",
                                        "657120MB"};
    for (const char* backend : {"fluid", "congestion_free"}) {
        std::vector<std::string> arguments = late;
        arguments.insert(arguments.end(), {"--backend", backend});
        const ProcessResult result = astrolabe(arguments);
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_NE(result.err.find("after the end of simulated time, 2^63 ps or 106 days"), std::string::npos)
            << backend << result.err;
    }
    // A pair of hosts begins 1e6 s late whenever it has been idle: its tenth message would begin after 9.2e6
    // s.
    const ProcessResult result =
        astrolabe({"run", kQuickstart, "--set",
                   "backend={kind: fluid, window: 64KiB, incast: {buffer: 0B, timeout: 1000000s}}"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("after the end of simulated time, 2^63 ps or 106 days"), std::string::npos)
        << result.err;
}

}  // namespace
}  // namespace astrolabe::testing
