/// `astrolabe sweep --launcher slurm`, with commands that stand for Slurm's.
#include "fake_slurm.hpp"
#include "sweep_study.hpp"

#include <random>

#include <nlohmann/json.hpp>

#include <astrolabe/study/slurm/slurm.hpp>
#include <astrolabe/study/sweep/spool.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

class SlurmSweep : public SweepTest {
protected:
    [[nodiscard]] ProcessResult on_slurm(const std::string& name, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"--launcher", "slurm", "--tasks", "3"});
        return sweep(name, more);
    }
    [[nodiscard]] std::string task(const std::string& name, int submission, int task) const {
        return fmt::format("SLURM_ARRAY_TASK_ID={} sh {}", task,
                           quoted(fmt::format("{}/slurm/{}/batch.sh", out(name), submission)));
    }
    /// What --status says of numbers: "4 done, 0 failed, 8 missing".
    [[nodiscard]] std::string status(const std::string& name) const {
        const ProcessResult result = sweep(name, {"--status", "--json"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        const Json table = Json::parse(result.out);
        return fmt::format("{} done, {} failed, {} missing", table["done"].get<int>(),
                           table["failed"].get<int>(), table["missing"].get<int>());
    }

    FakeSlurm slurm_{folder_.path()};
};

TEST_F(SlurmSweep, GivesWhatALocalSweepGives) {
    const std::string expected = undisturbed();
    const std::string odd = "it's a \"folder\" of $HOME";
    const ProcessResult result = on_slurm(odd, {"--wait"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    expect_says(result.out, "sizes: 12 points, 12 done, 0 failed, 0 missing");
    EXPECT_EQ(dump(out(odd)), expected);
    EXPECT_EQ(study::spooled_results(out(odd)), 0u);
    const ProcessResult again = on_slurm(odd, {"--wait"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(again.out, result.out);
    EXPECT_EQ(slurm_.arrays(), 1);
}

TEST_F(SlurmSweep, RelativePathsMeanTheFolderItWasCalledIn) {
    const ProcessResult result =
        run_shell("cd " + quoted(folder_.path().string()) + " && " + quoted(ASTROLABE_PROGRAM) +
                  " sweep study.yaml --out relative --launcher slurm --wait --set base.workload.iterations=1 "
                  "--set 'name=two words' -j2 --memory 8GB --time-limit 1min --time 1h --progress none");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    expect_says(result.out, "two words: 12 points, 12 done");
    const std::string script = read_file(folder_.path() / "relative/slurm/1/batch.sh");
    expect_says(script, "#SBATCH --cpus-per-task=2\n");
    expect_says(script, "#SBATCH --mem=7630M\n");  // 8e9 / 2^20 = 7629.4
    expect_says(script, "#SBATCH --time=0-01:00:00\n");
    expect_says(script, "#SBATCH \"--job-name=two words\"\n");
    expect_says(script, "'--time-limit' '1min'");
}

TEST_F(SlurmSweep, WhatAnArrayHasIsNotSubmittedAgain) {
    const std::string expected = undisturbed();
    slurm_.set("hold");
    const ProcessResult first = on_slurm("held");
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.out, "sizes: array 101 computes 12 points in 3 tasks\n");
    expect_says(on_slurm("held").out, "sizes: nothing to submit; 12 points are with earlier arrays\n");

    ASSERT_EQ(run_shell(task("held", 1, 1)).exit_code, 0);  // a share is of four points, these being alike
    slurm_.end(101, 1);
    EXPECT_EQ(status("held"), "4 done, 0 failed, 8 missing");
    slurm_.end(101, 2);  // without having run
    const ProcessResult json = sweep("held", {"--status", "--json"});
    EXPECT_EQ(Json::parse(json.out)["slurm"], Json::parse(R"([{"job": "101", "submission": 1, "missing": 8,
        "held": 4, "tasks": {"pending": 1, "running": 0, "ended": 2}}])"));
    expect_says(sweep("held", {"--status"}).out,
                "array 101: 0 tasks running, 1 waiting, 2 ended; 4 points to come, 4 without a task now\n");
    expect_says(on_slurm("held", {"--resume"}).out,
                "sizes: array 102 computes 4 points in 3 tasks; 4 points are with earlier arrays\n");
    ASSERT_EQ(run_shell(task("held", 1, 3)).exit_code, 0);
    ASSERT_EQ(run_shell(task("held", 1, 3)).exit_code, 0);  // once more: nothing is left to do
    for (int i = 1; i <= 3; ++i) {
        ASSERT_EQ(run_shell(task("held", 2, i)).exit_code, 0);
    }
    ASSERT_EQ(run_shell(task("held", 1, 2)).exit_code, 0);  // it did run after all: points computed twice
    EXPECT_EQ(status("held"), "12 done, 0 failed, 0 missing");
    EXPECT_EQ(dump(out("held")), expected);
    EXPECT_EQ(slurm_.arrays(), 2);
}

TEST_F(SlurmSweep, ALocalSweepTakesInWhatTasksLeft) {
    const std::string expected = undisturbed();
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("both").exit_code, 0);
    ASSERT_EQ(run_shell(task("both", 1, 1)).exit_code, 0);
    const ProcessResult local = sweep("both", {"--json"});
    EXPECT_EQ(local.exit_code, 0) << local.err;
    expect_says(local.err, "array 101 may have 8 points of what is computed here now");
    EXPECT_EQ(dump(out("both")), expected);
}

TEST_F(SlurmSweep, WhatFailedIsTriedAgainWithResume) {
    const std::string expected = undisturbed();
    // Predictions are above 1 MB, so nothing fits.
    const ProcessResult none = on_slurm("failed", {"--wait", "--memory", "1MB"});
    EXPECT_EQ(none.exit_code, 4) << none.err;
    expect_says(none.out, "of memory as predicted, and 1 MB is free");
    expect_says(none.err, "12 of 12 points failed");
    EXPECT_EQ(on_slurm("failed", {"--wait"}).exit_code, 4);  // failures are results
    EXPECT_EQ(slurm_.arrays(), 1);
    slurm_.set("refuse");
    EXPECT_EQ(on_slurm("failed", {"--resume"}).exit_code, 1);
    EXPECT_EQ(status("failed"), "0 done, 12 failed, 0 missing");
    slurm_.clear("refuse");
    const ProcessResult all = on_slurm("failed", {"--wait", "--resume"});
    EXPECT_EQ(all.exit_code, 0) << all.err;
    EXPECT_EQ(dump(out("failed")), expected);
}

TEST_F(SlurmSweep, TasksThatEndWithoutResultsAreSaid) {
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("lost").exit_code, 0);
    for (int i = 1; i <= 3; ++i) {
        slurm_.end(101, i);
    }
    slurm_.clear("hold");
    folder_.write("lost/spool", "a file, where tasks want a folder");
    const ProcessResult result = on_slurm("lost", {"--wait"});
    EXPECT_EQ(result.exit_code, 1) << result.out;
    expect_says(result.err, "tasks have ended without results of 12 points");
    expect_says(read_file(out("lost") + "/slurm/2/task-1.log"), "error[output.write]");
}

TEST_F(SlurmSweep, SlurmThatCannotBeAskedIsSaid) {
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("down").exit_code, 0);
    slurm_.set("down");
    const ProcessResult status = sweep("down", {"--status"});
    EXPECT_EQ(status.exit_code, 0);
    expect_says(status.out, "array 101: 12 points are missing, and Slurm cannot be asked");
    expect_says(
        status.err,
        "error[slurm.unknown]: Slurm cannot be asked about array 101: slurm_load_jobs error: Unable to "
        "contact slurm controller (connect failure)");
    const ProcessResult again = on_slurm("down", {"--resume"});
    EXPECT_EQ(again.exit_code, 1);
    expect_says(again.err, "error[slurm.unknown]");
    EXPECT_EQ(slurm_.arrays(), 1);
}

TEST_F(SlurmSweep, WaitsForResultsWhereSlurmCannotBeAsked) {
    const std::string expected = undisturbed();
    slurm_.set("hold");
    slurm_.set("silent");
    const std::string said = quoted(out("said"));
    const ProcessResult result =
        run_shell(quoted(ASTROLABE_PROGRAM) + " sweep " + quoted(study_) + " --out " + quoted(out("silent")) +
                  " --launcher slurm --tasks 3 --wait 2>" + said +
                  " & sweep=$!; for i in $(seq 600); do grep -q 'waiting all the same' " + said +
                  " && break; sleep 0.05; done; " + task("silent", 1, 1) + " && " + task("silent", 1, 2) +
                  " && " + task("silent", 1, 3) + "; wait $sweep");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(dump(out("silent")), expected);
    const std::string all = read_file(out("said"));
    expect_says(all, "error[slurm.unknown]");
    EXPECT_EQ(all.find("error[", all.find("error[") + 1), std::string::npos)
        << "said more than once: " << all;
}

TEST_F(SlurmSweep, AnInterruptEndsTheWaitOnly) {
    slurm_.set("hold");
    const ProcessResult result = run_shell(
        quoted(ASTROLABE_PROGRAM) + " sweep " + quoted(study_) + " --out " + quoted(out("stopped")) +
        " --launcher slurm --wait & sweep=$!; for i in $(seq 600); do test -e " +
        quoted(out("stopped") + "/slurm/1/job.json") +
        " && break; sleep 0.05; done; kill -INT $sweep; wait $sweep");
    EXPECT_EQ(result.exit_code, 130) << result.err;
    expect_says(result.err, "interrupted");
    expect_says(sweep("stopped", {"--status"}).out,
                "0 tasks running, 12 waiting, 0 ended; 12 points to come");
}

TEST_F(SlurmSweep, TwoCommandsAtATimeSubmitAPointOnce) {
    slurm_.set("hold");
    const std::string one = quoted(ASTROLABE_PROGRAM) + " sweep " + quoted(study_) + " --out " +
                            quoted(out("both")) + " --launcher slurm --tasks 3";
    const ProcessResult result = run_shell(one + " & " + one + "; wait $!");
    EXPECT_TRUE(result.err.find("error[") == std::string::npos ||
                result.err.find("error[slurm.submit]: another command submits") != std::string::npos)
        << result.err;
    EXPECT_EQ(slurm_.arrays(), 1);
    EXPECT_EQ(study::slurm_arrays(out("both")).value().size(), 1u);
}

TEST_F(SlurmSweep, FiguresThatNeedMoreThanThereIsAreWaitedFor) {
    ASSERT_EQ(sweep("grows").exit_code, 0);
    const std::string expected = dump(out("grows"));
    const ProcessResult result = on_slurm("grows", {"--wait", "--set", "report=[gantt]"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(slurm_.arrays(), 1);
    const auto store = study::ResultStore::open_to_read(out("grows"));
    for (const study::StudyRow& row : store->rows("sizes")) {
        EXPECT_TRUE(store->has_details(row.point.key, {"gantt"})) << row.point.number;
    }
    EXPECT_EQ(dump(out("grows")), expected);
}

TEST_F(SlurmSweep, AnArrayThatBringsWhatFiguresNeedIsSeen) {
    ASSERT_EQ(sweep("grows").exit_code, 0);
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("grows", {"--set", "report=[gantt]"}).exit_code, 0);
    expect_says(sweep("grows", {"--status", "--set", "report=[gantt]"}).out,
                "array 101: 0 tasks running, 3 waiting, 0 ended; 12 points to come\n");
    EXPECT_EQ(sweep("grows", {"--status"}).out.find("array"), std::string::npos);
    for (int i = 1; i <= 3; ++i) {
        slurm_.end(101, i);
    }
    slurm_.clear("hold");
    folder_.write("grows/spool", "a file, where tasks want a folder");
    const ProcessResult none = on_slurm("grows", {"--wait", "--set", "report=[gantt]"});
    EXPECT_EQ(none.exit_code, 1) << none.out;
    expect_says(none.err, "tasks have ended without results of 12 points");
}

TEST_F(SlurmSweep, WhatTheUserWouldHaveSqueueLeaveOutIsAskedForAllTheSame) {
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("users").exit_code, 0);
    ::setenv("SQUEUE_STATES", "RUNNING", 1);
    ::setenv("SQUEUE_PARTITION", "debug", 1);
    const ProcessResult again = on_slurm("users");
    ::unsetenv("SQUEUE_STATES");
    ::unsetenv("SQUEUE_PARTITION");
    expect_says(again.out, "sizes: nothing to submit; 12 points are with earlier arrays\n");
}

TEST_F(SlurmSweep, AnArrayThatCannotBeNotedIsSaid) {
    slurm_.set("hold");
    slurm_.set("block");
    const ProcessResult result = on_slurm("blocked");
    EXPECT_EQ(result.exit_code, 1) << result.out;
    expect_says(result.err, "array 101 was submitted and cannot be noted");
    expect_says(result.err, "scancel 101");
}

TEST_F(SlurmSweep, AnArrayOnAnotherClusterIsAskedForThere) {
    slurm_.set("hold");
    slurm_.set("cluster");
    ASSERT_EQ(on_slurm("far").exit_code, 0);
    expect_says(sweep("far", {"--status"}).out,
                "array 101;far: 0 tasks running, 3 waiting, 0 ended; 12 points to come\n");
}

TEST_F(SlurmSweep, TasksKeepToTheMemoryThatSlurmGivesThem) {
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("memory").exit_code, 0);
    // 1 MiB, less than any point takes.
    EXPECT_EQ(run_shell("export SLURM_MEM_PER_NODE=1; " + task("memory", 1, 1)).exit_code, 4);
    EXPECT_EQ(run_shell("export SLURM_MEM_PER_CPU=1 SLURM_CPUS_ON_NODE=1; " + task("memory", 1, 2)).exit_code,
              4);
    EXPECT_EQ(status("memory"), "0 done, 8 failed, 4 missing");
}

TEST_F(SlurmSweep, ARefusalIsOneErrorWithItsReason) {
    slurm_.set("refuse");
    const ProcessResult refused = on_slurm("refused");
    EXPECT_EQ(refused.exit_code, 1);
    expect_says(refused.err,
                "error[slurm.submit]: the array was not submitted: sbatch: error: invalid account");
    EXPECT_EQ(refused.err.find("error[", refused.err.find("error[") + 1), std::string::npos) << refused.err;
    EXPECT_EQ(status("refused"), "0 done, 0 failed, 12 missing");
    const ProcessResult missing =
        run_shell("PATH=/nowhere " + quoted(ASTROLABE_PROGRAM) + " sweep " + quoted(study_) + " --out " +
                  quoted(out("refused")) + " --launcher slurm");
    EXPECT_EQ(missing.exit_code, 1);
    expect_says(missing.err, "the array was not submitted: 'sbatch' cannot be started");
}

TEST_F(SlurmSweep, ASubmissionThatWasCutShortIsNone) {
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("cut").exit_code, 0);
    std::filesystem::remove(out("cut") + "/slurm/1/job.json");  // as if killed before it was written
    expect_says(on_slurm("cut").out, "array 102 computes 12 points");
    const ProcessResult orphan = run_shell(task("cut", 1, 1));
    EXPECT_EQ(orphan.exit_code, 1);
    expect_says(orphan.err, "error[slurm.record]");
    EXPECT_EQ(study::spooled_results(out("cut")), 0u);
}

TEST_F(SlurmSweep, AStudyThatChangedIsRefusedByItsTasks) {
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("changed").exit_code, 0);
    folder_.write("study.yaml", kStudy + "zip: {cluster.active_chunks: [8]}\n");  // equally many points
    const ProcessResult other = run_shell(task("changed", 1, 1));
    EXPECT_EQ(other.exit_code, 3);
    expect_says(other.err, "is another experiment than the one that was planned");
    folder_.write("study.yaml", "schema: astrolabe/1\nbase: " ASTROLABE_SOURCE_DIR
                                "/examples/quickstart/experiment.yaml\n");
    const ProcessResult fewer = run_shell(task("changed", 1, 1));
    EXPECT_EQ(fewer.exit_code, 3);
    expect_says(fewer.err, "the study has 1 points");
    EXPECT_EQ(study::spooled_results(out("changed")), 0u);
}

TEST_F(SlurmSweep, KilledTasksCostWhatTheyHadNotFinished) {
    const std::string expected = undisturbed();
    slurm_.set("hold");
    std::mt19937 random(11);
    std::uniform_real_distribution<double> moment(0.1, 1.5);  // a share takes about a second
    int job = 100;
    for (int kills = 0; kills < 4 && status("killed") != "12 done, 0 failed, 0 missing"; ++kills) {
        ASSERT_EQ(on_slurm("killed").exit_code, 0);
        ++job;
        const auto arrays = study::slurm_arrays(out("killed"));
        const int tasks = static_cast<int>(arrays.value().back().shares.size());
        for (int i = 1; i <= tasks; ++i) {
            const ProcessResult killed =
                run_shell(task("killed", job - 100, i) +
                          fmt::format(" & sleep {:.3f}; kill -KILL $!; wait $!", moment(random)));
            EXPECT_TRUE(killed.exit_code == 137 || killed.exit_code == 0) << killed.exit_code << killed.err;
            slurm_.end(job, i);
        }
    }
    slurm_.clear("hold");
    EXPECT_EQ(on_slurm("killed", {"--wait", "--resume"}).exit_code, 0);
    EXPECT_EQ(dump(out("killed")), expected);
}

TEST_F(SlurmSweep, KilledWhileItTakesInResultsItLosesNone) {
    const std::string expected = undisturbed();
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("merged").exit_code, 0);
    for (int i = 1; i <= 3; ++i) {
        ASSERT_EQ(run_shell(task("merged", 1, i)).exit_code, 0);
    }
    const std::string one = quoted(ASTROLABE_PROGRAM) + " sweep " + quoted(study_) + " --status --out " +
                            quoted(out("merged")) + " >/dev/null & ";
    std::mt19937 random(17);
    std::uniform_real_distribution<double> moment(0, 0.1);  // all is taken in in about as much
    for (int kills = 0; kills < 6; ++kills) {
        static_cast<void>(run_shell((kills % 2 == 0 ? one : one + one) +
                                    fmt::format("sleep {:.3f}; kill -KILL $!; wait", moment(random))));
    }
    EXPECT_EQ(status("merged"), "12 done, 0 failed, 0 missing");
    EXPECT_EQ(dump(out("merged")), expected);
    EXPECT_EQ(study::spooled_results(out("merged")), 0u);
}

TEST_F(SlurmSweep, AFullDiskEndsATaskAndKeepsWhatIsFinished) {
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("full").exit_code, 0);
    ASSERT_EQ(run_shell(task("full", 1, 1)).exit_code, 0);
    // A limit on the size of files stands for the disk; pipes have none.
    const auto on_full_disk = [](const std::string& command) {
        return run_shell("(trap '' XFSZ; ulimit -f 0; " + command + "; echo code $?) 2>&1 | cat");
    };
    const ProcessResult full = on_full_disk(task("full", 1, 2));
    expect_says(full.out, "error[output.write]");
    expect_says(full.out, "code 1\n");
    EXPECT_EQ(full.out.find("error[", full.out.find("error[") + 1), std::string::npos) << full.out;
    EXPECT_EQ(study::spooled_results(out("full")), 4u);
    // A store that cannot be written leaves results where they are.
    const ProcessResult status_then = on_full_disk(quoted(ASTROLABE_PROGRAM) + " sweep " + quoted(study_) +
                                                   " --status --out " + quoted(out("full")));
    expect_says(status_then.out, "4 results of tasks cannot be taken in now");
    EXPECT_EQ(study::spooled_results(out("full")), 4u);
    EXPECT_EQ(status("full"), "4 done, 0 failed, 8 missing");
}

TEST_F(SlurmSweep, DamagedFilesAreSaid) {
    slurm_.set("hold");
    ASSERT_EQ(on_slurm("damaged").exit_code, 0);
    ASSERT_EQ(run_shell(task("damaged", 1, 1)).exit_code, 0);
    folder_.write("damaged/spool/1-9-x.json", "{");
    const ProcessResult status = sweep("damaged", {"--status"});
    EXPECT_EQ(status.exit_code, 0);
    expect_says(status.err, "error[store.spool]");
    expect_says(status.out, "12 points, 4 done, 0 failed, 8 missing");
    EXPECT_EQ(sweep("damaged").exit_code, 1);
    std::filesystem::remove(out("damaged") + "/spool/1-9-x.json");
    folder_.write("damaged/slurm/1/shares.json", "{");
    EXPECT_EQ(sweep("damaged", {"--status"}).exit_code, 1);
    const ProcessResult again = on_slurm("damaged");
    EXPECT_EQ(again.exit_code, 1);
    expect_says(again.err, "error[slurm.record]");
    EXPECT_EQ(slurm_.arrays(), 1);
}

TEST_F(SlurmSweep, WrongUsageIsSaid) {
    const std::vector<std::vector<std::string>> wrong{{"--tasks", "2"},
                                                      {"--partition", "p"},
                                                      {"--account", "a"},
                                                      {"--time", "1h"},
                                                      {"--sbatch=--qos=a"},
                                                      {"--wait"},
                                                      {"--launcher", "pbs"},
                                                      {"--task", "1"},
                                                      {"--launcher", "slurm", "--task", "x"},
                                                      {"--launcher", "slurm", "--shard", "1/2"},
                                                      {"--launcher", "slurm", "--wait", "--status"},
                                                      {"--launcher", "slurm", "--tasks", "0"},
                                                      {"--launcher", "slurm", "--partition", ""},
                                                      {"--launcher", "slurm", "--time", "5"},
                                                      {"--launcher", "slurm", "--memory", "1B"},
                                                      {"--launcher", "slurm", "--sbatch=--array=1-2"}};
    for (const std::vector<std::string>& words : wrong) {
        const ProcessResult result = sweep("usage", words);
        EXPECT_EQ(result.exit_code, 2) << words.front() << " " << words.back() << "\n" << result.err;
        EXPECT_NE(result.err, "");
    }
    EXPECT_FALSE(std::filesystem::exists(out("usage")));
}

}  // namespace
}  // namespace astrolabe::testing
