// SPDX-License-Identifier: GPL-2.0-only
#include "tcp_fixture.hpp"

#include <set>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

/// 4 leaves of 2 hosts, 3 spines.
std::shared_ptr<const network::Fabric> leaf_spine(
    network::LoadBalancing load_balancing = network::LoadBalancing::kFlowHash) {
    network::FabricBuilder builder("leaf_spine");
    for (int i = 0; i < 8; ++i) {
        builder.add_host("host");
    }
    std::vector<NodeId> leaves;
    for (int i = 0; i < 4; ++i) {
        leaves.push_back(builder.add_switch("leaf"));
    }
    for (int i = 0; i < 8; ++i) {
        builder.connect(NodeId(i), leaves[static_cast<std::size_t>(i / 2)], kLink);
    }
    for (int i = 0; i < 3; ++i) {
        const NodeId spine = builder.add_switch("spine");
        for (const NodeId leaf : leaves) {
            builder.connect(leaf, spine, kLink);
        }
    }
    return std::move(builder).build(load_balancing);
}

// Links on the route of the pair carry the data, those on the route back 42 B for each segment, all others
// nothing: TCP and the flow engine load the same links.
TEST(TcpRouting, DataAndAcknowledgementsTakeTheRoutesOfTheFabric) {
    const auto fabric = leaf_spine();
    std::set<LinkId> spine_links;
    for (const auto& [source, destination] :
         std::vector<std::pair<int, int>>{{0, 1}, {0, 2}, {0, 7}, {3, 6}, {5, 0}, {6, 4}, {7, 1}}) {
        TcpBackend backend(fabric, {});
        Recorder recorder(backend);
        recorder.send(source, destination, 146'000_B - 16_B);  // 100 segments
        backend.run();
        const auto statistics = backend.statistics();
        EXPECT_EQ(statistics.packets, 100U);

        const auto there = fabric->routing().route(HostId(source), HostId(destination));
        const auto back = fabric->routing().route(HostId(destination), HostId(source));
        std::set<LinkId> forward;
        std::set<LinkId> backward;
        for (const auto& leg : there.legs) {
            forward.insert(leg.link);
        }
        for (const auto& leg : back.legs) {
            backward.insert(leg.link);
        }
        EXPECT_EQ(statistics.packet_hops, 100U * there.hops);
        for (LinkId id; id.index() < fabric->link_count(); ++id) {
            const Bytes carried = statistics.links[id].carried;
            if (forward.contains(id)) {
                // 100 frames of 1502 B, the connection request (50 B) and the answer to its answer (42 B).
                EXPECT_EQ(carried, 100 * 1502_B + 50_B + 42_B) << id.index();
            } else if (backward.contains(id)) {
                // The answer to the request (50 B), and an acknowledgement a segment but for those still on
                // their way when the message is complete: one round trip of 8 us at most holds 67 of them.
                EXPECT_GE(carried, 50_B);
                EXPECT_LE(carried, 50_B + 100 * 42_B);
            } else {
                EXPECT_EQ(carried, Bytes(0)) << id.index();
            }
        }
        if (there.legs.size() > 2) {
            spine_links.insert(there.legs[1].link);
        }
    }
    EXPECT_GT(spine_links.size(), 1U);
}

TEST(TcpRouting, AllToAllOverTwoTiersArrivesWhole) {
    const auto fabric = leaf_spine();
    TcpBackend backend(fabric, {});
    Recorder recorder(backend);
    std::uint64_t hops = 0;
    for (int source = 0; source < 8; ++source) {
        for (int destination = 0; destination < 8; ++destination) {
            if (source != destination) {
                recorder.send(source, destination, 73'000_B - 16_B);  // 50 segments
                hops += 50 * fabric->routing().route(HostId(source), HostId(destination)).hops;
            }
        }
    }
    backend.run();
    const auto statistics = backend.statistics();
    EXPECT_EQ(backend.connections(), 56U);
    EXPECT_EQ(statistics.messages, 56U);
    EXPECT_EQ(statistics.packets, 56U * 50U);
    EXPECT_EQ(statistics.packet_hops, hops);
    // No link beats its rate.
    for (const auto& link : statistics.links) {
        EXPECT_LE(link.carried / 100_Gbps, backend.now());
    }
}

// A ring of four hosts without switches: from 0 to 2 a host stands between.
TEST(TcpRouting, HostsForwardWhatIsNotForThem) {
    network::FabricBuilder builder("ring");
    for (int i = 0; i < 4; ++i) {
        builder.add_host("host");
    }
    for (int i = 0; i < 4; ++i) {
        builder.connect(NodeId(i), NodeId((i + 1) % 4), kLink);
    }
    TcpBackend backend(std::move(builder).build(), {});
    Recorder recorder(backend);
    recorder.send(0, 2, 1_MiB, 1);
    recorder.send(2, 0, 1_MiB, 2);
    recorder.send(1, 2, 1_MiB, 3);
    backend.run();
    EXPECT_EQ(recorder.tokens.size(), 3U);
    // (1 MiB + 16 B) / 1460 B: 719 segments a message; two messages take two hops, one takes one.
    EXPECT_EQ(backend.statistics().packets, 3U * 719U);
    EXPECT_EQ(backend.statistics().packet_hops, 5U * 719U);
}

TEST(TcpRouting, FabricsThatTcpCannotRunAreRefusedWithTheReason) {
    EXPECT_EQ(unsupported(*leaf_spine()), std::nullopt);

    const auto sprayed = unsupported(*leaf_spine(network::LoadBalancing::kSpray));
    ASSERT_TRUE(sprayed.has_value());
    EXPECT_NE(sprayed->find("spraying"), std::string::npos);

    network::FabricBuilder builder("circuits");
    builder.add_host("a");
    builder.add_host("b");
    const auto cable = builder.connect(NodeId(0), NodeId(1), kLink);
    builder.set_circuits(10_us, {{6_us, {cable.forward, cable.backward}}, {4_us, {}}});
    const auto moving = unsupported(*std::move(builder).build());
    ASSERT_TRUE(moving.has_value());
    EXPECT_NE(moving->find("static"), std::string::npos);

    // A port that cannot hold the threshold and the packet behind it drops where it should mark: 300 kB on 3
    // ports hold 97.5 kB and 1502 B, 290 kB do not.
    TcpOptions dctcp;
    dctcp.variant = TcpVariant::kDctcp;
    EXPECT_EQ(unsupported(*star(3, 300'000_B), dctcp), std::nullopt);
    const auto unmarked = unsupported(*star(3, 290'000_B), dctcp);
    ASSERT_TRUE(unmarked.has_value());
    EXPECT_NE(unmarked->find("ecn_threshold"), std::string::npos);
    EXPECT_EQ(unsupported(*star(3, 290'000_B)), std::nullopt) << "NewReno does not listen to marks";
    dctcp.buffer_sharing = BufferSharing::kShared;
    EXPECT_EQ(unsupported(*star(3, 290'000_B), dctcp), std::nullopt);

    // 1502 B are 12.016 s at 1 kb/s and 6.008 s at 2 kb/s; timers wait 60 s at most.
    EXPECT_TRUE(unsupported(*star(2, Bytes(0), {2000_bps, 0_ns, Bytes(0)})).has_value());
    EXPECT_EQ(unsupported(*star(2, Bytes(0), {3000_bps, 0_ns, Bytes(0)})), std::nullopt);
    EXPECT_TRUE(unsupported(*star(2, Bytes(0), {100_Gbps, 7_s, Bytes(0)})).has_value());

    // 4000 B on 3 ports are 1333 B for each: no packet of 1502 B ever passes. Shared, two do.
    TcpOptions options;
    EXPECT_TRUE(unsupported(*star(3, 4000_B), options).has_value());
    options.buffer_sharing = BufferSharing::kShared;
    EXPECT_EQ(unsupported(*star(3, 4000_B), options), std::nullopt);
}

}  // namespace
}  // namespace astrolabe::ns3
