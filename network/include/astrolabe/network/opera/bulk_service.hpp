/// What RotorLB is asked for by a rotor network, and which networks it cannot serve; engines of slots and of
/// packets alike.
#pragma once

#include <optional>
#include <string>

#include <astrolabe/network/opera/rotor_lb.hpp>
#include <astrolabe/network/opera/rotor_network.hpp>

namespace astrolabe::network::opera {

[[nodiscard]] RotorLbOptions rotor_lb_options(const RotorNetwork& network);

/// Why some bulk messages of `network` could never arrive, or nothing.
[[nodiscard]] std::optional<std::string> bulk_refusal(const RotorNetwork& network);

}  // namespace astrolabe::network::opera
