/// `astrolabe sweep`, as a user meets it, and as those who kill it do.
#include "sweep_study.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

class Sweep : public SweepTest {
protected:
    /// A sweep in the background of a shell, its process id in $sweep.
    [[nodiscard]] std::string in_background(const std::string& name, const std::string& more = "") const {
        return quoted(ASTROLABE_PROGRAM) + " sweep " + quoted(study_) + " -j 2 --out " + quoted(out(name)) +
               " " + more + " & sweep=$!; ";
    }
};

TEST_F(Sweep, TablesEveryPointAndComputesNothingTwice) {
    const ProcessResult first = sweep("a", {"--json"});
    ASSERT_EQ(first.exit_code, 0) << first.err;
    const Json table = Json::parse(first.out);
    ASSERT_EQ(table["points"].size(), kPoints);
    EXPECT_EQ(table["done"], kPoints);
    const Json& last = table["points"].back();
    EXPECT_EQ(last["parameters"]["workload.batch.global"], 2048);
    EXPECT_EQ(last["parameters"]["cluster.scheduling"], "lifo");
    // The last point but for its tables is the quick start.
    const ProcessResult run =
        run_program(ASTROLABE_PROGRAM, {"run", ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml",
                                        "--set", "workload.model.tables.count=32", "--json"});
    const Json summary = Json::parse(run.out);
    EXPECT_EQ(last["fingerprint"], summary["fingerprint"]);
    EXPECT_EQ(last["mean_iteration_time_s"], summary["mean_iteration_time_s"]);
    EXPECT_EQ(last["network.messages"], summary["network"]["messages"]);

    const auto begin = std::chrono::steady_clock::now();
    const ProcessResult again = sweep("a", {"--json"});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_EQ(again.out, first.out);  // with what each point took, which would not come out twice
    std::printf("nothing to do: %.3f s\n", seconds);

    const ProcessResult text = sweep("a");
    expect_says(text.out, "workload.batch.global");
    expect_says(text.out, "sizes: 12 points, 12 done, 0 failed, 0 missing");
}

TEST_F(Sweep, ExampleGivesItsRecord) {
    const std::string example = ASTROLABE_SOURCE_DIR "/examples/codesign-tables/";
    const ProcessResult result =
        run_program(ASTROLABE_PROGRAM, {"sweep", example + "study.yaml", "--out", out("example"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    Json table = Json::parse(result.out);
    for (Json& point : table["points"]) {
        point.erase("engine");
    }
    const Json expected = Json::parse(read_file(example + "expected/study.json"), nullptr, false);
    EXPECT_EQ(table, expected) << "got:\n" << table.dump(2);
}

TEST_F(Sweep, NamesAlgorithmsThatAreSlow) {
    const std::string file =
        folder_
            .write("slow.yaml", kStudy +
                                    "zip: {cluster.collectives.all_reduce: [{algorithm: ring, chunks: 1}, "
                                    "{algorithm: direct, chunks: 1}], network.link.latency: [5us, 5us]}\n")
            .string();
    for (const char* jobs : {"-j1", "-j2"}) {
        const ProcessResult result =
            run_program(ASTROLABE_PROGRAM, {"sweep", file, "--out", out(jobs), jobs});
        ASSERT_EQ(result.exit_code, 0) << result.err;
        expect_says(result.out, "slow: the largest all_reduce alone by ring takes up to ");
        expect_says(result.out, fmt::format(" in {} points\n", kPoints));
        EXPECT_EQ(result.out.find("alone by direct"), std::string::npos) << result.out;
    }
    EXPECT_EQ(dump(out("-j1")), dump(out("-j2")));
}

TEST_F(Sweep, AChangedStudyComputesWhatIsNew) {
    const std::string before = undisturbed();
    const std::string wider =
        folder_.write("wider.yaml", kStudy + "zip: {cluster.active_chunks: [16, 32]}\n").string();
    const ProcessResult status =
        run_program(ASTROLABE_PROGRAM, {"sweep", wider, "--out", out("undisturbed"), "--status"});
    EXPECT_EQ(status.exit_code, 0) << status.err;
    expect_says(status.out, "24 points");
    const ProcessResult result = run_program(
        ASTROLABE_PROGRAM, {"sweep", wider, "--out", out("undisturbed"), "--json", "--memory=1B"});
    // What would have to be computed finds no memory; what was there is there, 16 being the base's.
    EXPECT_EQ(result.exit_code, 4) << result.err;
    const Json table = Json::parse(result.out);
    EXPECT_EQ(table["done"], kPoints);
    EXPECT_EQ(table["failed"], kPoints);
}

TEST_F(Sweep, RepeatsOfWhatIsDeterministicAreComputedOnce) {
    const std::string before = undisturbed();
    const std::string repeated = folder_.write("repeated.yaml", kStudy + "repeat: [1, 2]\n").string();
    // No memory: nothing can be computed, and nothing has to be.
    const ProcessResult again =
        run_program(ASTROLABE_PROGRAM, {"sweep", repeated, "--out", out("undisturbed"), "--memory=1B"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    expect_says(again.out, "deterministic: nothing is random in 24 points");
    expect_says(again.out, "24 points, 24 done");
    const ProcessResult fresh =
        run_program(ASTROLABE_PROGRAM, {"sweep", repeated, "--out", out("fresh"), "-j2", "--json"});
    ASSERT_EQ(fresh.exit_code, 0) << fresh.err;
    EXPECT_EQ(Json::parse(fresh.out)["done"], 2 * kPoints);
}

TEST_F(Sweep, RepeatsOfAnOperaDiffer) {
    const std::string study =
        folder_
            .write("opera.yaml",
                   "schema: astrolabe/1\nbase: " ASTROLABE_SOURCE_DIR
                   "/examples/quickstart/experiment.yaml\nvary:\n  network:\n"
                   "    drawn: {kind: opera, racks: 16, uplinks: 4, hosts_per_rack: 1}\n"
                   "    pinned: {kind: opera, racks: 16, uplinks: 4, hosts_per_rack: 1, seed: 7, bulk: "
                   "{remainders: in_turn}}\nrepeat: 3\n")
            .string();
    const ProcessResult result =
        run_program(ASTROLABE_PROGRAM, {"sweep", study, "--out", out("opera"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    std::map<std::string, std::set<std::string>> fingerprints;
    const Json table = Json::parse(result.out);
    for (const Json& point : table["points"]) {
        fingerprints[point["parameters"]["network"]].insert(point["fingerprint"]);
    }
    EXPECT_EQ(fingerprints["drawn"].size(), 3U);
}

TEST_F(Sweep, FilesCountByWhatIsInThem) {
    const std::string study =
        folder_
            .write("tree.yaml",
                   "schema: astrolabe/1\nbase: " ASTROLABE_SOURCE_DIR
                   "/examples/quickstart/experiment.yaml\nvary:\n  network: {tree: {kind: fat_tree, k: 4, "
                   "cost_equivalent_to: other.yaml, solve_for: link_rate}}\n")
            .string();
    folder_.write("other.yaml", "include: inner.yaml\nkind: fat_tree\nk: 4\n");
    const auto fingerprint = [&](const char* rate, std::vector<std::string> more = {}) {
        folder_.write("inner.yaml", std::string("link: {rate: ") + rate + "}\n");
        more.insert(more.begin(), {"sweep", study, "--out", out("tree"), "--json"});
        const ProcessResult result = run_program(ASTROLABE_PROGRAM, more);
        EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
        return Json::parse(result.out)["points"][0].value("fingerprint", "");
    };
    const std::string slow = fingerprint("100Gbps");
    EXPECT_NE(fingerprint("400Gbps"), slow);
    EXPECT_EQ(fingerprint("100Gbps", {"--memory", "1B"}), slow);  // it is there
}

TEST_F(Sweep, IsTheSameWithOneWorkerTwoOrShards) {
    const std::string expected = undisturbed();
    ASSERT_EQ(sweep("one", {"-j1"}).exit_code, 0);
    EXPECT_EQ(dump(out("one")), expected);
    const ProcessResult half = sweep("shards", {"--shard", "1/2", "--json"});
    EXPECT_EQ(half.exit_code, 0) << half.err;
    EXPECT_EQ(Json::parse(half.out)["done"], kPoints / 2);
    ASSERT_EQ(sweep("shards", {"--shard", "2/2"}).exit_code, 0);
    EXPECT_EQ(dump(out("shards")), expected);
}

TEST_F(Sweep, SweepsSideBySideShareTheWork) {
    const std::string expected = undisturbed();
    const ProcessResult both = run_shell(in_background("both") + "first=$sweep; " + in_background("both") +
                                         "wait $first && wait $sweep");
    EXPECT_EQ(both.exit_code, 0) << both.err;
    EXPECT_EQ(dump(out("both")), expected);
}

TEST_F(Sweep, KilledAtAnyMomentItGoesOnWhereItWas) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string expected = undisturbed();
    const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::mt19937 random(7);
    std::uniform_real_distribution<double> moment(0, whole / 2);
    for (int kills = 0; kills < 8; ++kills) {
        const ProcessResult killed =
            run_shell(in_background("killed") +
                      fmt::format("sleep {:.3f}; kill -KILL $sweep; wait $sweep", moment(random)));
        EXPECT_TRUE(killed.exit_code == 137 || killed.exit_code == 0) << killed.exit_code << killed.err;
    }
    const ProcessResult rest = sweep("killed", {"--resume"});
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_EQ(dump(out("killed")), expected);
}

TEST_F(Sweep, AKilledWorkerCostsItsPointOnly) {
    const std::string expected = undisturbed();
    // Workers are children of the sweep; the first that shows is killed. One that has told all before loses
    // nothing: then it is tried again.
    ProcessResult result;
    for (int attempt = 0; attempt < 10 && result.exit_code != 4; ++attempt) {
        std::filesystem::remove_all(out("worker"));
        result = run_shell(in_background("worker") + "for i in $(seq 2000); do test -e " +
                           quoted(out("worker") + "/results.lock") +
                           " && for child in $(cat /proc/$sweep/task/$sweep/children); do kill -KILL $child "
                           "&& break 2; done; "
                           "sleep 0.005; done; wait $sweep");
    }
    // It may have been one that reads points, before any is run.
    EXPECT_EQ(result.exit_code, 4) << result.err;
    expect_says(result.out, "its process was killed by signal 9");
    expect_says(result.err, "1 of 12 points failed");
    EXPECT_EQ(sweep("worker", {"--resume"}).exit_code, 0);
    EXPECT_EQ(dump(out("worker")), expected);
}

TEST_F(Sweep, WorkersKilledAtAnyMomentCostTheirPointsOnly) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string expected = undisturbed();
    const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::mt19937 random(13);
    std::uniform_real_distribution<double> pause(0, whole / 8);
    std::string kills;
    for (int i = 0; i < 6; ++i) {
        kills += fmt::format(
            "sleep {:.3f}; set -- $(cat /proc/$sweep/task/$sweep/children); "
            "test $# -gt {} && kill -KILL ${}; ",
            pause(random), i % 2, i % 2 + 1);
    }
    const ProcessResult disturbed = run_shell(in_background("workers") + kills + "wait $sweep");
    // 0: all that were killed had told their results before.
    EXPECT_TRUE(disturbed.exit_code == 4 || disturbed.exit_code == 0) << disturbed.err;
    std::printf("%s", disturbed.err.c_str());
    const ProcessResult rest = sweep("workers", {"--resume"});
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_EQ(dump(out("workers")), expected);
}

TEST_F(Sweep, InterruptedItSaysWhatIsThere) {
    const std::string expected = undisturbed();
    const ProcessResult result = run_shell(
        in_background("stopped") +
        // A command in the background ignores interrupts until it says what to do with them, which
        // a sweep has done when it has workers.
        "while kill -0 $sweep && test -z \"$(cat /proc/$sweep/task/$sweep/children)\"; do sleep 0.01; "
        "done; "
        "kill -INT $sweep; wait $sweep");
    EXPECT_EQ(result.exit_code, 130) << result.err;
    expect_says(result.err, "astrolabe: interrupted; ");
    EXPECT_EQ(sweep("stopped").exit_code, 0);
    EXPECT_EQ(dump(out("stopped")), expected);
}

TEST_F(Sweep, PointsThatTakeTooLongFail) {
    const std::string slow =
        folder_
            .write("slow.yaml", "schema: astrolabe/1\nbase: " ASTROLABE_SOURCE_DIR
                                "/examples/quickstart/experiment.yaml\nvary: {workload.iterations: [1, "
                                "2000]}\n")
            .string();
    const ProcessResult result =
        run_program(ASTROLABE_PROGRAM, {"sweep", slow, "--out", out("slow"), "--time-limit", "10s"});
    EXPECT_EQ(result.exit_code, 4) << result.err;
    expect_says(result.out, "point 2 failed: took longer than the limit of 10s");
    expect_says(result.out, "2 points, 1 done, 1 failed, 0 missing");
}

TEST_F(Sweep, NothingStartsThatDoesNotFit) {
    const std::string expected = undisturbed();
    const ProcessResult none = sweep("memory", {"--memory", "1MB"});
    EXPECT_EQ(none.exit_code, 4);
    expect_says(none.out, "of memory as predicted, and 1 MB is free");
    expect_says(none.err, "12 of 12 points failed");
    EXPECT_EQ(sweep("memory", {"--resume"}).exit_code, 0);
    EXPECT_EQ(dump(out("memory")), expected);
}

TEST_F(Sweep, AFullDiskIsOneErrorAndKeepsWhatIsFinished) {
    const std::string expected = undisturbed();
    // A limit on the size of files stands for the disk; ignored, its signal becomes an error of write(2).
    const ProcessResult full = run_shell("trap '' XFSZ; ulimit -f 160; " + quoted(ASTROLABE_PROGRAM) +
                                         " sweep " + quoted(study_) + " -j 2 --out " + quoted(out("full")));
    EXPECT_EQ(full.exit_code, 1) << full.out;
    expect_says(full.err, "error[store.failed]");
    EXPECT_EQ(full.err.find("error[", full.err.find("error[") + 1), std::string::npos) << full.err;
    EXPECT_EQ(sweep("full").exit_code, 0);
    EXPECT_EQ(dump(out("full")), expected);
}

TEST_F(Sweep, AFolderThatVanishesIsAnError) {
    // The lock of points is there when the first of them is about to run.
    const std::string gone = quoted(out("gone"));
    const ProcessResult result =
        run_shell(in_background("gone") + "until [ -e " + gone +
                  "/results.lock ]; do sleep 0.01; done; rm -rf " + gone + "; wait $sweep");
    EXPECT_EQ(result.exit_code, 1) << result.err;
    expect_says(result.err, out("gone"));
    expect_says(result.err, "removed or replaced");
    EXPECT_EQ(result.out.find("12 done"), std::string::npos) << result.out;
}

TEST_F(Sweep, FolderThatCannotBeWrittenIsSaidBeforeAnythingRuns) {
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, {"sweep", study_, "--out", "/proc/nothing"});
    EXPECT_EQ(result.exit_code, 1);
    expect_says(result.err, "error[output.write]");
}

TEST_F(Sweep, StatusAndValidateRunNothing) {
    const ProcessResult status = sweep("status", {"--status"});
    EXPECT_EQ(status.exit_code, 0) << status.err;
    expect_says(status.out, "sizes: 12 points, 0 done, 0 failed, 12 missing");
    EXPECT_FALSE(std::filesystem::exists(out("status")));
    const ProcessResult text = run_program(ASTROLABE_PROGRAM, {"validate", study_});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    expect_says(text.out, "sizes: 12 points, ");
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, {"validate", study_, "--json"});
    const Json plan = Json::parse(result.out);
    ASSERT_EQ(plan["points"].size(), kPoints);
    double sum = 0;
    for (const Json& point : plan["points"]) {
        sum += point["prediction"]["wall_s"].get<double>();
        EXPECT_GT(point["prediction"]["peak_rss_bytes"], 0);
    }
    EXPECT_DOUBLE_EQ(plan["prediction"]["wall_s"].get<double>(), sum);
}

TEST_F(Sweep, PointsThatAreNoExperimentsAreSaidBeforeAnythingRuns) {
    const std::string wrong =
        folder_.write("wrong.yaml", kStudy + "  cluster.ranks: [16, 17, 18]\n").string();
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, {"sweep", wrong, "--out", out("wrong")});
    EXPECT_EQ(result.exit_code, 3);
    expect_says(result.err,
                "wrong.yaml:8:23: error[config.ranks]: cluster has 17 ranks but network provides 16");
    expect_says(result.err, "cluster has 18 ranks");
    expect_says(result.err,
                "in point 2: workload.batch.global=512, workload.model.tables.count=16, "
                "cluster.scheduling=fifo, cluster.ranks=17");
}

TEST_F(Sweep, WrongUsageIsSaid) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--shard", "3/2"},
                                                                                       {"--shard", "0/2"},
                                                                                       {"--shard", "1"},
                                                                                       {"--time-limit", "5"},
                                                                                       {"--time-limit", "0s"},
                                                                                       {"--memory", "lots"},
                                                                                       {"-j", "0"}}) {
        const ProcessResult result = sweep("usage", words);
        EXPECT_EQ(result.exit_code, 2) << words[0] << words[1];
        expect_says(result.err, words[0].substr(0, 2));
    }
}

}  // namespace
}  // namespace astrolabe::testing
