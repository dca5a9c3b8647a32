/// Topologies as experiment files name them.
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

class TopologyRegistry : public testing::Test {
protected:
    TopologyRegistry() { register_builtin_topologies(registry_); }

    /// Reads a network; on failure returns nothing and keeps the diagnostics.
    std::optional<Registry<FabricMaker>::Configured> read(const std::string& yaml) {
        const Result<ConfigNode> node = parse_config(yaml, "network.yaml");
        EXPECT_TRUE(node) << yaml;
        ReadContext context;
        std::optional<Registry<FabricMaker>::Configured> configured = registry_.read(node.value(), context);
        errors_ = context.errors();
        return configured;
    }

    std::shared_ptr<const Fabric> build(const std::string& yaml) {
        const std::optional<Registry<FabricMaker>::Configured> configured = read(yaml);
        EXPECT_TRUE(configured) << (errors_.empty() ? "" : errors_.front().message);
        return configured ? configured->make()(1) : nullptr;
    }

    Registry<FabricMaker> registry_{"network"};
    Diagnostics errors_;
};

TEST_F(TopologyRegistry, ReadsARing) {
    const std::shared_ptr<const Fabric> fabric =
        build("{kind: ring, hosts: 6, link: {rate: 50Gbps, latency: 1us}, load_balancing: spray}");
    ASSERT_TRUE(fabric);
    EXPECT_EQ(fabric->host_count(), 6U);
    EXPECT_EQ(fabric->link(LinkId(0)).rate, 50_Gbps);
    EXPECT_EQ(fabric->routing().load_balancing(), LoadBalancing::kSpray);
}

TEST_F(TopologyRegistry, ReadsATorusWithOneLinkForAllDimensions) {
    const std::shared_ptr<const Fabric> fabric =
        build("{kind: torus, sizes: [3, 4], link: {rate: 50GB/s, latency: 1us}}");
    ASSERT_TRUE(fabric);
    EXPECT_EQ(fabric->host_count(), 12U);
    EXPECT_EQ(fabric->egress_rate(HostId(0)), 4 * 400_Gbps);
}

TEST_F(TopologyRegistry, ReadsATorusWithALinkForEachDimension) {
    const std::shared_ptr<const Fabric> fabric =
        build("{kind: torus, sizes: [3, 4], link: {rate: [50GB/s, 25GB/s], latency: [1us, 2us]}}");
    ASSERT_TRUE(fabric);
    EXPECT_EQ(fabric->egress_rate(HostId(0)), 2 * 400_Gbps + 2 * 200_Gbps);
}

TEST_F(TopologyRegistry, WritesATorusSoThatItReadsBack) {
    for (const std::string rate : {"50GB/s", "[50GB/s, 25GB/s]"}) {
        const auto configured =
            read("{kind: torus, sizes: [2, 4], double_links: true, link: {rate: " + rate + "}}");
        ASSERT_TRUE(configured);
        const std::string written = to_yaml(configured->resolved);
        const auto again = read(written);
        ASSERT_TRUE(again) << written;
        EXPECT_EQ(to_yaml(again->resolved), written);
        EXPECT_EQ(again->make()(1)->egress_rate(HostId(0)), configured->make()(1)->egress_rate(HostId(0)));
    }
}

TEST_F(TopologyRegistry, ReadsRotorNetworks) {
    const std::shared_ptr<const Fabric> opera = build(
        "{kind: opera, racks: 8, radix: 8, hosts_per_rack: 2, link: {rate: 10Gbps, latency: 0}, queue: 4, "
        "propagation: 1us, reconfiguration_delay: 20us, groups: 1, draws: 3, seed: 7, "
        "bulk: {routing: direct}, low_latency: {cutoff: 1MB, window: 10}}");
    ASSERT_TRUE(opera);
    EXPECT_EQ(opera->host_count(), 16U);
    ASSERT_TRUE(rotor::rotors_of(*opera));
    EXPECT_EQ(rotor::rotors_of(*opera)->rate, 10_Gbps);
    EXPECT_EQ(rotor::rotors_of(*opera)->schedule.timing().reconfiguration, 20_us);
    EXPECT_EQ(rotor::rotors_of(*opera)->low_latency.queue, 4);
    EXPECT_EQ(rotor::rotors_of(*opera)->low_latency.cutoff, 1_MB);
    EXPECT_TRUE(rotor::rotors_of(*opera)->paths);
    const std::shared_ptr<const Fabric> rotornet =
        build("{kind: rotornet, racks: 8, uplinks: 4, eps: 50us, del: 1us}");
    ASSERT_TRUE(rotornet);
    EXPECT_EQ(rotor::rotors_of(*rotornet)->schedule.groups(), 4U);
    EXPECT_EQ(rotor::rotors_of(*rotornet)->schedule.timing().superslice(), 61_us);
    EXPECT_TRUE(build("{kind: expander, racks: 10, uplinks: 3, hosts_per_rack: 2, load_balancing: spray}"));
}

TEST_F(TopologyRegistry, WritesRotorNetworksSoThatTheyReadBack) {
    const auto configured = read("{kind: opera, racks: 8, radix: 8, eps: 5us, bulk: {intra_rack: direct}}");
    ASSERT_TRUE(configured);
    const std::string written = to_yaml(configured->resolved);
    const auto again = read(written);
    ASSERT_TRUE(again) << written;
    EXPECT_EQ(to_yaml(again->resolved), written);
}

TEST_F(TopologyRegistry, SaysWhichFileOfWhichNetworkIsDamaged) {
    const std::string path = testing::TempDir() + "damaged_topology.txt";
    std::ofstream(path) << "8 2 2 4\n12 1 1 x\n";
    EXPECT_FALSE(read("{kind: opera, file: " + path + "}"));
    ASSERT_EQ(errors_.size(), 1U);
    EXPECT_EQ(errors_[0].where.to_string(), path + ":2:8");
    ASSERT_EQ(errors_[0].notes.size(), 1U);
    EXPECT_EQ(errors_[0].notes[0].first.to_string(), "network.yaml:1:21");
}

TEST_F(TopologyRegistry, ARotorNetWithoutLowLatencyService) {
    EXPECT_FALSE(read("{kind: rotornet, racks: 8, uplinks: 4, low_latency: {cutoff: 1MB}}"));
    ASSERT_EQ(errors_.size(), 1U);
    EXPECT_EQ(errors_[0].code, "config.unknown-key");
}

TEST_F(TopologyRegistry, NamesTheDimensionWhoseLinkIsWrong) {
    EXPECT_FALSE(read("{kind: torus, sizes: [3, 4], link: {rate: [50GB/s, 0]}}"));
    ASSERT_EQ(errors_.size(), 1U);
    EXPECT_EQ(errors_[0].code, "config.range");
    EXPECT_NE(errors_[0].message.find("an item of 'rate'"), std::string::npos) << errors_[0].message;
    EXPECT_FALSE(read("{kind: torus, sizes: [3, 4], link: {rate: [1Gbps, 1Gbps, 1Gbps], latency: fast}}"));
    ASSERT_EQ(errors_.size(), 1U);
    EXPECT_EQ(errors_[0].code, "config.value");
    EXPECT_FALSE(read("{kind: torus, sizes: [3, 4], link: {rate: [1Gbps, 1Gbps, 1Gbps]}}"));
    ASSERT_EQ(errors_.size(), 1U);
    EXPECT_EQ(errors_[0].code, "config.inconsistent");
    EXPECT_NE(errors_[0].message.find("3 values for 2 dimensions"), std::string::npos) << errors_[0].message;
}

TEST_F(TopologyRegistry, ReadsAFullyConnectedNetwork) {
    const std::shared_ptr<const Fabric> fabric = build("{kind: fully_connected, hosts: 5}");
    ASSERT_TRUE(fabric);
    EXPECT_EQ(fabric->link_count(), 20U);
    // One path for every pair, so there is nothing to balance.
    EXPECT_FALSE(read("{kind: fully_connected, hosts: 5, load_balancing: spray}"));
}

TEST_F(TopologyRegistry, ReadsAHierarchicalNetwork) {
    const std::shared_ptr<const Fabric> fabric = build(
        "{kind: hierarchical, hosts: 8, hosts_per_package: 4, scale_up: {kind: fully_connected, rate: "
        "25GB/s}, scale_out: {rate: 400Gbps, latency: 2us}, switch_buffer: 64MB}");
    ASSERT_TRUE(fabric);
    EXPECT_EQ(fabric->egress_rate(HostId(0)), 3 * 200_Gbps + 400_Gbps);
    EXPECT_EQ(fabric->node(NodeId(8)).buffer, 64_MB);
    EXPECT_FALSE(read("{kind: hierarchical, hosts: 9, hosts_per_package: 4, scale_up: {kind: mesh}}"));
    EXPECT_EQ(errors_.size(), 1U);
    EXPECT_FALSE(read("{kind: hierarchical, hosts: 9, hosts_per_package: 4}"));
    ASSERT_EQ(errors_.size(), 1U);
    EXPECT_NE(errors_[0].hint.find("12"), std::string::npos) << errors_[0].hint;
}

}  // namespace
}  // namespace astrolabe::network
