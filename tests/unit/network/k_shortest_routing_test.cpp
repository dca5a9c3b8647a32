/// The k shortest loopless paths, against all there are.

#include "direct_networks.hpp"
#include "network/src/topologies/flat.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

TEST(KShortestRouting, FindsPathsInOrderOfLength) {
    // A ring of 6: two links round one way, four the other, and no third way.
    const std::shared_ptr<const Fabric> fabric =
        build_direct_connect(with_paths(rings(6, {1}, DirectRouting::kKShortest), 4, 10));
    const auto found = paths(*fabric, 0, 2);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].size(), 2U);
    EXPECT_EQ(found[1].size(), 4U);
    EXPECT_EQ(fabric->routing().path_count(HostId(0), HostId(2)), 2U);
    const Route route = fabric->routing().route(HostId(0), HostId(2));
    EXPECT_EQ(route.legs.size(), 6U);
    EXPECT_EQ(route.hops, 4U);
    EXPECT_EQ(route.latency, 4 * 500_ns);
    for (const RouteLeg& leg : route.legs) {
        EXPECT_EQ(leg.share, 0.5);
    }
}

TEST(KShortestRouting, KeepsToTheDetourAndTheNumberOfPaths) {
    const DirectConnectParameters ring = rings(6, {1}, DirectRouting::kKShortest);
    EXPECT_EQ(paths(*build_direct_connect(with_paths(ring, 4, 1)), 0, 2).size(), 1U);
    EXPECT_EQ(paths(*build_direct_connect(with_paths(ring, 4, 2)), 0, 2).size(), 2U);
    EXPECT_EQ(paths(*build_direct_connect(with_paths(ring, 1, 2)), 0, 2).size(), 1U);
    // Opposite hosts: both ways are shortest.
    EXPECT_EQ(paths(*build_direct_connect(with_paths(ring, 4, 0)), 0, 3).size(), 2U);
}

TEST(KShortestRouting, LinksInParallelAreDifferentPaths) {
    const std::shared_ptr<const Fabric> fabric =
        build_direct_connect(with_paths(rings(6, {1, 1}, DirectRouting::kKShortest), 8, 0));
    EXPECT_EQ(paths(*fabric, 0, 1).size(), 2U);
    EXPECT_EQ(paths(*fabric, 0, 2).size(), 4U);  // two links, each one of two
    for (const RouteLeg& leg : fabric->routing().route(HostId(0), HostId(2)).legs) {
        EXPECT_EQ(leg.share, 0.5);
    }
}

/// All loopless paths, by trying.
void count_paths(const Fabric& fabric, NodeId at, NodeId to, std::vector<bool>& is_visited,
                 std::size_t length, std::vector<std::size_t>& of_length) {
    if (at == to) {
        ++of_length[length];
        return;
    }
    is_visited[at.index()] = true;
    for (std::size_t i = 0; i < fabric.out_degree(at); ++i) {
        const NodeId next = fabric.target(LinkId(fabric.first_link(at).index() + i));
        if (!is_visited[next.index()]) {
            count_paths(fabric, next, to, is_visited, length + 1, of_length);
        }
    }
    is_visited[at.index()] = false;
}

TEST(KShortestRouting, FindsAsManyOfEveryLengthAsThereAre) {
    for (int seed = 1; seed <= 6; ++seed) {
        DirectConnectParameters parameters;
        parameters.hosts = 8;
        parameters.random = {3, seed};
        (seed % 2 == 0 ? parameters.rings : parameters.one_way_rings) = {1};
        parameters.links = {{.from = 2, .to = 6, .one_way = true}, {.from = 4, .to = 1, .one_way = true}};
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(with_paths(parameters, 64, 64));
        for (std::size_t destination = 1; destination < 8; ++destination) {
            std::vector<std::size_t> expected(9, 0);
            std::vector<bool> is_visited(8, false);
            count_paths(*fabric, NodeId(0), NodeId(destination), is_visited, 0, expected);
            const auto found = paths(*fabric, 0, destination);
            ASSERT_EQ(found.size(),
                      std::min<std::size_t>(64, std::accumulate(expected.begin(), expected.end(), 0UL)));
            std::vector<std::size_t> lengths(9, 0);
            std::set<KShortestRouting::Path> different;
            for (const auto& path : found) {
                ++lengths[path.size()];
                ASSERT_TRUE(different.insert(path).second);
                std::set<NodeId> visited{NodeId(0)};
                NodeId at(0);
                for (const LinkId link : path) {
                    ASSERT_EQ(fabric->source(link), at);
                    at = fabric->target(link);
                    ASSERT_TRUE(visited.insert(at).second);
                }
                ASSERT_EQ(at, NodeId(destination));
            }
            // All of the short ones; of the longest length found, what there was room for.
            for (std::size_t length = 0; length < found.back().size(); ++length) {
                ASSERT_EQ(lengths[length], expected[length]);
            }
        }
    }
}

TEST(KShortestRouting, SelectOnFollowsEachPath) {
    for (const DirectConnectParameters& parameters :
         {rings(32, {1, 7}, DirectRouting::kKShortest), one_way(32, {1, 5}, DirectRouting::kKShortest)}) {
        const std::shared_ptr<const Fabric> fabric = build_direct_connect(with_paths(parameters, 4, 1));
        for (std::size_t destination = 1; destination < 32; ++destination) {
            const auto found = paths(*fabric, 0, destination);
            ASSERT_FALSE(found.empty());
            for (std::size_t path = 0; path < found.size(); ++path) {
                NodeId at(0);
                for (const LinkId link : found[path]) {
                    ASSERT_EQ(fabric->routing().select_on(path, at, HostId(0), HostId(destination)), link);
                    at = fabric->target(link);
                }
            }
        }
    }
}

TEST(KnownPaths, GiveBackWhatWasAddedInAByteAHop) {
    // The star has 200 links out of its switch, whose numbers above 127 take two bytes.
    const std::shared_ptr<const Fabric> star = build_flat({.hosts = 200, .link = {}, .switch_buffer = {}});
    KnownPaths known(*star);
    EXPECT_FALSE(known.find(HostId(0), HostId(1)));
    std::size_t code = 1;  // place 0 is none's
    for (std::size_t source = 0; source < 200; ++source) {
        const std::size_t destination = (source + 7) % 200;
        const LinkId out = star->first_link(star->node_of(HostId(source)));
        const LinkId in = *star->link(star->first_link(star->node_of(HostId(destination)))).reverse;
        known.add(HostId(source), HostId(destination), {{out, in}});
        // Two hosts, how many paths, hops, and two links of which the second is one of 200.
        const std::size_t number = in.index() - star->first_link(star->source(in)).index();
        code += 2 * 4 + 1 + 1 + 1 + (number < 128 ? 1 : 2);
    }
    for (std::size_t source = 0; source < 200; ++source) {
        const std::size_t destination = (source + 7) % 200;
        std::optional<PathReader> reader = known.find(HostId(source), HostId(destination));
        ASSERT_TRUE(reader);
        ASSERT_EQ(reader->paths(), 1U);
        ASSERT_EQ(reader->begin(), 2U);
        EXPECT_EQ(reader->next(), star->first_link(star->node_of(HostId(source))));
        EXPECT_EQ(star->target(reader->next()), star->node_of(HostId(destination)));
        EXPECT_FALSE(known.find(HostId(destination), HostId(source)));
    }
    // 512 slots of 4 bytes, as 200 pairs are more than 3/4 of 256; room for a quarter more and 1024 bytes.
    EXPECT_GE(known.bytes(), code + 4 * 512);
    EXPECT_LE(known.bytes(), code + code / 4 + 2 * 1024 + 4 * 512);
}

TEST(KnownPaths, ForgetAllWhereTheyWouldTakeTooMuch) {
    const std::shared_ptr<const Fabric> fabric =
        build_direct_connect(with_paths(rings(40, {1, 7}, DirectRouting::kKShortest), 4, 2));
    const auto* routing = dynamic_cast<const KShortestRouting*>(&fabric->routing());
    ASSERT_NE(routing, nullptr);
    constexpr std::size_t kMost = 8'192;
    KnownPaths known(*fabric, kMost);
    std::size_t forgotten = 0;
    std::size_t since = 0;  // pairs added
    for (std::size_t source = 0; source < 40; ++source) {
        for (std::size_t destination = 0; destination < 40; ++destination) {
            if (source == destination) {
                continue;
            }
            const auto found = routing->paths(HostId(source), HostId(destination));
            const std::size_t before = known.bytes();
            PathReader reader = known.add(HostId(source), HostId(destination), found);
            if (known.bytes() < before) {
                ++forgotten;
                // Nothing of it is kept but 64 slots of 4 bytes, room for 1024, and this pair.
                EXPECT_LT(known.bytes(), kMost / 2);
                EXPECT_GE(since, 2U);
                since = 0;
            }
            ++since;
            // The limit, and what one pair may add: the table doubles, and the code has a quarter more.
            EXPECT_LE(known.bytes(), 2 * kMost + 2 * 1024);
            ASSERT_EQ(reader.paths(), found.size());
            for (const auto& path : found) {
                ASSERT_EQ(reader.begin(), path.size());
                for (const LinkId link : path) {
                    ASSERT_EQ(reader.next(), link);
                }
            }
        }
    }
    EXPECT_GE(forgotten, 2U);
}

}  // namespace
}  // namespace astrolabe::network
