/// A graph of racks joined by the circuits of a moment: distances, and shortest paths as lists of uplinks.
/// C++17, for the ns-3 module.
///
/// Distances are breadth-first searches from all racks at once: with R_0(x) = {x} as bit sets,
///
///     R_k(x) = R_{k-1}(x) ∪ the R_{k-1}(y) of all neighbours y of x,
///
/// and what R_k(x) has more than R_{k-1}(x) is k hops from x. O(H * edges * N / 64) word operations for a
/// largest distance H: 512 superslices of 512 racks with 16 uplinks take a tenth of a second.
///
/// Paths are found by a search down the distances, which tries the uplinks of a rack from a random one of
/// its own on for each (order, rack), so that no uplink is preferred. O(uplinks * hops) for each path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <astrolabe/core/containers/span.hpp>
#include <astrolabe/network/rotor/matching.hpp>

namespace astrolabe::network::rotor {

/// Neighbours of each rack by uplink; a rack itself where the uplink leads nowhere.
class RackGraph {
public:
    /// Of any symmetric neighbours: neighbours[rack * uplinks + uplink].
    RackGraph(std::uint32_t racks, std::uint32_t uplinks, std::vector<Rack> neighbours);

    [[nodiscard]] std::uint32_t racks() const { return racks_; }
    [[nodiscard]] std::uint32_t uplinks() const { return uplinks_; }
    [[nodiscard]] Rack neighbour(Rack rack, std::uint32_t uplink) const {
        return neighbours_[std::size_t{rack} * uplinks_ + uplink];
    }

    static constexpr std::uint16_t kUnreachable = 0xffff;
    /// Hops between all racks, by from * racks + to; the same both ways.
    [[nodiscard]] std::vector<std::uint16_t> distances() const;

protected:
    void connect(Rack rack, std::uint32_t uplink, Rack other) {
        neighbours_[std::size_t{rack} * uplinks_ + uplink] = other;
    }
    /// Calls visit(hops, from, word, new bits of that word of the bit set of racks at that distance) for
    /// hops = 1, 2, …
    template <class Visit>
    void search(Visit&& visit) const {
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

private:
    std::uint32_t racks_;
    std::uint32_t uplinks_;
    std::vector<Rack> neighbours_;
};

/// Paths of one pair of racks, as the rotors whose uplinks to take; filled again and again without
/// allocating.
class PathList {
public:
    [[nodiscard]] std::size_t size() const { return ends_.size(); }
    [[nodiscard]] Span<const std::uint16_t> operator[](std::size_t path) const {
        const std::size_t begin = path == 0 ? 0 : ends_[path - 1];
        return Span(rotors_).subspan(begin, ends_[path] - begin);
    }
    void clear() {
        rotors_.clear();
        ends_.clear();
    }
    void add(Span<const std::uint16_t> path) {
        rotors_.insert(rotors_.end(), path.begin(), path.end());
        ends_.push_back(rotors_.size());
    }

private:
    std::vector<std::uint16_t> rotors_;
    std::vector<std::size_t> ends_;
};

/// A graph with its distances.
struct MeasuredGraph {
    RackGraph graph;
    std::vector<std::uint16_t> hops;  ///< graph.distances()
};

/// Appends shortest paths of the pair, at most `most`; none if no path joins them or they are one rack.
/// Another `seed` or `superslice` finds others first, where there are more.
void list_shortest_paths(const MeasuredGraph& slice, Rack from, Rack to, std::size_t most, std::uint64_t seed,
                         std::uint32_t superslice, PathList& paths);

}  // namespace astrolabe::network::rotor
