/// Networks that are made to cost as much as another one.
#include "experiment/src/file/largest_within.hpp"
#include "process.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/experiment/explain/network_description.hpp>

namespace astrolabe::experiment {
namespace {

using astrolabe::testing::TemporaryFolder;

const std::string kInputs = ASTROLABE_SOURCE_DIR "/inputs/";

class EqualCostTest : public ::testing::Test {
protected:
    DescribedNetwork read(const std::string& path) {
        Result<DescribedNetwork> network = load_network(path, components_);
        EXPECT_TRUE(network) << render(network.error());
        return *std::move(network);
    }
    /// The network of `text`, beside which the files written so far lie.
    DescribedNetwork load(const std::string& text) {
        return read(folder_.write("network.yaml", text).string());
    }
    std::string errors(const std::string& text) {
        const auto network = load_network(folder_.write("network.yaml", text).string(), components_);
        return network ? "" : render(network.error());
    }
    void write(const std::string& name, const std::string& text) { folder_.write(name, text); }

    static double per_host(const DescribedNetwork& network, const PriceFile& prices = default_prices()) {
        const Result<network::NetworkCost> cost =
            network_cost(*network.fabric, wiring_of(network.section), prices);
        EXPECT_TRUE(cost) << render(cost.error());
        return cost->per_host();
    }
    static Bandwidth link_rate(const DescribedNetwork& network) {
        return network.fabric->link(network::LinkId(0)).rate;
    }
    static std::size_t switches_named(const DescribedNetwork& network, const std::string& prefix) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < network.fabric->node_count(); ++i) {
            count += network.fabric->node(network::NodeId(i)).name.starts_with(prefix) ? 1 : 0;
        }
        return count;
    }

    TemporaryFolder folder_;
    Components components_ = builtin_components();
};

TEST_F(EqualCostTest, FatTreeRateThatCostsAsMuchAsFourInterfacesOnPatchPanels) {
    write("rings.yaml", "kind: direct_connect\nhosts: 16\nrings: [1, 3]\nmedium: patch_panel\n");
    const auto rings = load("kind: direct_connect\nhosts: 16\nrings: [1, 3]\nmedium: patch_panel\n");
    // A server: 4 x (NIC port 659 + transceiver 99 + fibre 45 + panel port 100).
    constexpr std::int64_t kServer = 4 * (659 + 99 + 45 + 100);
    EXPECT_EQ(per_host(rings), static_cast<double>(kServer));
    // In a 3-tier tree: a NIC port, 5 switch ports, 6 transceivers, 3 fibres; at 100 and at 200 Gb/s
    constexpr std::int64_t kAt100 = 659 + 5 * 187 + 6 * 99 + 3 * 45;
    constexpr std::int64_t kAt200 = 1079 + 5 * 374 + 6 * 239 + 3 * 45;
    static_assert(kAt100 < kServer && kServer < kAt200);
    // and on a straight line between: 158.7 Gb/s, the last bit/s that is within.
    constexpr std::int64_t kRate = 100'000'000'000 + 100'000'000'000 * (kServer - kAt100) / (kAt200 - kAt100);
    const auto tree = load("kind: fat_tree\nk: 4\ncost_equivalent_to: rings.yaml\n");
    EXPECT_EQ(link_rate(tree), Bandwidth(kRate));
    EXPECT_EQ(tree.fabric->egress_rate(network::HostId(0)), Bandwidth(kRate));
    EXPECT_LE(per_host(tree), per_host(rings));
    EXPECT_NEAR(per_host(tree), per_host(rings), 1e-6);
    // The next bit/s is beyond.
    const auto next = load("kind: fat_tree\nk: 4\nlink: {rate: " + std::to_string(kRate + 1) + "bps}\n");
    EXPECT_GT(per_host(next), per_host(rings));
}

TEST_F(EqualCostTest, AnyKindWithOneLinkRateMayBeSolved) {
    write("rings.yaml", "kind: direct_connect\nhosts: 16\nrings: [1, 3]\nmedium: patch_panel\n");  // 3612
    // A host of Opera: a NIC port, 3 transceivers, 2 switch ports, 2 fibres, a rotor port; at 200 and 400
    // Gb/s
    constexpr std::int64_t kAt200 = 1079 + 3 * 239 + 2 * 374 + 2 * 45 + 60;
    constexpr std::int64_t kAt400 = 1499 + 3 * 659 + 2 * 1090 + 2 * 45 + 60;
    constexpr std::int64_t kRate = 200'000'000'000 + 200'000'000'000 * (3612 - kAt200) / (kAt400 - kAt200);
    EXPECT_EQ(link_rate(load("kind: opera\nracks: 36\nradix: 12\ncost_equivalent_to: rings.yaml\n")),
              Bandwidth(kRate));
    // On one switch a NIC port, 2 transceivers, a fibre, a switch port.
    constexpr std::int64_t kFlatAt400 = 1499 + 2 * 659 + 45 + 1090;
    static_assert(kFlatAt400 > 3612);
    constexpr std::int64_t kFlatAt200 = 1079 + 2 * 239 + 45 + 374;
    EXPECT_EQ(link_rate(load("kind: flat\nhosts: 16\ncost_equivalent_to: rings.yaml\n")),
              Bandwidth(200'000'000'000 + 200'000'000'000 * (3612 - kFlatAt200) / (kFlatAt400 - kFlatAt200)));
}

TEST_F(EqualCostTest, RatesThatFollowMayBeAboveTheLeastListed) {
    // 40 Gb/s is the least rate with prices: a tree costs 354 + 5 x 144 + 6 x 39 + 135 = 1443 there and
    // below. Where uplinks have twice the rate of hosts, hosts have 20 Gb/s at most for that.
    write("tree.yaml", "kind: fat_tree\nk: 4\nlink: {rate: 40Gbps}\n");
    const auto tree =
        load("kind: fat_tree\nk: 4\nedge_oversubscription: 0.5\ncost_equivalent_to: tree.yaml\n");
    EXPECT_EQ(per_host(tree), 1443.0);
    EXPECT_EQ(link_rate(tree), 20_Gbps);
}

TEST_F(EqualCostTest, AnExperimentStandsForTheNetworkOfItsJob) {
    // TopoOpt's of 16 servers with 4 interfaces on a patch panel, as above.
    const auto tree = load("kind: fat_tree\nk: 4\ncost_equivalent_to: " ASTROLABE_SOURCE_DIR
                           "/examples/topoopt-model-a/experiment-16.yaml\n");
    write("rings.yaml", "kind: direct_connect\nhosts: 16\nrings: [1, 3]\nmedium: patch_panel\n");
    EXPECT_EQ(link_rate(tree), link_rate(load("kind: fat_tree\nk: 4\ncost_equivalent_to: rings.yaml\n")));
    const Result<Experiment> experiment =
        load_experiment(ASTROLABE_SOURCE_DIR "/examples/topoopt-model-a/experiment-16.yaml", {}, components_);
    ASSERT_TRUE(experiment) << render(experiment.error());
    EXPECT_EQ(network_cost(*experiment, default_prices())->per_host(), 4 * (659.0 + 99.0 + 45.0 + 100.0));
    EXPECT_NE(errors("kind: topoopt\ndegree: 4\ncost_equivalent_to: rings.yaml\n").find("is built for a job"),
              std::string::npos);
}

TEST_F(EqualCostTest, RateBeyondAllListedIsABundleOfTheFastest) {
    // 8 interfaces of 800 Gb/s: 8 x (2248 + 1399 + 45 + 100) = 30,336 per server; a tree at 800 Gb/s costs
    // 2248 + 5 x 1400 + 6 x 1399 + 135 = 17,777, of which 17,642 grow with the rate.
    write(
        "rings.yaml",
        "kind: direct_connect\nhosts: 16\nrings: [1, 3, 5, 7]\nlink: {rate: 800Gbps}\nmedium: patch_panel\n");
    const auto tree = load("kind: fat_tree\nk: 4\ncost_equivalent_to: rings.yaml\n");
    const double expected = 800e9 * (30'336.0 - 135.0) / 17'642.0;
    EXPECT_NEAR(static_cast<double>(link_rate(tree).count()), expected, 1.0);
}

TEST_F(EqualCostTest, FoldedClosThatCostsAsMuchAsOperaIsThreeToOne) {
    const DescribedNetwork clos = read(kInputs + "networks/clos-648-equal-cost.yaml");
    const DescribedNetwork opera = read(kInputs + "networks/opera-nsdi-648.yaml");
    const Result<PriceFile> prices = load_prices(kInputs + "costs/opera-nsdi.yaml");
    ASSERT_TRUE(prices) << render(prices.error());
    EXPECT_EQ(clos.fabric->host_count(), 648U);
    // u aggregation switches in a pod of 6 edge switches with 9 hosts cost 4 ports of 215 for each u / 9 of a
    // host; a host of Opera has one port of 275. u = 275 x 9 / (4 x 215) = 2.88: 3 are nearer than 2.
    EXPECT_EQ(switches_named(clos, "aggregation"), 12U * 3U);
    EXPECT_EQ(switches_named(clos, "core"), 18U);  // 6 for each of 3, as 54 for 9
    // A host's cable is the same in both: two transceivers of 125 and a switch port of 90.
    EXPECT_DOUBLE_EQ(per_host(opera, *prices), 2.0 * 125.0 + 90.0 + 275.0);
    EXPECT_DOUBLE_EQ(per_host(clos, *prices), 2.0 * 125.0 + 90.0 + 4.0 * 215.0 * 3.0 / 9.0);
}

TEST_F(EqualCostTest, ArityMayBeGivenForTheTreeToBeCut) {
    // k = 8 stands for 8 pods of 4 edge switches with 4 hosts, and 4 cores for each aggregation switch.
    const std::string counts =
        "kind: fat_tree\npods: 8\nedges_per_pod: 4\nhosts_per_edge: 4\naggregations_per_pod: 3\ncores: 12\n";
    write("tree.yaml", counts);
    const auto tree = load(
        "kind: fat_tree\nk: 8\nhosts: 128\ncost_equivalent_to: tree.yaml\nsolve_for: oversubscription\n");
    EXPECT_EQ(switches_named(tree, "aggregation"), 8U * 3U);
    EXPECT_EQ(switches_named(tree, "core"), 12U);
    EXPECT_EQ(per_host(tree), per_host(load(counts)));
}

TEST_F(EqualCostTest, LeafSpineTakesTheNearestNumberOfSpines) {
    // At a dollar a part a host of a leaf of 8 pays 1 + 2 + 1 + 1 for its own cable and s/8 x (2 + 2 + 1) for
    // uplinks to s spines. A cable between hosts costs 2 + 2 + 1: n beside a ring of 24 come to 5 + 5 n/24
    // per host, as much as s = n/3 spines.
    write("one.yaml",
          "nic_port: {dollars: 1, source: t}\ntransceiver: {dollars: 1, source: t}\n"
          "fibre: {dollars: 1, source: t}\nswitch_port: {dollars: 1, source: t}\n");
    const std::string spine =
        "kind: leaf_spine\nhosts: 64\nhosts_per_leaf: 8\nspines: 8\ncosts: one.yaml\n"
        "cost_equivalent_to: ring.yaml\nsolve_for: oversubscription\n";
    const auto write_ring = [&](int hosts, int beside) {
        write("ring.yaml", "kind: direct_connect\nhosts: " + std::to_string(hosts) +
                               "\nrings: [1]\nlinks: {from: 0, to: 1, cables: " + std::to_string(beside) +
                               "}\n");
    };
    for (const auto& [beside, spines] : {std::pair{3, 1U}, {4, 1U}, {5, 2U}, {6, 2U}, {23, 8U}, {24, 8U}}) {
        write_ring(24, beside);
        EXPECT_EQ(switches_named(load(spine), "spine"), spines) << beside;
    }
    // On 16 hosts s = n/2: 2 and 3 are equally near to 5/2.
    write_ring(16, 5);
    EXPECT_EQ(switches_named(load(spine), "spine"), 2U);
    // 8 spines are 1:1, 5 + 5; one is the least, 5 + 5/8.
    write_ring(24, 25);
    EXPECT_NE(
        errors(spine).find("with 8 spines this network costs $10.00 per host and is 1:1, below the $10.21"),
        std::string::npos)
        << errors(spine);
    write_ring(24, 2);
    EXPECT_NE(errors(spine).find("with 1 spines this network costs $5.62 per host, above the $5.42"),
              std::string::npos)
        << errors(spine);
}

TEST_F(EqualCostTest, ResolvedExperimentShowsTheNumberAndNeedsNoOtherFile) {
    const std::string path = ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml";
    const Result<Experiment> solved = load_experiment(
        path, {{"network=" + kInputs + "networks/fat-tree-128-equal-cost.yaml"}, {}}, components_);
    ASSERT_TRUE(solved) << render(solved.error());
    EXPECT_EQ(solved->resolved.find_path("network.cost_equivalent_to"), nullptr);
    // 4 x 903 = 3612 between 2323 and 4518, as above.
    EXPECT_EQ(solved->resolved.find_path("network.link.rate")->text,
              to_string(Bandwidth(100'000'000'000 + 100'000'000'000 * (3612 - 2323) / (4518 - 2323))));
    const auto again = folder_.write("resolved.yaml", to_yaml(solved->resolved));
    const Result<Experiment> read = load_experiment(again, {}, components_);
    ASSERT_TRUE(read) << render(read.error());
    EXPECT_EQ(to_yaml(read->resolved), to_yaml(solved->resolved));
    const Result<network::NetworkCost> cost = network_cost(*solved, default_prices());
    ASSERT_TRUE(cost);
    EXPECT_EQ(cost->hosts, 128U);
}

TEST_F(EqualCostTest, RefusesWhatItCannotSolve) {
    const auto expect = [&](const std::string& text, const std::string& words) {
        const std::string found = errors(text);
        EXPECT_NE(found.find(words), std::string::npos) << "expected " << words << "\nin:\n" << found;
    };
    write("flat.yaml", "kind: flat\nhosts: 16\n");
    const std::string tree = "kind: fat_tree\nk: 4\n";
    expect(tree + "cost_equivalent_to: none.yaml\n", "none.yaml");
    expect(tree + "cost_equivalent_to: flat.yaml\nlink: {rate: 1Gbps}\n",
           "'link.rate' is what is solved for");
    // NIC port 659, 2 transceivers, a fibre, a switch port: 1089; a tree takes 354 + 5 x 144 + 6 x 39 + 135
    // at least, at 40 Gb/s and below.
    expect(tree + "cost_equivalent_to: flat.yaml\n", "costs $1443.00 per host or more, above the $1089.00");
    write("tree.yaml", tree + "cost_equivalent_to: flat.yaml\n");
    expect(tree + "cost_equivalent_to: tree.yaml\n", "is itself made to cost as much as flat.yaml");
    expect("kind: torus\nsizes: [4, 4]\ncost_equivalent_to: flat.yaml\nsolve_for: oversubscription\n",
           "has no oversubscription to solve for");
    expect("kind: hierarchical\nhosts: 16\nhosts_per_package: 4\ncost_equivalent_to: flat.yaml\n",
           "has no single link.rate to solve for");
    expect(
        "kind: fat_tree\nk: 4\nedge_oversubscription: 2\ncost_equivalent_to: flat.yaml\n"
        "solve_for: oversubscription\n",
        "'edge_oversubscription' is what is solved for");
    expect(tree + "solve_for: link_rate\n", "needs 'cost_equivalent_to'");
    expect(tree + "cost_equivalent_to: flat.yaml\nsolve_for: rate\n", "one of link_rate, oversubscription");
    expect(tree + "cost_equivalent_too: flat.yaml\ncosts: x\n", "did you mean 'cost_equivalent_to'");
    write("ten.yaml", "nic_port: {by_rate: {rate: 10Gbps, dollars: 1}, source: t}\n");
    expect(tree + "cost_equivalent_to: flat.yaml\ncosts: ten.yaml\n",
           "has 16 of 100Gbps, which has no price");
    write("free.yaml",
          "nic_port: {dollars: 1, source: t}\ntransceiver: {dollars: 0, source: t}\n"
          "fibre: {dollars: 0, source: t}\nswitch_port: {dollars: 0, source: t}\n");
    expect(tree + "cost_equivalent_to: flat.yaml\ncosts: free.yaml\n",
           "at no link rate this network costs more");
}

/// 16 GPUs in 4 servers.
const std::string kServers =
    "kind: servers\nservers: {count: 4, gpus: 4}\nscale_out: {kind: leaf_spine, hosts_per_leaf: 4, spines: "
    "2, "
    "oversubscription: 1";

TEST_F(EqualCostTest, ServersAreSolvedForTheLinksBetweenThem) {
    // A GPU's share of the network at 200 Gb/s 1:1: 2 spines take half of 4 · 200 Gb/s each, 400 Gb/s cables:
    // NIC port 1079, leaf port 374, 2 · 239, 45, and 2/4 of a cable of 2 · 1090 + 2 · 659 + 45.
    write("servers.yaml", kServers + ", link: {rate: 200Gbps}}\n");
    EXPECT_DOUBLE_EQ(per_host(read((folder_.path() / "servers.yaml").string())),
                     1079 + 374 + 2 * 239 + 45 + (2 * 1090 + 2 * 659 + 45) / 2.0);
    // Made to cost as much as itself the rate is that again, with or without separate rails.
    const auto again = load(kServers + "}\ncost_equivalent_to: servers.yaml\n");
    EXPECT_EQ(again.section.find_path("scale_out.link.rate")->text, "200Gbps");
    write("rails.yaml",
          "kind: servers\nservers: {count: 4, gpus: 4}\nrails: separate\nscale_out: {kind: flat, "
          "link: {rate: 400Gbps}}\n");
    // A NIC and a port of 400 Gb/s each: 1499 + 1090 + 2 · 659 + 45.
    EXPECT_DOUBLE_EQ(per_host(read((folder_.path() / "rails.yaml").string())), 1499 + 1090 + 2 * 659 + 45);
    const auto rails = load(
        "kind: servers\nservers: {count: 4, gpus: 4}\nrails: separate\nscale_out: {kind: "
        "flat}\ncost_equivalent_to: rails.yaml\n");
    EXPECT_EQ(rails.section.find_path("scale_out.link.rate")->text, "400Gbps");
    // A graph and a flat network cost the same where they are the same.
    write("graph.yaml",
          "kind: graph\nnodes: [{name: h, count: 16}, {name: s, kind: switch}]\nlinks: [{from: h, "
          "to: s, rate: 400Gbps}]\n");
    const auto graph = load(
        "kind: servers\nservers: {count: 4, gpus: 4}\nscale_out: {kind: flat}\n"
        "cost_equivalent_to: graph.yaml\n");
    EXPECT_EQ(graph.section.find_path("scale_out.link.rate")->text, "400Gbps");
    const auto back = load(
        "kind: graph\nnodes: [{name: h, count: 16}, {name: s, kind: switch}]\nlinks: [{from: "
        "h, to: s}]\ncost_equivalent_to: rails.yaml\n");
    EXPECT_EQ(back.section.find_path("link.rate")->text, "400Gbps");
    const std::string given = errors(
        "kind: servers\nservers: {count: 4, gpus: 4, nics: {rate: 100Gbps}}\n"
        "scale_out: {kind: flat}\ncost_equivalent_to: rails.yaml\n");
    EXPECT_NE(given.find("leave nics.rate out"), std::string::npos) << given;
}

TEST_F(EqualCostTest, ServersAreSolvedForTheSpinesBetweenThem) {
    // With uplinks of 200 Gb/s each spine adds a quarter of a cable of 2 · 374 + 2 · 239 + 45 for a GPU.
    const std::string tree =
        "kind: servers\nservers: {count: 4, gpus: 4}\nscale_out: {kind: leaf_spine, "
        "hosts_per_leaf: 4, link: {rate: 200Gbps}, uplink: {rate: 200Gbps}, spines: ";
    write("three.yaml", tree + "3}\n");
    EXPECT_DOUBLE_EQ(per_host(read((folder_.path() / "three.yaml").string())),
                     1079 + 374 + 2 * 239 + 45 + 3 * (2 * 374 + 2 * 239 + 45) / 4.0);
    const auto found = load(tree + "1}\ncost_equivalent_to: three.yaml\nsolve_for: oversubscription\n");
    EXPECT_EQ(switches_named(found, "spine"), 3U);
}

TEST_F(EqualCostTest, InsidesOfServersCountWhereThePricesHaveThem) {
    const std::string prices =
        "nic_port: {dollars: 100, source: t}\ntransceiver: {dollars: 0, source: t}\n"
        "fibre: {dollars: 0, source: t}\nswitch_port: {by_rate: [{rate: 100Gbps, dollars: "
        "10}, {rate: 200Gbps, dollars: 20}], other_rates: interpolate, source: t}\n";
    write("outside.yaml", prices);
    write("all.yaml", prices + "scale_up_port: {dollars: 5, source: t}\n");
    write("servers.yaml", "kind: servers\nservers: {count: 4, gpus: 4}\nscale_out: {kind: flat}\n");
    const std::string flat = "kind: flat\nhosts: 16\ncost_equivalent_to: servers.yaml\ncosts: ";
    // A GPU: 100 + 10 outside, and a port of an NVSwitch. 110 buy a flat network 100 Gb/s, 115 half as much
    // more.
    EXPECT_EQ(link_rate(load(flat + "outside.yaml\n")), 100_Gbps);
    EXPECT_EQ(link_rate(load(flat + "all.yaml\n")), 150_Gbps);
    const auto priced = *load_prices(folder_.path() / "all.yaml");
    const auto servers = read((folder_.path() / "servers.yaml").string());
    const auto cost = *network_cost(*servers.fabric, wiring_of(servers.section), priced);
    const auto json = cost_json(cost, priced.list);
    EXPECT_EQ(json["scale_out_usd"], 16 * 110.0);
    EXPECT_EQ(json["inside_servers_usd"], 16 * 5.0);
    // 16 cables to NVSwitches and 16 to NICs have no price.
    ASSERT_EQ(json["not_priced"].size(), 2U);
    EXPECT_EQ(json["not_priced"][0]["part"], "scale_up_link");
    EXPECT_EQ(json["not_priced"][0]["count"], 16);
    const std::string text = cost_text(cost, priced.list);
    for (const char* words : {"$1,840, $115 per host", "scale-out           $1,760, $110 per host",
                              "inside servers      $80, $5 per host", "not priced"}) {
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
    }
}

RC_GTEST_PROP(GreatestWithin, FindsTheCrossingOfAnyCostThatNeverFalls, ()) {
    // cost(n) = sum of the steps up to n.
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
    std::vector<double> costs{0.0};
    for (const int step : steps) {
        costs.push_back(costs.back() + step);
    }
    costs.push_back(costs.back() + 1.0);
    const double limit = *rc::gen::inRange(0, static_cast<int>(costs.back()));
    std::int64_t expected = 0;
    while (costs[static_cast<std::size_t>(expected) + 1] <= limit) {
        ++expected;
    }
    const std::vector bends{*rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(costs.size()))};
    const auto crossing = largest_within(
        limit, {0, costs.front()}, {static_cast<std::int64_t>(costs.size()) - 1, costs.back()}, bends,
        [&](std::int64_t n) { return std::optional(costs[static_cast<std::size_t>(n)]); });
    RC_ASSERT(crossing->within.number == expected);
    RC_ASSERT(crossing->beyond.number == expected + 1);
}

TEST(GreatestWithin, TakesFewCostsOnAStraightLine) {
    int evaluations = 0;
    const auto crossing = largest_within(1e5, {1, 1.0}, {1'000'000'000'000, 1e12}, {}, [&](std::int64_t n) {
        ++evaluations;
        return std::optional(static_cast<double>(n));
    });
    EXPECT_EQ(crossing->within.number, 100'000);
    EXPECT_LE(evaluations, 6);
}

}  // namespace
}  // namespace astrolabe::experiment
