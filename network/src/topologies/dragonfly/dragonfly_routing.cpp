#include "dragonfly_routing.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

DragonflyRouting::DragonflyRouting(const Fabric& fabric, std::size_t routers_per_group,
                                   LoadBalancing load_balancing, std::uint64_t seed)
    : PathRouting(fabric, load_balancing, seed),
      routers_(routers_per_group),
      groups_((fabric.node_count() - fabric.host_count()) / routers_per_group),
      between_(groups_ * groups_),
      local_(groups_ * routers_per_group * routers_per_group) {
    for (LinkId id; id.index() < fabric.link_count(); ++id) {
        const NodeId from = fabric.source(id);
        const NodeId to = fabric.target(id);
        if (fabric.node(from).kind == NodeKind::kHost || fabric.node(to).kind == NodeKind::kHost) {
            continue;
        }
        if (group_of(from) == group_of(to)) {
            const std::size_t router = from.index() - fabric.host_count();
            local_[router * routers_ + (to.index() - fabric.host_count()) % routers_] = id;
        } else {
            between_[group_of(from) * groups_ + group_of(to)].push_back(id);
        }
    }
    for (std::size_t from = 0; from < groups_; ++from) {
        for (std::size_t to = 0; to < groups_; ++to) {
            all_joined_ = all_joined_ && (from == to || !between(from, to).empty());
        }
    }
}

std::size_t DragonflyRouting::count_paths(HostId source, HostId destination) const {
    const std::size_t from = group_of(router_of(source));
    const std::size_t to = group_of(router_of(destination));
    if (from == to) {
        return 1;
    }
    std::size_t count = all_joined_ ? groups_ - 2 : 0;
    for (std::size_t group = 0; !all_joined_ && group < groups_; ++group) {
        count += leads_over(from, group, to) ? 1 : 0;
    }
    return std::max<std::size_t>(count, 1);
}

std::size_t DragonflyRouting::intermediate(std::size_t from, std::size_t to, std::size_t number) const {
    if (all_joined_) {
        const auto [low, high] = std::minmax(from, to);
        number += number >= low ? 1 : 0;
        return number + (number >= high ? 1 : 0);
    }
    for (std::size_t group = 0; group < groups_; ++group) {
        if (leads_over(from, group, to) && number-- == 0) {
            return group;
        }
    }
    return from;  // none
}

PathRouting::Path DragonflyRouting::find_path(std::size_t path, HostId source, HostId destination) const {
    const std::size_t from = group_of(router_of(source));
    const std::size_t to = group_of(router_of(destination));
    const bool has_intermediate = from != to && (!all_joined_ || groups_ > 2);
    const std::size_t over = has_intermediate ? intermediate(from, to, path) : from;
    if (over == from) {
        return shortest_path(source, destination);
    }
    Path found{fabric().first_link(fabric().node_of(source))};
    NodeId at = router_of(source);
    for (const std::size_t group : {over, to}) {
        const std::vector<LinkId>& links = between(group_of(at), group);
        // Those of the router itself lie together, as links are numbered by their source.
        const auto source_of = [&](LinkId id) { return fabric().source(id); };
        const auto first = std::ranges::lower_bound(links, at, {}, source_of);
        const auto last = std::ranges::upper_bound(links, at, {}, source_of);
        const auto begin = first == last ? links.begin() : first;
        const auto choices = static_cast<std::size_t>((first == last ? links.end() : last) - begin);
        const std::uint64_t salt = std::uint64_t{path} << 32 | at.index();
        const LinkId global = begin[static_cast<std::ptrdiff_t>(choose(source, destination, salt, choices))];
        append_local(found, at, fabric().source(global));
        found.push_back(global);
        at = fabric().target(global);
    }
    append_local(found, at, router_of(destination));
    found.push_back(*fabric().link(fabric().first_link(fabric().node_of(destination))).reverse);
    return found;
}

void DragonflyRouting::append_local(Path& path, NodeId from, NodeId to) const {
    if (from != to) {
        path.push_back(local_[(from.index() - fabric().host_count()) * routers_ +
                              (to.index() - fabric().host_count()) % routers_]);
    }
}

}  // namespace astrolabe::network
