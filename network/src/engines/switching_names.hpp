// How experiment files call the kinds of switching.
#pragma once

#include "../switching.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::Switching> {
    static constexpr std::array<std::pair<std::string_view, network::Switching>, 2> kNames{
        {{"cut_through", network::Switching::kCutThrough},
         {"store_and_forward", network::Switching::kStoreAndForward}}};
};

}  // namespace astrolabe
