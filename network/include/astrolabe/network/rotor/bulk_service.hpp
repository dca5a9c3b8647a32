/// What RotorLB is asked for by a rotor network, and which networks cannot be served; engines of slots and of
/// packets alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/network/rotor/rotor_lb.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

/// At the start.
[[nodiscard]] RotorLbOptions rotor_lb_options(const RotorNetwork& network);

/// Which racks a circuit ever joins (RotorLbOptions::meets).
[[nodiscard]] std::vector<std::uint8_t> meeting_racks(const RotorSchedule& schedule);

/// The turn of remainders in a superslice: a pair of racks that meet once a cycle has the next one each time,
/// and those that meet one after another have different ones.
[[nodiscard]] inline std::uint64_t turn_in(const RotorSchedule& schedule, std::uint64_t superslice) {
    return superslice / schedule.superslices() + superslice % schedule.superslices();
}

/// Why some bulk messages of `network` could never arrive, or nothing.
[[nodiscard]] std::optional<std::string> bulk_refusal(const RotorNetwork& network);

/// Why some messages of either service could never arrive, or nothing.
[[nodiscard]] std::optional<std::string> service_refusal(const RotorNetwork& network);

}  // namespace astrolabe::network::rotor
