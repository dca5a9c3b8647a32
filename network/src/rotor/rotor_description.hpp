/// The figures of a rotor network: lengths, capacity and what it loses, hops, spectral gap, failures.
///
/// Capacity of direct circuits, as a share of what a host's link carries, the losses kept apart:
///
///     carried * slot * uplinks * whole * payload
///
/// carried   uplinks that lead to another rack, of all: (N - 1) / N for a factorisation (factorisation.hpp)
/// slot      bulk slot over the time a circuit stays, ((g - 1) T + eps) / (g T): dark and guard times
/// uplinks   u over p = max(u, ⌈h R / R'⌉), u uplinks of rate R' and h hosts of rate R a rack: hosts that
/// send
///           more than the uplinks carry share them
/// whole     packets per slot, n = ⌊slot / (p sigma)⌋, over the same number unrounded
/// payload   of a packet, over all of it
///
/// and the rate of payload from one rack to another is h n payload / (S T) for each circuit of theirs in a
/// cycle. Each pair has one in a factorisation; where something failed, or a file lists other matchings, the
/// rate is the mean over all pairs, and the share of pairs that have a circuit says what the others lack.
///
/// Hops, gaps (robustness.hpp) and failures are those of superslices, so they are missing where all rotors go
/// dark together. Failures are the worst of six draws.
///
/// Source: Opera (NSDI 2020), sections 3 to 5.
#pragma once

#include "failures/robustness.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

struct RotorCapacity {
    double carried = 0.0;
    double slot = 0.0;
    double uplinks = 0.0;
    double whole = 0.0;
    double payload = 0.0;
    std::int64_t packets_per_slot = 0;  ///< of a host, over one rotor
    double pair_rate = 0.0;             ///< payload from rack to rack, bit/s, mean over pairs of racks
    double met = 0.0;                   ///< share of pairs of racks that have a circuit in a cycle
    double host_rate = 0.0;             ///< payload of a host to all other racks, bit/s

    [[nodiscard]] double share() const { return carried * slot * uplinks * whole * payload; }
};

[[nodiscard]] RotorCapacity capacity_of(const RotorNetwork& network);

struct FailureTolerance {
    FailingPart part;
    std::uint32_t failed;
    double disconnected;  ///< share of pairs of live racks without a path in the worst superslice
};

struct SliceFigures {
    HopCounts hops;
    double least_gap = 0.0;
    double mean_gap = 0.0;
    double ideal_gap = 0.0;
    std::vector<FailureTolerance> failures;
};

/// Precondition: some rotor stays through a superslice. O(superslices * (hop counts + gaps + failures)): 9 s
/// for 512 racks with 16 uplinks.
[[nodiscard]] SliceFigures slice_figures(const RotorSchedule& schedule);

}  // namespace astrolabe::network::rotor
