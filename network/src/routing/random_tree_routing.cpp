#include "random_tree_routing.hpp"

#include <algorithm>
#include <limits>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>

namespace astrolabe::network {

namespace {

constexpr std::uint16_t kFar = std::numeric_limits<std::uint16_t>::max();

/// Links on the way with fewest from `origin` to every node; kFar where none leads.
std::vector<std::uint16_t> hops_from(const Fabric& fabric, NodeId origin) {
    std::vector<std::uint16_t> hops(fabric.node_count(), kFar);
    hops[origin.index()] = 0;
    std::vector<NodeId> queue{origin};
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const NodeId node = queue[next];
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            const NodeId neighbour = fabric.target(LinkId(fabric.first_link(node).index() + i));
            if (hops[neighbour.index()] == kFar) {
                hops[neighbour.index()] = static_cast<std::uint16_t>(hops[node.index()] + 1);
                queue.push_back(neighbour);
            }
        }
    }
    return hops;
}

}  // namespace

RandomTreeRouting::RandomTreeRouting(const Fabric& fabric, std::uint64_t seed)
    : fabric_(fabric),
      seed_(seed),
      drawn_(std::make_unique<std::once_flag[]>(fabric.host_count())),
      trees_(fabric.host_count()),
      all_shortest_(fabric, LoadBalancing::kFlowHash, seed) {}

const RandomTreeRouting::Tree& RandomTreeRouting::tree_of(HostId source) const {
    Tree& tree = trees_[source.index()];
    std::call_once(drawn_[source.index()], [&] { tree = draw_tree(source); });
    return tree;
}

RandomTreeRouting::Tree RandomTreeRouting::draw_tree(HostId source) const {
    const NodeId root = fabric_.node_of(source);
    const std::vector<std::uint16_t> hops = hops_from(fabric_, root);
    Tree tree(fabric_.node_count(), kNowhere);
    for (NodeId node; node.index() < fabric_.node_count(); ++node) {
        if (node == root || hops[node.index()] == kFar) {
            continue;
        }
        const std::span<const LinkId> links = fabric_.links_into(node);
        const auto leads = [&](LinkId in) {
            return hops[fabric_.source(in).index()] + 1 == hops[node.index()];
        };
        const auto count = static_cast<std::uint64_t>(std::count_if(links.begin(), links.end(), leads));
        ASTROLABE_ASSERT(count > 0, "a tree leads to every node that is reached");
        const std::uint64_t pair = std::uint64_t{source.index()} << 32 | node.index();
        const std::uint64_t upper = mix_bits(mix_bits(seed_ + kGoldenGamma) ^ pair) >> 32;
        std::uint64_t left = (upper * count) >> 32;
        auto in = links.begin();
        while (!leads(*in) || left-- > 0) {
            ++in;
        }
        tree[node.index()] = *in;
    }
    return tree;
}

LinkId RandomTreeRouting::select(NodeId at, HostId source, HostId destination) const {
    const NodeId from = fabric_.node_of(source);
    const Tree& tree = tree_of(source);
    for (NodeId node = fabric_.node_of(destination); node != from;) {
        const LinkId link = tree[node.index()];
        ASTROLABE_ASSERT(link != kNowhere, "a tree leads to every node that is reached");
        node = fabric_.source(link);
        if (node == at) {
            return link;
        }
    }
    ASTROLABE_ASSERT(at.index() < fabric_.host_count() && at != from, "the way begins at its source");
    return select(at, HostId(at.index()), destination);
}

Route RandomTreeRouting::route(HostId source, HostId destination) const {
    ASTROLABE_ASSERT(source != destination, "a route leads from one host to another");
    Route route;
    const NodeId from = fabric_.node_of(source);
    const Tree& tree = tree_of(source);
    NodeId node = fabric_.node_of(destination);
    if (tree[node.index()] == kNowhere) {
        return route;
    }
    while (node != from) {
        route.legs.push_back({tree[node.index()], 1.0});
        node = fabric_.source(route.legs.back().link);
    }
    std::reverse(route.legs.begin(), route.legs.end());
    for (const RouteLeg& leg : route.legs) {
        route.latency = saturating_sum(route.latency, hop_latency(fabric_, leg.link, route.hops == 0));
        ++route.hops;
    }
    return route;
}

}  // namespace astrolabe::network
