#include "grid_routing.hpp"

#include <optional>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

GridRouting::GridRouting(const Fabric& fabric, std::vector<std::int64_t> sizes, GridLines lines,
                         GridRule rule, LoadBalancing load_balancing, std::uint64_t seed)
    : PathRouting(fabric, load_balancing, seed),
      sizes_(std::move(sizes)),
      lines_(lines),
      rule_(rule) {
    for (std::size_t host = 0; host < fabric.host_count(); ++host) {
        std::size_t stride = 1;  // between neighbours along the dimension
        std::size_t sum = 0;
        for (const std::int64_t size : sizes_) {
            add_line(host, stride, static_cast<std::size_t>(size));
            sum += line_of_.back().position;
            stride *= static_cast<std::size_t>(size);
        }
        has_odd_sum_.push_back(sum % 2 == 1);
    }
}

void GridRouting::add_line(std::size_t host, std::size_t stride, std::size_t size) {
    const std::size_t here = host / stride % size;
    Line line{static_cast<std::uint32_t>(here), {}, {}};
    const std::size_t first = host - here * stride;
    const bool is_closed = lines_ == GridLines::kClosed;
    // In a dimension of two the cable that closes the ring may be a second one, behind the other.
    if (size > 1 && (is_closed || here + 1 < size)) {
        line.up = link_between(host, first + (here + 1) % size * stride, here + 1 == size);
    }
    if (size > 1 && (is_closed || here > 0)) {
        line.down = link_between(host, first + (here + size - 1) % size * stride, here == 0);
    }
    line_of_.push_back(line);
}

std::span<const LinkId> GridRouting::next_links(NodeId at, HostId destination) const {
    if (rule_ != GridRule::kDimensionOrder) {
        return PathRouting::next_links(at, destination);
    }
    const LinkId* const next = next_in_order(at.index(), destination.index());
    return next != nullptr ? std::span(next, 1) : std::span<const LinkId>();
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
    while (const LinkId* const next = next_in_order(from, to)) {
        path.push_back(*next);
        from = fabric().target(*next).index();
    }
}

const LinkId* GridRouting::next_in_order(std::size_t at, std::size_t to) const {
    const std::size_t dimensions = sizes_.size();
    for (std::size_t d = 0; d < dimensions; ++d) {
        const Line& here = line_of_[at * dimensions + d];
        const std::uint32_t goal = line_of_[to * dimensions + d].position;
        if (here.position == goal) {
            continue;
        }
        if (lines_ == GridLines::kOpen) {
            return here.position < goal ? &here.up : &here.down;
        }
        const auto size = static_cast<std::uint32_t>(sizes_[d]);
        const std::uint32_t up = goal > here.position ? goal - here.position : goal + size - here.position;
        const bool is_up = 2 * up == size ? !has_odd_sum_[to] : 2 * up < size;
        return is_up ? &here.up : &here.down;
    }
    return nullptr;
}

LinkId GridRouting::link_between(std::size_t from, std::size_t to, bool is_last) const {
    std::optional<LinkId> found;
    const std::size_t first = fabric().first_link(NodeId(from)).index();
    for (std::size_t i = 0; i < fabric().out_degree(NodeId(from)) && (is_last || !found); ++i) {
        if (fabric().target(LinkId(first + i)).index() == to) {
            found = LinkId(first + i);
        }
    }
    ASTROLABE_ASSERT(found.has_value(), "neighbours of a grid are connected");
    return *found;
}

}  // namespace astrolabe::network
