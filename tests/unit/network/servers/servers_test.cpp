/// Servers over scale-out networks: nodes, routes and what is refused.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/components.hpp>
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

TEST_F(Servers, EveryPairHasARouteThatNextLinksAndSelectAgreeOn) {
    for (const std::string rails : {"none", "aligned", "separate"}) {
        for (const std::string balancing : {"flow_hash", "spray"}) {
            const auto fabric = build(
                "kind: servers\nservers: [{count: 2, gpus: 4, nics: {per: pair, attach: pcie}}, "
                "{count: 1, gpus: 2}]\nrails: " +
                rails + "\nscale_out: {kind: flat, load_balancing: " + balancing + "}\n");
            for (int source = 0; source < 10; ++source) {
                for (int destination = 0; destination < 10; ++destination) {
                    if (source == destination) {
                        continue;
                    }
                    const Names names = path(*fabric, source, destination);
                    ASSERT_FALSE(names.empty()) << rails << " " << source << " to " << destination;
                    EXPECT_EQ(names.back(), "gpu " + std::to_string(destination));
                }
            }
        }
    }
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

}  // namespace
}  // namespace astrolabe::network
