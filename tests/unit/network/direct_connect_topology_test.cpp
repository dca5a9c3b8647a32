#include "direct_networks.hpp"
#include "fabric_structure.hpp"
#include "network/src/engines/congestion_free/congestion_free_backend.hpp"
#include "network/src/topologies/direct_connect.hpp"
#include "network/src/topologies/torus.hpp"
#include "parameter_keys.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/components.hpp>

namespace astrolabe::network {
namespace {

constexpr DirectRouting kAll[] = {DirectRouting::kFlowHash,       DirectRouting::kSpray,
                                  DirectRouting::kRandomShortest, DirectRouting::kCoinChange,
                                  DirectRouting::kBalanced,       DirectRouting::kKShortest,
                                  DirectRouting::kByClass};

/// 80 ps per byte, 500 ns per link.
DirectConnectParameters direct(std::int64_t hosts) {
    DirectConnectParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    return parameters;
}

using Distribution = std::map<std::size_t, int>;

TEST(DirectConnectTopology, RingsJoinHostsByTheirStrides) {
    const std::shared_ptr<const Fabric> fabric = build_direct_connect(rings(16, {1, 5}));
    EXPECT_EQ(fabric->kind(), "direct_connect");
    EXPECT_EQ(fabric->node_count(), 16U);
    EXPECT_EQ(fabric->link_count(), 2U * 2U * 16U);
    EXPECT_EQ(fabric->egress_rate(HostId(7)), 400_Gbps);
    EXPECT_EQ(fabric->ingress_rate(HostId(7)), 400_Gbps);
    for (std::uint32_t host = 0; host < 16; ++host) {
        // coin_change_test.cpp: 1 2 3 2 1 2 3 4 3 2 1 2 3 2 1 hops.
        EXPECT_EQ(hop_distribution(*fabric, host), (Distribution{{1, 4}, {2, 6}, {3, 4}, {4, 1}}));
    }
}

TEST(DirectConnectTopology, PartsAddUp) {
    DirectConnectParameters parameters = rings(8, {1});
    EXPECT_EQ(direct_cables(parameters).size(), 8U);
    parameters.torus = {2, 4};  // a cable where a dimension has two hosts: 4, and two rings of 4
    EXPECT_EQ(direct_cables(parameters).size(), 8U + 4U + 8U);
    parameters.random = {3, 7};
    EXPECT_EQ(direct_cables(parameters).size(), 20U + 8U * 3U / 2U);
    parameters.all_to_all = 2;
    EXPECT_EQ(direct_cables(parameters).size(), 32U + 2U * 8U * 7U / 2U);
    parameters.links = {{0, 4, 1}, {4, 0, 3}};
    EXPECT_EQ(direct_cables(parameters).size(), 88U + 4U);
    EXPECT_EQ(direct_cables(parameters).back(), (HostPair{4, 0}));
    EXPECT_EQ(build_direct_connect(parameters)->link_count(), 2U * 92U);
}

TEST(DirectConnectTopology, OppositeHostsAreJoinedTwice) {
    EXPECT_EQ(direct_cables(rings(4, {1, 2})).size(), 8U);
    EXPECT_EQ(build_direct_connect(rings(4, {1, 2}))->out_degree(NodeId(0)), 4U);
}

TEST(DirectConnectTopology, OneWayRingsLeadOn) {
    const std::shared_ptr<const Fabric> fabric = build_direct_connect(one_way(16, {1, 3, 7}));
    EXPECT_EQ(fabric->link_count(), 3U * 16U);
    EXPECT_EQ(fabric->one_way_link_count(), 3U * 16U);
    EXPECT_EQ(fabric->egress_rate(HostId(7)), 300_Gbps);
    EXPECT_EQ(fabric->ingress_rate(HostId(7)), 300_Gbps);
    for (std::uint32_t host = 0; host < 16; ++host) {
        // coin_change_test.cpp: 1 2 1 2 3 2 1 2 3 2 3 4 3 2 3 hops.
        EXPECT_EQ(hop_distribution(*fabric, host), (Distribution{{1, 3}, {2, 6}, {3, 5}, {4, 1}}));
    }
    // Each ring is a permutation: a plane has one link out of every host and one into it.
    const std::vector<HostPair> links = direct_one_way_links(one_way(16, {1, 3, 7}));
    for (std::size_t plane = 0; plane < 3; ++plane) {
        std::set<std::uint32_t> from;
        std::set<std::uint32_t> to;
        for (std::size_t i = 0; i < 16; ++i) {
            from.insert(links[plane * 16 + i].first);
            to.insert(links[plane * 16 + i].second);
        }
        EXPECT_EQ(from.size(), 16U);
        EXPECT_EQ(to.size(), 16U);
    }
}

TEST(DirectConnectTopology, OneWayLinksAddUpWithCables) {
    DirectConnectParameters parameters = rings(8, {1});
    parameters.one_way_rings = {3};
    parameters.links = {{.from = 0, .to = 4, .cables = 2, .one_way = true}, {.from = 5, .to = 2}};
    EXPECT_EQ(direct_cables(parameters).size(), 8U + 1U);
    EXPECT_EQ(direct_one_way_links(parameters).size(), 2U + 8U);
    const std::shared_ptr<const Fabric> fabric = build_direct_connect(parameters);
    EXPECT_EQ(fabric->link_count(), 2U * 9U + 10U);
    EXPECT_EQ(fabric->out_degree(NodeId(0)), 2U + 1U + 2U);
    EXPECT_EQ(fabric->links_into(NodeId(4)).size(), 2U + 1U + 2U);
    EXPECT_EQ(fabric->out_degree(NodeId(4)), 2U + 1U);
}

TEST(DirectConnectTopology, ATorusIsATorus) {
    DirectConnectParameters parameters = direct(12);
    parameters.torus = {3, 4};
    TorusParameters torus;
    torus.sizes = {3, 4};
    const std::shared_ptr<const Fabric> ours = build_direct_connect(parameters);
    const std::shared_ptr<const Fabric> theirs = build_torus(torus);
    ASSERT_EQ(ours->link_count(), theirs->link_count());
    for (LinkId link; link.index() < ours->link_count(); ++link) {
        EXPECT_EQ(ours->source(link), theirs->source(link));
        EXPECT_EQ(ours->target(link), theirs->target(link));
    }
}

TEST(DirectConnectTopology, RandomHostsHaveEquallyManyNeighbours) {
    DirectConnectParameters parameters = direct(20);
    parameters.random = {3, 1};
    const std::shared_ptr<const Fabric> fabric = build_direct_connect(parameters);
    for (std::uint32_t host = 0; host < 20; ++host) {
        EXPECT_EQ(fabric->out_degree(NodeId(host)), 3U);
    }
    parameters.random.seed = 2;
    EXPECT_NE(direct_cables(parameters), direct_cables(direct(20)));
}

TEST(DirectConnectTopology, OneHostNeedsNoCables) {
    for (const DirectRouting routing : {DirectRouting::kFlowHash, DirectRouting::kBalanced}) {
        EXPECT_EQ(build_direct_connect(rings(1, {}, routing))->link_count(), 0U);
    }
}

TEST(DirectConnectTransfers, NeighboursOnAllLinksSendAtAllTheirRates) {
    // Four links out of each host, all full at once: d·B.
    std::vector<Transfer> transfers;
    for (int i = 0; i < 16; ++i) {
        for (const int stride : {1, 5, 11, 15}) {
            transfers.push_back({i, (i + stride) % 16, 1_MiB});
        }
    }
    for (const DirectRouting routing : kAll) {
        for (const Time time :
             deliver_together(build_direct_connect(rings(16, {1, 5}, routing)), transfers)) {
            EXPECT_EQ(time, 500_ns + 80_ps * (1 << 20));
        }
    }
}

TEST(DirectConnectTransfers, OneWayRingsCarryOneStrideEach) {
    // Strides 1, 3 and 7 out of each of 16 hosts, all full at once: three times the rate of a link. The way
    // back from host 1 to host 0, offset 15, is 1+7+7.
    std::vector<Transfer> transfers;
    for (int i = 0; i < 16; ++i) {
        for (const int stride : {1, 3, 7}) {
            transfers.push_back({i, (i + stride) % 16, 1_MiB});
        }
    }
    for (const DirectRouting routing : kAll) {
        for (const Time time :
             deliver_together(build_direct_connect(one_way(16, {1, 3, 7}, routing)), transfers)) {
            EXPECT_EQ(time, 500_ns + 80_ps * (1 << 20));
        }
    }
    EXPECT_EQ(deliver_together(build_direct_connect(one_way(16, {1, 3, 7}, DirectRouting::kCoinChange)),
                               {{1, 0, 1_MiB}})
                  .front(),
              3 * 500_ns + 80_ps * (1 << 20));
}

TEST(DirectConnectTransfers, AllToAllTakesTheBusiestLink) {
    // Every link of the busiest coin carries 9 of 16 hosts' messages (coin_change_test.cpp) and shares evenly
    // among them to the end, as other links have no more.
    const std::vector<Time> times = deliver_together(
        build_direct_connect(rings(16, {1, 5}, DirectRouting::kBalanced)), all_pairs(16, 64_KiB));
    const Time last = *std::max_element(times.begin(), times.end());
    EXPECT_GE(last, 500_ns + 9 * 80_ps * (64 << 10));
    EXPECT_LE(last, 4 * 500_ns + 9 * 80_ps * (64 << 10));
}

TEST(DirectConnectTransfers, HostsOnTheWayTakeTimeToForward) {
    // Three links and two hosts between them.
    for (const DirectRouting routing : kAll) {
        DirectConnectParameters parameters = rings(9, {1}, routing);
        parameters.forwarding.latency = 2_us;
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(parameters);
        EXPECT_EQ(fabric->routing().route(HostId(1), HostId(4)).latency, 3 * 500_ns + 2 * 2_us);
        EXPECT_EQ(deliver_together(fabric, {{1, 4, 1_MiB}, {7, 8, 0_B}}),
                  (std::vector<Time>{3 * 500_ns + 2 * 2_us + 80_ps * (1 << 20), 500_ns}));
    }
}

TEST(DirectConnectTransfers, StoreAndForwardPaysEveryLink) {
    DirectConnectParameters parameters = rings(9, {1}, DirectRouting::kCoinChange);
    parameters.forwarding.latency = 2_us;
    CongestionFreeOptions options;
    options.switching = Switching::kStoreAndForward;
    options.timing = TransferTiming::kExact;
    CongestionFreeBackend backend(build_direct_connect(parameters), options);
    Recorder recorder(backend);
    recorder.send(0, 1, 4, 1_MiB);
    backend.run();
    EXPECT_EQ(recorder.times.at(0), 3 * (500_ns + 80_ps * (1 << 20)) + 2 * 2_us);
    EXPECT_TRUE(congestion_free_unsupported(*build_direct_connect(rings(9, {1}, DirectRouting::kKShortest)),
                                            options));
}

TEST(DirectConnectTransfers, SplitMessagesArriveWhenTheSlowestPartDoes) {
    // Between opposite hosts of a ring of 4 half of 1 MiB goes each way.
    DirectConnectParameters parameters = rings(4, {1}, DirectRouting::kKShortest);
    EXPECT_EQ(deliver_together(build_direct_connect(parameters), {{0, 2, 1_MiB}}).front(),
              2 * 500_ns + 80_ps * (1 << 19));
}

Keys problem_keys(const DirectConnectParameters& parameters) {
    return keys(validation_errors(parameters));
}

TEST(DirectConnectParameters, RefuseWhatIsOutOfRange) {
    EXPECT_EQ(problem_keys(rings(8, {1})), Keys{});
    EXPECT_EQ(problem_keys(rings(0, {})), Keys{"hosts"});
    EXPECT_EQ(problem_keys(rings(8, {0, 1, 8})), (Keys{"rings.0", "rings.2"}));
    EXPECT_EQ(problem_keys(rings(65'537, {1}, DirectRouting::kBalanced)), Keys{"hosts"});
    DirectConnectParameters p = rings(8, {1});
    p.link.rate = Bandwidth(0);
    p.forwarding.latency = Time(-1);
    p.paths = 0;
    p.detour = 65;
    EXPECT_EQ(problem_keys(p), (Keys{"link.rate", "forwarding.latency", "paths", "detour"}));
    EXPECT_THROW((void)build_direct_connect(p), std::logic_error);
}

TEST(DirectConnectParameters, RefuseATorusOfOtherSize) {
    DirectConnectParameters p = direct(12);
    p.torus = {3, 5};
    EXPECT_EQ(problem_keys(p), Keys{"torus"});
    p.torus = {3, 0};
    EXPECT_EQ(problem_keys(p), Keys{"torus.1"});
    p.torus = {12, 12, 12};
    EXPECT_EQ(problem_keys(p), Keys{"torus"});
}

TEST(DirectConnectParameters, RefuseRandomGraphsThatDoNotExist) {
    DirectConnectParameters p = direct(9);
    p.random.degree = 3;
    EXPECT_EQ(problem_keys(p), Keys{"random.degree"});
    p.random.degree = 9;
    EXPECT_EQ(problem_keys(p), Keys{"random.degree"});
    p.hosts = 4'097;
    p.random.degree = 4;
    EXPECT_EQ(problem_keys(p), Keys{"random.degree"});
}

TEST(DirectConnectParameters, RefuseLinksThatLeadNowhere) {
    DirectConnectParameters p = rings(4, {1});
    p.links = {{0, 4, 1}, {-1, 2, 1}, {3, 3, 1}, {0, 1, 0}};
    EXPECT_EQ(problem_keys(p), (Keys{"links.0.to", "links.1.from", "links.2.to", "links.3.cables"}));
}

TEST(DirectConnectParameters, RefuseTooManyCables) {
    DirectConnectParameters p = rings(4'096, {1});
    p.all_to_all = 3;  // 3·8,386,560
    EXPECT_EQ(problem_keys(p), Keys{""});
    p.all_to_all = 0;
    p.links = {{0, 1, kMaxCables}, {0, 1, kMaxCables}};
    EXPECT_EQ(problem_keys(p), Keys{""});
}

TEST(DirectConnectParameters, RefuseHostsThatAreCutOff) {
    EXPECT_EQ(problem_keys(direct(2)), Keys{""});
    const ValidationErrors found = validation_errors(rings(8, {2}));
    ASSERT_EQ(keys(found), Keys{""});
    EXPECT_EQ(found[0].message, "no cables lead from host 0 to host 1, and 4 of 8 hosts in all");
}

TEST(DirectConnectParameters, RefuseHostsWithoutAWayBack) {
    DirectConnectParameters p = direct(4);
    p.links = {{0, 1}, {1, 2}, {.from = 2, .to = 3, .one_way = true}};
    ValidationErrors found = validation_errors(p);
    ASSERT_EQ(keys(found), Keys{""});
    EXPECT_EQ(found[0].message, "no links lead from host 3 back to host 0, nor from 1 of 4 hosts in all");
    p.links[2] = {.from = 3, .to = 2, .one_way = true};
    found = validation_errors(p);
    ASSERT_EQ(keys(found), Keys{""});
    EXPECT_EQ(found[0].message, "no cables lead from host 0 to host 3, and 1 of 4 hosts in all");
    p.links[2] = {.from = 3, .to = 2};
    EXPECT_EQ(problem_keys(p), Keys{});
    EXPECT_EQ(problem_keys(one_way(8, {0, 3, 8})), (Keys{"one_way_rings.0", "one_way_rings.2"}));
    EXPECT_EQ(problem_keys(one_way(8, {3})), Keys{});
}

TEST(DirectConnectParameters, RefuseRoutesByClassWithoutRings) {
    DirectConnectParameters p = direct(4);
    p.all_to_all = 1;
    p.routing = DirectRouting::kByClass;
    EXPECT_EQ(problem_keys(p), Keys{"routing"});
    p.one_way_rings = {1};
    EXPECT_EQ(problem_keys(p), Keys{});
}

TEST(DirectConnectParameters, RefuseCoinsThatAreNotTheSameEverywhere) {
    DirectConnectParameters p = rings(8, {1}, DirectRouting::kCoinChange);
    p.links = {{0, 4, 1}};
    EXPECT_EQ(problem_keys(p), Keys{"routing"});
    p.links = {{0, 4, 1}, {1, 5, 1}, {2, 6, 1}, {3, 7, 1}};
    EXPECT_EQ(problem_keys(p), Keys{});
    p.links = {};
    p.all_to_all = 1;
    EXPECT_EQ(problem_keys(p), Keys{});
}

TEST(DirectConnectParameters, AreReadFromYaml) {
    Registry<FabricMaker> registry("network");
    register_builtin_topologies(registry);
    const auto read = [&](const std::string& yaml) {
        ReadContext context;
        return registry.read(parse_config(yaml, "network.yaml").value(), context);
    };
    const auto configured = read(
        "{kind: direct_connect, hosts: 16, link: {rate: 50Gbps, latency: 1us}, forwarding: {latency: 3us}, "
        "rings: [1, 5], links: [{from: 0, to: 8}, {from: 3, to: 7, cables: 2}], routing: k_shortest, "
        "paths: 2, detour: 1}");
    ASSERT_TRUE(configured);
    const std::shared_ptr<const Fabric> fabric = configured->make()(1);
    EXPECT_EQ(fabric->link_count(), 2U * (32 + 3));
    EXPECT_EQ(fabric->link(LinkId(0)).rate, 50_Gbps);
    EXPECT_EQ(fabric->node(NodeId(2)).forwarding, 3_us);
    EXPECT_EQ(fabric->routing().load_balancing(), LoadBalancing::kPaths);
    const auto fibres = read(
        "{kind: direct_connect, hosts: 16, one_way_rings: [1, 3], links: [{from: 0, to: 8, one_way: true}, "
        "{from: 3, to: 7}], routing: by_class}");
    ASSERT_TRUE(fibres);
    EXPECT_EQ(fibres->make()(1)->link_count(), 2U * 16 + 1 + 2);
    EXPECT_EQ(fibres->make()(1)->one_way_link_count(), 2U * 16 + 1);
    EXPECT_FALSE(read("{kind: direct_connect, hosts: 16, one_way_rings: [2]}"));
    EXPECT_FALSE(read("{kind: direct_connect, hosts: 16, rings: [2]}"));
    EXPECT_FALSE(read("{kind: direct_connect, hosts: 16, rings: [1], routing: fastest}"));
}

}  // namespace
}  // namespace astrolabe::network
