/// Routing over what joins two hosts directly, where hosts do not forward: evenly over the links from one to
/// the other. Pairs that no link joins have no route.
///
/// Memory and time to make: O(links); every query O(log links).
#pragma once

#include <vector>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

class NeighbourRouting final : public RoutingPolicy {
public:
    /// Of hosts alone. `fabric` owns the policy and outlives it.
    explicit NeighbourRouting(const Fabric& fabric);

    [[nodiscard]] LoadBalancing load_balancing() const override { return LoadBalancing::kPaths; }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override;
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;
    [[nodiscard]] LinkId select_on(std::size_t path, NodeId at, HostId source,
                                   HostId destination) const override;
    [[nodiscard]] std::size_t path_count(HostId source, HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;

private:
    const Fabric& fabric_;
    std::vector<LinkId> links_;  // by source, then by target, then by id
};

}  // namespace astrolabe::network
