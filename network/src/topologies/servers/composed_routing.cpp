#include "composed_routing.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::servers {

ComposedRouting::ComposedRouting(const Fabric& fabric, std::shared_ptr<const Composition> whole)
    : fabric_(fabric),
      whole_(std::move(whole)),
      layout_(whole_->layout()) {
    ids_.reserve(fabric.link_count());
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        ids_.emplace_back(i);
    }
    for (std::uint32_t number = 0; number < layout_.planes().size(); ++number) {
        IndexedVector<LinkId, LinkId>& links = links_of_plane_.emplace_back();
        for (LinkId link; link.index() < layout_.planes()[number]->link_count(); ++link) {
            links.push_back(whole_->link_in_plane(fabric, number, link));
        }
        planes_.push_back(plane_at_speed(number));
    }
}

std::shared_ptr<const Fabric> ComposedRouting::plane_at_speed(std::uint32_t number) const {
    const std::shared_ptr<const Fabric>& plane = layout_.planes()[number];
    const auto speed = [&](LinkId link) {
        const Link& now = fabric_.link(links_of_plane_[number][link]);
        return LinkSpeed{now.rate, now.latency};
    };
    for (LinkId link; link.index() < plane->link_count(); ++link) {
        if (speed(link).rate != plane->link(link).rate || speed(link).latency != plane->link(link).latency) {
            return plane->with_speeds(
                speed, [](Time time) { return time; }, nullptr);
        }
    }
    return plane;
}

LoadBalancing ComposedRouting::load_balancing() const {
    return planes_.front()->routing().load_balancing();
}

HostId ComposedRouting::position(NicId nic) const {
    const Nic& of = layout_.nic(nic);
    return whole_->paths(of.server).nic(of.rail);
}

NodeId ComposedRouting::inner_node(NodeId at) const {
    const NodeRole& role = whole_->role(at);
    return role.kind == NodeRole::Kind::kNic ? NodeId(position(NicId(role.index)).index())
                                             : NodeId(role.index);
}

bool ComposedRouting::is_inside(HostId source, HostId destination) const {
    const ServerId server = layout_.server_of(source);
    return server == layout_.server_of(destination) &&
           whole_->paths(server).reaches(NodeId(position(source).index()), position(destination));
}

ComposedRouting::Part ComposedRouting::in_server(ServerId server, NodeId at, HostId from, HostId to) const {
    return {true, server.index(), inner_node(at), from, to};
}

ComposedRouting::Part ComposedRouting::in_plane(NodeId at, NicId from, NicId to) const {
    const NodeRole& role = whole_->role(at);
    const Nic& leaves = layout_.nic(from);
    const Nic& arrives = layout_.nic(to);
    NodeId outer(role.index);
    if (role.kind == NodeRole::Kind::kNic) {
        outer = NodeId(layout_.nic(NicId(role.index)).host.index());
    } else if (role.kind == NodeRole::Kind::kServer) {
        outer = NodeId(leaves.host.index());  // a GPU whose part the NIC is
    }
    return {false, leaves.plane, outer, leaves.host, arrives.host};
}

ComposedRouting::Part ComposedRouting::part_of(NodeId at, HostId source, HostId destination) const {
    const ServerId first = layout_.server_of(source);
    const ServerId last = layout_.server_of(destination);
    if (is_inside(source, destination)) {
        return in_server(first, at, position(source), position(destination));
    }
    const auto [leaves, arrives] = layout_.nics_between(source, destination);
    const NodeRole& role = whole_->role(at);
    const NodeId entry = layout_.nic(arrives).node;
    if (at == entry) {
        return in_server(last, at, position(arrives), position(destination));
    }
    if (role.kind != NodeRole::Kind::kServer || at == layout_.nic(leaves).node) {
        return in_plane(at, leaves, arrives);
    }
    // Both may be one server, whose GPUs do not reach each other inside.
    const bool arrived = ServerId(role.owner) == last &&
                         whole_->paths(last).reaches(NodeId(role.index), position(destination));
    return arrived ? in_server(last, at, position(arrives), position(destination))
                   : in_server(first, at, position(source), position(leaves));
}

NicId ComposedRouting::exit_of(NodeId at, ServerId server, HostId destination) const {
    const ServerMembers& members = layout_.server(server);
    if (at.index() < fabric_.host_count()) {
        return layout_.nics_between(HostId(at.index()), destination).first;
    }
    const std::uint32_t rail = layout_.nic(layout_.nics_of(destination).front()).rail;
    if (layout_.rule() == NicRule::kRail && rail < members.nics) {
        return NicId(members.first_nic + rail);
    }
    const std::span<const std::uint32_t> nearest =
        whole_->paths(server).nics_near(NodeId(whole_->role(at).index));
    return NicId(members.first_nic + nearest[rail % nearest.size()]);
}

std::optional<NicId> ComposedRouting::entry_of(std::uint32_t plane, HostId destination) const {
    const NicId own = layout_.nics_of(destination).front();
    if (layout_.nic(own).plane == plane) {
        return own;
    }
    const ServerMembers& members = layout_.server(layout_.server_of(destination));
    // Planes are rails then.
    return plane < members.nics ? std::optional(NicId(members.first_nic + plane)) : std::nullopt;
}

ComposedRouting::Part ComposedRouting::part_towards(NodeId at, HostId destination) const {
    const NodeRole& role = whole_->role(at);
    const ServerId last = layout_.server_of(destination);
    const HostId to = position(destination);
    if (role.kind == NodeRole::Kind::kServer) {
        const ServerId here(role.owner);
        if (here == last && whole_->paths(last).reaches(NodeId(role.index), to)) {
            return in_server(last, at, to, to);
        }
        const NicId exit = exit_of(at, here, destination);
        if (layout_.nic(exit).node != at) {
            return in_server(here, at, position(exit), position(exit));
        }
        const NicId entry = entry_of(layout_.nic(exit).plane, destination).value_or(exit);
        return in_plane(at, exit, entry);
    }
    const std::uint32_t plane =
        role.kind == NodeRole::Kind::kNic ? layout_.nic(NicId(role.index)).plane : role.owner;
    const std::optional<NicId> entry = entry_of(plane, destination);
    if (!entry || layout_.nic(*entry).node == at) {
        return in_server(last, at, to, to);
    }
    return in_plane(at, *entry, *entry);
}

LinkId ComposedRouting::whole_link(const Part& part, LinkId link) const {
    return part.is_server ? whole_->link_in_server(fabric_, ServerId(part.owner), link)
                          : links_of_plane_[part.owner][link];
}

std::span<const LinkId> ComposedRouting::whole_links(const Part& part, std::span<const LinkId> links) const {
    if (links.empty()) {
        return {};
    }
    const LinkId first = whole_link(part, links.front());
    if (links.back().index() - links.front().index() + 1 == links.size()) {
        return std::span(ids_).subspan(first.index(), links.size());
    }
    const std::tuple key(part.is_server, part.owner, links.data(), links.size());
    {
        const std::shared_lock lock(growing_);
        if (const auto known = sets_.find(key); known != sets_.end()) {
            return known->second;
        }
    }
    const std::unique_lock lock(growing_);
    std::vector<LinkId>& set = sets_[key];
    if (set.empty()) {
        for (const LinkId link : links) {
            set.push_back(whole_link(part, link));
        }
    }
    return set;
}

std::span<const LinkId> ComposedRouting::next_links(NodeId at, HostId destination) const {
    if (at == fabric_.node_of(destination)) {
        return {};
    }
    const Part part = part_towards(at, destination);
    const RoutingPolicy& routing =
        part.is_server ? whole_->paths(ServerId(part.owner)).routing() : planes_[part.owner]->routing();
    return whole_links(part, routing.next_links(part.at, part.destination));
}

LinkId ComposedRouting::select(NodeId at, HostId source, HostId destination) const {
    const Part part = part_of(at, source, destination);
    const RoutingPolicy& routing =
        part.is_server ? whole_->paths(ServerId(part.owner)).routing() : planes_[part.owner]->routing();
    return whole_link(part, routing.select(part.at, part.source, part.destination));
}

std::size_t ComposedRouting::path_count(HostId source, HostId destination) const {
    if (is_inside(source, destination)) {
        return 1;
    }
    const auto [leaves, arrives] = layout_.nics_between(source, destination);
    const Nic& from = layout_.nic(leaves);
    return planes_[from.plane]->routing().path_count(from.host, layout_.nic(arrives).host);
}

LinkId ComposedRouting::select_on(std::size_t path, NodeId at, HostId source, HostId destination) const {
    const Part part = part_of(at, source, destination);
    if (part.is_server) {
        return select(at, source, destination);
    }
    return whole_link(part,
                      planes_[part.owner]->routing().select_on(path, part.at, part.source, part.destination));
}

template <class Next>
Route ComposedRouting::walk(HostId source, HostId destination, const Next& next) const {
    Route route;
    const NodeId target = fabric_.node_of(destination);
    for (NodeId at = fabric_.node_of(source); at != target;) {
        const LinkId link = next(at);
        route.legs.push_back({link, 1.0});
        route.latency = saturating_sum(route.latency, hop_latency(fabric_, link, route.legs.size() == 1));
        at = fabric_.target(link);
    }
    route.hops = route.legs.size();
    return route;
}

namespace {

/// Adds `legs` with a part of their share, those that are known to what is there.
void merge(std::vector<RouteLeg>& into, const std::vector<RouteLeg>& legs, double share) {
    for (const RouteLeg& leg : legs) {
        const auto known = std::ranges::find(into, leg.link, &RouteLeg::link);
        if (known == into.end()) {
            into.push_back({leg.link, leg.share * share});
        } else {
            known->share += leg.share * share;
        }
    }
}

}  // namespace

Route ComposedRouting::route(HostId source, HostId destination) const {
    if (next_links(fabric_.node_of(source), destination).empty()) {
        return {};
    }
    switch (load_balancing()) {
        case LoadBalancing::kFlowHash:
            return walk(source, destination, [&](NodeId at) { return select(at, source, destination); });
        case LoadBalancing::kSpray:
            return spread(source, destination);
        case LoadBalancing::kPaths:
            break;
    }
    const std::size_t paths = path_count(source, destination);
    Route all;
    for (std::size_t path = 0; path < paths; ++path) {
        const Route one =
            walk(source, destination, [&](NodeId at) { return select_on(path, at, source, destination); });
        merge(all.legs, one.legs, 1.0 / static_cast<double>(paths));
        all.latency = std::max(all.latency, one.latency);
        all.hops = std::max(all.hops, one.hops);
    }
    return all;
}

Route ComposedRouting::spread(HostId source, HostId destination) const {
    struct Arrival {
        double share = 0;
        Time latency;
        std::size_t hops = 0;
    };
    // In each part all paths to a node cost the same, so a stage is complete before it is entered.
    const NodeId target = fabric_.node_of(destination);
    std::map<std::uint64_t, std::map<NodeId, Arrival>> stages;
    stages[0][fabric_.node_of(source)].share = 1.0;
    Route route;
    while (!stages.empty()) {
        const auto stage = stages.extract(stages.begin());
        for (const auto& [node, here] : stage.mapped()) {
            if (node == target) {
                route.latency = std::max(route.latency, here.latency);
                route.hops = std::max(route.hops, here.hops);
                continue;
            }
            const std::span<const LinkId> links = next_links(node, destination);
            const double share = here.share / static_cast<double>(links.size());
            for (const LinkId link : links) {
                route.legs.push_back({link, share});
                Arrival& next = stages[stage.key() + fabric_.link(link).cost][fabric_.target(link)];
                next.share += share;
                next.latency = std::max(
                    next.latency, saturating_sum(here.latency, hop_latency(fabric_, link, here.hops == 0)));
                next.hops = std::max(next.hops, here.hops + 1);
            }
        }
    }
    return route;
}

}  // namespace astrolabe::network::servers
