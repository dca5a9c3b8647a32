/// Routes of servers over a scale-out network.
///
/// A pair whose source reaches the destination inside the server takes the paths of the server
/// (server_paths.hpp). Any other goes to its NIC inside the server, from there as the scale-out network's own
/// routing has it to the other NIC, and on inside that server; which NICs it takes is said by ServerLayout.
/// Its equal paths are those of the scale-out network times those inside the servers; under kPaths it has as
/// many paths as its NICs have.
///
/// `next_links` depends on the destination alone. At a switch from which several NICs are equally near, where
/// sources are on NICs of their own, what is sprayed or hashed by connection leaves through one of these, by
/// the number of the destination's NIC; `select` and `route` keep to the source's own.
///
/// Lengths of different networks are not compared, so costs of links do not say which routes are shortest,
/// unless those who compose see to it.
///
/// Memory: 4 bytes a link beside that of the parts; a look-up is one in a part and constant work. Next links
/// that are no consecutive ids are kept once for each set. Queries from several threads at once are safe.
#pragma once

#include "composition.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <tuple>
#include <utility>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network::servers {

class ComposedRouting final : public RoutingPolicy {
public:
    /// `fabric` owns the policy and outlives it; it has the nodes and links of `whole`, at any speeds.
    ComposedRouting(const Fabric& fabric, std::shared_ptr<const Composition> whole);

    [[nodiscard]] LoadBalancing load_balancing() const override;
    [[nodiscard]] bool follows_costs() const override { return whole_->follows_costs(); }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override;
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;
    [[nodiscard]] std::size_t path_count(HostId source, HostId destination) const override;
    [[nodiscard]] LinkId select_on(std::size_t path, NodeId at, HostId source,
                                   HostId destination) const override;

    [[nodiscard]] const Composition& composition() const { return *whole_; }
    /// A scale-out network with the speeds of the fabric.
    [[nodiscard]] const std::shared_ptr<const Fabric>& plane(std::uint32_t number) const {
        return planes_[number];
    }

private:
    /// A step inside a server or a plane, in its own numbers.
    struct Part {
        bool is_server = true;
        std::uint32_t owner = 0;
        NodeId at;
        HostId source;
        HostId destination;
    };

    [[nodiscard]] std::shared_ptr<const Fabric> plane_at_speed(std::uint32_t number) const;
    [[nodiscard]] bool is_inside(HostId source, HostId destination) const;
    [[nodiscard]] Part part_of(NodeId at, HostId source, HostId destination) const;
    [[nodiscard]] Part part_towards(NodeId at, HostId destination) const;
    [[nodiscard]] Part in_server(ServerId server, NodeId at, HostId from, HostId to) const;
    [[nodiscard]] Part in_plane(NodeId at, NicId from, NicId to) const;
    /// Host of its server's fabric.
    [[nodiscard]] HostId position(HostId host) const { return HostId(layout_.position_of(host)); }
    [[nodiscard]] HostId position(NicId nic) const;
    [[nodiscard]] NodeId inner_node(NodeId at) const;
    /// The NIC that messages from a node of another server leave through.
    [[nodiscard]] NicId exit_of(NodeId at, ServerId server, HostId destination) const;
    /// The NIC on a plane that messages to a host arrive through.
    [[nodiscard]] std::optional<NicId> entry_of(std::uint32_t plane, HostId destination) const;
    [[nodiscard]] LinkId whole_link(const Part& part, LinkId link) const;
    [[nodiscard]] std::span<const LinkId> whole_links(const Part& part, std::span<const LinkId> links) const;
    template <class Next>
    [[nodiscard]] Route walk(HostId source, HostId destination, const Next& next) const;
    [[nodiscard]] Route spread(HostId source, HostId destination) const;

    const Fabric& fabric_;
    std::shared_ptr<const Composition> whole_;
    const ServerLayout& layout_;
    std::vector<std::shared_ptr<const Fabric>> planes_;
    std::vector<LinkId> ids_;  ///< all of them, so that consecutive ones are a span
    std::vector<IndexedVector<LinkId, LinkId>> links_of_plane_;

    mutable std::shared_mutex growing_;
    /// By part and the first of its links' addresses.
    mutable std::map<std::tuple<bool, std::uint32_t, const LinkId*, std::size_t>, std::vector<LinkId>> sets_;
};

}  // namespace astrolabe::network::servers
