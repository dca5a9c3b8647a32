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
/// Complexity: a query O(hops · degree); 2 bytes for every source and node, found when first asked for.
///
/// Source: released code of TopoOpt (NSDI 2023), its routes for all flows.
#pragma once

#include "shortest_path_routing.hpp"

#include <cstdint>
#include <memory>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

namespace detail {
class HopTable;
}

class RandomTreeRouting final : public RoutingPolicy {
public:
    /// `fabric` owns the policy and outlives it.
    RandomTreeRouting(const Fabric& fabric, std::uint64_t seed);
    ~RandomTreeRouting() override;

    [[nodiscard]] LoadBalancing load_balancing() const override { return LoadBalancing::kFlowHash; }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override {
        return all_shortest_.next_links(at, destination);
    }
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;

private:
    /// The last link of the way to `node`, which is not the source.
    [[nodiscard]] LinkId link_to(NodeId node, HostId source) const;

    const Fabric& fabric_;
    std::uint64_t seed_;
    std::unique_ptr<detail::HopTable> hops_;
    ShortestPathRouting all_shortest_;
};

}  // namespace astrolabe::network
