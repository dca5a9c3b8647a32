/// Rotor networks of which something is broken, from the start or from a time on.
///
/// Model. A circuit of which an end's cable, an end's rack or the rotor failed is never there: its two racks
/// idle on that uplink instead, which is all that anything that reads the schedule needs to know. Lengths of
/// slices stay those of the whole network. Hosts of a rack that failed keep their links to its switch and
/// reach nobody beyond it.
#pragma once

#include <cstdint>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

struct FailureCounts {
    std::uint32_t cables = 0;  ///< between racks and rotors, at most racks * uplinks
    std::uint32_t racks = 0;
    std::uint32_t rotors = 0;
};

/// Fails so many more of each, drawn among those that did not yet, and apart from one another: a cable may be
/// of a rack that fails too. Precondition: there are as many.
[[nodiscard]] RotorFailures draw_failures(const RotorSchedule& schedule, const FailureCounts& counts,
                                          RandomStream& random, const RotorFailures& earlier = {});

/// The schedule without the circuits that failed.
[[nodiscard]] RotorSchedule without_failed(const RotorSchedule& schedule, const RotorFailures& failures);

}  // namespace astrolabe::network::rotor
