#include "ring_class_routing.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

RingClassRouting::RingClassRouting(const Fabric& fabric, CoinChange rings,
                                   std::span<const std::int64_t> offsets, const KShortestOptions& rest)
    : fabric_(fabric),
      rings_(std::move(rings)),
      rest_(fabric, rest),
      classes_(rings_.servers(), Class::kRest) {
    ASTROLABE_ASSERT(rings_.servers() == fabric.node_count(), "all nodes are hosts of the rings");
    for (const std::int64_t ring_offset : offsets) {
        const auto index = static_cast<std::size_t>(ring_offset);
        ASTROLABE_ASSERT(rings_.hops().at(index) != CoinChange::kUnreachable,
                         "rings lead as far as all-reduces go by them");
        classes_[index] = Class::kRingOffset;
    }
    for (const std::uint32_t stride : rings_.coins()) {
        classes_[stride] = Class::kNeighbours;
    }
    std::vector<std::size_t> met_by(classes_.size(), fabric.host_count());  // last host, by stride
    for (std::size_t host = 0; host < fabric.host_count(); ++host) {
        std::size_t strides = 0;
        for (std::size_t i = 0; i < fabric.out_degree(NodeId(host)); ++i) {
            const LinkId link(fabric.first_link(NodeId(host)).index() + i);
            const std::uint32_t stride = offset(host, fabric.target(link).index());
            if (classes_[stride] == Class::kNeighbours && met_by[stride] != host) {
                met_by[stride] = host;
                ++strides;
            }
        }
        ASTROLABE_ASSERT(strides == rings_.coins().size(), "a ring joins every host to the next");
    }
}

std::size_t RingClassRouting::count_links(std::size_t from, std::size_t to) const {
    const std::size_t first = fabric_.first_link(NodeId(from)).index();
    std::size_t count = 0;
    for (std::size_t i = 0; i < fabric_.out_degree(NodeId(from)); ++i) {
        count += fabric_.target(LinkId(first + i)).index() == to ? 1 : 0;
    }
    return count;
}

LinkId RingClassRouting::link_between(std::size_t from, std::size_t to, std::size_t number) const {
    const std::size_t first = fabric_.first_link(NodeId(from)).index();
    for (std::size_t i = 0; i < fabric_.out_degree(NodeId(from)); ++i) {
        if (fabric_.target(LinkId(first + i)).index() == to && number-- == 0) {
            return LinkId(first + i);
        }
    }
    ASTROLABE_ASSERT(false, "links are counted before one is chosen");
}

LinkId RingClassRouting::next_by_coins(std::size_t at, std::size_t destination) const {
    const std::uint32_t left = offset(at, destination);
    std::uint32_t coin = 0;
    while (!rings_.leads(coin, left)) {
        ++coin;
    }
    const std::size_t next = (at + rings_.coins()[coin]) % rings_.servers();
    return link_between(at, next, rings_.hops()[left] % count_links(at, next));
}

std::size_t RingClassRouting::path_count(HostId source, HostId destination) const {
    switch (class_of(source, destination)) {
        case Class::kNeighbours:
            return count_links(source.index(), destination.index());
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
    if (pair_class == Class::kRingOffset && rings_.hops()[left] != CoinChange::kUnreachable) {
        return next_by_coins(at.index(), destination.index());
    }
    return at == fabric_.node_of(source) ? link_between(source.index(), destination.index(), path)
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
        const std::size_t links = count_links(source.index(), destination.index());
        for (std::size_t i = 0; i < links; ++i) {
            const LinkId link = link_between(source.index(), destination.index(), i);
            route.legs.push_back({link, 1.0 / static_cast<double>(links)});
            route.latency = std::max(route.latency, hop_latency(fabric_, link, true));
        }
        route.hops = 1;
        return route;
    }
    for (NodeId at = fabric_.node_of(source); at != fabric_.node_of(destination);) {
        const LinkId link = next_by_coins(at.index(), destination.index());
        route.legs.push_back({link, 1.0});
        route.latency = saturating_sum(route.latency, hop_latency(fabric_, link, route.hops == 0));
        ++route.hops;
        at = fabric_.target(link);
    }
    return route;
}

}  // namespace astrolabe::network
