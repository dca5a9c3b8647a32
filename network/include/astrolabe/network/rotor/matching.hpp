/// Racks, rotors and what a rotor connects. C++17, for the ns-3 module.
#pragma once

#include <cstdint>
#include <vector>

namespace astrolabe::network::rotor {

using Rack = std::uint32_t;
using Rotor = std::uint32_t;
/// Which rack each rack is joined to; itself: idle.
using Matching = std::vector<Rack>;

}  // namespace astrolabe::network::rotor
