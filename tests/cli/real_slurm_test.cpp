/// `astrolabe sweep --launcher slurm` on Slurm's own daemons, one of whose nodes dies.
#include "real_slurm.hpp"

#include "sweep_study.hpp"

#include <algorithm>
#include <random>

#include <astrolabe/study/slurm/slurm.hpp>
#include <astrolabe/study/sweep/spool.hpp>

namespace astrolabe::testing {
namespace {

/// Points that take about a second, so that a node can die among them.
const std::vector<std::string> kLonger{"--set", "base.workload.iterations=10"};

class RealSlurmSweep : public SweepTest {
protected:
    void SetUp() override {
        if (!slurm_.problem().empty()) {
            GTEST_SKIP() << "Slurm cannot be started here: " << slurm_.problem();
        }
    }
    [[nodiscard]] ProcessResult on_slurm(std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"--launcher", "slurm", "--tasks", "4"});
        more.insert(more.begin(), kLonger.begin(), kLonger.end());
        return sweep("slurm", more);
    }
    [[nodiscard]] std::size_t missing_points() const {
        const auto store = study::ResultStore::open_to_read(out("slurm"));
        const std::vector<study::StudyRow> rows = store.value().rows("sizes");
        return static_cast<std::size_t>(std::count_if(
            rows.begin(), rows.end(),
            [](const study::StudyRow& row) { return row.result.status == study::PointStatus::kMissing; }));
    }
    /// A second into a task on a node, more or less.
    void kill_while_it_works(const std::string& node, unsigned seed) {
        std::string running;
        for (int tries = 0; tries < 300 && running.empty(); ++tries) {
            running = run_shell("squeue --noheader --states=RUNNING --nodelist=" + node).out;
            ::usleep(50'000);
        }
        ASSERT_NE(running, "") << "no task came to " << node;
        std::mt19937 random(seed);
        ::usleep(std::uniform_int_distribution<useconds_t>(0, 1'500'000)(random));
        slurm_.kill_node(node);
    }

    RealSlurm slurm_{folder_.path() / "cluster", 2};
};

TEST_F(RealSlurmSweep, ResumesWhatADeadNodeHad) {
    const std::string expected = undisturbed(kLonger);
    const ProcessResult submitted =
        on_slurm({"--sbatch=--no-requeue", "--sbatch=--comment=it's a \"b\" \\ #c"});
    ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
    expect_says(submitted.out, "computes 12 points in 4 tasks");
    expect_says(run_shell("scontrol show job").out, "Comment=it's a \"b\" \\ #c");
    kill_while_it_works("n2", 3);
    // Slurm takes the node's task for running at first, so its points are waited for.
    const ProcessResult lost = on_slurm({"--wait"});
    EXPECT_EQ(lost.exit_code, 1) << lost.out;
    expect_says(lost.err, "tasks have ended without results of ");
    const std::size_t missing = missing_points();
    EXPECT_GE(missing, 1u);
    const ProcessResult rest = on_slurm({"--resume", "--wait"});
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_EQ(dump(out("slurm")), expected);
    const auto arrays = study::slurm_arrays(out("slurm"));
    ASSERT_EQ(arrays.value().size(), 2u);
    std::size_t again = 0;
    for (const auto& share : arrays.value()[1].shares) {
        again += share.size();
    }
    EXPECT_EQ(again, missing);
}

TEST_F(RealSlurmSweep, SlurmStartsTasksOfADeadNodeAgain) {
    const std::string expected = undisturbed(kLonger);
    ASSERT_EQ(on_slurm().exit_code, 0);
    kill_while_it_works("n1", 5);
    const ProcessResult all = on_slurm({"--wait"});
    EXPECT_EQ(all.exit_code, 0) << all.err;
    expect_says(all.out, "12 points, 12 done, 0 failed, 0 missing");
    EXPECT_EQ(dump(out("slurm")), expected);
    EXPECT_EQ(study::slurm_arrays(out("slurm")).value().size(), 1u);
    EXPECT_EQ(study::spooled_results(out("slurm")), 0u);
}

}  // namespace
}  // namespace astrolabe::testing
