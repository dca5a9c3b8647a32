#include "random_tree_routing.hpp"

#include "hop_table.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>

namespace astrolabe::network {

RandomTreeRouting::RandomTreeRouting(const Fabric& fabric, std::uint64_t seed)
    : fabric_(fabric),
      seed_(seed),
      hops_(std::make_unique<detail::HopTable>(fabric)),
      all_shortest_(fabric, LoadBalancing::kFlowHash, seed) {}

RandomTreeRouting::~RandomTreeRouting() = default;

LinkId RandomTreeRouting::link_to(NodeId node, HostId source) const {
    const std::vector<std::uint16_t>& hops = hops_->of(fabric_.node_of(source));
    const std::span<const LinkId> links = fabric_.links_into(node);
    const auto leads = [&](LinkId in) { return hops[fabric_.source(in).index()] + 1 == hops[node.index()]; };
    const auto count = static_cast<std::uint64_t>(std::count_if(links.begin(), links.end(), leads));
    ASTROLABE_ASSERT(count > 0, "a tree leads to every node that is reached");
    const std::uint64_t pair = std::uint64_t{source.index()} << 32 | node.index();
    const std::uint64_t upper = mix_bits(mix_bits(seed_ + kGoldenGamma) ^ pair) >> 32;
    std::uint64_t left = (upper * count) >> 32;
    auto in = links.begin();
    while (!leads(*in) || left-- > 0) {
        ++in;
    }
    return *in;
}

LinkId RandomTreeRouting::select(NodeId at, HostId source, HostId destination) const {
    const NodeId from = fabric_.node_of(source);
    for (NodeId node = fabric_.node_of(destination); node != from;) {
        const LinkId link = link_to(node, source);
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
    if (hops_->of(from)[destination.index()] == detail::HopTable::kFar) {
        return route;
    }
    for (NodeId node = fabric_.node_of(destination); node != from;
         node = fabric_.source(route.legs.back().link)) {
        route.legs.push_back({link_to(node, source), 1.0});
    }
    std::reverse(route.legs.begin(), route.legs.end());
    for (const RouteLeg& leg : route.legs) {
        route.latency += hop_latency(fabric_, leg.link, route.hops == 0);
        ++route.hops;
    }
    return route;
}

}  // namespace astrolabe::network
