#include "neighbour_routing.hpp"

#include <algorithm>
#include <tuple>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

NeighbourRouting::NeighbourRouting(const Fabric& fabric)
    : fabric_(fabric) {
    ASTROLABE_ASSERT(fabric.node_count() == fabric.host_count(), "neighbours are hosts");
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        links_.push_back(link);
    }
    std::sort(links_.begin(), links_.end(), [&fabric](LinkId a, LinkId b) {
        return std::tuple(fabric.source(a), fabric.target(a), a) <
               std::tuple(fabric.source(b), fabric.target(b), b);
    });
}

std::span<const LinkId> NeighbourRouting::next_links(NodeId at, HostId destination) const {
    // Links are numbered by source, so those out of `at` are together here too.
    const std::size_t first = fabric_.first_link(at).index();
    const std::span<const LinkId> out = std::span(links_).subspan(first, fabric_.out_degree(at));
    const NodeId target = fabric_.node_of(destination);
    const auto begin = std::partition_point(out.begin(), out.end(),
                                            [&](LinkId link) { return fabric_.target(link) < target; });
    const auto end =
        std::partition_point(begin, out.end(), [&](LinkId link) { return fabric_.target(link) == target; });
    return {begin, end};
}

LinkId NeighbourRouting::select(NodeId at, HostId source, HostId destination) const {
    return select_on(0, at, source, destination);
}

LinkId NeighbourRouting::select_on(std::size_t path, NodeId at, HostId, HostId destination) const {
    return next_links(at, destination)[path];
}

std::size_t NeighbourRouting::path_count(HostId source, HostId destination) const {
    return next_links(fabric_.node_of(source), destination).size();
}

Route NeighbourRouting::route(HostId source, HostId destination) const {
    Route route;
    const std::span<const LinkId> links = next_links(fabric_.node_of(source), destination);
    for (const LinkId link : links) {
        route.legs.push_back({link, 1.0 / static_cast<double>(links.size())});
        route.latency = std::max(route.latency, hop_latency(fabric_, link, true));
        route.hops = 1;
    }
    return route;
}

}  // namespace astrolabe::network
