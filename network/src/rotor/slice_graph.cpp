#include <bit>

#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

namespace {

/// Every uplink leads back to its own rack.
std::vector<Rack> idle_neighbours(std::uint32_t racks, std::uint32_t uplinks) {
    std::vector<Rack> neighbours;
    neighbours.reserve(std::size_t{racks} * uplinks);
    for (Rack rack = 0; rack < racks; ++rack) {
        neighbours.insert(neighbours.end(), uplinks, rack);
    }
    return neighbours;
}

}  // namespace

SliceGraph::SliceGraph(const RotorSchedule& schedule, std::uint64_t superslice, const RotorFailures& failures)
    : RackGraph(schedule.racks(), schedule.uplinks(), idle_neighbours(schedule.racks(), schedule.uplinks())),
      failures_(failures) {
    for (Rotor rotor = 0; rotor < uplinks(); ++rotor) {
        if (schedule.goes_dark(rotor, superslice)) {
            continue;
        }
        const Matching& matching = schedule.matching(rotor, schedule.matching_index(rotor, superslice));
        const auto works = [&](Rack rack) { return failures.works(rotor, rack, uplinks()); };
        for (Rack rack = 0; rack < racks(); ++rack) {
            if (works(rack) && works(matching[rack])) {
                connect(rack, rotor, matching[rack]);
            }
        }
    }
}

double SliceGraph::disconnected_share() const {
    // Components by depth-first search; a component of c racks joins c (c - 1) ordered pairs.
    std::vector<std::uint8_t> seen(racks(), 0);
    std::vector<Rack> stack;
    std::uint64_t live = 0;
    std::uint64_t joined = 0;
    for (Rack start = 0; start < racks(); ++start) {
        if (failed(start) || seen[start] != 0) {
            continue;
        }
        std::uint64_t size = 0;
        seen[start] = 1;
        stack.push_back(start);
        while (!stack.empty()) {
            const Rack rack = stack.back();
            stack.pop_back();
            ++size;
            for (std::uint32_t uplink = 0; uplink < uplinks(); ++uplink) {
                const Rack other = neighbour(rack, uplink);
                if (seen[other] == 0) {
                    seen[other] = 1;
                    stack.push_back(other);
                }
            }
        }
        live += size;
        joined += size * (size - 1);
    }
    return live < 2 ? 0.0 : 1.0 - static_cast<double>(joined) / static_cast<double>(live * (live - 1));
}

HopCounts HopCounts::of_cycle(const RotorSchedule& schedule) {
    HopCounts counts;
    for (std::uint32_t s = 0; s < schedule.superslices(); ++s) {
        counts.add(SliceGraph(schedule, s));
    }
    return counts;
}

void HopCounts::add(const SliceGraph& graph) {
    std::uint64_t live = 0;
    for (Rack rack = 0; rack < graph.racks(); ++rack) {
        live += graph.failed(rack) ? 0 : 1;
    }
    std::uint64_t joined = 0;
    graph.search([&](std::uint16_t hops, Rack, std::size_t, std::uint64_t found) {
        if (hops >= pairs_at_.size()) {
            pairs_at_.resize(hops + std::size_t{1}, 0);
        }
        const auto pairs = static_cast<std::uint64_t>(std::popcount(found));
        pairs_at_[hops] += pairs;
        joined += pairs;
    });
    const std::uint64_t all = live == 0 ? 0 : live * (live - 1);
    pairs_ += all;
    disconnected_ += all - joined;
}

double HopCounts::mean() const {
    if (pairs_ == disconnected_) {
        return 0.0;
    }
    std::uint64_t sum = 0;
    for (std::size_t hops = 1; hops < pairs_at_.size(); ++hops) {
        sum += hops * pairs_at_[hops];
    }
    return static_cast<double>(sum) / static_cast<double>(pairs_ - disconnected_);
}

}  // namespace astrolabe::network::rotor
