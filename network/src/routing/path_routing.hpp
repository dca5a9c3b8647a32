/// Routing by paths that are named for every pair: what topologies with rules of their own derive from.
///
/// Model. A pair (s, d) has n(s, d) paths, numbered from 0, none of which visits a node twice; none only
/// where d cannot be reached. Under kFlowHash it takes one of them, number
///
///     floor(h·n / 2^32),   h the upper half of a 64-bit mix of (seed, s, d),
///
/// and under kPaths it splits evenly over all: fluid engines give every path 1/n of the bytes, packet engines
/// draw a path for each packet.
///
/// `next_links` are those of shortest-path routing, for engines that choose by themselves; a packet that is
/// not on its path follows them. Queries from several threads at once are safe.
///
/// Complexity: `select` and `select_on` make the path anew, O(hops); `route` makes all of them.
#pragma once

#include "shortest_path_routing.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

class PathRouting : public RoutingPolicy {
public:
    using Path = std::vector<LinkId>;

    [[nodiscard]] LoadBalancing load_balancing() const override { return load_balancing_; }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override {
        return shortest_.next_links(at, destination);
    }
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;
    [[nodiscard]] std::size_t path_count(HostId source, HostId destination) const override;
    [[nodiscard]] LinkId select_on(std::size_t path, NodeId at, HostId source,
                                   HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;

protected:
    /// kFlowHash or kPaths. `fabric` owns the policy and outlives it. `rule` is that of `next_links`.
    PathRouting(const Fabric& fabric, LoadBalancing load_balancing, std::uint64_t seed,
                PathRule rule = PathRule::kShortest)
        : fabric_(fabric),
          load_balancing_(load_balancing),
          seed_(seed),
          shortest_(fabric, LoadBalancing::kFlowHash, seed, rule) {}

    /// Of a pair of different hosts; 0: unreachable.
    [[nodiscard]] virtual std::size_t count_paths(HostId source, HostId destination) const = 0;
    /// Number `path` < count_paths, from the source to the destination, no node twice.
    [[nodiscard]] virtual Path find_path(std::size_t path, HostId source, HostId destination) const = 0;
    /// All of them, in order.
    [[nodiscard]] virtual std::vector<Path> find_paths(HostId source, HostId destination) const;

    [[nodiscard]] const Fabric& fabric() const { return fabric_; }
    /// The path of ShortestPathRouting, one of the shortest by hash.
    [[nodiscard]] Path shortest_path(HostId source, HostId destination) const;
    /// One of `choices` by hash of a pair and of what `salt` tells apart.
    [[nodiscard]] std::size_t choose(HostId source, HostId destination, std::uint64_t salt,
                                     std::size_t choices) const;
    /// Leaves out what lies between two visits of a node.
    void remove_circles(Path& path) const;

private:
    const Fabric& fabric_;
    LoadBalancing load_balancing_;
    std::uint64_t seed_;
    ShortestPathRouting shortest_;
};

}  // namespace astrolabe::network
