/// Valiant routing of a dragonfly over intermediate groups.
///
/// A pair of hosts in groups s ≠ d has a path over every group i that is neither and has global links from s
/// and to d: to i by a link that its router has, else by one of another router of the group, chosen by hash;
/// from where that leads in i to d by the same rule; then to the host. So it takes two global links and at
/// most three local ones. kFlowHash: one i per pair, by hash. kPaths: evenly over all i, with a choice of
/// links for each. Pairs of a group, and those without any such i, take a shortest path.
///
/// Complexity: a path O(1) with all groups joined, else O(groups); memory 4 bytes for every two routers of a
/// group and 28 for every two groups.
///
/// Source: Kim et al. (ISCA 2008), section 4.1 (VAL).
#pragma once

#include "../../routing/path_routing.hpp"

#include <cstdint>
#include <vector>

namespace astrolabe::network {

class DragonflyRouting final : public PathRouting {
public:
    /// `fabric` is that of a dragonfly (dragonfly.hpp) with so many routers in a group.
    DragonflyRouting(const Fabric& fabric, std::size_t routers_per_group, LoadBalancing load_balancing,
                     std::uint64_t seed);

private:
    [[nodiscard]] std::size_t count_paths(HostId source, HostId destination) const override;
    [[nodiscard]] Path find_path(std::size_t path, HostId source, HostId destination) const override;

    [[nodiscard]] NodeId router_of(HostId host) const {
        return fabric().target(fabric().first_link(fabric().node_of(host)));
    }
    [[nodiscard]] std::size_t group_of(NodeId router) const {
        return (router.index() - fabric().host_count()) / routers_;
    }
    [[nodiscard]] const std::vector<LinkId>& between(std::size_t from, std::size_t to) const {
        return between_[from * groups_ + to];
    }
    [[nodiscard]] bool leads_over(std::size_t from, std::size_t group, std::size_t to) const {
        return group != from && group != to && !between(from, group).empty() && !between(group, to).empty();
    }
    /// Number `number` of the groups between two.
    [[nodiscard]] std::size_t intermediate(std::size_t from, std::size_t to, std::size_t number) const;
    void append_local(Path& path, NodeId from, NodeId to) const;

    std::size_t routers_;  ///< of a group
    std::size_t groups_;
    bool all_joined_ = true;
    std::vector<std::vector<LinkId>> between_;  ///< global links by their two groups
    std::vector<LinkId> local_;                 ///< by router, then by place in the group
};

}  // namespace astrolabe::network
