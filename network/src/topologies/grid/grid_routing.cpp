#include "grid_routing.hpp"

#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

GridRouting::GridRouting(const Fabric& fabric, std::vector<std::int64_t> sizes, GridRule rule,
                         LoadBalancing load_balancing, std::uint64_t seed)
    : PathRouting(fabric, load_balancing, seed),
      sizes_(std::move(sizes)),
      rule_(rule) {
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        links_.push_back(link);
    }
}

std::span<const LinkId> GridRouting::next_links(NodeId at, HostId destination) const {
    if (rule_ != GridRule::kDimensionOrder) {
        return PathRouting::next_links(at, destination);
    }
    std::size_t stride = 1;  // between neighbours along the dimension
    for (const std::int64_t given : sizes_) {
        const auto size = static_cast<std::size_t>(given);
        const std::size_t here = at.index() / stride % size;
        const std::size_t goal = destination.index() / stride % size;
        if (here != goal) {
            const LinkId next =
                link_between(at.index(), here < goal ? at.index() + stride : at.index() - stride);
            return std::span(links_).subspan(next.index(), 1);
        }
        stride *= size;
    }
    return {};
}

std::size_t GridRouting::count_paths(HostId /*source*/, HostId /*destination*/) const {
    return rule_ == GridRule::kValiant ? fabric().host_count() : 1;
}

PathRouting::Path GridRouting::find_path(std::size_t path, HostId source, HostId destination) const {
    Path found;
    if (rule_ == GridRule::kValiant) {
        append_in_order(found, source.index(), path);
        append_in_order(found, path, destination.index());
        remove_circles(found);
    } else {
        append_in_order(found, source.index(), destination.index());
    }
    return found;
}

void GridRouting::append_in_order(Path& path, std::size_t from, std::size_t to) const {
    std::size_t stride = 1;  // between neighbours along the dimension
    for (const std::int64_t given : sizes_) {
        const auto size = static_cast<std::size_t>(given);
        const std::size_t goal = to / stride % size;
        for (std::size_t at = from / stride % size; at != goal;) {
            const std::size_t next = at < goal ? from + stride : from - stride;
            path.push_back(link_between(from, next));
            at = at < goal ? at + 1 : at - 1;
            from = next;
        }
        stride *= size;
    }
}

LinkId GridRouting::link_between(std::size_t from, std::size_t to) const {
    const std::size_t first = fabric().first_link(NodeId(from)).index();
    for (std::size_t i = 0; i < fabric().out_degree(NodeId(from)); ++i) {
        if (fabric().target(LinkId(first + i)).index() == to) {
            return LinkId(first + i);
        }
    }
    ASTROLABE_ASSERT(false, "neighbours of a grid are joined");
}

}  // namespace astrolabe::network
