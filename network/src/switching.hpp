/// When a node may send on what it receives.
#pragma once

#include <cstdint>

namespace astrolabe::network {

enum class Switching : std::uint8_t {
    kCutThrough,      ///< as it comes in
    kStoreAndForward  ///< when all of it has arrived
};

}  // namespace astrolabe::network
