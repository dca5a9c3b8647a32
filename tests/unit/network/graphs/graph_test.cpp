/// Networks of one's own: lists, files, routing, and what is written of a fabric (graph.hpp, graph_files.hpp,
/// graph_export.hpp).
#include "../fabric_structure.hpp"
#include "../graph_networks.hpp"
#include "network/src/topologies/graph/node_names.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/network/analysis/graph_export.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

constexpr const char* kLeafSpine = R"(
kind: graph
link: {rate: 100Gbps, latency: 1us}
load_balancing: spray
nodes:
  - {name: host, count: 32}
  - {name: spine, kind: switch, count: 2, tier: 2}
  - {name: leaf, kind: switch, count: 4, tier: 1}
links:
  - {from: host 0..7, to: leaf 0}
  - {from: host 8..15, to: leaf 1}
  - {from: host 16..23, to: leaf 2}
  - {from: host 24..31, to: leaf 3}
  - {from: leaf, to: spine}
)";
constexpr const char* kBuiltInLeafSpine =
    "{kind: leaf_spine, hosts: 32, hosts_per_leaf: 8, spines: 2, load_balancing: spray, "
    "link: {rate: 100Gbps, latency: 1us}, uplink: {latency: 1us}}";

// Leaves come before their hosts' uplinks in the built-in, so that links out of spines are in the order of
// leaves in both; hosts and leaves have the same links in the same order.
TEST_F(GraphTest, AListOfLeavesAndSpinesIsTheBuiltInNetwork) {
    const auto graph = build(kLeafSpine);
    ASSERT_TRUE(graph) << render(errors_);
    expect_same(*graph, *build(kBuiltInLeafSpine));
}

// Up and down is what shortest paths do in a Clos network.
TEST_F(GraphTest, UpAndDownInAClosNetworkIsShortest) {
    const auto graph = build(std::string(kLeafSpine) + "routing: up_down\n");
    ASSERT_TRUE(graph) << render(errors_);
    expect_same(*graph, *build(kBuiltInLeafSpine));
}

TEST_F(GraphTest, NamesOfNodesAreSuggestedForErrorsThatAreShownAlone) {
    std::string yaml =
        "kind: graph\nnodes: [{name: host, count: 2}]\nlink: {rate: 100Gbps, latency: 1us}\nlinks:\n";
    for (std::size_t i = 0; i < 2 * limits::kErrorsShown; ++i) {
        yaml += "  - {from: hsot, to: host 1}\n";
    }
    EXPECT_EQ(build(yaml), nullptr);
    ASSERT_GT(errors_.size(), limits::kErrorsShown);
    EXPECT_EQ(errors_[limits::kErrorsShown - 1].hint, "did you mean 'host'?");
    EXPECT_EQ(errors_[limits::kErrorsShown].hint, "");
}

// Two leaves that are joined directly: the shortest way between their hosts is 3 links over that cable; up
// and down never takes a cable between equal tiers, 4 links over the spine.
TEST_F(GraphTest, UpAndDownDoesNotGoSideways) {
    const std::string yaml = R"(
kind: graph
nodes:
  - {name: host, count: 2}
  - {name: leaf, kind: switch, count: 2, tier: 1}
  - {name: spine, kind: switch, tier: 2}
links:
  - {from: host, to: leaf, pairing: each}
  - {from: leaf 0, to: leaf 1}
  - {from: leaf, to: spine}
)";
    EXPECT_EQ(hops(*build(yaml), 0, 1), 3U);
    EXPECT_EQ(hops(*build(yaml + "routing: up_down\n"), 0, 1), 4U);
}

// Host 1 has a cable to each of two switches and lies between them: hosts 0 and 2 are connected only where it
// forwards, by 4 links, and the second cable out of host 1 takes what it takes to forward.
TEST_F(GraphTest, AHostIsBetweenOthersOnlyWhereItSaysSo) {
    const std::string yaml = R"(
kind: graph
link: {rate: 100Gbps, latency: 1us}
nodes:
  - {name: a}
  - {name: b, forwards: FORWARDS, forwarding: 2us}
  - {name: c}
  - {name: left, kind: switch}
  - {name: right, kind: switch}
links:
  - {from: [a, b], to: left}
  - {from: [b, c], to: right}
)";
    const auto with = [&yaml](const std::string& value) {
        std::string text = yaml;
        return text.replace(text.find("FORWARDS"), 8, value);
    };
    const auto fabric = build(with("true"));
    ASSERT_TRUE(fabric) << render(errors_);
    const Route route = fabric->routing().route(HostId(0), HostId(2));
    EXPECT_EQ(route.hops, 4U);
    EXPECT_EQ(route.latency, 4 * 1_us + 2_us);
    EXPECT_EQ(defect(with("false")), "5:5 no path leads from 'a' to 'c'");
}

TEST_F(GraphTest, RefusesWhatIsNoNetworkWithItsPlace) {
    const std::string nodes =
        "kind: graph\nnodes:\n  - {name: a, count: 2}\n  - {name: s, kind: switch}\nlinks:\n";
    EXPECT_EQ(defect("kind: graph\n"), "1:1 the graph has no nodes");
    EXPECT_EQ(defect(nodes + "  - {from: a, to: t}\n"), "6:19 't' is no node");
    EXPECT_EQ(defect(nodes + "  - {from: a 0..2, to: s}\n"), "6:12 'a 0..2', but 'a' has 2 nodes, 0 to 1");
    EXPECT_EQ(defect(nodes + "  - {from: a, to: s, pairing: each}\n"),
              "6:5 2 nodes are joined to 1, one each");
    EXPECT_EQ(defect(nodes + "  - {from: a, to: a 0}\n"), "6:5 'a 0' is joined to itself");
    EXPECT_EQ(defect(nodes + "  - {from: a 0, to: s}\n"), "3:5 no path leads from 'a 0' to 'a 1'");
    EXPECT_EQ(defect(nodes + "  - {from: a, to: s}\nrouting: up_down\n"), "4:5 switch 's' has no tier");
    EXPECT_EQ(defect("kind: graph\nnodes:\n  - {name: a}\n  - {name: a}\nlinks: []\n"),
              "4:5 two entries of nodes have the name 'a'");
    EXPECT_EQ(defect("kind: graph\nfile: none.topo\n"), "0:0 cannot be read: No such file or directory");
    EXPECT_EQ(defect("kind: graph\nfile: none.bin\n").substr(0, 22), "2:7 'file': the end of");
}

// 4,097 hosts joined to 4,097 are 16,785,409 cables, and 2^24 = 16,777,216 the most; what follows is not
// looked at.
TEST_F(GraphTest, OneEntryTooManyEndsThePlan) {
    const std::string nodes = "kind: graph\nnodes:\n  - {name: a, count: 4097}\nlinks:\n";
    EXPECT_EQ(defect(nodes + "  - {from: a, to: a}\n  - {from: a, to: a}\n  - {from: a, to: t}\n"),
              "5:5 more than 16777216 cables");
    EXPECT_EQ(errors_.size(), 1U) << render(errors_);

    // Each entry that is wrong looks at 2^20 + 1 nodes: 10,000 took minutes. Sixteen are more than 2^24.
    std::string wrong = "kind: graph\nnodes:\n  - {name: a, count: 1048576}\n  - {name: b}\nlinks:\n";
    for (int i = 0; i < 10'000; ++i) {
        wrong += "  - {from: a, to: b, pairing: each}\n";
    }
    EXPECT_EQ(defect(wrong), "6:5 1048576 nodes are joined to 1, one each");
    EXPECT_EQ(errors_.size(), 16U);

    // Ends that only the entry names which is left out are no errors of their own.
    EXPECT_EQ(defect("kind: graph\nnodes:\n  - {name: a, count: 1048576}\n  - {name: s, kind: switch, count: "
                     "1048576}\n  - {name: b}\nlinks:\n  - {from: b, to: b}\n"),
              "5:5 more than 2097152 nodes");
    EXPECT_EQ(errors_.size(), 1U) << render(errors_);
}

TEST_F(GraphTest, OneWayLinksJoinHostsThatForward) {
    const auto fabric = build(R"(
kind: graph
nodes: [{name: h, count: 3, forwards: true}]
links:
  - {from: [h 0, h 1, h 2], to: [h 1, h 2, h 0], pairing: each, one_way: true}
)");
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(fabric->one_way_link_count(), 3U);
    EXPECT_EQ(hops(*fabric, 0, 2), 2U);  // 0 → 1 → 2
    EXPECT_EQ(hops(*fabric, 2, 0), 1U);
}

// The ring of four in two forms, and the built-in of the same cables. Host i has its cable to i - 1 first.
TEST_F(GraphTest, ReadsTopologiesOfRdmaSimulators) {
    write("ring.txt",
          "4 0 4\n\n0 1 25Gbps 0.005ms 0\n1 2 25Gbps 5000ns 0.000000 \n2 3 25Gbps 5us 0\n"
          "3 0 25Gbps 0.005ms 0\nwhat follows is not read\n");
    const auto ring = build("{kind: graph, file: ring.txt, hosts_forward: true, load_balancing: spray}");
    ASSERT_TRUE(ring) << render(errors_);
    EXPECT_EQ(ring->link_count(), 8U);
    EXPECT_EQ(hops(*ring, 0, 2), 2U);
    EXPECT_EQ(ring->link(LinkId(0)).rate, 25_Gbps);
    EXPECT_EQ(ring->link(LinkId(0)).latency, 5_us);

    write("star.txt", "4 1 3\n0\n0 1 100Gbps 1us 0\n2 0 100Gbps 1us 0\n0 3 50Gbps 1us 0\n");
    const auto star = build("{kind: graph, file: star.txt}");
    ASSERT_TRUE(star) << render(errors_);
    EXPECT_EQ(star->host_count(), 3U);
    EXPECT_EQ(star->node(NodeId(std::size_t{3})).name, "switch 0");
    EXPECT_EQ(star->egress_rate(HostId(2)), 50_Gbps);
}

TEST_F(GraphTest, RefusesBrokenTopologiesOfRdmaSimulators) {
    const auto of = [&](const std::string& text) {
        write("broken.txt", text);
        return defect("{kind: graph, file: broken.txt}");
    };
    EXPECT_EQ(of(""), "1:1 the file ends here, expected node_count switch_count link_count");
    EXPECT_EQ(of("4 0"), "1:3 the line ends before the number of links");
    EXPECT_EQ(of("3 1 2\n9\n"), "2:1 a switch is '9', expected a whole number from 0 to 2");
    EXPECT_EQ(of("3 2 2\n1 1\n"), "2:3 switch 1 is listed twice");
    EXPECT_EQ(of("3 1 2\n0\n0 1 100Gbps 1us 0\n"), "3:1 the file ends here, expected 2 links, after 1");
    EXPECT_EQ(of("3 1 2\n0\n0 1 100Gb 1us 0\n0 2 1Gbps 1us 0\n").substr(0, 13), "3:5 the rate:");
    EXPECT_EQ(of("3 1 2\n0\n0 1 1Gbps 1us 0.1\n0 2 1Gbps 1us 0\n"),
              "3:15 the link loses packets with a rate of '0.1', expected 0");
}

TEST_F(GraphTest, ReadsTopologiesOfHtsim) {
    write("clos.topo",
          "# a comment\nNodes 32\nTIERS 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\n"
          "Radix_Down 8\nRadix_Up 2\nDownlink_Latency_ns 1000\nOversubscribed 4\nQueue_Down 60000\n\nTier 1\n"
          "Downlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n");
    const auto graph = build("{kind: graph, file: clos.topo, load_balancing: spray}");
    ASSERT_TRUE(graph) << render(errors_);
    const auto built_in = build(kBuiltInLeafSpine);
    EXPECT_EQ(graph->link_count(), built_in->link_count());
    EXPECT_EQ(hop_distribution(*graph, 0), hop_distribution(*built_in, 0));
    EXPECT_EQ(bisection_rate(*graph), bisection_rate(*built_in));
    EXPECT_EQ(graph->link(graph->first_link(NodeId(std::size_t{32}))).buffer,
              Bytes(60'000));  // out of leaf 0, to a host
    EXPECT_EQ(graph->link(LinkId(graph->first_link(NodeId(std::size_t{33})).index() - 1)).buffer, Bytes(0));

    write("three.topo",
          "Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n"
          "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n"
          "Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n");
    const auto tree = build("{kind: graph, file: three.topo, routing: up_down, link: {latency: 0s}}");
    ASSERT_TRUE(tree) << render(errors_);
    // The fat-tree of k = 4: 16 hosts, 20 switches, 48 cables; 1, 2 and 12 hosts 2, 4 and 6 links away.
    EXPECT_EQ(tree->node_count(), 36U);
    EXPECT_EQ(tree->link_count(), 96U);
    const std::map<std::size_t, int> expected{{2, 1}, {4, 2}, {6, 12}};
    EXPECT_EQ(hop_distribution(*tree, 0), expected);
    EXPECT_EQ(path_count(*tree, tree->node_of(HostId(0)), HostId(15)), 4U);
}

TEST_F(GraphTest, RefusesBrokenTopologiesOfHtsim) {
    const auto of = [&](const std::string& text) {
        write("broken.topo", text);
        return defect("{kind: graph, file: broken.topo}");
    };
    EXPECT_EQ(of("Nodes 4\nTires 2\n"), "2:1 'Tires' is no key of the header");
    EXPECT_EQ(of("Nodes 4\nTiers 2\nTier 1\n").substr(0, 33), "3:6 the number of the tier is '1'");
    EXPECT_EQ(of("Nodes 4\nTiers 3\nPodsize 2\nTier 0\n"),
              "4:1 the file describes 1 tiers, its header says 3");
    EXPECT_EQ(of("Nodes 4\nTiers 2\nTier 0\nRadix_Down 2\nRadix_Up 2\nTier 1\nDownlink_speed_Gbps 100\n"
                 "Radix_Down 3\n"),
              "8:12 radix_down of tier 1 is 3, but 2 cables come from below");
    // 2 leaves under 2^20 spines: 1,048,578 switches.
    EXPECT_EQ(of("Nodes 2\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 1\nRadix_Up 1048576\n"
                 "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\n"),
              "6:10 tiers 0 to 1 have 1048578 switches, expected at most 1048576");
    // 2 pods of 2 leaves and 2 aggregation switches, each of these 2 under 2^20 cores: 4 + 4 + 2,097,152.
    EXPECT_EQ(of("Nodes 4\nTiers 3\nPodsize 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 1\nRadix_Up 2\n"
                 "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 1048576\n"
                 "Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 2\n"),
              "11:10 tiers 0 to 2 have 2097160 switches, expected at most 1048576");
}

// The same star as networkx writes it, with our attributes, with others, and as GraphML.
TEST_F(GraphTest, ReadsGraphsOfNetworkx) {
    write("star.json", R"({"directed": false, "multigraph": true, "graph": {}, "nodes": [
        {"id": "s", "kind": "switch", "buffer": "1MB"}, {"id": 1}, {"id": 2, "name": "two", "kind": "host"}],
        "edges": [{"source": 1, "target": "s", "key": 0, "rate": "100Gbps", "latency": 1e-06},
                  {"source": 2, "target": "s", "key": 0, "rate": 1e11, "latency": "1us", "count": 2}]})");
    const auto fabric = build("{kind: graph, file: star.json}");
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(fabric->host_count(), 2U);
    EXPECT_EQ(fabric->egress_rate(HostId(1)), 200_Gbps);
    EXPECT_EQ(fabric->node(NodeId(std::size_t{1})).name, "two");
    EXPECT_EQ(fabric->link(LinkId(0)).latency, 1_us);

    write("plain.json", R"({"nodes": [{"id": 0}, {"id": 1}, {"id": 2}],
        "links": [{"source": 0, "target": 1, "capacity": 4e10}, {"source": 2, "target": 1, "capacity": 4e10}]})");
    const auto plain =
        build("{kind: graph, file: plain.json, attributes: {rate: capacity}, link: {latency: 3us}}");
    ASSERT_TRUE(plain) << render(errors_);
    EXPECT_EQ(plain->egress_rate(HostId(0)), 40_Gbps);
    EXPECT_EQ(plain->link(LinkId(0)).latency, 3_us);

    write("star.graphml", R"(<?xml version="1.0"?>
<graphml><key id="d0" for="edge" attr.name="rate"><default>100Gbps</default></key>
<key id="d1" for="node" attr.name="kind"/>
<graph edgedefault="undirected">
<node id="s"><data key="d1">switch</data></node><node id="a"/><node id="b"/>
<edge source="a" target="s"><data key="d0">50Gbps</data></edge>
<edge source="b" target="s"/>
</graph></graphml>)");
    const auto xml = build("{kind: graph, file: star.graphml}");
    ASSERT_TRUE(xml) << render(errors_);
    EXPECT_EQ(xml->egress_rate(HostId(0)), 50_Gbps);
    EXPECT_EQ(xml->egress_rate(HostId(1)), 100_Gbps);
}

// An attribute that the experiment names must be one of the file, of edges or of nodes.
TEST_F(GraphTest, AttributesThatOccurNowhereAreRefused) {
    write("plain.json", R"({"nodes": [{"id": 0}, {"id": 1, "role": "switch"}, {"id": 2}],
        "links": [{"source": 0, "target": 1, "capacity": 4e10}, {"source": 2, "target": 1, "capacity": 4e10}]})");
    const auto hint_of = [&](const std::string& attributes) {
        const std::string found = defect("kind: graph\nfile: plain.json\nattributes: {" + attributes + "}\n");
        return found + "; " + (errors_.empty() ? "" : errors_.front().hint);
    };
    EXPECT_EQ(hint_of("rate: capasity"),
              "3:20 no edge of the file has an attribute 'capasity'; did you mean 'capacity'?");
    EXPECT_EQ(hint_of("kind: rol"), "3:20 no node of the file has an attribute 'rol'; did you mean 'role'?");
    EXPECT_EQ(hint_of("kind: capacity").substr(0, 53),
              "3:20 no node of the file has an attribute 'capacity';");
    ASSERT_TRUE(build("{kind: graph, file: plain.json, attributes: {rate: capacity, kind: role}}"))
        << render(errors_);
    write("ring.txt", "2 0 1\n\n0 1 25Gbps 1us 0\n");
    EXPECT_EQ(defect("{kind: graph, file: ring.txt, attributes: {rate: capacity}}").substr(5),
              "'attributes': files of hpcc and htsim have no attributes");
}

TEST_F(GraphTest, RefusesBrokenGraphs) {
    const auto json = [&](const std::string& text) {
        write("broken.json", text);
        return defect("{kind: graph, file: broken.json}");
    };
    EXPECT_EQ(json("{\"nodes\": [{\"id\": 0}]}"), "1:1 the graph has no 'links'");
    EXPECT_EQ(json("{\"nodes\": [{}], \"links\": []}"), "1:12 an entry without 'id'");
    EXPECT_EQ(json("{\"nodes\": [{\"id\": 0, \"forwarding\": -1}, {\"id\": 1}],\n"
                   " \"links\": [{\"source\": 0, \"target\": 1}]}"),
              "1:12 '0' takes -1s to forward, expected 0 to 1000s");
    EXPECT_EQ(json("{\"nodes\": [{\"id\": 0}, {\"id\": 1}],\n"
                   " \"links\": [{\"source\": 0, \"target\": 1, \"count\": 16777216},\n"
                   "  {\"source\": 0, \"target\": 1}]}"),
              "3:3 the graph has more than 16777216 cables");
    EXPECT_EQ(json("{\"nodes\": [{\"id\": 0}],\n \"links\": [{\"source\": 0, \"target\": 7}]}"),
              "2:12 an edge ends at '7', which is no node");
    const auto xml = [&](const std::string& text) {
        write("broken.graphml", text);
        return defect("{kind: graph, file: broken.graphml}");
    };
    EXPECT_EQ(xml("<graphml>\n<graph>\n<node id=\"0\">\n</graph></graphml>").substr(0, 11), "4:3 not XML");
    EXPECT_EQ(xml("<graphml>\n<graph>\n  <node/>\n</graph></graphml>"), "3:3 <node> without id");
    EXPECT_EQ(xml("<graphml>\n<graph>\n<node id=\"0\"><data key=\"k\">1</data></node></graph></graphml>"),
              "3:14 data of key 'k', which is not declared");
    EXPECT_EQ(xml("<graphml>\n<key id=\"n\" attr.name=\"name\"><default>x</default></key>\n<graph>\n"
                  "<node id=\"0\"/><node id=\"1\"/><edge source=\"0\" target=\"1\"/></graph></graphml>"),
              "2:30 two nodes have the default as their name");
}

// Defaults are of those that say nothing themselves, of their domain, and have the names of the experiment.
TEST_F(GraphTest, DefaultsOfGraphmlAreLookedUpWhereTheyAreRead) {
    write("defaults.graphml", R"(<graphml>
<key id="d0" for="edge" attr.name="speed"><default>100Gbps</default></key>
<key id="d1" for="node" attr.name="role"><default>host</default></key>
<key id="d2" for="all" attr.name="note"><default>of no use</default></key>
<graph edgedefault="undirected">
<node id="s"><data key="d1">switch</data></node><node id="a"/><node id="b"/>
<edge source="a" target="s"><data key="d0">50Gbps</data></edge>
<edge source="b" target="s"/>
</graph></graphml>)");
    const auto fabric = build("{kind: graph, file: defaults.graphml, attributes: {rate: speed, kind: role}}");
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(fabric->host_count(), 2U);
    EXPECT_EQ(fabric->egress_rate(HostId(0)), 50_Gbps);
    EXPECT_EQ(fabric->egress_rate(HostId(1)), 100_Gbps);
    EXPECT_EQ(defect("{kind: graph, file: defaults.graphml, attributes: {rate: role}}"),
              "1:58 no edge of the file has an attribute 'role'");
}

// 1,024 times 2,048 nodes are the 2^21 that a graph may have; the next text is refused where it is.
TEST(NodeNames, AListOfNodesIsNoLongerThanAGraph) {
    NodeNames names;
    for (std::uint32_t node = 0; node < 2'048; ++node) {
        names.add("h", node, node);
    }
    std::vector<PlacedText> texts(1'024, {"h", {}});
    Diagnostics defects;
    EXPECT_EQ(find_nodes(names, texts, defects).size(), std::size_t{1} << 21);
    EXPECT_TRUE(defects.empty());
    texts.push_back({"h 7", {nullptr, 3, 14}});
    EXPECT_TRUE(find_nodes(names, texts, defects).empty());
    ASSERT_EQ(defects.size(), 1U);
    EXPECT_EQ(defects.front().where.line, 3);
    EXPECT_EQ(defects.front().message, "the list has more than 2097152 nodes up to 'h 7'");
}

/// Leaves of `hosts` hosts each under two spines; the last `cut` leaves are joined to none.
std::string many_leaves(int leaves, int hosts, int cut) {
    std::string yaml = fmt::format(
        "kind: graph\nrouting: up_down\nnodes:\n  - {{name: gpu, count: {}}}\n"
        "  - {{name: leaf, kind: switch, tier: 1, count: {}}}\n"
        "  - {{name: spine, kind: switch, tier: 2, count: 2}}\nlinks:\n",
        leaves * hosts, leaves);
    for (int leaf = 0; leaf < leaves; ++leaf) {
        yaml += fmt::format("  - {{from: gpu {}..{}, to: leaf {}}}\n", leaf * hosts, (leaf + 1) * hosts - 1,
                            leaf);
    }
    return yaml + fmt::format("  - {{from: leaf 0..{}, to: spine}}\n", leaves - cut - 1);
}

TEST_F(GraphTest, UpAndDownIsCheckedForManyHosts) {
    const auto graph = build(many_leaves(1000, 100, 0));
    ASSERT_TRUE(graph) << render(errors_);
    EXPECT_EQ(graph->host_count(), 100'000U);
    // Hosts of 129 leaves reach one another, in more than one sweep of 64; those of the last leaf are cut
    // off.
    EXPECT_EQ(defect(many_leaves(130, 2, 1)), "4:5 no path leads from 'gpu 0' to 'gpu 258'");
}

// Every static network that routes by shortest paths, written and read back, is itself.
TEST_F(GraphTest, WhatIsWrittenIsReadBackTheSame) {
    for (const std::string yaml :
         {"{kind: flat, hosts: 5}", "{kind: fat_tree, k: 4}",
          "{kind: fat_tree, k: 4, load_balancing: spray, switch_buffer: 16MB}",
          "{kind: leaf_spine, hosts: 12, hosts_per_leaf: 4, spines: 3, uplinks: 2}", "{kind: ring, hosts: 6}",
          "{kind: torus, sizes: [4, 3, 2], double_links: true, link: {rate: [50GB/s, 25GB/s, 10Gbps]}}",
          "{kind: dragonfly, hosts_per_router: 2, groups: 5}", "{kind: mesh, sizes: [3, 4]}",
          "{kind: hierarchical, hosts: 12, hosts_per_package: 4}", "{kind: fully_connected, hosts: 5}"}) {
        const auto original = build(yaml);
        ASSERT_TRUE(original) << yaml << render(errors_);
        for (const auto& [format, name] : {std::pair(GraphExport::kNodeLink, "again.json"),
                                           std::pair(GraphExport::kGraphml, "again.graphml")}) {
            std::string text;
            export_graph(*original, format, [&text](std::string_view piece) { text += piece; });
            write(name, text);
            const auto again = build(fmt::format(
                "{{kind: graph, file: {}, load_balancing: {}}}", name,
                original->routing().load_balancing() == LoadBalancing::kSpray ? "spray" : "flow_hash"));
            ASSERT_TRUE(again) << yaml << name << render(errors_);
            expect_same(*again, *original);
        }
    }
}

TEST_F(GraphTest, NamesWithLettersThatFormatsGiveAMeaningAreRead) {
    const auto original = build(R"(
kind: graph
nodes: [{name: '<a&"b\>', count: 2}, {name: "s 'x'", kind: switch}]
links: [{from: '<a&"b\>', to: "s 'x'"}]
)");
    ASSERT_TRUE(original) << render(errors_);
    for (const auto& [format, name] : {std::pair(GraphExport::kNodeLink, "again.json"),
                                       std::pair(GraphExport::kGraphml, "again.graphml")}) {
        std::string text;
        export_graph(*original, format, [&text](std::string_view piece) { text += piece; });
        write(name, text);
        const auto again = build(fmt::format("{{kind: graph, file: {}}}", name));
        ASSERT_TRUE(again) << render(errors_);
        EXPECT_EQ(again->node(NodeId(std::size_t{1})).name, "<a&\"b\\> 1");
    }
    std::string dot;
    export_graph(*original, GraphExport::kDot, [&dot](std::string_view piece) { dot += piece; });
    EXPECT_NE(dot.find(R"(0 [label="<a&\"b\\> 0", shape=box)"), std::string::npos) << dot;
    EXPECT_NE(dot.find("0 -- 2 [rate=\"100Gbps\", latency=\"500ns\"];"), std::string::npos) << dot;
}

}  // namespace
}  // namespace astrolabe::network
