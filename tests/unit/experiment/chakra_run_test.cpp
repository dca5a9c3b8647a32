// Chakra traces as workloads of experiments: public traces on all engines, and programs by way of traces.

#include "small_experiment.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/unit/workload/exported.hpp>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

const std::filesystem::path kPublic =
    std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/traces/chakra";

class ChakraExperiment : public ::testing::Test {
protected:
    [[nodiscard]] Result<Experiment> try_load(const std::string& traces, std::size_t ranks,
                                              std::vector<std::string> changes = {}) const {
        std::vector<std::string> overrides{"workload={kind: chakra, traces: " + traces + "}",
                                           fmt::format("cluster.ranks={}", ranks),
                                           fmt::format("network.hosts={}", ranks)};
        overrides.insert(overrides.end(), changes.begin(), changes.end());
        return testing::load_small(components_, overrides);
    }
    [[nodiscard]] Experiment load(const std::string& traces, std::size_t ranks,
                                  std::vector<std::string> changes = {}) const {
        Result<Experiment> loaded = try_load(traces, ranks, std::move(changes));
        EXPECT_TRUE(loaded) << (loaded ? "" : render(loaded.error()));
        return std::move(loaded).value();
    }
    [[nodiscard]] Time time_of(const Experiment& experiment) const {
        return run_experiment(experiment, {}).execution.total;
    }

    Components components_ = builtin_components();
};

// alpha = two cables of 500 ns; M = 1 MiB at 100 Gb/s is 83,886.08 ns.

TEST_F(ChakraExperiment, TracesThatAreNotThereAreShownWhereTheyAreNamed) {
    const Result<Experiment> experiment = try_load("no-such-folder/traces", 4);
    ASSERT_FALSE(experiment);
    const Diagnostic& error = experiment.error().front();
    EXPECT_EQ(error.code, "chakra.ranks");
    ASSERT_EQ(error.notes.size(), 1U);
    // workload={kind: chakra, traces: no-such…: the value of 'traces' is the 33rd character, 9 + 15 + 8
    // before it.
    EXPECT_EQ(error.notes.front().first.to_string(), "--set:1:33");
}

TEST_F(ChakraExperiment, PublicMicrobenchmarksTakeTheirClosedForms) {
    if (!std::filesystem::exists(kPublic)) {
        GTEST_SKIP() << "no public traces at hand";
    }
    struct Case {
        std::string folder;
        std::size_t ranks;
        std::int64_t picoseconds;
    };
    const std::vector<Case> cases{
        // 2 (n-1) (alpha + M/n): 6 · 21,971.52 ns and 14 · 11,485.76 ns
        {"all_reduce/4npus_1MB", 4, 131'829'120},
        {"all_reduce/8npus_1MB", 8, 160'800'640},
        // (n-1) (alpha + M): 7 · 84,886.08 ns
        {"all_gather/8npus_1MB", 8, 594'202'560},
        // (n-1) (alpha + M/n): 3 · 21,971.52 ns
        {"reduce_scatter/4npus_1MB", 4, 65'914'560},
    };
    for (const Case& one : cases) {
        const std::string folder = (kPublic / "microbenchmarks" / one.folder).string();
        EXPECT_EQ(time_of(load(folder, one.ranks)), Time(one.picoseconds)) << one.folder;
    }
}

TEST_F(ChakraExperiment, APublicRingOfMessagesTakesItsClosedForm) {
    if (!std::filesystem::exists(kPublic)) {
        GTEST_SKIP() << "no public traces at hand";
    }
    const std::string folder = (kPublic / "custom_ring_8npus_1MB").string();
    const Experiment ring = load(folder, 8);
    // 14 (alpha + M/8) = 160,800.64 ns, and 7 reductions of 7 us between.
    EXPECT_EQ(time_of(ring), Time(209'800'640));
    const auto sent = [](const experiment::Run& run) {
        Bytes bytes;
        for (const auto& operation : run.execution.operations) {
            bytes += operation.bytes_sent;
        }
        return bytes;
    };
    EXPECT_EQ(sent(run_experiment(ring, {})), 8 * 14 * 131'072_B);
#ifdef ASTROLABE_WITH_NS3
    // Headers and windows cost some percent; sends wait for no receive, so nothing locks up.
    for (const char* backend : {"backend.kind=packet", "backend.kind=tcp"}) {
        const experiment::Run run = run_experiment(load(folder, 8, {backend}), {});
        EXPECT_TRUE(run.execution.finished);
        EXPECT_EQ(sent(run), 8 * 14 * 131'072_B);
        EXPECT_GT(run.execution.total, Time(209'800'640)) << backend;
        EXPECT_LT(run.execution.total, Time(209'800'640) * 11 / 10) << backend;
    }
#endif
}

TEST_F(ChakraExperiment, APublicPytorchTraceTakesItsCriticalPath) {
    if (!std::filesystem::exists(kPublic)) {
        GTEST_SKIP() << "no public traces at hand";
    }
    const Experiment step = load((kPublic / "pytorch/chakra.0.et.gz").string(), 1);
    EXPECT_EQ(step.program.operations.size(), 3'664U);
    ASSERT_EQ(step.program.streams.size(), 3U);
    EXPECT_EQ(step.program.streams[0], "stream 7");
    std::array<Time, 3> compute{};
    std::vector<std::int64_t> reduced;
    for (const system::Operation& operation : step.program.operations) {
        if (operation.is_compute()) {
            compute[operation.compute().stream] += operation.compute().duration[system::RankId(0)];
        } else if (operation.collective().kind == system::CollectiveKind::kAllReduce) {
            reduced.push_back(operation.collective().size.count());
        }
    }
    // Of the GPU 329,543 us, of which 36,715 us in NCCL's kernels, which are collectives here; host 52,252
    // us.
    EXPECT_EQ(compute[0], Time(1'000'000) * (329'543 - 36'715));
    EXPECT_EQ(compute[1] + compute[2], Time(1'000'000) * 52'252);
    EXPECT_EQ(reduced, (std::vector<std::int64_t>{8'196'000, 31'502'336, 26'255'360, 26'550'272, 9'724'160}));
    // The longest chain of data_deps and of nodes of a stream or thread without the collectives, which one
    // rank alone finishes at once: reckoned from the file by another program.
    EXPECT_EQ(time_of(step), Time(1'000'000) * std::int64_t{297'046});
}

TEST_F(ChakraExperiment, APublicTraceOfOneRankIsThatOfEight) {
    if (!std::filesystem::exists(kPublic)) {
        GTEST_SKIP() << "no public traces at hand";
    }
    const std::string file = (kPublic / "pytorch/chakra.0.et.gz").string();
    const Experiment alone = load(file, 1);
    const Experiment eight = load(file, 8, {"workload.replicate=data_parallel"});
    EXPECT_EQ(eight.program.ranks, 8U);
    EXPECT_EQ(eight.program.operations.size(), alone.program.operations.size());
    const experiment::Run one = run_experiment(alone, {});
    const experiment::Run all = run_experiment(eight, {});
    // A ring of 8 sends 2 · 7/8 of S from each rank, 14 · S in all; a broadcast sends 7 S.
    const std::int64_t reduced = 8'196'000 + 31'502'336 + 26'255'360 + 26'550'272 + 9'724'160;
    EXPECT_EQ(all.traffic[static_cast<std::size_t>(system::CollectiveKind::kAllReduce)], Bytes(14 * reduced));
    EXPECT_EQ(all.traffic[static_cast<std::size_t>(system::CollectiveKind::kBroadcast)],
              Bytes(7 * (212'480 + 424)));
    EXPECT_GE(all.execution.total, one.execution.total);
}

/// Ranks of the cluster differ from those of the traces; errors of the traces are those of the experiment.
TEST_F(ChakraExperiment, ErrorsNameTheirPlace) {
    const Experiment small = testing::load_small(components_).value();
    const testing::TemporaryFolder folder;
    ASSERT_EQ(testing::write_export(small.program, folder.path(), {.prefix = "t"}), "");
    const auto refusal = [&](const std::string& traces, std::size_t ranks) {
        const Result<Experiment> loaded = try_load(traces, ranks);
        return loaded ? std::string("loaded") : render(loaded.error());
    };
    EXPECT_NE(refusal(folder.path().string(), 8).find("there are traces of 4 ranks, and the cluster has 8"),
              std::string::npos)
        << refusal(folder.path().string(), 8);
    EXPECT_NE(refusal(folder.path().string() + "/none", 4).find("error[chakra.ranks]"), std::string::npos);
    EXPECT_NE(refusal("[]", 4).find("'traces' names no trace"), std::string::npos);
    std::filesystem::copy_file(folder.path() / "t.0.et", folder.path() / "t.1.et",
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(refusal(folder.path().string(), 4), "loaded");  // SPMD: the same file says the same
    folder.write("t.1.et", "\x07garbage");
    EXPECT_NE(refusal(folder.path().string(), 4).find("t.1.et: error[chakra."), std::string::npos)
        << refusal(folder.path().string(), 4);
}

TEST_F(ChakraExperiment, ComputeIsTheRooflineOfTheDeviceWhereAsked) {
    const testing::TemporaryFolder folder;
    folder.write("t.0.json", R"({"workload_graph": [
        {"Id": 0, "NodeType": 4, "runtime": 9, "num_ops": 2000000000, "tensor_size": 1000},
        {"Id": 1, "NodeType": 4, "runtime": 9, "num_ops": 1000, "tensor_size": 300000000, "data_deps": [0]},
        {"Id": 2, "NodeType": 4, "runtime": 9, "data_deps": [1]}]})");
    const std::string path = (folder.path() / "t.0.json").string();
    EXPECT_EQ(time_of(load(path, 1)), 27_us);
    // 2 GFLOP at 1 TFLOP/s, 300 MB at 100 GB/s, and 9 us that were recorded.
    EXPECT_EQ(time_of(load(path, 1, {"workload.compute=roofline"})), 2_ms + 3_ms + 9_us);
    const Result<Experiment> slow =
        try_load(path, 1, {"workload.compute=roofline", "cluster.device={kind: roofline, peak: 1TFLOPS}"});
    ASSERT_FALSE(slow);
    EXPECT_NE(render(slow.error()).find("needs a memory bandwidth"), std::string::npos)
        << render(slow.error());
}

TEST_F(ChakraExperiment, CollectivesOneAfterAnotherTakeTheirSum) {
    const testing::TemporaryFolder folder;
    for (int rank = 0; rank < 4; ++rank) {
        folder.write(fmt::format("t.{}.json", rank), R"({"workload_graph": [
            {"Id": 0, "NodeType": 7, "comm_type": 0, "comm_size": 1048576},
            {"Id": 1, "NodeType": 7, "comm_type": 0, "comm_size": 1048576}]})");
    }
    // One alone takes 131,829.12 ns, of which 6 alpha of latency are shared where both run at once.
    EXPECT_EQ(time_of(load(folder.path().string(), 4, {"workload.collectives=in_order"})),
              2 * Time(131'829'120));
    EXPECT_LT(time_of(load(folder.path().string(), 4)), 2 * Time(131'829'120));
}

/// Every experiment of a file: its program by way of Chakra is the same, so all that follows from it is.
class ChakraRoundTrip : public ChakraExperiment, public ::testing::WithParamInterface<const char*> {};

TEST_P(ChakraRoundTrip, KeepsTheProgram) {
    const std::string file = std::string(ASTROLABE_SOURCE_DIR "/examples/") + GetParam();
    const Result<Experiment> loaded = load_experiment(file, {}, components_);
    ASSERT_TRUE(loaded) << render(loaded.error());
    EXPECT_EQ(testing::program_difference(loaded->program, testing::by_way_of_chakra(loaded->program)), "");
}

INSTANTIATE_TEST_SUITE_P(Examples, ChakraRoundTrip,
                         ::testing::Values("quickstart/experiment.yaml", "dlrm-flat/experiment.yaml",
                                           "dlrm-flat/experiment-16.yaml", "dlrm-torchrec/experiment.yaml",
                                           "dlrm-model-a/experiment.yaml", "hoti20-dlrm/experiment.yaml",
                                           "dlrm-characterisation/dense-base.yaml",
                                           "dlrm-characterisation/tables-base.yaml",
                                           "gpu-servers/experiment.yaml", "opera-dlrm/experiment-16.yaml",
                                           "topoopt-model-a/experiment-16.yaml", "failures/experiment.yaml",
                                           "dlrm-with-background/experiment.yaml"),
                         [](const auto& file) {
                             std::string name = file.param;
                             std::replace_if(
                                 name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                             return name;
                         });

TEST_F(ChakraExperiment, ReadyMadeModelsKeepTheirPrograms) {
    std::size_t models = 0;
    for (const auto& entry : std::filesystem::directory_iterator(ASTROLABE_SOURCE_DIR "/inputs/models")) {
        const Result<Experiment> loaded = load_experiment(
            ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml",
            {{"workload.model=" + entry.path().string(), "workload.iterations=1"}, std::nullopt},
            components_);
        if (loaded) {
            EXPECT_EQ(
                testing::program_difference(loaded->program, testing::by_way_of_chakra(loaded->program)), "")
                << entry.path();
            ++models;
        }
    }
    // Some need a device, a sharding or a batch of their own.
    EXPECT_GE(models, 8U);
}

TEST_F(ChakraExperiment, TheSameProgramIsTheSameRun) {
    const Experiment small = testing::load_small(components_).value();
    const testing::TemporaryFolder folder;
    ASSERT_EQ(testing::write_export(small.program, folder.path(), {.prefix = "t"}), "");
    const Experiment again = load(folder.path().string(), 4);
    const experiment::Run one = run_experiment(small, {});
    const experiment::Run other = run_experiment(again, {});
    EXPECT_EQ(one.iteration_times, other.iteration_times);
    EXPECT_EQ(one.fingerprint, other.fingerprint);
}

TEST_F(ChakraExperiment, OneRingIsOneTimeBuiltInAndFromATrace) {
    // A built-in ring and a node of a Chakra trace; the public ring of messages is tested above.
    const Experiment built =
        testing::load_small(components_, {"workload={kind: collective, collective: all_reduce, size: 1MiB}"})
            .value();
    const testing::TemporaryFolder folder;
    ASSERT_EQ(testing::write_export(built.program, folder.path(), {.prefix = "t"}), "");
    const experiment::Run one = run_experiment(built, {});
    const experiment::Run other = run_experiment(load(folder.path().string(), 4), {});
    EXPECT_EQ(one.execution.total, Time(131'829'120));
    EXPECT_EQ(other.execution.total, one.execution.total);
    EXPECT_EQ(other.fingerprint, one.fingerprint);
}

}  // namespace
}  // namespace astrolabe::experiment
