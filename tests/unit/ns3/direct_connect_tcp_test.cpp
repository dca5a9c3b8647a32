// SPDX-License-Identifier: GPL-2.0-only
/// TCP between servers that forward for each other: over the very routes of flow engines, on all paths that a
/// routing names, on one-way links, and after a forwarding latency. 100 Gb/s, 500 ns a link.
#include "network/src/topologies/direct_connect.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

using network::DirectConnectParameters;
using network::DirectRouting;

DirectConnectParameters rings(std::int64_t hosts, std::vector<std::int64_t> strides, DirectRouting routing) {
    DirectConnectParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    parameters.rings = std::move(strides);
    parameters.routing = routing;
    return parameters;
}

/// Payload that links carry.
class PayloadOfLinks final : public network::LinkObserver {
public:
    void links_are_alike(std::span<const std::uint32_t>) override {}
    [[nodiscard]] Time interval(Time end) override { return end; }
    void carried(LinkId link, Time, Time, const network::PieceBytes& bytes) override {
        payload[link] += bytes.payload;
    }
    void delivered(HostId, Time, Time, double bytes) override { arrived += bytes; }

    std::map<LinkId, double> payload;
    double arrived = 0;
};

// 120 segments are shared evenly by 1, 2, 3, 4 or 5 paths: every link carries just the share of the stream
// that `route` gives a flow engine, to the byte.
TEST(DirectConnectTcp, BytesTakeTheSharesOfTheirRoutes) {
    constexpr int kSegments = 120;
    for (const DirectRouting routing : {DirectRouting::kKShortest, DirectRouting::kByClass,
                                        DirectRouting::kCoinChange, DirectRouting::kRandomShortest}) {
        DirectConnectParameters parameters = rings(16, {1, 5}, routing);
        parameters.paths = 5;
        const auto fabric = network::build_direct_connect(parameters);
        std::size_t most_paths = 0;
        for (const int destination : {1, 2, 3, 6, 8, 11}) {
            TcpBackend backend(fabric, {});
            PayloadOfLinks observer;
            ASSERT_NE(backend.observe_links(observer), network::LinkReports::kNothing);
            Recorder recorder(backend);
            const Bytes stream = TcpOptions().segment_size() * kSegments;
            recorder.send(0, destination, stream - 16_B);
            backend.run();
            ASSERT_EQ(recorder.tokens.size(), 1U);
            const std::size_t paths = fabric->routing().path_count(HostId(0), HostId(destination));
            most_paths = std::max(most_paths, paths);
            EXPECT_EQ(backend.connections(), paths);
            std::map<LinkId, double> expected;
            for (const auto& leg : fabric->routing().route(HostId(0), HostId(destination)).legs) {
                expected[leg.link] = leg.share * static_cast<double>(stream.count());
            }
            std::erase_if(observer.payload, [](const auto& link) { return link.second == 0; });
            ASSERT_EQ(observer.payload.size(), expected.size());
            for (const auto& [link, bytes] : expected) {
                EXPECT_NEAR(observer.payload[link], bytes, 1e-6) << link.index();
            }
            EXPECT_EQ(observer.arrived, static_cast<double>((stream - 16_B).count()));
        }
        EXPECT_EQ(most_paths > 1, routing == DirectRouting::kKShortest || routing == DirectRouting::kByClass);
    }
}

// Hosts 0 and 2 of a ring of four have two ways of two links. 1000 segments take both links at once: 500 a
// link, which is half the time, behind a handshake.
TEST(DirectConnectTcp, TwoPathsTakeHalfTheTime) {
    const auto time_by = [](DirectRouting routing) {
        DirectConnectParameters parameters = rings(4, {1}, routing);
        TcpBackend backend(network::build_direct_connect(parameters), {});
        Recorder recorder(backend);
        recorder.send(0, 2, 1'460_B * 1000 - 16_B);
        backend.run();
        EXPECT_EQ(backend.statistics().packets, 1000U);
        EXPECT_EQ(backend.statistics().packet_hops, 2000U);
        return recorder.times.at(0);
    };
    // 1502 B take 120.16 ns. A handshake and a round trip of slow start are 4 us and some each.
    const Time half = time_by(DirectRouting::kKShortest);
    const Time whole = time_by(DirectRouting::kCoinChange);
    EXPECT_GE(half, 500 * 120'160_ps + 3_us);
    EXPECT_LE(half, 500 * 120'160_ps + 12_us);
    EXPECT_GE(whole, 1000 * 120'160_ps + 3_us);
    EXPECT_LE(whole, 1000 * 120'160_ps + 12_us);
}

// Messages of one pair arrive in the order sent, though a short one on an idle path could be first.
TEST(DirectConnectTcp, MessagesOverSeveralPathsKeepTheirOrder) {
    DirectConnectParameters parameters = rings(4, {1}, DirectRouting::kKShortest);
    TcpBackend backend(network::build_direct_connect(parameters), {});
    Recorder recorder(backend);
    // On the way round over host 1 the long one of 1 waits in front.
    recorder.send(1, 2, 1_MB, 100);
    std::vector<std::uint64_t> expected;
    for (std::uint64_t token = 0; token < 20; ++token) {
        recorder.send(0, 2, token % 2 == 0 ? 0_B : 30_KB, token);
        expected.push_back(token);
    }
    EXPECT_EQ(backend.describe_outstanding(3).size(), 3U);
    EXPECT_EQ(backend.describe_outstanding(30)[2].size, 30_KB);
    EXPECT_EQ(backend.describe_outstanding(30)[2].remaining, 30_KB);
    backend.run();
    std::erase(recorder.tokens, 100U);
    EXPECT_EQ(recorder.tokens, expected);
    EXPECT_EQ(backend.statistics().bytes_delivered, 1_MB + 10 * 30_KB);
    EXPECT_TRUE(backend.describe_outstanding(30).empty());
}

// Round a ring of five that goes one way: from 0 to 2 two links, and what answers three. Links 0 and 1 carry
// data alone, the others acknowledgements alone.
TEST(DirectConnectTcp, AnswersGoRoundWhereLinksGoOneWay) {
    DirectConnectParameters parameters = rings(5, {}, DirectRouting::kCoinChange);
    parameters.one_way_rings = {1};
    const auto fabric = network::build_direct_connect(parameters);
    ASSERT_EQ(fabric->one_way_link_count(), 5U);
    EXPECT_EQ(unsupported(*fabric), std::nullopt);
    TcpBackend backend(fabric, {});
    PayloadOfLinks observer;
    ASSERT_NE(backend.observe_links(observer), network::LinkReports::kNothing);
    Recorder recorder(backend);
    recorder.send(0, 2, 1'460_B * 10 - 16_B);
    backend.run();
    const network::NetworkStatistics statistics = backend.statistics();
    for (LinkId id; id.index() < fabric->link_count(); ++id) {
        const bool is_way_there = fabric->source(id).index() < 2;
        // A request of 50 B, an acknowledgement of its answer of 42 B, and 10 segments; or the answer, and
        // what acknowledgements have left before the message is complete.
        if (is_way_there) {
            EXPECT_EQ(statistics.links[id].carried, 50_B + 42_B + 10 * 1502_B);
        } else {
            EXPECT_GE(statistics.links[id].carried, 50_B);
            EXPECT_LE(statistics.links[id].carried, 50_B + 10 * 42_B);
        }
        EXPECT_EQ(observer.payload[id], is_way_there ? 14'600 : 0);
    }
    // Request 2 links and answer 3, 50 B (4 ns) and 500 ns each; then 42 B (3.36 ns) and the segments of
    // 120.16 ns, 11 in a row, over 2 links of 500 ns.
    const Time expected = 5 * (4_ns + 500_ns) + 3'360_ps + 11 * 120'160_ps + 2 * 500_ns;
    EXPECT_EQ(recorder.times.at(0), expected);
}

// Three packets that wait for one another cross host 1: the request, its answer, and the data.
TEST(DirectConnectTcp, ForwardingTakesItsTimeAtEveryHostBetween) {
    const auto time_with = [](Time forwarding) {
        DirectConnectParameters parameters = rings(9, {1}, DirectRouting::kCoinChange);
        parameters.forwarding.latency = forwarding;
        TcpBackend backend(network::build_direct_connect(parameters), {});
        Recorder recorder(backend);
        recorder.send(0, 3, 1000_B);
        backend.run();
        return recorder.times.at(0);
    };
    EXPECT_EQ(time_with(2_us), time_with(Time(0)) + 3 * 2 * 2_us) << "two hosts between";
}

TEST(DirectConnectTcp, NamedPathsNeedATcpForEachPeer) {
    const auto fabric = network::build_direct_connect(rings(4, {1}, DirectRouting::kKShortest));
    EXPECT_EQ(unsupported(*fabric), std::nullopt);
    TcpOptions one_for_all;
    one_for_all.attributes = {{"ns3::TcpPeerDemux::PerPeer", "false"}};
    EXPECT_NE(unsupported(*fabric, one_for_all).value_or("").find("PerPeer"), std::string::npos);
    EXPECT_NE(unsupported(*network::build_direct_connect(rings(4, {1}, DirectRouting::kSpray)))
                  .value_or("")
                  .find("spraying"),
              std::string::npos);
}

}  // namespace
}  // namespace astrolabe::ns3
