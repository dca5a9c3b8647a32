// The slot engine, for backend fluid.
#pragma once

#include "../fluid/transport_terms.hpp"

#include <astrolabe/network/components.hpp>

namespace astrolabe::network {

[[nodiscard]] Engine slot_engine(const TransportTerms& terms);

}  // namespace astrolabe::network
