/// What rotor networks add to their fabrics (family.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

struct BrokenPart;

/// Build the same network otherwise; null: its builder knows no other.
struct RotorVariants {
    std::function<ScaledFabric(const Scaling&)> scaled;                         ///< with other speeds
    std::function<ScaledFabric(const std::vector<BrokenPart>& broken)> broken;  ///< by time
};

[[nodiscard]] std::shared_ptr<const NetworkFamily> rotor_family(std::shared_ptr<const RotorNetwork> network,
                                                                RotorVariants variants);

/// Racks, rotors, the cables between them, "rack 3 - rotor 1", and those of hosts, "host 7 - rack 3".
[[nodiscard]] std::vector<NamedPart> rotor_parts(const RotorNetwork& network);

/// `failures` of rotor_parts(), as `break_parts` takes them, or what does not fail here.
[[nodiscard]] BrokenFabric break_rotor_parts(
    const RotorNetwork& network, const std::vector<PartFailure>& failures,
    const std::function<ScaledFabric(const std::vector<BrokenPart>&)>& break_parts);

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
