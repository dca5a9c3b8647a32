/// What commands say on standard error of how far they are.
#include "process.hpp"

#include <algorithm>
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

ProcessResult astrolabe(const std::vector<std::string>& arguments) {
    return run_program(ASTROLABE_PROGRAM, arguments);
}

/// The objects among the lines of standard error.
std::vector<Json> objects_in(const std::string& err) {
    std::vector<Json> objects;
    std::istringstream lines(err);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("{")) {
            objects.push_back(Json::parse(line));
        }
    }
    return objects;
}

/// What holds of the objects of any command: the first begins, the last ends, and wall time does not go back.
void expect_ordered(const std::vector<Json>& objects, const std::string& command, const std::string& state) {
    ASSERT_GE(objects.size(), 2U);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        EXPECT_EQ(objects[i].at("state"), i + 1 < objects.size() ? "running" : state);
        EXPECT_EQ(objects[i].at("command"), command);
        if (i > 0) {
            EXPECT_GE(objects[i].at("wall_s"), objects[i - 1].at("wall_s"));
        }
    }
}

/// The same of a run of one simulation.
void expect_run(const std::vector<Json>& objects) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const Json& now = objects[i];
        for (const char* field :
             {"simulation", "simulated_s", "iterations_done", "iterations", "bytes_done", "done", "events",
              "events_per_s", "time_left_s", "ranks_computing", "ranks_waiting"}) {
            EXPECT_TRUE(now.contains(field)) << field << " is not in " << now;
        }
        EXPECT_TRUE(now.at("bottleneck").contains("kind"));
        EXPECT_LE(now.at("iterations_done"), now.at("iterations"));
        if (i > 0) {
            for (const char* field :
                 {"simulation", "simulated_s", "iterations_done", "bytes_done", "events"}) {
                EXPECT_GE(now.at(field), objects[i - 1].at(field)) << field;
            }
        }
        if (!now.at("done").is_null()) {
            EXPECT_GE(now.at("done"), 0.0);
            EXPECT_LE(now.at("done"), 1.0);
        }
    }
}

/// Long enough for several samples.
std::vector<std::string> longer_run(const std::string& backend, const std::string& iterations) {
    return {"run",    kQuickstart,
            "--set",  "backend={kind: " + backend + "}",
            "--set",  "workload.iterations=" + iterations,
            "--json", "--progress",
            "json"};
}

void expect_objects_of(const std::string& backend, const std::string& iterations) {
    SCOPED_TRACE(backend);
    std::vector<std::string> arguments = longer_run(backend, iterations);
    const ProcessResult result = astrolabe(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::vector<Json> objects = objects_in(result.err);
    expect_ordered(objects, "run", "done");
    expect_run(objects);
    EXPECT_GE(objects.size(), 3U) << "a run of more than a second has samples between its ends";
    const Json summary = Json::parse(result.out);
    const Json& last = objects.back();
    EXPECT_EQ(last.at("simulated_s"), summary["total_time_s"]);
    EXPECT_EQ(last.at("iterations_done"), std::stoi(iterations));
    EXPECT_EQ(last.at("bytes_done"), summary["network"]["bytes_delivered"]);
    EXPECT_EQ(last.at("events"), summary["engine"]["events"]);
    EXPECT_EQ(last.at("done"), 1.0);
    EXPECT_EQ(last.at("time_left_s"), 0.0);
    // The run is the same run, event for event.
    arguments.back() = "none";
    const ProcessResult alone = astrolabe(arguments);
    EXPECT_EQ(alone.err, "");
    EXPECT_EQ(Json::parse(alone.out)["fingerprint"], summary["fingerprint"]);
    EXPECT_EQ(Json::parse(alone.out)["engine"]["events"], summary["engine"]["events"]);
}

TEST(Progress, ObjectsOfARunAddUpToItsSummary) {
    expect_objects_of("fluid", "60");
#ifdef ASTROLABE_WITH_NS3
    expect_objects_of("packet", "30");
    expect_objects_of("tcp", "1");
#endif
}

TEST(Progress, ObjectsOfSlotsAndOfAnEngineWithoutSharing) {
    for (const std::vector<std::string>& changes :
         {std::vector<std::string>{"network={kind: opera, racks: 16, uplinks: 4, hosts_per_rack: 1}"},
          std::vector<std::string>{"backend={kind: congestion_free}"}}) {
        std::vector<std::string> arguments{"run", kQuickstart, "--json", "--progress", "json"};
        for (const std::string& change : changes) {
            arguments.insert(arguments.end(), {"--set", change});
        }
        const ProcessResult result = astrolabe(arguments);
        ASSERT_EQ(result.exit_code, 0) << result.err;
        const std::vector<Json> objects = objects_in(result.err);
        expect_ordered(objects, "run", "done");
        expect_run(objects);
        const Json summary = Json::parse(result.out);
        EXPECT_EQ(objects.back().at("bytes_done"), summary["network"]["bytes_delivered"]);
        EXPECT_EQ(objects.back().at("events"), summary["engine"]["events"]);
    }
}

/// Two racks of eight hosts; what crosses between them has 10 Gb/s, an eightieth of what its hosts can send.
const std::string kThinLink = R"(network={kind: graph,
    nodes: [{name: gpu, count: 16}, {name: leaf, kind: switch, count: 2}],
    links: [{from: gpu 0..7, to: leaf 0, rate: 100Gbps, latency: 500ns},
            {from: gpu 8..15, to: leaf 1, rate: 100Gbps, latency: 500ns},
            {from: leaf 0, to: leaf 1, rate: 10Gbps, latency: 500ns}]})";

bool is_thin(const std::string& link) {
    return link == "leaf 0 -> leaf 1" || link == "leaf 1 -> leaf 0";
}

/// Of the samples of this run that name links, how many name the thin cable, and how many name it first, in
/// either direction.
void expect_thin_link(const std::string& backend, const std::string& iterations) {
    SCOPED_TRACE(backend);
    std::vector<std::string> arguments = longer_run(backend, iterations);
    arguments.insert(arguments.end(), {"--set", kThinLink, "--set", "cluster.folding=off"});
    const ProcessResult result = astrolabe(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    std::size_t of_links = 0;
    std::size_t with_thin = 0;
    std::size_t thin_first = 0;
    for (const Json& object : objects_in(result.err)) {
        const Json& bottleneck = object.at("bottleneck");
        if (bottleneck.at("kind") == "links" || bottleneck.at("kind") == "host_ports") {
            const auto links = bottleneck.at("links").get<std::vector<std::string>>();
            const std::string& first = links.at(0);
            ++of_links;
            with_thin += std::ranges::any_of(links, is_thin) ? 1 : 0;
            thin_first += is_thin(first) ? 1 : 0;
            EXPECT_NE(bottleneck.at("text").get<std::string>().find(first), std::string::npos);
        }
    }
    EXPECT_GE(of_links, 2U) << result.err;
    // All-to-all and all-reduce both need it most. Only between them may a host's port be the last to finish,
    // and a sample may come when a host's port is full as well and has more flows than the cable.
    EXPECT_GE(with_thin + 1, of_links) << result.err;
    EXPECT_GE(2 * thin_first, of_links) << result.err;
}

TEST(Progress, TheBottleneckIsTheThinLink) {
    expect_thin_link("fluid", "360");
#ifdef ASTROLABE_WITH_NS3
    expect_thin_link("packet", "80");
#endif
}

TEST(Progress, AnInterruptedRunSaysSoLast) {
    for (const auto& [signal, code] : {std::pair{"INT", 130}, std::pair{"TERM", 143}}) {
        const TemporaryFolder folder;
        const std::string log = (folder.path() / "log").string();
        const ProcessResult result =
            run_shell(quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) +
                      " --set workload.iterations=5000 --progress json 2> " + quoted(log) +
                      " & until [ \"$(grep -c running " + quoted(log) +
                      ")\" -ge 3 ]; do sleep 0.05; done; kill -" + signal + " $!; wait $!");
        EXPECT_EQ(result.exit_code, code) << read_file(log);
        const std::vector<Json> objects = objects_in(read_file(log));
        expect_ordered(objects, "run", "interrupted");
        expect_run(objects);
        EXPECT_GT(objects.back().at("simulated_s"), 0.0);
        const std::string text = read_file(log);
        EXPECT_EQ(text.rfind("{\"state\":\"interrupted\""), text.rfind('\n', text.size() - 2) + 1)
            << "the object is the last line";
    }
}

TEST(Progress, ARunThatStallsHasFailed) {
    // The rack takes its hosts with it.
    const ProcessResult result = astrolabe({"run", kQuickstart, "--progress", "json", "--set",
                                            "network={kind: opera, racks: 16, uplinks: 4, hosts_per_rack: 2, "
                                            "failures: [{at: 100us, racks: 1}]}"});
    EXPECT_EQ(result.exit_code, 1);
    const std::vector<Json> objects = objects_in(result.err);
    expect_ordered(objects, "run", "failed");
    expect_run(objects);
    EXPECT_LT(objects.back().at("done"), 1.0);
    EXPECT_LT(objects.back().at("iterations_done"), 2);
}

TEST(Progress, ObjectsOfASweepCountItsPoints) {
    const TemporaryFolder folder;
    const std::string study =
        folder
            .write("study.yaml", "schema: astrolabe/1\nname: three\nbase: " + kQuickstart +
                                     "\nvary:\n  cluster.active_chunks: [1, 2, 4]\n")
            .string();
    const std::vector<std::string> words{"sweep",      study,  "-j",    "2",
                                         "--progress", "json", "--out", (folder.path() / "out").string()};
    const ProcessResult result = astrolabe(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::vector<Json> objects = objects_in(result.err);
    expect_ordered(objects, "sweep", "done");
    for (const Json& object : objects) {
        EXPECT_EQ(object.at("name"), "three");
        EXPECT_EQ(object.at("points"), 3);
        EXPECT_LE(object.at("points_done").get<int>() + object.at("points_failed").get<int>() +
                      object.at("points_running").get<int>(),
                  3);
        EXPECT_TRUE(object.contains("time_left_s"));
    }
    EXPECT_EQ(objects.front().at("points_done"), 0);
    EXPECT_EQ(objects.back().at("points_done"), 3);
    EXPECT_EQ(objects.back().at("points_failed"), 0);
    EXPECT_EQ(objects.back().at("points_running"), 0);
    EXPECT_EQ(objects.back().at("time_left_s"), 0.0);
}

TEST(Progress, ObjectsOfASearchHaveTheBestSoFar) {
    const ProcessResult result =
        astrolabe({"optimize", ASTROLABE_SOURCE_DIR "/examples/optimize/tables.yaml", "--set",
                   "optimize.budget.evaluations=200", "--json", "--progress", "json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::vector<Json> objects = objects_in(result.err);
    expect_ordered(objects, "optimize", "done");
    const Json summary = Json::parse(result.out);
    EXPECT_EQ(objects.back().at("evaluations_done"), summary["evaluations"]);
    EXPECT_EQ(objects.back().at("best_time_s"), summary["best_time_s"]);
    EXPECT_LE(objects.back().at("best_time_s"), objects.back().at("base_time_s"));
}

TEST(Progress, ObjectsOfComparedRunsAndOfSizesOfACollective) {
    const ProcessResult compared = astrolabe(
        {"compare", kQuickstart, "--backends", "fluid,congestion_free", "--progress", "json", "--json"});
    ASSERT_EQ(compared.exit_code, 0) << compared.err;
    const std::vector<Json> runs = objects_in(compared.err);
    expect_ordered(runs, "compare", "done");
    EXPECT_EQ(runs.back().at("runs_done"), 2);
    EXPECT_EQ(runs.back().at("runs"), 2);
    const ProcessResult sizes =
        astrolabe({"collective", "--kind", "all-reduce", "--size", "1MiB", "2MiB", "--network",
                   "{kind: flat, hosts: 4, link: {rate: 100Gbps, latency: 500ns}}", "--progress", "json"});
    ASSERT_EQ(sizes.exit_code, 0) << sizes.err;
    const std::vector<Json> objects = objects_in(sizes.err);
    expect_ordered(objects, "collective", "done");
    EXPECT_EQ(objects.back().at("simulation"), 2) << "of the second size";
}

TEST(Progress, AutoSaysNothingWhereThereIsNoTerminal) {
    const ProcessResult result = astrolabe({"run", kQuickstart, "--set", "workload.iterations=100"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
}

TEST(Progress, OnATerminalItIsOneLineThatGoesAway) {
    const TemporaryFolder folder;
    const std::string log = (folder.path() / "log").string();
    const std::string command = "stty cols 60; " + quoted(ASTROLABE_PROGRAM) + " run " + quoted(kQuickstart) +
                                " --set workload.iterations=200 > /dev/null";
    const ProcessResult result = run_shell("command -v script > /dev/null || exit 77; script -qec " +
                                           quoted(command) + " " + quoted(log));
    if (result.exit_code == 77) {
        GTEST_SKIP() << "there is no script(1) to make a terminal";
    }
    ASSERT_EQ(result.exit_code, 0) << result.out;
    const std::string text = result.out;
    EXPECT_NE(text.find("\rquickstart: "), std::string::npos) << text;
    EXPECT_NE(text.find(" of 200 iterations"), std::string::npos) << text;
    EXPECT_NE(text.find("\r\033[K"), std::string::npos) << "the line is cleared";
    EXPECT_EQ(text.find('\n'), std::string::npos) << "and never scrolls: " << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line, '\r');) {
        EXPECT_LE(line.size(), 59U + std::string("\033[K").size()) << line;
    }
}

TEST(Progress, ABadModeIsRefusedByName) {
    const ProcessResult result = astrolabe({"run", kQuickstart, "--progress", "loud"});
    EXPECT_EQ(result.exit_code, 2);
    for (const char* part : {"--progress", "loud", "auto", "text", "plain", "json", "none"}) {
        EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    }
}

}  // namespace
}  // namespace astrolabe::testing
