/// A seed for a property whose cases are drawn by a generator of its own.
#pragma once

#include <cstdint>

#include <rapidcheck.h>

namespace astrolabe::network {

/// Any 64-bit value from the first case on, and never shrunk: a smaller seed is not a smaller case.
inline std::uint64_t random_seed() {
    return *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
}

}  // namespace astrolabe::network
