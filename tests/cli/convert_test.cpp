// `astrolabe convert`: files of ASTRA-sim become experiments that run; `astrolabe export --format msccl`:
// schedules that are read back.

#include "process.hpp"
#include "sanitizers.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

ProcessResult astrolabe(const std::vector<std::string>& arguments) {
    return run_program(ASTROLABE_PROGRAM, arguments);
}

class Conversion : public ::testing::Test {
protected:
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        return folder_.write(name, text).string();
    }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    [[nodiscard]] std::string read(const std::string& name) const { return read_file(path(name)); }

private:
    TemporaryFolder folder_;
};

const std::string kRings =
    R"({"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1,
"preferred-dataset-splits": 1, "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"],
"reduce-scatter-implementation": ["ring"], "all-to-all-implementation": ["direct3"],
"collective-optimization": "localBWAware", "boost-mode": 0})";

const std::string kRingOf8 =
    "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]\n";

/// One weight gradient: an all-reduce of 1 MiB.
const std::string kText = "DATA\n1\nL -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 1048576 0\n";

TEST_F(Conversion, ARingWithATextWorkloadTakesItsClosedForm) {
    const ProcessResult made = astrolabe({"convert", "--system", write("rings.json", kRings), "--network",
                                          write("ring.yml", kRingOf8), "--workload", write("dlrm.txt", kText),
                                          "--out", path("experiment.yaml")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const ProcessResult run = astrolabe({"run", path("experiment.yaml"), "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err << read("experiment.yaml");
    // 14 steps of 131,072 bytes at 50 * 2^30 B/s, rounded up to a ps, 500 ns of the cable and 10 ns of the
    // end point: 14 (2,441,407 + 500,000 + 10,000) ps.
    EXPECT_NEAR(Json::parse(run.out)["total_time_s"].get<double>(), 14 * 2951407e-12, 1e-11) << run.out;
}

TEST_F(Conversion, KeysBecomeThoseOfACluster) {
    const ProcessResult made = astrolabe(
        {"convert", "--system", write("s.json", kRings), "--network",
         write("n.yml", "topology: [Switch]\nnpus_count: [16]\nbandwidth: [400]\nlatency: [936.25]\n"),
         "--name", "hgx", "--out", path("e.yaml")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const std::string text = read("e.yaml");
    for (const char* line :
         {"name: hgx", "kind: flat", "hosts: 16", "rate: 3435973836800bps", "latency: 936250ps",
          "scheduling: lifo", "active_chunks_per_dimension: 1", "injection_latency: 10000ps",
          "algorithm: windowed_direct", "window: 3", "chunks: 1", "# There is no workload: add one."}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
    }
}

TEST_F(Conversion, SeveralDimensionsBecomeAGridOfRanks) {
    const std::string system =
        "scheduling-policy: FIFO\nendpoint-delay: 1\nall-reduce-implementation: ring_halvingDoubling\n"
        "all-gather-implementation: ring_halvingDoubling\nreduce-scatter-implementation: "
        "ring_halvingDoubling\n"
        "all-to-all-implementation: direct_direct\ncollective-optimization: baseline\n";
    for (const auto& [topology, kind] : {std::pair{"[Ring, Ring]", "torus"},
                                         {"[Switch, Switch]", "hierarchical"},
                                         {"[Ring, Switch]", "graph"},
                                         {"[FullyConnected, Ring]", "graph"}}) {
        SCOPED_TRACE(topology);
        const ProcessResult made =
            astrolabe({"convert", "--system", write("s.txt", system), "--network",
                       write("n.yml", std::string("topology: ") + topology +
                                          "\nnpus_count: [4, 2]\nbandwidth: [200, 50]\nlatency: [50, 500]\n"),
                       "--workload", write("w.txt", kText), "--out", path("e.yaml")});
        ASSERT_EQ(made.exit_code, 0) << made.err;
        EXPECT_NE(read("e.yaml").find(std::string("kind: ") + kind), std::string::npos) << read("e.yaml");
        EXPECT_NE(read("e.yaml").find("optimisation: baseline"), std::string::npos);
        const ProcessResult run = astrolabe({"run", path("e.yaml"), "--json"});
        ASSERT_EQ(run.exit_code, 0) << run.err << read("e.yaml");
        // All-reduce of S = 1 MiB in the first dimension by a ring of 4, then of S in the second by halving
        // and doubling over 2, on links of their own: 6 (S/4 at 200 GiB/s + hops 50 ns), 2 (S/2 at 50 GiB/s +
        // hops 500 ns), 1 ns of the end point each. A Switch is two hops.
        const std::string text(topology);
        const double first = text.starts_with("[Switch") ? 100e-9 : 50e-9;
        const double second = text.ends_with("Switch]") ? 1000e-9 : 500e-9;
        const double gib = 1073741824;
        const double expected =
            6 * (262144 / (200 * gib) + first + 1e-9) + 2 * (524288 / (50 * gib) + second + 1e-9);
        EXPECT_NEAR(Json::parse(run.out)["total_time_s"].get<double>(), expected, 1e-10);
    }
}

// 4 GiB of bytes that are no spaces, none of them on the disk, with 1 GiB of memory.
TEST_F(Conversion, AWorkloadOfOneWordWithoutEndIsNoText) {
    if (!kMemoryCanBeLimited) {
        GTEST_SKIP() << "a sanitizer takes more";
    }
    const std::string workload = write("traces", "");
    std::filesystem::resize_file(workload, std::uintmax_t{4} << 30);
    const ProcessResult made =
        run_shell("ulimit -v 1048576; " + quoted(ASTROLABE_PROGRAM) + " convert --system " +
                  quoted(write("s.json", kRings)) + " --network " + quoted(write("n.yml", kRingOf8)) +
                  " --workload " + quoted(workload) + " --out " + quoted(path("e.yaml")));
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_NE(read("e.yaml").find("kind: chakra"), std::string::npos) << read("e.yaml");
}

TEST_F(Conversion, WhatHasNoCounterpartIsNamedAndRefusedUnlessLenient) {
    std::string system = kRings;
    system.insert(1, "\"local-reduction-delay\": 5, \"track-local-mem\": 1, \"colour\": \"red\", ");
    const std::vector<std::string> words{
        "convert", "--system",    write("s.json", system), "--network", write("n.yml", kRingOf8),
        "--out",   path("e.yaml")};
    const ProcessResult refused = astrolabe(words);
    EXPECT_EQ(refused.exit_code, 3);
    for (const char* said : {"s.json:1:2: error[convert.not-mapped]: 'local-reduction-delay' is not mapped",
                             "'track-local-mem' is not mapped: memory is not tracked over time",
                             "'colour' is not mapped: no key of a system file that is known"}) {
        EXPECT_NE(refused.err.find(said), std::string::npos) << said << "\n" << refused.err;
    }
    EXPECT_FALSE(std::filesystem::exists(path("e.yaml")));
    std::vector<std::string> lenient = words;
    lenient.push_back("--lenient");
    const ProcessResult made = astrolabe(lenient);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_NE(made.err.find("warning: 'colour' is not mapped"), std::string::npos) << made.err;
    EXPECT_NE(read("e.yaml").find("# 'colour' is not mapped"), std::string::npos);
}

TEST_F(Conversion, WrongValuesAreRefusedWithTheirPlace) {
    const std::string system = write("s.json", kRings);
    const auto refused = [&](const std::string& network, const std::string& expected) {
        const ProcessResult result = astrolabe(
            {"convert", "--system", system, "--network", write("n.yml", network), "--out", path("e.yaml")});
        EXPECT_EQ(result.exit_code, 3) << network;
        EXPECT_NE(result.err.find(expected), std::string::npos) << result.err;
    };
    refused("topology: [Ring]\nnpus_count: [8]\nbandwidth: [tbd]\nlatency: [500]\n",
            "n.yml:3:13: error[convert.value]: bandwidth is 'tbd', expected a number");
    refused("topology: [Torus]\nnpus_count: [8]\nbandwidth: [5]\nlatency: [500]\n",
            "n.yml:1:12: error[convert.value]: 'Torus' is no topology");
    refused("topology: [Ring]\nnpus_count: [8, 2]\nbandwidth: [5]\nlatency: [500]\n",
            "'npus_count' has 2 entries, topology 1");
    refused("topology: [Ring, Ring]\nnpus_count: [8, 2]\nbandwidth: [5, 5]\nlatency: [500, 500]\n",
            "'all-reduce-implementation' has 1 implementations, the network 2 dimensions");
    // 1,024 rings of 2, and 2 groups of 1,024 ranks joined pair by pair: 1,024 + 2 · (1,024 · 1,023 / 2).
    refused(
        "topology: [Ring, FullyConnected]\nnpus_count: [2, 1024]\nbandwidth: [5, 5]\nlatency: [500, 500]\n",
        "n.yml:2:13: error[convert.value]: 1048576 links to list, expected at most 65536");
    // 2^39 pairs: what is refused is not made before.
    refused(
        "topology: [FullyConnected, Ring]\nnpus_count: [1048576, 1]\nbandwidth: [5, 5]\nlatency: [500, "
        "500]\n",
        "549755289600 links to list");
    const ProcessResult odd =
        astrolabe({"convert", "--system", write("o.json", R"({"all-reduce-implementation": ["rings"]})"),
                   "--out", path("e.yaml")});
    EXPECT_EQ(odd.exit_code, 3);
    EXPECT_NE(odd.err.find("'rings' is no implementation of a collective"), std::string::npos) << odd.err;
}

TEST_F(Conversion, ARingIsOneCollectiveToldThreeWays) {
    // Ring of 8 over 1 MiB at 100 Gb/s, two cables of 500 ns: 14 (1 us + 131,072 B / 12.5 GB/s) = 160.800640
    // us.
    const auto run_with = [&](const std::string& algorithm) {
        const std::string file =
            write("experiment.yaml",
                  "schema: astrolabe/1\nname: ring\n"
                  "workload: {kind: collective, collective: all_reduce, size: 1MiB}\n"
                  "cluster: {ranks: 8, device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 1TB/s}, "
                  "collectives: {all_reduce: {" +
                      algorithm +
                      ", chunks: 1}}}\n"
                      "network: {kind: flat, hosts: 8, link: {rate: 100Gbps, latency: 500ns}}\n"
                      "backend: {kind: fluid}\n");
        const ProcessResult run = astrolabe({"run", file, "--json"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return run.exit_code == 0 ? Json::parse(run.out) : Json();
    };
    const Json built_in = run_with("algorithm: ring");
    EXPECT_DOUBLE_EQ(built_in["total_time_s"].get<double>(), 160.800640e-6);
    ASSERT_EQ(astrolabe({"export", "--format", "msccl", "--algorithm", "ring", "--kind", "all-reduce",
                         "--ranks", "8", "--out", path("ring.xml")})
                  .exit_code,
              0);
    const std::string inputs = ASTROLABE_SOURCE_DIR "/inputs/schedules/";
    EXPECT_EQ(read("ring.xml"), read_file(inputs + "ring-all-reduce-8.xml"));
    std::vector<std::string> files{path("ring.xml"), inputs + "ring-all-reduce-8.yaml"};
    const std::filesystem::path shared =
        std::filesystem::path(ASTROLABE_SOURCE_DIR).parent_path() /
        "shared/data/traces/chakra/custom_ring_8npus_1MB/custom_allreduce.xml";
    if (std::filesystem::exists(shared)) {
        files.push_back(shared.string());
    }
    for (const std::string& file : files) {
        const Json told = run_with("algorithm: schedule, file: " + file);
        EXPECT_EQ(told["total_time_s"], built_in["total_time_s"]) << file;
        EXPECT_EQ(told["traffic_bytes"], built_in["traffic_bytes"]) << file;
        EXPECT_EQ(told["fingerprint"], built_in["fingerprint"]) << file;
    }
}

const std::string kGraph = ASTROLABE_SOURCE_DIR "/inputs/traces/flexflow-4.fbuf";

TEST_F(Conversion, AFlexFlowGraphIsDescribedAndRunsOnEveryEngine) {
    const ProcessResult described = astrolabe({"validate", kGraph});
    ASSERT_EQ(described.exit_code, 0) << described.err;
    for (const char* fact : {"messages                               12 of 3000000 bytes in all",
                             "all_reduce in 'servers 0,2' (2 ranks)  1, 1000000 bytes over all ranks",
                             "note                                   longest chain of computations: 7 ms"}) {
        EXPECT_NE(described.out.find(fact), std::string::npos) << fact << "\n" << described.out;
    }
    const auto time_on = [&](const std::string& backend) {
        const std::string file = write(
            "graph.yaml",
            "schema: astrolabe/1\nworkload: {kind: flexflow_graph, file: " + kGraph +
                "}\ncluster: {ranks: 4, device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 1TB/s}, "
                "collectives: {all_reduce: {algorithm: ring, chunks: 1}}}\n"
                "network: {kind: flat, hosts: 4, link: {rate: 100Gbps, latency: 500ns}}\n"
                "backend: {kind: " +
                backend + "}\n");
        const ProcessResult run = astrolabe({"run", file, "--json"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return run.exit_code == 0 ? Json::parse(run.out)["total_time_s"].get<double>() : 0.0;
    };
    // Forward 1 ms; 250,000 bytes to each of three others, 60 us + 1 us; forward 2 ms, backward 3 ms; the
    // all-reduce of servers 0 and 2 goes on beside a backward of 1 ms; all-reduce of 1,000,000 bytes, 6 (1 us
    // + 20 us).
    const double fluid = 7.187e-3;
    EXPECT_DOUBLE_EQ(time_on("fluid"), fluid);
#ifdef ASTROLABE_WITH_NS3
    // 187 us of it are messages. Headers and acknowledgements, packets that wait for one another and TCP's
    // start take less than a tenth of that.
    for (const char* backend : {"packet", "tcp"}) {
        const double time = time_on(backend);
        EXPECT_GT(time, fluid) << backend;
        EXPECT_LT(time, fluid + 18.7e-6) << backend;
    }
#endif
    const std::string wrong =
        write("wrong.yaml",
              "schema: astrolabe/1\nworkload: {kind: flexflow_graph, file: " + kGraph +
                  "}\ncluster: {ranks: 8, device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 1TB/s}}\n"
                  "network: {kind: flat, hosts: 8}\nbackend: {kind: fluid}\n");
    const ProcessResult refused = astrolabe({"run", wrong});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("the graph has 4 servers, and the cluster 8 ranks"), std::string::npos)
        << refused.err;
}

TEST_F(Conversion, AnExportSaysWhatIsWrongWithItsOptions) {
    const auto said = [](std::vector<std::string> words, const std::string& expected) {
        words.insert(words.begin(), {"export", "--format", "msccl"});
        const ProcessResult result = astrolabe(words);
        EXPECT_EQ(result.exit_code, 3);
        EXPECT_NE(result.err.find(expected), std::string::npos) << result.err;
    };
    said({"--ranks", "8"}, "the algorithm is missing");
    said({"--algorithm", "ring"}, "the number of ranks is missing");
    said({"--algorithm", "rnig", "--ranks", "8"}, "did you mean 'ring'?");
    said({"--algorithm", "ring", "--kind", "allreduce", "--ranks", "8"}, "did you mean 'all_reduce'?");
    said({"--algorithm", "double_binary_tree", "--kind", "all_gather", "--ranks", "8"}, "all_gather over 8:");
    said({"--algorithm", "direct", "--kind", "point_to_point", "--ranks", "2"},
         "MSCCL has no collective for a point_to_point");
    said({"--algorithm", "ring", "--ranks", "8", "--variant", "1"}, "there are 1 variants");
    said({"--algorithm", "ring", "--ranks", "8", "--dimensions", "3x2"}, "3x2 are 6 ranks, --ranks says 8");
}

}  // namespace
}  // namespace astrolabe::testing
