#include "repaired_routing.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/network/analysis/route_load.hpp>

namespace astrolabe::network {

namespace {

constexpr std::uint64_t kFarAway = std::numeric_limits<std::uint64_t>::max();

std::uint64_t pair_key(HostId source, HostId destination) {
    return (std::uint64_t{source.index()} << 32) | destination.index();
}

bool contains(std::span<const LinkId> links, LinkId link) {
    return std::ranges::find(links, link) != links.end();
}

}  // namespace

RepairedRouting::RepairedRouting(const Fabric& fabric, IndexedVector<LinkId, std::uint8_t> is_down)
    : fabric_(fabric),
      base_(fabric.routing()),
      is_down_(std::move(is_down)),
      tables_(fabric.node_count()) {
    ASTROLABE_ASSERT(is_down_.size() == fabric.link_count(), "every link is up or down");
}

bool RepairedRouting::is_crossed(NodeId node) const {
    return fabric_.node(node).kind == NodeKind::kSwitch || fabric_.node(node).forwards;
}

std::vector<std::uint8_t> RepairedRouting::find_alive(NodeId place, HostId example) const {
    std::vector<std::uint8_t> is_alive(fabric_.node_count(), 0);
    std::vector<NodeId> found{place};
    is_alive[place.index()] = 1;
    while (!found.empty()) {
        const NodeId node = found.back();
        found.pop_back();
        for (const LinkId in : fabric_.links_into(node)) {
            const NodeId before = fabric_.source(in);
            if (is_alive[before.index()] == 0 && is_up(in) &&
                contains(base_.next_links(before, example), in)) {
                is_alive[before.index()] = 1;
                found.push_back(before);
            }
        }
    }
    return is_alive;
}

std::vector<std::uint64_t> RepairedRouting::find_distances(NodeId place) const {
    using Reached = std::pair<std::uint64_t, std::uint32_t>;
    std::vector<std::uint64_t> distances(fabric_.node_count(), kFarAway);
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> waiting;
    distances[place.index()] = 0;
    waiting.emplace(0, place.index());
    while (!waiting.empty()) {
        const auto [distance, index] = waiting.top();
        waiting.pop();
        const NodeId node(index);
        if (distance > distances[index] || (node != place && !is_crossed(node))) {
            continue;
        }
        for (const LinkId in : fabric_.links_into(node)) {  // backwards from the destination
            std::uint64_t& before = distances[fabric_.source(in).index()];
            if (is_up(in) && distance + fabric_.link(in).cost < before) {
                before = distance + fabric_.link(in).cost;
                waiting.emplace(before, fabric_.source(in).index());
            }
        }
    }
    return distances;
}

RepairedRouting::Table RepairedRouting::make_table(NodeId place, HostId example) const {
    const std::vector<std::uint8_t> is_alive = find_alive(place, example);
    const std::vector<std::uint64_t> distances = find_distances(place);
    const auto is_shortest = [&](LinkId link, std::size_t from) {
        const NodeId target = fabric_.target(link);
        return is_up(link) && distances[target.index()] != kFarAway &&
               (target == place || is_crossed(target)) &&
               distances[target.index()] + fabric_.link(link).cost == distances[from];
    };
    Table table;
    for (std::size_t index = 0; index < fabric_.node_count(); ++index) {
        const NodeId node(index);
        table.first.push_back(static_cast<std::uint32_t>(table.links.size()));
        table.is_reached.push_back(distances[index] != kFarAway ? 1 : 0);
        const bool is_leaf = index < fabric_.host_count() && place_of(fabric_, HostId(index)) != node;
        if (node == place || is_leaf) {
            continue;
        }
        if (is_alive[index] == 0 && distances[index] != kFarAway) {
            const LinkId first = fabric_.first_link(node);
            for (std::size_t i = 0; i < fabric_.out_degree(node); ++i) {
                if (is_shortest(LinkId(first.index() + i), index)) {
                    table.links.emplace_back(first.index() + i);
                }
            }
            continue;
        }
        for (const LinkId link : base_.next_links(node, example)) {
            if (is_alive[index] == 0 || (is_up(link) && is_alive[fabric_.target(link).index()] != 0)) {
                table.links.push_back(link);
            }
        }
    }
    table.first.push_back(static_cast<std::uint32_t>(table.links.size()));
    return table;
}

const RepairedRouting::Table& RepairedRouting::table_towards(NodeId place, HostId example) const {
    std::unique_ptr<const Table>& table = tables_[place.index()];
    if (table == nullptr) {
        table = std::make_unique<const Table>(make_table(place, example));
    }
    return *table;
}

std::span<const LinkId> RepairedRouting::next_links(NodeId at, HostId destination) const {
    const NodeId place = place_of(fabric_, destination);
    const bool is_leaf = at.index() < fabric_.host_count() && place_of(fabric_, HostId(at.index())) != at;
    if (at == place || is_leaf) {  // there is one way, up or not
        return base_.next_links(at, destination);
    }
    const Table& table = table_towards(place, destination);
    return std::span(table.links)
        .subspan(table.first[at.index()], table.first[at.index() + 1] - table.first[at.index()]);
}

bool RepairedRouting::connects(HostId source, HostId destination) const {
    const NodeId entry = place_of(fabric_, source);
    const NodeId exit = place_of(fabric_, destination);
    const NodeId from = fabric_.node_of(source);
    const NodeId to = fabric_.node_of(destination);
    if (entry != from && !is_up(fabric_.first_link(from))) {
        return false;
    }
    if (exit != to && !is_up(*fabric_.link(fabric_.first_link(to)).reverse)) {
        return false;
    }
    return entry == exit || table_towards(exit, destination).is_reached[entry.index()] != 0;
}

LinkId RepairedRouting::choose(NodeId at, HostId source, HostId destination) const {
    const std::span<const LinkId> links = next_links(at, destination);
    ASTROLABE_ASSERT(!links.empty(), "a link is selected only where there is one");
    const std::uint64_t flow = mix_bits(pair_key(source, destination) + kGoldenGamma);
    const std::uint64_t upper = mix_bits(flow + kGoldenGamma * (std::uint64_t{at.index()} + 1)) >> 32;
    return links[static_cast<std::size_t>((upper * links.size()) >> 32)];
}

RepairedRouting::Path RepairedRouting::base_path(std::size_t number, HostId source,
                                                 HostId destination) const {
    const bool is_named = load_balancing() == LoadBalancing::kPaths;
    Path path;
    const NodeId target = fabric_.node_of(destination);
    for (NodeId at = fabric_.node_of(source); at != target; at = fabric_.target(path.back())) {
        ASTROLABE_ASSERT(path.size() < fabric_.node_count(), "a path visits no node twice");
        path.push_back(is_named ? base_.select_on(number, at, source, destination)
                                : base_.select(at, source, destination));
    }
    return path;
}

bool RepairedRouting::is_whole(const Path& path) const {
    return std::ranges::all_of(path, [this](LinkId link) { return is_up(link); });
}

const std::vector<RepairedRouting::Path>& RepairedRouting::paths_of(HostId source, HostId destination) const {
    const auto [entry, is_new] = paths_.try_emplace(pair_key(source, destination));
    std::vector<Path>& paths = entry->second;
    if (!is_new) {
        return paths;
    }
    std::vector<Path> given;
    for (std::size_t number = 0; number < base_.path_count(source, destination); ++number) {
        given.push_back(base_path(number, source, destination));
    }
    std::ranges::copy_if(given, std::back_inserter(paths),
                         [this](const Path& path) { return is_whole(path); });
    if (!paths.empty() || given.empty()) {
        return paths;
    }
    if (!connects(source, destination)) {
        paths = std::move(given);
        return paths;
    }
    Path around;
    const NodeId target = fabric_.node_of(destination);
    for (NodeId at = fabric_.node_of(source); at != target; at = fabric_.target(around.back())) {
        ASTROLABE_ASSERT(around.size() < fabric_.link_count(), "the way around has no loop");
        around.push_back(choose(at, source, destination));
    }
    paths.push_back(std::move(around));
    return paths;
}

std::size_t RepairedRouting::path_count(HostId source, HostId destination) const {
    return load_balancing() == LoadBalancing::kSpray ? base_.path_count(source, destination)
                                                     : paths_of(source, destination).size();
}

LinkId RepairedRouting::select_on(std::size_t path, NodeId at, HostId source, HostId destination) const {
    if (load_balancing() != LoadBalancing::kSpray) {
        for (const LinkId link : paths_of(source, destination)[path]) {
            if (fabric_.source(link) == at) {
                return link;
            }
        }
    }
    return choose(at, source, destination);  // it was on its way when the path changed
}

LinkId RepairedRouting::select(NodeId at, HostId source, HostId destination) const {
    return select_on(0, at, source, destination);
}

Route RepairedRouting::along_paths(const std::vector<Path>& paths) const {
    struct Crossing {
        std::size_t hop;
        double share;
    };
    Route route;
    std::map<LinkId, Crossing> crossings;
    for (const Path& path : paths) {
        Time latency;
        for (std::size_t hop = 0; hop < path.size(); ++hop) {
            latency = saturating_sum(latency, hop_latency(fabric_, path[hop], hop == 0));
            const auto [entry, is_new] = crossings.try_emplace(path[hop], Crossing{hop, 0.0});
            entry->second.hop = std::min(entry->second.hop, hop);
            entry->second.share += 1.0 / static_cast<double>(paths.size());
        }
        route.latency = std::max(route.latency, latency);
        route.hops = std::max(route.hops, path.size());
    }
    for (const auto& [link, crossing] : crossings) {
        route.legs.push_back({link, crossing.share});
    }
    std::ranges::stable_sort(route.legs, {}, [&](const RouteLeg& leg) { return crossings.at(leg.link).hop; });
    return route;
}

Route RepairedRouting::spread(HostId source, HostId destination) const {
    struct Arrival {
        double share = 0;
        Time latency;
        std::size_t hops = 0;
    };
    // A node is entered when all ways into it are complete: in the reverse of the order in which a search in
    // depth leaves nodes.
    const NodeId target = fabric_.node_of(destination);
    std::vector<NodeId> order;
    std::vector<std::uint8_t> is_known(fabric_.node_count(), 0);
    std::vector<std::pair<NodeId, std::size_t>> path{{fabric_.node_of(source), 0}};
    is_known[source.index()] = 1;
    while (!path.empty()) {
        const NodeId node = path.back().first;
        const std::span<const LinkId> links =
            node == target ? std::span<const LinkId>() : next_links(node, destination);
        if (path.back().second == links.size()) {
            order.push_back(node);
            path.pop_back();
            continue;
        }
        const NodeId next = fabric_.target(links[path.back().second++]);
        if (std::exchange(is_known[next.index()], 1) == 0) {
            path.emplace_back(next, 0);
        }
    }
    std::map<NodeId, Arrival> arrivals;
    arrivals[fabric_.node_of(source)].share = 1;
    Route route;
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
        const Arrival here = arrivals[*node];
        if (*node == target) {
            route.latency = here.latency;
            route.hops = here.hops;
            continue;
        }
        const std::span<const LinkId> links = next_links(*node, destination);
        const double share = here.share / static_cast<double>(links.size());
        for (const LinkId link : links) {
            Arrival& there = arrivals[fabric_.target(link)];
            there.share += share;
            there.latency = std::max(
                there.latency, saturating_sum(here.latency, hop_latency(fabric_, link, here.hops == 0)));
            there.hops = std::max(there.hops, here.hops + 1);
            route.legs.push_back({link, share});
        }
    }
    std::ranges::stable_sort(route.legs, {}, [&](const RouteLeg& leg) {
        return std::tuple(arrivals.at(fabric_.source(leg.link)).hops, leg.link);
    });
    return route;
}

Route RepairedRouting::route(HostId source, HostId destination) const {
    ASTROLABE_ASSERT(source != destination, "a route leads from one host to another");
    if (load_balancing() != LoadBalancing::kSpray) {
        return along_paths(paths_of(source, destination));
    }
    return base_.next_links(fabric_.node_of(source), destination).empty() ? Route()
                                                                          : spread(source, destination);
}

}  // namespace astrolabe::network
