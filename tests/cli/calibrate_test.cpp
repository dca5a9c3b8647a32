/// `astrolabe calibrate` and the times that it writes, as a user meets them.
#include "process.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

/// Times of 20 us + size / 1 GB/s on four devices.
std::string log_text() {
    std::string text;
    for (int rank = 0; rank < 4; ++rank) {
        text += "#  Rank  " + std::to_string(rank) + " Pid 1 on node device  0 [0x00] Made Up\n";
    }
    text += "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n";
    for (const long size : {1000L, 10'000L, 100'000L, 1'000'000L}) {
        const std::string times = std::to_string(20.0 + static_cast<double>(size) / 1e3) + " 0 0 N/A ";
        text += std::to_string(size) + " 1 float sum " + times + times + "\n";
    }
    return text;
}

ProcessResult calibrate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "calibrate");
    return run_program(ASTROLABE_PROGRAM, arguments);
}

// 20 us + 500 kB / 1 GB/s = 520 us, where the network needs 6 steps of 125 kB at 125 GB/s, 6 us.
TEST(Calibrate, WhatItWritesIsWhatACollectiveTakesAtLeast) {
    const TemporaryFolder folder;
    const std::string log = folder.write("all_reduce.log", log_text()).string();
    const std::string file = (folder.path() / "machine.yaml").string();
    const std::string plot = (folder.path() / "machine.svg").string();
    const ProcessResult result = calibrate({log, "--out", file, "--plot", plot, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json printed = Json::parse(result.out);
    EXPECT_EQ(printed["machine"], "Made Up");
    EXPECT_EQ(printed["series"][0]["ranks"], 4);
    EXPECT_NEAR(printed["series"][0]["pieces"][0]["latency_s"].get<double>(), 20e-6, 1e-10);
    EXPECT_NEAR(printed["series"][0]["pieces"][0]["rate_bytes_per_s"].get<double>(), 1e9, 1e4);
    EXPECT_NE(read_file(plot).find("<svg"), std::string::npos);

    const ProcessResult run =
        run_program(ASTROLABE_PROGRAM,
                    {"collective", "--kind", "all-reduce", "--algorithm", "ring", "--chunks", "1", "--size",
                     "500kB", "--network", "{kind: flat, hosts: 4, link: {rate: 1000Gbps, latency: 0ns}}",
                     "--measured", file, "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NEAR(Json::parse(run.out)[0]["time_s"].get<double>(), 520e-6, 1e-9);
}

TEST(Calibrate, RefusesWithThePlaceAndWritesNothing) {
    const TemporaryFolder folder;
    const std::string good = folder.write("all_reduce.log", log_text()).string();
    const std::string cut =
        folder.write("cut_all_reduce.log", log_text() + "2000000 1 float sum 5\n").string();
    const std::string nameless = folder.write("some.log", log_text()).string();
    const std::string file = (folder.path() / "machine.yaml").string();
    for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{cut}, "cut_all_reduce.log:10:1"},
             {{nameless}, "does not say which collective"},
             {{good, good}, "and so has"},
             {{folder.write("reduce_scatter.log", log_text() + "\n").string(), good, "--ranks", "8",
               "--launch", "30us"},
              "no longer than --launch"},
             {{(folder.path() / "none.log").string()}, "cannot read"}}) {
        std::vector<std::string> all = arguments;
        all.insert(all.end(), {"--out", file});
        const ProcessResult result = calibrate(all);
        EXPECT_EQ(result.exit_code, 3) << message;
        EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
        EXPECT_EQ(result.out, "") << message;
        EXPECT_FALSE(std::filesystem::exists(file)) << message;
    }
    EXPECT_EQ(calibrate({good, "--collective", "all-redcue"}).exit_code, 2);
    EXPECT_EQ(calibrate({good, "--out", (folder.path() / "no" / "such" / "file").string()}).exit_code, 1);
}

TEST(Calibrate, TheMachineThatIsShippedIsReadAndNamedInResults) {
    const ProcessResult run = run_program(
        ASTROLABE_PROGRAM,
        {"run", ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml", "--set",
         "cluster.measured_collectives=" ASTROLABE_SOURCE_DIR "/inputs/machines/a100-40gb-nvswitch-x8.yaml",
         "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json measured = Json::parse(run.out)["measured_collectives"];
    EXPECT_EQ(measured["machine"], "A100-SXM4-40GB");
    EXPECT_FALSE(measured["extrapolated"].empty()) << "16 ranks were not measured";
    EXPECT_TRUE(measured["unknown"].empty());
}

}  // namespace
}  // namespace astrolabe::testing
