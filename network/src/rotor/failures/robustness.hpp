/// How well a rotor network hangs together: the spectral gap of its superslices, and what failures
/// disconnect.
///
/// Spectral gap. The d = u - G rotors that stay through a superslice give a graph in which every rack has d
/// ends of cables, an idle uplink being a cable to itself. The adjacency matrix has the eigenvalue d, for the
/// vector of ones; with lambda the largest absolute value among the others,
///
///     gap = d - lambda,   lambda >= 2 sqrt(d - 1) - o(1) for any graph of many racks (Alon and Boppana)
///
/// and random graphs come close to it (Friedman 2008). A superslice in parts has gap 0. lambda is found by
/// power iteration on the matrix without the ones' part, from below, until it grows by less than 1e-9 of
/// itself in an iteration: O(N d) each, up to 10,000.
///
/// Failures. Of all cables between racks and rotors, all racks, or all rotors, so many fail that are drawn at
/// random. The answer is the share of ordered pairs of live racks without a path in the superslice where it
/// is largest, over all draws. O(draws * superslices * edges).
///
/// Source: Opera (NSDI 2020), section 5.5 and appendix D.
#pragma once

#include <cstdint>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>

namespace astrolabe::network::rotor {

struct SpectralGap {
    double gap = 0.0;
    double ideal = 0.0;  ///< d - 2 sqrt(d - 1), or 0 where d < 1
};

[[nodiscard]] SpectralGap spectral_gap(const RotorSchedule& schedule, std::uint64_t superslice);

enum class FailingPart : std::uint8_t { kCables, kRacks, kRotors };

/// How many there are of a part.
[[nodiscard]] std::uint32_t count_of(FailingPart part, const RotorSchedule& schedule);

/// `failed` <= count_of(part).
[[nodiscard]] double worst_disconnected_share(const RotorSchedule& schedule, FailingPart part,
                                              std::uint32_t failed, std::uint32_t draws,
                                              RandomStream& random);

}  // namespace astrolabe::network::rotor
