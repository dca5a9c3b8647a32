/// Servers and their scale-out networks as one fabric.
///
/// Hosts of the whole fabric are the GPUs, server by server, so that rank i is on GPU i unless it is placed
/// elsewhere. Then come the switches of every server, the NICs, and the switches of every scale-out network:
/// a host of that network becomes the NIC that it stands for, or, where NICs are parts of GPUs, the GPU.
/// Links of a server and of a scale-out network keep their order at each node, those of the server first.
///
/// NICs are hosts of the scale-out network
///
///     server by server   NIC k of server s is number (NICs of servers before s) + k
///     by rail            number (NICs on rails before k) + (servers before s that have a rail k)
///     a plane a rail     the same within each rail, whose network is one by itself
///
/// Where the links of the scale-out network come and go, so do those of the whole, and messages take one of
/// two networks (split_servers.hpp).
///
/// Limits: a scale-out network without one-way links, whose hosts forward at once, and, where NICs are parts
/// of GPUs, without hosts that forward: whether a message at a GPU has just left the server or is passing
/// could not be told.
///
/// Complexity: O(nodes + links).
#pragma once

#include "server_paths.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network::servers {

/// How NICs are numbered as hosts of scale-out networks.
enum class Rails : std::uint8_t { kNone, kAligned, kSeparate };

struct NodeRole {
    enum class Kind : std::uint8_t { kServer, kNic, kScaleOut };
    Kind kind = Kind::kServer;
    std::uint32_t owner = 0;  ///< a server, or a plane
    std::uint32_t index = 0;  ///< a node of the server's fabric or of the plane's; of a NIC: its NicId
};

/// Node by node where the whole fabric comes from.
class Composition {
public:
    [[nodiscard]] const ServerLayout& layout() const { return *layout_; }
    [[nodiscard]] const ServerPaths& paths(ServerId server) const { return *paths_[server]; }
    [[nodiscard]] const NodeRole& role(NodeId node) const { return roles_[node]; }
    [[nodiscard]] NodeId node_in_server(ServerId server, NodeId inner) const;
    [[nodiscard]] NodeId node_in_plane(std::uint32_t plane, NodeId outer) const;
    /// Of the same node, how many links lead into its server; they come before all others.
    [[nodiscard]] std::uint32_t inner_degree(NodeId node) const;
    /// Of a plane, the NIC that is this host.
    [[nodiscard]] NicId nic_at(std::uint32_t plane, HostId host) const {
        return nics_of_plane_[plane][host.index()];
    }
    [[nodiscard]] bool follows_costs() const { return follows_costs_; }
    /// Links of the whole fabric.
    [[nodiscard]] LinkId link_in_server(const Fabric& whole, ServerId server, LinkId inner) const {
        const Fabric& fabric = paths(server).fabric();
        const NodeId source = fabric.source(inner);
        return LinkId(whole.first_link(node_in_server(server, source)).index() + inner.index() -
                      fabric.first_link(source).index());
    }
    [[nodiscard]] LinkId link_in_plane(const Fabric& whole, std::uint32_t plane, LinkId outer) const {
        const Fabric& fabric = *layout_->planes()[plane];
        const NodeId source = fabric.source(outer);
        const NodeId node = node_in_plane(plane, source);
        return LinkId(whole.first_link(node).index() + inner_degree(node) + outer.index() -
                      fabric.first_link(source).index());
    }

private:
    friend class Composer;

    bool follows_costs_ = false;
    std::shared_ptr<const ServerLayout> layout_;
    IndexedVector<ServerId, std::shared_ptr<const ServerPaths>> paths_;
    IndexedVector<ServerId, std::uint32_t> first_switch_;  ///< node of the first switch
    std::vector<std::uint32_t> first_switch_of_plane_;
    std::vector<std::vector<NicId>> nics_of_plane_;
    IndexedVector<NodeId, NodeRole> roles_;
};

/// What is composed.
struct ComposedParts {
    std::string kind = "servers";
    IndexedVector<ServerId, std::shared_ptr<const ServerPaths>> servers;
    std::vector<std::shared_ptr<const Fabric>> planes;  ///< one, or one for each rail
    Rails rails = Rails::kNone;
    NicRule rule = NicRule::kOwn;
    bool shapes_collectives = true;
    bool follows_costs = false;  ///< whether costs of links say which routes of the whole are shortest
    std::string gpu_name = "gpu";
};

/// NICs that are hosts of each scale-out network; one, or one for each rail.
[[nodiscard]] std::vector<std::size_t> hosts_of_planes(
    const IndexedVector<ServerId, std::shared_ptr<const ServerPaths>>& servers, Rails rails);

/// Requires planes with as many hosts as NICs, within the limits above.
[[nodiscard]] std::shared_ptr<const Fabric> compose(const ComposedParts& parts);

}  // namespace astrolabe::network::servers
