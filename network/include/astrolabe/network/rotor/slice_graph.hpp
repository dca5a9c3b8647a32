/// The graph that the circuits of one superslice form, and its hop counts.
///
/// Model. Low-latency packets sent in superslice s may use the circuits that stay to its end: those of all
/// rotors but the ones that go dark in it (RotorSchedule::goes_dark), so that a packet in flight when the
/// superslice ends still has the next one's eps to arrive. Racks are nodes, those circuits edges. What failed
/// is left out: a rack with all its circuits, a rotor, or the cable between a rack and a rotor. Racks that
/// failed are no part of any pair.
///
/// Hop counts are those of the graph (rack_graph.hpp).
///
/// Over a whole cycle of a factorisation (factorisation.hpp) with one group, a share of exactly (u - 1) / N
/// of the ordered pairs of racks is one hop apart: each pair is connected once, for u - 1 superslices that
/// count.
///
/// Source: Opera (NSDI 2020), sections 3 and 4.1; appendices C and D on failures and spectral gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <astrolabe/network/rotor/rack_graph.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>

namespace astrolabe::network::rotor {

/// What is out of order from the start and for good.
struct RotorFailures {
    std::vector<std::uint8_t> racks;   ///< by rack, not 0: failed; empty: none
    std::vector<std::uint8_t> rotors;  ///< by rotor
    std::vector<std::uint8_t> cables;  ///< by rack * uplinks + rotor

    [[nodiscard]] bool rack_failed(Rack rack) const { return !racks.empty() && racks[rack] != 0; }
    /// Can this uplink of the rack carry?
    [[nodiscard]] bool works(Rotor rotor, Rack rack, std::uint32_t uplinks) const {
        return !rack_failed(rack) && (rotors.empty() || rotors[rotor] == 0) &&
               (cables.empty() || cables[std::size_t{rack} * uplinks + rotor] == 0);
    }
};

/// The circuits that stay, as a graph.
class SliceGraph : public RackGraph {
public:
    SliceGraph(const RotorSchedule& schedule, std::uint64_t superslice, const RotorFailures& failures = {});
    using RackGraph::RackGraph;

    [[nodiscard]] bool failed(Rack rack) const { return failures_.rack_failed(rack); }

    /// Ordered pairs of live racks that no path joins, over all such pairs. O(edges).
    [[nodiscard]] double disconnected_share() const;

private:
    friend class HopCounts;

    RotorFailures failures_;
};

/// Ordered pairs of racks by hops between them, over one or many superslices.
class HopCounts {
public:
    /// Over all superslices of a cycle.
    [[nodiscard]] static HopCounts of_cycle(const RotorSchedule& schedule);

    void add(const SliceGraph& graph);

    /// Pairs k hops apart, k from 1 to worst().
    [[nodiscard]] std::uint64_t pairs_at(std::size_t hops) const { return pairs_at_[hops]; }
    [[nodiscard]] std::uint64_t pairs() const { return pairs_; }
    [[nodiscard]] std::uint64_t disconnected() const { return disconnected_; }
    /// Share of all pairs.
    [[nodiscard]] double share_at(std::size_t hops) const {
        return static_cast<double>(pairs_at_[hops]) / static_cast<double>(pairs_);
    }
    /// H: most hops between racks that are joined; 0 if none are.
    [[nodiscard]] std::size_t worst() const { return pairs_at_.size() - 1; }
    /// Of pairs that are joined; 0 if none are.
    [[nodiscard]] double mean() const;

private:
    std::vector<std::uint64_t> pairs_at_{0};
    std::uint64_t pairs_ = 0;
    std::uint64_t disconnected_ = 0;
};

}  // namespace astrolabe::network::rotor
