// SPDX-License-Identifier: GPL-2.0-only
/// The keys of the packet backend's transport: presets, ranges, and what does not go together.
#include "network/src/topologies/fat_tree.hpp"
#include "packet/packet_backend.hpp"

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

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

// Each key has its place in the message, and the hint says what it is for.
TEST(PacketKeys, KeysWithoutEffectAreRefused) {
    const auto refused = [](const std::string& lines, const std::string& key, const std::string& expected) {
        const Read found = read("kind: packet\n" + lines);
        EXPECT_TRUE(found.resolved.empty()) << lines;
        EXPECT_TRUE(has(found.errors, "'" + key + "': has no effect; " + expected))
            << lines << ": " << found.errors;
    };
    refused("congestion_control: ndp\ndcqcn: {min_rate: 1Gbps}\n", "dcqcn.min_rate",
            "it is for congestion_control: dcqcn, and ndp is chosen");
    refused("congestion_control: hpcc\ngain: 0.5\n", "gain",
            "it is for congestion_control: dctcp, and hpcc is chosen");
    refused("initial_window: 10\n", "initial_window",
            "it is for congestion_control: dctcp, and none is chosen");
    for (const std::string key :
         {"ecn_threshold: 50KB", "ecn_max_threshold: 200KB", "ecn_probability: 0.01"}) {
        for (const std::string control : {"none", "hpcc", "ndp"}) {
            refused("congestion_control: " + control + "\n" + key + "\n", key.substr(0, key.find(':')),
                    "it is for congestion_control: dctcp or dcqcn, and " + control + " is chosen");
        }
    }
    refused("congestion_control: dcqcn\necn_probability: 0.01\n", "ecn_probability",
            "it is for an ecn_max_threshold above ecn_threshold");
    refused("min_timeout: 1ms\n", "min_timeout", "it is for rtt_estimation: true");
    refused("reorder_tolerance: 3\n", "reorder_tolerance", "it is for recovery: selective");
    refused("congestion_control: ndp\nack_every: 1\n", "ack_every",
            "receivers under ndp answer every packet");
    refused("dynamic_share: 2\n", "dynamic_share", "it is for buffer_sharing: dynamic");
    refused("flow_control: credit\npause_threshold: 100KB\n", "pause_threshold",
            "it is for flow_control: pfc");
    refused("flow_control: pfc\ncredit_room: 100KB\n", "credit_room", "it is for flow_control: credit");
    refused("weights: [1]\n", "weights", "it is for service: weighted");
}

// The same keys where they do something, and those of a preset under which another control is chosen.
TEST(PacketKeys, KeysWithAnEffectAreNotRefused) {
    const auto taken = [](const std::string& lines) {
        const Read found = read("kind: packet\n" + lines);
        EXPECT_TRUE(found.errors.empty()) << lines << ": " << found.errors;
        EXPECT_EQ(read(found.resolved).resolved, found.resolved);
    };
    taken("congestion_control: dctcp\ninitial_window: 10\ngain: 0.5\necn_threshold: 50KB\n");
    taken("congestion_control: dcqcn\necn_threshold: 5KB\necn_max_threshold: 200KB\necn_probability: 0.01\n");
    taken("recovery: selective\nreorder_tolerance: 3\n");
    taken("congestion_control: ndp\nreorder_tolerance: 3\n");
    taken("flow_control: pfc\npause_threshold: 100KB\n");
    taken("flow_control: credit\ncredit_room: 100KB\n");
    taken("preset: legacy_dctcp\ncongestion_control: none\n");
    for (const std::string control : {"none", "dctcp", "dcqcn", "hpcc", "ndp"}) {
        taken("congestion_control: " + control + "\n");
    }
}

Read read_preset(const std::string& name) {
    std::ifstream file(ASTROLABE_SOURCE_DIR "/inputs/backends/" + name + ".yaml");
    std::ostringstream text;
    std::string line;
    while (std::getline(file, line)) {
        text << (line.starts_with("schema:") ? "" : line) << '\n';  // of files, not of sections
    }
    return read(text.str());
}

// The values that comments of the presets derive.
TEST(Presets, HaveTheValuesOfTheirSources) {
    const auto expect = [](const std::string& name, const std::vector<std::string>& lines) {
        const Read preset = read_preset(name);
        EXPECT_EQ(preset.errors, "") << name;
        for (const std::string& line : lines) {
            EXPECT_TRUE(has("\n" + preset.resolved, "\n" + line + "\n")) << name << ": " << line << "\n"
                                                                         << preset.resolved;
        }
    };
    // 12 MB over 32 ports of 8 priorities are 46 875 B, and 22 400 B of them headroom.
    static_assert(12'000'000 / (32 * 8) - 22'400 == 24'475);
    expect("roce-dcqcn-pfc",
           {"congestion_control: dcqcn", "flow_control: pfc", "pause_threshold: 24475B", "ecn_threshold: 5KB",
            "ecn_max_threshold: 200KB", "ecn_probability: 0.01", "dcqcn:\n  gain: 0.00390625",
            "  increase_interval: 55us", "  additive_increase: 40Mbps"});
    // t = 0.11·(32 MB − 32 t): 3.52 MB / 4.52.
    static_assert(3'520'000 * 100LL / 452 == 778'761);
    expect("hpcc", {"congestion_control: hpcc", "flow_control: pfc", "pause_threshold: 778800B",
                    "ack_every: 1", "  base_rtt: 0ps", "  additive_increase: 80B"});
    expect("dctcp", {"congestion_control: dctcp", "flow_control: none", "ecn_threshold: 97500B",
                     "gain: 0.0625", "recovery: selective", "timeout: 10ms"});
    static_assert(65 * 1500 == 97'500);
    // Eight packets of 8960 B and 78 B of headers.
    static_assert(8 * (8960 + 78) == 72'304);
    expect("ndp", {"congestion_control: ndp", "trim_threshold: 72304B", "  initial_window: 30"});
    expect("credit", {"congestion_control: none", "flow_control: credit", "credit_room: 64KiB"});
    expect("tcp-cubic", {"kind: tcp", "variant: cubic", "min_rto: 200ms", "delayed_ack: 2"});
    expect("tcp-dctcp", {"kind: tcp", "variant: dctcp", "min_rto: 10ms", "ecn_threshold: 97500B"});
}

TEST(TcpKeys, KeysWithoutEffectAreRefused) {
    const auto errors = [](const std::string& lines) { return read("kind: tcp\n" + lines).errors; };
    EXPECT_TRUE(has(errors("delayed_ack_timeout: 40ms\n"),
                    "'delayed_ack_timeout': has no effect; it is for delayed_ack of 2 or more"));
    EXPECT_EQ(errors("delayed_ack: 2\ndelayed_ack_timeout: 40ms\n"), "");
    EXPECT_EQ(errors("delayed_ack_timeout: 40ms\nns3: {attributes: {'ns3::TcpSocket::DelAckCount': 2}}\n"),
              "");
    EXPECT_TRUE(has(errors("variant: cubic\necn_threshold: 50KB\n"),
                    "'ecn_threshold': has no effect; it is for variant: dctcp"));
    EXPECT_EQ(errors("variant: dctcp\necn_threshold: 50KB\n"), "");
    EXPECT_EQ(errors("ecn_threshold: 50KB\nns3: {attributes: {'ns3::TcpSocketBase::UseEcn': 'On'}}\n"), "");
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
    refused("congestion_control: hpcc\nhpcc: {base_rtt: 2s}", "0ps to 1s");
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
