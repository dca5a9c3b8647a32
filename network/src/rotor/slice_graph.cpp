#include <bit>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

SliceGraph::SliceGraph(const RotorSchedule& schedule, std::uint64_t superslice, const RotorFailures& failures)
    : racks_(schedule.racks()),
      uplinks_(schedule.uplinks()),
      neighbours_(std::size_t{racks_} * uplinks_),
      failures_(failures) {
    for (Rack rack = 0; rack < racks_; ++rack) {
        for (Rotor rotor = 0; rotor < uplinks_; ++rotor) {
            neighbours_[std::size_t{rack} * uplinks_ + rotor] = rack;
        }
    }
    for (Rotor rotor = 0; rotor < uplinks_; ++rotor) {
        if (schedule.goes_dark(rotor, superslice)) {
            continue;
        }
        const Matching& matching = schedule.matching(rotor, schedule.matching_index(rotor, superslice));
        const auto works = [&](Rack rack) { return failures.works(rotor, rack, uplinks_); };
        for (Rack rack = 0; rack < racks_; ++rack) {
            if (works(rack) && works(matching[rack])) {
                neighbours_[std::size_t{rack} * uplinks_ + rotor] = matching[rack];
            }
        }
    }
}

SliceGraph::SliceGraph(std::uint32_t racks, std::uint32_t uplinks, std::vector<Rack> neighbours)
    : racks_(racks),
      uplinks_(uplinks),
      neighbours_(std::move(neighbours)) {
    ASTROLABE_ASSERT(neighbours_.size() == std::size_t{racks} * uplinks, "every uplink has a neighbour");
}

/// Calls visit(hops, from, new words of the bit set of racks at that distance) for hops = 1, 2, …
template <class Visit>
void SliceGraph::search(Visit&& visit) const {
    const std::size_t words = (racks_ + 63) / 64;
    std::vector<std::uint64_t> reached(racks_ * words, 0);
    for (Rack rack = 0; rack < racks_; ++rack) {
        reached[rack * words + rack / 64] |= std::uint64_t{1} << (rack % 64);
    }
    std::vector<std::uint64_t> next = reached;
    bool grown = true;
    for (std::uint16_t hops = 1; grown; ++hops) {
        grown = false;
        for (Rack rack = 0; rack < racks_; ++rack) {
            for (std::uint32_t uplink = 0; uplink < uplinks_; ++uplink) {
                const Rack other = neighbour(rack, uplink);
                for (std::size_t word = 0; word < words; ++word) {
                    next[rack * words + word] |= reached[other * words + word];
                }
            }
            for (std::size_t word = 0; word < words; ++word) {
                const std::uint64_t found = next[rack * words + word] & ~reached[rack * words + word];
                if (found != 0) {
                    visit(hops, rack, word, found);
                    grown = true;
                }
            }
        }
        reached = next;
    }
}

std::vector<std::uint16_t> SliceGraph::distances() const {
    std::vector<std::uint16_t> hops_between(std::size_t{racks_} * racks_, kUnreachable);
    for (Rack rack = 0; rack < racks_; ++rack) {
        hops_between[std::size_t{rack} * racks_ + rack] = 0;
    }
    search([&](std::uint16_t hops, Rack from, std::size_t word, std::uint64_t found) {
        for (; found != 0; found &= found - 1) {
            const std::size_t to = word * 64 + static_cast<std::size_t>(std::countr_zero(found));
            hops_between[std::size_t{from} * racks_ + to] = hops;
        }
    });
    return hops_between;
}

double SliceGraph::disconnected_share() const {
    // Components by depth-first search; a component of c racks joins c (c - 1) ordered pairs.
    std::vector<std::uint8_t> seen(racks_, 0);
    std::vector<Rack> stack;
    std::uint64_t live = 0;
    std::uint64_t joined = 0;
    for (Rack start = 0; start < racks_; ++start) {
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
            for (std::uint32_t uplink = 0; uplink < uplinks_; ++uplink) {
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
