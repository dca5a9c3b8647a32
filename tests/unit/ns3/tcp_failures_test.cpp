// SPDX-License-Identifier: GPL-2.0-only
/// Links that fail under ns-3's TCP: frames of 1502 B take 120 160 ps at 100 Gb/s, and 500 ns a link.
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/torus.hpp"
#include "tcp_fixture.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include <failing_fabrics.hpp>
#include <gtest/gtest.h>

#include <astrolabe/network/link_observer.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {
namespace {

using network::cable_failure;
using network::Fabric;
using network::failing;
using network::LinkFailure;

constexpr Bytes kSize(1'000'000);

struct Ran {
    Time time;  // of the only message; 0: it did not arrive
    network::NetworkStatistics statistics;
    std::string stall;
};

Ran run(const std::shared_ptr<const Fabric>& fabric, int source = 0, int destination = 1) {
    TcpBackend backend(fabric, {});
    Recorder recorder(backend);
    recorder.send(source, destination, kSize);
    backend.run();
    return {recorder.times.empty() ? Time(0) : recorder.times[0], backend.statistics(),
            backend.outstanding_messages() > 0 ? backend.explain_stall() : ""};
}

std::shared_ptr<const Fabric> with_nic_down(const std::shared_ptr<const Fabric>& whole, int host, Time from,
                                            Time until, double factor = 0) {
    return failing(whole, cable_failure(*whole, whole->first_link(NodeId(host)), from, until, factor),
                   Time(0));
}

// The cable of the receiver is down from 20 to 50 us: what is on it and comes to it is lost, and nothing
// comes back until the smallest retransmission timeout, 10 ms, has passed. No earlier than that after the
// outage began, and within two timeouts and the transfer itself.
TEST(TcpFailures, WhatATornCableLosesIsSentAgainAfterTheTimeout) {
    const Time alone = run(star(2)).time;
    for (const int host : {0, 1}) {
        const Ran torn = run(with_nic_down(star(2), host, 20_us, 50_us));
        EXPECT_GT(torn.time, 20_us + 10_ms);
        EXPECT_LT(torn.time, alone + 2 * 10_ms);
        EXPECT_GT(torn.statistics.drops, 0U);
        EXPECT_GT(torn.statistics.retransmissions, 0U);
        EXPECT_GT(torn.statistics.timeouts, 0U);
        EXPECT_EQ(torn.statistics.bytes_delivered, kSize);
    }
}

/// Sums up what links carry, piece by piece.
class LinkSums final : public network::LinkObserver {
public:
    void links_are_alike(std::span<const std::uint32_t> /*class_of*/) override {}
    Time interval(Time /*end*/) override { return 1_us; }
    void carried(network::LinkId link, Time /*from*/, Time /*to*/,
                 const network::PieceBytes& bytes) override {
        sums[link.index()] += bytes.wire;
    }
    void delivered(network::HostId /*destination*/, Time /*from*/, Time /*to*/, double /*payload*/) override {
    }

    std::map<std::size_t, double> sums;
};

// Frames that wait for a link as it goes down are lost, and no link has carried them: the pieces that are
// reported and the counter of the link agree on that to the byte.
TEST(TcpFailures, WhatIsLostInAQueueWasNotCarried) {
    const std::shared_ptr<const Fabric> fabric = with_nic_down(star(2), 0, 20_us, 50_us);
    TcpBackend backend(fabric, {});
    LinkSums observer;
    ASSERT_NE(backend.observe_links(observer), network::LinkReports::kNothing);
    Recorder recorder(backend);
    recorder.send(0, 1, kSize);
    backend.run();
    const network::NetworkStatistics statistics = backend.statistics();
    const network::LinkId torn = fabric->first_link(NodeId(0));
    ASSERT_GT(statistics.links[torn].drops, 1U) << "frames waited";
    for (network::LinkId link; link.index() < fabric->link_count(); ++link) {
        EXPECT_EQ(observer.sums[link.index()], static_cast<double>(statistics.links[link].carried.count()))
            << link.index();
    }
}

// From 20 to 50 us at half the rate: 15 us of service are missing, but for the frames at both ends.
TEST(TcpFailures, ASlowCableIsSlowFromTheNextFrameOn) {
    const Time alone = run(star(2)).time;
    const Ran slow = run(with_nic_down(star(2), 1, 20_us, 50_us, 0.5));
    EXPECT_NEAR(to_seconds(slow.time - alone), to_seconds(15_us), to_seconds(2 * 120'160_ps));
    EXPECT_EQ(slow.statistics.drops, 0U);
}

// One of two spines, that of the pair, is down from 20 us on, and routes lead over the other one 10 us later:
// the connection goes on after a timeout, where it would wait for ever without new routes.
TEST(TcpFailures, RoutesLeadAroundASpineThatIsDown) {
    network::LeafSpineParameters parameters;
    parameters.hosts = 2;
    parameters.hosts_per_leaf = 1;
    parameters.spines = 2;
    const auto whole = build_leaf_spine(parameters);
    const NodeId spine = whole->target(whole->routing().route(HostId(0), HostId(1)).legs[1].link);
    std::vector<LinkFailure> failures;
    for (std::size_t i = 0; i < whole->out_degree(spine); ++i) {
        const LinkId link(whole->first_link(spine).index() + i);
        const auto cable = cable_failure(*whole, link, 20_us, Time::max());
        failures.insert(failures.end(), cable.begin(), cable.end());
    }
    const Ran around = run(failing(whole, failures, 10_us));
    EXPECT_GT(around.time, Time(0)) << around.stall;
    EXPECT_LT(around.time, run(whole).time + 2 * 10_ms);
    EXPECT_GT(around.statistics.links[whole->first_link(NodeId(0))].carried, kSize);
}

// Hosts of a ring forward: torn between 0 and 1, the connection goes the other way round.
TEST(TcpFailures, ATornRingIsCrossedTheOtherWay) {
    network::TorusParameters parameters;
    parameters.sizes = {5};
    const auto whole = build_torus(parameters);
    const LinkId torn = network::link_between(*whole, "host 0", "host 1");
    const Ran around = run(failing(whole, cable_failure(*whole, torn, 20_us, Time::max()), 10_us));
    EXPECT_GT(around.time, Time(0)) << around.stall;
    EXPECT_GT(around.statistics.links[network::link_between(*whole, "host 2", "host 1")].carried, Bytes(0));
}

// Known from the start, it costs nothing: the request takes the other way as all else.
TEST(TcpFailures, WhatFailedBeforeIsNotUsed) {
    network::TorusParameters parameters;
    parameters.sizes = {5};
    const auto whole = build_torus(parameters);
    const LinkId torn = network::link_between(*whole, "host 0", "host 1");
    const Ran around = run(failing(whole, cable_failure(*whole, torn, 0_us, Time::max()), 1_ms));
    EXPECT_GT(around.time, Time(0));
    EXPECT_EQ(around.statistics.drops, 0U);
    EXPECT_EQ(around.statistics.links[torn].carried, Bytes(0));
}

TEST(TcpFailures, APairThatIsCutForEverIsNamedAndGivesUp) {
    for (const Time from : {0_us, 20_us}) {
        const Ran cut = run(with_nic_down(star(2), 1, from, Time::max()));
        EXPECT_EQ(cut.time, Time(0));
        EXPECT_NE(cut.stall.find("cut these pairs, 1 in all:\n  host 0 -> host 1"), std::string::npos)
            << cut.stall;
        EXPECT_NE(cut.stall.find("gave up"), std::string::npos) << cut.stall;
    }
}

TEST(TcpFailures, ALinkThatGetsTooSlowForItsTimersIsRefused) {
    EXPECT_FALSE(unsupported(*with_nic_down(star(2), 1, 1_us, 2_us, 0.5)));
    EXPECT_TRUE(unsupported(*with_nic_down(star(2), 1, 1_us, 2_us, 1e-9)));
}

}  // namespace
}  // namespace astrolabe::ns3
