#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/ring_class_routing.hpp>

namespace astrolabe::network {

RingClassRouting::RingClassRouting(const Fabric& fabric, topoopt::CoinChange rings,
                                   std::span<const std::int64_t> offsets, const KShortestOptions& rest)
    : fabric_(fabric),
      rings_(std::move(rings)),
      rest_(fabric, rest),
      classes_(rings_.servers(), Class::kRest) {
    ASTROLABE_ASSERT(rings_.servers() == fabric.node_count(), "all nodes are hosts of the rings");
    for (const std::int64_t ring_offset : offsets) {
        const auto index = static_cast<std::size_t>(ring_offset);
        ASTROLABE_ASSERT(rings_.hops().at(index) != topoopt::CoinChange::kUnreachable,
                         "rings lead as far as all-reduces go by them");
        classes_[index] = Class::kRingOffset;
    }
    for (const std::uint32_t stride : rings_.coins()) {
        classes_[stride] = Class::kNeighbours;
        for (std::size_t host = 0; host < fabric.host_count(); ++host) {
            ASTROLABE_ASSERT(!links_between(host, (host + stride) % rings_.servers()).empty(),
                             "a ring joins every host to the next");
        }
    }
}

std::vector<LinkId> RingClassRouting::links_between(std::size_t from, std::size_t to) const {
    std::vector<LinkId> links;
    const LinkId first = fabric_.first_link(NodeId(from));
    for (std::size_t i = 0; i < fabric_.out_degree(NodeId(from)); ++i) {
        const LinkId link(first.index() + i);
        if (fabric_.target(link).index() == to) {
            links.push_back(link);
        }
    }
    return links;
}

LinkId RingClassRouting::next_by_coins(std::size_t at, std::size_t destination) const {
    const std::uint32_t left = offset(at, destination);
    std::uint32_t coin = 0;
    while (!rings_.leads(coin, left)) {
        ++coin;
    }
    const std::vector<LinkId> links = links_between(at, (at + rings_.coins()[coin]) % rings_.servers());
    return links[rings_.hops()[left] % links.size()];
}

std::size_t RingClassRouting::path_count(HostId source, HostId destination) const {
    switch (class_of(source, destination)) {
        case Class::kNeighbours:
            return links_between(source.index(), destination.index()).size();
        case Class::kRingOffset:
            return 1;
        case Class::kRest:
            break;
    }
    return rest_.path_count(source, destination);
}

LinkId RingClassRouting::select_on(std::size_t path, NodeId at, HostId source, HostId destination) const {
    const Class pair_class = class_of(source, destination);
    if (pair_class == Class::kRest) {
        return rest_.select_on(path, at, source, destination);
    }
    const std::uint32_t left = offset(at.index(), destination.index());
    if (pair_class == Class::kRingOffset && rings_.hops()[left] != topoopt::CoinChange::kUnreachable) {
        return next_by_coins(at.index(), destination.index());
    }
    return at == fabric_.node_of(source) ? links_between(source.index(), destination.index())[path]
                                         : rest_.select(at, source, destination);
}

Route RingClassRouting::route(HostId source, HostId destination) const {
    ASTROLABE_ASSERT(source != destination, "a route leads from one host to another");
    const Class pair_class = class_of(source, destination);
    if (pair_class == Class::kRest) {
        return rest_.route(source, destination);
    }
    Route route;
    if (pair_class == Class::kNeighbours) {
        const std::vector<LinkId> links = links_between(source.index(), destination.index());
        for (const LinkId link : links) {
            route.legs.push_back({link, 1.0 / static_cast<double>(links.size())});
            route.latency = std::max(route.latency, hop_latency(fabric_, link, true));
        }
        route.hops = 1;
        return route;
    }
    for (NodeId at = fabric_.node_of(source); at != fabric_.node_of(destination);) {
        const LinkId link = next_by_coins(at.index(), destination.index());
        route.legs.push_back({link, 1.0});
        route.latency += hop_latency(fabric_, link, route.hops == 0);
        ++route.hops;
        at = fabric_.target(link);
    }
    return route;
}

}  // namespace astrolabe::network
