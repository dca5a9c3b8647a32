// SPDX-License-Identifier: GPL-2.0-only
/// The keys of the packet backend's transport: presets, ranges, and what does not go together.
#include "network/src/topologies/fat_tree.hpp"
#include "packet/packet_backend.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/ns3/components.hpp>

namespace astrolabe::ns3 {
namespace {

struct Read {
    std::string resolved;  ///< empty if there were errors
    std::string errors;
};

Read read(const std::string& text) {
    const Result<ConfigNode> node = parse_config(text, "packet.yaml");
    EXPECT_TRUE(node.has_value());
    Registry<network::BackendMaker> registry("backend");
    register_backends(registry);
    ReadContext context;
    const auto configured = registry.read(*node, context);
    Read result;
    for (const Diagnostic& error : context.errors()) {
        result.errors += error.message + "; " + error.hint + "\n";
    }
    if (configured) {
        result.resolved = to_yaml(configured->resolved);
    }
    return result;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The preset sets the defaults, keys after it their own values, and what is written reads back to itself.
TEST(PacketKeys, APresetSetsTheDefaults) {
    const Read legacy = read("kind: packet\npreset: legacy_dctcp\ninitial_window: 10\ntimeout: 1ms\n");
    EXPECT_TRUE(has(legacy.resolved, "mtu: 8936B")) << legacy.resolved << legacy.errors;
    EXPECT_TRUE(has(legacy.resolved, "host_queue: fifo"));
    EXPECT_TRUE(has(legacy.resolved, "connections: per_message"));
    EXPECT_TRUE(has(legacy.resolved, "initial_window: 10"));
    EXPECT_TRUE(has(legacy.resolved, "slow_start_threshold: 10000"));
    EXPECT_TRUE(has(legacy.resolved, "\ntimeout: 1ms"));
    EXPECT_TRUE(has(legacy.resolved, "min_timeout: 10ms"));
    EXPECT_EQ(read(legacy.resolved).resolved, legacy.resolved);
    const Read plain = read("kind: packet\n");
    EXPECT_TRUE(has(plain.resolved, "preset: none"));
    EXPECT_EQ(read(plain.resolved).resolved, plain.resolved);
}

TEST(PacketKeys, EachCongestionControlHasItsOwn) {
    const Read dcqcn =
        read("kind: packet\ncongestion_control: dcqcn\ndcqcn: {min_rate: 1Gbps, gain: 0.01}\n");
    EXPECT_TRUE(has(dcqcn.resolved, "min_rate: 1Gbps")) << dcqcn.errors;
    EXPECT_EQ(read(dcqcn.resolved).resolved, dcqcn.resolved);
    EXPECT_TRUE(has(read("kind: packet\ndcqcn: {min_rate: 1Gbps}\n").errors,
                    "has no effect; it is for congestion_control: dcqcn"));
    EXPECT_TRUE(has(read("kind: packet\ncongestion_control: ndp\nhpcc: {max_stage: 2}\n").errors,
                    "it is for congestion_control: hpcc"));
}

TEST(PacketKeys, ValuesHaveRanges) {
    const auto refused = [](const std::string& line, const std::string& expected) {
        const Read found = read("kind: packet\n" + line + "\n");
        EXPECT_TRUE(found.resolved.empty()) << line;
        EXPECT_TRUE(has(found.errors, expected)) << line << ": " << found.errors;
    };
    refused("retry_limit: 0", "1 to 1000");
    refused("max_backoff: 0", "1 to 1073741824");
    refused("timeout: 10ns", "1us to 1000s");
    refused("gain: 0", "choose more than 0 and at most 1");
    refused("reorder_tolerance: 0", "1 to 1000000");
    refused("congestion_control: dcqcn\ndcqcn: {gain: 2}", "choose more than 0 and at most 1");
    refused("congestion_control: dcqnc", "dcqcn");
    refused("congestion_control: dcqcn\ndcqcn: {additive_increase: 1bps}", "1Mbps to");
    refused("congestion_control: hpcc\nhpcc: {base_rtt: 2s}", "1ns to 1s");
    refused("congestion_control: ndp\nndp: {pull_rate: 0.0001}", "0.001 to 1");
    refused("window: 10TB\nmtu: 64B", "choose 1B to");
}

TEST(PacketKeys, WhatDoesNotGoTogetherIsRefused) {
    const auto refused = [](const std::string& lines, const std::string& expected) {
        const Read found = read("kind: packet\n" + lines);
        EXPECT_TRUE(found.resolved.empty()) << lines;
        EXPECT_TRUE(has(found.errors, expected)) << lines << ": " << found.errors;
    };
    refused("host_queue: fifo\ncongestion_control: dcqcn\n", "choose on_demand");
    refused("handshake: true\ncongestion_control: ndp\n", "goes with windows only");
    refused("rtt_estimation: true\nrecovery: selective\n", "choose recovery: go_back_n");
    refused("recovery: selective\ncongestion_control: ndp\n", "is part of ndp");
}

// HPCC compares what the same links noted on two packets, which reordering routes do not provide.
TEST(PacketKeys, TelemetryNeedsOneWay) {
    network::FatTreeParameters tree;
    tree.k = 4;
    PacketOptions options;
    options.transport.congestionControl = &::ns3::PacketHpcc::KIND;
    EXPECT_FALSE(unsupported(*build_fat_tree(tree), options).has_value());
    tree.load_balancing = network::LoadBalancing::kSpray;
    EXPECT_TRUE(unsupported(*build_fat_tree(tree), options).has_value());
    options.transport.congestionControl = &::ns3::PacketNdp::KIND;
    EXPECT_FALSE(unsupported(*build_fat_tree(tree), options).has_value());
}

}  // namespace
}  // namespace astrolabe::ns3
