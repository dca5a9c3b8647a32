// SPDX-License-Identifier: GPL-2.0-only
/// The one ns-3 simulation of the process, with time in picoseconds: what uses it lives inside the scope.
#pragma once

#include <cstdint>

namespace astrolabe::ns3 {

class SimulatorScope {
public:
    /// `seed` is the run number of ns-3's random streams. Another simulation in the process breaks an
    /// invariant.
    explicit SimulatorScope(std::uint64_t seed);
    ~SimulatorScope();
    SimulatorScope(const SimulatorScope&) = delete;
    SimulatorScope& operator=(const SimulatorScope&) = delete;
};

}  // namespace astrolabe::ns3
