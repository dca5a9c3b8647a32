#include "grid_routing.hpp"

#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

GridRouting::GridRouting(const Fabric& fabric, std::vector<std::int64_t> sizes, GridLines lines,
                         GridRule rule, LoadBalancing load_balancing, std::uint64_t seed)
    : PathRouting(fabric, load_balancing, seed),
      sizes_(std::move(sizes)),
      lines_(lines),
      rule_(rule) {
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        links_.push_back(link);
    }
}

std::span<const LinkId> GridRouting::next_links(NodeId at, HostId destination) const {
    if (rule_ != GridRule::kDimensionOrder) {
        return PathRouting::next_links(at, destination);
    }
    const std::optional<LinkId> next = next_in_order(at.index(), destination.index());
    return next ? std::span(links_).subspan(next->index(), 1) : std::span<const LinkId>();
}

LinkId GridRouting::select(NodeId at, HostId source, HostId destination) const {
    return rule_ == GridRule::kDimensionOrder ? *next_in_order(at.index(), destination.index())
                                              : PathRouting::select(at, source, destination);
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
    while (const std::optional<LinkId> next = next_in_order(from, to)) {
        path.push_back(*next);
        from = fabric().target(*next).index();
    }
}

std::optional<LinkId> GridRouting::next_in_order(std::size_t at, std::size_t to) const {
    std::size_t stride = 1;  // between neighbours along the dimension
    for (const std::int64_t given : sizes_) {
        const auto size = static_cast<std::size_t>(given);
        const std::size_t here = at / stride % size;
        const std::size_t goal = to / stride % size;
        if (here != goal) {
            const bool is_up = goes_up(here, goal, size, to);
            const std::size_t next = is_up ? (here + 1) % size : (here + size - 1) % size;
            // In a dimension of two the cable that closes the ring may be a second one.
            const bool closes = is_up ? next < here : next > here;
            return link_between(at, at - here * stride + next * stride, closes);
        }
        stride *= size;
    }
    return std::nullopt;
}

bool GridRouting::goes_up(std::size_t here, std::size_t goal, std::size_t size, std::size_t to) const {
    if (lines_ == GridLines::kOpen) {
        return here < goal;
    }
    const std::size_t up = (goal + size - here) % size;
    if (2 * up != size) {
        return 2 * up < size;
    }
    std::size_t sum = 0;
    for (const std::int64_t given : sizes_) {
        sum += to % static_cast<std::size_t>(given);
        to /= static_cast<std::size_t>(given);
    }
    return sum % 2 == 0;
}

LinkId GridRouting::link_between(std::size_t from, std::size_t to, bool is_last) const {
    std::optional<LinkId> found;
    const std::size_t first = fabric().first_link(NodeId(from)).index();
    for (std::size_t i = 0; i < fabric().out_degree(NodeId(from)) && (is_last || !found); ++i) {
        if (fabric().target(LinkId(first + i)).index() == to) {
            found = LinkId(first + i);
        }
    }
    ASTROLABE_ASSERT(found.has_value(), "neighbours of a grid are joined");
    return *found;
}

}  // namespace astrolabe::network
