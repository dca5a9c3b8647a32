/// What can be said about the parameters of a rotor network before its matchings are drawn.
#pragma once

#include "opera.hpp"

#include <cstdint>

namespace astrolabe::network::rotor {

/// Of a rack, however they were said.
[[nodiscard]] std::int64_t uplinks_of(const OperaParameters& p);
/// A full packet on the wire.
[[nodiscard]] Bytes packet_of(const OperaParameters& p);

[[nodiscard]] Bandwidth circuit_rate_of(const OperaParameters& p);

[[nodiscard]] ValidationErrors problems_before_drawing(const OperaParameters& p);

/// What is said although rotors that all switch together have none of it.
[[nodiscard]] ValidationErrors problems_of_switching_together(const OperaParameters& p);

}  // namespace astrolabe::network::rotor
