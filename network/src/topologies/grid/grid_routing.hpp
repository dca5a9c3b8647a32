/// Dimension-order and Valiant routing on a grid without wrap-around.
///
/// Dimension order. A path first takes all steps along dimension 0, then along dimension 1, …: one path a
/// pair, and no cycle of links that wait for one another, so that flow control without loss cannot lock up
/// (Dally and Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE ToC
/// 36(5), 1987).
///
/// Valiant. A path goes to an intermediate host i by dimension order and on from there by dimension order; i
/// is any of the N hosts, the ends among them. Where the second phase comes back to a host of the first, what
/// lies between is left out. Whatever a permutation of hosts that send S bytes each, a link of a hypercube is
/// expected to carry at most S, one of a dimension of n hosts of a mesh at most n·S/2; twice what uniform
/// traffic puts on it. kFlowHash: one i per pair, by hash. kPaths: evenly over all N.
///
/// Virtual channels, which two phases need in order not to lock up, are not modelled.
///
/// Complexity: a path O(diameter · degree); a route of kPaths O(N · diameter), and it crosses most links.
#pragma once

#include "../../routing/path_routing.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace astrolabe::network {

enum class GridRule : std::uint8_t { kMinimal, kDimensionOrder, kValiant };

class GridRouting final : public PathRouting {
public:
    /// kDimensionOrder or kValiant. The hosts of `fabric` are those of a mesh of `sizes`.
    GridRouting(const Fabric& fabric, std::vector<std::int64_t> sizes, GridRule rule,
                LoadBalancing load_balancing, std::uint64_t seed);

    /// In dimension order the one link that is next, so that engines that choose have no choice.
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override;

private:
    [[nodiscard]] std::size_t count_paths(HostId source, HostId destination) const override;
    [[nodiscard]] Path find_path(std::size_t path, HostId source, HostId destination) const override;
    void append_in_order(Path& path, std::size_t from, std::size_t to) const;
    [[nodiscard]] LinkId link_between(std::size_t from, std::size_t to) const;

    std::vector<std::int64_t> sizes_;
    GridRule rule_;
    std::vector<LinkId> links_;  // each at its own number
};

}  // namespace astrolabe::network
