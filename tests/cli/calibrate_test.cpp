/// `astrolabe calibrate` and the times that it writes, as a user meets them.
#include "process.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
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
    const std::filesystem::path large = folder.write("large_all_reduce.log", log_text());
    std::filesystem::resize_file(large,
                                 (std::uintmax_t{64} << 20) + 1);  // 64 MiB and a byte, none on the disk
    for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{cut}, "cut_all_reduce.log:10:1"},
             {{nameless}, "does not say which collective"},
             {{good, good}, "and so has"},
             {{folder.write("reduce_scatter.log", log_text() + "\n").string(), good, "--ranks", "8",
               "--launch", "30us"},
              "no longer than --launch"},
             {{folder.write("many.log", "# nThread 8 nGpus 8\n" + log_text()).string(), "--collective",
               "all-reduce", "--launch-per-device", "20s"},
              "--launch 0 ps and --launch-per-device 20 s of 64 devices are over 1000 s"},
             {{"/dev/zero"}, "cannot read '/dev/zero': it is no regular file"},
             {{large.string()}, "67108865 bytes, expected at most 67108864"},
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

/// A step of two ranks: a forward of 40 us with two launches, and three all-reduces of 1, 10 and 100 kB.
std::string trace_text(int rank) {
    const auto event = [](const std::string& category, const std::string& name, int start, int duration,
                          const std::string& arguments) {
        return "{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name +
               "\", \"pid\": 1, \"tid\": 7, \"ts\": " + std::to_string(start) +
               ", \"dur\": " + std::to_string(duration) + ", \"args\": {" + arguments + "}},\n";
    };
    std::string text = "{\"deviceProperties\": [{\"name\": \"Made Up\"}], \"distributedInfo\": {\"rank\": " +
                       std::to_string(rank) + ", \"world_size\": 2}, \"traceEvents\": [\n";
    text += event("user_annotation", "ProfilerStep#1", 0, 1000, "");
    text += event("user_annotation", "## forward ##", 10, 40, "");
    text += event("cuda_runtime", "cudaLaunchKernel", 11, 2, "\"correlation\": 1");
    text += event("cuda_runtime", "cudaLaunchKernel", 31, 2, "\"correlation\": 2");
    text += event("kernel", "a", 20, 3, "\"stream\": 7, \"correlation\": 1");
    text += event("kernel", "b", 40, 5, "\"stream\": 7, \"correlation\": 2");
    int correlation = 3;
    for (const int kilobytes : {1, 10, 100}) {
        const int start = 100 * correlation;
        const std::string id = "\"correlation\": " + std::to_string(correlation++);
        text +=
            event("user_annotation", "nccl:all_reduce", start, 9,
                  "\"Input Dims\": [[" + std::to_string(250 * kilobytes) + "]], \"Input type\": [\"float\"]");
        text += event("cuda_runtime", "cudaLaunchKernel", start + 2, 2, id);
        // Rank 1 is 30 us late; both end 10 us + 1 us a kilobyte after that.
        text += event("kernel", "ncclKernel_AllReduce_RING_LL_Sum_float(x)", start + 10 + 30 * rank,
                      10 + kilobytes + 30 * (1 - rank), "\"stream\": 9, " + id);
    }
    text.erase(text.size() - 2);
    return text + "]}\n";
}

// Forward: 40 us of host for two launches, 20 us each. All-reduces: 10 us + size / 1 GB/s.
TEST(Calibrate, TracesBecomeHostCostsAndExposedTimes) {
    const TemporaryFolder folder;
    const std::string machine = (folder.path() / "machine.yaml").string();
    const std::string device = (folder.path() / "device.yaml").string();
    const std::string first = folder.write("rank0.json", trace_text(0)).string();
    const std::string second = folder.write("rank1.json", trace_text(1)).string();
    const ProcessResult result =
        calibrate({first, second, "--out", machine, "--device-out", device, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json printed = Json::parse(result.out);
    EXPECT_NEAR(printed["host"]["forward_launch_s"].get<double>(), 20e-6, 1e-12);
    EXPECT_NEAR(printed["host"]["kernel_s"].get<double>(), 4e-6, 1e-12);
    ASSERT_EQ(printed["collectives"].size(), 3U);
    EXPECT_NEAR(printed["collectives"][2]["least_s"].get<double>(), 110e-6, 1e-12);

    // 50 kB of two ranks take 60 us on a network that needs less than 1 us.
    const ProcessResult run =
        run_program(ASTROLABE_PROGRAM,
                    {"collective", "--kind", "all-reduce", "--algorithm", "ring", "--chunks", "1", "--size",
                     "50kB", "--network", "{kind: flat, hosts: 2, link: {rate: 1000Gbps, latency: 0ns}}",
                     "--measured", machine, "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NEAR(Json::parse(run.out)[0]["time_s"].get<double>(), 60e-6, 1e-9);

    const std::string keys = read_file(device);
    EXPECT_NE(keys.find("forward_launch: 20us"), std::string::npos) << keys;
    EXPECT_NE(keys.find("kernel: 4us"), std::string::npos) << keys;
    EXPECT_NE(keys.find("rank1.json, hash "), std::string::npos) << keys;

    const ProcessResult twice = calibrate({first, first});
    EXPECT_EQ(twice.exit_code, 3);
    EXPECT_NE(twice.err.find("rank 0 is there twice"), std::string::npos) << twice.err;
    const ProcessResult mixed = calibrate({first, folder.write("all_reduce.log", log_text()).string()});
    EXPECT_EQ(mixed.exit_code, 3);
    EXPECT_NE(mixed.err.find("are of two sorts"), std::string::npos) << mixed.err;
    const ProcessResult cut = calibrate({folder.write("cut.json", trace_text(0).substr(0, 900)).string()});
    EXPECT_EQ(cut.exit_code, 3);
    EXPECT_NE(cut.err.find("cut.json:"), std::string::npos) << cut.err;
}

// 2·1000·1000 FLOP a sample: 10 us more for 1,000 samples more is 200 TFLOPS; the floor is 12 us.
TEST(Calibrate, KernelTablesBecomeRatesOfADevice) {
    const TemporaryFolder folder;
    const std::string device = (folder.path() / "device.yaml").string();
    const std::string plot = (folder.path() / "kernels.svg").string();
    const std::string table = folder
                                  .write("kernels.csv",
                                         "kernel,samples,forward,backward\n"
                                         "Dense_1000_1000,100,12us,24us\nDense_1000_1000,200,12us,24us\n"
                                         "Dense_1000_1000,2000,20us,41us\nDense_1000_1000,4000,40us,80us\n"
                                         "Dense_1000_1000,8000,80us,160us\nConcat_1,10,1us,2us\n")
                                  .string();
    const ProcessResult result =
        calibrate({table, "--precision", "bf16", "--device-out", device, "--plot", plot, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json printed = Json::parse(result.out);
    EXPECT_NEAR(printed["gemm"]["rate_FLOPS"].get<double>(), 200e12, 2e12);
    EXPECT_NEAR(printed["gemm"]["floor_s"].get<double>(), 12e-6, 1e-9);
    EXPECT_NE(result.err.find("kernels.csv:7:1: warning: Concat_1 has no model"), std::string::npos)
        << result.err;
    EXPECT_NE(read_file(device).find("bf16:"), std::string::npos);
    EXPECT_NE(read_file(plot).find("<svg"), std::string::npos);
}

TEST(Export, AnExchangeIsListedAndWrittenAsAMatrix) {
    const std::string file = ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml";
    const ProcessResult list = run_program(ASTROLABE_PROGRAM, {"export", file, "--format", "alltoallv"});
    ASSERT_EQ(list.exit_code, 0) << list.err;
    EXPECT_NE(list.out.find("Embedding.forward.all_to_all"), std::string::npos) << list.out;
    const TemporaryFolder folder;
    const std::string matrix = (folder.path() / "matrix.txt").string();
    const ProcessResult written =
        run_program(ASTROLABE_PROGRAM, {"export", file, "--format", "alltoallv", "--operation",
                                        "Embedding.forward.all_to_all", "--iteration", "1", "--out", matrix});
    ASSERT_EQ(written.exit_code, 0) << written.err;
    const std::string text = read_file(matrix);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 16);
    EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 16 * 15);
    const ProcessResult wrong =
        run_program(ASTROLABE_PROGRAM,
                    {"export", file, "--format", "alltoallv", "--operation", "Embeding.forward.all_to_all"});
    EXPECT_EQ(wrong.exit_code, 3);
    EXPECT_NE(wrong.err.find("did you mean 'Embedding.forward.all_to_all'"), std::string::npos) << wrong.err;
    EXPECT_EQ(run_program(ASTROLABE_PROGRAM, {"export", file, "--format", "et"}).exit_code, 2);
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
