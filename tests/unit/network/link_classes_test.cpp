/// Classes against the routes of single links: every flow loads every link of a class as the class route
/// says.
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "random_seed.hpp"

#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/link_classes.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

/// By link: what a flow of rate 1 puts on it.
std::vector<double> loads(const Fabric& fabric, HostId source, HostId destination) {
    std::vector<double> loads(fabric.link_count(), 0.0);
    for (const RouteLeg& leg : fabric.routing().route(source, destination).legs) {
        loads[leg.link.index()] += leg.share;
    }
    return loads;
}

std::vector<double> loads(const LinkClasses& classes, const ClassRoute& route) {
    std::vector<double> loads(classes.fabric().link_count(), 0.0);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        for (const ClassLeg& leg : route.legs) {
            if (classes.class_of(LinkId(i)) == leg.link_class) {
                loads[i] = leg.load;
            }
        }
    }
    return loads;
}

void expect_same_loads(const std::shared_ptr<const Fabric>& fabric) {
    const LinkClasses classes(fabric);
    ClassRoute route;
    for (std::size_t s = 0; s < fabric->host_count(); ++s) {
        for (std::size_t d = 0; d < fabric->host_count(); ++d) {
            if (s == d) {
                continue;
            }
            const HostId source(s);
            const HostId destination(d);
            classes.find_route(source, destination, route);
            const std::vector<double> expected = loads(*fabric, source, destination);
            const std::vector<double> found = loads(classes, route);
            for (std::size_t i = 0; i < expected.size(); ++i) {
                ASSERT_NEAR(found[i], expected[i], 1e-12) << s << " to " << d << ", link " << i;
            }
            ASSERT_EQ(route.latency, fabric->routing().route(source, destination).latency);
        }
    }
}

/// Layers of switches between hosts, cabled at random but often alike, so that there is something to bundle.
std::shared_ptr<const Fabric> random_layers(std::mt19937_64& random) {
    const auto pick = [&](std::uint32_t least, std::uint32_t most) {
        return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
    };
    FabricBuilder builder("layers");
    const std::uint32_t hosts = pick(2, 9);
    std::vector<NodeId> below;
    for (std::uint32_t i = 0; i < hosts; ++i) {
        below.push_back(NodeId(builder.add_host("host").index()));
    }
    for (std::uint32_t layer = pick(1, 3); layer > 0; --layer) {
        std::vector<NodeId> above;
        const std::uint32_t count = pick(1, 5);
        const LinkParameters usual{100_Gbps, 1_us, Bytes(0), static_cast<std::uint16_t>(pick(1, 2))};
        for (std::uint32_t i = 0; i < count; ++i) {
            above.push_back(builder.add_switch("switch"));
        }
        for (const NodeId low : below) {
            const bool is_host = low.index() < hosts;
            for (std::size_t i = is_host ? pick(0, count - 1) : 0; i < count; ++i) {
                LinkParameters cable = usual;
                if (pick(0, 15) == 0) {
                    cable.rate = 50_Gbps;
                }
                builder.connect(low, above[i], cable);
                if (is_host && pick(0, 7) != 0) {
                    break;
                }
            }
        }
        below = above;
    }
    return std::move(builder).build(LoadBalancing::kSpray);
}

RC_GTEST_PROP(LinkClassesProperty, EveryFlowLoadsAllLinksOfAClassAlike, ()) {
    std::mt19937_64 random(random_seed());
    const std::shared_ptr<const Fabric> fabric = random_layers(random);
    for (std::size_t host = 1; host < fabric->host_count(); ++host) {
        RC_PRE(!fabric->routing().next_links(NodeId(0), HostId(host)).empty());
    }
    expect_same_loads(fabric);
}

constexpr HostLinkParameters kHostLink{.rate = 100_Gbps, .latency = 1_us};

TEST(LinkClasses, BundlesASprayedFatTree) {
    FatTreeParameters parameters;
    parameters.k = 4;
    parameters.link = kHostLink;
    parameters.load_balancing = LoadBalancing::kSpray;
    const auto fabric = build_fat_tree(parameters);
    // 16 hosts up and down; uplinks of 8 edges, downlinks to them; uplinks of 4 pods, downlinks to them.
    EXPECT_EQ(LinkClasses(fabric).size(), 2U * 16 + 2 * 8 + 2 * 4);
    expect_same_loads(fabric);
}

TEST(LinkClasses, BundlesThreeTiersOfUnequalWidth) {
    FatTreeParameters parameters;
    parameters.pods = 3;
    parameters.edges_per_pod = 2;
    parameters.hosts_per_edge = 3;
    parameters.aggregations_per_pod = 2;
    parameters.cores = 6;
    parameters.edge_uplinks = 2;
    parameters.link = kHostLink;
    parameters.load_balancing = LoadBalancing::kSpray;
    expect_same_loads(build_fat_tree(parameters));
}

std::shared_ptr<const Fabric> two_leaves(std::int64_t hosts_per_leaf, LoadBalancing load_balancing) {
    LeafSpineParameters parameters;
    parameters.hosts = 2 * hosts_per_leaf;
    parameters.hosts_per_leaf = hosts_per_leaf;
    parameters.spines = 2;
    parameters.link = kHostLink;
    parameters.load_balancing = load_balancing;
    return build_leaf_spine(parameters);
}

TEST(LinkClasses, KeepsHashedLinksApart) {
    const auto fabric = two_leaves(2, LoadBalancing::kFlowHash);
    EXPECT_EQ(LinkClasses(fabric).size(), fabric->link_count());
    expect_same_loads(fabric);
}

TEST(LinkClasses, HoldsTheLoadOfAllImagesOnOneLink) {
    // Two leaves of one host each that stand for one another: the flow from host 0 to host 1 and its image
    // back. Each direction of each tier carries one flow: the image's half of the spines goes the other way.
    const auto fabric = two_leaves(1, LoadBalancing::kSpray);
    const LinkClasses classes(fabric);
    ClassRoute there;
    ClassRoute back;
    classes.find_route(HostId(0), HostId(1), there);
    classes.find_route(HostId(1), HostId(0), back);
    ASSERT_EQ(there.legs.size(), 4U);  // host, leaf to spines, spines to leaf, host
    std::vector<std::uint32_t> leg_of(classes.size(), 0);
    for (std::uint32_t i = 0; i < 4; ++i) {
        leg_of[there.legs[i].link_class] = i;
        leg_of[back.legs[i].link_class] = i;
    }
    std::vector<std::uint32_t> number(4, 4);
    std::vector<std::uint32_t> image_of;
    std::uint32_t next = 0;
    for (const std::uint32_t leg : leg_of) {
        if (number[leg] == 4) {
            number[leg] = next++;
        }
        image_of.push_back(number[leg]);
    }
    const LinkClasses folded = classes.fold(image_of, 2);
    ASSERT_EQ(folded.size(), 4U);
    folded.find_route(HostId(0), HostId(1), there);
    const double expected[] = {1.0, 0.5, 0.5, 1.0};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(there.legs[i].load, expected[i]);
    }
}

}  // namespace
}  // namespace astrolabe::network
