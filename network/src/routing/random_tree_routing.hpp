/// Routing over one random shortest-path tree for every source.
///
/// Model. A node v of the tree of source s hangs on one of its neighbours that are a link nearer to s, over a
/// link drawn among all that lead from these to v, all equally likely, by hash of (seed, s, v); the draw is
/// the same for all destinations beyond v. This is a breadth-first search from s with ties broken at random,
/// once for each source. As draws near s decide for many destinations, links are loaded less evenly than by
/// draws for every pair: uniform all-to-all over 128 hosts in rings ±{1, 13} loads the busiest link with 1.5
/// times the mean, and 1.25 by flow hash (shortest_path_routing.hpp).
///
/// Length is the number of links. `next_links` are those of all shortest paths; a packet that has left its
/// route goes on along the tree of the host where it is.
///
/// Complexity: a tree is drawn when its source is first asked for, O(nodes · degree), and kept as the link by
/// which every node hangs on it; a query then follows those links backwards from the destination, one look-up
/// in a dense row for each. 4 bytes for every source asked for and every node: 4 MiB for 1,024 hosts that all
/// send, 64 MiB for 4,096.
///
/// Source: released code of TopoOpt (NSDI 2023), its routes for all flows.
#pragma once

#include "shortest_path_routing.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

class RandomTreeRouting final : public RoutingPolicy {
public:
    /// `fabric` owns the policy and outlives it.
    RandomTreeRouting(const Fabric& fabric, std::uint64_t seed);

    [[nodiscard]] LoadBalancing load_balancing() const override { return LoadBalancing::kFlowHash; }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override {
        return all_shortest_.next_links(at, destination);
    }
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;

private:
    /// By node, the last link of the way to it; kNowhere at the source and where no way leads.
    using Tree = std::vector<LinkId>;
    static constexpr LinkId kNowhere{0xffffffffU};

    /// Drawn when first asked for; several threads may ask at once.
    [[nodiscard]] const Tree& tree_of(HostId source) const;
    [[nodiscard]] Tree draw_tree(HostId source) const;

    const Fabric& fabric_;
    std::uint64_t seed_;
    std::unique_ptr<std::once_flag[]> drawn_;  // by source
    mutable std::vector<Tree> trees_;          // the same
    ShortestPathRouting all_shortest_;
};

}  // namespace astrolabe::network
