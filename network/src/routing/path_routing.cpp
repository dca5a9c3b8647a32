#include "path_routing.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>

namespace astrolabe::network {

std::size_t PathRouting::choose(HostId source, HostId destination, std::uint64_t salt,
                                std::size_t choices) const {
    const std::uint64_t pair = std::uint64_t{source.index()} << 32 | destination.index();
    const std::uint64_t flow = mix_bits(mix_bits(seed_ + kGoldenGamma) ^ pair);
    const std::uint64_t upper = mix_bits(flow + kGoldenGamma * (salt + 1)) >> 32;
    return static_cast<std::size_t>((upper * choices) >> 32);
}

std::size_t PathRouting::path_count(HostId source, HostId destination) const {
    return load_balancing_ == LoadBalancing::kPaths ? count_paths(source, destination) : 1;
}

LinkId PathRouting::select(NodeId at, HostId source, HostId destination) const {
    if (load_balancing_ == LoadBalancing::kPaths) {
        return shortest_.select(at, source, destination);
    }
    return select_on(0, at, source, destination);
}

LinkId PathRouting::select_on(std::size_t path, NodeId at, HostId source, HostId destination) const {
    if (source != destination) {
        const std::size_t number = load_balancing_ == LoadBalancing::kPaths
                                       ? path
                                       : choose(source, destination, 0, count_paths(source, destination));
        for (const LinkId link : find_path(number, source, destination)) {
            if (fabric_.source(link) == at) {
                return link;
            }
        }
    }
    return shortest_.select(at, source, destination);
}

std::vector<PathRouting::Path> PathRouting::find_paths(HostId source, HostId destination) const {
    std::vector<Path> paths(count_paths(source, destination));
    for (std::size_t number = 0; number < paths.size(); ++number) {
        paths[number] = find_path(number, source, destination);
    }
    return paths;
}

Route PathRouting::route(HostId source, HostId destination) const {
    ASTROLABE_ASSERT(source != destination, "a route leads from one host to another");
    Route route;
    std::vector<Path> paths;
    if (load_balancing_ == LoadBalancing::kPaths) {
        paths = find_paths(source, destination);
    } else if (const std::size_t choices = count_paths(source, destination); choices > 0) {
        paths.push_back(find_path(choose(source, destination, 0, choices), source, destination));
    }
    std::vector<std::pair<LinkId, std::size_t>> crossings;  // a link, and how many come before it
    for (const Path& path : paths) {
        Time latency;
        for (std::size_t hop = 0; hop < path.size(); ++hop) {
            latency = saturating_sum(latency, hop_latency(fabric_, path[hop], hop == 0));
            crossings.emplace_back(path[hop], hop);
        }
        route.latency = std::max(route.latency, latency);
        route.hops = std::max(route.hops, path.size());
    }
    // Of every link its smallest number of hops and its share.
    std::ranges::sort(crossings);
    std::vector<std::pair<std::size_t, RouteLeg>> legs;
    for (auto link = crossings.begin(); link != crossings.end();) {
        const auto end = std::find_if(link, crossings.end(),
                                      [&](const auto& other) { return other.first != link->first; });
        const double share = static_cast<double>(end - link) / static_cast<double>(paths.size());
        legs.push_back({link->second, {link->first, share}});
        link = end;
    }
    std::ranges::sort(legs, {}, [](const auto& leg) { return std::pair(leg.first, leg.second.link); });
    for (const auto& [hop, leg] : legs) {
        route.legs.push_back(leg);
    }
    return route;
}

PathRouting::Path PathRouting::shortest_path(HostId source, HostId destination) const {
    Path path;
    const NodeId target = fabric_.node_of(destination);
    for (NodeId at = fabric_.node_of(source); at != target; at = fabric_.target(path.back())) {
        path.push_back(shortest_.select(at, source, destination));
    }
    return path;
}

void PathRouting::remove_circles(Path& path) const {
    std::unordered_map<NodeId, std::size_t> left_by;  // place of the link out of a node
    std::size_t kept = 0;
    for (const LinkId link : path) {
        const auto again = left_by.find(fabric_.source(link));
        if (again != left_by.end()) {
            for (std::size_t i = again->second + 1; i < kept; ++i) {
                left_by.erase(fabric_.source(path[i]));
            }
            kept = again->second;
        }
        left_by[fabric_.source(link)] = kept;
        path[kept++] = link;
    }
    if (kept > 0) {
        const auto passed = left_by.find(fabric_.target(path[kept - 1]));
        kept = passed == left_by.end() ? kept : passed->second;
    }
    path.resize(kept);
}

}  // namespace astrolabe::network
