/// Routing where links do not all cost the same.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

LinkParameters cable(std::uint16_t cost, Time latency = 1_ns) {
    return {100_Gbps, latency, Bytes(0), cost};
}

/// Hosts 0 and 1, joined by a cable of `direct`, and by switches 2 and 3 in a row with cables of 1.
std::shared_ptr<const Fabric> detour(std::uint16_t direct, LoadBalancing load_balancing) {
    FabricBuilder builder("detour");
    builder.add_host("a");
    builder.add_host("b");
    const NodeId first = builder.add_switch("first");
    const NodeId second = builder.add_switch("second");
    builder.connect(NodeId(0), NodeId(1), cable(direct, 10_ns));
    builder.connect(NodeId(0), first, cable(1));
    builder.connect(first, second, cable(1));
    builder.connect(second, NodeId(1), cable(1));
    return std::move(builder).build(load_balancing);
}

std::vector<std::uint32_t> nodes_after_source(const Fabric& fabric, const Route& route) {
    std::vector<std::uint32_t> nodes;
    for (const RouteLeg& leg : route.legs) {
        nodes.push_back(fabric.target(leg.link).index());
    }
    return nodes;
}

TEST(LinkCost, IsOneUnlessTheBuilderSaysOtherwise) {
    FabricBuilder builder("test");
    builder.add_host("a");
    const NodeId hub = builder.add_switch("hub");
    builder.connect(NodeId(0), hub, {100_Gbps, 1_ns, Bytes(0)});
    EXPECT_EQ(std::move(builder).build()->link(LinkId(0)).cost, 1U);
}

TEST(LinkCost, DecidesBetweenFewLinksAndMany) {
    using Nodes = std::vector<std::uint32_t>;
    const std::shared_ptr<const Fabric> cheap = detour(2, LoadBalancing::kFlowHash);
    EXPECT_EQ(nodes_after_source(*cheap, cheap->routing().route(HostId(0), HostId(1))), (Nodes{1}));
    // 4 against 1 + 1 + 1.
    const std::shared_ptr<const Fabric> dear = detour(4, LoadBalancing::kFlowHash);
    EXPECT_EQ(nodes_after_source(*dear, dear->routing().route(HostId(0), HostId(1))), (Nodes{2, 3, 1}));
    EXPECT_EQ(dear->routing().route(HostId(0), HostId(1)).hops, 3U);
}

TEST(LinkCost, EqualLengthsAreSharedWhateverTheNumberOfLinks) {
    // 3 against 1 + 1 + 1: half takes 1 link and 10 ns, half takes 3 links and 3 ns.
    const std::shared_ptr<const Fabric> fabric = detour(3, LoadBalancing::kSpray);
    const Route route = fabric->routing().route(HostId(0), HostId(1));
    // By distance from the source, then by id: both links of host 0, then first → second, second → b.
    EXPECT_EQ(nodes_after_source(*fabric, route), (std::vector<std::uint32_t>{1, 2, 3, 1}));
    for (const RouteLeg& leg : route.legs) {
        EXPECT_EQ(leg.share, 0.5);
    }
    EXPECT_EQ(route.latency, 10_ns);  // of the slower path
    EXPECT_EQ(route.hops, 3U);        // of the other one
}

TEST(LinkCost, MayDifferBetweenTheDirectionsOfACable) {
    FabricBuilder builder("one way dear");
    builder.add_host("a");
    builder.add_host("b");
    const NodeId hub = builder.add_switch("hub");
    builder.connect(NodeId(0), NodeId(1), cable(1), cable(5));
    builder.connect(NodeId(0), hub, cable(1));
    builder.connect(hub, NodeId(1), cable(1));
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();
    EXPECT_EQ(fabric->routing().route(HostId(0), HostId(1)).hops, 1U);
    EXPECT_EQ(fabric->routing().route(HostId(1), HostId(0)).hops, 2U);  // 1 + 1 against 5
}

TEST(LinkCost, MayBeAsHighAsItsTypeHolds) {
    // Every bucket of the search but a few stays empty: 65,535 against 1 + 1 + 1.
    const std::shared_ptr<const Fabric> fabric = detour(65'535, LoadBalancing::kFlowHash);
    EXPECT_EQ(fabric->routing().route(HostId(0), HostId(1)).hops, 3U);
}

TEST(LinkCost, IsNeverZero) {
    FabricBuilder builder("test");
    builder.add_host("a");
    const NodeId hub = builder.add_switch("hub");
    EXPECT_THROW(builder.connect(NodeId(0), hub, cable(0)), std::logic_error);
    EXPECT_THROW(builder.connect(NodeId(0), hub, cable(1), cable(0)), std::logic_error);
}

}  // namespace
}  // namespace astrolabe::network
