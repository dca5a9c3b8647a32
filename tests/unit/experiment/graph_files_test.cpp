/// Networks of public files, run: a graph takes the time of the built-in network that says the same.
#include "small_experiment.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/analysis/graph_drawing.hpp>
#include <astrolabe/network/analysis/graph_export.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::testing {
namespace {

struct Case {
    const char* file;
    int ranks;
    const char* collective;
    const char* algorithm;
    const char* built_in;  ///< network
    const char* keys;      ///< of the graph beside its file
    Time expected;         ///< of 1 MiB a rank; Time(0): not known independently
};

experiment::Run run_on(const Case& which, const std::string& network) {
    static const experiment::Components kComponents = experiment::builtin_components();
    const Result<experiment::Experiment> loaded = load_small(
        kComponents,
        {fmt::format("cluster.ranks={}", which.ranks), "network=" + network, "backend={kind: fluid}",
         fmt::format("workload={{kind: collective, collective: {}, size: 1MiB}}", which.collective),
         fmt::format("cluster.collectives={{{}: {{algorithm: {}, chunks: 1}}}}", which.collective,
                     which.algorithm)});
    EXPECT_TRUE(loaded) << render(loaded.error());
    return run_experiment(*loaded, {});
}

// The times are those of a ring of 14 steps of 128 KiB, 14 · (41.94304 + 5) us = 657.20256 us, of one over a
// switch, 14 · (2.62144 + 1) = 50.70016 us, and of the busiest uplink: 24 destinations of 8 hosts each by 2
// cables at 32,768 B, 24 · 8 / 2 · 2.62144 us + 4 us = 255.65824 us.
TEST(GraphFiles, PublicTopologiesTakeTheTimesOfBuiltInNetworks) {
    const std::filesystem::path folder =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/networks";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "no public topologies at hand";
    }
    for (const Case& which :
         {Case{"hpcc/8nodes_ring_topology.txt", 8, "all_reduce", "ring",
               "{kind: ring, hosts: 8, link: {rate: 25Gbps, latency: 5us}}", "hosts_forward: true",
               Time(657'202'560)},
          Case{"hpcc/8nodes_ring_topology.txt", 8, "all_to_all", "direct",
               "{kind: ring, hosts: 8, link: {rate: 25Gbps, latency: 5us}}", "hosts_forward: true",
               Time(439'430'400)},
          Case{"hpcc/8_nodes_1_switch_topology.txt", 8, "all_reduce", "ring",
               "{kind: flat, hosts: 8, link: {rate: 400Gbps, latency: 500ns}}", "load_balancing: flow_hash",
               Time(50'700'160)},
          Case{"htsim/topo/leaf_spine_tiny.topo", 32, "all_to_all", "direct",
               "{kind: leaf_spine, hosts: 32, hosts_per_leaf: 8, spines: 2, link: {rate: 100Gbps, latency: "
               "1us}, "
               "uplink: {latency: 1us}, load_balancing: spray}",
               "load_balancing: spray", Time(255'658'240)},
          Case{"htsim/topo/fat_tree_1024.topo", 1024, "all_to_all", "direct",
               "{kind: fat_tree, k: 16, link: {rate: 100Gbps, latency: 1us}, edge_uplink: {latency: 1us}, "
               "aggregation_uplink: {latency: 1us}, load_balancing: spray}",
               "load_balancing: spray", Time(89'804'160)}}) {
        const experiment::Run graph = run_on(
            which, fmt::format("{{kind: graph, file: {}, {}}}", (folder / which.file).string(), which.keys));
        EXPECT_EQ(graph.execution.total, which.expected) << which.file;
        EXPECT_EQ(run_on(which, which.built_in).execution.total, which.expected) << which.file;
    }
}

TEST(GraphFiles, LargePublicTopologiesAreRead) {
    const std::filesystem::path folder =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/networks/hpcc";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "no public topologies at hand";
    }
    const auto fabric = [&](const char* file, int ranks) {
        const Case which{file, ranks, "all_reduce", "ring", "", "", Time(0)};
        static const experiment::Components kComponents = experiment::builtin_components();
        const auto loaded = load_small(
            kComponents, {fmt::format("cluster.ranks={}", which.ranks), "backend={kind: fluid}",
                          "workload={kind: collective, collective: all_reduce, size: 1MiB}",
                          fmt::format("network={{kind: graph, file: {}}}", (folder / file).string())});
        EXPECT_TRUE(loaded) << render(loaded.error());
        return loaded->fabric;
    };
    const auto tree = fabric("hpcc_fat_320.txt", 320);
    EXPECT_EQ(tree->host_count(), 320U);
    EXPECT_EQ(tree->node_count(), 376U);
    EXPECT_EQ(tree->link_count(), 960U);
    const auto star = fabric("hpcc_topology_switch0.txt", 65);
    EXPECT_EQ(star->host_count(), 65U);
    EXPECT_EQ(star->link_count(), 130U);
}

/// An all-reduce or an all-to-all of 64 KiB on a network, with given algorithms: what is chosen has a key of
/// the text of its network's section.
Result<experiment::Experiment> load_on(const std::string& network, int ranks, const std::string& collective) {
    static const experiment::Components kComponents = experiment::builtin_components();
    return load_small(
        kComponents, {fmt::format("cluster.ranks={}", ranks), "network=" + network, "backend={kind: fluid}",
                      fmt::format("workload={{kind: collective, collective: {}, size: 64KiB}}", collective)});
}

std::string fingerprint_on(const std::string& network, int ranks, const std::string& collective) {
    const auto loaded = load_on(network, ranks, collective);
    EXPECT_TRUE(loaded) << network << render(loaded.error());
    return loaded ? run_experiment(*loaded, {}).fingerprint : "";
}

TEST(GraphFingerprints, AGraphFileOfABuiltInNetworkHasItsFingerprint) {
    const TemporaryFolder folder;
    for (const auto& [kind, ranks] : {std::pair(std::string("kind: fat_tree, k: 8"), 128),
                                      std::pair(std::string("kind: torus, sizes: [4, 4, 4]"), 64)}) {
        for (const std::string balancing : {"load_balancing: flow_hash", "load_balancing: spray"}) {
            const std::string built_in = fmt::format("{{{}, {}}}", kind, balancing);
            const auto loaded = load_on(built_in, ranks, "all_reduce");
            ASSERT_TRUE(loaded) << render(loaded.error());
            for (const auto& [format, name] :
                 {std::pair(network::GraphExport::kNodeLink, "network.json"),
                  std::pair(network::GraphExport::kGraphml, "network.graphml")}) {
                std::string text;
                network::export_graph(*loaded->fabric, format,
                                      [&text](std::string_view piece) { text += piece; });
                const std::string graph = fmt::format("{{kind: graph, file: {}, {}}}",
                                                      folder.write(name, text).string(), balancing);
                for (const std::string collective : {"all_reduce", "all_to_all"}) {
                    EXPECT_EQ(fingerprint_on(graph, ranks, collective),
                              fingerprint_on(built_in, ranks, collective))
                        << built_in << name << collective;
                }
            }
        }
    }
}

TEST(GraphFingerprints, OperasOwnFileHasTheFingerprintOfTheNetworkThatWroteIt) {
    const std::string built_in = "{kind: opera, racks: 16, uplinks: 4, hosts_per_rack: 4}";
    const auto loaded = load_on(built_in, 64, "all_to_all");
    ASSERT_TRUE(loaded) << render(loaded.error());
    std::string text;
    loaded->fabric->family().write_file([&text](std::string_view piece) { text += piece; });
    const TemporaryFolder folder;
    const std::string from_file =
        fmt::format("{{kind: opera, file: {}}}", folder.write("opera.txt", text).string());
    for (const std::string collective : {"all_reduce", "all_to_all"}) {
        EXPECT_EQ(fingerprint_on(from_file, 64, collective), fingerprint_on(built_in, 64, collective));
    }
}

// HPCC's network of 320 hosts: 56 switches, 480 cables. It is drawn and run, and without its last line, with
// a delay without a unit, or with a switch that does not exist it is refused at the line.
TEST(GraphFiles, ThePublicTopologyOf320HostsIsDrawnRunAndRefusedWhereBroken) {
    const std::filesystem::path file =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/networks/hpcc/hpcc_fat_320.txt";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "no public topologies at hand";
    }
    const auto whole = load_on(fmt::format("{{kind: graph, file: {}}}", file.string()), 320, "all_reduce");
    ASSERT_TRUE(whole) << render(whole.error());
    EXPECT_NE(network::draw_graph(*whole->fabric).find("graph: 320 hosts, 56 switches, 480 cables"),
              std::string::npos);
    EXPECT_GT(run_experiment(*whole, {}).execution.total, Time(0));

    std::ifstream stream(file);
    std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    while (!text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    const TemporaryFolder folder;
    const auto line_of = [&](const std::string& broken) {
        const auto loaded =
            load_on(fmt::format("{{kind: graph, file: {}}}", folder.write("broken.txt", broken).string()),
                    320, "all_reduce");
        EXPECT_FALSE(loaded);
        return loaded ? 0 : static_cast<std::ptrdiff_t>(loaded.error().front().where.line);
    };
    const std::ptrdiff_t lines = std::count(text.begin(), text.end(), '\n') + 1;
    const std::size_t last = text.rfind('\n') + 1;
    EXPECT_NEAR(static_cast<double>(line_of(text.substr(0, last))), static_cast<double>(lines), 1);
    EXPECT_EQ(line_of(text.substr(0, last) + "0 999 100Gbps 1us 0"), lines);
    EXPECT_EQ(line_of(text.substr(0, last) + "0 320 100Gbps 1 0"), lines);
}

}  // namespace
}  // namespace astrolabe::testing
