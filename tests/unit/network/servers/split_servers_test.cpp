/// Servers over networks whose links come and go: two networks at once that do not disturb each other, and
/// networks that are built for what the NICs of servers send.
///
/// Unless a test says otherwise, servers have 4 GPUs on NVSwitch at 450 GB/s with 250 ns a cable, and a NIC
/// of 100 Gb/s for each; 8 racks of an Opera network with 4 uplinks have 4 NICs each.
#include "../../../../network/src/topologies/servers/job_servers.hpp"
#include "../recorder.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::network {
namespace {

const std::string kOpera = "{kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 4, link: {latency: 500ns}}";

class SplitServers : public testing::Test {
protected:
    SplitServers() {
        register_builtin_topologies(networks_);
        register_fluid_backend(backends_);
        register_congestion_free_backend(backends_);
    }

    static std::string servers(const std::string& nics, const std::string& more = "",
                               const std::string& scale_out = kOpera) {
        return "kind: servers\nservers: {count: 8, gpus: 4, nics: {" + nics + "}" + more +
               "}\nscale_out: " + scale_out + "\n";
    }
    FabricMaker maker(const std::string& yaml) {
        ReadContext context;
        const auto configured = networks_.read(*parse_config(yaml, "network.yaml"), context);
        EXPECT_TRUE(configured) << render(context.errors());
        return configured->make();
    }
    std::shared_ptr<const Fabric> build(const std::string& yaml) { return maker(yaml)(1); }
    std::string refusal(const std::string& yaml) {
        ReadContext context;
        EXPECT_FALSE(networks_.read(*parse_config(yaml, "network.yaml"), context)) << yaml;
        return context.errors().empty() ? "" : context.errors().front().message;
    }
    BackendMaker backend(const std::string& kind) {
        ReadContext context;
        return backends_.read(*parse_config("kind: " + kind, "backend.yaml"), context)->make();
    }
    /// When each message is delivered, by number.
    struct Sent {
        Time at;
        int source;
        int destination;
        Bytes size;
    };
    std::map<std::uint64_t, Time> deliver(const std::shared_ptr<const Fabric>& fabric,
                                          const std::map<std::uint64_t, Sent>& messages) {
        const auto engine = backend("fluid").make(fabric, 1);
        Recorder recorder(*engine);
        constexpr std::uint64_t kTimer = 1'000'000;
        recorder.react = [&](std::uint64_t token) {
            if (token >= kTimer) {
                const Sent& sent = messages.at(token - kTimer);
                recorder.send(token - kTimer, sent.source, sent.destination, sent.size);
            }
        };
        for (const auto& [number, sent] : messages) {
            engine->schedule(sent.at, recorder, kTimer + number);
        }
        engine->run();
        EXPECT_EQ(engine->outstanding_messages(), 0U);
        EXPECT_EQ(recorder.order.size(), 2 * messages.size()) << "every message arrives once";
        std::erase_if(recorder.times, [](const auto& one) { return one.first >= kTimer; });
        return recorder.times;
    }

    Registry<FabricMaker> networks_{"network"};
    Registry<BackendMaker> backends_{"backend"};
};

TEST_F(SplitServers, GpusOfAServerDoNotWaitForCircuits) {
    const auto fabric = build(servers("attach: integrated"));
    EXPECT_EQ(fabric->host_count(), 32U);
    // 4.5 MB at 450 GB/s take 10 us, and two cables 500 ns.
    EXPECT_EQ(deliver(fabric, {{0, {Time(0), 1, 2, 4'500'000_B}}}).at(0), 10'500_ns);
}

TEST_F(SplitServers, BetweenServersTheNetworkOfNicsDecidesAndLegsAddTheirLatency) {
    const auto alone =
        build("kind: opera\nracks: 8\nuplinks: 4\nhosts_per_rack: 4\nlink: {latency: 500ns}\n");
    // GPU 5 has NIC 5, GPU 30 NIC 30; sent 250 ns later, which no slot starts in between, at the latest.
    const Time there = deliver(alone, {{0, {250_ns, 5, 30, 300'000_B}}}).at(0);
    EXPECT_EQ(deliver(build(servers("attach: integrated")), {{0, {250_ns, 5, 30, 300'000_B}}}).at(0), there);
    EXPECT_EQ(deliver(build(servers("attach: gpu")), {{0, {Time(0), 5, 30, 300'000_B}}}).at(0),
              there + 250_ns);
}

TEST_F(SplitServers, NeitherNetworkDisturbsTheOther) {
    const auto alone =
        build("kind: opera\nracks: 8\nuplinks: 4\nhosts_per_rack: 4\nlink: {latency: 500ns}\n");
    const auto whole = build(servers("attach: integrated"));
    const auto inside = build(servers("attach: integrated", "", "{kind: flat}"));
    RandomStream random(7, "messages");
    std::map<std::uint64_t, Sent> all;
    std::map<std::uint64_t, Sent> in_servers;
    std::map<std::uint64_t, Sent> between;
    for (std::uint64_t number = 0; number < 400; ++number) {
        const auto source = static_cast<int>(random.below(32));
        const bool stays = random.below(2) == 0;
        const auto other = static_cast<int>(stays ? source / 4 * 4 + random.below(4) : random.below(32));
        if (other == source) {
            continue;
        }
        const Sent sent{Time(random.below(2'000) * 1'000'000), source, other,
                        Bytes(1 + random.below(2'000'000))};
        all[number] = sent;
        (source / 4 == other / 4 ? in_servers : between)[number] = sent;
    }
    const auto times = deliver(whole, all);
    for (const auto& [number, time] : deliver(inside, in_servers)) {
        EXPECT_EQ(times.at(number), time) << number;
    }
    for (const auto& [number, time] : deliver(alone, between)) {
        EXPECT_EQ(times.at(number), time) << number;
    }
}

TEST_F(SplitServers, WhatArrivesMaySetOffMessagesOfTheOtherNetworkInTheSameInstant) {
    const auto fabric = build(servers("attach: integrated"));
    const auto engine = backend("fluid").make(fabric, 1);
    Recorder recorder(*engine);
    recorder.react = [&](std::uint64_t token) {
        if (token == 0) {
            recorder.send(1, 2, 9, 1_B);  // a circuit away
        } else if (token == 1) {
            recorder.send(2, 9, 8, 4'500'000_B);
            recorder.send(3, 9, 8, 0_B);
        }
    };
    recorder.send(0, 1, 2, 4'500'000_B);
    engine->run();
    const Time between = deliver(fabric, {{0, {10'500_ns, 2, 9, 1_B}}}).at(0);
    EXPECT_EQ(recorder.times.at(1), between);
    EXPECT_EQ(recorder.times.at(2), between + 10'500_ns);
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{0, 1, 2, 3})) << "a pair keeps its order";
    EXPECT_EQ(engine->now(), recorder.times.at(3)) << "nothing is waited for at the end";
}

TEST_F(SplitServers, LinksOfTheWholeCarryWhatBothNetworksDo) {
    const auto fabric = build(servers("attach: gpu"));
    const auto engine = backend("fluid").make(fabric, 1);
    Recorder recorder(*engine);
    recorder.send(0, 1, 2, 1'000'000_B);
    recorder.send(1, 1, 30, 14'360_B);
    engine->run();
    const NetworkStatistics statistics = engine->statistics();
    EXPECT_EQ(statistics.messages, 2U);
    EXPECT_EQ(statistics.bytes_delivered, 1'014'360_B);
    std::map<std::string, Bytes> carried;
    for (LinkId link; link.index() < fabric->link_count(); ++link) {
        carried[link_class_name(*fabric, link)] += statistics.links[link].carried;
    }
    // Two cables inside; a cable at either end of a circuit, or of two of them with a rack between.
    EXPECT_EQ(carried.at("gpu-nvswitch"), 2'000'000_B);
    EXPECT_EQ(carried.at("gpu-nic"), 0_B) << "legs are in no statistics";
    EXPECT_GE(carried.at("nic-rack"), 2 * 14'360_B);
    EXPECT_GE(carried.at("rack-rack"), 14'360_B);
}

TEST_F(SplitServers, HostsAreWhereTheirNicsAre) {
    const auto by_server = build(servers("attach: integrated"))->family().circuit_windows();
    const auto by_rail =
        build(servers("attach: integrated") + "rails: aligned\n")->family().circuit_windows();
    ASSERT_NE(by_server, nullptr);
    ASSERT_NE(by_rail, nullptr);
    // NIC 13 is number 1 of server 3: 13 by server, and by rail 1 · 8 + 3 = 11.
    EXPECT_EQ(by_server->place_of(HostId(13)), PlaceId(3));
    EXPECT_EQ(by_rail->place_of(HostId(13)), PlaceId(2));
    const auto shared = build(servers("per: pair", ", pcie: {rate: 400Gbps}",
                                      "{kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 2}"));
    EXPECT_EQ(shared->family().circuit_windows(), nullptr) << "two hosts share what a window lets a NIC send";
}

TEST_F(SplitServers, SpeedsOfBothPartsAreScaled) {
    const auto fabric = build(servers("attach: integrated"));
    Scaling scaling;
    scaling.links["gpu-nvswitch"] = 2;
    const auto faster = std::get<std::shared_ptr<const Fabric>>(scale(fabric, scaling));
    EXPECT_EQ(deliver(faster, {{0, {Time(0), 1, 2, 4'500'000_B}}}).at(0), 5'500_ns);
    EXPECT_EQ(deliver(faster, {{0, {Time(0), 1, 30, 4'500'000_B}}}),
              deliver(fabric, {{0, {Time(0), 1, 30, 4'500'000_B}}}));
}

TEST_F(SplitServers, WhatCannotBeApartIsRefused) {
    const auto contains = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    EXPECT_TRUE(contains(refusal(servers("") + "rails: aligned\nrail_policy: nvlink_first\n"),
                         "rail_policy is nvlink_first"));
    EXPECT_TRUE(contains(refusal(servers("attach: scale_up")), "cross the cable"));
    EXPECT_TRUE(contains(refusal(servers("attach: pcie", ", scale_up: {kind: pcie}")), "cross the cable"));
    EXPECT_TRUE(contains(refusal(servers("", ", pcie: {rate: 50Gbps}")), "less than the 100Gbps of 1 NICs"));
    EXPECT_TRUE(contains(refusal(servers("", "", "{kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 3}")),
                         "has 24 hosts, and the servers have 32 NICs"));
    EXPECT_TRUE(contains(refusal(servers("", "",
                                         "{kind: direct_connect, hosts: 32, rings: [1], medium: "
                                         "circuit_switch, reconfiguration: {every: 1ms, delay: 10us, "
                                         "forwarding: false}}")),
                         "a controller moves"));
    const auto fabric = build(servers(""));
    EXPECT_TRUE(contains(backend("congestion_free").unsupported(*fabric).value_or(""), "shares links"));
    EXPECT_FALSE(backend("fluid").unsupported(*fabric));
}

/// 2 servers of 4 GPUs.
std::shared_ptr<const Fabric> two_servers(Registry<FabricMaker>& networks, const std::string& nics) {
    ReadContext context;
    return networks
        .read(*parse_config("kind: servers\nservers: {count: 2, gpus: 4, nics: {" + nics +
                                "}}\nscale_out: {kind: flat}\n",
                            "network.yaml"),
              context)
        ->make()(1);
}

TEST_F(SplitServers, ADemandOfRanksIsOneOfTheirNics) {
    const auto of_server = two_servers(networks_, "per: server");
    Demand ranks{.servers = 8, .groups = {}, .point_to_point = PairDemand(8), .exchanges = 1};
    ranks.point_to_point.add(0, 1, 500);
    ranks.point_to_point.add(0, 4, 7);
    ranks.point_to_point.add(3, 6, 5);
    ranks.groups.push_back({{0, 1, 2, 3, 4, 5, 6, 7}, 8'000, 2});
    for (Server first = 0; first < 4; ++first) {
        ranks.groups.push_back({{first, first + 4}, 100, 1});
    }
    const auto nics = std::get<Demand>(servers::demand_of_nics(*of_server->family().servers(), ranks));
    EXPECT_EQ(nics.servers, 2U);
    // 7 + 5 B, and of the ring of all ranks 2 · 7/8 · 8,000 B = 14,000 B.
    EXPECT_EQ(nics.point_to_point.at(0, 1), 14'012U);
    EXPECT_EQ(nics.point_to_point.at(1, 0), 14'000U);
    ASSERT_EQ(nics.groups.size(), 4U);
    EXPECT_EQ(nics.groups[3].members, (std::vector<Server>{0, 1}));
    EXPECT_EQ(nics.groups[3].bytes, 100U);
    EXPECT_EQ(nics.exchanges, 3U);

    const auto of_gpu = two_servers(networks_, "per: gpu");
    const auto eight = std::get<Demand>(servers::demand_of_nics(*of_gpu->family().servers(), ranks));
    EXPECT_EQ(eight.servers, 8U);
    EXPECT_EQ(eight.point_to_point.total(), 12U) << "what stays inside needs no NIC";
    ASSERT_EQ(eight.groups.size(), 5U);
    EXPECT_EQ(eight.groups[1].members, (std::vector<Server>{0, 4}));
}

TEST_F(SplitServers, ANetworkForAJobJoinsServersByWhatTheyExchange) {
    const FabricMaker made = maker(
        "kind: servers\nservers: {count: 4, gpus: 2, nics: {per: server, attach: scale_up}}\n"
        "scale_out: {kind: topoopt, degree: 3, mode: paper, link: {rate: 400Gbps}}\n");
    ASSERT_TRUE(made.needs_job());
    EXPECT_EQ(made.hosts_per_server(), 2U);
    Demand ranks{.servers = 8, .groups = {}, .point_to_point = PairDemand(8), .exchanges = 1};
    // Servers 0 and 2, and 1 and 3, exchange much.
    for (const auto& [from, to] : {std::pair{0U, 5U}, {4U, 1U}, {2U, 7U}, {6U, 3U}}) {
        ranks.point_to_point.add(from, to, 1'000'000);
    }
    const auto built = made.for_job()(ranks, 1);
    ASSERT_TRUE(std::holds_alternative<NetworksForJob>(built))
        << std::get<ValidationErrors>(built).front().message;
    const auto& networks = std::get<NetworksForJob>(built);
    const Fabric& fabric = *networks.front();
    std::vector<std::string> path;
    for (const RouteLeg& leg : fabric.routing().route(HostId(0), HostId(5)).legs) {
        path.push_back(fabric.node(fabric.target(leg.link)).name);
    }
    EXPECT_EQ(path, (std::vector<std::string>{"nvswitch 0", "nic 0", "nic 2", "nvswitch 2", "gpu 5"}));
    EXPECT_EQ(fabric.family().describe(fabric, {}).key, "topology");

    Demand too_few = ranks;
    too_few.servers = 7;
    const auto refused = std::get<ValidationErrors>(made.for_job()(too_few, 1));
    EXPECT_EQ(refused.front().message,
              "a network that is built for its job has a GPU for every rank, and 8 GPUs are not 7 ranks");
}

}  // namespace
}  // namespace astrolabe::network
