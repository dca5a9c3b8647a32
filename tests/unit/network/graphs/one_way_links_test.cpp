/// One-way links beside switches: routes, times, parts, and what hangs on one cable.
#include "../fabric_structure.hpp"
#include "../graph_networks.hpp"
#include "../transfers.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/analysis/graph_export.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/cost/cost.hpp>

namespace astrolabe::network {
namespace {

class OneWayLinksTest : public GraphTest {
protected:
    /// A ring of three switches in one direction, a host on each.
    static std::string ring(const std::string& keys) {
        return R"(kind: graph
link: {rate: 100Gbps, latency: 1us}
nodes: [{name: h, count: 3}, {name: s, kind: switch, count: 3}]
links:
  - {from: h, to: s, pairing: each}
  - {from: [s 0, s 1, s 2], to: [s 1, s 2, s 0], pairing: each, one_way: true}
)" + keys;
    }
};

// 1 MB takes 80 us over a link of 100 Gb/s. From h 0 there are 3 links to h 1 and 4 to h 2; both messages
// leave over the cable of h 0, which carries 2 MB. h 1's message to h 0 crosses s 1 - s 2 - s 0.
TEST_F(OneWayLinksTest, SwitchesAreJoinedInOneDirection) {
    for (const std::string balancing : {"flow_hash", "spray"}) {
        const auto fabric = build(ring("load_balancing: " + balancing + "\n"));
        ASSERT_TRUE(fabric) << render(errors_);
        EXPECT_EQ(fabric->one_way_link_count(), 3U);
        EXPECT_EQ(hops(*fabric, 0, 1), 3U);
        EXPECT_EQ(hops(*fabric, 0, 2), 4U);
        EXPECT_EQ(hops(*fabric, 1, 0), 4U);
        const std::vector<Time> times = deliver_together(fabric, {{0, 1, 1_MB}, {0, 2, 1_MB}, {1, 0, 1_MB}});
        EXPECT_EQ(times[0], 160_us + 3 * 1_us);
        EXPECT_EQ(times[1], 160_us + 4 * 1_us);
        // Link s 1 - s 2 has it and what h 0 sends to h 2, half of the rate of a cable.
        EXPECT_EQ(times[2], 160_us + 4 * 1_us);
    }
}

// Every switch has a port for its host and one for its neighbours, which sends over one fibre and receives
// over another; the three fibres of the ring are a cable and a half, so two.
TEST_F(OneWayLinksTest, APortSendsOverOneAndReceivesOverAnother) {
    const auto fabric = build(ring(""));
    ASSERT_TRUE(fabric) << render(errors_);
    const std::vector<PartCount> expected{{Part::kNicPort, 100_Gbps, 3},
                                          {Part::kSwitchPort, 100_Gbps, 3 + 3},
                                          {Part::kTransceiver, 100_Gbps, 2 * 3 + 3},
                                          {Part::kFibre, 100_Gbps, 3 + 2}};
    std::vector<PartCount> parts = count_parts(*fabric, {});
    ASSERT_EQ(parts.size(), expected.size());
    for (const PartCount& part : expected) {
        EXPECT_NE(std::find(parts.begin(), parts.end(), part), parts.end())
            << static_cast<int>(part.part) << ": " << part.count;
    }
}

// h 0 sends to s over a link of 10 Gb/s and receives over one of 100 Gb/s: two one-way links, of which
// neither is the way back of the other, so that it is a place by itself and its routes are found like any.
TEST_F(OneWayLinksTest, AHostMaySendAndReceiveOverDifferentLinks) {
    for (const std::string balancing : {"flow_hash", "spray"}) {
        const auto fabric = build(R"(kind: graph
link: {rate: 100Gbps, latency: 1us}
nodes: [{name: h, count: 2}, {name: s, kind: switch}]
links:
  - {from: h 0, to: s, rate: 10Gbps, one_way: true}
  - {from: s, to: h 0, one_way: true}
  - {from: h 1, to: s}
load_balancing: )" + balancing + "\n");
        ASSERT_TRUE(fabric) << render(errors_);
        EXPECT_EQ(place_of(*fabric, HostId(0)), NodeId(0));
        EXPECT_EQ(place_of(*fabric, HostId(1)), NodeId(2));
        const std::vector<Time> times = deliver_together(fabric, {{0, 1, 1_MB}, {1, 0, 1_MB}});
        EXPECT_EQ(times[0], 800_us + 2 * 1_us);
        EXPECT_EQ(times[1], 80_us + 2 * 1_us);
        RouteLoad load(*fabric, fabric->routing().load_balancing());
        load.add(HostId(1), HostId(0), 7.0);
        const IndexedVector<LinkId, double> links = load.links();
        double sum = 0;
        for (LinkId id; id.index() < links.size(); ++id) {
            sum += links[id];
        }
        EXPECT_EQ(sum, 2 * 7.0);
        // Written and read back it is itself.
        std::string text;
        export_graph(*fabric, GraphExport::kNodeLink, [&text](std::string_view piece) { text += piece; });
        write("again.json", text);
        const auto again = build("{kind: graph, file: again.json, load_balancing: " + balancing + "}");
        ASSERT_TRUE(again) << render(errors_);
        expect_same(*again, *fabric);
    }
}

// All hosts have the same switches, but nothing leads into h 0: h 1 and h 2 do not reach it.
TEST_F(OneWayLinksTest, AHostThatNothingLeadsToIsNamed) {
    EXPECT_EQ(defect(R"(kind: graph
nodes:
  - {name: h, count: 3}
  - {name: s, kind: switch}
links:
  - {from: h 0, to: s, one_way: true}
  - {from: h 1..2, to: s}
)"),
              "3:5 no path leads from 'h 1' to 'h 0'");
}

// The first switch is isolated: what lies between all is a neighbour of the first host. 20,000 hosts take one
// search, not 20,000.
TEST_F(OneWayLinksTest, AnIsolatedSwitchDoesNotSlowTheCheck) {
    const auto fabric = build(R"(kind: graph
nodes: [{name: t, kind: switch}, {name: h, count: 20000}, {name: s, kind: switch, count: 2}]
links: [{from: h, to: s}]
)");
    ASSERT_TRUE(fabric) << render(errors_);
    EXPECT_EQ(fabric->host_count(), 20'000U);
}

}  // namespace
}  // namespace astrolabe::network
