/// `astrolabe describe FILE`.
#include "process.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kNetworks = ASTROLABE_SOURCE_DIR "/inputs/networks/";

ProcessResult describe(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "describe");
    return run_program(ASTROLABE_PROGRAM, arguments);
}

std::string scratch(const std::string& name) {
    return ::testing::TempDir() + "describe-" + name;
}

TEST(DescribeNetwork, SaysTheFiguresOfRotors) {
    const ProcessResult text = describe({kNetworks + "opera-study-16.yaml"});
    ASSERT_EQ(text.exit_code, 0) << text.err;
    for (const char* words : {"superslice        12.92us", "cycle             51.68us",
                              "mean 1.2500, at most 2", "1 of     4 rotors", "spectral gap"}) {
        EXPECT_NE(text.out.find(words), std::string::npos) << words << "\n" << text.out;
    }
    const Json json = Json::parse(describe({kNetworks + "opera-study-16.yaml", "--json"}).out);
    EXPECT_EQ(json["hosts"], 16);
    // 2.30 + 0.62 + 10 us; three rotors carry to three of four racks and one to none.
    EXPECT_DOUBLE_EQ(json["rotors"]["superslice_s"].get<double>(), 12.92e-6);
    EXPECT_DOUBLE_EQ(json["rotors"]["carried"].get<double>(), 0.75);
    EXPECT_EQ(json["rotors"]["hops"]["share_at"], Json({0.75, 0.25}));
}

TEST(DescribeNetwork, TakesAnyNetworkAndThatOfAnExperiment) {
    const ProcessResult torus = describe({kNetworks + "torus-4x4x4.yaml", "--json"});
    ASSERT_EQ(torus.exit_code, 0) << torus.err;
    Json described = Json::parse(torus.out);
    described.erase("cost");
    EXPECT_EQ(described, Json({{"kind", "torus"}, {"hosts", 64}, {"switches", 0}, {"cables", 192}}));
    const ProcessResult experiment =
        describe({ASTROLABE_SOURCE_DIR "/examples/opera-dlrm/experiment-16.yaml", "--json"});
    ASSERT_EQ(experiment.exit_code, 0) << experiment.err;
    EXPECT_EQ(Json::parse(experiment.out)["kind"], "fat_tree");
    EXPECT_EQ(describe({kNetworks + "rotornet-nsdi-648.yaml"}).exit_code, 0);
}

TEST(DescribeNetwork, CountsFibresThatGoOneWay) {
    // 128 hosts with four rings; as many interfaces, and what hangs on them, as with two full-duplex rings.
    const ProcessResult rings = describe({kNetworks + "one-way-rings-128.yaml", "--json"});
    ASSERT_EQ(rings.exit_code, 0) << rings.err;
    Json described = Json::parse(rings.out);
    EXPECT_EQ(described["cost"], Json::parse(describe({kNetworks + "rings-128.yaml", "--json"}).out)["cost"]);
    described.erase("cost");
    EXPECT_EQ(described, Json({{"kind", "direct_connect"},
                               {"hosts", 128},
                               {"switches", 0},
                               {"cables", 0},
                               {"one_way_links", 512}}));
}

TEST(DescribeNetwork, WhatIsExportedIsTheSameNetwork) {
    const std::string drawing = scratch("rotors.svg");
    const std::string topology = scratch("topology.txt");
    const ProcessResult drawn =
        describe({kNetworks + "opera-study-128.yaml", "--svg", drawing, "--export", topology, "--json"});
    ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
    EXPECT_TRUE(read_file(drawing).starts_with("<svg ")) << read_file(drawing).substr(0, 80);
    EXPECT_TRUE(read_file(drawing).ends_with("</svg>\n"));
    const std::string network = scratch("imported.yaml");
    std::ofstream(network) << "schema: astrolabe/1\nkind: opera\nfile: " << topology
                           << "\nlink: {rate: 100Gbps}\n";
    const std::string again = scratch("again.txt");
    const ProcessResult imported = describe({network, "--export", again, "--json"});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(imported.out, drawn.out);
    EXPECT_EQ(read_file(again), read_file(topology));
    // The reference's generator begins lines with their newline, so that its files end without one. A file
    // that somebody ended with one comes out with it.
    EXPECT_NE(read_file(topology).back(), '\n');
    std::ofstream(topology, std::ios::app) << '\n';
    ASSERT_EQ(describe({network, "--export", again}).exit_code, 0);
    EXPECT_EQ(read_file(again), read_file(topology));
}

TEST(DescribeNetwork, SaysWhatItCosts) {
    // 128 servers with 4 x (NIC port 659 + transceiver 99 + fibre 45 + panel port 100) = 3612.
    const ProcessResult rings = describe({kNetworks + "rings-128.yaml", "--json"});
    ASSERT_EQ(rings.exit_code, 0) << rings.err;
    const Json cost = Json::parse(rings.out)["cost"];
    EXPECT_EQ(cost["prices"], "default");
    EXPECT_EQ(cost["per_host_usd"], 3612.0);
    EXPECT_EQ(cost["total_usd"], 128.0 * 3612.0);
    EXPECT_EQ(cost["parts"].size(), 4U);
    const ProcessResult tree = describe({kNetworks + "fat-tree-128-equal-cost.yaml"});
    ASSERT_EQ(tree.exit_code, 0) << tree.err;
    EXPECT_NE(tree.out.find("$462,336, $3,612 per host"), std::string::npos) << tree.out;
    // An experiment has the network of its file.
    const ProcessResult experiment =
        describe({ASTROLABE_SOURCE_DIR "/examples/opera-dlrm/experiment-16.yaml"});
    EXPECT_NE(experiment.out.find("switch_port"), std::string::npos) << experiment.out;
}

TEST(DescribeNetwork, TakesPricesFromAFile) {
    const std::string prices = scratch("prices.yaml");
    std::ofstream(prices) << "nic_port: {dollars: 1, source: t}\ntransceiver: {dollars: 2, source: t}\n"
                             "fibre: {dollars: 3, source: t}\nswitch_port: {dollars: 4, source: t}\n";
    const ProcessResult flat = describe({kNetworks + "flat100g.yaml", "--costs", prices, "--json"});
    ASSERT_EQ(flat.exit_code, 0) << flat.err;
    EXPECT_EQ(Json::parse(flat.out)["cost"]["per_host_usd"], 1.0 + 2.0 * 2.0 + 3.0 + 4.0);
    const ProcessResult opera = describe(
        {kNetworks + "opera-study-16.yaml", "--costs", ASTROLABE_SOURCE_DIR "/inputs/costs/opera-nsdi.yaml"});
    EXPECT_EQ(opera.exit_code, 3);
    EXPECT_EQ(opera.out, "");
    EXPECT_NE(opera.err.find("of 100Gbps, which has no price"), std::string::npos) << opera.err;
    std::ofstream(prices) << "fibre: {dollars: cheap, source: t}\n";
    const ProcessResult bad = describe({kNetworks + "flat100g.yaml", "--costs", prices});
    EXPECT_EQ(bad.exit_code, 3);
    EXPECT_NE(bad.err.find("prices.yaml:1:18: error[config.value]"), std::string::npos) << bad.err;
    EXPECT_EQ(describe({kNetworks + "flat100g.yaml", "--costs", "no-such-file.yaml"}).exit_code, 3);
    EXPECT_EQ(describe({"flat", "--costs", prices}).exit_code, 2);
}

// 64 hosts on a circle, a cable each for 192 pairs; two rates, and so two lines of the legend.
TEST(DescribeNetwork, DrawsNetworksWithoutCircuits) {
    const ProcessResult torus = describe({kNetworks + "torus-4x4x4.yaml", "--svg", scratch("torus.svg")});
    ASSERT_EQ(torus.exit_code, 0) << torus.err;
    std::ifstream file(scratch("torus.svg"));
    const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto count = [&svg](std::string_view what) {
        std::size_t found = 0;
        for (std::size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) {
            ++found;
        }
        return found;
    };
    EXPECT_EQ(count("<circle"), 64U);
    EXPECT_EQ(count("<line"), 192U + 2U);
    EXPECT_NE(svg.find("torus: 64 hosts, 0 switches, 192 cables"), std::string::npos) << svg;
}

TEST(DescribeNetwork, ExportsAnyNetworkAsAGraph) {
    const std::string tree = kNetworks + "fat-tree-128-equal-cost.yaml";
    const ProcessResult printed = describe({tree, "--export", "json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    const Json graph = Json::parse(printed.out);
    EXPECT_EQ(graph["nodes"].size(), 128U + 80U);
    EXPECT_EQ(graph["links"].size(), 384U);
    EXPECT_EQ(graph["nodes"][0]["kind"], "host");
    ASSERT_EQ(describe({tree, "--export", scratch("tree.graphml")}).exit_code, 0);
    std::ofstream(scratch("again.yaml")) << "kind: graph\nfile: " + scratch("tree.graphml") + "\n";
    const ProcessResult again = describe({scratch("again.yaml"), "--export", "json"});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(Json::parse(again.out)["links"], graph["links"]);
    EXPECT_EQ(Json::parse(again.out)["nodes"], graph["nodes"]);
    const ProcessResult dot = describe({kNetworks + "opera-study-16.yaml", "--export", "dot"});
    EXPECT_EQ(dot.exit_code, 0) << dot.err;
    EXPECT_NE(dot.out.find("circuit=\"true\""), std::string::npos);
}

TEST(DescribeNetwork, RefusesWhatItCannotWrite) {
    const ProcessResult together =
        describe({kNetworks + "rotornet-nsdi-648.yaml", "--export", scratch("r.txt")});
    EXPECT_EQ(together.exit_code, 3);
    EXPECT_NE(together.err.find("circuits must switch one after another"), std::string::npos) << together.err;
    EXPECT_EQ(describe({kNetworks + "opera-study-16.yaml", "--svg", "/no/such/folder/x.svg"}).exit_code, 3);
    EXPECT_EQ(describe({"no-such-file.yaml"}).exit_code, 3);
    EXPECT_EQ(describe({"flat", "--json"}).exit_code, 2);
}

}  // namespace
}  // namespace astrolabe::testing
