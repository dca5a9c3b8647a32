/// What the cables between two hosts are. Engines do not ask; the cost of a network does (cost.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::network {

enum class Medium : std::uint8_t {
    kFibre,           ///< from one end to the other
    kPatchPanel,      ///< a fibre from either end to a patch panel
    kLookAheadPanel,  ///< the same with a second port there for the next job
    kCircuitSwitch    ///< a fibre from either end to an optical circuit switch
};

}  // namespace astrolabe::network

namespace astrolabe {

template <>
struct EnumNames<network::Medium> {
    static constexpr std::array<std::pair<std::string_view, network::Medium>, 4> kNames{
        {{"fibre", network::Medium::kFibre},
         {"patch_panel", network::Medium::kPatchPanel},
         {"look_ahead_panel", network::Medium::kLookAheadPanel},
         {"circuit_switch", network::Medium::kCircuitSwitch}}};
};

}  // namespace astrolabe
