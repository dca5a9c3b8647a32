/// What RotorLB is asked for by a rotor network, and which networks have messages that could never arrive;
/// for the engines of slots and of packets.
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

/// Which racks a circuit ever connects (RotorLbOptions::connected).
[[nodiscard]] std::vector<std::uint8_t> connected_racks(const RotorSchedule& schedule);

/// The round-robin index of remainders in a superslice: a pair of racks that is connected once a cycle has
/// the next one each time, and pairs that are connected one after another have different ones.
[[nodiscard]] inline std::uint64_t index_in(const RotorSchedule& schedule, std::uint64_t superslice) {
    return superslice / schedule.superslices() + superslice % schedule.superslices();
}

/// Why some bulk messages of `network` could never arrive, or nothing.
[[nodiscard]] std::optional<std::string> bulk_unsupported(const RotorNetwork& network);

/// Why some messages of either service could never arrive, or nothing.
[[nodiscard]] std::optional<std::string> service_unsupported(const RotorNetwork& network);

}  // namespace astrolabe::network::rotor
