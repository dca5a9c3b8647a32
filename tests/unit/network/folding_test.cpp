/// Which maps of ranks a network carries onto itself, and what the classes are then.
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/torus.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/folding.hpp>

namespace astrolabe::network {
namespace {

constexpr HostLinkParameters kLink{.rate = 100_Gbps, .latency = 1_us};

std::vector<HostId> first_hosts(std::size_t count) {
    std::vector<HostId> hosts;
    for (std::size_t host = 0; host < count; ++host) {
        hosts.emplace_back(host);
    }
    return hosts;
}

FoldedClasses fold(const std::shared_ptr<const Fabric>& fabric, const Folding& folding,
                   const RankPairs& pairs = std::nullopt) {
    return fold_classes(LinkClasses(fabric), first_hosts(folding.ranks), folding, pairs);
}

std::shared_ptr<const Fabric> fat_tree(LoadBalancing load_balancing = LoadBalancing::kSpray) {
    FatTreeParameters parameters;
    parameters.k = 4;
    parameters.link = kLink;
    parameters.load_balancing = load_balancing;
    return build_fat_tree(parameters);
}

TEST(Folding, AllHostsOfOneSwitchAreOne) {
    const auto fabric = build_flat({.hosts = 16384, .link = kLink, .switch_buffer = {}});
    const FoldedClasses folded = fold(fabric, {.ranks = 16384, .representatives = 1});
    ASSERT_TRUE(folded.classes) << folded.refusal;
    EXPECT_EQ(folded.classes->size(), 2U);  // up and down
    EXPECT_EQ(folded.classes->flows_per_representative(), 16384U);
    ClassRoute route;
    folded.classes->find_route(HostId(0), HostId(77), route);
    // Of 16,384 images one goes over each link up and one over each link down.
    ASSERT_EQ(route.legs.size(), 2U);
    EXPECT_EQ(route.legs[0].load, 1.0);
    EXPECT_EQ(route.legs[1].load, 1.0);
    EXPECT_EQ(route.latency, 2_us);
}

TEST(Folding, PodsOfASprayedFatTreeAreOne) {
    const auto fabric = fat_tree();
    const FoldedClasses folded = fold(fabric, {.ranks = 16, .representatives = 4});
    ASSERT_TRUE(folded.classes) << folded.refusal;
    // Of one pod: 4 hosts up and down, 2 edge switches up and down, and its uplinks to the cores and back.
    EXPECT_EQ(folded.classes->size(), 2U * 4 + 2 * 2 + 2);
    ClassRoute route;
    folded.classes->find_route(HostId(0), HostId(4), route);
    // Host, edge, pod, pod, edge, host. A pod has 4 uplinks for an edge's 2, so a flow of rate 1 puts 1/2 on
    // an edge's and 1/4 on a pod's; each of the 4 pods sends one image and receives one.
    ASSERT_EQ(route.legs.size(), 6U);
    const std::vector<double> expected{1.0, 0.5, 0.25, 0.25, 0.5, 1.0};
    for (std::size_t leg = 0; leg < expected.size(); ++leg) {
        EXPECT_EQ(route.legs[leg].load, expected[leg]) << leg;
    }
}

TEST(Folding, AnExclusiveOrInsideAnEdgeSwitchFoldsAFatTreeFurther) {
    // i xor 1 swaps the two hosts of every edge switch, and so on up to pods: the tree looks the same.
    const FoldedClasses folded =
        fold(fat_tree(), {.ranks = 16, .representatives = 1, .equivalence = Equivalence::kExclusiveOr});
    ASSERT_TRUE(folded.classes) << folded.refusal;
    EXPECT_EQ(folded.classes->size(), 6U);  // up and down: hosts, edges, pods
}

TEST(Folding, ARotationByLessThanAPodDoesNotFoldAFatTree) {
    for (const std::size_t kept : {1U, 2U}) {
        const FoldedClasses folded = fold(fat_tree(), {.ranks = 16, .representatives = kept});
        EXPECT_FALSE(folded.classes);
        EXPECT_NE(folded.refusal.find("is not like that from rank"), std::string::npos) << folded.refusal;
    }
}

TEST(Folding, PathsChosenByHashAreNotImages) {
    EXPECT_FALSE(fold(fat_tree(LoadBalancing::kFlowHash), {.ranks = 16, .representatives = 8}).classes);
}

TEST(Folding, PartOfTheHostsFoldsWhereItIsAlike) {
    LeafSpineParameters parameters;
    parameters.hosts = 12;
    parameters.hosts_per_leaf = 4;
    parameters.spines = 2;
    parameters.link = kLink;
    parameters.load_balancing = LoadBalancing::kSpray;
    const auto fabric = build_leaf_spine(parameters);
    EXPECT_TRUE(fold(fabric, {.ranks = 12, .representatives = 4}).classes);
    EXPECT_TRUE(fold(fabric, {.ranks = 8, .representatives = 4}).classes);
    EXPECT_FALSE(
        fold(fabric, {.ranks = 6, .representatives = 3}).classes);  // leaf 0 has 4 of the ranks, leaf 1 has 2
}

TEST(Folding, OnlyThePairsThatSendHaveToBeImages) {
    TorusParameters parameters;
    parameters.sizes = {4, 4};
    const auto fabric = build_torus(parameters);
    // Neighbours in dimension 1 have one path; ranks two steps away have several, of which a hash takes one.
    const RankPairs neighbours =
        std::vector<std::pair<std::size_t, std::size_t>>{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    EXPECT_TRUE(fold(fabric, {.ranks = 16, .representatives = 4}, neighbours).classes);
    EXPECT_FALSE(fold(fabric, {.ranks = 16, .representatives = 4}).classes);
}

TEST(Folding, ATorusInTheOrderOfDimensionsMovesAlongItsLast) {
    TorusParameters parameters;
    parameters.routing = GridRule::kDimensionOrder;
    // Of lines of 4 the way half round depends on the parity of the destination, so that two steps are needed
    // to come to where all is alike: 2 * 4 ranks. Lines of 3 and 5 have no such way, and one step is enough.
    // A step across the end of a line of 3 turns the parity, so where another is even nothing folds.
    for (const auto& [sizes, representatives] : {std::pair<std::vector<std::int64_t>, std::size_t>{{4, 4}, 8},
                                                 {{3, 5}, 3},
                                                 {{2, 3, 4}, 12},
                                                 {{4, 3}, 12}}) {
        parameters.sizes = sizes;
        const auto fabric = build_torus(parameters);
        const std::size_t ranks = fabric->host_count();
        for (std::size_t tried = 1; tried < ranks; ++tried) {
            if (ranks % tried == 0) {
                EXPECT_EQ(fold(fabric, {.ranks = ranks, .representatives = tried}).classes.has_value(),
                          tried % representatives == 0)
                    << ranks << " ranks as " << tried;
            }
        }
    }
}

TEST(Folding, ADifferentCableIsNoImage) {
    FabricBuilder builder("uneven");
    for (std::size_t host = 0; host < 4; ++host) {
        builder.add_host("host");
    }
    const NodeId hub = builder.add_switch("switch");
    for (std::size_t host = 0; host < 4; ++host) {
        builder.connect(NodeId(host), hub, {host == 3 ? 50_Gbps : 100_Gbps, 1_us, Bytes(0)});
    }
    const auto fabric = std::move(builder).build();
    EXPECT_FALSE(fold(fabric, {.ranks = 4, .representatives = 1}).classes);
    EXPECT_FALSE(fold(fabric, {.ranks = 4, .representatives = 2}).classes);
    EXPECT_TRUE(fold(fabric, {.ranks = 3, .representatives = 1}).classes);
}

TEST(Folding, CircuitsAreNotFolded) {
    FabricBuilder builder("circuits");
    builder.add_host("a");
    builder.add_host("b");
    const auto cable = builder.connect(NodeId(0), NodeId(1), {100_Gbps, 1_us, Bytes(0)});
    builder.set_circuits(10_us, {{5_us, {cable.forward, cable.backward}}, {5_us, {}}});
    const FoldedClasses folded = fold(std::move(builder).build(), {.ranks = 2, .representatives = 1});
    EXPECT_FALSE(folded.classes);
    EXPECT_EQ(folded.refusal, "circuits of the network come and go");
}

}  // namespace
}  // namespace astrolabe::network
