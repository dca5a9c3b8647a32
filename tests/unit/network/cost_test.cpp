#include "cost_prices.hpp"
#include "network/src/rotor/expander.hpp"
#include "network/src/rotor/opera.hpp"
#include "network/src/topologies/direct_connect.hpp"
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/hierarchical.hpp"
#include "network/src/topologies/leaf_spine.hpp"

#include <memory>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/cost/cost.hpp>

namespace astrolabe::network {
namespace {

using Counts = std::vector<PartCount>;

std::shared_ptr<const Fabric> k_ary_tree(std::int64_t k) {
    FatTreeParameters parameters;
    parameters.k = k;
    return build_fat_tree(parameters);
}

/// Rings of 16 hosts with four interfaces each.
Counts two_rings(Medium medium, HostCables host_cables = HostCables::kFibre) {
    DirectConnectParameters parameters;
    parameters.hosts = 16;
    parameters.rings = {1, 3};
    return count_parts(*build_direct_connect(parameters), {.between_hosts = medium}, host_cables);
}

double cost_at_one_dollar(const Fabric& fabric) {
    return std::get<NetworkCost>(cost_of(fabric, {}, testing::one_dollar_each())).total();
}

TEST(CountParts, TreesAsCountedPerServer) {
    // 16 servers; 3 tiers: 3 cables each, one port of which is a NIC's; 2 tiers: 2; one switch: 1.
    EXPECT_EQ(count_parts(*k_ary_tree(4), {}), (Counts{{Part::kNicPort, 100_Gbps, 16},
                                                       {Part::kTransceiver, 100_Gbps, 16 * 6},
                                                       {Part::kFibre, 100_Gbps, 16 * 3},
                                                       {Part::kSwitchPort, 100_Gbps, 16 * 5}}));
    LeafSpineParameters two_tiers;
    two_tiers.hosts = 16;
    two_tiers.hosts_per_leaf = 4;
    two_tiers.spines = 4;
    EXPECT_EQ(count_parts(*build_leaf_spine(two_tiers), {}), (Counts{{Part::kNicPort, 100_Gbps, 16},
                                                                     {Part::kTransceiver, 100_Gbps, 16 * 4},
                                                                     {Part::kFibre, 100_Gbps, 16 * 2},
                                                                     {Part::kSwitchPort, 100_Gbps, 16 * 3}}));
    FlatParameters one_switch;
    one_switch.hosts = 16;
    one_switch.link.rate = 400_Gbps;
    EXPECT_EQ(count_parts(*build_flat(one_switch), {}), (Counts{{Part::kNicPort, 400_Gbps, 16},
                                                                {Part::kTransceiver, 400_Gbps, 16 * 2},
                                                                {Part::kFibre, 400_Gbps, 16},
                                                                {Part::kSwitchPort, 400_Gbps, 16}}));
}

TEST(CountParts, ServersJoinedThroughPlanesHavePortsThere) {
    // 16 servers with 4 interfaces: 32 cables, of which each end has a fibre to the plane.
    const Counts interfaces{
        {Part::kNicPort, 100_Gbps, 64}, {Part::kTransceiver, 100_Gbps, 64}, {Part::kFibre, 100_Gbps, 64}};
    const auto with = [&](Counts more) {
        Counts all = interfaces;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    EXPECT_EQ(two_rings(Medium::kPatchPanel), with({{Part::kPatchPanelPort, 100_Gbps, 64}}));
    EXPECT_EQ(two_rings(Medium::kLookAheadPanel),
              with({{Part::kPatchPanelPort, 100_Gbps, 128}, {Part::kLookAheadSwitch, 100_Gbps, 64}}));
    EXPECT_EQ(two_rings(Medium::kCircuitSwitch), with({{Part::kCircuitSwitchPort, 100_Gbps, 64}}));
    // Without a plane a fibre is a whole cable.
    EXPECT_EQ(two_rings(Medium::kFibre), (Counts{{Part::kNicPort, 100_Gbps, 64},
                                                 {Part::kTransceiver, 100_Gbps, 64},
                                                 {Part::kFibre, 100_Gbps, 32}}));
}

TEST(CountParts, AnInterfaceSendsAndReceivesOverFibresOfItsOwn) {
    // 16 servers with four one-way rings: four interfaces as before, and without a plane 64 fibres one way
    // make up 32.
    DirectConnectParameters parameters;
    parameters.hosts = 16;
    parameters.one_way_rings = {1, 3, 5, 7};
    const auto count = [&](Medium medium) {
        return count_parts(*build_direct_connect(parameters), {.between_hosts = medium});
    };
    for (const Medium medium :
         {Medium::kFibre, Medium::kPatchPanel, Medium::kLookAheadPanel, Medium::kCircuitSwitch}) {
        EXPECT_EQ(count(medium), two_rings(medium));
    }
    // Host 0 sends over two more links, to hosts 4 and 8, which each receive over one more: 4 interfaces;
    // 66 fibres one way. Host 2 gets a cable to host 9: 2 interfaces and a fibre.
    parameters.links = {
        {.from = 0, .to = 4, .one_way = true}, {.from = 0, .to = 8, .one_way = true}, {.from = 2, .to = 9}};
    EXPECT_EQ(count(Medium::kFibre), (Counts{{Part::kNicPort, 100_Gbps, 64 + 4 + 2},
                                             {Part::kTransceiver, 100_Gbps, 64 + 4 + 2},
                                             {Part::kFibre, 100_Gbps, 33 + 1}}));
}

TEST(CountParts, RotorsHaveAPortForEachUplinkWhateverFails) {
    rotor::OperaParameters parameters;
    parameters.racks = 36;
    parameters.radix = 12;
    parameters.link.rate = 10_Gbps;
    // 36 racks of 6 hosts and 6 uplinks: 216 of each; the hosts' cables have two ends.
    const Counts parts{{Part::kNicPort, 10_Gbps, 216},
                       {Part::kTransceiver, 10_Gbps, 2 * 216 + 216},
                       {Part::kFibre, 10_Gbps, 216 + 216},
                       {Part::kSwitchPort, 10_Gbps, 216 + 216},
                       {Part::kRotorPort, 10_Gbps, 216}};
    EXPECT_EQ(count_parts(*rotor::build_opera(parameters), {}), parts);
    parameters.failures = {{.at = Time(0), .cables = 2, .racks = 1, .rotors = 1}};
    ASSERT_TRUE(validation_errors(parameters).empty());
    EXPECT_EQ(count_parts(*rotor::build_opera(parameters), {}), parts);
}

TEST(CountParts, PackagesHaveScaleUpLinks) {
    // Two packages of four: a cable and a port for each host, or 2 · 4 · 3 / 2 cables without a switch.
    HierarchicalParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_package = 4;
    parameters.scale_out.rate = 25_Gbps;
    Counts parts{{Part::kNicPort, 25_Gbps, 8},       {Part::kTransceiver, 25_Gbps, 16},
                 {Part::kFibre, 25_Gbps, 8},         {Part::kSwitchPort, 25_Gbps, 8},
                 {Part::kScaleUpLink, 1200_Gbps, 8}, {Part::kScaleUpPort, 1200_Gbps, 8}};
    EXPECT_EQ(count_parts(*build_hierarchical(parameters), {}), parts);
    parameters.scale_up.kind = ScaleUpKind::kFullyConnected;
    parts.pop_back();
    parts.back().count = 12;
    EXPECT_EQ(count_parts(*build_hierarchical(parameters), {}), parts);
}

TEST(CountParts, CopperToTheHostsTakesTheirTransceivers) {
    // Two of the three cables of a server are fibres.
    EXPECT_EQ(count_parts(*k_ary_tree(4), {}, HostCables::kCopper),
              (Counts{{Part::kNicPort, 100_Gbps, 16},
                      {Part::kTransceiver, 100_Gbps, 16 * 4},
                      {Part::kFibre, 100_Gbps, 16 * 2},
                      {Part::kCopperCable, 100_Gbps, 16},
                      {Part::kSwitchPort, 100_Gbps, 16 * 5}}));
    // Copper is between a host and a switch: none here.
    EXPECT_EQ(two_rings(Medium::kFibre, HostCables::kCopper), two_rings(Medium::kFibre));
}

TEST(CountParts, ParallelCablesCountEachAtTheGreaterOfTheirRates) {
    FabricBuilder builder("pair");
    const HostId host = builder.add_host("host");
    const NodeId hub = builder.add_switch("switch");
    for (int i = 0; i < 3; ++i) {
        builder.connect(NodeId(host.index()), hub, {10_Gbps, Time(0), Bytes(0)},
                        {40_Gbps, Time(0), Bytes(0)});
    }
    EXPECT_EQ(count_parts(*std::move(builder).build(), {}), (Counts{{Part::kNicPort, 40_Gbps, 3},
                                                                    {Part::kTransceiver, 40_Gbps, 6},
                                                                    {Part::kFibre, 40_Gbps, 3},
                                                                    {Part::kSwitchPort, 40_Gbps, 3}}));
}

TEST(CostOf, IsTheSumOfItsLines) {
    // 16 NIC ports, 96 transceivers, 48 fibres and 80 switch ports at a dollar each.
    const auto cost = std::get<NetworkCost>(cost_of(*k_ary_tree(4), {}, testing::one_dollar_each()));
    EXPECT_EQ(cost.total(), 16.0 + 96.0 + 48.0 + 80.0);
    EXPECT_EQ(cost.per_host(), 15.0);
    ASSERT_EQ(cost.lines.size(), 4U);
    EXPECT_EQ(cost.lines[1].cost(), 96.0);
}

TEST(CostOf, PortsOfRotorNetworksAgainstStaticOnes) {
    // Opera (NSDI 2020), appendix A.1: a port costs 215, 275 with its share of a rotor, and hosts' cables
    // are the same everywhere. Opera has one port per host, an expander u' / (k - u') = 7/5, a 3-tier Clos
    // network 2 (t - 1) / F = 4/3.
    const PriceList prices = testing::opera_ports();
    const auto per_host = [&](const Fabric& fabric) {
        return std::get<NetworkCost>(cost_of(fabric, {}, prices)).per_host() - 2.0 * 125.0 - 90.0;
    };
    rotor::OperaParameters opera;
    opera.racks = 36;
    opera.radix = 12;
    opera.link.rate = 10_Gbps;
    EXPECT_DOUBLE_EQ(per_host(*rotor::build_opera(opera)), 275.0);
    rotor::ExpanderParameters expander;
    expander.racks = 20;
    expander.uplinks = 7;
    expander.hosts_per_rack = 5;
    expander.link.rate = 10_Gbps;
    EXPECT_DOUBLE_EQ(per_host(*rotor::build_expander(expander)), 215.0 * 7.0 / 5.0);
    FatTreeParameters clos;
    clos.pods = 12;
    clos.edges_per_pod = 6;
    clos.hosts_per_edge = 9;
    clos.aggregations_per_pod = 3;
    clos.cores = 18;
    clos.link.rate = 10_Gbps;
    EXPECT_DOUBLE_EQ(per_host(*build_fat_tree(clos)), 215.0 * 4.0 / 3.0);
}

TEST(CostOf, MissingPricesAreNamed) {
    PriceList prices = testing::one_dollar_each();
    prices.prices[static_cast<std::size_t>(Part::kFibre)].reset();
    auto& transceiver = prices.prices[static_cast<std::size_t>(Part::kTransceiver)];
    transceiver = Price{.dollars = {}, .by_rate = {{25_Gbps, 39.0}}, .source = "test"};
    const auto missing = std::get<ValidationErrors>(cost_of(*k_ary_tree(4), {}, prices));
    ASSERT_EQ(missing.size(), 2U);
    EXPECT_EQ(missing[0].key, "transceiver.by_rate");
    EXPECT_EQ(missing[0].message, "the network has 96 of 100Gbps, which has no price");
    EXPECT_EQ(missing[1].key, "");
    EXPECT_EQ(missing[1].message, "the network has 48 x fibre, which has no price");
}

TEST(CostOf, WhatIsInsideServersIsBoughtWithThemUnlessItHasAPrice) {
    HierarchicalParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_package = 4;
    const auto fabric = build_hierarchical(parameters);
    // 8 NIC ports, 16 transceivers, 8 fibres, 8 switch ports; inside 8 links and 8 ports.
    const auto all = std::get<NetworkCost>(cost_of(*fabric, {}, testing::one_dollar_each()));
    EXPECT_EQ(all.total(), 40.0 + 16.0);
    EXPECT_EQ(all.inside_servers(), 16.0);
    EXPECT_TRUE(all.unpriced.empty());
    PriceList prices = testing::one_dollar_each();
    prices.prices[static_cast<std::size_t>(Part::kScaleUpPort)].reset();
    const auto links = std::get<NetworkCost>(cost_of(*fabric, {}, prices));
    EXPECT_EQ(links.total(), 40.0 + 8.0);
    EXPECT_EQ(links.unpriced, (Counts{{Part::kScaleUpPort, 1200_Gbps, 8}}));
    prices.prices[static_cast<std::size_t>(Part::kScaleUpLink)].reset();
    const auto none = std::get<NetworkCost>(cost_of(*fabric, {}, prices));
    EXPECT_EQ(none.total(), 40.0);
    EXPECT_EQ(none.inside_servers(), 0.0);
    EXPECT_TRUE(none.has_servers());
    // A price that does not know the rate is a defect, as of any part.
    prices.prices[static_cast<std::size_t>(Part::kScaleUpLink)] =
        Price{.dollars = {}, .by_rate = {{25_Gbps, 39.0}}, .source = "test"};
    EXPECT_EQ(std::get<ValidationErrors>(cost_of(*fabric, {}, prices)).front().key, "scale_up_link.by_rate");
    EXPECT_FALSE(std::get<NetworkCost>(cost_of(*k_ary_tree(4), {}, prices)).has_servers());
}

TEST(CostOf, AHostAloneCostsNothing) {
    FabricBuilder builder("alone");
    builder.add_host("host");
    EXPECT_EQ(cost_at_one_dollar(*std::move(builder).build()), 0.0);
}

}  // namespace
}  // namespace astrolabe::network
