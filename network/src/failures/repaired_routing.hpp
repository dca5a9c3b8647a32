/// Routes around links that are down, whatever the routing of the network is.
///
/// Model. Let the *base* be the routing of the whole fabric, and U its links that are up. What the base says
/// holds as far as it can be followed:
///   - Single paths (LoadBalancing::kFlowHash). A pair whose path is all in U keeps it.
///   - Named paths (kPaths). A pair splits evenly over those of its paths that are all in U.
///   - Towards a destination a node is *alive* if it is the destination, or if one of its next links of the
///     base is in U and leads to an alive node. An alive node goes on over all such links, and only these:
///     what sprays (kSpray) keeps to shortest paths that are whole.
///   - Every other node, and every pair that has lost all its paths, takes the shortest way in U, by cost;
///     among n equal links that of a hash of the pair and the node.
///   - Where U does not connect a node with the destination, the links of the base stay: what is sent there
///     waits or is lost until they are up.
///
/// There is no loop: links of alive nodes lead to alive nodes along paths of the base, which have none, and
/// from others the distance falls until an alive node or the destination is met.
///
/// Limits. The way around may be longer, and may go down and up again in a network with tiers, which with
/// lossless flow control can lock in a circle as any such route can. Hosts that do not forward
/// (Node::forwards) are not crossed.
///
/// Example. Of leaf 0 - spine 0 in a network of two leaves and two spines nothing is left: hosts of leaf 0
/// have spine 1 alone, and spine 0 is not alive towards them, so leaf 1 sends to spine 1 alone too.
///
/// Complexity: a table takes O(links · next links + nodes · log nodes) when a destination is first asked for,
/// 8 bytes a node and 4 a link in it; hosts that hang on one switch by one cable share it. A pair that is
/// asked for takes its hops, once. Not for several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

class RepairedRouting final : public RoutingPolicy {
public:
    /// `fabric` outlives it; `is_down` has an entry for each link.
    RepairedRouting(const Fabric& fabric, IndexedVector<LinkId, std::uint8_t> is_down);

    [[nodiscard]] LoadBalancing load_balancing() const override { return base_.load_balancing(); }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override;
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;
    [[nodiscard]] std::size_t path_count(HostId source, HostId destination) const override;
    [[nodiscard]] LinkId select_on(std::size_t path, NodeId at, HostId source,
                                   HostId destination) const override;

    /// Whether links that are up lead from one to the other.
    [[nodiscard]] bool connects(HostId source, HostId destination) const;

private:
    using Path = std::vector<LinkId>;
    /// Towards one node.
    struct Table {
        std::vector<std::uint32_t> first;  ///< by node, node_count + 1: into links
        std::vector<LinkId> links;
        std::vector<std::uint8_t> is_reached;  ///< by node: by links that are up
    };

    [[nodiscard]] bool is_up(LinkId link) const { return is_down_[link] == 0; }
    [[nodiscard]] const Table& table_towards(NodeId place, HostId example) const;
    [[nodiscard]] Table make_table(NodeId place, HostId example) const;
    [[nodiscard]] std::vector<std::uint8_t> find_alive(NodeId place, HostId example) const;
    [[nodiscard]] std::vector<std::uint64_t> find_distances(NodeId place) const;
    [[nodiscard]] bool is_crossed(NodeId node) const;
    /// The paths of a pair that is not sprayed; none: the base has none either.
    [[nodiscard]] const std::vector<Path>& paths_of(HostId source, HostId destination) const;
    [[nodiscard]] Path base_path(std::size_t number, HostId source, HostId destination) const;
    [[nodiscard]] bool is_whole(const Path& path) const;
    [[nodiscard]] LinkId choose(NodeId at, HostId source, HostId destination) const;
    [[nodiscard]] Route along_paths(const std::vector<Path>& paths) const;
    [[nodiscard]] Route spread(HostId source, HostId destination) const;

    const Fabric& fabric_;
    const RoutingPolicy& base_;
    IndexedVector<LinkId, std::uint8_t> is_down_;
    mutable std::vector<std::unique_ptr<const Table>> tables_;  // by node
    mutable std::unordered_map<std::uint64_t, std::vector<Path>> paths_;
};

}  // namespace astrolabe::network
