/// Circuit switches of graphs (graph_circuits.hpp): circuits are links, ports are counted and bought.
#include "../fabric_structure.hpp"
#include "../graph_networks.hpp"

#include <string>

#include <gtest/gtest.h>

#include <astrolabe/network/cost/cost.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::network {
namespace {

class GraphCircuitsTest : public GraphTest {
protected:
    /// Four leaves of one host each, two cables from each to a circuit switch, and what else is said.
    static std::string four_leaves(const std::string& rest) {
        return R"(kind: graph
link: {rate: 100Gbps, latency: 1us}
load_balancing: spray
nodes:
  - {name: gpu, count: 4}
  - {name: leaf, kind: switch, count: 4}
  - {name: ocs, kind: circuit_switch}
links:
  - {from: gpu, to: leaf, pairing: each}
  - {from: leaf, to: ocs, count: 2}
)" + rest;
    }
};

constexpr const char* kRing = R"(circuits:
  - {switch: ocs, from: leaf 0..2, to: leaf 1..3}
  - {switch: ocs, from: leaf 3, to: leaf 0}
)";

// A ring of leaves, each circuit two cables of 1 us: links of 2 us. They are added in the order of their
// first cables: those of leaf 0 are in the circuits to leaf 1 and from leaf 3.
TEST_F(GraphCircuitsTest, CircuitsAreLinksBetweenTheEndsOfTheirCables) {
    const auto ring = build(four_leaves(kRing));
    ASSERT_TRUE(ring) << render(errors_);
    EXPECT_EQ(ring->node_count(), 8U);
    EXPECT_EQ(ring->link_count(), 2U * (4U + 4U));
    const auto listed = build(R"(kind: graph
link: {rate: 100Gbps, latency: 1us}
load_balancing: spray
nodes:
  - {name: gpu, count: 4}
  - {name: leaf, kind: switch, count: 4}
links:
  - {from: gpu, to: leaf, pairing: each}
  - {from: leaf 0, to: leaf 1, latency: 2us}
  - {from: leaf 0, to: leaf 3, latency: 2us}
  - {from: leaf 1..2, to: leaf 2..3, pairing: each, latency: 2us}
)");
    ASSERT_TRUE(listed) << render(errors_);
    expect_same(*ring, *listed);
    EXPECT_EQ(ring->routing().route(HostId(0), HostId(1)).latency, (1 + 2 + 1) * 1_us);
    EXPECT_EQ(hops(*ring, 0, 2), 4U);
}

// 8 ports in 4 circuits. Beside a network of the same links there are 8 ports of circuit switches and a
// second cable for each circuit.
TEST_F(GraphCircuitsTest, PortsAreCountedAndBought) {
    const auto ring = build(four_leaves(kRing));
    ASSERT_TRUE(ring) << render(errors_);
    const std::vector<PartCount> parts = count_parts(*ring, {});
    const auto count = [&](Part part) {
        std::uint64_t sum = 0;
        for (const PartCount& one : parts) {
            sum += one.part == part ? one.count : 0;
        }
        return sum;
    };
    EXPECT_EQ(count(Part::kCircuitSwitchPort), 8U);
    EXPECT_EQ(count(Part::kFibre), 4U + 2U * 4U);
    EXPECT_EQ(count(Part::kTransceiver), 2U * (4U + 4U));
    EXPECT_EQ(ring->family().describe(*ring, {}).facts.at(1).second, "no port");

    const auto line = build(four_leaves("circuits: [{switch: ocs, from: leaf 0..2, to: leaf 1..3}]\n"));
    ASSERT_TRUE(line) << render(errors_);
    const Description described = line->family().describe(*line, {});
    EXPECT_EQ(described.facts.at(1).second, "warning: 2 ports carry nothing (2 of ocs)");
    EXPECT_EQ(described.json.at(0).at("without_circuit"), 2);
    // What is resolved is read back the same.
    const std::string resolved = resolved_;
    expect_same(*build(resolved), *line);
}

// a - ocs 0 - ocs 1 - b: three cables are one link of 3 us.
TEST_F(GraphCircuitsTest, CircuitsGoOnThroughAnotherSwitch) {
    const auto fabric = build(R"(kind: graph
link: {rate: 100Gbps, latency: 1us}
nodes: [{name: a}, {name: b}, {name: ocs, kind: circuit_switch, count: 2}]
links:
  - {from: ocs 0, to: ocs 1}
  - {from: [a, b], to: ocs, pairing: each}
circuits:
  - {switch: ocs 0, from: a, to: ocs 1}
  - {switch: ocs 1, from: ocs 0, to: b}
)");
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(fabric->link_count(), 2U);
    EXPECT_EQ(fabric->link(LinkId(0)).latency, 3 * 1_us);
}

// One-way links lead through a circuit switch in the direction of its circuits.
TEST_F(GraphCircuitsTest, OneWayCablesMakeOneWayLinks) {
    const std::string yaml = R"(kind: graph
nodes: [{name: h, count: 2, forwards: true}, {name: ocs, kind: circuit_switch}]
links:
  - {from: h, to: ocs, one_way: true}
  - {from: ocs, to: h, one_way: true}
circuits:
)";
    // h 0 sends over its first cable and receives over its second, as h 1 does: the first circuit joins both
    // cables that send.
    EXPECT_EQ(defect(yaml + "  - {switch: ocs, from: h 0, to: h 1}\n").substr(0, 57),
              "7:5 a circuit joins cables that do not lead the same way");
    const auto fabric = build(R"(kind: graph
nodes: [{name: h, count: 2, forwards: true}, {name: ocs, kind: circuit_switch}]
links:
  - {from: h 0, to: ocs, one_way: true}
  - {from: ocs, to: h, one_way: true}
  - {from: h 1, to: ocs, one_way: true}
circuits:
  - {switch: ocs, from: h 0, to: h 1}
  - {switch: ocs, from: h 0, to: h 1}
)");
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(fabric->one_way_link_count(), 2U);
    EXPECT_EQ(hops(*fabric, 0, 1), 1U);
    EXPECT_EQ(hops(*fabric, 1, 0), 1U);
}

TEST_F(GraphCircuitsTest, RefusesCircuitsThatCannotBe) {
    const auto of = [&](const std::string& entry) {
        return defect(four_leaves("circuits:\n  - {" + entry + "}\n"));
    };
    EXPECT_EQ(of("switch: ocs, from: leaf 0, to: gpu 0"), "12:5 no cable joins 'gpu 0' and 'ocs'");
    EXPECT_EQ(of("switch: leaf 0, from: leaf 1, to: leaf 2"), "12:14 'leaf 0' is no circuit switch");
    EXPECT_EQ(of("switch: leaf, from: leaf 1, to: leaf 2"), "12:14 a circuit at 4 nodes");
    EXPECT_EQ(of("switch: ocs, from: leaf 0..1, to: leaf 2"), "12:5 2 nodes have circuits to 1");
    EXPECT_EQ(of("switch: ocs, from: leaf 0, to: leaf 1, count: 3"),
              "12:5 all 2 ports of 'ocs' to 'leaf 0' are in circuits already");
    EXPECT_EQ(of("switch: ocs, from: leaf 0, to: leaf 0"), "12:5 a circuit joins 'leaf 0' to itself");
    EXPECT_EQ(of("switch: osc, from: leaf 0, to: leaf 1"), "12:14 'osc' is no node");
    EXPECT_EQ(of("switch: ocs, from: leaf 0, to: leaf 1"), "5:5 no path leads from 'gpu 0' to 'gpu 2'");
    EXPECT_EQ(defect(R"(kind: graph
nodes: [{name: a}, {name: b}, {name: ocs, kind: circuit_switch}]
links:
  - {from: a, to: ocs, rate: 100Gbps}
  - {from: b, to: ocs, rate: 400Gbps}
circuits:
  - {switch: ocs, from: a, to: b}
)"),
              "7:5 a circuit joins cables of 100Gbps and 400Gbps");
    EXPECT_EQ(
        defect("kind: graph\nnodes:\n  - {name: a}\n  - {name: ocs, kind: circuit_switch, buffer: 1MB}\n"),
        "4:5 circuit switch 'ocs' has a buffer, a tier or forwards");
}

}  // namespace
}  // namespace astrolabe::network
