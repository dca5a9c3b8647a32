/// What rotor networks add to their fabrics (family.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

/// Builds the same network with other speeds; null: its builder knows none but these.
using RotorScaling = std::function<ScaledFabric(const Scaling&)>;

[[nodiscard]] std::shared_ptr<const NetworkFamily> rotor_family(std::shared_ptr<const RotorNetwork> network,
                                                                RotorScaling scaling);

/// Keys: `rotors`, with times in seconds, rates in bits per second and shares of 1.
[[nodiscard]] Description describe_rotors(const RotorNetwork& network);

/// The matchings and the schedule. Matchings: a square for each pair of racks in the colour of the rotor that
/// connects them, paler for later matchings. Schedule: a row for each rotor, a bar for each matching while it
/// is installed, nothing while it is dark; the first two rounds of the rotors.
[[nodiscard]] std::string draw_schedule(const RotorSchedule& schedule);

/// A track for every rotor: the matchings it holds and the times in which it is dark. Marks: failures.
[[nodiscard]] Activity rotor_activity(std::shared_ptr<const RotorNetwork> network);

[[nodiscard]] std::shared_ptr<const CircuitWindows> rotor_windows(
    std::shared_ptr<const RotorNetwork> network);

}  // namespace astrolabe::network::rotor
