/// Lengths of the parts of a superslice, derived from the cables and the queues.
///
/// With p the one-way propagation between racks, q the full packets that a port's queue holds, sigma the time
/// of one at the rate of a link, and H the most hops between racks in any superslice:
///
///     eps = (H - 1) (p + q sigma) + (q - 1) sigma
///     del = p + sigma
///
/// so that a packet that waits behind a full queue at every hop still arrives within eps, and the last bulk
/// packet within del. r is that of the hardware. Each length is rounded up to a picosecond once.
///
/// RotorNet: the rotors switch together, once for every u switchings of one rotor each, so a cycle of N / u
/// installations has the same length N T as Opera's of N superslices, and a circuit the same duty,
/// 1 - r / (u T), if a matching stays for u T. All of that but del and r is eps. Both networks then have the
/// same bulk slot, (u - 1) T + eps.
///
/// Source: Opera (NSDI 2020) section 3.1, and its released topology generator.
#pragma once

#include <cstdint>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>

namespace astrolabe::network::rotor {

struct TimingParameters {
    Time propagation;        ///< p >= 0
    std::int64_t queue = 8;  ///< q >= 1
    Bytes packet{1500};      ///< on the wire
    Bandwidth rate;          ///< > 0
    std::int64_t most_hops;  ///< H >= 1
    Time reconfiguration;    ///< r >= 0
};

/// For rotors of which one goes dark at a time.
[[nodiscard]] RotorTiming derive_timing(const TimingParameters& parameters);

/// For the same rotors when all of them, `uplinks`, switch together.
[[nodiscard]] RotorTiming switched_together(const RotorTiming& one_at_a_time, std::uint32_t uplinks);

}  // namespace astrolabe::network::rotor
