/// Studies on Slurm, as far as that needs no Slurm: slurm.hpp.
#include "process.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/study/slurm/slurm.hpp>

namespace astrolabe::study {
namespace {

double load_of(const std::vector<std::size_t>& share, const std::vector<double>& costs) {
    double load = 0;
    for (const std::size_t place : share) {
        load += costs[place];
    }
    return load;
}

RC_GTEST_PROP(Divide, EveryPointIsInOneShareAndLoadsAreEven, ()) {
    // Whole numbers, so that sums are exact in any order.
    const auto whole = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000));
    const auto shares = *rc::gen::inRange<std::size_t>(1, 20);
    const std::vector<double> costs(whole.begin(), whole.end());
    const auto divided = divide(costs, shares);
    RC_ASSERT(divided.size() == std::min(shares, costs.size()));
    std::vector<int> seen(costs.size(), 0);
    std::vector<double> loads;
    for (const std::vector<std::size_t>& share : divided) {
        RC_ASSERT(!share.empty());
        for (const std::size_t place : share) {
            ++seen.at(place);
        }
        loads.push_back(load_of(share, costs));
    }
    RC_ASSERT(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    if (!costs.empty()) {
        const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
        RC_ASSERT(*most - *least <= *std::max_element(costs.begin(), costs.end()));
    }
    RC_ASSERT(divided == divide(costs, shares));
}

TEST(Divide, LongestFirstToTheLeastLoaded) {
    // 5 | 4 | then 3 to the 4 (7), 3 to the 5 (8), 2 to the 7 (9).
    const std::vector<double> costs{2, 3, 5, 3, 4};
    EXPECT_EQ(divide(costs, 2), (std::vector<std::vector<std::size_t>>{{2, 3}, {4, 1, 0}}));
}

TEST(Divide, PointsOfUnknownCostAreEvenInNumber) {
    const std::vector<double> costs(7, 0);
    EXPECT_EQ(divide(costs, 3), (std::vector<std::vector<std::size_t>>{{0, 3, 6}, {1, 4}, {2, 5}}));
}

TEST(BatchOptions, AreThoseOfTheStudy) {
    SlurmOptions options;
    options.jobs = 2;
    options.partition = "fast nodes";
    options.account = "lab";
    options.time = Time(93'784'000'000'000'001);          // a picosecond above 26 h 3 min 4 s: rounded up
    options.memory = Bytes((std::int64_t{3} << 20) + 1);  // a byte above 3 MiB: rounded up
    options.sbatch = {"--qos=long"};
    const std::vector<std::string> expected{"--job-name=a_study",
                                            "--array=1-5",
                                            "--nodes=1",
                                            "--ntasks=1",
                                            "--cpus-per-task=2",
                                            "--requeue",
                                            "--output=task-%a.log",
                                            "--open-mode=append",
                                            "--partition=fast nodes",
                                            "--account=lab",
                                            "--time=1-02:03:05",
                                            "--mem=4M",
                                            "--qos=long"};
    EXPECT_EQ(batch_options("a\nstudy", options, 5), expected);
}

TEST(BatchScript, KeepsWordsAsTheyAre) {
    const testing::TemporaryFolder folder;
    const std::filesystem::path odd = folder.path() / "it's a \"folder\" of $HOME, `id`\nand \\n";
    std::filesystem::create_directory(odd);
    const std::filesystem::path program = odd / "program";
    std::ofstream(program) << "#!/bin/sh\npwd\nfor word; do printf '<%s>\\n' \"$word\"; done\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const std::string script = batch_script(
        {"--comment=it's a \"b\" \\ #c"},
        {odd, {program.string(), "sweep", "it's", "$(exit 1)", "a\nb", "--set", "a=\"b\" \\"}}, 7);
    EXPECT_NE(script.find("#SBATCH \"--comment=it's a \\\"b\\\" \\\\ #c\"\n"), std::string::npos) << script;
    const testing::ProcessResult result = testing::run_shell(
        "SLURM_ARRAY_TASK_ID=3 sh " + testing::quoted(folder.write("batch.sh", script).string()));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(
        result.out,
        odd.string() + "\n<sweep>\n<it's>\n<$(exit 1)>\n<a\nb>\n<--set>\n<a=\"b\" \\>\n<--task>\n<7:3>\n");
}

std::vector<std::string> errors_of(const std::string& yaml) {
    ReadContext context;
    static_cast<void>(slurm_schema().read(*parse_config(yaml, "study.yaml"), context));
    std::vector<std::string> messages;
    for (const Diagnostic& error : context.errors()) {
        messages.push_back(error.message);
    }
    return messages;
}

TEST(SlurmOptions, AreReadStrictly) {
    EXPECT_TRUE(errors_of("{tasks: 4, jobs: 2, partition: p, account: a, time: 2h, memory: 4GiB, sbatch: "
                          "[--qos=long, -C fast]}")
                    .empty());
    for (const char* wrong :
         {"tasks: 0", "jobs: 0", "time: 1ms", "time: 5", "memory: 1B", "partition: ''", "account: \"a\\nb\"",
          "sbatch: [qos=long]", "sbatch: [\"--qos=a\\n#SBATCH --hold\"]", "sbatch: [--array=1-9]",
          "sbatch: [-a 1-9]", "sbatch: [-o x]", "sbatch: [--wait]", "task: 4"}) {
        EXPECT_EQ(errors_of(wrong).size(), 1u) << wrong;
    }
}

class SlurmRecords : public ::testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const {
        const std::filesystem::path path = folder_.path() / "slurm" / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    testing::TemporaryFolder folder_;
};

TEST_F(SlurmRecords, AreThoseOfSubmissionsThatWereMade) {
    EXPECT_TRUE(slurm_arrays(folder_.path())->empty());
    const std::string shares =
        R"({"layout": 1, "tasks": [[{"point": 3, "key": "k", "wall_s": 1.5,
        "memory_bytes": null}], []]})";
    write("2/shares.json", shares);
    write("2/job.json", R"({"layout": 1, "job": "17;far"})");
    write("10/shares.json", shares);  // cut short
    write("notes/shares.json", "not ours");
    const Result<std::vector<SlurmArray>> arrays = slurm_arrays(folder_.path());
    ASSERT_TRUE(arrays) << render(arrays.error());
    ASSERT_EQ(arrays->size(), 1u);
    EXPECT_EQ(arrays->front().number, 2u);
    EXPECT_EQ(arrays->front().job, "17;far");
    ASSERT_EQ(arrays->front().shares.size(), 2u);
    EXPECT_EQ(arrays->front().shares[0][0].number, 3u);
    EXPECT_EQ(arrays->front().shares[0][0].resolution.key, "k");
    EXPECT_EQ(arrays->front().shares[0][0].resolution.predicted_wall_seconds, 1.5);
}

TEST_F(SlurmRecords, ThatCannotBeReadAreSaid) {
    for (const char* wrong : {"", "[]", "{\"layout\": 2}", "{\"layout\": 1, \"tasks\": 7}",
                              R"({"layout": 1, "tasks": [[{"point": "x"}]]})"}) {
        write("1/shares.json", wrong);
        write("1/job.json", R"({"layout": 1, "job": "17"})");
        const Result<std::vector<SlurmArray>> arrays = slurm_arrays(folder_.path());
        ASSERT_FALSE(arrays) << wrong;
        EXPECT_EQ(arrays.error().front().code, "slurm.record");
        EXPECT_NE(arrays.error().front().message.find("1/shares.json"), std::string::npos);
    }
    std::filesystem::remove(folder_.path() / "slurm/1/shares.json");
    std::filesystem::create_directory(folder_.path() / "slurm/1/shares.json");
    EXPECT_FALSE(slurm_arrays(folder_.path()));
}

}  // namespace
}  // namespace astrolabe::study
