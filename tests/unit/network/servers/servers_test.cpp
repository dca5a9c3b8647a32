/// Servers over scale-out networks: nodes, routes and what is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/cost/cost.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/network/scaling.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network {
namespace {

class Servers : public testing::Test {
protected:
    Servers() { register_builtin_topologies(registry_); }

    std::shared_ptr<const Fabric> build(const std::string& yaml) {
        ReadContext context;
        const auto configured = registry_.read(*parse_config(yaml, "network.yaml"), context);
        EXPECT_TRUE(configured) << render(context.errors());
        return configured ? configured->make()(1) : nullptr;
    }
    std::string refusal(const std::string& yaml) {
        ReadContext context;
        EXPECT_FALSE(registry_.read(*parse_config(yaml, "network.yaml"), context)) << yaml;
        return context.errors().empty() ? "" : context.errors().front().message;
    }
    /// Names of the nodes that a message passes.
    static std::vector<std::string> path(const Fabric& fabric, int source, int destination) {
        std::vector<std::string> names;
        for (const RouteLeg& leg : fabric.routing().route(HostId(source), HostId(destination)).legs) {
            names.push_back(fabric.node(fabric.target(leg.link)).name);
        }
        return names;
    }

    Registry<FabricMaker> registry_{"network"};
};

using Names = std::vector<std::string>;

const std::string kTwoOfFour =
    "kind: servers\nservers: {count: 2, gpus: 4, nics: {rate: 400Gbps, latency: 500ns}}\n";

TEST_F(Servers, AGpuReachesOthersOfItsServerByTheScaleUpSwitchAndTheRestByItsNic) {
    const auto fabric = build(kTwoOfFour + "scale_out: {kind: flat}\n");
    // 8 GPUs, 2 NVSwitches, 8 NICs, 1 switch; a cable of each GPU to NVSwitch and NIC, of each NIC to the
    // switch.
    EXPECT_EQ(fabric->host_count(), 8U);
    EXPECT_EQ(fabric->node_count(), 19U);
    EXPECT_EQ(fabric->link_count(), 2U * 24U);
    EXPECT_EQ(path(*fabric, 0, 3), Names({"nvswitch 0", "gpu 3"}));
    EXPECT_EQ(path(*fabric, 1, 6), Names({"nic 1", "switch", "nic 6", "gpu 6"}));
    // 250 ns of PCIe and 500 ns of cable at either end.
    EXPECT_EQ(fabric->routing().route(HostId(1), HostId(6)).latency, 1500_ns);
    EXPECT_EQ(link_class_names(*fabric), Names({"gpu-nvswitch", "gpu-nic", "nic-switch"}));
}

TEST_F(Servers, ByRailAMessageTakesTheScaleUpNetworkToTheRailOfItsDestination) {
    const std::string leaves = "scale_out: {kind: leaf_spine, hosts_per_leaf: 2, spines: 1}\n";
    const auto rails = build(kTwoOfFour + "rails: aligned\n" + leaves);
    // NIC 2 of both servers is on leaf 2.
    EXPECT_EQ(path(*rails, 1, 6), Names({"nvswitch 0", "gpu 2", "nic 2", "leaf 2", "nic 6", "gpu 6"}));
    const auto spine = build(kTwoOfFour + "rails: aligned\nrail_policy: spine\n" + leaves);
    EXPECT_EQ(path(*spine, 1, 6), Names({"nic 1", "leaf 1", "spine 0", "leaf 2", "nic 6", "gpu 6"}));
    const auto separate = build(kTwoOfFour + "rails: separate\nscale_out: {kind: flat}\n");
    EXPECT_EQ(path(*separate, 1, 6), Names({"nvswitch 0", "gpu 2", "nic 2", "switch 2", "nic 6", "gpu 6"}));
}

/// Every link of every route is one of the next links where it begins, and the one that `select` takes.
void expect_agreement(const Fabric& fabric, bool selects) {
    const RoutingPolicy& routing = fabric.routing();
    for (std::size_t source = 0; source < fabric.host_count(); ++source) {
        for (std::size_t destination = 0; destination < fabric.host_count(); ++destination) {
            if (source == destination) {
                continue;
            }
            const HostId from(source);
            const HostId to(destination);
            const Route route = routing.route(from, to);
            ASSERT_FALSE(route.legs.empty()) << source << " to " << destination;
            EXPECT_EQ(fabric.target(route.legs.back().link), fabric.node_of(to));
            for (const RouteLeg& leg : route.legs) {
                const NodeId at = fabric.source(leg.link);
                const std::span<const LinkId> links = routing.next_links(at, to);
                EXPECT_NE(std::ranges::find(links, leg.link), links.end())
                    << source << " to " << destination << " at " << fabric.node(at).name;
                if (selects) {
                    EXPECT_EQ(routing.select(at, from, to), leg.link)
                        << source << " to " << destination << " at " << fabric.node(at).name;
                }
            }
        }
    }
}

TEST_F(Servers, EveryPairHasARouteThatNextLinksAndSelectAgreeOn) {
    for (const std::string rails : {"none", "aligned", "separate"}) {
        for (const std::string balancing : {"flow_hash", "spray"}) {
            SCOPED_TRACE(rails + ", " + balancing);
            // Leaves of one NIC: two spines are two paths.
            expect_agreement(
                *build("kind: servers\nservers: [{count: 2, gpus: 4, nics: {per: pair, attach: pcie}}, "
                       "{count: 1, gpus: 2}]\nrails: " +
                       rails +
                       "\nscale_out: {kind: leaf_spine, hosts_per_leaf: 1, spines: 2, load_balancing: " +
                       balancing + "}\n"),
                balancing == "flow_hash");
        }
    }
}

using Counts = std::vector<PartCount>;

TEST_F(Servers, PartsAreThoseOfTheScaleOutNetworkAndOfTheInside) {
    // 8 NICs on a switch: two ports, two transceivers and a fibre each. Inside, each GPU has a cable to the
    // NVSwitch, with a port there, and one to its NIC.
    EXPECT_EQ(count_parts(*build(kTwoOfFour + "scale_out: {kind: flat}\n"), {}),
              (Counts{{Part::kNicPort, 400_Gbps, 8},
                      {Part::kTransceiver, 400_Gbps, 16},
                      {Part::kFibre, 400_Gbps, 8},
                      {Part::kSwitchPort, 400_Gbps, 8},
                      {Part::kScaleUpLink, 3600_Gbps, 8},
                      {Part::kScaleUpPort, 3600_Gbps, 8},
                      {Part::kPcieLink, 504_Gbps, 8}}));
}

TEST_F(Servers, PciePortsAreThoseOfPcieSwitchesAlone) {
    // A server of four GPUs, two PCIe switches, a processor each, and two NICs: 4 + 2 + 2 cables at PCIe
    // switches, which have all 8 ends; the cable between processors comes with them.
    EXPECT_EQ(count_parts(*build("kind: servers\nservers: {count: 1, gpus: 4, scale_up: {kind: pcie}, nics: "
                                 "{per: pair, attach: pcie, rate: 100Gbps}}\nscale_out: {kind: flat}\n"),
                          {}),
              (Counts{{Part::kNicPort, 100_Gbps, 2},
                      {Part::kTransceiver, 100_Gbps, 4},
                      {Part::kFibre, 100_Gbps, 2},
                      {Part::kSwitchPort, 100_Gbps, 2},
                      {Part::kPcieLink, 504_Gbps, 8},
                      {Part::kPciePort, 504_Gbps, 8}}));
}

TEST_F(Servers, SeparateRailsAreCountedEach) {
    // Four rails of two NICs on a switch each: as many parts as of one switch for all.
    EXPECT_EQ(count_parts(*build(kTwoOfFour + "rails: separate\nscale_out: {kind: flat}\n"), {}),
              count_parts(*build(kTwoOfFour + "scale_out: {kind: flat}\n"), {}));
    // On leaves of two with a spine each rail has an uplink of its own, 1:1: 2 · 400 Gb/s.
    const Counts rails =
        count_parts(*build(kTwoOfFour + "rails: separate\nscale_out: {kind: leaf_spine, hosts_per_leaf: 2, "
                                        "spines: 1, oversubscription: 1}\n"),
                    {});
    EXPECT_NE(std::ranges::find(rails, PartCount{Part::kSwitchPort, 800_Gbps, 8}), rails.end());
}

TEST_F(Servers, PartsThatDoNotFitAreRefused) {
    EXPECT_NE(refusal(kTwoOfFour + "scale_out: {kind: flat, hosts: 9}\n").find("9 hosts"), std::string::npos);
    EXPECT_NE(refusal(kTwoOfFour + "scale_out: {kind: opera, racks: 8, radix: 8}\n").find("NICs"),
              std::string::npos);
    EXPECT_NE(refusal(kTwoOfFour + "rail_policy: spine\nscale_out: {kind: flat}\n").find("no rails"),
              std::string::npos);
    EXPECT_NE(refusal(kTwoOfFour + "scale_out: {kind: flat, link: {rate: 100Gbps}}\n").find("400Gbps"),
              std::string::npos);
}

TEST_F(Servers, WhatAllHaveInCommonIsRefusedOnce) {
    const auto refusals = [this](const std::string& servers) {
        ReadContext context;
        EXPECT_FALSE(registry_.read(*parse_config("kind: servers\nservers: " + servers +
                                                      "\nrails: separate\nscale_out: {kind: flat}\n",
                                                  "network.yaml"),
                                    context))
            << servers;
        return context.errors();
    };
    const std::string apart = "{count: 2, gpus: 4, scale_up: {kind: none}}";
    const Diagnostics split = refusals("[" + apart + ", " + apart + ", " + apart + "]");
    ASSERT_EQ(split.size(), 1U) << render(split);
    EXPECT_EQ(split.front().message, "'servers': GPUs of a server do not reach every rail inside it");

    // 2^20 servers of four GPUs are more than 2^20 hosts: whether GPUs are joined is not asked any more.
    const Diagnostics large = refusals("{count: 1048576, gpus: 4, scale_up: {kind: none}}");
    ASSERT_EQ(large.size(), 1U) << render(large);
    EXPECT_NE(large.front().message.find("have 4194304 GPUs"), std::string::npos) << large.front().message;
}

}  // namespace
}  // namespace astrolabe::network
