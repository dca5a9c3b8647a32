/// Dimension-order and Valiant routing on a grid, whose lines may be closed to rings.
///
/// Dimension order. A path first takes all steps along dimension 0, then along dimension 1, …: one path a
/// pair, and on open lines no cycle of links that wait for one another, so that flow control without loss
/// cannot lock up (Dally and Seitz, "Deadlock-free message routing in multiprocessor interconnection
/// networks", IEEE ToC 36(5), 1987). On a ring it goes the shorter way, from a host half-way round up where
/// the coordinates of the destination have an even sum and down where odd: where all sizes are multiples of 4
/// uniform traffic loads all links alike. What is taken depends on the difference of coordinates and on that
/// parity alone, so moving all hosts along a dimension of even size by an even distance, or by any where all
/// sizes are odd, maps paths to paths, which folding.hpp makes use of. Of two cables between two hosts a
/// destination takes one.
///
/// Valiant. A path goes to an intermediate host i by dimension order and on from there by dimension order; i
/// is any of the N hosts, the ends among them. Where the second phase comes back to a host of the first, what
/// lies between is left out. Whatever a permutation of hosts that send S bytes each, a link of a hypercube is
/// expected to carry at most S, one of a dimension of n hosts of a mesh at most n·S/2, of a torus n·S/4;
/// twice what uniform traffic puts on it. kFlowHash: one i per pair, by hash. kPaths: evenly over all N.
///
/// Virtual channels, which two phases and rings need in order not to lock up, are not modelled.
///
/// Complexity: a path O(diameter · dimensions); a route of kPaths O(N · diameter), and it crosses most links.
/// 12 bytes for every host and dimension.
#pragma once

#include "../../routing/path_routing.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace astrolabe::network {

enum class GridRule : std::uint8_t { kMinimal, kDimensionOrder, kValiant };
/// Of a mesh, or of a torus.
enum class GridLines : std::uint8_t { kOpen, kClosed };

class GridRouting final : public PathRouting {
public:
    /// kDimensionOrder or kValiant. The hosts of `fabric` are those of a mesh or a torus of `sizes`.
    GridRouting(const Fabric& fabric, std::vector<std::int64_t> sizes, GridLines lines, GridRule rule,
                LoadBalancing load_balancing, std::uint64_t seed);

    /// In dimension order the one link that is next, so that engines that choose have no choice.
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override;
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;

private:
    [[nodiscard]] std::size_t count_paths(HostId source, HostId destination) const override;
    [[nodiscard]] Path find_path(std::size_t path, HostId source, HostId destination) const override;
    void append_in_order(Path& path, std::size_t from, std::size_t to) const;
    /// Of a path in the order of dimensions; null where it ends. It lies in `line_of_`.
    [[nodiscard]] const LinkId* next_in_order(std::size_t at, std::size_t to) const;

    /// Of a host along a dimension.
    struct Line {
        std::uint32_t position = 0;
        LinkId up;  ///< both unused where there is no neighbour
        LinkId down;
    };
    void add_line(std::size_t host, std::size_t stride, std::size_t size);
    [[nodiscard]] LinkId link_between(std::size_t from, std::size_t to, bool is_last) const;

    std::vector<std::int64_t> sizes_;
    GridLines lines_;
    GridRule rule_;
    std::vector<Line> line_of_;      // by host, then by dimension
    std::vector<bool> has_odd_sum_;  // of coordinates, by host
};

}  // namespace astrolabe::network
