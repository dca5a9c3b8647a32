#include "grid_routing.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

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
