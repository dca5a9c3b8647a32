#include "composition.hpp"

#include "composed_routing.hpp"
#include "servers_family.hpp"
#include "split_servers.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::servers {

NodeId Composition::node_in_server(ServerId server, NodeId inner) const {
    const ServerMembers& members = layout_->server(server);
    const ServerPaths& paths = *paths_[server];
    if (inner.index() < paths.gpus()) {
        return NodeId(members.first_host + inner.index());
    }
    const auto hosts = static_cast<std::uint32_t>(paths.fabric().host_count());
    if (inner.index() < hosts) {
        return layout_->nic(NicId(members.first_nic + inner.index() - paths.gpus())).node;
    }
    return NodeId(first_switch_[server] + inner.index() - hosts);
}

NodeId Composition::node_in_plane(std::uint32_t plane, NodeId outer) const {
    const auto hosts = static_cast<std::uint32_t>(layout_->planes()[plane]->host_count());
    return outer.index() < hosts ? layout_->nic(nic_at(plane, HostId(outer.index()))).node
                                 : NodeId(first_switch_of_plane_[plane] + outer.index() - hosts);
}

std::uint32_t Composition::inner_degree(NodeId node) const {
    const NodeRole& role = roles_[node];
    if (role.kind == NodeRole::Kind::kScaleOut) {
        return 0;
    }
    if (role.kind == NodeRole::Kind::kServer) {
        return static_cast<std::uint32_t>(
            paths_[ServerId(role.owner)]->fabric().out_degree(NodeId(role.index)));
    }
    const Nic& nic = layout_->nic(NicId(role.index));
    const ServerPaths& paths = *paths_[nic.server];
    return static_cast<std::uint32_t>(paths.fabric().out_degree(NodeId(paths.nic(nic.rail).index())));
}

std::vector<std::size_t> hosts_of_planes(
    const IndexedVector<ServerId, std::shared_ptr<const ServerPaths>>& servers, Rails rails) {
    std::vector<std::size_t> hosts(1, 0);
    for (const auto& server : servers) {
        if (rails != Rails::kSeparate) {
            hosts.front() += server->nics();
            continue;
        }
        hosts.resize(std::max<std::size_t>(hosts.size(), server->nics()), 0);
        for (std::uint32_t rail = 0; rail < server->nics(); ++rail) {
            ++hosts[rail];
        }
    }
    return hosts;
}

namespace {

/// "leaf 2" of plane 3 is "leaf 3.2", so that both are of one class.
std::string name_in_plane(const std::string& name, std::size_t plane) {
    const std::size_t digit = name.find_first_of("0123456789");
    return digit == std::string::npos
               ? fmt::format("{} {}", name, plane)
               : fmt::format("{}{}.{}", name.substr(0, digit), plane, name.substr(digit));
}

}  // namespace

/// Puts a fabric together, in the order of its nodes.
class Composer {
public:
    explicit Composer(const ComposedParts& parts)
        : parts_(parts),
          builder_(parts.kind),
          whole_(std::make_shared<Composition>()) {
        layout_.planes = parts.planes;
        layout_.rule = parts.rule;
        layout_.shapes_collectives = parts.shapes_collectives;
        whole_->follows_costs_ = parts.follows_costs;
    }

    [[nodiscard]] std::shared_ptr<const Fabric> make() && {
        add_servers();
        number_nics();
        add_gpus();
        add_server_switches();
        add_nic_nodes();
        add_plane_switches();
        layout_.places = {};
        whole_->layout_ = std::make_shared<const ServerLayout>(layout_);
        join_servers();
        join_planes();
        layout_.places = by_link(nodes_, places_);
        whole_->layout_ = std::make_shared<const ServerLayout>(std::move(layout_));
        if (is_split(*parts_.planes.front())) {
            builder_.set_family(std::make_shared<const SplitServersFamily>(whole_, parts_));
        } else {
            builder_.set_family(std::make_shared<const ServersFamily>(whole_));
        }
        return std::move(builder_).build([whole = whole_](const Fabric& fabric) {
            return std::make_shared<const ComposedRouting>(fabric, whole);
        });
    }

private:
    using Kind = NodeRole::Kind;

    void add_servers() {
        std::uint32_t hosts = 0;
        std::uint32_t nics = 0;
        for (ServerId id; id.index() < parts_.servers.size(); ++id) {
            const ServerPaths& server = *parts_.servers[id];
            layout_.servers.push_back({hosts, server.gpus(), nics, server.nics()});
            for (std::uint32_t gpu = 0; gpu < server.gpus(); ++gpu) {
                std::vector<NicId>& own = layout_.nics_of_host.emplace_back();
                for (const std::uint32_t nic : server.nics_of(gpu)) {
                    own.push_back(NicId(nics + nic));
                }
            }
            hosts += server.gpus();
            nics += server.nics();
            layout_.rails = std::max(layout_.rails, parts_.rails == Rails::kNone ? 0 : server.nics());
        }
        whole_->paths_ = parts_.servers;
    }

    void number_nics() {
        for (ServerId id; id.index() < parts_.servers.size(); ++id) {
            for (std::uint32_t rail = 0; rail < layout_.servers[id].nics; ++rail) {
                layout_.nics.push_back({id, rail, 0, HostId(layout_.nics.size()), NodeId(0)});
            }
        }
        whole_->nics_of_plane_.resize(parts_.planes.size());
        if (parts_.rails == Rails::kNone) {
            for (NicId nic; nic.index() < layout_.nics.size(); ++nic) {
                whole_->nics_of_plane_.front().push_back(nic);
            }
        }
        for (std::uint32_t rail = 0; rail < layout_.rails; ++rail) {
            const std::uint32_t plane = parts_.rails == Rails::kSeparate ? rail : 0;
            for (const ServerMembers& server : layout_.servers) {
                if (rail < server.nics) {
                    const NicId nic(server.first_nic + rail);
                    layout_.nics[nic].plane = plane;
                    layout_.nics[nic].host = HostId(whole_->nics_of_plane_[plane].size());
                    whole_->nics_of_plane_[plane].push_back(nic);
                }
            }
        }
        for (std::size_t plane = 0; plane < parts_.planes.size(); ++plane) {
            ASTROLABE_ASSERT(whole_->nics_of_plane_[plane].size() == parts_.planes[plane]->host_count(),
                             "every host of a scale-out network is a NIC");
        }
    }

    void add_role(NodeRole role) {
        whole_->roles_.push_back(role);
        ++nodes_;
    }

    void add_gpus() {
        for (ServerId id; id.index() < parts_.servers.size(); ++id) {
            const ServerPaths& server = *parts_.servers[id];
            for (std::uint32_t gpu = 0; gpu < server.gpus(); ++gpu) {
                builder_.add_host(fmt::format("{} {}", parts_.gpu_name, nodes_));
                if (server.has_integrated_nics()) {
                    layout_.nics[NicId(layout_.servers[id].first_nic + gpu)].node = NodeId(nodes_);
                }
                add_role({Kind::kServer, id.index(), gpu});
            }
        }
    }

    void add_server_switches() {
        std::map<std::string, std::size_t> numbers;
        for (ServerId id; id.index() < parts_.servers.size(); ++id) {
            const Fabric& server = parts_.servers[id]->fabric();
            whole_->first_switch_.push_back(static_cast<std::uint32_t>(nodes_));
            for (std::size_t i = server.host_count(); i < server.node_count(); ++i) {
                const Node& node = server.node(NodeId(i));
                const NodeId added =
                    builder_.add_switch(fmt::format("{} {}", node.name, numbers[node.name]++), node.buffer);
                if (parts_.servers[id]->is_processor(NodeId(i))) {
                    layout_.processors.push_back(added);
                }
                add_role({Kind::kServer, id.index(), static_cast<std::uint32_t>(i)});
            }
        }
    }

    void add_nic_nodes() {
        for (NicId id; id.index() < layout_.nics.size(); ++id) {
            Nic& nic = layout_.nics[id];
            const ServerPaths& server = *parts_.servers[nic.server];
            if (!server.has_integrated_nics()) {
                nic.node = builder_.add_switch(fmt::format("nic {}", id.index()), server.buffer_of(nic.rail));
                add_role({Kind::kNic, nic.server.index(), id.index()});
            }
        }
    }

    void add_plane_switches() {
        for (std::uint32_t number = 0; number < parts_.planes.size(); ++number) {
            const Fabric& plane = *parts_.planes[number];
            whole_->first_switch_of_plane_.push_back(static_cast<std::uint32_t>(nodes_));
            for (std::size_t i = plane.host_count(); i < plane.node_count(); ++i) {
                const Node& node = plane.node(NodeId(i));
                builder_.add_switch(parts_.planes.size() > 1 ? name_in_plane(node.name, number) : node.name,
                                    node.buffer);
                add_role({Kind::kScaleOut, number, static_cast<std::uint32_t>(i)});
            }
        }
    }

    FabricBuilder::Cable connect(NodeId a, NodeId b, const Link& forward, const Link& backward,
                                 LinkPlace place) {
        const auto parameters = [](const Link& link) {
            return LinkParameters{link.rate, link.latency, link.buffer, link.cost};
        };
        places_.emplace_back(a, place);
        places_.emplace_back(b, place);
        return builder_.connect(a, b, parameters(forward), parameters(backward));
    }

    /// Adds the cables of `fabric` so that the links of every node keep their order: a cable when it comes
    /// next at both of its ends. The order in which the cables of `fabric` were added is one such order.
    /// Returns, by link of `fabric`, what the builder calls it.
    template <class NodeOf, class PlaceOf>
    IndexedVector<LinkId, std::uint32_t> join(const Fabric& fabric, const NodeOf& node_of,
                                              const PlaceOf& place_of) {
        IndexedVector<LinkId, std::uint32_t> added(fabric.link_count());
        std::vector<std::uint32_t> next;
        std::deque<NodeId> waiting;
        for (NodeId node; node.index() < fabric.node_count(); ++node) {
            next.push_back(fabric.first_link(node).index());
            waiting.push_back(node);
        }
        std::size_t joined = 0;
        while (!waiting.empty()) {
            const NodeId node = waiting.front();
            waiting.pop_front();
            const std::size_t end = fabric.first_link(node).index() + fabric.out_degree(node);
            while (next[node.index()] < end) {
                const LinkId link(next[node.index()]);
                const NodeId other = fabric.target(link);
                const LinkId back = *fabric.link(link).reverse;
                if (next[other.index()] != back.index()) {
                    break;
                }
                const FabricBuilder::Cable cable = connect(node_of(node), node_of(other), fabric.link(link),
                                                           fabric.link(back), place_of(link));
                added[link] = cable.forward;
                added[back] = cable.backward;
                ++next[node.index()];
                ++next[other.index()];
                joined += 2;
                waiting.push_back(other);
            }
        }
        ASTROLABE_ASSERT(joined == fabric.link_count(), "cables were added in some order");
        return added;
    }

    void join_servers() {
        for (ServerId id; id.index() < parts_.servers.size(); ++id) {
            const ServerPaths& server = *parts_.servers[id];
            join(
                server.fabric(), [&](NodeId node) { return whole_->node_in_server(id, node); },
                [&](LinkId link) { return server.place_of(link); });
        }
    }

    void join_planes() {
        for (std::uint32_t number = 0; number < parts_.planes.size(); ++number) {
            const auto links = join(
                *parts_.planes[number], [&](NodeId node) { return whole_->node_in_plane(number, node); },
                [](LinkId) { return LinkPlace::kScaleOut; });
            set_circuits(parts_.planes[number]->circuits(), links);
        }
    }

    void set_circuits(const CircuitSchedule& circuits, const IndexedVector<LinkId, std::uint32_t>& links) {
        if (circuits.is_static()) {
            return;
        }
        ASTROLABE_ASSERT(parts_.planes.size() == 1, "there is one schedule");
        std::vector<CircuitInterval<std::uint32_t>> intervals;
        intervals.reserve(circuits.intervals().size());
        for (const CircuitInterval<LinkId>& interval : circuits.intervals()) {
            CircuitInterval<std::uint32_t>& of_whole = intervals.emplace_back();
            of_whole.duration = interval.duration;
            of_whole.links.reserve(interval.links.size());
            for (const LinkId link : interval.links) {
                of_whole.links.push_back(links[link]);
            }
        }
        builder_.set_circuits(circuits.period(), std::move(intervals));
    }

    const ComposedParts& parts_;
    FabricBuilder builder_;
    std::shared_ptr<Composition> whole_;
    ServerLayoutParts layout_;
    std::size_t nodes_ = 0;
    std::vector<std::pair<NodeId, LinkPlace>> places_;  ///< of links, as they are added
};

std::shared_ptr<const Fabric> compose(const ComposedParts& parts) {
    return Composer(parts).make();
}

}  // namespace astrolabe::network::servers
